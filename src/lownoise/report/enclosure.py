# SPDX-License-Identifier: Apache-2.0
"""A least ellipsoid as a table for people and as JSON for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.report import numbers
from lownoise.report.names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from lownoise.theory.enclosure import Enclosure


def enclosure_table(names: Sequence[str], found: Enclosure) -> RenderableType:
    """Return the center and half width of the ellipsoid in each coordinate, then its proof."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("coordinate", overflow="fold")
    for heading in ("center", "half width = sd at ρ = 1/2"):
        table.add_column(heading, justify="right")
    rows = zip(names, found.center.tolist(), found.shape.deviations().tolist(), strict=True)
    for name, center, deviation in rows:
        said = (numbers.significant(center, 6), numbers.significant(deviation, 6))
        table.add_row(Text(shown(name)), *said)
    proof = found.certificate
    lines = [
        f"At most {numbers.significant(proof.upper, 9)}.",
        f"At least {numbers.significant(proof.lower, 9)}; gap {numbers.at_most(proof.gap, 2)}.",
        f"{found.status[0].upper()}{found.status[1:]}; Newton steps: {found.iterations}.",
    ]
    return Group(table, *(Text(line) for line in lines))


def enclosure_dict(names: Sequence[str], found: Enclosure) -> dict[str, Any]:
    """Return the same as JSON values, with the matrix M of the shape."""
    proof = found.certificate
    return {
        "names": list(names),
        "center": found.center.tolist(),
        "matrix": found.shape.dense().tolist(),
        "certificate": {"lower": proof.lower, "upper": proof.upper, "gap": proof.gap},
        "status": found.status,
        "iterations": found.iterations,
    }
