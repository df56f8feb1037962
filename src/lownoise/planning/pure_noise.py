# SPDX-License-Identifier: Apache-2.0
"""Which pure noise is least for a body of changes: scales, splits and levels; any is private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError
from lownoise.noise import AdditiveMechanism
from lownoise.noise.abstract import distance_within
from lownoise.noise.independent import LaplaceNoise
from lownoise.noise.mechanism import covering
from lownoise.noise.partial import PartialNoise
from lownoise.noise.pure import KNormNoise, ellipsoid_norm
from lownoise.noise.recursive import RecursiveNoise
from lownoise.noise.units import exchange
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.planning.scales import few_changes, least_scales, scales_of_order
from lownoise.release.guarantees import pure_cost
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import PointDifferences
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.abstract import AbstractNoise
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy import Shared
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm

_MOST_FITTED = 1 << 20  # numbers that scales of an order above 2 are fitted to
_MOST_BITS, _LEAST_BITS = 12, 5  # of an entry of the rotation
_EXACT_BITS = 52
_MOST_TURNED = 256  # coordinates
_SMALL = 2.0**-400  # beside which, and beyond its inverse, squares are no numbers
_MOST_CUT = 7  # dimensions in which the differences of many points are cut up in a second
_DIGITS = 9  # of gaps, of which those that differ in less are equal
_GAPS = 3  # between eigenvalues, the widest, that levels are parted at


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """What noise is fitted to.

    Args:
        totals: the integers.
        weighted: from noise on the integers to weighted errors, shape (m, r); or shape (r,), its
            diagonal.
        epsilon: the most that may be revealed, ε.
        delta: and δ.
        order: p, of the weighted errors' norm.
        shared: what several releases share; then the noise's own ρ and μ say how much is needed.
        unit: whose rows are hidden together; None where each row is.
    """

    totals: AbstractTotals
    weighted: Vector
    epsilon: float
    delta: float
    order: float = 2.0
    shared: Shared | None = None
    unit: PrivacyUnit | None = None

    @cached_property
    def _changes(self) -> AbstractBody:
        """All that one row changes."""
        found: AbstractBody = self.totals.changes
        if self.unit is None or not self.unit.exchanged:  # as of `Request`
            return found
        return exchange(found, self.totals.becoming)

    @cached_property
    def kept(self) -> Integers:
        """The integers that a neighbour moves, rising."""
        return np.flatnonzero(self._changes.widths())

    @cached_property
    def body(self) -> AbstractBody:
        """Their changes."""
        full_shape = self._changes
        if self.kept.size == self.totals.length:
            return full_shape
        return full_shape.mapped(np.eye(self.totals.length)[self.kept])

    @cached_property
    def _gauge(self) -> AbstractNorm | PlanError:
        try:
            return norm_of(self.body, distance_within(self.epsilon, self.delta))
        except PlanError as error:  # what took long to refuse is not tried again
            return error

    @property
    def gauge(self) -> AbstractNorm:
        """The norm of K-norm noise of those changes.

        Raises:
            PlanError: where it cannot be sampled within the claim.
        """
        if isinstance(self._gauge, PlanError):
            raise self._gauge
        return self._gauge

    @cached_property
    def metric(self) -> Vector:
        """M with ‖weighted error‖² ∝ zᵀMz, of the integers that move; or its diagonal."""
        own = self.weighted[..., self.kept]
        most = float(np.max(np.abs(own), initial=0.0))
        if not _SMALL < most < 1 / _SMALL:  # its square may be no number, and only ratios matter
            own = own * 2.0 ** -math.frexp(most)[1]
        return np.square(own) if own.ndim == 1 else np.asarray(own.T @ own)

    @property
    def squares(self) -> Vector:
        """A with E(weighted errorⱼ)² ∝ Σ Aⱼᵢ·E zᵢ², of independent integers, those that move."""
        own = np.abs(self.weighted[..., self.kept])
        own = own / float(np.max(own, initial=_SMALL))  # its square may be no number otherwise
        return np.diag(np.square(own)) if own.ndim == 1 else np.square(own)

    def with_noise(self, own: AbstractNoise | None) -> AdditiveMechanism:
        """Return the mechanism with this noise on the integers that move; None where none does."""
        if own is None or self.kept.size < self.totals.length:
            own = PartialNoise(own, self.kept, self.totals.length)
        return AdditiveMechanism(self.totals, own, self.unit)

    def made(self, noise: Callable[[float], AbstractNoise]) -> AdditiveMechanism:
        """Return the mechanism with the least of noise(factor) that stays within ε and δ.

        Raises:
            PlanError: where none does.
        """

        def scaled(factor: float) -> AdditiveMechanism:
            return self.with_noise(noise(factor) if self.kept.size else None)

        if not self.kept.size:
            return scaled(1.0)
        shared = self.shared
        if shared is None:
            found = covering(scaled, lambda own: own.loss.epsilon, self.epsilon)
        else:

            def room(own: AdditiveMechanism) -> float:
                return shared.room(pure_cost(own.loss).event, own.loss.ball)

            found = covering(scaled, room, 1.0)
        if found.loss.delta <= self.delta:
            return found
        raise PlanError(
            f"its points are uniform but for a total variation, which costs delta="
            f"{found.loss.delta:.2g}; give ln.approx_dp(epsilon, delta) and name the mechanism",
        )


def k_norm(setting: Setting) -> AdditiveMechanism:
    """Return K-norm noise of the body of changes itself.

    Raises:
        PlanError: where that cannot be sampled within the claim.
    """
    if not setting.kept.size:
        raise PlanError("no neighbour changes any answer")
    gauge = setting.gauge
    return setting.made(lambda factor: KNormNoise(gauge, factor / setting.epsilon))


def ellipsoid(setting: Setting, shape: AbstractShape) -> AdditiveMechanism:
    """Return K-norm noise of an ellipsoid around the body of changes.

    It is as private with any convex body that holds all changes (001, section 9). With the
    ellipsoid M of the least Gaussian noise its covariance is (d + 1)/ε²·M, whatever the body.

    Args:
        setting: what noise is fitted to.
        shape: noise of the integers that roughly covers their changes with radius 1.
    """
    gauge = ellipsoid_norm(ellipsoid_factor(setting, shape))
    return setting.made(lambda scale: KNormNoise(gauge, scale / setting.epsilon))


def ellipsoid_factor(setting: Setting, shape: AbstractShape) -> Vector:
    """Return F of an ellipsoid F·B of the integers that move, where noise of this shape is it.

    Raises:
        PlanError: where it is none, or flat.
    """
    kept = setting.kept
    if isinstance(shape, DiagonalShape):
        factor = shape.scale[kept]
    elif isinstance(shape, DenseShape):
        factor = triangle_of(shape.factor[kept].T).T
    else:
        raise PlanError(f"noise of kind {type(shape).__name__} is no ellipsoid's factor")
    if factor.ndim == 2 and factor.shape[0] != factor.shape[1]:  # noqa: PLR2004
        raise PlanError("the ellipsoid is flat where changes are not")
    return frozen(np.ascontiguousarray(factor))


def independent(
    setting: Setting, law: type[AbstractIndependentNoise] = LaplaceNoise
) -> AdditiveMechanism:
    """Return independent noise of a law, ε split over the integers so that the error is least.

    Of Laplace noise scales b minimise, at p = 2, Σ Mᵢᵢbᵢ² under Σ|sᵢ|/bᵢ ≤ ε for every change s:
    for a box of half widths h bᵢ ∝ (hᵢ/Mᵢᵢ)^{1/3}, for a list of changes bᵢ ∝
    (Σ_s λ_s|sᵢ|/Mᵢᵢ)^{1/3}, λ the dual weights, which grow on the costliest. Of other orders see
    `scales_of_order`. Noise of another law is split in the best of the same ways.
    """
    if not setting.kept.size:
        return setting.made(lambda _: law(np.ones(1)))
    matters = setting.metric if setting.metric.ndim == 1 else np.diag(setting.metric)
    matters = np.maximum(matters, float(np.max(matters)) * 2.0**-200)
    width = setting.body.widths()
    candidates = [np.cbrt(width / matters), np.full(width.size, float(np.max(width)))]
    changes = few_changes(setting.body)
    if changes is not None:
        candidates.append(least_scales(changes, matters))
    if setting.order > 2:  # noqa: PLR2004
        most = [width[None], *([] if changes is None else [changes])]
        squares = setting.squares
        fitted = [own for own in most if max(own.size, squares.size) <= _MOST_FITTED]
        candidates += [scales_of_order(own, squares, setting.order) for own in fitted]
    made = [setting.made(_scaled(scales, law)) for scales in candidates]
    return min(made, key=lambda own: squared_error(own, setting))


def _scaled(
    scales: Vector, law: type[AbstractIndependentNoise]
) -> Callable[[float], AbstractIndependentNoise]:
    return lambda factor: law(frozen(scales * factor))


def recursive(setting: Setting) -> AdditiveMechanism:
    """Return noise of several levels (001, section 7), ε split so that the error is least.

    At each level the coordinates are turned to the eigenvectors of the noise's covariance where
    errors have the Euclidean length, and the flattest are kept: half of them, as in the source, or
    all beyond one of the widest gaps, whichever can be had and errs least. With Vⱼ the kept squared
    error at ε = 1, Σ Vⱼ/εⱼ² is least under Σ εⱼ = ε for εⱼ ∝ Vⱼ^{1/3}.

    Raises:
        PlanError: where there is one level only, or a level cannot be sampled within the claim.
    """
    d = setting.kept.size
    if d < 2:  # noqa: PLR2004
        raise PlanError("one number has one level: it is the K-norm mechanism")
    if d > _MOST_TURNED:
        raise PlanError(f"{d:,} numbers are too many to turn; the cap is {_MOST_TURNED}")
    gauge = setting.gauge
    if gauge.uniform.distance:
        raise PlanError("the first level is known in total variation alone; name k_norm")
    own = gauge.uniform.second_moment()
    root = _root(setting.metric)
    values, vectors = np.linalg.eigh(root @ (np.diag(own) if own.ndim == 1 else own) @ root.T)
    turned, values = vectors[:, ::-1].T @ root, values[::-1]
    with np.errstate(over="ignore"):  # no gap is wider than one beyond all floats
        falls = np.round(values[:-1] / np.maximum(values[1:], 1e-300), _DIGITS)
    gaps = 1 + np.argsort(-falls, kind="stable")  # of equals the first
    ways = {tuple(d >> i for i in range(d.bit_length())), *((d, int(k)) for k in gaps[:_GAPS])}
    if isinstance(setting.body, PointDifferences):
        ways = {way for way in ways if way[1] <= _MOST_CUT} or {(d, 1)}
    made, refused = [], []
    for way in sorted(ways):
        try:
            made.append(_recursive(setting, turned, way))
        except PlanError as error:
            refused.append(error)
    if not made:
        raise refused[0]
    return min(made, key=lambda own: squared_error(own, setting))


def squared_error(mechanism: AdditiveMechanism, setting: Setting) -> float:
    """Return what the squared error of the setting's order is proportional to."""
    own, metric = mechanism.noise.covariance(), setting.metric
    if setting.order > 2:  # noqa: PLR2004
        return _squared_norm(own, setting)
    if own.ndim == 1:
        return float(own[setting.kept] @ (metric if metric.ndim == 1 else np.diag(metric)))
    kept = own[np.ix_(setting.kept, setting.kept)]
    return float(np.diag(kept) @ metric if metric.ndim == 1 else np.sum(kept * metric))


def _squared_norm(covariance: Vector, setting: Setting) -> float:
    kept, weighted = setting.kept, setting.weighted[..., setting.kept]
    weighted = weighted / float(np.max(np.abs(weighted), initial=_SMALL))
    if weighted.ndim == 1:
        own = covariance if covariance.ndim == 1 else np.diag(covariance)
        variances = np.square(weighted) * own[kept]
    elif covariance.ndim == 1:
        variances = np.square(weighted) @ covariance[kept]
    else:
        inner = covariance[np.ix_(kept, kept)]
        variances = np.einsum("ji,ik,jk->j", weighted, inner, weighted, optimize=True)
    return order_norm(np.sqrt(variances), setting.order) ** 2


def _recursive(setting: Setting, turned: Vector, sizes: tuple[int, ...]) -> AdditiveMechanism:
    rows = _turned(setting.body, turned, sizes)
    rest = [norm_of(setting.body.mapped(rows[:n])) for n in sizes[1:]]
    norms = [setting.gauge, *rest]
    unit = RecursiveNoise(rows, tuple(KNormNoise(gauge, 1.0) for gauge in norms))
    if setting.order > 2:  # noqa: PLR2004
        one = np.ones((1, len(sizes)))
        scales = scales_of_order(one, _kept_squares(unit, setting), setting.order) / setting.epsilon
    else:
        shares = np.cbrt([max(v, 1e-300) for v in _kept_errors(unit, setting.metric)])
        scales = 1 / (shares / shares.sum() * setting.epsilon)

    def scaled(factor: float) -> RecursiveNoise:
        return RecursiveNoise(
            rows,
            tuple(KNormNoise(g, float(b * factor)) for g, b in zip(norms, scales, strict=True)),
        )

    return setting.made(scaled)


def _kept_errors(noise: RecursiveNoise, metric: Vector) -> list[float]:
    """Return tr(M·T⁻¹·(what a level keeps)·T⁻ᵀ), a level each."""
    inverse = np.linalg.inv(noise.rows)
    own = inverse.T @ (np.diag(metric) if metric.ndim == 1 else metric) @ inverse
    ends = [level.dimension for level in noise.levels]
    firsts = [*ends[1:], 0]
    return [
        float(np.sum(own[first:end, first:end] * kept))
        for first, end, kept in zip(firsts, ends, noise.kept, strict=True)
    ]


def _kept_squares(noise: RecursiveNoise, setting: Setting) -> Vector:
    """Return what each level adds to the variance of each weighted error, about, shape (m, L)."""
    own = setting.weighted[..., setting.kept]
    own = own / float(np.max(np.abs(own), initial=_SMALL))
    rows = (np.diag(own) if own.ndim == 1 else own) @ np.linalg.inv(noise.rows)
    ends = [level.dimension for level in noise.levels]
    found = [
        np.einsum("ji,ik,jk->j", rows[:, first:end], kept, rows[:, first:end], optimize=True)
        for first, end, kept in zip([*ends[1:], 0], ends, noise.kept, strict=True)
    ]
    return np.asarray(np.maximum(np.array(found).T, 0.0))


def _root(metric: Vector) -> Vector:
    """Return R with RᵀR = M, shape (d, d)."""
    if metric.ndim == 1:
        return np.diag(np.sqrt(metric))
    values, vectors = np.linalg.eigh(metric)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _turned(body: AbstractBody, turned: Vector, sizes: tuple[int, ...]) -> Vector:
    """Return T: its rows from the longest direction to the flattest, level by level.

    Args:
        body: the changes.
        turned: rows for the first level, shape (d, d).
        sizes: of the levels.
    """
    rows = turned.copy()
    for n in sizes[1:]:
        rows[:n] = np.linalg.eigh(_moment(body, rows[:n]))[1][:, ::-1].T @ rows[:n]
    found = _rounded(rows, body)
    if not np.all(np.isfinite(found)) or np.linalg.cond(found) > 2.0**30:
        raise PlanError("the body is too flat for its levels to be told apart; leave answers out")
    return frozen(found)


def _moment(body: AbstractBody, rows: Vector) -> Vector:
    """Return the second moment of the image of the body under the rows, nearly."""
    near = _rounded(rows, body)
    own = norm_of(body.mapped(near)).uniform.second_moment()
    dense = np.diag(own) if own.ndim == 1 else own
    unit = np.max(np.abs(rows), axis=1)  # what each was divided by
    return np.asarray(dense * unit * unit[:, None])


def _rounded(rows: Vector, body: AbstractBody) -> Vector:
    """Return the rows, each times a number, with so few bits that images of the body are exact.

    Raises:
        PlanError: where the integers are too fine for that.
    """
    size = float(np.max(body.widths()))
    left = _EXACT_BITS - math.ceil(math.log2(max(size, 1.0) * rows.shape[1]))
    bits = min(_MOST_BITS, left)
    if bits < _LEAST_BITS:
        raise PlanError("the integers are too fine for levels that are exact images of them")
    most = np.max(np.abs(rows), axis=1, keepdims=True)
    most = np.where(most > 0, most, 1.0)
    return np.asarray(np.rint(rows / most * 2.0**bits) * 2.0**-bits)
