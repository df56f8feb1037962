# SPDX-License-Identifier: Apache-2.0
"""Bodies of changes seen through a matrix, exactly: what is left when some answers are dropped."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies import (
    ImageBody,
    PointDifferences,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.changes import Reach

_EXACT = 2.0**53
_OUTWARD = 1 + 2.0**-40


def mapped(reach: Reach, rows: Vector) -> Reach:
    """Return rows·S, or a body around it that differs by what rounding hides.

    Args:
        reach: S, r coordinates.
        rows: shape (k, r); each entry a whole number over 2^b, for a small b.

    Raises:
        PlanError: where the body is of a kind that has no form there, or has too fine numbers.

    Examples:
        >>> mapped(SymmetricBox(np.array([1.0, 2.0, 3.0])), np.eye(3)[1:]).half_width
        array([2., 3.])
    """
    return _mapped(reach, np.ascontiguousarray(rows))


@singledispatch
def _mapped(reach: object, rows: Vector) -> Reach:
    raise PlanError(f"a body of kind {type(reach).__name__} has no known image")


@_mapped.register(SymmetricBox)
def _(reach: SymmetricBox, rows: Vector) -> Reach:
    if _selects(rows):
        return SymmetricBox(frozen(np.abs(rows) @ reach.half_width))
    _check_exact(rows, reach.half_width[None])
    return ImageBody(frozen(rows * reach.half_width), NormBall(rows.shape[1], math.inf))


@_mapped.register(SymmetricPoints)
def _(reach: SymmetricPoints, rows: Vector) -> Reach:
    image = None if reach.image is None else mapped(reach.image, rows)
    exact = image if isinstance(image, ImageBody) else None
    return SymmetricPoints(_images(reach.points, rows), exact)


@_mapped.register(PointDifferences)
def _(reach: PointDifferences, rows: Vector) -> Reach:
    return PointDifferences(_images(reach.points, rows))


@_mapped.register(ImageBody)
def _(reach: ImageBody, rows: Vector) -> Reach:
    dense = reach.dense
    if _selects(rows):
        if reach.diagonal:
            kept = np.argmax(np.abs(rows), axis=1)
            if np.all(np.diff(kept) > 0):
                base = reach.base.restricted(kept)
                if base is not None:
                    return ImageBody(frozen(reach.factor[kept]), base)
        return ImageBody(frozen(rows @ dense), reach.base)
    size = np.abs(rows) @ (np.abs(dense) @ reach.base.widths())
    off = growth(rows.shape[1] + 3) * size * _OUTWARD
    return RoundedBody(ImageBody(frozen(rows @ dense), reach.base), frozen(off))


@_mapped.register(RoundedBody)
def _(reach: RoundedBody, rows: Vector) -> Reach:
    slack = np.abs(rows) @ reach.slack * _OUTWARD
    body = mapped(reach.body, rows)
    if isinstance(body, RoundedBody):
        return RoundedBody(body.body, frozen((body.slack + slack) * _OUTWARD))
    if isinstance(body, SymmetricBox):
        return SymmetricBox(frozen((body.half_width + slack) * _OUTWARD))
    return RoundedBody(body, frozen(slack))


def _images(points: Vector, rows: Vector) -> Vector:
    _check_exact(rows, points)
    return frozen(np.ascontiguousarray(points @ rows.T))


def _check_exact(rows: Vector, points: Vector) -> None:
    """Refuse products whose sums of whole numbers floats do not hold."""
    finest = _denominator(rows) * _denominator(points)
    most = float(np.max(np.abs(rows).sum(axis=1), initial=0.0) * np.max(np.abs(points), initial=0))
    if not most * finest < _EXACT:
        raise PlanError("the integers are too fine for levels that are exact images of them")


def _denominator(numbers: Vector) -> float:
    """Return the least power of two that makes all of them whole, at least 1."""
    scale = 1.0
    while not np.array_equal(np.floor(numbers * scale), numbers * scale):
        scale *= 2
        if scale > _EXACT:
            return math.inf
    return scale


def _selects(rows: Vector) -> bool:
    """Return whether each row keeps one coordinate, up to its sign."""
    size = np.abs(rows)
    return bool(np.all((size == 0) | (size == 1)) and np.all(np.sum(size, axis=1) == 1))
