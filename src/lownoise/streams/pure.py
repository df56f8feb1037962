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
from lownoise.release.proofs import covering_rank
from lownoise.sensitivity.participation import ONE
from lownoise.sensitivity.patterns import fitting
from lownoise.sets.bodies import SymmetricBox
from lownoise.streams.rounds import AbstractStreamMechanism
from lownoise.streams.strays import Strays, drawing, strays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.noise.abstract import AbstractNoise
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
    def _strays(self) -> Strays:
        own = self.pair.variances(0, self.workload.rounds)
        return strays(self.errors(_LIKELY), np.argsort(-own, kind="stable")[:_WIDEST])

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

    def apart(self, level: float, first: int, count: int) -> Vector:
        """Return that of draws, or what all numbers with log-concave noise keep to."""
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

    def mean_lengths(self) -> Vector:
        """Return those of draws."""
        return self._strays.lengths

    def widest(self, level: float) -> float:
        """Return that of draws in the rounds of the greatest deviations.

        Where draws would be too many, or tell nothing of so high a level, what all numbers with
        log-concave noise keep to.
        """
        outside = 1 - level
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
