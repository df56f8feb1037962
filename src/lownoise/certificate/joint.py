# SPDX-License-Identifier: Apache-2.0
"""Evidence for a product, from evidence for its parts.

A measure on each part makes one on the product, its parts independent. So of differences, their
signs drawn at random, second moments stand side by side; about the mean covariances do; and of
lifted records (x − v, 1) the second moment is that of covariances side by side, and of the one row
(mean, 1). Whatever is asked, `lower` then says what no ellipsoid is below (ours).
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.duals import (
    ImageDual,
    JointDual,
    OracleDual,
    PointDual,
    ProductDual,
    SectionDual,
    SquaresDual,
)
from lownoise.certificate.lower import LEAST_MASS, lower_bound, size_of
from lownoise.certificate.pairing import about_mean, paired_down
from lownoise.errors import PlanError
from lownoise.numbers.norms import SLACK
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies import (
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    JointBody,
    PointDifferences,
    SectionBody,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody


@final
class Moments:
    """A measure of mass 1 at most, by what its second moment is the square of.

    Args:
        rows: shape (n, d): Σ rowᵢ rowᵢᵀ is its covariance, or of symmetric ones its second moment.
        mean: shape (d,).
        off: how far rounding can have moved the rows, summed over all of them, and the mean; (d,).
    """

    def __init__(self, rows: Vector, mean: Vector, off: Vector) -> None:
        self.rows, self.mean, self.off = rows, mean, off


@lower_bound.register(JointDual)
def _(
    dual: JointDual,
    body: JointBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    c = dual.query_weights
    known = isinstance(body, JointBody) and len(dual.parts) == len(body.parts)
    answers = (body.dimension if queries is None else len(queries)) if known else -1
    if not known or weights.size != answers or c.shape != weights.shape or not np.all(c >= 0):
        raise PlanError("JointDual does not fit its body; solve again")
    if not np.any(c > 0):
        return 0.0
    own = [moments(part, of, body.counted) for part, of in zip(dual.parts, body.parts, strict=True)]
    d = body.dimension
    rows = np.zeros((sum(len(part.rows) for part in own) + body.counted, d))
    off, i = np.zeros(d), 0
    for part, at in zip(own, body.blocks, strict=True):
        rows[i : i + len(part.rows), at] = part.rows
        i += len(part.rows)
        off[at] = part.off
        if body.counted:
            rows[-1, at] = part.mean
            off[at] += part.off
    if body.counted:
        rows[-1, -1] = body.count
    off *= math.sqrt(max(d, weights.size))
    paired = paired_down(rows, off, np.sqrt(c) * weights, queries, hint)
    return paired / math.sqrt(size_of(c, order)) * (1 - SLACK)


@singledispatch
def moments(dual: object, body: AbstractBody, counted: bool) -> Moments:  # noqa: FBT001
    """Return the moments of a part's evidence.

    Args:
        dual: the evidence.
        body: the part's body.
        counted: whether it is lifted; its count is then left out.

    Raises:
        PlanError: where the evidence is of an unknown kind, or does not fit.
    """
    raise PlanError(f"dual={type(dual).__name__} is no evidence for a part; solve again")


@moments.register(PointDual)
def _(dual: PointDual, body: AbstractPointBody, counted: bool) -> Moments:  # noqa: FBT001
    known = isinstance(body, AbstractPointBody) and body.knows(dual.indices)
    w = _checked(dual.vertex_weights, len(dual.indices), fits=known)
    return _of_vertices(body.vertices(dual.indices), w, body, counted)


@moments.register(OracleDual)
def _(dual: OracleDual, body: AbstractOracleBody, counted: bool) -> Moments:  # noqa: FBT001
    known = isinstance(body, AbstractOracleBody) and body.knows(dual.points)
    w = _checked(dual.vertex_weights, len(dual.points), fits=known)
    found = _of_vertices(body.vertices(dual.points), w, body, counted)
    doubt = body.doubt[: found.mean.size] * float(np.sum(np.sqrt(w)))
    return Moments(found.rows, found.mean, found.off + 2 * doubt)


@moments.register(SectionDual)
def _(dual: SectionDual, body: SectionBody, counted: bool) -> Moments:  # noqa: FBT001
    known = isinstance(body, SectionBody) and dual.points.shape[1:] == (body.width_of_points,)
    w = _checked(dual.vertex_weights, len(dual.points), fits=known)
    found, gauges = body.changes(dual.points)
    if not np.all(np.isfinite(gauges)):
        raise PlanError("SectionDual has points far outside its section; solve again")
    if not counted:
        found = found / np.maximum(gauges, 1.0)[:, None]
    return _of_vertices(found, w, body, counted)


@moments.register(ProductDual)
def _(dual: ProductDual, body: PointDifferences, counted: bool) -> Moments:  # noqa: FBT001
    indices = dual.indices
    known = isinstance(body, PointDifferences) and indices.ndim == 1 and not counted
    known = known and len(np.unique(indices)) == len(indices)
    known = known and body.knows(np.stack([indices, indices], axis=1))
    w = _checked(dual.vertex_weights, len(indices), fits=known)
    mass = (math.fsum(w) ** 2 - math.fsum(w * w)) * (1 + SLACK)
    if not mass > LEAST_MASS:
        return _nothing(body.dimension)
    found = _of_vertices(body.points[indices], w, body, counted, moves=True)
    scale = math.sqrt(2 / mass)
    return Moments(scale * found.rows, 0 * found.mean, scale * found.off * (1 + SLACK))


@moments.register(ImageDual)
def _(dual: ImageDual, body: ImageBody, counted: bool) -> Moments:  # noqa: FBT001
    x, k = dual.points, body.base.dimension if isinstance(body, ImageBody) else -1
    known = x.shape[1:] == (k,) and bool(np.all(np.isfinite(x)))
    w = _checked(dual.vertex_weights, len(x), fits=known)
    if counted:  # a record is (x, 1) or its opposite, and x is brought into the base
        x = np.where(x[:, -1:] < 0, -x, x)
        x = np.hstack([x[:, :-1], np.zeros((len(x), 1))])
    x = x / np.maximum(body.base.norm_up(x), 1.0)[:, None]
    if counted:
        x[:, -1] = 1.0
    rows = x @ body.dense.T
    size = growth(k + 9) * (np.sqrt(w) @ (np.abs(x) @ np.abs(body.dense.T)))
    found = _of_vertices(rows, w, body, counted)
    return Moments(found.rows, found.mean, found.off + 2 * size[: found.mean.size])


@moments.register(SquaresDual)
def _(dual: SquaresDual, body: ImageBody, counted: bool) -> Moments:  # noqa: FBT001
    z = dual.squares
    known = isinstance(body, ImageBody) and z.shape == (body.base.dimension,)
    if not known or not np.all((z >= 0) & (z < math.inf)):
        raise PlanError("SquaresDual does not fit its part; solve again")
    d = body.dimension - counted
    mass = body.base.moment_up(z)
    if not mass > LEAST_MASS:
        return _nothing(d)
    root = np.sqrt(z / mass * (1 - SLACK))
    dense = body.dense[:d]
    rows = root[:, None] * dense.T
    if not counted:
        return Moments(rows, np.zeros(d), growth(9) * (root @ np.abs(dense.T)))
    # the signs of all but the count are drawn at random: the mean is what the count brings
    off = growth(9) * (root @ np.abs(dense.T) + np.abs(dense[:, -1]))
    return Moments(rows[:-1], dense[:, -1].copy(), off)


def _of_vertices(
    vertices: Vector,
    w: Vector,
    body: AbstractBody,
    counted: bool,  # noqa: FBT001
    *,
    moves: bool = False,
) -> Moments:
    root = np.sqrt(w)[:, None]
    own = vertices
    if counted:  # each is (x, count) or its opposite
        own = np.where(vertices[:, -1:] < 0, -vertices, vertices)[:, :-1]
    size = np.sqrt(w) @ np.abs(own)
    rounding = growth(9) * size
    if not (counted or moves or body.moves):
        return Moments(root * own, np.zeros(own.shape[1]), rounding)
    about, off = about_mean(own, w)
    mean = w @ own
    rounding = rounding + growth(len(w) + 9) * (w @ np.abs(own))
    return Moments(root * about, mean, off + rounding)


def _checked(weights: Vector, count: int, *, fits: bool) -> Vector:
    """Return the weights, their sum 1.

    Raises:
        PlanError: where they are not as many, or not at least 0, or evidence does not fit.
    """
    if not fits or weights.shape != (count,) or not np.all(weights >= 0):
        raise PlanError("evidence of a part does not fit its body; solve again")
    total = float(np.sum(weights))
    if not LEAST_MASS < total < math.inf:
        raise PlanError("evidence of a part has no weight; solve again")
    return np.asarray(weights / total)


def _nothing(dimension: int) -> Moments:
    none = np.zeros(dimension)
    return Moments(np.zeros((0, dimension)), none, none)
