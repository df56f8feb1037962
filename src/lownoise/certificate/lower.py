# SPDX-License-Identifier: Apache-2.0
"""What no ellipsoid around a body is below, recomputed from evidence alone.

Evidence for a body S under order p is a pair: query weights c ≥ 0 with ‖c‖_q ≤ 1, q = p/(p−2), and
a measure on S with second moment C. Weak duality: whenever M covers S (sᵀM⁻¹s ≤ 1 on S), and L is
what is asked of the sum,

    √tr_{p/2}(LMLᵀ) ≥ tr (G^{1/2} C G^{1/2})^{1/2},   G = Lᵀ diag(c) L,

because tr(GM) ≤ tr_{p/2}(LMLᵀ) (Hölder), tr(CM⁻¹) ≤ 1, and ½(a·tr GM + tr CM⁻¹/a) is at least the
right side for every a > 0. Weights ω on the answers enter as ωL. Where the ellipsoid may stand
anywhere, C is taken about the mean: no other center has a smaller second moment.

The right side is the nuclear norm of diag(√c)·L·[√wᵢ sᵢ], which `pairing` bounds from below.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate.duals import (
    AbstractDual,
    AbstractVertexDual,
    CornerDual,
    ImageDual,
    OracleDual,
    OrthantDual,
    PointDual,
    ProductDual,
    RotationDual,
    SectionDual,
    SquaresDual,
)
from lownoise.certificate.pairing import about_mean, paired_down
from lownoise.certificate.tensors import merged, tensor_moment
from lownoise.errors import PlanError
from lownoise.numbers.norms import SLACK, TINY, conjugate, order_norm
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies import (
    AbstractBody,
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    JointBody,
    PointDifferences,
    SectionBody,
    SymmetricBox,
    TensorBall,
    TensorChanges,
    TranslatedPoints,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

LEAST_MASS = 2.0**-450  # of a mass: two of them, multiplied, are still a normal number


def _told(mass: float) -> float:
    """Return a mass of evidence; ∞ where it is so small that its rounding shows: it proves nothing.

    Sums and norms of numbers below 2^-1022 are rounded to their last bits, not relatively.
    """
    return mass if mass >= LEAST_MASS else math.inf


def size_of(query_weights: Vector, order: float) -> float:
    """Return ‖c‖_q, or ∞."""
    return _told(order_norm(query_weights, conjugate(order)))


@singledispatch
def lower_bound(
    dual: object,
    body: SymmetricBox | AbstractBody | TensorBall,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    """Return a number that √tr_{p/2}(ωLMLᵀω) exceeds for every M that covers `body`.

    Args:
        dual: the evidence.
        body: S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0, shape (m,).
        queries: L, shape (m, d); None for the identity.
        hint: the nearly least M, if it is known: it makes the bound quicker, not other.

    Raises:
        PlanError: where the evidence is of an unknown kind, or does not fit.
    """
    raise PlanError(f"dual={type(dual).__name__} is evidence of no known kind; solve again")


@lower_bound.register(CornerDual)
def _(
    dual: CornerDual,
    body: SymmetricBox,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    if queries is not None or not isinstance(body, SymmetricBox):
        raise PlanError("CornerDual is evidence for a box and its coordinates alone; solve again")
    # G and C are diagonal, so the fidelity is Σ √cᵢ·ωᵢhᵢ
    c = dual.query_weights
    if not np.all(c >= 0) or not np.any(c > 0):
        raise PlanError("CornerDual.query_weights is not a non-negative vector; solve again")
    fidelity = math.fsum(np.sqrt(c) * weights * body.half_width)
    return fidelity / math.sqrt(size_of(c, order)) * (1 - SLACK)


@lower_bound.register(PointDual)
def _(
    dual: PointDual,
    body: AbstractPointBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    known = isinstance(body, AbstractPointBody) and body.knows(dual.indices)
    _check(dual, body, known, weights, queries)
    if not _says_something(dual, body):
        return 0.0
    w = dual.vertex_weights / float(np.sum(dual.vertex_weights))
    vertices = body.vertices(dual.indices)
    about, off = about_mean(vertices, w) if body.moves else (vertices, np.zeros(body.dimension))
    asked = np.sqrt(dual.query_weights) * weights
    paired = paired_down(np.sqrt(w)[:, None] * about, off, asked, queries, hint)
    mass = math.fsum(w) * size_of(dual.query_weights, order)
    return paired / math.sqrt(mass) * (1 - TINY)


@lower_bound.register(ProductDual)
def _(
    dual: ProductDual,
    body: AbstractPointBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    # E(x − y)(x − y)ᵀ is twice the covariance; pairs x = y have length 0 and share Σwᵢ²
    points = TranslatedPoints(body.points) if isinstance(body, PointDifferences) else None
    known = points is not None and points.knows(dual.indices)
    _check(
        dual, body, known and len(np.unique(dual.indices)) == len(dual.indices), weights, queries
    )
    if not _says_something(dual, body):
        return 0.0
    w = dual.vertex_weights / float(np.sum(dual.vertex_weights))
    about, off = about_mean(body.points[dual.indices], w)
    asked = np.sqrt(dual.query_weights) * weights
    paired = paired_down(np.sqrt(w)[:, None] * about, off, asked, queries, hint)
    mass = (math.fsum(w) ** 2 - math.fsum(w * w)) * (1 + SLACK)
    mass *= size_of(dual.query_weights, order)
    return paired * math.sqrt(2 / mass) * (1 - TINY) if mass > 0 else 0.0


@lower_bound.register(SquaresDual)
def _(
    dual: SquaresDual,
    body: ImageBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    z, c = dual.squares, dual.query_weights
    known = isinstance(body, ImageBody) and z.shape == (body.base.dimension,)
    _fits(known and bool(np.all((z >= 0) & (z < math.inf))), dual, body, weights, queries)
    if not np.any(z > 0) or not np.any(c > 0):
        return 0.0
    mass = _told(body.base.moment_up(z)) * size_of(c, order)
    if queries is None and body.diagonal:
        # G and C are diagonal, so the fidelity is Σ √(cᵢzᵢ)·ωᵢ|fᵢ|
        fidelity = math.fsum(np.sqrt(c) * weights * np.sqrt(z) * np.abs(body.factor))
        return fidelity / math.sqrt(mass) * (1 - SLACK)
    asked = np.sqrt(c) * weights
    rows = np.sqrt(z)[:, None] * body.dense.T
    paired = paired_down(rows, np.zeros(body.dimension), asked, queries, hint)
    rounded = _rounded_signs(body, z, asked, queries)
    scale = math.sqrt(size_of(c, order))
    return max(paired / math.sqrt(mass), rounded / scale) * (1 - SLACK)


@lower_bound.register(ImageDual)
def _(
    dual: ImageDual,
    body: ImageBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    x, w, c = dual.points, dual.vertex_weights, dual.query_weights
    shaped = isinstance(body, ImageBody) and x.shape == (w.size, body.base.dimension)
    finite = bool(np.all(np.isfinite(x)) and np.all((w >= 0) & (w < math.inf)))
    _fits(shaped and finite, dual, body, weights, queries)
    if not np.any(w > 0) or not np.any(c > 0):
        return 0.0
    mass = _told(math.fsum(w * np.square(body.base.norm_up(x)))) * size_of(c, order)
    if not mass > 0:
        return 0.0
    rows = np.sqrt(w)[:, None] * (x @ body.dense.T)
    # what rounding of the points can change, summed over all of them
    size = np.sqrt(w) @ (np.abs(x) @ np.abs(body.dense.T))
    off = growth(x.shape[1] + 9) * size * math.sqrt(max(body.dimension, weights.size))
    paired = paired_down(rows, off, np.sqrt(c) * weights, queries, hint)
    return paired / math.sqrt(mass) * (1 - SLACK)


@lower_bound.register(OracleDual)
def _(
    dual: OracleDual,
    body: AbstractOracleBody | JointBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    x, w, c = dual.points, dual.vertex_weights, dual.query_weights
    body = body.whole if isinstance(body, JointBody) else body
    known = isinstance(body, AbstractOracleBody) and len(x) == w.size and body.knows(x)
    _fits(known and w.ndim == 1 and bool(np.all(w >= 0)), dual, body, weights, queries)
    if not np.any(w > 0) or not np.any(c > 0) or not body.dimension:
        return 0.0
    w = w / float(np.sum(w))
    vertices = body.vertices(x)
    about, off = about_mean(vertices, w) if body.moves else (vertices, np.zeros(body.dimension))
    # what rounding of the vertices can change, summed over all of them
    rows = float(np.sum(np.sqrt(w))) * math.sqrt(max(body.dimension, weights.size))
    off = off + 2 * body.doubt * rows
    paired = paired_down(np.sqrt(w)[:, None] * about, off, np.sqrt(c) * weights, queries, hint)
    mass = math.fsum(w) * size_of(c, order)
    return paired / math.sqrt(mass) * (1 - TINY)


@lower_bound.register(SectionDual)
def _(
    dual: SectionDual,
    body: SectionBody,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    x, w, c = dual.points, dual.vertex_weights, dual.query_weights
    shaped = isinstance(body, SectionBody) and x.shape == (w.size, body.width_of_points)
    _fits(shaped and bool(np.all(w >= 0)), dual, body, weights, queries)
    if not np.any(w > 0) or not np.any(c > 0):
        return 0.0
    # a point of gauge γ > 1 is γ times one of the body, as 0 is in it
    changes, gauges = body.changes(x)
    if not np.all(np.isfinite(gauges)):
        return 0.0
    mass = np.square(np.maximum(gauges, 1.0)) if not body.moves else np.ones(w.size)
    if body.moves:
        changes = changes / np.maximum(gauges, 1.0)[:, None]
        w = w / math.fsum(w)
        changes, off = about_mean(changes, w)
    else:
        off = np.zeros(body.dimension)
    # what rounding of the changes can do, summed over all of them
    size = np.sqrt(w) @ (np.abs(changes) + body.far) * math.sqrt(max(body.dimension, weights.size))
    off = off + growth(body.dimension + 9) * size
    total = _told(math.fsum(w * mass)) * size_of(c, order)
    rows = np.sqrt(w)[:, None] * changes
    return (
        paired_down(rows, off, np.sqrt(c) * weights, queries, hint) / math.sqrt(total) * (1 - SLACK)
    )


@lower_bound.register(RotationDual)
def _(
    dual: RotationDual,
    body: TensorBall | TensorChanges,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    """Return Σ √c·√C over entries: tr √G √C is at most the fidelity of G and C.

    C is (aₖ/dimₖ)·zₖ on each part, G is diagonal.
    """
    if isinstance(body, TensorChanges):
        return _of_changes(dual, body, order, weights, queries)
    alone, w, c = dual.alone, dual.weights, dual.query_weights
    known = isinstance(body, TensorBall) and queries is None and c.shape == body.parts.counts.shape
    if not (known and np.all(c >= 0) and np.all(w >= 0) and 0 <= alone <= 1):
        raise PlanError("RotationDual does not fit its body; solve again")
    if not np.any(c > 0):
        return 0.0
    # of K what is not on the sphere is at 0; of differences masses are shares
    mass = alone + math.fsum(w) if body.differences and not body.odd else 1.0
    if not mass > 0:
        return 0.0
    parts = body.parts
    z = body.squares(alone, w, dual.angles) / mass
    found = parts.table @ np.sqrt(parts.shares * z / parts.dimensions)
    total = math.fsum(parts.counts * np.sqrt(c) * found)
    scale = math.sqrt(_entry_norm(c, parts.counts, conjugate(order)))
    return body.value * float(weights[0]) * total / scale * (1 - SLACK)


@lower_bound.register(OrthantDual)
def _(
    dual: OrthantDual,
    body: TensorBall | TensorChanges,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    """Return the fidelity, G and C having the same three parts: diagonal, trace and the others."""
    if isinstance(body, TensorChanges):
        return _of_changes(dual, body, order, weights, queries)
    w, c = dual.weights, dual.query_weights
    known = isinstance(body, TensorBall) and body.power == 2 and queries is None  # noqa: PLR2004
    known = known and w.shape == ((4,) if body.differences else (2,)) and c.shape == (2,)
    if not (known and np.all(c >= 0) and np.all(w >= 0)):
        raise PlanError("OrthantDual does not fit its body; solve again")
    mass = max(math.fsum(w), 1.0) if not body.differences else math.fsum(w)
    if not np.any(c > 0) or not mass > 0:
        return 0.0
    z = orthant_squares(body.size, w / mass)
    found = float(np.sqrt(c[[0, 0, 1]]) @ (orthant_counts(body.size) * np.sqrt(z)))
    scale = math.sqrt(_entry_norm(c, body.parts.counts, conjugate(order)))
    return body.value * float(weights[0]) * found / scale * (1 - SLACK)


def _of_changes(
    dual: RotationDual | OrthantDual,
    body: TensorChanges,
    order: float,
    weights: Vector,
    queries: Vector | None,
) -> float:
    """Return the fidelity of what is asked and of a measure on changes of tensors."""
    c = dual.query_weights
    answers = (body.dimension,) if queries is None else (len(queries),)
    fine = c.shape == weights.shape == answers and np.all((c >= 0) & (c < math.inf))
    if not fine:
        raise PlanError(f"{type(dual).__name__} does not fit its body; solve again")
    if not np.any(c > 0):
        return 0.0
    rows, off = tensor_moment(dual, body)
    paired = paired_down(rows, off, *merged(np.sqrt(c) * weights, queries), None)
    return paired / math.sqrt(size_of(c, order)) * (1 - SLACK)


def orthant_squares(size: int, weights: Vector) -> Vector:
    """Return the variances of an `OrthantDual`'s measure: on the diagonal, its trace, elsewhere.

    The first two are eigenvalues of the covariance of the diagonal, the third that of one entry.
    """
    d = size
    if len(weights) == 2:  # noqa: PLR2004
        axes, corners = weights
        whole = min(float(axes + corners), 1.0)
        return np.array([axes / d, whole * (1 - whole) / d, corners / d**2])
    axes, corners, straight, turned = weights
    return np.array(
        [
            axes / d + 2 * straight / (d - 1),
            (axes + corners) / d,
            corners / d**2 + 2 * turned / (d * (d - 1)),
        ]
    )


def orthant_counts(size: int) -> Vector:
    """Return how often each variance counts: every other entry is there twice, as one number."""
    return np.array([size - 1.0, 1.0, size * (size - 1) / math.sqrt(2)])


def _entry_norm(c: Vector, counts: Vector, order: float) -> float:
    """Return ‖c‖_order over all entries of each kind."""
    top = float(np.max(c))
    if math.isinf(order):
        return top
    return float(top * math.fsum(counts * (c / top) ** order) ** (1 / order))


def _rounded_signs(
    body: ImageBody,
    squares: Vector,
    asked: Vector,
    queries: Vector | None,
) -> float:
    """Return √(2/π)·Σ √zᵢ·‖asked·L·fᵢ‖ over the norm of ±√z: at most the best fidelity.

    Let W have the columns asked·L·fᵢ divided by their lengths, g be normal and x = √z∘sign(Wᵀg),
    which the base holds once divided by the greatest norm of √z with any signs. Then E xxᵀ =
    (2/π)·√z√zᵀ∘arcsin[WᵀW] ⪰ (2/π)·diag(√z) WᵀW diag(√z), since arcsin[Z] − Z is a sum of Schur
    products (Nesterov's rounding; its use here is ours), and the nuclear norm of
    asked·L·F·diag(√z)·Wᵀ is at least its trace.
    """
    image = body.dense if queries is None else queries @ body.dense
    size = np.abs(body.dense) if queries is None else np.abs(queries) @ np.abs(body.dense)
    lengths = np.linalg.norm(asked[:, None] * image, axis=0)
    lengths -= growth(image.shape[0] + 9) * lengths
    lengths -= growth(body.dimension + 9) * np.linalg.norm(asked[:, None] * size, axis=0)
    norm = float(body.base.signed_norm_up(np.sqrt(squares)[None])[0])
    total = math.fsum(np.sqrt(squares) * np.maximum(lengths, 0.0))
    return math.sqrt(2 / math.pi) * total / norm if norm > 0 else 0.0


def _fits(
    known: bool,  # noqa: FBT001
    dual: AbstractDual,
    body: AbstractBody,
    weights: Vector,
    queries: Vector | None,
) -> None:
    c = dual.query_weights
    answers = (body.dimension,) if queries is None else (len(queries),)
    fine = c.shape == weights.shape == answers and np.all((c >= 0) & (c < math.inf))
    if not (known and fine):
        raise PlanError(f"{type(dual).__name__} does not fit its body; solve again")


def _check(
    dual: AbstractVertexDual,
    body: AbstractPointBody,
    known: bool,  # noqa: FBT001
    weights: Vector,
    queries: Vector | None,
) -> None:
    c, w = dual.query_weights, dual.vertex_weights
    answers = (body.dimension,) if queries is None else (len(queries),)
    shaped = w.shape == (len(dual.indices),) and c.shape == weights.shape == answers
    if not (known and shaped and np.all(w >= 0) and np.all(c >= 0)):
        raise PlanError(f"{type(dual).__name__} does not fit its body; solve again")


def _says_something(dual: AbstractVertexDual, body: AbstractPointBody) -> bool:
    weighty = np.any(dual.vertex_weights > 0) and np.any(dual.query_weights > 0)
    return bool(body.dimension and weighty)
