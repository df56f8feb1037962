# SPDX-License-Identifier: Apache-2.0
"""What round noise would cost: the mechanisms that people use today, at the same budget.

They are closed forms for the comparison in a plan and its report; nothing is released with them.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import BudgetError, quoted
from lownoise.numbers.arrays import frozen
from lownoise.privacy import ApproxDP, GaussianDP, PureDP, Zcdp
from lownoise.privacy.budget import KNOWN
from lownoise.sensitivity.orders import answer_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Attribute, Marginals


def isotropic_gaussian(radius: float, answers: int, parameter: float) -> Vector:
    """Return the standard deviations of i.i.d. Gaussian noise on the answers, shape (m,).

    Each is the greatest Euclidean change of the answers over μ.

    Examples:
        >>> isotropic_gaussian(5.0, 2, 1.0)
        array([5., 5.])
    """
    return frozen(np.full(answers, radius / parameter))


@singledispatch
def split_laplace(budget: object, widths: Vector) -> Vector:
    """Return the standard deviations of Laplace noise with the budget split evenly, shape (d,).

    `widths` are the greatest changes h of the answers, shape (d,).

    Under ε, and under (ε, δ), each of the d answers gets ε/d, of scale b = h·d/ε. Under ρ-zCDP each
    gets ρ/d, which ε' = √(2ρ/d) meets, because ε'-DP is (ε'²/2)-zCDP (Bun & Steinke 2016,
    Proposition 1.4).
    Under μ-GDP the comparison is at the ρ of the Gaussian that it buys, μ²/2.
    A Laplace number of scale b has standard deviation √2·b.

    Raises:
        BudgetError: where the budget is of another kind.
    """
    raise BudgetError(f"budget={quoted(budget)} is of no known kind; use {KNOWN}")


@split_laplace.register(ApproxDP)
@split_laplace.register(PureDP)
def _split_laplace_of_approx_dp(budget: ApproxDP | PureDP, widths: Vector) -> Vector:
    each = budget.epsilon / widths.size
    return frozen(math.sqrt(2) * widths / each)


@split_laplace.register(GaussianDP)
def _split_laplace_of_gaussian_dp(budget: GaussianDP, widths: Vector) -> Vector:
    each = budget.mu / math.sqrt(widths.size)
    return frozen(math.sqrt(2) * widths / each)


@split_laplace.register(Zcdp)
def _split_laplace_of_zcdp(budget: Zcdp, widths: Vector) -> Vector:
    each = math.sqrt(2 * budget.rho / widths.size)
    return frozen(math.sqrt(2) * widths / each)


def squared_change(question: Marginals, *, public: bool) -> float:
    """Return how far one neighbour moves all answers together, squared.

    A record is in one cell of each marginal, and in as many counts along an ordered attribute as
    hold its category. Exact under `add_remove`, and under `substitute` without ordered attributes;
    else of two pairs of records that are far apart, so at most the truth.

    Args:
        question: the marginals.
        public: whether one record becomes another (`substitute`), which leaves their number.

    Examples:
        >>> from lownoise.questions import Marginals
        >>> squared_change(Marginals({"a": 3, "b": 2}, way=2), public=True)
        6.0
        >>> squared_change(Marginals({"a": 3}, way=1, ordered={"a": "prefix"}), public=False)
        4.0
    """
    attributes = question.attributes
    held = [_held(a) for a in attributes]
    same = ends = 0.0
    for chosen in question.sets():
        best = math.prod(held[i][0] for i in chosen)
        moves = any(attributes[i].size > 1 and not attributes[i].ordered for i in chosen)
        if not public:
            same += best
            continue
        first, last = (math.prod(held[i][k] for i in chosen) for k in (1, 2))
        both = 0.0 if moves else math.prod(held[i][3] for i in chosen)
        same += 2 * best if moves else 0.0
        ends += first + last - 2 * both
    return max(same, ends)


def _held(attribute: Attribute) -> tuple[float, float, float, float]:
    """Return how many counts hold a category, at the most; the first; the last; those two both."""
    if not attribute.ordered:
        return 1.0, 1.0, 1.0, 1.0
    rows = answer_rows(attribute.ordered, attribute.size)
    each = rows.sum(axis=0)
    both = float(np.sum(rows[:, 0] * rows[:, -1]))
    return float(np.max(each)), float(each[0]), float(each[-1]), both


def cells_an_answer(question: Marginals, chosen: Sequence[int]) -> float:
    """Return how many cells an answer of this marginal adds up, on average."""
    attributes = [question.attributes[i] for i in chosen]
    return math.prod(
        float(np.mean(answer_rows(a.ordered, a.size).sum(axis=1))) if a.ordered else 1.0
        for a in attributes
    )
