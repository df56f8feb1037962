# SPDX-License-Identifier: Apache-2.0
"""What a plan or a release of marginals says of itself, in words that text and page share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.report import numbers, sentences
from lownoise.report.names import shown
from lownoise.report.spread import variance_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.report.spread import Totals
    from lownoise.tables import TableTerms


def marginal_name(names: Sequence[str]) -> str:
    """Return what a marginal is called: "age × sex", or the number of rows."""
    return " × ".join(map(shown, names)) if names else "(number of rows)"


def like(count: int) -> str:
    """Return how many marginals are like the one that is named."""
    return "this one only" if count == 1 else f"{count - 1:,} more"


def error(terms: TableTerms, over: dict[str, Totals]) -> str:
    """Return the error of all cells together, and of one of them."""
    own = over["plan"]
    how = "" if terms.order == 2 else f" in the order-{numbers.shortest(terms.order)} norm"  # noqa: PLR2004
    how += "" if np.all(terms.question.weights == 1) else ", weighted"
    typical, largest = numbers.significant(own.typical), numbers.at_most(own.largest, 3)
    return (
        f"{sentences.error(terms)} for all cells together{how}. One cell’s standard deviation is "
        f"{typical} in root mean square, {largest} at most."
    )


def round_noise(over: dict[str, Totals]) -> str:
    """Return how much i.i.d. noise on all cells would cost more."""
    return _times(over, "isotropic", "i.i.d. Gaussian noise on every cell of these marginals")


def full_table(over: dict[str, Totals]) -> str:
    """Return how much noise on the full table of all attributes would cost more."""
    return _times(over, "histogram", "i.i.d. noise on the full table of all attributes, summed up")


def _times(over: dict[str, Totals], other: str, words: str) -> str:
    ratio = variance_ratio(over, other)
    if math.isnan(ratio):
        return "No noise is needed."
    cell = f"a cell’s deviation would be {numbers.significant(over[other].typical)}"
    if ratio >= 1:
        found = f"The total variance is {numbers.significant(ratio, 4)} times smaller than with"
    else:
        found = f"The total variance is {numbers.significant(1 / ratio, 4)} times that of"
    return f"{found} {words}, at the same budget ({cell} in root mean square)."
