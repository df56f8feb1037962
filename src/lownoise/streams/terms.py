# SPDX-License-Identifier: Apache-2.0
"""What a stream promises before its first round: the noise, how good it is, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds import may_have_room, unbiased_add_remove, unbiased_change, unbiased_substitute
from lownoise.bounds.streams import spread_down, trace_norm_down
from lownoise.certificate import Certificate, unit_of
from lownoise.errors import PlanError, told
from lownoise.numbers.rounding import square_up
from lownoise.privacy import ApproxDP, gaussian_parameter
from lownoise.release.guarantees import cost_of
from lownoise.release.readable import Readable
from lownoise.sensitivity.relations import Change
from lownoise.sets.bodies import SymmetricPoints

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.questions import Mean
    from lownoise.questions.streams import AbstractStreamWorkload
    from lownoise.release.guarantees import Cost
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.streams.mechanism import StreamMechanism

_TINY = 2.0**-50
ERRORS = ("mean", "max")
_BLOCK = 1 << 16


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StreamTerms(Readable):
    """The terms of a stream.

    Args:
        workload: W.
        question: the columns of a round's value, their domain, center and stand-in.
        chosen: which coordinates are summed, and how the others follow.
        budget: the most that the whole stream may reveal.
        error: "mean" or "max": what is made small over the rounds.
        strategy: the factorization's name.
        reason: why it was chosen, one sentence.
        dual: evidence on the columns of W's first `block` rounds.
        block: of how many rounds the evidence speaks.
        body: all changes of one round's value, in its unit.
        body_dual: evidence that no noise of one round's value is much smaller.
        halved: whether that evidence is for K − K, at most twice the body.
        mechanism: the final integers and the final noise.
    """

    workload: AbstractStreamWorkload
    question: Mean
    chosen: Coordinates
    budget: Budget
    error: str
    strategy: str
    reason: str
    dual: AbstractDual | None
    block: int
    body: AbstractBody
    body_dual: AbstractDual
    halved: bool
    mechanism: StreamMechanism

    def __post_init__(self) -> None:
        if not isinstance(self.error, str) or self.error not in ERRORS:
            raise PlanError(f'error={told(self.error)} is unknown; give "mean" or "max"')

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        return self.mechanism.relation

    @cached_property
    def parameter(self) -> float:
        """The greatest μ that the budget allows the stream."""
        return gaussian_parameter(self.budget)

    @cached_property
    def cost(self) -> Cost:
        """What the whole stream reveals, from the final noise, rounded up."""
        return cost_of(self.mechanism.event, self.budget)

    def deviations(self, first: int, count: int) -> Vector:
        """Return the standard deviation of all answers of some rounds, shape (count, d)."""
        pair = self.mechanism.pair.variances(first, count)
        through, side = self._spread
        return np.asarray(np.sqrt(pair[:, None] * through + side))

    @cached_property
    def error_reached(self) -> float:
        """√(mean or largest over rounds of the total variance of an answer)."""
        pair = self.mechanism.pair
        worst = pair.mean_variance if self.error == "mean" else pair.largest_variance
        through, side = self._spread
        return math.sqrt(float(np.sum(worst * through + side)))

    @cached_property
    def _spread(self) -> tuple[Vector, Vector]:
        """The variance of each answer for a row of B of length 1, and what hides rounding, (d,)."""
        mechanism = self.mechanism
        step, cover = mechanism.coding.step, mechanism.cover_variances
        if self.chosen.embed is None:
            return mechanism.shape.diagonal() * step**2, cover * step**2
        own = self.chosen.embed * step
        columns = [own @ mechanism.shape.apply(e) for e in np.eye(step.size)]
        return np.square(np.stack(columns, axis=1)).sum(axis=1), np.square(own) @ cover

    @cached_property
    def factor_norm(self) -> float:
        """At most the least error of any factorization of W, for a change of 1 and μ = 1."""
        n, m = self.workload.rounds, self.block
        found = 0.0
        if self.dual is not None:
            order = 2.0 if self.error == "mean" else math.inf
            W = self.workload.leading(m)
            gamma = self.dual.least(SymmetricPoints(W.T.copy()), order, np.ones(m))
            found = gamma if self.error == "max" else gamma * math.sqrt(spread_down(m, n))
        return max(found, trace_norm_down(self.workload)) * (1 - _TINY)

    @cached_property
    def _body_norm(self) -> float:
        """At most Γ_2 of one round's changes."""
        embed = self.chosen.embed
        d = self.question.domain.dimension
        found = self.body_dual.least(self.body, 2.0, np.ones(d), embed)
        return found * (0.5 if self.halved else 1.0) * (1 - _TINY)

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the least error of any factorization mechanism within the budget."""
        lower = self.factor_norm * self._body_norm / self.parameter
        upper = self.error_reached * (1 + _TINY)
        return Certificate(lower * (1 - _TINY), upper, unit=self.unit)

    @property
    def unit(self) -> str:
        """Whose unit errors and bounds are in, in words: a stream has no weights."""
        return unit_of("the answers", np.ones(1))

    @cached_property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's error is below: the 002 bounds for all rounds together.

        Under `substitute` on every stream; under `add_remove` on the stream of zeros; where a
        neighbour changes a round by a point of a body, on streams whose rounds all have room for
        every change, and 0 where there can be none.
        """
        gamma = self.factor_norm * self._body_norm
        rho = square_up(self.parameter) / 2
        if isinstance(self.relation, Change):
            fits = may_have_room(self.question.domain, self.relation)
            return unbiased_change(gamma, rho) if fits else 0.0
        if self.relation == "substitute":
            return unbiased_substitute(gamma, 1, rho)
        return unbiased_add_remove(gamma, rho)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promises rest on, one sentence each."""
        n = self.workload.rounds
        if self.relation == "add_remove":
            unit = "the value of one round becomes 0"
        elif isinstance(self.relation, Change):
            unit = (
                "the value of one round, once moved into its domain, changes by a point of a given "
                "body or its opposite"
            )
        else:
            unit = "the value of one round becomes any other of its domain"
        said = [
            f"A neighbouring stream is one in which {unit}; one person adds to one round only.",
            f"There are at most {n:,} rounds, and how many there have been is public.",
            *self.question.domain.assumptions,
            "Values may be chosen as earlier answers suggest.",
            (
                "The state holds the noise: keep it as secret as the records, and never go on "
                "from one state twice."
            ),
        ]
        if isinstance(self.budget, ApproxDP):
            said.append(
                "The lower bound binds unbiased mechanisms that are zCDP at the same rho.",
            )
        return tuple(said)
