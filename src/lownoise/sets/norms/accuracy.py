# SPDX-License-Identifier: Apache-2.0
"""How near the norms of unit bodies are computed in floats, and what balls lie in and around them.

A walk with a weak oracle forgets the points that the oracle cannot tell from the boundary, so what
`norm_up` exceeds the norm by must be proved. With u = 2⁻⁵³:

* ℓ_r balls, also capped ones: `norm_up` is the float norm times 1 + s, and is an upper bound
  because that float is within s: it exceeds by (1 + s)² at most, a quotient by a cap by u more.
* sums of sorted sizes: k products and sums of numbers ≥ 0 are off by γ₂ₖ, times 1 + s.
* mixed norms: the product of what the outer and the inner norms exceed by.
* several bodies at once: what the worst part exceeds by, a product by a scale, 1 + s.
* spectral norms: from A = U diag(s) Vᵀ + E the gauge G of s is at most (G(A) + G(E))(1 + τ), and
  the bound (1 + τ)·G(s) + G(E); so with G(E) ≤ ω·G(A) it exceeds by (1 + τ)²(1 + 2.1ω) at most. τ
  and ω are looked at with each matrix, and a decomposition with greater ones is refused.

Elsewhere `norm_up` may be loose (Kronecker products): such bodies are not admitted. Entries so
small that their products underflow are below 2⁻⁴⁰⁰ of a norm near 1.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import up
from lownoise.sets.unit_balls import CappedBall, NormBall
from lownoise.sets.unit_balls.meet import IntersectionBall
from lownoise.sets.unit_balls.mixed import MixedBall
from lownoise.sets.unit_balls.sorted_norm import SortedBall
from lownoise.sets.unit_balls.spectral import SpectralBall, is_symmetric

if TYPE_CHECKING:
    from lownoise.sets.unit_balls import AbstractUnitBall

_OUTWARD = 1 + 2.0**-40
_SLACK = 2.0**-44
_UNIT = 2.0**-50


@singledispatch
def excess_of(base: object) -> float:
    """Return at least norm_up/norm − 1, for every point; infinite where that is not proved.

    Examples:
        >>> excess_of(NormBall(2, 1.0)) < 2.0**-42
        True
        >>> excess_of("an unknown body")
        inf
    """
    return math.inf


@excess_of.register(NormBall)
def _(base: NormBall) -> float:
    return 2.125 * (_SLACK + base.dimension * _UNIT)


@excess_of.register(CappedBall)
def _(base: CappedBall) -> float:
    return 2.125 * (_SLACK + base.dimension * _UNIT) + _UNIT


@excess_of.register(SortedBall)
def _(base: SortedBall) -> float:
    return 1.125 * (_SLACK + 2 * base.dimension * _UNIT)


@excess_of.register(MixedBall)
def _(base: MixedBall) -> float:
    inner = max(excess_of(part) for part in base.parts)
    if any(isinstance(part, SpectralBall) for part in base.parts):
        return math.inf  # decompositions inside are not looked at
    return (inner + excess_of(NormBall(len(base.parts), base.order))) * (1 + 2.0**-20)


@excess_of.register(IntersectionBall)
def _(base: IntersectionBall) -> float:
    return (max(excess_of(part) for part in base.parts) + _SLACK + _UNIT) * (1 + 2.0**-20)


@excess_of.register(SpectralBall)
def _(base: SpectralBall) -> float:
    if not is_symmetric(base.gauge):
        return math.inf
    stretch, off = base.limits
    own = excess_of(base.gauge) + 2 * stretch + 2.1 * off + _SLACK + _UNIT
    return own * (1 + 2.0**-20)


def oracle_ball(base: AbstractUnitBall) -> AbstractUnitBall:
    """Return the body whose `norm_up` is as near as `excess_of` says, or refuses."""
    return replace(base, checked=True) if isinstance(base, SpectralBall) else base


@singledispatch
def inner_of(base: object) -> float:
    """Return r with ‖x‖ ≤ |x|₂/r, rounded down: a ball of radius r is in the body; 0 if unknown.

    Examples:
        >>> round(inner_of(NormBall(4, 1.0)), 9)
        0.5
    """
    return 0.0


@inner_of.register(NormBall)
def _(base: NormBall) -> float:
    # ‖x‖_r ≤ k^(1/r − 1/2)|x|₂ below order 2, |x|₂ above
    return float(1 / (base.size ** max(1 / base.order - 0.5, 0.0) * _OUTWARD))


@inner_of.register(CappedBall)
def _(base: CappedBall) -> float:
    return min(inner_of(NormBall(base.dimension, base.order)), float(np.min(base.cap)) / _OUTWARD)


@inner_of.register(SortedBall)
def _(base: SortedBall) -> float:
    return 1 / (float(np.linalg.norm(base.weights)) * _OUTWARD)  # Cauchy and Schwarz


@inner_of.register(MixedBall)
def _(base: MixedBall) -> float:
    # ‖(‖xᵢ‖)‖ ≤ ‖(|xᵢ|₂/rᵢ)‖
    parts = min(inner_of(part) for part in base.parts)
    return parts * inner_of(NormBall(len(base.parts), base.order)) / _OUTWARD


@inner_of.register(IntersectionBall)
def _(base: IntersectionBall) -> float:
    pairs = zip(base.parts, base.scales, strict=True)
    return min(inner_of(part) / (float(np.max(scale)) * _OUTWARD) for part, scale in pairs)


@inner_of.register(SpectralBall)
def _(base: SpectralBall) -> float:
    return inner_of(base.gauge)  # the entries are as long as the singular values


def outer_of(base: AbstractUnitBall) -> float:
    """Return R with |x|₂ ≤ R on the body, rounded up.

    Examples:
        >>> round(outer_of(NormBall(4, math.inf)), 9)
        2.0
    """
    return up(math.sqrt(base.energy_up(np.ones(base.dimension))))


def volume_up(base: AbstractUnitBall) -> float:
    """Return at least the volume: of the ball around it, the box, or for matrices that of all rows.

    A row, and a column, of a matrix is no longer than its greatest singular value.

    Examples:
        >>> volume_up(SpectralBall(2, 2, NormBall(2, math.inf))) < 9.87  # (area of a disc)²
        True
    """
    d = base.dimension
    widths = base.widths()
    found = [_ball_log(d, outer_of(base)), float(np.sum(np.log(2 * widths)))]
    if isinstance(base, SpectralBall):
        r, c, corner = base.rows, base.columns, float(np.max(widths))
        found += [r * _ball_log(c, corner), c * _ball_log(r, corner)]
    return math.exp(min(found)) * (1 + d * 2.0**-36)


def _ball_log(dimension: int, radius: float) -> float:
    half = dimension / 2
    return half * math.log(math.pi) - math.lgamma(half + 1) + dimension * math.log(radius)
