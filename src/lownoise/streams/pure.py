# SPDX-License-Identifier: Apache-2.0
"""The release of a stream under a pure budget: noise in sums of rounds, in whole numbers.

Every sum that `sums` measures has noise round(ξ), ξ real and known lazily, of one kind and of the
width of its level; E(noise) is added to the values' integer codes, and what is published is made
of codes with their noise alone. So nothing is rounded that a cover would have to hide: ε is that
of the sums, exactly, and all arithmetic is of whole numbers modulo 2^64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import Loss, sum_up
from lownoise.noise.independent import LaplaceNoise
from lownoise.noise.partial import PartialNoise
from lownoise.noise.pure import KNormNoise
from lownoise.numbers.arrays import frozen
from lownoise.release.guarantees import tail_quantile
from lownoise.release.regions import covering_rank
from lownoise.release.tails import coordinate_quantile
from lownoise.sensitivity.participation import ONE
from lownoise.sensitivity.patterns import fitting
from lownoise.sets.bodies import SymmetricBox
from lownoise.streams.rounds import AbstractStreamMechanism
from lownoise.streams.strays import Strays, drawing, strays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.noise.abstract import AbstractNoise
    from lownoise.noise.coordinates import CoordinateLaw
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness, SimulationRandomness
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.sensitivity.participation import Participation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.streams.sums import AbstractSums

MECHANISMS = ("laplace", "k_norm")  # the noises that sums of a stream can have
_WIDEST = 4  # rounds whose intervals are looked at
_LIKELY = 0.5  # a chance outside that any draws tell of
_MOST_KNOWN = 5000  # rounds, whose sums' weights are looked at one round after the other
_ALIKE = 2.0**30  # of a scale
_FAR = 64.0  # deviations: a chance below e^-90


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PureStreamMechanism(AbstractStreamMechanism):
    """What is published at the end of each round, in integers.

    Args:
        totals: of one round: how its value becomes r integers, and how far a neighbour moves them;
            a count, where there is one, is not published.
        pair: which sums have noise.
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
            return widened(self.noise, width).loss(body)

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
        off = np.square(step) * (self.pair.off_up**2 + 1 / 12)
        return found, off if embed is None else np.square(embed) @ off

    @property
    def noises(self) -> list[AbstractNoise]:
        """The noise of a sum of each level."""
        return [widened(self.noise, width) for _, width in self.pair.levels]

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
        own = self.pair.off_up * np.abs(self.answer_rows).sum(axis=1)
        return np.asarray(super().off + own)

    @cached_property
    def _numbers(self) -> tuple[CoordinateLaw, Vector] | None:
        """The law of a source's numbers, and the scales of those in each answer, shape (d, r).

        None where it is not known, or rounds are too many.
        """
        own = self.noise.coordinates
        if own is None or self.workload.rounds > _MOST_KNOWN:
            return None
        rows = [own.weighted(row) for row in self.answer_rows]
        return None if any(row is None for row in rows) else (own.law, np.array(rows))

    def _alone(self, level: float, t: int, law: CoordinateLaw, rows: Vector) -> Vector:
        """Return how far noise takes one answer, with that chance: a sum of many of known law."""
        pairs = zip(self.pair.weights(t), self.pair.levels, strict=True)
        parts, powers = np.frexp(np.concatenate([np.abs(own) * width for own, (_, width) in pairs]))
        # equal but for their last bits are equal: wider, as all that is added is log-concave
        sizes = np.ldexp(np.ceil(parts * _ALIKE) / _ALIKE, powers)
        sizes, counts = np.unique(sizes[sizes > 0], return_counts=True)

        def found(row: Vector) -> float:
            moved = row[row > 0]
            scales = np.outer(moved, sizes).ravel() if moved.size > 1 else sizes
            return coordinate_quantile(law, scales, np.tile(counts, max(moved.size, 1)), level)

        one = found(np.ones(1))
        few = np.count_nonzero(rows, axis=1) <= 1
        return np.array([one * row.sum() if few[j] else found(row) for j, row in enumerate(rows)])

    def apart(self, level: float, first: int, count: int) -> Vector:
        """Return that of the law; where it is unknown, of draws; or of log-concave numbers."""
        if self._numbers is not None:
            known = self._apart.setdefault(level, {})
            for t in range(first, first + count):
                if t not in known:
                    known[t] = self._alone(level, t, *self._numbers)
            return np.array([known[t] for t in range(first, first + count)])
        try:
            return self.quantiles(level).each[first : first + count]
        except PlanError:
            return tail_quantile(1 - level) * self.deviations(first, count)

    def joint(self, level: float, rounds: int) -> float:
        """Return that of draws, or the sum of all chances of numbers with log-concave noise."""
        try:
            return float(self.quantiles(level).joint[rounds - 1])
        except PlanError:
            return tail_quantile((1 - level) / (rounds * len(self.answer_rows)))

    @cached_property
    def _apart(self) -> dict[float, dict[int, Vector]]:
        return {}

    def mean_lengths(self) -> Vector:
        """Return those of draws."""
        return self._strays.lengths

    def widest(self, level: float) -> float:
        """Return that of the law, or of draws, in the rounds of the greatest deviations.

        Where draws would be too many, or tell nothing of so high a level, what all numbers with
        log-concave noise keep to.
        """
        outside = 1 - level
        if self._numbers is not None:
            return max(float(np.max(self.apart(level, t, 1))) for t in self._widest.tolist())
        try:
            errors = np.abs(self._strays.errors)
            rank = covering_rank(len(errors), outside)
        except PlanError:
            return tail_quantile(outside) * self.largest_deviation
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
        return replace(self, noise=widened(self.noise, factor))


def round_codes(totals: MeanTotals) -> AbstractBody:
    """Return all changes of one round's codes; a count beside them is not published."""
    found: AbstractBody = totals.changes
    r = totals.coordinates.pivots.size
    return found.mapped(np.eye(r + 1)[:-1]) if totals.size is None else found


def widened(noise: AbstractNoise, factor: float) -> AbstractNoise:
    """Return the same noise, `factor` times as wide.

    Raises:
        PlanError: where the noise is of a kind that streams have none of.
    """
    if isinstance(noise, LaplaceNoise):
        return LaplaceNoise(frozen(noise.scales * factor))
    if isinstance(noise, KNormNoise):
        return KNormNoise(noise.gauge, noise.scale * factor)
    if isinstance(noise, PartialNoise):
        inner = noise.inner and widened(noise.inner, factor)
        return PartialNoise(inner, noise.kept, noise.total)
    raise PlanError(f"noise={type(noise).__name__} is of no stream; use laplace or k_norm")
