# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around a domain, wherever it may stand: Γ_p(K), with its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arguments import (
    check_size,
    checked_order,
    checked_queries,
    checked_rtol,
    checked_weights,
)
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.sensitivity.factors import DenseShape, DiagonalShape, SelectedShape
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    SymmetricPoints,
    TensorBall,
    TranslatedPoints,
)
from lownoise.sets.bodies.harmonics import sphere_moments
from lownoise.sets.domains import AbstractDomain, BallPower, CubePower, Difference
from lownoise.sets.unit_balls.parity import parities
from lownoise.solvers import NO_WIDTH, RTOL, SOLVED, Asked, solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.certificate import Certificate
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.solvers import Progress, Solution

_MOST_CORNERS = 12  # ranges of a box whose corners are listed, or signs whose choices are
_MOST_NUMBERS = 10**7  # of a factor


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class Enclosure:
    """An ellipsoid center + √M·B₂ around a domain, and the proof that it is nearly the least.

    Made by `enclose`.

    Args:
        shape: M, by its factor; d coordinates. It covers the domain about the center, by the proof,
            and costs `certificate.upper`.
        center: shape (d,).
        certificate: lower ≤ Γ_p ≤ upper, and `verify`.
        status: how the search ended, and what helps where it ended early.
        iterations: the number of Newton steps.
        domain: what is enclosed.
        order: p.
    """

    shape: AbstractShape
    center: Vector
    certificate: Certificate
    status: str
    iterations: int
    domain: AbstractDomain
    order: float


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
        rtol: the relative gap between the bounds to stop at, from 1e-12.
        progress: called with a `Progress` after every step. An interrupt (Ctrl-C) ends the search
            with the best ellipsoid and bounds found so far.

    Raises:
        PlanError: where an argument is out of range.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> simplex = ln.Points(np.eye(3))
        >>> found = ln.theory.enclose(simplex)
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
    asked = Asked(
        order=order,
        weights=omega,
        queries=queries,
        rtol=rtol,
        progress=progress,
        odd_sums=True,
    )
    tensor = domain.base if isinstance(domain, Difference) else domain
    if isinstance(tensor, CubePower):
        return _enclose_tensors(domain, tensor, asked)
    if isinstance(tensor, BallPower):
        return _enclose_ball(domain, tensor, asked)
    body, offset = domain.enclosed(mixed=queries is not None)
    found = solution(body, asked)
    claim = found.claim
    return _enclosure(domain, asked, found, found.full_shape, claim.center + offset)


def _enclosure(
    domain: AbstractDomain, asked: Asked, found: Solution, shape: AbstractShape, center: Vector
) -> Enclosure:
    """Return the ellipsoid in the domain's coordinates, of the size that is proved to cover.

    A search ends with an ellipsoid that covers as far as it knows; the certificate knows by how
    much it covers too little or too much: √tr_{p/2}(ωLMLᵀω) of the one that is returned is
    `certificate.upper`.
    """
    certificate = found.claim.proved
    seen = shape if asked.queries is None else shape.mapped(asked.queries)
    cost = order_norm(asked.weights * seen.deviations(), asked.order)
    return Enclosure(
        shape=shape.scaled(certificate.upper / cost) if cost else shape,
        center=frozen(center),
        certificate=certificate,
        status=proved_status(found.status, certificate, asked.rtol),
        iterations=found.iterations,
        domain=domain,
        order=asked.order,
    )


def proved_status(status: str, certificate: Certificate, rtol: float) -> str:
    """Return the status, where the bounds that were proved are as near as what was asked for.

    Raises:
        PlanError: where floats prove no upper bound at all.
    """
    if not math.isfinite(certificate.upper):
        raise PlanError(
            "domain, weights or workload have sizes too unlike for floats to bound an ellipsoid; "
            "bring columns and answers to like units, or leave out what nearly follows from others"
        )
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


def _enclose_tensors(
    domain: AbstractDomain,
    tensor: CubePower,
    asked: Asked,
) -> Enclosure:
    """Return the least ellipsoid around tensors of signs: that of their different entries.

    Entries of one kind are copies of each other, so they get one noise, and ‖·‖_p of their weighted
    deviations is that of one of them times the ‖·‖_p of their weights.
    """
    copies, k = tensor.copies, tensor.base.dimension
    queries, weights = asked.queries, asked.weights
    if queries is None:
        omega, folded = frozen(_norms_by(copies, weights, asked.order, k)), None
    else:
        omega, folded = weights, frozen(np.stack([tensor.folded(row) for row in queries]))
    alike = queries is None and bool(np.ptp(weights) == 0)
    body = _tensors(tensor, differences=domain is not tensor, alike=alike)
    found = solution(body, replace(asked, weights=omega, queries=folded))
    claim = found.claim
    shape, at = claim.shape, np.zeros(tensor.dimension)
    used = np.flatnonzero(copies >= 0)
    at[used] = claim.center[copies[used]]
    if isinstance(shape, DiagonalShape):
        scale = np.where(copies < 0, 0.0, shape.scale[copies])
        expanded: AbstractShape = SelectedShape(scale, np.maximum(copies, 0))
    else:
        assert isinstance(shape, DenseShape)  # noqa: S101 (what solvers make)
        up = shape.factor if claim.frame is None else claim.frame.up() @ shape.factor
        expanded = DenseShape(np.where(copies[:, None] < 0, 0.0, up[copies]))
    return _enclosure(domain, asked, found, expanded, at + domain.center)


def _enclose_ball(
    domain: AbstractDomain,
    tensor: BallPower,
    asked: Asked,
) -> Enclosure:
    """Return the ellipsoid around tensors of a ball that treats all directions alike.

    Raises:
        PlanError: where its factor would not fit the memory.
    """
    if domain.dimension * math.comb(tensor.size + tensor.power - 1, tensor.power) > _MOST_NUMBERS:
        raise PlanError(
            f"TensorPower.power={tensor.power} of a ball in {tensor.size} dimensions needs a "
            "factor beyond 10^7 numbers; give fewer dimensions or a lower power",
        )
    body = TensorBall(tensor.size, tensor.power, tensor.value, domain is not tensor)
    found = solution(body, asked)
    deviations = found.claim.shape.deviations()
    y = body.parts.shares / np.square(deviations)
    along = body.share(y) * tensor.value * sphere_moments(tensor.monomials)[tensor.copies]
    length = tensor.value * math.sqrt(body.energy_up(y))
    shape = DenseShape(length * _rotated_factor(tensor, body, deviations))
    return _enclosure(domain, asked, found, shape, along)


def _rotated_factor(domain: BallPower, body: TensorBall, deviations: Vector) -> Vector:
    """Return a factor of Σ deviationₖ²·Πₖ over the harmonic parts of tensors.

    The parts are the eigenspaces of p ↦ |x|²Δp, symmetric in the basis √(ℓ!/α!)·x^α.
    """
    exponents = domain.monomials
    place = {tuple(alpha): i for i, alpha in enumerate(exponents.tolist())}
    often = np.bincount(domain.copies).astype(np.float64)
    matrix = np.zeros((len(place), len(place)))
    for alpha, j in place.items():
        for i, a in enumerate(alpha):
            for other in range(len(alpha)) if a > 1 else ():
                beta = list(alpha)
                beta[i] -= 2
                beta[other] += 2
                matrix[place[tuple(beta)], j] += a * (a - 1)
    matrix *= np.sqrt(often) / np.sqrt(often)[:, None]
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    known = np.array([float(body.parts.value(k)) for k in body.parts.degrees])
    part = np.argmin(np.abs(values[:, None] - known), axis=1)
    factor = axes * deviations[part] / np.sqrt(often)[:, None]
    return np.asarray(factor[domain.copies])


def _norms_by(copies: Integers, weights: Vector, order: float, sets: int) -> Vector:
    """Return at least the ‖·‖_p of the weights of each set's entries, shape (k,)."""
    used = np.flatnonzero(copies >= 0)
    top = np.zeros(sets)
    np.maximum.at(top, copies[used], weights[used])
    if math.isinf(order):
        return top
    part = (weights[used] / top[copies[used]]) ** order
    return np.asarray(top * np.bincount(copies[used], weights=part, minlength=sets) ** (1 / order))


def _tensors(tensor: CubePower, *, differences: bool, alike: bool) -> AbstractBody:
    """Return the body of the different entries of tensors of signs.

    Where answers matter alike its majorants say all. Otherwise the tensors are listed where they
    are few. Where they are not, and a workload tells parities apart, the least ellipsoid around
    tensors of an even power need not stand at their mean.

    Raises:
        PlanError: where that would have to be known.
    """
    if alike or tensor.size > _MOST_CORNERS:
        if not (alike or differences or tensor.odd):
            raise PlanError(
                f"workload or weights on an even power would list 2^{tensor.size - 1} tensors; "
                "leave it out, or enclose ln.difference_body(domain)",
            )
        scale = tensor.difference_scale * tensor.value if differences else tensor.value
        base = tensor.difference_base if differences else tensor.base
        return ImageBody(frozen(np.full(tensor.base.dimension, scale)), base)
    signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=tensor.size - 1)])
    points = frozen(tensor.value * parities(signs, tensor.degrees))
    if tensor.odd:
        return SymmetricPoints(frozen(2 * points) if differences else points)
    return PointDifferences(points) if differences else TranslatedPoints(points)
