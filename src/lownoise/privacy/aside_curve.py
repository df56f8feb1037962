# SPDX-License-Identifier: Apache-2.0
"""What an (ε, δ) release reveals but for a chance δ, where its total variation is known (ours).

Let two laws be each other's mirror images, with the curve δ(·) and τ = δ(0) their total variation.
Cut each where it is more than e^ε times the other: what is left has the mass 1 − δ(ε) on both
sides, and scaled to 1 the curve (δ(u) − δ(ε))/(1 − δ(ε)) for u ≤ ε and 0 beyond. That is convex in
e^u and at most τ at u = 0, so it lies below the chord w·(e^ε − e^u)/(1 + e^ε), w = τ/tanh(ε/2): the
curve of randomised response of ε that is given with chance w, and of nothing otherwise. By
Blackwell's theorem what is left is a function of that, and has no more ρ and μ (docs/theory.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.privacy import pure_curve

_BITS = 200
_STEP = 1 + 2.0**-9  # of orders: ρ is at most as much too large
_LEAST = 2.0**-300  # a total variation below it counts as this
_LARGE = 1000.0  # no budget's ε is above it


@lru_cache(maxsize=256)
def rho_up(epsilon: float, variation: float) -> float:
    """Return at least the ρ of all but a chance δ; at most what ε alone implies.

    D_α = ln(1 + w·(c − 1))/(α − 1), c = cosh(ε(α − 1/2))/cosh(ε/2). It grows with α, so between
    two orders D_α/α is at most D at the greater over the lesser, and at most ε/α beyond any.

    Args:
        epsilon: ε > 0.
        variation: at least τ, in [0, 1].

    Beyond ε = 1000, which no budget has, it is infinite.

    Examples:
        >>> 0.129 < rho_up(1.0, 0.122) < 0.130
        True
        >>> rho_up(1.0, 1.0) == up(float(pure_curve.rho_up(Fraction(1))))
        True
    """
    if epsilon > _LARGE:
        return math.inf
    pure = up(float(pure_curve.rho_up(Fraction(epsilon))))
    with precision(_BITS):
        own = _share(epsilon, variation)
        if own is None:
            return pure
        most, order = 0.0, 1.0
        while order * most < epsilon and most < pure:
            further = order * _STEP
            most = max(most, _divergence(epsilon, own, further) / order)
            order = further
    return min(up(most), pure)


@lru_cache(maxsize=256)
def mu_up(epsilon: float, variation: float) -> float:
    """Return at least the μ of all but a chance δ; at most what ε alone implies.

    The trade-off curve has the corners (l, 1 − h) and (1 − h, l), h = w·e^ε/(1 + e^ε) and
    l = e^−ε·h, so μ = Φ⁻¹(h) − Φ⁻¹(l).

    Args:
        epsilon: ε > 0.
        variation: at least τ, in [0, 1].

    Examples:
        >>> 0.601 < mu_up(1.0, 0.122) < 0.602
        True
    """
    from flint import arb

    if epsilon > _LARGE:
        return math.inf
    pure = up(float(pure_curve.mu_up(Fraction(epsilon))))
    with precision(_BITS):
        own = _share(epsilon, variation)
        if own is None:
            return pure
        low = own / (1 + arb(epsilon).exp())
        ends = (2 * low).erfcinv() - (2 * low * arb(epsilon).exp()).erfcinv()
        most = up(float((arb(2).sqrt() * ends).upper()))
    return min(most, pure) if most > 0 else pure


def _share(epsilon: float, variation: float) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return w; None where it is not proved to be below 1."""
    from flint import arb

    own = arb(max(variation, _LEAST)) / (arb(epsilon) / 2).tanh()
    return own if own < 1 else None


def _divergence(epsilon: float, share: Any, order: float) -> float:  # noqa: ANN401
    """Return at least D_α; c − 1 is 2 sinh(εα/2)·sinh(ε(α − 1)/2)/cosh(ε/2)."""
    from flint import arb

    half, alpha = arb(epsilon) / 2, arb(order)
    grown = 2 * (half * alpha).sinh() * (half * (alpha - 1)).sinh() / half.cosh()
    return up(float(((share * grown).log1p() / (alpha - 1)).upper()))
