# SPDX-License-Identifier: Apache-2.0
"""The release of a stream under a pure budget: noise in sums of rounds, in whole numbers.

Every sum that `sums` measures has noise round(ξ), ξ real and known lazily, of one kind and of the
width of its level; E(noise) is added to the values' integer codes, and what is published is made
of codes with their noise alone. So nothing is rounded that a cover would have to hide: ε is that
of the sums, exactly, and all arithmetic is of whole numbers modulo 2^64. Where codes are those of a
list of values, a sum of them moves by whole multiples of what they are apart by, and may have
noise in such multiples (`noise.lattice`): on sums that are whole numbers of rounds. So may sums of
any one number, in staircases whose steps are as wide as the longest change, at every level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import starmap
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import Loss, sum_up
from lownoise.noise.coordinates import log_concave_moment
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.lattice import LatticeNoise, SteppedNoise
from lownoise.noise.marginal_noise import Parts
from lownoise.noise.partial import PartialNoise
from lownoise.noise.pure import KNormNoise
from lownoise.numbers.arrays import frozen
from lownoise.release.guarantees import tail_quantile
from lownoise.release.regions import covering_rank
from lownoise.release.tails import coordinate_quantile, sum_quantile
from lownoise.sensitivity.participation import ONE
from lownoise.sensitivity.patterns import fitting
from lownoise.sets.bodies import SymmetricBox
from lownoise.streams.rounds import AbstractStreamMechanism
from lownoise.streams.strays import Strays, drawing, strays
from lownoise.streams.sums import TreeSums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lownoise.noise.abstract import AbstractNoise
    from lownoise.noise.coordinates import CoordinateLaw
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.numbers.randomness import Randomness, SimulationRandomness
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.sensitivity.participation import Participation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.streams.sums import AbstractSums

OF_ANY = ("laplace", "k_norm")  # the noises that sums of a stream can have, whatever its values
# and of listed ones, and of one number
MECHANISMS = (*OF_ANY, "geometric", "staircase")
_OF_MULTIPLES = (LatticeNoise, SteppedNoise)  # of which a change costs whole steps
_LINEAR = (LaplaceNoise, KNormNoise)  # of which a part of a change costs that part
_WIDEST = 4  # rounds whose intervals are looked at
_LIKELY = 0.5  # a chance outside that any draws tell of
_MOST_KNOWN = 20_000  # rounds, whose sums' weights are looked at one round after the other
_ALIKE = 2.0**30  # of a scale
_RARE = 2.0**-30  # of a chance
_LEAST = 2.0**-53  # of chances, beside 1
_FAR = 64.0  # deviations: a chance below e^-90


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PureStreamMechanism(AbstractStreamMechanism):
    """What is published at the end of each round, in integers.

    Args:
        totals: of one round: how its value becomes r integers, and how far a neighbour moves them;
            a count, where there is one, is not published.
        pair: which sums have noise; least squares is told how far each level's strays.
        noise: that of a sum of width 1, in steps, r coordinates.
        strategy: the name of how sums are chosen.
        reason: why they were, one sentence.
        participation: the rounds that one person may add to.

    Raises:
        PlanError: where the parts do not fit each other.
    """

    totals: MeanTotals
    pair: AbstractSums
    noise: AbstractNoise
    strategy: str
    reason: str
    participation: Participation = ONE

    def __post_init__(self) -> None:
        if self.noise.dimension != self.coding.step.size:
            raise PlanError("stream has noise of another number of coordinates; plan again")
        part = self.noise if isinstance(self.noise, PartialNoise) else None
        own = self.noise if part is None else part.inner
        if not isinstance(own, (*_LINEAR, *(_OF_MULTIPLES if part is None else (type(None),)))):
            raise PlanError(f"noise={type(own).__name__} is of no stream; use laplace")
        tree = isinstance(self.pair, TreeSums)  # sums of rounds, and not of parts of them
        if isinstance(self.noise, LatticeNoise):
            apart = self.totals.apart
            if not tree or apart is None or np.any(apart % self.noise.spacing):
                raise PlanError("noise in whole numbers is finer than sums move; use laplace")
        if isinstance(self.noise, SteppedNoise) and not tree:
            raise PlanError("a staircase hides sums of whole rounds alone; use laplace")
        if isinstance(self.pair, TreeSums):
            growth = self.noise.growth(self.pair.widths)
            object.__setattr__(self, "pair", self.pair.with_deviations(growth))
        wide = float(np.sqrt(self.pair.largest_variance)) * _FAR * self.source_deviations
        self.check(wide + self.pair.off_up)

    @property
    def estimated(self) -> bool:
        """Whether the deviations were estimated by simulation and not computed."""
        return self.noise.estimated

    @cached_property
    def changes(self) -> AbstractBody:
        """All changes of one round's codes, without a count."""
        return round_codes(self.totals)

    @cached_property
    def loss(self) -> Loss:
        """What the whole stream reveals, from the final codes and the final noise alone.

        Of ρ and μ nothing is said but what ε implies: a later change may depend on noise that is
        known by then. Who is in k rounds moves every sum at most by the sum of k changes.
        """
        changes, r = self.changes, self.coding.step.size
        moves = changes.widths() > 0
        step = SymmetricBox(frozen(moves.astype(np.float64)))

        def revealed(body: AbstractBody, width: float) -> Loss:
            return self.noise.scaled(width).loss(body)

        one = revealed(changes, 1.0)
        epsilon = sum_up(
            self.pair.charged(
                lambda width: revealed(changes, width).epsilon,
                lambda width: revealed(step, width).epsilon if r else 0.0,
            )
        )
        if one.delta:
            raise PlanError("noise of a stream must be pure; use laplace")
        times = fitting(self.participation, self.workload.rounds)
        return Loss(sum_up([epsilon] * times))

    @property
    def source_deviations(self) -> Vector:
        """Those of a sum of width 1."""
        own = self.noise.covariance()
        return np.asarray(np.sqrt(own if own.ndim == 1 else np.diag(own)))

    @property
    def answer_variances(self) -> tuple[Vector, Vector]:
        """The variance of each answer for unit noise in an answer, and of rounding, shape (d,)."""
        step, embed = self.coding.step, self.totals.coordinates.embed
        found = np.square(self.noise.deviations(step, embed))
        off = np.square(step * self._moves) * (self.pair.off_up**2 + 1 / 12)
        return found, off if embed is None else np.square(embed) @ off

    @property
    def _moves(self) -> Chosen:
        """Which coordinates have noise: of the others nothing is rounded."""
        return self.source_deviations > 0

    @property
    def noises(self) -> list[AbstractNoise]:
        """The noise of a sum of each level."""
        return [self.noise.scaled(width) for _, width in self.pair.levels]

    @cached_property
    def _widest(self) -> Integers:
        """The rounds of the greatest deviations."""
        own = self.pair.variances(0, self.workload.rounds)
        return np.asarray(np.argsort(-own, kind="stable")[:_WIDEST])

    @cached_property
    def _strays(self) -> Strays:
        return strays(self.errors(_LIKELY), self._widest)

    def errors(self, outside: float) -> Iterator[Vector]:
        """Return draws of the errors of all answers, as floats add up the noise of sums."""
        counts, r = [count for count, _ in self.pair.levels], self.coding.step.size
        several = drawing(sum(counts) * r, outside)
        workload = self.workload.matrix()

        def drawn(k: int, randomness: SimulationRandomness) -> Vector:
            own = [
                noise.simulate(count * k, randomness).reshape(count, k * r)
                for count, noise in zip(counts, self.noises, strict=True)
            ]
            found = (workload @ self.pair.linear(own)).reshape(-1, k, r) @ self.answer_rows.T
            return np.asarray(found)

        return starmap(drawn, several)

    @property
    def off(self) -> Vector:
        """What rounding takes answers from what draws say, and values from their codes, (d,)."""
        own = self.pair.off_up * np.abs(self.answer_rows) @ self._moves
        return np.asarray(super().off + own)

    @cached_property
    def _numbers(self) -> tuple[Callable[[float, int, Vector], float], Vector] | None:
        """How sums of the numbers in an answer stray, and their scales in each, shape (d, r).

        None where it is not known, or rounds are too many.
        """
        if self.workload.rounds > _MOST_KNOWN:
            return None
        if isinstance(self.noise, _OF_MULTIPLES):
            every = np.asarray(np.abs(self.answer_rows) * self.noise.spacing, dtype=np.float64)
            return partial(self._of_multiples, self.noise), every
        own = self.noise.coordinates
        rows = [own.weighted(row) for row in self.answer_rows] if own else []
        if own is None or any(row is None for row in rows):
            return None
        return partial(self._of_reals, own.law), np.array(rows)

    def _of_reals(self, law: CoordinateLaw, level: float, t: int, factors: Vector) -> float:
        """Return how far Σ factors·(noise in answer t) strays with that chance, its law known."""
        pairs = zip(self.pair.weights(t), self.pair.levels, strict=True)
        parts, powers = np.frexp(np.concatenate([np.abs(own) * width for own, (_, width) in pairs]))
        # equal but for their last bits are equal: wider, as all that is added is log-concave
        sizes = np.ldexp(np.ceil(parts * _ALIKE) / _ALIKE, powers)
        sizes, counts = np.unique(sizes[sizes > 0], return_counts=True)
        scales = np.outer(factors, sizes).ravel() if factors.size > 1 else sizes
        return coordinate_quantile(law, scales, np.tile(counts, factors.size), level)

    def _of_multiples(
        self, noise: LatticeNoise | SteppedNoise, level: float, t: int, factors: Vector
    ) -> float:
        """Return the same where it is a sum of whole numbers with weights, or of staircases.

        Weights that differ by a part in 2^30 are taken for one; what that takes the sum off by is
        added, as no number is beyond `far` but with a chance of 2^-30 of what is outside.
        """
        kinds = []
        for own, (_, width) in zip(self.pair.weights(t), self.pair.levels, strict=True):
            parts, powers = np.frexp(np.abs(own[own != 0]))
            sizes = np.ldexp(np.ceil(parts * _ALIKE) / _ALIKE, powers)
            sizes, counts = np.unique(sizes, return_counts=True)
            kinds.append((sizes, np.full(sizes.size, noise.scale * width), counts))
        sizes, scales, counts = map(np.concatenate, zip(*kinds, strict=True))
        many, outside = factors.size, (1 - level) * _RARE
        parts = Parts(
            noise.law,
            np.outer(factors, sizes).ravel(),
            np.tile(scales, many),
            np.tile(counts, many).astype(np.float64),
        )
        far = GeometricNoise(scales).far(outside / max(float(counts.sum()) * many, 1.0))
        far = far + noise.apart
        off = float(factors.sum() * np.sum(counts * sizes * far)) * 2 / _ALIKE
        nearly = 1 - (1 - level) * (1 - 2 * _RARE)
        return sum_quantile(parts, min(nearly, 1 - _LEAST)) + off

    def _alone(self, level: float, t: int, quantile: Any, rows: Vector) -> Vector:  # noqa: ANN401
        """Return how far noise takes one answer, with that chance: a sum of many of known law."""
        one = quantile(level, t, np.ones(1))
        few = np.count_nonzero(rows, axis=1) <= 1
        return np.array(
            [
                one * row.sum() if few[j] else quantile(level, t, row[row > 0])
                for j, row in enumerate(rows)
            ]
        )

    def _moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X."""
        if not isinstance(self.noise, _OF_MULTIPLES):
            return log_concave_moment(order)
        scales = self.noise.scale * np.array([width for _, width in self.pair.levels])
        return self.noise.law.moment_of(scales, order)

    def _far(self, outside: float) -> float:
        """Return how many deviations any answer strays beyond but with a chance, without draws."""
        exact = self.noise.log_concave and not self.noise.estimated
        return tail_quantile(outside, None if exact else self._moment)

    def apart(self, level: float, first: int, count: int) -> Vector:
        """Return that of the law; where it is unknown, of draws; or what moments say of any."""
        if self._numbers is not None:
            known = self._apart.setdefault(level, {})
            for t in range(first, first + count):
                if t not in known:
                    known[t] = self._alone(level, t, *self._numbers)
            return np.array([known[t] for t in range(first, first + count)])
        try:
            return self.quantiles(level).each[first : first + count]
        except PlanError:
            return self._far(1 - level) * self.deviations(first, count)

    def joint(self, level: float, rounds: int) -> float:
        """Return that of draws, or the sum of all chances of numbers whose moments are known."""
        try:
            return float(self.quantiles(level).joint[rounds - 1])
        except PlanError:
            outside = (1 - level) / (rounds * len(self.answer_rows))
            return self._far(outside)

    @cached_property
    def _apart(self) -> dict[float, dict[int, Vector]]:
        return {}

    def mean_lengths(self) -> Vector:
        """Return those of draws."""
        return self._strays.lengths

    def widest(self, level: float) -> float:
        """Return that of the law, or of draws, in the rounds of the greatest deviations.

        Where draws would be too many, or tell nothing of so high a level, what all numbers with
        such moments keep to.
        """
        outside = 1 - level
        if self._numbers is not None:
            return max(float(np.max(self.apart(level, t, 1))) for t in self._widest.tolist())
        try:
            errors = np.abs(self._strays.errors)
            rank = covering_rank(len(errors), outside)
        except PlanError:
            return self._far(outside) * self.largest_deviation
        rising = np.sort(errors.reshape(len(errors), -1), axis=0)
        return float(np.max(rising[rank]))

    def all_noise(self, randomness: Randomness) -> Integers:
        """Return the noise of all values, shape (n, r)."""
        drawn = [
            noise.many(count, randomness).astype(object)
            for (count, _), noise in zip(self.pair.levels, self.noises, strict=True)
        ]
        return self.pair.values(drawn)

    def noisy(self, answers: AbstractAnswers, codes: Integers, noise: Integers) -> Integers:
        """Return the answers of codes with their noise: a function of these alone."""
        return answers.push(codes + noise)

    def noisy_one(self, answers: AbstractAnswers, code: int, noise: int) -> int:
        """Return the same for one round of one coordinate."""
        return answers.push_one(code + noise)

    def scaled(self, factor: float) -> PureStreamMechanism:
        """Return the same with all noise `factor` times as wide."""
        return replace(self, noise=self.noise.scaled(factor))


def round_codes(totals: MeanTotals) -> AbstractBody:
    """Return all changes of one round's codes; a count beside them is not published."""
    found: AbstractBody = totals.changes
    r = totals.coordinates.pivots.size
    return found.mapped(np.eye(r + 1)[:-1]) if totals.size is None else found
