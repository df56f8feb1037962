# SPDX-License-Identifier: Apache-2.0
"""What no ε-DP mechanism beats for the mean of n records, or the sum of records that come and go.

A bound is only as true as its body: every one here is made of changes that records can make, where
the bodies that privacy rests on are rounded up.

Both follow from what no ε-DP mechanism can beat in any direction, and so in all of them at once,
and from the best volume bound over projections of the body.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds.apart import apart_bound
from lownoise.bounds.volume import Records, averaging_bound, packing_bound, roundings
from lownoise.bounds.volumes import log_volume_down
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm
from lownoise.numbers.rounding import FEW, TINY, grown, growth, lowered, shrunk, spectral_up
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.domains import Box, Image, Points, Polytope, Product

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_RATES = 60
_MIDDLE = 400  # of exponents: squares of such numbers, and sums of them, are floats
_EVERY = 12  # dimensions up to which all are tried


def pure_mean_bound(
    domain: object,
    *,
    size: int | None,
    center: Vector,
    epsilon: float,
    order: float = 2.0,
    weights: Vector | None = None,
) -> float:
    """Return what the greatest (E‖ω·error‖_p²)^{1/2} of every ε-DP mechanism is at least.

    The best of a volume bound, of the extents along the coordinates (see `directional_bound`) and
    of single changes that are far apart (see `apart_bound`); 0 for domains of which none is known.

    Args:
        domain: K.
        size: n, public, and one record is substituted: the bound is on the mean of n records; or
            None, records come and go: it is on the sum of x − v, whatever is said of the count.
        center: v in K, shape (d,); only where records come and go.
        epsilon: ε > 0.
        order: p in [2, ∞].
        weights: ω ≥ 0 on the d answers; ones by default.

    Raises:
        PlanError: where epsilon or the weights are out of range.

    Examples:
        >>> one = pure_mean_bound(Box([0], [1]), size=None, center=np.array([0.5]), epsilon=0.1)
        >>> round(one * 0.1 / math.sqrt(2), 3)  # Laplace noise has 0.5
        0.5
    """
    scale = np.ones(center.size) if weights is None else np.asarray(weights, dtype=np.float64)
    share = shrunk(1.0 if size is None else 1 / size)
    found = 0.0
    found_changes = record_changes(domain, size, center)
    if found_changes is not None:
        body, records, most = found_changes
        asked = volume_lower_bound(
            body, epsilon=epsilon, records=records, most=most, weights=scale, order=order
        )
        found = asked.value
        if isinstance(body, (PointDifferences, SymmetricPoints)):
            own = apart_bound(body.points * scale, size=size, epsilon=epsilon, order=order)
            found = max(found, own)
    return max(
        found * share,
        extent_bound(domain, size=size, center=center, epsilon=epsilon, order=order, weights=scale),
    )


def extent_bound(
    domain: object,
    *,
    size: int | None,
    center: Vector,
    epsilon: float,
    order: float = 2.0,
    weights: Vector | None = None,
) -> float:
    """Return the part of `pure_mean_bound` that extents along coordinates prove.

    The arguments are the same; where records come and go the center may be any point of the
    columns' bounds.

    Examples:
        >>> ends = extent_bound(Box([0], [1]), size=None, center=np.ones(1), epsilon=0.1)
        >>> round(ends * 0.1 / math.sqrt(2), 3)  # a record at 0 moves the sum of x − 1 by 1
        1.0
    """
    scale = np.ones(center.size) if weights is None else np.asarray(weights, dtype=np.float64)
    share = shrunk(1.0 if size is None else 1 / size)
    found = 0.0
    extents, lengths = _extents(domain, size, center)
    falling = -np.sort(-scale * extents)
    falling = falling[falling > 0]
    for chains in {1, falling.size} if falling.size else set():
        # E(θᵀZ)² along each of those coordinates; each has records of its own, half at either end
        most = math.inf if size is None else size // (2 * chains)
        bound = directional_bound(
            shrunk(order_norm(falling[:chains], order)),
            epsilon=epsilon,
            most=most,
            changes=chains,
            extent=grown(order_norm(scale * lengths, order)),
            length=grown(order_norm(scale * lengths, 2.0)),
        )
        found = max(found, bound)
    return found * share


@singledispatch
def record_changes(
    domain: object, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float] | None:
    """Return changes that records can make, how truths are made of them, and how many there are."""
    return None


@record_changes.register(Box)
def _box_changes(
    domain: Box, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    half = frozen(shrunk((domain.upper - domain.lower) / 2))
    return SymmetricBox(half), "convex" if size else "lifted", size or math.inf


@record_changes.register(Image)
def _image_changes(
    domain: Image, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    body = ImageBody(domain.factor, domain.base)
    return body, "convex" if size else "lifted", size or math.inf


@record_changes.register(Points)
@record_changes.register(Polytope)
def _points_changes(
    domain: Points | Polytope, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    points = domain.points
    if size is None:
        return SymmetricPoints(frozen(points - center)), "listed", math.inf
    # of every point as many copies; rounding takes up to one more for each dimension
    most = size // len(points) - points.shape[1]
    return PointDifferences(points), "listed", float(max(most, 0))


@record_changes.register(Product)
def _product_changes(
    domain: Product, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float] | None:
    return (
        None
        if domain.few_corners is None
        else record_changes(Polytope(domain.few_corners), size, center)
    )


@singledispatch
def _extents(domain: object, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    """Return how far one record moves each coordinate at least, and at most, shape (d,) each."""
    return np.zeros(center.size), np.zeros(center.size)


@_extents.register(Box)
@_extents.register(Points)
@_extents.register(Polytope)
def _points_extents(
    domain: Box | Points | Polytope, size: int | None, center: Vector
) -> tuple[Vector, Vector]:
    if isinstance(domain, Box):
        lower, upper = domain.lower, domain.upper
    else:
        lower, upper = domain.points.min(axis=0), domain.points.max(axis=0)
    found_changes = upper - lower if size else np.maximum(upper - center, center - lower)
    return found_changes, found_changes


@_extents.register(Image)
def _image_extents(domain: Image, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    body = ImageBody(domain.factor, domain.base)
    ends = domain.base.extreme(body.dense)
    ends /= domain.base.norm_up(ends)[:, None]  # inside, whatever rounding did
    least = shrunk(np.einsum("ij,ij->i", body.dense, ends))
    least, most = np.maximum(least, 0.0), body.widths()
    if size:
        return 2 * least, 2 * most
    away = np.abs(domain.center - center)  # the end that is farther has a record, or nearly
    return shrunk(least + away), grown(most + away)


@_extents.register(Product)
def _product_extents(domain: Product, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    blocks = zip(domain.parts, domain.blocks, strict=True)
    found = [_extents(part, size, center[at]) for part, at in blocks]
    # a record may stay where it is in the other parts
    return np.concatenate([own[0] for own in found]), np.concatenate([own[1] for own in found])


def geometric_down(epsilon: float) -> float:
    """Return at most √(2q)/(1 − q), q = e^{−ε}: the deviation of two-sided geometric noise.

    Examples:
        >>> round(geometric_down(1e-6) * 1e-6, 6), geometric_down(800.0) < 1e-100
        (1.414214, True)
    """
    # √(2q)/(1 − q) = √2/(2 sinh(ε/2))
    return shrunk(math.sqrt(2) * math.exp(-epsilon / 2) / -math.expm1(-epsilon))


def directional_bound(
    gamma: float,
    *,
    epsilon: float,
    most: float = math.inf,
    changes: int = 1,
    extent: float = 0.0,
    length: float = math.inf,
) -> float:
    """Return Γ_p(S)·√(2q)/(1 − q), q = e^{−ε}, less what an end to the records costs.

    Every ε-DP mechanism, biased or not, has (E‖error‖_p²)^{1/2}, p ≥ 2, at least this on some table
    (ours; Γ_p(S) is at least the greatest extent of S in any direction).

    *One direction.* Let s be a change of one record, and consider tables with the truths j·s, j
    whole. Averaged over many j and over signs, the error's law has, in the limit, P(Z ∈ A + s) ≥
    q·P(Z ∈ A). With h = θᵀs the tail T(t) = P(θᵀZ > t) is at most ½ at 0, T(t + h) ≥ q·T(t), and on
    (0, h) T(t) ≥ q·P(θᵀZ > t − h) = q·(1 − T(h − t)). The least 4∫tT dt = E(θᵀZ)² is then at
    T = q/(1 + q) on (0, h), geometric noise on the points jh: h²·2q/(1 − q)².

    *All directions.* Average over Σ jᵢsᵢ. Then E ZZᵀ is one matrix Σ with √(θᵀΣθ) ≥ κ·h_S(θ),
    κ = √(2q)/(1 − q), for every θ, so √Σ·B₂ covers κS, and (E‖Z‖_p²)^{1/2} ≥ ‖√diag Σ‖_p ≥
    κ·Γ_p(S).

    *An end.* Where only |jᵢ| ≤ M are possible, answer for others at the nearest end: that is ε-DP
    as well, and errs by ‖Σ(jᵢ beyond M)·sᵢ‖ more at most. Let jᵢ have a chance ∝ p^{|jᵢ|},
    p = e^{−η}, in place of a uniform one: κ becomes that of ε + η, and the root mean square of
    (|j| − M)₊ is √2·p^{(M+1)/2}/(1 − p) at most. Every η is a proof. The jᵢ are independent and
    their signs even, so N of these add up to √N·max‖sᵢ‖₂ of that or less, if not to N·max‖sᵢ‖_p.

    Args:
        gamma: at most Γ_p(S), proved by points of S that changes of one record make.
        epsilon: ε > 0.
        most: M, how often each of those changes can be made, and its opposite.
        changes: how many points of S the proof uses; of no matter where M = ∞.
        extent: at least ‖s‖_p for each of them; likewise.
        length: at least ‖s‖₂ for each of them; likewise.

    Examples:
        >>> round(directional_bound(1.0, epsilon=0.01) * 0.01, 4)
        1.4142
        >>> directional_bound(1.0, epsilon=0.01, most=2000, extent=1.0) < 130
        True
    """
    if gamma <= 0:
        return 0.0
    if math.isinf(most):
        return shrunk(gamma * geometric_down(epsilon))
    found, ends = 0.0, grown(min(changes * extent, math.sqrt(changes) * length))
    for i in range(_RATES):
        rate = epsilon * 2.0 ** (8 - i / 3)
        kept = gamma * geometric_down(epsilon + rate)
        lost = math.sqrt(2) * math.exp(-rate * (most + 1) / 2) / -math.expm1(-rate)
        found = max(found, lowered(kept - grown(ends * lost), kept))
    return found


@final
@dataclass(frozen=True, kw_only=True)
class VolumeBound:
    """A lower bound on the error of every ε-DP mechanism, and where it comes from.

    Args:
        value: at most the greatest (E‖ω·error‖_p²)^{1/2} over tables, of any mechanism.
        dimension: k, of the projection that gives it; 0 where nothing is proved.
        log_volume: at most ln vol_k of the weighted body's projection.
        packing: what the source's packing of the same projection gives, at most.
    """

    value: float
    dimension: int
    log_volume: float
    packing: float

    def enlarged(self, exponent: int) -> VolumeBound:
        """Return the bound of the body times 2^exponent; less, where no float is as great."""
        if not exponent or not self.dimension:
            return self
        most = math.frexp(sys.float_info.max)[1]
        value, packing = (
            math.ldexp(own, min(exponent, most - math.frexp(own)[1]))
            for own in (self.value, self.packing)
        )
        more = self.dimension * exponent * math.log(2)
        log_volume = lowered(self.log_volume + more, abs(self.log_volume) + abs(more), TINY)
        return replace(self, value=value, packing=packing, log_volume=log_volume)


def volume_lower_bound(
    body: AbstractBody,
    *,
    epsilon: float,
    records: Records,
    most: float = math.inf,
    weights: Vector | None = None,
    order: float = 2.0,
    moment: Vector | None = None,
    power: float = 2.0,
) -> VolumeBound:
    """Return the best `averaging_bound` over leading eigenvectors of a second moment.

    Whatever the projections, each is a proof. For p > 2 the ℓ_p norm of m numbers is at least
    m^{1/p − 1/2} times their length, so that a projection to m of the answers counts that much.

    Args:
        body: S, what one record changes, about 0.
        epsilon: ε > 0.
        records: how truths are made of changes, see `roundings`.
        most: M, how many records can be changed; ∞ where tables of every size are neighbours.
        weights: ω ≥ 0 on the answers, shape (d,); ones by default.
        order: p in [2, ∞].
        moment: second moments whose eigenvectors are tried, shape (d, d); by default the body's
            own, weighted.
        power: a, of the error (E‖ω·error‖_p^a)^{1/a}: 2, or 1.

    Raises:
        PlanError: where epsilon is not above 0 and finite, or weights are not d numbers ≥ 0.

    Examples:
        >>> cube = SymmetricBox(np.ones(8))
        >>> found = volume_lower_bound(cube, epsilon=0.1, records="shares")
        >>> found.dimension, found.value < math.sqrt(9 * 10 * 8 / 3) / 0.1
        (8, True)
    """
    if not 0 < epsilon < math.inf:
        raise PlanError(f"epsilon={epsilon} is not above 0 and finite; give a budget")
    d = body.dimension
    scale = np.ones(d) if weights is None else np.asarray(weights, dtype=np.float64)
    if scale.shape != (d,) or not np.all(np.isfinite(scale) & (scale >= 0)):
        raise PlanError(f"weights are not {d} finite numbers of at least 0; give one an answer")
    # directions alone: weights times a power of two have the same ones, and no square overflows
    level = np.ldexp(scale, -math.frexp(float(np.max(scale, initial=0.0)))[1])
    axes = _axes(body.moment * np.outer(level, level) if moment is None else moment)
    unit = _unit(scale * body.widths())
    scale = np.ldexp(scale, -unit)
    best = VolumeBound(value=0.0, dimension=0, log_volume=-math.inf, packing=0.0)
    for k in _dimensions(len(axes)):
        matrix = axes[:k] * scale
        used = np.any(matrix, axis=0)
        if np.count_nonzero(used) < k:
            continue
        log_volume = log_volume_down(body, matrix)
        if math.isinf(log_volume):
            continue
        # the projection is this over ω, whose norm is 1 up to rounding
        norm = grown(spectral_up(matrix[:, used] / scale[used]), FEW)
        share = float(np.count_nonzero(used)) ** (1 / order - 0.5) if order > 2 else 1.0  # noqa: PLR2004
        share = shrunk(share / norm)
        extent = _extent_up(body, matrix)
        value = share * max(
            averaging_bound(
                log_volume, k, epsilon=epsilon, most=most, rounding=how, extent=extent, power=power
            )
            for how in roundings(records, k)
        )
        if value > best.value:
            packed = share * packing_bound(log_volume, k, epsilon=epsilon, most=most, power=power)
            best = VolumeBound(value=value, dimension=k, log_volume=log_volume, packing=packed)
    return best.enlarged(unit)


def _unit(widths: Vector) -> int:
    """Return e such that products of widths over 2^e, shape (d,), are floats; 0 where theirs are.

    Weights within 1e±100 and widths within 2^±501 are exact over that, and again times it.
    """
    size = math.frexp(float(np.max(widths, initial=0.0)))[1]
    return size - min(max(size, -_MIDDLE), _MIDDLE)


def _dimensions(rank: int) -> list[int]:
    """Return the k that are tried: all few, then a twelfth more each time, and the last."""
    found, k = [], 1
    while k <= rank:
        found.append(k)
        k += max(1, k // _EVERY)
    return found if not found or found[-1] == rank else [*found, rank]


def _axes(moment: Vector) -> Vector:
    """Return orthonormal rows along which the second moment falls, those that have some."""
    if not np.any(moment - np.diag(np.diag(moment))):
        values, vectors = np.diag(moment), np.eye(len(moment))
    else:
        values, vectors = np.linalg.eigh(moment)
    order = np.argsort(-values, kind="stable")
    kept = order[values[order] > 2.0**-46 * float(np.max(values, initial=0.0))]
    return np.asarray(vectors[:, kept].T)


def _extent_up(body: AbstractBody, matrix: Vector) -> float:
    """Return at least max ‖As‖ over the body."""
    if isinstance(body, SymmetricBox):
        far = float(np.linalg.norm(np.abs(matrix) @ body.half_width))
        return grown(far, growth(2 * matrix.size + 9))
    return body.length_up(matrix, np.zeros(body.dimension))
