# SPDX-License-Identifier: Apache-2.0
"""What terms say of a stream: how far its answers stray, and what no other noise is below."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import unit_of
from lownoise.errors import PlanError, StreamError, quoted
from lownoise.numbers.arguments import checked_level, is_integer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown
from lownoise.release.lower_bounds import least_with_room
from lownoise.release.views import AbstractView
from lownoise.sensitivity.participation import ONE
from lownoise.sensitivity.relations import Change, sensitivity_set
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import Box, Points, Polytope
from lownoise.streams.evidence import unlike_signs

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean
    from lownoise.questions.streams import Running  # noqa: F401 (in quotes, below)
    from lownoise.sensitivity.relations import CheckedRelation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.streams.evidence import StreamEvidence
    from lownoise.streams.rounds import AbstractStreamMechanism

_TINY = 2.0**-50
ORDERS = {"mean": 2.0, "max": math.inf}  # of an error, by its word
_MOST_SHOWN = 1 << 24  # deviations


@final
class StreamView(AbstractView["Running"]):
    """Answers round by round."""

    @property
    def mechanism(self) -> AbstractStreamMechanism:
        """The final integers and the final noise."""
        mechanism: AbstractStreamMechanism = self._terms.mechanism
        return mechanism

    @property
    def names(self) -> tuple[str, ...]:
        """What the numbers of every round's answer are."""
        return self.question.columns

    def unit(self, *, plain: bool = False) -> str:
        """Return "the answers": a stream has no weights."""
        return unit_of("the answers", np.ones(1))

    @property
    def note(self) -> str:
        """What the ledger says of the stream."""
        workload, participation = self.question.workload, self.mechanism.participation
        found = f"stream: {workload.kind} of {workload.rounds:,} rounds"
        return found if participation == ONE else f"{found}, one person in {participation.phrase}"

    @property
    def measure(self) -> str:
        """What is made small over the rounds: "mean" or "max".

        Raises:
            PlanError: where the order is of neither.
        """
        found = [word for word, order in ORDERS.items() if order == self._terms.order]
        if not found:
            raise PlanError(f"order={quoted(self._terms.order)} is of no error of a stream; give 2")
        return found[0]

    def deviations(self, first: int = 0, count: int | None = None) -> Vector:
        """Return the standard deviation of all answers of some rounds, shape (count, d).

        Args:
            first: the first of them, from 0.
            count: how many; by default all that are left.
        """
        shown = self.question.workload.rounds - first if count is None else count
        return self.mechanism.deviations(first, shown)

    def total_variances(self, first: int, count: int) -> Vector:
        """Return the sum over coordinates of the variance of some answers, shape (count,).

        Args:
            first: the first of them, from 0.
            count: how many.
        """
        through, side = self.mechanism.answer_variances
        pair = self.mechanism.pair.variances(first, count)
        return np.asarray(pair * float(np.sum(through)) + float(np.sum(side)))

    def standard_deviation(self, t: int) -> float | Vector:
        """Return the standard deviation of answer t, from 1: a number, or shape (d,).

        Raises:
            StreamError: where there is no such round.
        """
        rounds = self.question.workload.rounds
        if not is_integer(t) or not 1 <= t <= rounds:
            raise StreamError(f"t={quoted(t)} is no round of the stream; give 1 to {rounds}")
        own = self.deviations(int(t) - 1, 1)[0]
        return float(own[0]) if own.size == 1 else frozen(own)

    def standard_deviations(self, first: int = 1, count: int | None = None) -> Vector:
        """Return the standard deviation of some answers, from round `first`: shape (count, d).

        Raises:
            StreamError: where there are no such rounds.
        """
        return frozen(self.deviations(*self._rounds(first, count)))

    def ranges(
        self,
        first: int = 1,
        count: int | None = None,
        *,
        level: float = 0.95,
        together: int | None = None,
    ) -> Vector:
        """Return how far exact answers are from some published ones, shape (count, d).

        Args:
            first: the first of the rounds, from 1.
            count: how many; by default all that are left of them.
            level: the chance of each alone.
            together: of how many rounds, from the first of the stream, that is the chance of all.

        Raises:
            PlanError: where `level` is not between 0 and 1.
            StreamError: where there are no such rounds, or some are not among those together.
        """
        level, mechanism = checked_level(level), self.mechanism
        rounds = self.question.workload.rounds
        if together is not None and not (is_integer(together) and 1 <= together <= rounds):
            raise StreamError(
                f"together={quoted(together)} is no number of rounds of the stream; "
                f"give 1 to {rounds}"
            )
        start, shown = self._rounds(first, count, together)
        if together is None:
            own = mechanism.apart(level, start, shown)
        else:
            own = mechanism.joint(level, together) * mechanism.deviations(start, shown)
        return frozen(own + mechanism.off)

    def _rounds(self, first: int, count: int | None, last: int | None = None) -> tuple[int, int]:
        """Return the first of some rounds, from 0, and how many they are.

        Raises:
            StreamError: where there are no such rounds.
        """
        rounds = self.question.workload.rounds if last is None else last
        whole = is_integer(first) and (count is None or is_integer(count))
        shown = rounds - first + 1 if whole and count is None else count
        if not whole or shown is None or not 1 <= first <= first + shown - 1 <= rounds:
            raise StreamError(
                f"first={quoted(first)} and count={quoted(count)} are no rounds of the stream"
                f"{'' if last is None else ' that hold together'}; give rounds from 1 to {rounds}",
            )
        if shown > _MOST_SHOWN:
            raise StreamError(f"count={shown:,} is too many at once; give at most {_MOST_SHOWN:,}")
        return int(first) - 1, int(shown)

    @property
    def covariance(self) -> Any:  # noqa: ANN401 (there is none)
        """Refuse: rounds share their noise, and no matrix of it is formed.

        Raises:
            PlanError: always.
        """
        raise PlanError("a stream's answers have no covariance here; ask standard_deviation(t)")

    def check_drawn(self) -> None:
        """Refuse: answers come round by round.

        Raises:
            PlanError: always.
        """
        raise PlanError("a stream's answers come round by round; ask standard_deviation(t)")

    def half_widths(self, level: float) -> Vector:
        """Refuse: each round has its own.

        Raises:
            PlanError: as said.
        """
        raise PlanError(
            "intervals of a stream differ from round to round; ask for its error, or for the "
            "half_widths of its rounds"
        )

    def widest(self, level: float) -> float:
        """Return the greatest half width of an interval that holds an exact number, over rounds.

        With pure noise from draws, in the rounds of the greatest deviations; where these would be
        too many, what all noise that is log-concave keeps to.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return self.mechanism.widest(checked_level(level))

    @cached_property
    def mean_error(self) -> float:
        """E‖error‖₂ of an answer, its mean over the rounds or the largest.

        Raises:
            PlanError: where the rounds are too many to be looked at or drawn.
        """
        if self.question.workload.rounds > _MOST_SHOWN:
            raise PlanError("rounds are too many to compute at once; use standard_deviation(t)")
        lengths = self.mechanism.mean_lengths()
        return float(np.mean(lengths) if self.measure == "mean" else np.max(lengths))

    @property
    def weighted(self) -> tuple[Vector, None]:
        """The deviation of the error that is made small, alone."""
        return np.array([self.error]), None

    @cached_property
    def error(self) -> float:
        """√(mean or largest over rounds of the total variance of an answer)."""
        pair = self.mechanism.pair
        worst = pair.mean_variance if self.measure == "mean" else pair.largest_variance
        through, side = self.mechanism.answer_variances
        return math.sqrt(float(np.sum(worst * through + side)))

    @property
    def upper(self) -> float:
        """At least the error, which is the root of a sum over all rounds."""
        return grown(self.error)

    @cached_property
    def factor_norm(self) -> float:
        """At most the least error of any factorization of W, for a change of 1 and μ = 1."""
        evidence: StreamEvidence = self._terms.evidence
        return evidence.factor_norm(
            self.question.workload,
            self.mechanism.participation,
            self._terms.order,
            signed=unlike_signs(self.question.domain, self.mechanism.relation),
        )

    @cached_property
    def body(self) -> AbstractBody:
        """All changes of one round's value, or K − K, which is twice as much at most."""
        return self._changes[0]

    @cached_property
    def _changes(self) -> tuple[AbstractBody, bool]:
        totals = self.mechanism.totals
        return round_changes(self.question.values, totals.coordinates, self.mechanism.relation)

    @property
    def matters(self) -> Vector:
        """One for each number of a round."""
        return np.ones(self.question.domain.dimension)

    @cached_property
    def least(self) -> float:
        """At most the least error of any factorization mechanism at μ = 1: of W, and a round's."""
        embed = self.mechanism.totals.coordinates.embed
        own: float = self._terms.evidence.changes.least(self.body, 2.0, self.matters, embed)
        return self.factor_norm * (own * (0.5 if self._changes[1] else 1.0) * (1 - _TINY))

    @property
    def binding_least(self) -> float:
        """As `least`; 0 where no round has room for every change.

        Bounds are of all rounds together: under `substitute` on every stream; under `add_remove` on
        the stream of zeros; where a neighbour changes a round by a point of a body, on streams
        whose rounds all have room for every change. Where one person adds to several rounds, each
        needs room for a change and for its opposite.
        """
        several = self.mechanism.participation != ONE
        return least_with_room(self._terms, self.question.domain, self.least, several=several)

    @property
    def most(self) -> float:
        """0: a round changes once, so that no change can be made again and again."""
        return 0.0

    @property
    def where(self) -> str:
        """On which streams bounds hold, in words."""
        if isinstance(self.mechanism.relation, Change):
            return "a stream whose rounds all have room in the domain for every change"
        return "the stream of zeros" if self.mechanism.relation.counted else "any stream"

    @property
    def dimension(self) -> float:
        """How many answers there are in all rounds."""
        return float(self.question.workload.rounds * self.question.domain.dimension)

    @property
    def derived(self) -> dict[str, Any]:
        """The deviations of a few rounds."""
        rounds = shown_rounds(self.question.workload.rounds)
        shown = [self.deviations(t - 1, 1)[0].tolist() for t in rounds]
        return {"rounds": rounds, "standard_deviation": shown}

    @property
    def program(self) -> AbstractDomain | None:
        """The domain that a file of the terms only names, None where it holds all of it."""
        return self.question.domain if self.question.domain.oracles else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every stream rests on, one sentence each."""
        relation, participation = self.mechanism.relation, self.mechanism.participation
        value = (
            "the value of one round"
            if participation.count == 1
            else "the value of each round that one person adds to"
        )
        if relation.counted:
            unit = f"{value} becomes 0"
        elif isinstance(relation, Change):
            unit = (
                f"{value}, once moved into its domain, changes by a point of a given body or its "
                "opposite"
            )
        else:
            unit = f"{value} becomes any other of its domain"
        rounds, said = self.question.workload.rounds, participation.phrase
        return (
            f"A neighbouring stream is one in which {unit}; one person adds to {said}.",
            f"There are at most {rounds:,} rounds, and how many there have been is public.",
            *self.question.domain.assumptions,
            "Values may be chosen as earlier answers suggest.",
            (
                "The state holds the noise: keep it as secret as the records, and never go on "
                "from one state twice."
            ),
        )


def shown_rounds(rounds: int) -> list[int]:
    """Return the rounds whose deviations are shown: 1, 2, 4, … and the last.

    Examples:
        >>> shown_rounds(10)
        [1, 2, 4, 8, 10]
    """
    powers = [1 << k for k in range(rounds.bit_length())]
    return powers if powers[-1] == rounds else [*powers, rounds]


def spanned(domain: AbstractDomain, relation: CheckedRelation) -> AbstractDomain:
    """Return a domain that spans the flat which values keep to, with 0 where a round becomes 0.

    Args:
        domain: the values of a round.
        relation: what a neighbour is.
    """
    if relation.counted and isinstance(domain, Points):
        # the span of all points with 0, not the flat through them
        return Points(np.vstack([np.zeros(domain.dimension), domain.points]))
    return domain


def round_changes(
    values: Mean, chosen: Coordinates, relation: CheckedRelation
) -> tuple[AbstractBody, bool]:
    """Return the changes of one round, and whether twice them is meant: K − K for ±K.

    Args:
        values: the columns of a round's value, their domain, center and stand-in.
        chosen: which coordinates are summed.
        relation: what a neighbour is.
    """
    domain, kept = values.domain, chosen.pivots
    if not relation.counted:
        return sensitivity_set(domain, relation, values.center, chosen), False
    if isinstance(domain, Box):
        return domain.translates(kept, np.zeros(domain.dimension)), False
    if isinstance(domain, (Points, Polytope)):
        return SymmetricPoints(frozen(np.ascontiguousarray(domain.points[:, kept]))), False
    return sensitivity_set(domain, "substitute", values.center, chosen), True
