# SPDX-License-Identifier: Apache-2.0
"""What ρ-zCDP implies as (ε, δ), by its best order, in ball arithmetic.

With Z = ln P/Q under P, E e^{(α−1)Z} ≤ e^{(α−1)αρ} for every order α > 1, and
δ = E max(0, 1 − e^{ε−Z}) ≤ e^{(α−1)(αρ−ε)}·max_x (1−x)x^{α−1}, whose maximum, at x = 1 − 1/α, is
(1/α)(1 − 1/α)^{α−1}. The best α is looked for in floats, and what follows from the one that was
found is computed in balls: any α is on the safe side.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.privacy.gaussian_curve import last_true

if TYPE_CHECKING:
    from collections.abc import Callable

_BITS = 200
_LEAST_RHO = 2.0**-200
_GREATEST_RHO = 2.0**200


def delta_up(rho: float, epsilon: float) -> float:
    """Return at least the δ that every ρ-zCDP release has at `epsilon`; never 0 by underflow.

    Examples:
        >>> 1.966e-7 < delta_up(0.04, 1.4) < 1.967e-7
        True
    """
    from flint import arb

    if rho == 0:
        return 0.0

    def near(excess: float) -> float:  # ln δ at α = 1 + excess, convex in it
        return excess * ((1 + excess) * rho - epsilon - math.log1p(1 / excess)) - math.log1p(excess)

    excess = _least(near)
    with precision(_BITS):
        e = arb(excess)
        ball = (e * ((1 + e) * arb(rho) - arb(epsilon) - (1 + 1 / e).log()) - (1 + e).log()).exp()
        return min(_float_up(ball), 1.0)


def epsilon_up(rho: float, delta: float) -> float:
    """Return at least min over α of αρ + (ln(1/δ) − ln α)/(α−1) + ln(1 − 1/α), and 0.

    Examples:
        >>> round(epsilon_up(0.1, 1e-6), 3)
        2.142
    """
    from flint import arb

    def near(excess: float) -> float:
        bits = -math.log(delta) - math.log1p(excess)
        return (1 + excess) * rho + bits / excess - math.log1p(1 / excess)

    excess = _least(near)
    with precision(_BITS):
        e = arb(excess)
        ball = (1 + e) * arb(rho) + (-arb(delta).log() - (1 + e).log()) / e - (1 + 1 / e).log()
        return max(_float_up(ball), 0.0)


@lru_cache(maxsize=256)
def parameter_down(epsilon: float, delta: float) -> float:
    """Return the greatest float ρ of which (epsilon, delta) was proved to follow.

    Examples:
        >>> rho = parameter_down(1.0, 1e-6)
        >>> delta_up(rho, 1.0) <= 1e-6 < delta_up(rho * (1 + 1e-9), 1.0)
        True
    """
    return last_true(lambda rho: delta_up(rho, epsilon) <= delta, _LEAST_RHO, _GREATEST_RHO)


def _least(near: Callable[[float], float]) -> float:
    """Return about the positive argument of the least value of a function that falls, then rises.

    The exponent is searched by thirds.
    """
    low, high = -40.0, 40.0
    for _ in range(200):
        third = (high - low) / 3
        if near(math.exp(low + third)) <= near(math.exp(high - third)):
            high -= third
        else:
            low += third
    return math.exp((low + high) / 2)


def _float_up(ball: Any) -> float:  # noqa: ANN401 (flint carries no types)
    return up(float(ball.upper()))
