# SPDX-License-Identifier: Apache-2.0
"""Numbers of the spherical cap randomizer: reports likelier in a cap about what is reported.

Of a unit vector u the *spherical cap randomizer* reports V: with chance λ (`uniform`) a uniform
point of the sphere S^{r−1}, else a uniform point of the cap {v : ⟨v, u⟩ ≥ γ} (`threshold`). The
density is (1−λ)/q + λ in the cap and λ elsewhere, in units of the uniform one, q the chance that a
uniform point is in the cap; so e^ε = 1 + (1−λ)/(λq) is the greatest ratio that any two u have, and
the least λ for ε is 1/(1 + qE), E = e^ε − 1.

With h = E[⟨V, u⟩; cap] = c(1−γ²)^{(r−1)/2}/(r−1) of a uniform V, c = Γ(r/2)/(√π Γ((r−1)/2)):

* E V = m·u, m = (1−λ)h/q, which is hE/(1 + qE) at the least λ. As dh = γ dq, that is greatest where
  γ = m: left of there γ(1 + qE) < hE, and right of it not, since hE − γ(1 + qE) falls (ours).
* E V Vᵀ = a·uuᵀ + b(I − uuᵀ), a = 1/r + (1 − 1/r)γm and b = (1 − γm)/r, because
  (1−t²)^{(r−3)/2}(1 − rt²) is the derivative of t(1−t²)^{(r−1)/2}.

The sphere of r = 1 is {−1, 1}, any cap of it is {u}, and this is randomized response.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.local_model.draws import checked_epsilon
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import decimal_up, down, exact, up

if TYPE_CHECKING:
    from typing import Any

_BITS = 128
_STEPS = 2**26  # thresholds are multiples of 1/_STEPS: their squares are exact in floats
_GRAIN = 2**52  # and λ one of 1/_GRAIN
_LEAST_MASS = 1e-300
_MOST_DIMENSIONS = 100_000


def mass_down(dimension: int, threshold: float) -> float:
    """Return at most q, the share of the sphere in the cap, hardly less; 0 where no float is left.

    Args:
        dimension: r in [1, 10^5].
        threshold: γ in (0, 1).

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> mass_down(1, 0.5), 0.2499999 < mass_down(3, 0.5) <= 0.25
        (0.5, True)
    """
    _checked(dimension, threshold)
    if dimension == 1:
        return 0.5
    with precision(_BITS):
        mass, _ = _cap(dimension, threshold)
        # of a threshold next to 0 nothing is known: what a file may hold, and nothing fits
        return max(down(float(mass.lower())), 0.0) if mass.is_finite() else 0.0


def loss_up(dimension: int, threshold: float, uniform: float) -> float:
    """Return at least ε = ln(1 + (1−λ)/(λq)), the greatest log ratio of two of its densities.

    It is at least that both as a float and as the decimal that prints.

    Args:
        dimension: r in [1, 10^5].
        threshold: γ in (0, 1).
        uniform: λ in [0, 1].

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> round(loss_up(3, 0.5, 0.5), 6), round(math.log(5), 6)
        (1.609438, 1.609438)
        >>> loss_up(3, 0.5, 1.0), loss_up(3, 0.5, 0.0)
        (0.0, inf)
    """
    from flint import arb, fmpq

    mass = mass_down(dimension, threshold)
    _checked_uniform(uniform)
    if uniform * mass == 0:
        return 0.0 if uniform == 1 else math.inf
    odds = (1 - Fraction(uniform)) / (Fraction(uniform) * Fraction(mass))
    with precision(_BITS):
        found = arb(fmpq(odds.numerator, odds.denominator)).log1p()
        return decimal_up(_fraction(found.upper()))


def moments(dimension: int, threshold: float, uniform: float) -> tuple[float, float, float]:
    """Return m, a and b: E V = m·u and E V Vᵀ = a·uuᵀ + b(I − uuᵀ), each right to all digits.

    Args:
        dimension: r in [1, 10^5].
        threshold: γ in (0, 1), with q at least 10^-300.
        uniform: λ in [0, 1].

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> moments(3, 0.5, 0.5)  # the mean height of the cap is 3/4
        (0.375, 0.4583333333333333, 0.2708333333333333)
        >>> moments(1, 0.5, 0.25)
        (0.75, 1.0, 0.0)
    """
    from flint import arb

    _checked(dimension, threshold)
    _checked_uniform(uniform)
    if dimension == 1:
        return 1 - uniform, 1.0, 0.0
    with precision(_BITS):
        mass, height = _cap(dimension, threshold)
        if not mass >= _LEAST_MASS:
            raise PlanError(
                f"threshold={threshold:g} leaves less than {_LEAST_MASS:g} of the sphere of "
                f"dimension {dimension} to its cap; lower it"
            )
        mean = (1 - arb(uniform)) * height / mass
        product = arb(threshold) * mean
        along = (1 + (dimension - 1) * product) / dimension
        return float(mean), float(along), float((1 - product) / dimension)


@lru_cache(maxsize=256)
def best(dimension: int, epsilon: float) -> tuple[float, float]:
    """Return the threshold γ and the chance λ of the greatest m that ε allows.

    γ is a multiple of 2^-26 in (0, 1) whose cap has at least 10^-300 of the sphere, and λ the least
    multiple of 2^-52 for it. Where ε is so large that either binds, m is 1 up to 10^-6 or less, or
    as close to it as those caps are.

    Args:
        dimension: r in [1, 10^5].
        epsilon: ε in [10^-6, 1000], meant as a float and as the decimal that prints.

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> threshold, uniform = best(10, 1.0)
        >>> loss_up(10, threshold, uniform) <= 1.0
        True
        >>> round(1 / moments(10, threshold, uniform)[0] ** 2, 2)
        60.73
    """
    from flint import arb, fmpq

    _checked(dimension, 0.5)
    allowed = checked_epsilon(epsilon)
    with precision(_BITS):
        odds = arb(fmpq(allowed.numerator, allowed.denominator)).expm1()

        def below(step: int) -> bool:
            """Whether m still grows at this threshold, in a cap that is large enough."""
            threshold = arb(step) / _STEPS
            mass, height = _cap(dimension, threshold)
            return bool(mass >= _LEAST_MASS) and bool(height > threshold * (mass + 1 / odds))

        # of one dimension all caps are alike
        step, beyond = (_STEPS // 2, 0) if dimension == 1 else (1, _STEPS)
        while beyond - step > 1:
            middle = (step + beyond) // 2
            step, beyond = (middle, beyond) if below(middle) else (step, middle)
        threshold = step / _STEPS
        least = _GRAIN / (1 + arb(mass_down(dimension, threshold)) * odds)
        # ε falls by 2^-90 at least for that much more, and loss_up finds it up to 2^-115
        grains = math.ceil(_fraction((least * (1 + arb(2) ** -90)).upper()))
    return threshold, grains / _GRAIN


def greatest_mean_up(dimension: int, epsilon: float) -> float:
    """Return at least how long the mean of a uniform unit vector is given any ε-private report.

    Of a density on the sphere whose values are within e^ε of each other, λ(1 + Eφ) with
    0 ≤ φ ≤ 1, the mean of the height t is E∫tφ/(1 + E∫φ). It is at most s where E∫(t − s)φ ≤ s for
    all φ, of which the cap t ≥ s is the worst: where E(h(s) − s·q(s)) ≤ s. The least such s is m of
    the best cap (ours).

    Args:
        dimension: r in [1, 10^5].
        epsilon: ε in [10^-6, 1000].

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> 0.46211 < greatest_mean_up(1, 1.0) < 0.46212 < 2 * 0.2449 < greatest_mean_up(3, 2.2)
        True
    """
    from flint import arb, fmpq

    mean = moments(dimension, *best(dimension, epsilon))[0]
    meant = max(Fraction(epsilon), exact(epsilon))
    with precision(_BITS):
        odds = arb(fmpq(meant.numerator, meant.denominator)).expm1()
        if dimension == 1:
            return min(up(float((odds / (2 + odds)).upper())), 1.0)
        slack = 2.0**-44
        while (found := up(mean * (1 + slack))) < 1:
            mass, height = _cap(dimension, found)
            if height <= found * (mass + 1 / odds):
                return found
            slack *= 4
    return 1.0


def _cap(dimension: int, threshold: Any) -> tuple[Any, Any]:  # noqa: ANN401 (flint has no types)
    """Return balls of q and h; r ≥ 2."""
    from flint import arb

    power, half = arb(dimension - 1) / 2, arb(1) / 2
    outside = 1 - arb(threshold) ** 2
    mass = outside.beta_lower(power, half, regularized=1) / 2
    scale = ((power + half).lgamma() - power.lgamma()).exp() / arb.pi().sqrt()
    return mass, scale * outside**power / (dimension - 1)


def _fraction(number: Any) -> Fraction:  # noqa: ANN401
    """Return an exact ball as a fraction."""
    mantissa, exponent = number.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _checked(dimension: int, threshold: float) -> None:
    if not 1 <= dimension <= _MOST_DIMENSIONS:
        raise PlanError(
            f"dimension={dimension} is out of range for a spherical cap; give at least 1 and at "
            f"most {_MOST_DIMENSIONS}"
        )
    if not 0 < threshold < 1:
        raise PlanError(f"threshold={threshold} is out of range; give a number between 0 and 1")


def _checked_uniform(uniform: float) -> None:
    if not 0 <= uniform <= 1:
        raise PlanError(f"uniform={uniform} is out of range; give a chance in [0, 1]")
