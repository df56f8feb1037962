# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around a domain, wherever it may stand: Γ_p(K), with its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen, matrix, vector
from lownoise.bodies import (
    OracleBody,
    OracleDifferences,
    PointDifferences,
    SectionBody,
    SymmetricBox,
    SymmetricPoints,
    TranslatedPoints,
    image_body,
)
from lownoise.domains import (
    AbstractDomain,
    Box,
    Image,
    Intersection,
    IntersectionDifference,
    Oracle,
    OracleDifference,
    Points,
    PointsDifference,
    Slab,
)
from lownoise.errors import DomainError, PlanError
from lownoise.shapes import DenseShape
from lownoise.solvers import NO_WIDTH, RTOL, SOLVED, solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.arrays import Vector
    from lownoise.bodies import AbstractBody
    from lownoise.certificate import Certificate
    from lownoise.shapes import AbstractShape
    from lownoise.solvers import Progress

_LARGEST = 2.0**250
_MOST_ORDER = 1e6  # beyond it the maximum is meant
_LEAST_RTOL = 1e-12
_MOST_CORNERS = 12  # ranges of a box whose corners are listed


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Enclosure:
    """An ellipsoid center + √M·B₂ around a domain, and the proof that it is nearly the least.

    Made by `enclose`.

    Args:
        shape: M, by its factor; d coordinates.
        center: shape (d,).
        certificate: lower ≤ Γ_p ≤ upper, and `verify`.
        status: how the search ended, and what helps where it ended early.
        iterations: the number of Newton steps.
    """

    shape: AbstractShape
    center: Vector
    certificate: Certificate
    status: str
    iterations: int


def enclose(
    domain: AbstractDomain,
    *,
    order: float = 2.0,
    workload: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
) -> Enclosure:
    """Return the ellipsoid around a translate of the domain with the least √tr_{p/2}(LMLᵀ).

    That least is Γ_p(LK) (002, section 3); the noise N(0, M/(2ρ)) on a record, or on a mean of one,
    has ‖standard deviations‖_p = Γ_p/√(2ρ). For the least noise on a mean under `substitute`,
    enclose `ln.difference_body(domain)`; `ln.plan` does.

    Args:
        domain: K, `ln.Points`, `ln.Box` or `ln.difference_body` of either.
        order: p in [2, ∞].
        workload: L, what is asked of a record, shape (m, d); None for the record itself. Directions
            that no row of L sees get no noise.
        weights: ω > 0, what one unit of each answer's error matters, shape (m,); ones by default.
        rtol: the relative gap between the bounds to reach, from 1e-12.
        progress: called with a `Progress` after every step. An interrupt (Ctrl-C) ends the search
            with the best ellipsoid and bounds found so far.

    Raises:
        PlanError: where an argument is out of range.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> simplex = ln.Points(np.eye(3))
        >>> found = ln.enclose(simplex)
        >>> round(found.certificate.upper, 6)  # (N − 1)/√N
        1.154701
        >>> found.certificate.gap < 1e-6
        True
    """
    order = checked_order(order)
    rtol = checked_rtol(rtol)
    queries = None
    if workload is not None:
        queries = checked_queries(workload, _dimension(domain))
    answers = _dimension(domain) if queries is None else len(queries)
    omega = checked_weights(weights, answers)
    check_size(omega, queries)
    body, offset = _body(domain, queries is not None)
    solution = solve(
        body,
        order=order,
        weights=omega,
        queries=queries,
        rtol=rtol,
        progress=progress,
    )
    claim = solution.claim
    shape = claim.shape
    if claim.frame is not None and not claim.frame.exact and isinstance(shape, DenseShape):
        shape = DenseShape(claim.frame.up() @ shape.factor)
    certificate = claim.certificate()
    return Enclosure(
        shape=shape,
        center=frozen(claim.center + offset),
        certificate=certificate,
        status=proved_status(solution.status, certificate, rtol),
        iterations=solution.iterations,
    )


def proved_status(status: str, certificate: Certificate, rtol: float) -> str:
    """Return the status, where the bounds that were proved are as near as what was asked for."""
    if status not in (SOLVED, NO_WIDTH) or certificate.gap <= rtol:
        return status
    if not certificate.lower:
        return (
            f"solved: no width beyond {certificate.upper:.1e}, less than floats resolve; "
            "the bounds are proved as they are"
        )
    return (
        f"stopped with a proved gap of {certificate.gap:.1e}, where floats resolve no more; the "
        "bounds are proved as they are, or bring columns to like scales, near zero"
    )


def _dimension(domain: object) -> int:
    if not isinstance(domain, AbstractDomain):
        raise DomainError(
            f"domain={type(domain).__name__} cannot be enclosed; give ln.Points(…) or ln.Box(…)",
        )
    return domain.dimension


@singledispatch
def _body(domain: object, asked: bool) -> tuple[SymmetricBox | AbstractBody, Vector]:  # noqa: FBT001
    """Return the body of a domain, and the point that it is described about."""
    raise DomainError(f"domain={type(domain).__name__} cannot be enclosed; give ln.Points(…)")


@_body.register(Points)
def _(domain: Points, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    return TranslatedPoints(domain.points), np.zeros(domain.dimension)


@_body.register(PointsDifference)
def _(domain: PointsDifference, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    return PointDifferences(domain.base.points), np.zeros(domain.dimension)


@_body.register(Oracle)
def _(domain: Oracle, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    d = domain.dimension
    return OracleBody(domain.program, np.arange(d), np.ones(d)), np.zeros(d)


@_body.register(OracleDifference)
def _(domain: OracleDifference, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    d = domain.dimension
    return OracleDifferences(domain.base.program, np.arange(d), np.ones(d)), np.zeros(d)


@_body.register(Image)
def _(domain: Image, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    if domain.diagonal and asked:
        return image_body(np.diag(domain.factor), domain.base), domain.center
    return image_body(domain.factor, domain.base), domain.center


@_body.register(Intersection)
def _(domain: Intersection, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    return SectionBody(domain.section, "translates"), domain.middle


@_body.register(IntersectionDifference)
def _(domain: IntersectionDifference, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    return SectionBody(domain.base.section, "differences"), np.zeros(domain.dimension)


@_body.register(Slab)
def _(domain: Slab, asked: bool) -> tuple[AbstractBody, Vector]:  # noqa: FBT001
    raise DomainError("domain=Slab is unbounded; cut it with ln.intersection(ln.Box(…), slab)")


@_body.register(Box)
def _(domain: Box, asked: bool) -> tuple[SymmetricBox | AbstractBody, Vector]:  # noqa: FBT001
    half = np.nextafter((domain.upper - domain.lower) / 2, np.inf)
    half[domain.upper == domain.lower] = 0.0
    if not asked:
        return SymmetricBox(frozen(half)), domain.center
    wide = np.flatnonzero(half)
    if wide.size > _MOST_CORNERS:
        raise PlanError(
            f"workload on a box of {wide.size} ranges would list 2^{wide.size} corners; "
            "leave the workload out, or list the points that records can be with ln.Points",
        )
    # a box is symmetric: one of each pair of opposite corners will do
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=max(wide.size - 1, 0))])
    corners = np.zeros((len(signs), domain.dimension))
    corners[:, wide] = signs[:, : wide.size] * half[wide]
    return SymmetricPoints(frozen(corners)), domain.center


def checked_order(order: float) -> float:
    """Return p.

    Raises:
        PlanError: where it is not in [2, 1e6] and not infinite.
    """
    number = checked_number("order", order)
    if not (2 <= number <= _MOST_ORDER or math.isinf(number)) or number < 0:  # noqa: PLR2004
        raise PlanError(f"order={number:g} is out of range; give p from 2 to 1e6, or infinity")
    return number


def checked_rtol(rtol: float) -> float:
    """Return the relative gap to reach.

    Raises:
        PlanError: where it is not in [1e-12, 1].
    """
    number = checked_number("rtol", rtol)
    if not _LEAST_RTOL <= number <= 1:
        raise PlanError(f"rtol={number:g} is out of range; give one from 1e-12 to 1")
    return number


def checked_number(field: str, value: float) -> float:
    """Return `value` as a float.

    Raises:
        PlanError: where it is no number, or NaN.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise PlanError(f"{field} is not a number; give one") from None
    if math.isnan(number):
        raise PlanError(f"{field}=nan is not a number; give one")
    return number


def checked_queries(workload: ArrayLike, dimension: int) -> Vector:
    """Return L, shape (m, d).

    Raises:
        PlanError: where it is not a table of finite numbers with one column a coordinate.
    """
    queries = matrix(workload, field="workload", error=PlanError)
    if queries.shape[1] != dimension or not len(queries):
        raise PlanError(
            f"workload has shape {queries.shape} for {dimension} coordinates; "
            "give one row a query, one column a coordinate",
        )
    return queries


def check_size(weights: Vector, queries: Vector | None) -> None:
    """Refuse weights and queries whose products with points could overflow.

    Raises:
        PlanError: where a weight times a number of its query is beyond 2^250.
    """
    size = np.ones(weights.size) if queries is None else np.max(np.abs(queries), axis=1)
    large = np.flatnonzero(size > _LARGEST / weights)
    if large.size:
        i = int(large[0])
        field = "weights" if queries is None else "weights × workload"
        value = float(weights[i]) * float(size[i])
        raise PlanError(f"{field}[{i}]={value:g} is beyond 2^250; use a larger unit")


def checked_weights(weights: ArrayLike | None, answers: int) -> Vector:
    """Return ω, shape (m,).

    Raises:
        PlanError: where they are not one number above 0 an answer.
    """
    if weights is None:
        return frozen(np.ones(answers))
    omega = vector(weights, field="weights", error=PlanError)
    if omega.size != answers:
        raise PlanError(f"weights has {omega.size} numbers for {answers} answers; give one each")
    wrong = np.flatnonzero((omega < 1e-100) | (omega > 1e100))  # noqa: PLR2004
    if wrong.size:
        i = int(wrong[0])
        raise PlanError(f"weights[{i}]={omega[i]:g} is out of range; give one in [1e-100, 1e100]")
    return omega
