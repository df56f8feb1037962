# SPDX-License-Identifier: Apache-2.0
"""What every mechanism of a stream has: values as integers, and how these become answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import PlanError
from lownoise.noise.means import MeanTotals, coding_for
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown
from lownoise.sensitivity.participation import ONE
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.bodies import RoundedBody
from lownoise.streams.pairs import LARGEST
from lownoise.streams.strays import quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lownoise.engines import AbstractCoding
    from lownoise.noise.abstract import Loss
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Mean
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.questions.streams import AbstractStreamWorkload
    from lownoise.sensitivity.participation import Participation
    from lownoise.sensitivity.relations import CheckedRelation
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.streams.pairs import AbstractPair
    from lownoise.streams.strays import Quantiles
    from lownoise.streams.sums import AbstractSums

_FINEST_BITS = 40  # log2 of the noise in steps
_FEWEST_BITS = 20
_TOTAL_BITS = 62  # of an answer in steps
_CODE_BITS = 49
_FLOAT_BITS = 51
_SHOWN = 2.0**-5  # of a deviation: what rounding of all values may move an answer by
SHOWN = 2 * _SHOWN  # of the final noise, which differs a little from what the grid was made for


class AbstractStreamMechanism(ABC):
    """What is published at the end of each round, in integers."""

    totals: MeanTotals
    strategy: str
    reason: str
    participation: Participation = ONE
    most_rounding: ClassVar[float | None] = SHOWN
    pair: Any  # how answers' variances follow from those of the sources of noise

    def check(self, wide: Vector) -> None:
        """Refuse a stream that is not coded as it must be.

        Args:
            wide: how far noise moves an answer nearly never, in steps, shape (r,).

        Raises:
            PlanError: as said.
        """
        self.participation.check(self.workload.rounds)
        if self.relation.counted and np.any(self.coding.center):
            raise PlanError("stream must be coded about 0 under add_remove; plan again")
        if self.relation.counted and np.any(
            self.coding.encode(np.zeros((1, len(self.coding.columns))))
        ):
            raise PlanError("stream's domain does not hold 0, which a round becomes; plan again")
        if not np.all(self.extent_steps * self.workload.longest + wide < 2.0**_TOTAL_BITS):
            raise PlanError("stream has answers beyond 2^62 steps; use a coarser grid")

    @property
    def workload(self) -> AbstractStreamWorkload:
        """W."""
        workload: AbstractStreamWorkload = self.pair.workload
        return workload

    @property
    def coding(self) -> AbstractCoding:
        """How a round's value becomes r integers."""
        return self.totals.query.coding

    @property
    def relation(self) -> CheckedRelation:
        """What a neighbour is."""
        return checked_relation(self.totals.relation)

    @property
    def size(self) -> int | None:
        """The public number of records a round has: one; None where a value becomes 0."""
        return self.totals.size

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What the whole stream reveals, from the final codes and the final noise alone."""

    @property
    @abstractmethod
    def source_deviations(self) -> Vector:
        """The deviations of one source's noise, in steps, shape (r,)."""

    @property
    @abstractmethod
    def answer_variances(self) -> tuple[Vector, Vector]:
        """The variance of each answer for a row of B of length 1, and what hides rounding, (d,)."""

    @property
    def answer_rows(self) -> Vector:
        """The matrix from steps of the coordinates to the numbers of an answer, shape (d, r)."""
        step, embed = self.coding.step, self.totals.coordinates.embed
        return np.diag(step) if embed is None else np.asarray(embed * step)

    @property
    def largest_deviation(self) -> float:
        """That of a number of an answer, over all rounds."""
        through, side = self.answer_variances
        return math.sqrt(float(np.max(self.pair.largest_variance * through + side)))

    @abstractmethod
    def mean_lengths(self) -> Vector:
        """Return E‖error‖₂ of every answer, shape (n,).

        Raises:
            PlanError: where they are too many to be drawn.
        """

    @abstractmethod
    def widest(self, level: float) -> float:
        """Return the greatest half width of an interval of so much chance, over all rounds."""

    @abstractmethod
    def errors(self, outside: float) -> Iterator[Vector]:
        """Return draws of the errors of all answers, with a public seed; shape (n, k, d) each.

        Args:
            outside: the least chance that they are asked about.

        Raises:
            PlanError: where they are too many, or the chance too small; before any is drawn.
        """

    @abstractmethod
    def apart(self, level: float, first: int, count: int) -> Vector:
        """Return how far noise takes some answers, each alone with that chance, shape (count, d).

        Args:
            level: the chance with which it takes them no farther.
            first: the first of the rounds, from 0.
            count: how many.
        """

    @abstractmethod
    def joint(self, level: float, rounds: int) -> float:
        """Return how many deviations noise takes any answer of the first rounds, with that chance.

        Args:
            level: the chance with which it takes none of them farther.
            rounds: how many, from 1.
        """

    def quantiles(self, level: float) -> Quantiles:
        """Return what draws say of a level, which are made once for it.

        Raises:
            PlanError: where they would be too many, or tell nothing of so high a level.
        """
        known = self._quantiles
        if level not in known:
            drawn = self.errors(1 - level)
            known[level] = quantiles(drawn, self.deviations(0, self.workload.rounds), level)
        return known[level]

    @cached_property
    def _quantiles(self) -> dict[float, Quantiles]:
        return {}

    def deviations(self, first: int, count: int) -> Vector:
        """Return the standard deviation of all answers of some rounds, shape (count, d)."""
        through, side = self.answer_variances
        pair = self.pair.variances(first, count)
        return np.asarray(np.sqrt(pair[:, None] * through + side))

    @property
    def off(self) -> Vector:
        """At least how far codes of values take an answer from the exact one, shape (d,)."""
        return np.abs(self.answer_rows) @ (self.workload.longest * self.coding.slack)

    @property
    def keeps(self) -> bool:
        """Whether the noise of all rounds is drawn before the first one."""
        return True

    @abstractmethod
    def all_noise(self, randomness: Randomness) -> Integers:
        """Return the noise of all rounds, shape (n, r), where that is drawn at once."""

    @abstractmethod
    def noisy(self, answers: AbstractAnswers, codes: Integers, noise: Integers) -> Integers:
        """Return what is published of some rounds, shape (k, r).

        Args:
            answers: the running exact ones.
            codes: of the rounds' values, shape (k, r).
            noise: of these rounds, shape (k, r).
        """

    @abstractmethod
    def noisy_one(self, answers: AbstractAnswers, code: int, noise: int) -> int:
        """Return the same for one round of one coordinate."""

    @cached_property
    def rounding(self) -> float:
        """How far the rounding of all values moves an answer at most, in its mean deviations."""
        moves = self.coding.slack > 0
        wide = self.source_deviations[moves] * math.sqrt(self.pair.mean_variance)
        with np.errstate(divide="ignore"):
            return float(np.max(self.workload.longest / 2 / wide, initial=0.0))

    @cached_property
    def change_steps(self) -> Vector:
        """At least how far one round's codes can change, shape (r,)."""
        changes = self.totals.changes
        if isinstance(changes, RoundedBody):
            found = changes.body.widths() + changes.slack
        else:
            found = changes.widths()
        return frozen(grown(found[: self.coding.step.size]))

    @cached_property
    def extent_steps(self) -> Vector:
        """At least every |code|, shape (r,)."""
        most = np.asarray(grown(self.coding.extent))
        return frozen(grown(most / self.coding.step) + 1)


def round_totals(
    values: Mean,
    relation: CheckedRelation,
    chosen: Coordinates,
    step: Vector,
    multipliers: Vector | None,
) -> MeanTotals:
    """Return how the value of one round becomes integers: the totals of one record.

    Args:
        values: the columns of a round's value, their domain, center and stand-in.
        relation: what a neighbour is.
        chosen: which coordinates are summed, and how the others follow.
        step: the grid of each, powers of two, shape (r,).
        multipliers: coefficients that prove how far values reach, where an image of a unit
            body needs them; any are a proof, the right ones prove the least. Shape (k,), or None.
    """
    return MeanTotals(
        query=TotalsQuery(coding_for(values, chosen, step), drops_missing=False),
        relation=relation,
        size=None if relation.counted else 1,
        count_step=1.0 if relation.counted else None,
        coordinates=chosen,
        multipliers=multipliers,
    )


def steps_of(
    workload: AbstractStreamWorkload,
    extent: Vector,
    thin: Vector,
    wide: Vector,
    pair: AbstractPair | AbstractSums,
) -> Vector:
    """Return the grid of each coordinate, powers of two: fine beside the noise, with room for sums.

    Args:
        workload: W.
        extent: how far a record can be from the center, shape (r,).
        thin: the deviation of one source's noise when all other coordinates are known, shape (r,).
        wide: the same without, shape (r,).
        pair: B and C.

    Raises:
        PlanError: where 64 bits cannot hold the sums of so many rounds on a grid so fine.
    """
    moves = extent > 0
    mean = math.sqrt(pair.mean_variance)
    finest = np.floor(np.log2(np.where(moves, thin * min(1.0, mean), 1.0))) - _FINEST_BITS
    largest = extent * workload.longest + wide * math.sqrt(pair.largest_variance) * 16 * LARGEST
    room = np.ceil(np.log2(np.where(moves, grown(largest), 1.0))) - _TOTAL_BITS
    code = np.ceil(np.log2(np.where(moves, extent, 1.0))) - _CODE_BITS
    noise = np.ceil(np.log2(np.where(moves, wide, 1.0) * LARGEST)) - _FLOAT_BITS + 8
    exponent = np.maximum.reduce([finest, room, code, noise])
    short = moves & (exponent > finest + _FINEST_BITS - _FEWEST_BITS)
    # values are rounded to the grid, by half a step each: that must not show beside the noise
    short |= moves & (np.exp2(exponent) / 2 * workload.longest > _SHOWN * mean * wide)
    if np.any(short):
        raise PlanError(
            f"stream of {workload.rounds:,} rounds has sums too long for 64 bits beside its noise; "
            "ask for fewer rounds, a narrower domain, a smaller budget or another unit of the "
            "workload",
        )
    return np.asarray(np.exp2(np.where(moves, exponent, 0.0)))
