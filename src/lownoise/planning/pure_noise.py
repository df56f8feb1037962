# SPDX-License-Identifier: Apache-2.0
"""Which pure noise is least for a body of changes: its scales and splits; any is private.

How ε is split over independent noise so that the error is least: scales b, up to a factor.

Of an error of order 2 by the dual weights of the constraints; of others, which a maximum over the
answers makes sharp, by searches that are smooth at first. Any scales are private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError
from lownoise.noise import AdditiveMechanism
from lownoise.noise.independent import LaplaceNoise
from lownoise.noise.means import MeanTotals
from lownoise.noise.mechanism import covering, spared
from lownoise.noise.partial import PartialNoise
from lownoise.noise.pure import KNormNoise, ellipsoid_norm
from lownoise.noise.units import Exchanged, exchange
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.questions import Mean
from lownoise.release.guarantees import MOST_EPSILON, pure_cost
from lownoise.release.pure_bound import middle
from lownoise.samplers.uniform.abstract import distance_within
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.abstract import AbstractNoise
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy import Shared
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.questions import AbstractSummed
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm

_MOST_CHANGES = 1 << 21  # numbers in the list of changes that Laplace scales are fitted to
_MET = 12  # changes of a body that has no list of them
_NEAR = 1 + 1e-3
_ROUNDS = 500
_SETTLED = 1e-9
_SHARP = (4.0, 16.0, 64.0, 256.0, 1024.0)  # powers, by whose means maxima are smoothed
_WIDEST = 30.0  # how far logarithms of scales may move
_TINY = 1e-300


def least_scales(changes: Vector, matters: Vector) -> Vector:
    """Return b that makes Σ mᵢbᵢ² nearly least under Σ|sᵢ|/bᵢ ≤ 1; shapes (n, d) and (d,)."""
    weights = np.full(len(changes), 1 / len(changes))
    best, least = np.ones(matters.size), math.inf
    for _ in range(_ROUNDS):
        scales = np.cbrt(np.maximum(weights @ changes, _TINY) / matters)
        costs = changes @ (1 / scales)
        most = float(np.max(costs))
        value = float(matters @ np.square(scales)) * most**2
        if value < least * (1 - _SETTLED):
            best, least = scales * most, value
        weights = weights * np.square(costs / most)
        weights = weights / np.sum(weights)
    return best


def met_scales(body: AbstractBody, matters: Vector, start: Vector) -> Vector | None:
    """Return the same for changes that are found where others are paid for; None where none are.

    Args:
        body: of the changes.
        matters: m, above 0, shape (d,).
        start: scales, to find the first with.
    """
    scales, met = start, np.zeros((0, start.size))
    for _ in range(_MET):
        found = body.sums_in_up(scales)
        if found is None:
            return None
        if len(met) and found[0] <= _NEAR * float(np.max(met @ (1 / scales))):
            break
        met = np.vstack([met, found[1]])
        scales = least_scales(met, matters)
    return scales


def scales_of_order(changes: Vector, squares: Vector, order: float) -> Vector:
    """Return b with nearly the least ‖σ‖_p, σⱼ² = Σ Aⱼᵢbᵢ², under Σ|sᵢ|/bᵢ ≤ 1 for every s.

    The logarithms of ‖σ‖_p and of the greatest Σ|sᵢ|/bᵢ are convex in ln b, so that a search has
    one end; maxima are smooth at first, and less so from search to search.

    Args:
        changes: |s|, shape (n, d).
        squares: A, shape (m, d).
        order: p.

    Examples:
        >>> scales_of_order(np.array([[1.0, 3.0]]), np.eye(2), math.inf).round(2)
        array([4., 4.])
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    rows = [own[np.any(own > 0, axis=1)] for own in (squares, changes)]

    def error(logs: Vector, sharp: float) -> tuple[float, Vector]:
        value, slope = 0.0, np.zeros(logs.size)
        for own, sign, power in ((rows[0], 2.0, min(order / 2, sharp)), (rows[1], -1.0, sharp)):
            terms = own * np.exp(sign * logs)
            sums = np.maximum(np.sum(terms, axis=1), _TINY)
            share = softmax(power * np.log(sums)) / sums
            value += float(logsumexp(power * np.log(sums))) / power / abs(sign)
            slope += math.copysign(1.0, sign) * (share @ terms)
        return value, slope

    at = -np.log(np.sqrt(np.max(squares, axis=0)) + _TINY) / 2
    at -= np.max(at)
    room = [(low, low + 2 * _WIDEST) for low in (at - _WIDEST).tolist()]
    for sharp in _SHARP:
        found = minimize(error, at, args=(sharp,), jac=True, method="L-BFGS-B", bounds=room)
        at = found.x
    scales = np.exp(at - np.max(at))
    return np.asarray(scales * np.max(changes @ (1 / scales)))


def few_changes(body: AbstractBody) -> Vector | None:
    """Return |s| for the changes that matter, where they are few enough to be listed.

    Of units that take other rows no change of one that comes or goes exceeds its widths, and none
    of one that becomes another exceeds those.
    """
    if isinstance(body, Exchanged):
        return np.vstack([body.coming.widths(), body.becoming.widths()])
    if isinstance(body, SymmetricPoints):
        found = np.abs(body.points)
    elif isinstance(body, PointDifferences):
        points = body.points
        if len(points) ** 2 * points.shape[1] > _MOST_CHANGES:
            return None
        first, second = np.triu_indices(len(points), 1)
        found = np.abs(points[first] - points[second])
    else:
        return None
    return np.unique(found, axis=0) if found.size <= _MOST_CHANGES else None


_MOST_ROWS = 1 << 10  # of an ellipsoid's factor that is no diagonal, where noise has few entries
_MOST_SECONDS = 0.1  # that a vector of noise nobody named may take by tries
_MOST_FITTED = 1 << 20  # numbers that scales of an order above 2 are fitted to
SMALL = 2.0**-400  # beside which, and beyond its inverse, squares are no numbers


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
        named: whether the mechanism is asked for by name, and may take its time.
    """

    totals: AbstractTotals
    weighted: Vector
    epsilon: float
    delta: float
    order: float = 2.0
    shared: Shared | None = None
    unit: PrivacyUnit | None = None
    named: bool = False

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
        changes = self._changes
        if self.kept.size == self.totals.length:
            return changes
        return changes.mapped(np.eye(self.totals.length)[self.kept])

    @cached_property
    def _gauge(self) -> AbstractNorm | PlanError:
        try:
            return self.norm_of(self.body, distance_within(self.epsilon, self.delta))
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

    def norm_of(self, body: AbstractBody, distance: float = 0.0) -> AbstractNorm:
        """Return the norm of a body, as `sets.norms.norm_of` does, where it is soon drawn from.

        Raises:
            PlanError: where it cannot be sampled, or takes long and no mechanism is named.
        """
        found = norm_of(body, distance)
        seconds = found.uniform.work / 1e6
        if seconds > _MOST_SECONDS and not self.named:
            raise PlanError(
                f"a draw takes about {seconds:.1g} seconds, by rejection in {body.dimension} "
                "dimensions; name the mechanism to use it",
            )
        return found

    @cached_property
    def metric(self) -> Vector:
        """M with ‖weighted error‖² ∝ zᵀMz, of the integers that move; or its diagonal."""
        own = self.weighted[..., self.kept]
        most = float(np.max(np.abs(own), initial=0.0))
        if not SMALL < most < 1 / SMALL:  # its square may be no number, and only ratios matter
            own = own * 2.0 ** -math.frexp(most)[1]
        return np.square(own) if own.ndim == 1 else np.asarray(own.T @ own)

    @property
    def squares(self) -> Vector:
        """A with E(weighted errorⱼ)² ∝ Σ Aⱼᵢ·E zᵢ², of independent integers, those that move."""
        own = np.abs(self.weighted[..., self.kept])
        own = own / float(np.max(own, initial=SMALL))  # its square may be no number otherwise
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
        shared, part = self.shared, spared(noise(1.0))
        if shared is None:
            found = covering(scaled, lambda own: own.loss.epsilon, self.epsilon * part)
        else:

            def room(own: AdditiveMechanism) -> float:
                if own.loss.epsilon > MOST_EPSILON:  # of which no event says anything
                    return own.loss.epsilon / MOST_EPSILON
                return shared.room(pure_cost(own.loss).event, own.loss.ball)

            found = covering(scaled, room, part)
        if found.loss.delta <= self.delta:
            return found
        raise PlanError(
            "its points are uniform only up to a total variation, which costs delta="
            f"{found.loss.delta:.2g}; give ln.approx_dp(epsilon, delta) and name the mechanism",
        )


def require_changes(change: Vector, extent: Vector) -> None:
    """Refuse a body that lets a coordinate of records never change, which then would have no noise.

    Raises:
        PlanError: the same.
    """
    if np.any((change == 0) & (extent > 0)):
        raise PlanError(
            "relation lets a coordinate of the domain never change, which pure noise does not "
            "cover; give a body that changes all, or ln.zcdp"
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
    elif isinstance(shape, DenseShape) or shape.dimension <= _MOST_ROWS:
        factor = triangle_of(shape.seen(np.eye(shape.dimension)[kept]).T).T
    else:  # a block of few among so many tells little
        factor = shape.deviations()[kept]
    if factor.ndim == 2 and factor.shape[0] != factor.shape[1]:  # noqa: PLR2004
        raise PlanError("the ellipsoid is flat where changes are not")
    return frozen(np.ascontiguousarray(factor))


def deviations(setting: Setting, shape: AbstractShape) -> Vector:
    """Return how far the integers that move stray in noise of a shape, shape (r,)."""
    return shape.deviations()[setting.kept]


def independent(
    setting: Setting,
    law: Callable[[Vector], AbstractNoise] = LaplaceNoise,
    least: Callable[[], Vector] | None = None,
) -> AdditiveMechanism:
    """Return independent noise of a law, ε split over the integers so that the error is least.

    Of Laplace noise scales b minimise, at p = 2, Σ Mᵢᵢbᵢ² under Σ|sᵢ|/bᵢ ≤ ε for every change s:
    for a box of half widths h bᵢ ∝ (hᵢ/Mᵢᵢ)^{1/3}, for a list of changes bᵢ ∝
    (Σ_s λ_s|sᵢ|/Mᵢᵢ)^{1/3}, λ the dual weights, which grow on the costliest. Of other orders see
    `scales_of_order`. Noise of another law is split in the best of the same ways. Of a body that
    knows its lengths b are those of the least Gaussian noise, too: Σ|sᵢ|/bᵢ ≤ √r·√(Σ(sᵢ/bᵢ)²).

    Args:
        setting: what noise is fitted to.
        law: of the noise.
        least: returns the deviations of Gaussian noise, where that may be asked for.
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
    if least is not None and setting.body.firm:
        candidates.append(least())
        met = met_scales(setting.body, matters, candidates[-1])
        candidates += [] if met is None else [met]
    if setting.order > 2:  # noqa: PLR2004
        most = [width[None], *([] if changes is None else [changes])]
        squares = setting.squares
        fitted = [own for own in most if max(own.size, squares.size) <= _MOST_FITTED]
        candidates += [scales_of_order(own, squares, setting.order) for own in fitted]
    made = [setting.made(_scaled(scales, law)) for scales in candidates]
    return min(made, key=lambda own: squared_error(own, setting))


def _scaled(
    scales: Vector, law: Callable[[Vector], AbstractNoise]
) -> Callable[[float], AbstractNoise]:
    return lambda factor: law(frozen(scales * factor))


def weighted_errors(
    totals: AbstractTotals, weights: Vector, question: Mean | AbstractSummed
) -> Vector:
    """Return the matrix from integers to weighted errors: of sums, about the middle."""
    embed, unit = totals.embed, totals.unit
    if isinstance(totals, MeanTotals) and isinstance(question, Mean):
        embed = totals.embed_about(middle(question.domain))
    return weights * unit if embed is None else weights[:, None] * embed * unit


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
    weighted = weighted / float(np.max(np.abs(weighted), initial=SMALL))
    if weighted.ndim == 1:
        own = covariance if covariance.ndim == 1 else np.diag(covariance)
        variances = np.square(weighted) * own[kept]
    elif covariance.ndim == 1:
        variances = np.square(weighted) @ covariance[kept]
    else:
        inner = covariance[np.ix_(kept, kept)]
        variances = np.einsum("ji,ik,jk->j", weighted, inner, weighted, optimize=True)
    return order_norm(np.sqrt(variances), setting.order) ** 2
