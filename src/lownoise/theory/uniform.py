# SPDX-License-Identifier: Apache-2.0
"""Volume, center and covariance of the uniform law on a domain: closed forms, tilings, samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds.volume import ball_log_volume
from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.uniform import UniformNormBall, UniformSimplexDifferences, UniformZonotope
from lownoise.samplers.uniform.star import star
from lownoise.sets.domains import AbstractDomain, Box, Difference, Image, Points, Polytope, Product
from lownoise.sets.unit_balls import MixedBall, NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

ROUNDING = 1e-9  # of a closed form or a tiling in floats
_SAMPLES = 1 << 16
_FLAT = 1e-10  # of the greatest singular value: what rounding leaves of none
_MOST_TILED = 8  # dimensions in which hulls are cut into simplices
_MOST_POINTS = 4096
_EUCLID = 2.0


@final
@dataclass(frozen=True, eq=False)
class UniformLaw:
    """The uniform law on a convex body.

    Args:
        center: its mean, shape (d,).
        covariance: shape (d, d).
        log_volume: ln vol.
        error: the relative error of √det covariance/vol: of floats, or four standard errors of a
            sample.
        symmetric: whether the body is known to be symmetric about its center.
        how: "closed form", "tiling" or "sample".
    """

    center: Vector
    covariance: Vector
    log_volume: float
    error: float
    symmetric: bool
    how: str

    def placed(self, factor: Vector, shift: Vector) -> UniformLaw:
        """Return that of shift + F·K, F square and regular."""
        sign, log = np.linalg.slogdet(factor)
        if not sign or not np.isfinite(log):
            raise flat()
        return UniformLaw(
            frozen(shift + factor @ self.center),
            frozen(factor @ self.covariance @ factor.T),
            self.log_volume + float(log),
            self.error,
            self.symmetric,
            self.how,
        )


def flat() -> DomainError:
    """Return the refusal of a body without volume."""
    return DomainError(
        "domain has no volume: it lies in a plane of fewer dimensions; leave out the coordinates "
        "that follow from others",
    )


@singledispatch
def uniform_law(domain: object) -> UniformLaw:
    """Return the uniform law on a domain, or on the hull of listed points.

    Raises:
        DomainError: where the domain has no volume, or is of a kind that it is not known of.
    """
    if isinstance(domain, AbstractDomain) and (found := domain.as_image()) is not None:
        return uniform_law(found)
    raise DomainError(
        f"domain={type(domain).__name__} has no uniform law that is known; give a box, a ball, an "
        "image, a product, a short list of points, or a matrix",
    )


@uniform_law.register(Box)
def _box(domain: Box) -> UniformLaw:
    width = domain.upper - domain.lower
    if not np.all(width > 0):
        raise flat()
    return UniformLaw(
        frozen((domain.upper + domain.lower) / 2),
        frozen(np.diag(np.square(width) / 12)),
        math.fsum(np.log(width)),
        ROUNDING,
        symmetric=True,
        how="closed form",
    )


@uniform_law.register(Image)
def _image(domain: Image) -> UniformLaw:
    factor = np.diag(domain.factor) if domain.diagonal else domain.factor
    d, k = factor.shape
    if np.linalg.matrix_rank(factor, tol=_FLAT * np.linalg.norm(factor, 2)) < d:
        raise flat()
    order = domain.base.ball_order
    if d == k:
        return _ball(domain.base).placed(factor, domain.shift)
    if order == _EUCLID:
        left, values, _ = np.linalg.svd(factor, full_matrices=False)
        return _ball(NormBall(d, _EUCLID)).placed(left * values, domain.shift)
    if order == 1:
        return _shifted(symmetric_hull(factor.T), domain.shift)
    if order == math.inf:
        return _shifted(_zonotope(factor.T), domain.shift)
    raise DomainError(
        f"domain is an image in {d} dimensions of a ball of order {order or 'mixed'} in {k}; its "
        "volume is known where both numbers agree, or for orders 1, 2 and infinity",
    )


@uniform_law.register(Points)
@uniform_law.register(Polytope)
def _hull(domain: Points | Polytope) -> UniformLaw:
    return hull(domain.points)


@uniform_law.register(Product)
def _product(domain: Product) -> UniformLaw:
    parts = [uniform_law(part) for part in domain.parts]
    covariance = np.zeros((domain.dimension, domain.dimension))
    for part, at in zip(parts, domain.blocks, strict=True):
        covariance[at, at] = part.covariance
    return UniformLaw(
        frozen(np.concatenate([part.center for part in parts])),
        frozen(covariance),
        math.fsum(part.log_volume for part in parts),
        math.fsum(part.error for part in parts),
        all(part.symmetric for part in parts),
        min(parts, key=lambda part: ["sample", "tiling", "closed form"].index(part.how)).how,
    )


@uniform_law.register(Difference)
def _difference(domain: Difference) -> UniformLaw:
    base = domain.base
    if isinstance(base, Points | Polytope):
        points = base.points
        d = points.shape[1]
        if len(points) == d + 1:  # Rogers & Shephard: C(2d, d) times the simplex
            edges = (points[1:] - points[0]).T
            own = UniformSimplexDifferences(d)
            log = math.log(math.comb(2 * d, d)) - math.lgamma(d + 1)
            law = UniformLaw(
                frozen(np.zeros(d)),
                own.second_moment(),
                log,
                ROUNDING,
                symmetric=True,
                how="closed form",
            )
            return law.placed(edges, np.zeros(d))
        first, second = np.triu_indices(len(points), 1)
        return symmetric_hull(points[first] - points[second])
    law = uniform_law(base)
    if not law.symmetric:
        raise DomainError(
            f"domain is the difference body of {type(base).__name__}, whose volume is not known; "
            "give the difference body of a symmetric domain or of a list of points",
        )
    return law.placed(2 * np.eye(domain.dimension), -2 * law.center)


def hull(points: Vector) -> UniformLaw:
    """Return the uniform law on the hull of points, shape (N, d)."""
    n, d = points.shape
    about = points - points.mean(axis=0)
    if n <= d or np.linalg.matrix_rank(about, tol=_FLAT * np.linalg.norm(about, 2)) < d:
        raise flat()
    if n == d + 1:
        mean = points.mean(axis=0)
        log = float(np.linalg.slogdet(points[1:] - points[0])[1]) - math.lgamma(d + 1)
        return UniformLaw(
            frozen(mean),
            frozen((points - mean).T @ (points - mean) / ((d + 1) * (d + 2))),
            log,
            ROUNDING,
            symmetric=d == 1,
            how="closed form",
        )
    if d == 1:
        return _box(Box(points.min(axis=0), points.max(axis=0)))
    if d > _MOST_TILED or n > _MOST_POINTS:
        raise DomainError(
            f"domain is the hull of {n:,} points in {d} dimensions; simplices tile it up to "
            f"{_MOST_TILED} dimensions and {_MOST_POINTS:,} points, or with one point more than "
            "dimensions",
        )
    from scipy.spatial import ConvexHull

    middle = points.mean(axis=0)
    facets = ConvexHull(points).simplices
    return _tiled(points[facets] - middle, middle, symmetric=_is_symmetric(points))


def symmetric_hull(points: Vector) -> UniformLaw:
    """Return the uniform law on the hull of ±points, shape (N, d).

    Raises:
        DomainError: where it has no volume, or too many facets.
    """
    n, d = points.shape
    if n < d or np.linalg.matrix_rank(points, tol=_FLAT * np.linalg.norm(points, 2)) < d:
        raise flat()
    if n == d:
        return _ball(NormBall(d, 1.0)).placed(points.T, np.zeros(d))
    try:
        corners = star(points).corners()
    except PlanError as refusal:
        raise DomainError(
            f"domain is the hull of ±{n:,} points in {d} dimensions, which simplices do not tile: "
            f"{refusal}",
        ) from None
    found = _tiled(corners, np.zeros(d), symmetric=True)
    return UniformLaw(
        found.center,
        found.covariance,
        found.log_volume + math.log(2),  # one of each opposite pair
        found.error,
        symmetric=True,
        how="tiling",
    )


def _tiled(corners: Vector, middle: Vector, *, symmetric: bool) -> UniformLaw:
    """Return the law on the union of simplices with one more corner at `middle`, (F, d, d)."""
    d = corners.shape[1]
    signs, logs = np.linalg.slogdet(corners)
    top = float(np.max(logs))
    shares = np.where(signs == 0, 0.0, np.exp(logs - top))
    total = math.fsum(shares)
    shares = shares / total
    sums = corners.sum(axis=1)
    moment = np.einsum("f,fia,fib->ab", shares, corners, corners, optimize=True)
    moment = (moment + (shares[:, None] * sums).T @ sums) / ((d + 1) * (d + 2))
    mean = np.zeros(d) if symmetric else shares @ sums / (d + 1)
    return UniformLaw(
        frozen(middle + mean),
        frozen(moment - np.outer(mean, mean)),
        top + math.log(total) - math.lgamma(d + 1),
        ROUNDING,
        symmetric,
        "tiling",
    )


def _is_symmetric(points: Vector) -> bool:
    """Return whether a list of points is its own mirror image, to the last bit."""
    ends = points.min(axis=0) + points.max(axis=0)
    known = {tuple(row) for row in points.tolist()}
    return {tuple(row) for row in (ends - points).tolist()} == known


def _zonotope(segments: Vector) -> UniformLaw:
    try:
        own = UniformZonotope(segments)
    except PlanError as refusal:
        raise DomainError(f"domain has no volume that is known: {refusal}") from None
    d = segments.shape[1]
    return UniformLaw(
        frozen(np.zeros(d)),
        own.second_moment(),
        math.log(own.volume.numerator) - math.log(own.volume.denominator),
        ROUNDING,
        symmetric=True,
        how="tiling",
    )


def _shifted(law: UniformLaw, shift: Vector) -> UniformLaw:
    return law.placed(np.eye(shift.size), shift)


def _ball(base: AbstractUnitBall) -> UniformLaw:
    """Return the uniform law on a unit ball."""
    d = base.dimension
    known = _ball_form(base)
    if known is None:
        return _sampled(base)
    log_volume, squares = known
    zero = frozen(np.zeros(d))
    return UniformLaw(
        zero, frozen(np.diag(squares)), log_volume, ROUNDING, symmetric=True, how="closed form"
    )


def _ball_form(base: AbstractUnitBall) -> tuple[float, Vector] | None:
    """Return ln vol B and E uᵢ², shape (d,), of a ball of ℓ_r, or of balls joined by ℓ_r.

    In the second xᵢ = tᵢ·yᵢ with yᵢ on the boundary of Bᵢ and (tᵢ^r) Dirichlet with parameters
    kᵢ/r and 1; on the boundary second moments are (kᵢ + 2)/kᵢ times those inside.
    """
    if isinstance(base, NormBall):
        return ball_log_volume(base.size, base.order), UniformNormBall(
            base.size, base.order
        ).second_moment()
    if not isinstance(base, MixedBall):
        return None
    parts = [_ball_form(part) for part in base.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    log = math.fsum(own for own, _ in known)
    if math.isinf(base.order):
        return log, np.concatenate([squares for _, squares in known])
    r, gamma = base.order, math.lgamma
    sizes = [part.dimension for part in base.parts]
    total = sum(sizes) / r
    log += math.fsum(gamma(k / r + 1) for k in sizes) - gamma(total + 1)
    found = []
    for (_, squares), k in zip(known, sizes, strict=True):
        mean = gamma((k + 2) / r) + gamma(total + 1) - gamma(k / r) - gamma(total + 1 + 2 / r)
        found.append(squares * (k + 2) / k * math.exp(mean))
    return log, np.concatenate(found)


def _sampled(base: AbstractUnitBall) -> UniformLaw:
    """Return estimates by random directions: vol = v_d·E ρ^d, E uuᵀ ∝ E ρ^{d+2}·θθᵀ.

    Its signs make the second moment of a unit ball diagonal. The error is of √det/vol, by the
    differences of sixteen parts of the sample.
    """
    d = base.dimension
    normal = np.random.default_rng(0).normal(size=(_SAMPLES, d))
    unit = normal / np.linalg.norm(normal, axis=1)[:, None]
    radii = 1 / base.norm_up(unit)
    top = float(np.max(radii))
    shares = (radii / top) ** d
    heavy = shares * radii**2 * d / (d + 2)

    def found(rows: slice) -> tuple[float, Vector]:
        mean = float(np.mean(shares[rows]))
        squares = heavy[rows] @ np.square(unit[rows]) / len(shares[rows]) / mean
        return math.log(mean) + d * math.log(top) + ball_log_volume(d), squares

    log_volume, squares = found(slice(None))
    parts = [found(slice(i, None, 16)) for i in range(16)]
    logs = [math.fsum(np.log(own)) / 2 - log for log, own in parts]
    return UniformLaw(
        frozen(np.zeros(d)),
        frozen(np.diag(squares)),
        log_volume,
        math.expm1(min(4 * float(np.std(logs)) / math.sqrt(16 - 1), 50.0)),
        symmetric=True,
        how="sample",
    )
