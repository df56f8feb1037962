# SPDX-License-Identifier: Apache-2.0
"""Solutions for images of unit bodies: the best of their own form, and what points of them add."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import (
    Claim,
    SquaresDual,
    order_norm,
)
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.frames import find_frame
from lownoise.sets.bodies import (
    ImageBody,
)
from lownoise.sets.unit_balls import MixedBall, NormBall, ParityBall
from lownoise.solvers.ascent import far_points
from lownoise.solvers.image import (
    Majorant,
    closed_majorant,
    covering_factor,
    diagonal_squares,
    folded,
    least_majorant,
)
from lownoise.solvers.solution import NO_WIDTH, RTOL, Solution, honest, in_unit, nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.frames import Frame
    from lownoise.sets.unit_balls import AbstractUnitBall
    from lownoise.solvers.generation import Progress


_NEARLY = 1e-4  # how near evidence first is: mostly ellipsoids that can be proved are farther
_WITHIN = 3.0
_MOST_TRIED = 25  # coordinates of a diagonal image whose far points are looked for


def image_solution(
    body: ImageBody,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    """Return the least ellipsoid around an image of a unit body that can be proved to cover it.

    Arguments are those of `solve`.
    """
    if body.diagonal and queries is None:
        return _diagonal_image(body, order, weights, rtol, progress)
    frame = find_frame(body, queries, in_order=in_order)
    if not frame.rank:
        still = SquaresDual(frozen(np.zeros(body.base.dimension)), frozen(np.ones(weights.size)))
        return Solution(nothing(body, order, weights, queries, frame, still), NO_WIDTH, 0)
    columns = frame.down(body.spanning)
    seen = frame.seen(queries)
    asked = np.diag(weights) if seen is None else weights[:, None] * seen
    images = asked @ columns.T
    unit = float(np.max(np.abs(images)))
    heard = in_unit(progress, unit)
    own = folded(images / unit, order) if len(columns) == frame.rank else None
    if own is None:
        squared = np.square(images / unit)
        found = least_majorant(squared, body.base, order, rtol=rtol, progress=heard)
    else:
        size, shares = own
        found = _separate(size, body.base, order, rtol, heard)
        found = replace(found, query_weights=frozen(shares @ found.query_weights))
    shape = DenseShape(covering_factor(columns, found))
    claim = _image_claim(body, order, queries, weights, frame, shape, found)
    if claim.certificate().gap > rtol:
        claim = _tight(_better_proved(claim, columns, asked, unit, rtol), asked)
    return Solution(claim, honest(found.status, claim, rtol), found.rounds)


def _diagonal_image(
    body: ImageBody,
    order: float,
    weights: Vector,
    rtol: float,
    progress: Callable[[Progress], None] | None,
) -> Solution:
    """Return the best ellipsoid along the coordinates; nothing of d × d is formed."""
    size = weights * np.abs(body.factor)
    unit = float(np.max(size))
    if not unit:
        ones = np.ones(body.dimension)
        found = Majorant(ones, ones, ones, NO_WIDTH, 0)
    else:
        heard = in_unit(progress, unit)
        found = _separate(size / unit, body.base, order, rtol, heard)
    shape = DiagonalShape(diagonal_squares(body.factor, found))
    claim = _image_claim(body, order, None, weights, None, shape, found)
    if unit and size.size <= _MOST_TRIED and claim.certificate().gap > rtol:
        asked = np.diag(weights)
        claim = _better_proved(claim, np.diag(body.factor), asked, unit, rtol)
        claim = _tight(claim, asked) if isinstance(claim.shape, DenseShape) else claim
    return Solution(claim, honest(found.status, claim, rtol), found.rounds)


def _separate(
    size: Vector,
    base: AbstractUnitBall,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None,
) -> Majorant:
    """Return the best coefficients where each answer is a multiple of one coordinate."""
    known = _order_of(base)
    if known is not None:
        return closed_majorant(size, known, order)
    return least_majorant(np.square(size), base, order, rtol=rtol, progress=progress)


def _order_of(base: AbstractUnitBall) -> float | None:
    """Return r where squares of the base reach as far as those of a ball of ℓ_r."""
    if isinstance(base, NormBall):
        return base.order if base.size > 1 else math.inf
    if isinstance(base, ParityBall):
        return math.inf
    parts = base.parts if isinstance(base, MixedBall) and base.order == math.inf else ()
    if parts and all(_order_of(part) == math.inf for part in parts):
        return math.inf
    return None


def _image_claim(
    body: ImageBody,
    order: float,
    queries: Vector | None,
    weights: Vector,
    frame: Frame | None,
    shape: AbstractShape,
    found: Majorant,
) -> Claim:
    return Claim(
        body=body.hinted(found.coefficients),
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=shape,
        center=frozen(np.zeros(body.dimension)),
        dual=SquaresDual(found.squares, found.query_weights),
    )


def _better_proved(
    claim: Claim,
    columns: Vector,
    asked: Vector,
    unit: float,
    rtol: float,
) -> Claim:
    """Return the claim with points of the body as its evidence, where they prove more.

    The ellipsoid around those points is taken where it can be proved to cover the body and is less.
    """
    body, dual = claim.body, claim.dual
    assert isinstance(body, ImageBody)  # noqa: S101 (the caller made it)
    assert isinstance(dual, SquaresDual)  # noqa: S101 (the caller made it)
    for near in dict.fromkeys((max(rtol, _NEARLY), rtol)):
        try:
            found = far_points(
                columns / unit, body.base, asked, claim.order, near, dual.query_weights
            )
        except KeyboardInterrupt:
            return claim
        if found is None:
            return claim
        points, factor = found
        other = replace(claim, dual=points)
        if other.certificate().lower > claim.certificate().lower:
            claim = other
        if factor is not None:
            least = replace(claim, shape=DenseShape(unit * factor))
            if least.certificate().upper < claim.certificate().upper:
                claim = least
        if not rtol < claim.certificate().gap < _WITHIN * _NEARLY:
            break
    return claim


def _tight(claim: Claim, asked: Vector) -> Claim:
    """Return the claim with its ellipsoid shrunk to what covers the body, as far as is proved."""
    assert isinstance(claim.shape, DenseShape)  # noqa: S101 (what framed images have)
    size = order_norm(np.linalg.norm(asked @ claim.shape.factor, axis=1), claim.order)
    ratio = claim.certificate().upper / size if size else 1.0
    return replace(claim, shape=claim.shape.scaled(ratio)) if 0 < ratio < 1 else claim
