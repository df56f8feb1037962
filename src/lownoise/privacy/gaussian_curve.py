# SPDX-License-Identifier: Apache-2.0
"""The exact privacy curve of a Gaussian release, in ball arithmetic.

A Gaussian release whose noise covers the sensitivity body with radius μ (μ-GDP) is (ε, δ)-private
exactly when δ is at least

    δ(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)        (Balle & Wang 2018, Theorem 8),

which rises with μ and falls with ε. Every function here returns a float on the safe side of it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import mul_up, up

if TYPE_CHECKING:
    from collections.abc import Callable

_PRECISIONS = (192, 512, 2048, 8192)  # bits, until the ball is narrow
_NARROW = 2.0**-70  # relative
_NEARBY = 2.0**-44  # relative
_LEAST_PARAMETER = 2.0**-200
_GREATEST_PARAMETER = 2.0**200


def _delta(mu: float, epsilon: float) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return a ball that holds δ(epsilon; mu)."""
    from flint import arb

    ball = arb(0)
    for bits in _PRECISIONS:
        with precision(bits):
            half, ratio, root = arb(mu) / 2, arb(epsilon) / arb(mu), arb(2).sqrt()
            right = ((ratio - half) / root).erfc() / 2
            left = ((ratio + half) / root).erfc() / 2
            ball = right - arb(epsilon).exp() * left
            if ball > 0 and ball.rad() < _NARROW * ball.mid():
                break
    return ball


def delta_up(mu: float, epsilon: float) -> float:
    """Return at least δ(epsilon; mu), at most a few roundings above, within [0, 1].

    Examples:
        >>> 0.1269 < delta_up(1.0, 1.0) < 0.127
        True
    """
    if mu == 0:
        return 0.0
    if mu > _GREATEST_PARAMETER:
        return 1.0
    upper = _delta(mu, epsilon).upper()
    rounded = float(upper)
    return min(rounded if rounded >= upper else up(rounded), 1.0)


@lru_cache(maxsize=256)
def parameter_down(epsilon: float, delta: float) -> float:
    """Return the greatest float μ whose Gaussian release is surely (epsilon, delta)-private.

    Examples:
        >>> mu = parameter_down(1.0, 1e-6)
        >>> delta_up(mu, 1.0) <= 1e-6 < delta_up(mu * (1 + 1e-12), 1.0)
        True
    """
    return last_true(
        lambda mu: _delta(mu, epsilon) <= delta,
        _LEAST_PARAMETER,
        _GREATEST_PARAMETER,
    )


@lru_cache(maxsize=256)
def epsilon_up(mu: float, delta: float) -> float:
    """Return the least float ε for which a release of parameter `mu` is surely (ε, delta)-private.

    Examples:
        >>> 0.999 < epsilon_up(parameter_down(1.0, 1e-6), 1e-6) <= 1.0
        True
    """
    if mu == 0 or _delta(mu, 0.0) <= delta:
        return 0.0
    # ε = μ²/2 + μ√(2 ln(1/δ)) always suffices (BS16 via 002, Lemma 12)
    enough = mul_up(mu, up(mu / 2 + up(math.sqrt(2) * math.sqrt(up(-math.log(delta))) * 1.001)))
    near = last_true(lambda epsilon: _about(mu, epsilon) > delta, 2.0**-1000, enough)
    return up(last_true(lambda epsilon: not _delta(mu, epsilon) <= delta, 2.0**-1000, enough, near))


def _about(mu: float, epsilon: float) -> float:
    """Return δ(epsilon; mu) as floats have it: where to look first, and no bound."""
    half, ratio, root = mu / 2, epsilon / mu, math.sqrt(2)
    left = math.exp(min(epsilon, 700.0)) * math.erfc((ratio + half) / root)
    return (math.erfc((ratio - half) / root) - left) / 2


def last_true(
    holds: Callable[[float], bool], low: float, high: float, near: float | None = None
) -> float:
    """Return the greatest positive float in [low, high) where a falling predicate holds.

    Any `near` leads to the same one, the nearer the sooner.
    """
    for at in () if near is None else (near * (1 - _NEARBY), near * (1 + _NEARBY)):
        if low < at < high:
            low, high = (at, high) if holds(at) else (low, at)
    while low > 0 and high / low > 4:  # noqa: PLR2004 (halve exponents first)
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    while up(low) < high:
        middle = low / 2 + high / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
