# SPDX-License-Identifier: Apache-2.0
"""What follows from the kind of noise: cost, error, both bounds, and how far answers stray.

The law of pure noise is public, so its quantiles are those of draws of it, made anew with a public
seed: nothing about the data is in them. The order statistic that is taken covers with the stated
chance but for one seed in a million. Where draws would be too many, what the noise knows of its
moments bounds them; where all answers have one law, that is used instead.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import Certificate, order_norm
from lownoise.errors import PlanError
from lownoise.noise.response import ResponseMechanism
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy import ApproxDP, GaussianEvent, PureDP
from lownoise.release.additive import with_additive
from lownoise.release.guarantees import (
    Cost,
    PureCost,
    allowed,
    binding,
    cost_of,
    farthest,
    moment_error,
    pure_cost,
)
from lownoise.release.regions import (
    MISSED,
    Region,
    chi_quantile,
    covering_rank,
    enough,
    normal_quantile,
    simultaneous_quantile,
)

if TYPE_CHECKING:
    from lownoise.bounds import Bound
    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms

_TINY = 2.0**-50
DRAWS = 20_000
_MOST_NUMBERS = 4e7
_SEED = 20_100_602
_DIRECTIONS = 32  # in which the noise of a sum and the count is looked at
_FLAT = 1e-12  # of a variance: what is left of it is rounding


@final
class GaussianProof:
    """What follows from Gaussian noise."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @property
    def parameter(self) -> float:
        """The greatest μ that the budget allows one Gaussian release."""
        return self._terms.budget.gaussian_parameter()

    @property
    def cost(self) -> Cost:
        """What the release reveals, rounded up."""
        terms = self._terms
        return cost_of(GaussianEvent(terms.mechanism.loss.mu), terms.budget)

    @property
    def guarantee(self) -> str:
        """What the user gets, in words."""
        return str(self._terms.budget)

    def within(self, more: float = 0.0) -> bool:
        """Return whether μ is at most what the budget allows, but for a part of that."""
        return bool(self._terms.mechanism.loss.mu <= self._terms.parameter * (1 + more))

    @property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of all answers: exact at p = 2 and for one answer, else a bound."""
        return self._terms.view.error

    @property
    def compared(self) -> float:
        """‖ω·(standard deviations)‖_p, by which mechanisms are compared."""
        deviations, counts = self._terms.view.compared
        return order_norm(deviations, self._terms.order, counts)

    @property
    def mean_error(self) -> float:
        """E‖ω·error‖_p of the same answers, from draws.

        Raises:
            PlanError: where answers are too many to be drawn.
        """
        return _mean_error(self._terms)

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least objective of any Gaussian noise within the budget."""
        terms = self._terms
        least = terms.view.least / terms.parameter * (1 - _TINY)
        return Certificate(least, terms.view.upper, unit=terms.view.unit())

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What no unbiased mechanism's error is below, the one that is told first, first."""
        return self._terms.view.bounds

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's error is below, on any dataset."""
        return self.bounds[0].value

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bound binds."""
        return binding(self._terms.budget)

    def half_widths(self, level: float) -> Vector:
        """Return how far from its answer the exact one is with chance `level`, shape (m,).

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return np.asarray(normal_quantile(level) * self._terms.standard_deviation)

    def joint_half_widths(self, level: float) -> Vector:
        """Return how far from their answers all exact ones are with chance `level`, shape (m,).

        By Šidák's inequality; exact where answers are independent.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        deviations: Vector = self._terms.standard_deviation
        return np.asarray(simultaneous_quantile(level, deviations.size) * deviations)

    def ratio_quantile(self, level: float, together: int) -> float:
        """Return how many deviations sum − θ·count strays with chance `level`, whatever θ is.

        Args:
            level: of each interval, or of all.
            together: how many intervals hold at once.
        """
        return normal_quantile(level) if together == 1 else simultaneous_quantile(level, together)

    def check_integers(self, integers: tuple[int, ...]) -> None:
        """Refuse integers that no release has: Gaussian noise can make any of them."""

    def region(self, estimate: Vector, level: float) -> Region:
        """Return the smallest ellipsoid that holds the exact values with chance `level`.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        noise = self._terms.mechanism.answer_noise
        free = noise.rank  # a direction without noise is exact, and adds no freedom
        radius = chi_quantile(level, free) if free else 0.0
        return Region(center=estimate, noise=noise, radius=radius)


@final
class PureProof:
    """What follows from pure noise, and from randomised response."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @property
    def budget(self) -> PureDP | ApproxDP:
        """The budget, which pure noise keeps.

        Raises:
            PlanError: where it is of another kind.
        """
        budget = self._terms.budget
        if not isinstance(budget, (PureDP, ApproxDP)):
            raise PlanError(f"budget={budget} is not pure, nor (epsilon, delta)")
        return budget

    @property
    def parameter(self) -> float:
        """The greatest float ε within the budget."""
        return allowed(self.budget)

    @property
    def delta(self) -> float:
        """The δ that the budget allows: 0 where it is pure."""
        return self.budget.delta if isinstance(self.budget, ApproxDP) else 0.0

    @property
    def cost(self) -> PureCost:
        """What the release reveals, rounded up."""
        return pure_cost(self._terms.mechanism.loss)

    @property
    def guarantee(self) -> str:
        """What the user gets, in words."""
        return self.cost.guarantee

    def within(self, more: float = 0.0) -> bool:
        """Return whether ε and δ are at most the budget's, but for a part of these."""
        cost, grown = self.cost, 1 + more
        epsilon, delta = self._terms.parameter * grown, self.delta * grown
        return cost.epsilon <= epsilon and cost.delta <= delta

    @property
    def error(self) -> float:
        """(E‖ω·error‖_p²)^{1/2}: exact at p = 2 (and for one answer), else a bound."""
        terms = self._terms
        weighted, counts = terms.view.weighted
        if isinstance(terms.mechanism, ResponseMechanism):
            least = math.inf
            if np.all(terms.weights == 1):
                least = math.sqrt(terms.mechanism.total_variance)
            return min(least, order_norm(weighted, 2.0))
        return moment_error(weighted, terms.order, counts, terms.mechanism.noise.moment)

    @property
    def compared(self) -> float:
        """‖ω·(standard deviations)‖_p, by which mechanisms are compared; of reports the error."""
        terms = self._terms
        if isinstance(terms.mechanism, ResponseMechanism):
            return self.error
        deviations, counts = terms.view.compared
        return order_norm(deviations, terms.order, counts)

    @property
    def mean_error(self) -> float:
        """E‖ω·error‖_p of the same answers, from draws.

        Raises:
            PlanError: where answers are too many to be drawn, or the noise is that of reports.
        """
        return _mean_error(self._terms)

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least error of any mechanism of this ε, over all tables."""
        return Certificate(self._terms.lower_bound, self._terms.error, unit=self._terms.unit)

    @property
    def lower_bound(self) -> float:
        """The first of `bounds`; 0 where nothing is proved."""
        found = self._terms.bounds
        return found[0].value if found else 0.0

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What binds this mechanism, the greatest first; none where nothing is proved.

        Where the noise is pure, what holds of every ε-DP mechanism; under (ε, δ) also what holds of
        every mechanism within that.
        """
        found = self._terms.view.pure_bounds(self.budget, self._terms.mechanism.loss)
        return with_additive(self._terms, found)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bound binds, and how the deviations are known."""
        mechanism = self._terms.mechanism
        found = [
            "No {} has an error below the lower bound on {}.".format(*own.denied)
            for own in self._terms.bounds[:1]
        ]
        if mechanism.estimated:
            found.append("The deviations were estimated by simulating the noise; the cost was not.")
        if isinstance(mechanism, ResponseMechanism):
            found.append("The deviations are the greatest over all tables.")
        return tuple(found)

    def half_widths(self, level: float) -> Vector:
        """Return how far from its answer the exact one is with chance `level`, shape (m,).

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        outside = 1 - checked_level(level)
        self._terms.view.check_drawn()
        mechanism = self._terms.mechanism
        if isinstance(mechanism, ResponseMechanism):
            return _hoeffding(mechanism, outside)
        totals = mechanism.totals
        far = mechanism.noise.far(outside)
        if far is not None and totals.embed is None:
            return frozen(far * totals.unit)
        known = mechanism.noise.quantile(outside)
        if known is not None:
            return frozen(known * mechanism.deviations)
        if simulated(mechanism, outside):
            draws = np.abs(_draws(mechanism))
            return frozen(
                np.partition(draws, rank := covering_rank(len(draws), outside), axis=0)[rank]
            )
        return frozen(farthest(mechanism.noise, outside) * mechanism.deviations)

    def joint_half_widths(self, level: float) -> Vector:
        """Return how far from their answers all exact ones are with chance `level`, shape (m,).

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        outside = 1 - checked_level(level)
        self._terms.view.check_drawn()
        mechanism = self._terms.mechanism
        deviations = mechanism.deviations
        if isinstance(mechanism, ResponseMechanism):
            return _hoeffding(mechanism, outside / deviations.size)
        if simulated(mechanism, outside):
            draws = np.abs(_draws(mechanism)) / np.where(deviations > 0, deviations, 1.0)
            most = draws.max(axis=1)
            return frozen(
                deviations * np.partition(most, rank := covering_rank(len(most), outside))[rank]
            )
        return frozen(farthest(mechanism.noise, outside / deviations.size) * deviations)

    def ratio_quantile(self, level: float, together: int) -> Vector:
        """Return how many deviations sum − θ·count strays with chance `level`; shape (d,).

        Args:
            level: of each interval, or of all.
            together: how many intervals share the chance to miss.
        """
        return ratio_quantile(self._terms.mechanism, level, together)

    def check_integers(self, integers: tuple[int, ...]) -> None:
        """Refuse integers that no release has.

        Raises:
            PlanError: where they are no numbers of reports of randomised response.
        """
        if isinstance(self._terms.mechanism, ResponseMechanism):
            self._terms.mechanism.check(integers)

    def region(self, estimate: Vector, level: float) -> Region:
        """Refuse: pure noise has no ellipsoid.

        Raises:
            PlanError: as said.
        """
        raise PlanError("region is for Gaussian noise only; use simultaneous_interval")


@lru_cache(maxsize=8)  # the same for every release of a mechanism
def ratio_quantile(
    mechanism: AdditiveMechanism,
    level: float,
    together: int = 1,
    chosen: tuple[int, ...] | None = None,
) -> Vector:
    """Return how many deviations sum − θ·count strays with chance `level`, whatever θ; shape (d,).

    For symmetric log-concave noise X in the plane the quantile of |⟨u, X⟩| is a norm of u (Meyer &
    Reisner 1991; Bobkov 2010). So it is looked at along some directions, of noise made round, and
    is at most 1/cos of half the angle between them higher on the others. Of any other noise so much
    holds of the greater of two neighbours, between which the others are (ours). Where draws would
    be too many, or all directions have one law that is known, its tails take their place.

    Args:
        mechanism: whose last answer is the count.
        level: of each interval, or of all.
        together: how many intervals share the chance to miss.
        chosen: of which margin the answers are those of a group; None where there are no groups.

    Raises:
        PlanError: where `level` is not between 0 and 1.
    """
    outside = (1 - checked_level(level)) / together
    totals: Any = mechanism.totals
    # the groups of a margin are alike
    embed = totals.embed if chosen is None else totals.of_margins(chosen)[: totals.question.length]
    deviations, beside = mechanism.answer_scales(embed)
    columns = deviations.size - 1
    missed = MISSED / (_DIRECTIONS * max(columns, 1))
    few = columns * _DIRECTIONS * DRAWS <= _MOST_NUMBERS
    known = mechanism.noise.quantile(outside) is not None
    if known or not (few and simulated(mechanism, outside, missed)):
        return frozen(np.full(columns, farthest(mechanism.noise, outside)))
    draws = mechanism.simulate(DRAWS, SimulationRandomness(_SEED), embed)
    scale = deviations[-1] or 1.0  # a count without noise is 0 here
    count, slope = draws[:, -1] / scale, beside[:-1] / scale
    rest = np.square(deviations[:-1]) - np.square(slope)
    alone = np.sqrt(np.where(rest > _FLAT * np.square(deviations[:-1]), rest, math.inf))
    rank = covering_rank(DRAWS, outside, missed)
    found = np.empty(columns)
    angles = np.arange(_DIRECTIONS) * (math.pi / _DIRECTIONS)
    for i in range(columns):
        own = (draws[:, i] - slope[i] * count) / alone[i]
        along = [np.abs(math.cos(t) * count + math.sin(t) * own) for t in angles.tolist()]
        if not mechanism.noise.log_concave:
            along = [np.maximum(*pair) for pair in pairwise([*along, along[0]])]
        found[i] = max(float(np.partition(each, rank)[rank]) for each in along)
    return frozen(found / math.cos(math.pi / (2 * _DIRECTIONS)))


def _hoeffding(mechanism: ResponseMechanism, outside: float) -> Vector:
    """Return half widths for a sum of independent reports, each within its spread (Hoeffding)."""
    extent = math.sqrt(mechanism.size * math.log(2 / outside) / 2)
    return frozen(extent * mechanism.ranges)


def simulated(mechanism: AdditiveMechanism, outside: float, missed: float = MISSED) -> bool:
    """Return whether so many draws as are needed can be made."""
    numbers = DRAWS * max(mechanism.deviations.size, mechanism.length)
    return numbers <= _MOST_NUMBERS and enough(DRAWS, outside, missed)


def _mean_error(terms: Terms) -> float:
    mechanism, own = terms.mechanism, terms.view.mean_error
    if own is not None:
        return own
    if isinstance(mechanism, ResponseMechanism):
        raise PlanError("the errors of reports depend on the table; there is no one law to draw")
    terms.view.check_drawn()
    if DRAWS * max(terms.view.dimension, mechanism.length) > _MOST_NUMBERS:
        raise PlanError("answers are too many for intervals from draws; use standard_deviation")
    errors = terms.view.compared_errors(_draws(mechanism))
    return float(np.mean(np.linalg.norm(errors, ord=terms.order, axis=1)))


def _draws(mechanism: AdditiveMechanism) -> Vector:
    return mechanism.simulate(DRAWS, SimulationRandomness(_SEED))
