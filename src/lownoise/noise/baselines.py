# SPDX-License-Identifier: Apache-2.0
"""What round noise would cost: the mechanisms that people use today, at the same budget.

They are closed forms for the comparison in a plan and its report; nothing is released with them.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import BudgetError, told
from lownoise.numbers.arrays import frozen
from lownoise.privacy import ApproxDP, GaussianDP, PureDP, Zcdp
from lownoise.privacy.budget import KNOWN

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


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
    raise BudgetError(f"budget={told(budget)} is of no known kind; use {KNOWN}")


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
