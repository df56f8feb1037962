# SPDX-License-Identifier: Apache-2.0
"""How far changes reach in a norm: one registration a kind of body, always rounded up.

A gauge knows the bodies that are like its unit ball (`own_up`), the norm of any point (`norm_up`),
and as a rule forms of its norm, of which every body can say something.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.rounding import growth, up
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.norms.abstract import AbstractNorm, Form

_MOST_CORNERS = 7  # signs, whose 2^6 pairs of opposite choices are listed
_MOST_PAIRS = 1 << 12


@singledispatch
def body_reach_up(body: object, gauge: AbstractNorm) -> float:
    """Return at least max ‖s‖ over a body in the norm of a gauge.

    Raises:
        PlanError: where the kind of body is not known, or the gauge says nothing of it.
    """
    raise PlanError(f"body={type(body).__name__} has no known reach in a norm; use ln.Points")


def corners(width: int) -> Vector:
    """Return the choices of `width` signs, one of each and its opposite; (2^(width − 1), width)."""
    bits = (np.arange(1 << (width - 1))[:, None] >> np.arange(width)) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _by_forms(gauge: AbstractNorm, ask: Callable[[Form], float]) -> float:
    forms = gauge.forms
    found = float(np.max([ask(form) for form in forms])) if forms else math.inf
    return found if found >= 0 else math.inf  # not a number proves nothing


def _sure(found: float, body: object, gauge: AbstractNorm) -> float:
    if math.isfinite(found):
        return found
    raise PlanError(
        f"{type(body).__name__} has no known reach in the norm of a {type(gauge).__name__} of "
        f"dimension {gauge.dimension}; use the gauge of that body",
    )


@body_reach_up.register(SymmetricBox)
def _(body: SymmetricBox, gauge: AbstractNorm) -> float:
    if not np.any(body.half_width):
        return 0.0
    found = gauge.own_up(body)
    if math.isfinite(found):
        return found
    found = _by_forms(gauge, lambda form: form.box_up(body.half_width))
    moving = np.flatnonzero(body.half_width)
    if moving.size <= _MOST_CORNERS:
        ends = np.zeros((1 << (moving.size - 1), gauge.dimension))
        ends[:, moving] = corners(moving.size) * body.half_width[moving]
        found = min(found, float(np.max(gauge.norm_up(ends))))
    if not math.isfinite(found):  # ‖s‖ ≤ Σ |sᵢ|·‖eᵢ‖
        axes = gauge.norm_up(np.diag(body.half_width)[moving])
        found = float(np.sum(axes)) * (1 + growth(moving.size + 9))
    return _sure(found, body, gauge)


@body_reach_up.register(SymmetricPoints)
def _(body: SymmetricPoints, gauge: AbstractNorm) -> float:
    found = gauge.own_up(body)
    if body.image is not None and not math.isfinite(found):
        found = gauge.own_up(body.image)
    if math.isfinite(found):
        return found
    return _sure(float(np.max(gauge.norm_up(body.points), initial=0.0)), body, gauge)


@body_reach_up.register(PointDifferences)
def _(body: PointDifferences, gauge: AbstractNorm) -> float:
    found = gauge.own_up(body)
    if math.isfinite(found):
        return found
    found = _by_forms(gauge, lambda form: form.differences_up(body.points))
    n = len(body.points)
    if n * (n - 1) // 2 <= _MOST_PAIRS:
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        # codes are whole numbers below 2^53: so are their differences, exactly
        apart = _exact_differences(body, pairs)
        if apart is not None:
            found = min(found, float(np.max(gauge.norm_up(apart), initial=0.0)))
    return _sure(found, body, gauge)


def _exact_differences(body: PointDifferences, pairs: np.ndarray) -> Vector | None:
    points = body.points
    whole = np.all(points == np.floor(points)) and np.max(np.abs(points)) <= 2.0**52
    return body.vertices(pairs) if whole else None


@body_reach_up.register(ImageBody)
def _(body: ImageBody, gauge: AbstractNorm) -> float:
    found = gauge.own_up(body)
    if math.isfinite(found) and found <= 1:
        return found
    found = min(found, _by_forms(gauge, lambda form: form.image_up(body)))
    ends = None if math.isfinite(found) else _ends(body)
    if ends is not None:
        found = float(np.max(gauge.norm_up(ends)))
    return _sure(found, body, gauge)


def _ends(body: ImageBody) -> Vector | None:
    """Return what an image is the symmetric hull of, where that is a short list."""
    base = body.base
    if not isinstance(base, NormBall):
        return None
    if base.order == 1:
        return np.ascontiguousarray(body.dense.T)
    few = math.isinf(base.order) and base.size <= _MOST_CORNERS
    return np.asarray(corners(base.size) @ body.dense.T) if few else None


@body_reach_up.register(RoundedBody)
def _(body: RoundedBody, gauge: AbstractNorm) -> float:
    found = body_reach_up(body.body, gauge)
    if not np.any(body.slack):
        return found
    return up(found + body_reach_up(SymmetricBox(body.slack), gauge))


@body_reach_up.register(AbstractBody)
def _(body: AbstractBody, gauge: AbstractNorm) -> float:
    found = gauge.own_up(body)
    if not math.isfinite(found):
        found = _by_forms(gauge, lambda form: form.body_up(body))
    return _sure(found, body, gauge)
