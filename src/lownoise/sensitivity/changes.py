# SPDX-License-Identifier: Apache-2.0
"""What one neighbour can change, and how far that reaches in a noise shape.

`substitute`: one record takes another value of K, the number of records is public, and the sum
changes by a point of S = K − K. `add_remove`: one record comes or goes; each record x is lifted to
(x − v, 1) with v public, and (sum, count) changes by a point of S = ±(lifted K). A body of
changes is its own S: see `neighbours`.

Privacy rests on `radius_up` alone: it reads the final integers and the final noise, and rounds up.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down, growth, up
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sets.bodies import (
    AbstractBody,
    AbstractOracleBody,
    ImageBody,
    JointBody,
    LiftedOracle,
    OracleDifferences,
    PointDifferences,
    RoundedBody,
    Section,
    SectionBody,
    SymmetricBox,
    SymmetricPoints,
    TensorBall,
    TensorChanges,
    image_body,
)
from lownoise.sets.domains import (
    AbstractClampedDomain,
    AbstractKnownDomain,
    BallPower,
    Box,
    CubePower,
    Image,
    Intersection,
    Points,
    Polytope,
    Product,
    as_image,
    known_set,
)
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Word

    Body = SymmetricBox | AbstractBody
    Reach = Body | RoundedBody


@singledispatch
def sensitivity_body(domain: object, relation: Word, center: Vector) -> Body:
    """Return the body S of all changes that one neighbour makes to the sum.

    Args:
        domain: K, dimension d.
        relation: "substitute" (S has d coordinates) or "add_remove" (d + 1, the count last).
        center: the public point v, shape (d,); only `add_remove` looks at it.

    Raises:
        DomainError: where the domain is of a kind whose body is not known.

    Examples:
        >>> sensitivity_body(Box([0, 0], [1, 4]), "substitute", np.zeros(2)).half_width
        array([1., 4.])
        >>> sensitivity_body(Box([0, 0], [1, 4]), "add_remove", np.array([0.5, 1.0])).half_width
        array([0.5, 3. , 1. ])
    """
    raise DomainError(
        f"domain={type(domain).__name__} has no known sensitivity body; use ln.Box or ln.Points"
    )


@sensitivity_body.register(Box)
def _(domain: Box, relation: Word, center: Vector) -> SymmetricBox:
    if relation == "substitute":
        return SymmetricBox(frozen(domain.upper - domain.lower))
    # a box about v is symmetric, so ±((K − v) × {1}) has the hull (K − v) × [−1, 1]
    reach = np.maximum(domain.upper - center, center - domain.lower)
    return SymmetricBox(frozen(np.append(reach, 1.0)))


@sensitivity_body.register(Points)
def _(domain: Points, relation: Word, center: Vector) -> AbstractBody:
    if relation == "substitute":
        return PointDifferences(domain.points)
    about = domain.points - center
    return SymmetricPoints(frozen(np.hstack([about, np.ones((len(about), 1))])))


@sensitivity_body.register(AbstractClampedDomain)
def _(domain: AbstractClampedDomain, relation: Word, center: Vector) -> AbstractBody:
    kept = domain.pivots if isinstance(domain, BallPower) else np.arange(domain.dimension)
    return changes(domain, relation, center, kept, np.ones(kept.size))


@singledispatch
def changes(
    domain: object,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    """Return the body of all changes to some coordinates of a record, in steps.

    Under `add_remove` these are ±((x − center)/step, 1), one coordinate more for the count.

    Args:
        domain: K.
        relation: what a neighbour is.
        center: the public point, shape (d,); only `add_remove` looks at it.
        pivots: the coordinates, shape (r,).
        step: the unit of each, powers of two, shape (r,).

    Raises:
        DomainError: where the domain is of a kind whose body is not known.
    """
    raise DomainError(f"domain={type(domain).__name__} has no known changes; use ln.Points")


@changes.register(Image)
def _(
    domain: Image,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    own = domain.factor
    if domain.diagonal and pivots.size < domain.dimension:  # what never moves is left out
        own = np.diag(own)
    factor = own[pivots] / (step if own.ndim == 1 else step[:, None])
    if relation == "substitute":
        return image_body(frozen(2 * factor), domain.base)
    # the hull of ±(offset + F·B) × {1} is the image of B × [−1, 1] under [[F, offset], [0, 1]]
    offset = (domain.center - center)[pivots] / step
    lifted = product_ball([domain.base, NormBall(1, math.inf)])
    if factor.ndim == 1 and not np.any(offset):
        return image_body(frozen(np.append(factor, 1.0)), lifted)
    dense = np.diag(factor) if factor.ndim == 1 else factor
    r, k = dense.shape
    matrix = np.zeros((r + 1, k + 1))
    matrix[:r, :k], matrix[:r, k], matrix[r, k] = dense, offset, 1.0
    return image_body(frozen(matrix), lifted)


@changes.register(AbstractKnownDomain)
def _(
    domain: AbstractKnownDomain,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    if relation == "substitute":
        return OracleDifferences(domain.program, pivots, step)
    return LiftedOracle(domain.program, pivots, step, center)


@changes.register(Product)
def _(
    domain: Product,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    program = domain.program
    if relation == "add_remove" and domain.listed is not None:
        # the count joins parts that are not about their centers: the corners prove more
        return _listed(Polytope(domain.listed), relation, center, pivots, step)
    if relation == "substitute":
        whole: AbstractOracleBody = OracleDifferences(program, pivots, step)
    else:
        whole = LiftedOracle(program, pivots, step, center)
    own = []
    for part, at in zip(domain.parts, program.blocks, strict=True):
        kept = (pivots >= at.start) & (pivots < at.stop)
        if not np.any(kept):  # a single point changes nothing
            continue
        own.append(changes(part, relation, center[at], pivots[kept] - at.start, step[kept]))
    in_turn = bool(np.all(np.diff(pivots) > 0))
    return JointBody(whole, tuple(own)) if in_turn and own else whole


@changes.register(Box)
def _(
    domain: Box,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    own = as_image(domain)
    assert own is not None  # noqa: S101 (every box is the image of a cube)
    return changes(own, relation, center, pivots, step)


@changes.register(Points)
@changes.register(Polytope)
def _listed(
    domain: Points | Polytope,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    if relation == "substitute":
        return PointDifferences(frozen(domain.points[:, pivots] / step))
    about = (domain.points - center)[:, pivots] / step
    return SymmetricPoints(frozen(np.hstack([about, np.ones((len(about), 1))])))


@changes.register(CubePower)
def _(
    domain: CubePower,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    known = known_set(domain)
    if relation == "substitute":
        return OracleDifferences(known, pivots, step)
    return LiftedOracle(known, pivots, step, center)


@changes.register(Intersection)
def _(
    domain: Intersection,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    own = domain.section
    section = Section(frozen(own.rows * step), own.offsets, own.base)
    if relation == "substitute":
        return SectionBody(section, "differences")
    # A(x − middle) + offset = A(x − v) + (A(v − middle) + offset)·1, so ±(x − v, 1) is in the
    # section with that column, and with the slab |last| ≤ 1; its rounding is divided away
    away = center - domain.middle
    size = np.abs(own.rows) @ np.abs(away)
    off = growth(domain.dimension + 9) * float(np.linalg.norm(size + np.abs(own.offsets)))
    column = own.rows @ away + own.offsets
    m, d = own.rows.shape
    rows = np.zeros((m + 1, d + 1))
    rows[:m, :d], rows[:m, d], rows[m, d] = section.rows, column, 1.0
    rows[:m] /= 1 + off if np.any(away) else 1.0
    lifted = Section(
        frozen(rows), frozen(np.zeros(m + 1)), product_ball([own.base, NormBall(1, math.inf)])
    )
    return SectionBody(lifted, "lifted", inside=section, shift=frozen(np.append(-away / step, 1.0)))


@changes.register(BallPower)
def _(
    domain: BallPower,
    relation: Word,
    center: Vector,
    pivots: Integers,
    step: Vector,
) -> AbstractBody:
    if not np.array_equal(pivots, domain.pivots):
        raise DomainError("TensorPower of a ball is summed by its different entries; plan again")
    differences = relation == "substitute"
    ball = TensorBall(domain.size, domain.power, 1.0, differences)
    # the greatest length is a product of `power` roundings, all of which may have gone down
    size = domain.value * (1 + domain.power * 2.0**-52) / step
    if differences:
        return TensorChanges(ball, frozen(size), frozen(np.zeros(step.size)))
    return TensorChanges(ball, frozen(size), frozen(center[pivots] / step), 1.0)


@sensitivity_body.register(CubePower)
def _(domain: CubePower, relation: Word, center: Vector) -> AbstractBody:
    k, copies = domain.base.dimension, domain.copies
    own = parity_changes(np.full(k, domain.value), domain, relation, np.zeros(k))
    counted = relation == "add_remove"
    matrix = np.zeros((domain.dimension + counted, k + counted))
    used = np.flatnonzero(copies >= 0)
    matrix[used, copies[used]] = own.factor[0]
    if counted:
        matrix[:-1, k], matrix[-1, k] = domain.center - center, 1.0
    return ImageBody(frozen(matrix), own.base)


def parity_changes(
    size: Vector,
    domain: CubePower,
    relation: Word,
    offset: Vector,
) -> ImageBody:
    """Return the body of all changes to offset + size·x_S over the parities of a cube's tensors.

    Args:
        size: what each parity is worth, shape (k,).
        domain: whose parities they are.
        relation: what a neighbour is.
        offset: from the public point to the middle, shape (k,).
    """
    if relation == "substitute":
        return ImageBody(frozen(domain.difference_scale * size), domain.difference_base)
    if not np.any(offset):
        return ImageBody(frozen(np.append(size, 1.0)), domain.counted_base)
    matrix = np.diag(np.append(size, 1.0))
    matrix[:-1, -1] = offset
    return ImageBody(frozen(matrix), domain.counted_base)


def radius_up(shape: AbstractShape, body: Reach) -> float:
    """Return at least max √(sᵀ M⁻¹ s) over s in `body`: the μ of noise of this `shape`.

    Raises:
        PlanError: where the body is of a kind whose radius is not known.

    Examples:
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> 5.0 <= radius_up(DiagonalShape([1, 1]), SymmetricBox(np.array([3.0, 4.0]))) < 5.000001
        True
    """
    return _radius_up(body, shape)


@singledispatch
def _radius_up(body: object, shape: AbstractShape) -> float:
    raise PlanError(f"body={type(body).__name__} has no known radius; use a domain of ln.Points")


@_radius_up.register(SymmetricBox)
def _(body: SymmetricBox, shape: AbstractShape) -> float:
    return shape.box_radius_up(body.half_width)


@_radius_up.register(AbstractBody)
def _whitened(body: AbstractBody, shape: AbstractShape) -> float:
    white = shape.whitening
    if not white.defect < 1:
        return math.inf
    reach = body.reach_up(white.matrix, np.zeros(body.dimension))
    return up(reach / down(1 - white.defect)) if reach else 0.0


@_radius_up.register(ImageBody)
def _(body: ImageBody, shape: AbstractShape) -> float:
    if body.diagonal and isinstance(shape, DiagonalShape):
        if np.any((body.factor != 0) & (shape.scale == 0)):
            return math.inf
        return body.diagonal_reach_up(shape.scale)
    return _whitened(body, shape)


@_radius_up.register(RoundedBody)
def _(body: RoundedBody, shape: AbstractShape) -> float:
    found = _radius_up(body.body, shape) + shape.box_radius_up(body.slack)
    return up(found) if found else 0.0
