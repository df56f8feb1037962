# SPDX-License-Identifier: Apache-2.0
"""Norms of points that are known by balls: what decides whether a point is in a unit ball.

Every number is an enclosure: it holds the norm of each point in the balls, and shrinks with them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat

from lownoise.numbers.arrays import slices
from lownoise.numbers.intervals import power
from lownoise.sets.unit_balls.abstract import NormBall
from lownoise.sets.unit_balls.intersection import IntersectionBall
from lownoise.sets.unit_balls.norm import CappedBall, SortedBall
from lownoise.sets.unit_balls.products import MixedBall
from lownoise.sets.unit_balls.spectral import SpectralBall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lownoise.sets.unit_balls.abstract import AbstractUnitBall


def enclosed(base: AbstractUnitBall, balls: list[Any]) -> Any:  # noqa: ANN401 (flint has no types)
    """Return a ball that holds ‖x‖ for every x in these balls; None where no way is known.

    Args:
        base: the unit ball of the norm.
        balls: one a coordinate.

    Examples:
        >>> enclosed(SpectralBall(2, 2, NormBall(2, 1.0)), [arb(3), arb(0), arb(0), arb(-4)])
        7.00000000000000
    """
    way = WAYS.get(type(base))
    return None if way is None else way(base, balls)


def decided(base: AbstractUnitBall) -> bool:
    """Return whether `enclosed` knows this norm, so that every point is told from the outside.

    Examples:
        >>> decided(NormBall(2, 3.0))
        True
    """
    return enclosed(base, [arb(0)] * base.dimension) is not None


def _power_norm(base: NormBall, balls: list[Any]) -> Any:  # noqa: ANN401
    sizes = [abs(x) for x in balls]
    if math.isinf(base.order):
        return _greatest(sizes)
    if base.order == 1 or len(sizes) == 1:
        return sum(sizes, arb(0))
    return _root(sum((power(x, base.order) for x in sizes), arb(0)), base.order)


def _sorted_sum(base: SortedBall, balls: list[Any]) -> Any:  # noqa: ANN401
    """The sum rises with every size: that of the lower ends to that of the upper ones."""
    weights = [arb(w) for w in base.weights.tolist()]
    ends = ([x.abs_lower() for x in balls], [x.abs_upper() for x in balls])
    low, high = (sum(map(arb.__mul__, weights, sorted(own)[::-1]), arb(0)) for own in ends)
    return low.union(high)


def _capped(base: CappedBall, balls: list[Any]) -> Any:  # noqa: ANN401
    caps = [abs(x) / arb(cap) for x, cap in zip(balls, base.cap.tolist(), strict=True)]
    return _greatest([enclosed(NormBall(base.dimension, base.order), balls), *caps])


def _meet(base: IntersectionBall, balls: list[Any]) -> Any:  # noqa: ANN401
    scaled = [
        [arb(scale) * x for scale, x in zip(row, balls, strict=True)]
        for row in base.scales.tolist()
    ]
    return _of_all(
        _greatest, (enclosed(part, own) for part, own in zip(base.parts, scaled, strict=True))
    )


def _mixed(base: MixedBall, balls: list[Any]) -> Any:  # noqa: ANN401
    own = slices(part.dimension for part in base.parts)
    outer = NormBall(len(base.parts), base.order)
    return _of_all(
        lambda norms: enclosed(outer, norms),
        (enclosed(part, balls[at]) for part, at in zip(base.parts, own, strict=True)),
    )


def _spectral(base: SpectralBall, balls: list[Any]) -> Any:  # noqa: ANN401
    """The gauge of the roots of the eigenvalues of XXᵀ or XᵀX, isolated or in a joint disc."""
    x = arb_mat(base.rows, base.columns, balls)
    gram = x * x.transpose() if base.rows <= base.columns else x.transpose() * x
    try:
        values = gram.eig(multiple=True)
    except ValueError:  # the balls are too wide
        values = [arb.nan()] * base.gauge.dimension
    return enclosed(base.gauge, [_root(arb(own.real), 2.0) for own in values])


def _of_all(made: Any, norms: Iterable[Any]) -> Any:  # noqa: ANN401
    known = list(norms)
    return None if any(norm is None for norm in known) else made(known)


def _greatest(sizes: list[Any]) -> Any:  # noqa: ANN401
    found = sizes[0]
    for size in sizes[1:]:
        found = found.max(size)
    return found


def _root(x: Any, order: float) -> Any:  # noqa: ANN401
    """Return x^{1/order} of a ball of a number that is at least 0."""
    if not x.is_finite():
        return arb.nan()
    if x > 0:
        return x.sqrt() if order == 2 else x ** (1 / arb(order))  # noqa: PLR2004
    top = x.abs_upper()
    high = top.sqrt() if order == 2 else top ** (1 / arb(order)) if top > 0 else arb(0)  # noqa: PLR2004
    return arb(0).union(high)


WAYS: dict[type, Callable[..., Any]] = {
    NormBall: _power_norm,
    SortedBall: _sorted_sum,
    CappedBall: _capped,
    IntersectionBall: _meet,
    MixedBall: _mixed,
    SpectralBall: _spectral,
}
