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

    from lownoise.release.linear import LinearTerms
    from lownoise.release.tables import TableTerms
    from lownoise.report.spread import Totals

SAME = 1e-4  # a ratio of variances that nobody sees


def marginal_name(names: Sequence[str]) -> str:
    """Return what a marginal is called: "age × sex", or the number of rows."""
    return " × ".join(map(shown, names)) if names else "(number of rows)"


def like(count: int) -> str:
    """Return how many marginals are like the one that is named."""
    return "this one only" if count == 1 else f"{count - 1:,} more"


def error(terms: TableTerms | LinearTerms, over: dict[str, Totals], one: str = "cell") -> str:
    """Return the error of all cells together, and of one of them.

    Args:
        terms: what is promised.
        over: the totals of each noise.
        one: what an answer is called.
    """
    own = over["plan"]
    how = "" if terms.order == 2 else f" in the order-{numbers.shortest(terms.order)} norm"  # noqa: PLR2004
    how += "" if np.all(terms.question.weights == 1) else ", weighted"
    typical, largest = numbers.significant(own.typical), numbers.at_most(own.largest, 3)
    return (
        f"{sentences.error(terms)} for all {one}s together{how}. One {one}’s standard deviation is "
        f"{typical} in root mean square, {largest} at most."
    )


def round_noise(over: dict[str, Totals], one: str = "cell") -> str:
    """Return how much i.i.d. noise on all cells would cost more."""
    words = f"i.i.d. Gaussian noise on every {one} of these marginals"
    return times(over, "isotropic", words, f"a {one}")


def full_table(over: dict[str, Totals], one: str = "cell") -> str:
    """Return how much noise on the full table of all attributes would cost more."""
    words = "i.i.d. noise on the full table of all attributes, summed up"
    return times(over, "histogram", words, f"a {one}")


def times(over: dict[str, Totals], other: str, words: str, one: str = "a cell") -> str:
    """Return how much another noise would cost more, or less.

    Args:
        over: the totals of each noise.
        other: which of them.
        words: what it is.
        one: what has a deviation.
    """
    ratio = variance_ratio(over, other)
    if math.isnan(ratio):
        return "No noise is needed."
    cell = f"{one}’s deviation would be {numbers.significant(over[other].typical)}"
    if abs(ratio - 1) < SAME:
        found = "The total variance is the same as with"
    elif ratio >= 1:
        found = f"The total variance is {numbers.significant(ratio, 4)} times smaller than with"
    else:
        found = f"The total variance is {numbers.significant(1 / ratio, 4)} times that of"
    return f"{found} {words}, at the same budget ({cell} in root mean square)."
