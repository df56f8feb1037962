# SPDX-License-Identifier: Apache-2.0
"""A declared attribute as a row of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.report.names import shown

if TYPE_CHECKING:
    from lownoise.questions import Attribute

_MOST_LABELS = 200  # letters


def attribute_row(attribute: Attribute) -> tuple[str, str, str, str]:
    """Return name, number of cells, categories, and where other values go."""
    if attribute.labels is None:
        listed = f"0 to {attribute.categories - 1:,}"
    else:
        labels = [shown(attribute.label(k)) for k in range(min(attribute.categories, 50))]
        listed = ", ".join(labels)
        if len(listed) > _MOST_LABELS or attribute.categories > len(labels):
            listed = f"{listed[:_MOST_LABELS]}…"
    if attribute.outside is None:
        outside = "row left out"
    elif attribute.outside == attribute.categories:
        outside = "a cell of their own"
    else:
        outside = f"counted as {shown(attribute.label(attribute.outside))}"
    return shown(attribute.name), f"{attribute.size:,}", listed, outside
