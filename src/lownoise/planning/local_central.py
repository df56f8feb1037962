# SPDX-License-Identifier: Apache-2.0
"""What the same people would get from a trusted curator, or from a trusted shuffler; no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError
from lownoise.numbers.readable import readable
from lownoise.planning.request import checked_size
from lownoise.planning.verb import plan
from lownoise.privacy import approx_dp, pure_dp
from lownoise.privacy.shuffling import epsilon_up, local_epsilon_down
from lownoise.questions import Marginals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.local_budget import LocalDP
    from lownoise.questions import Mean

_DELTA = 1e-6


@final
@readable
@dataclass(frozen=True, kw_only=True)
class CentralEquivalent:
    """Local privacy beside a curator who is trusted with records, and one who only mixes reports.

    Args:
        size: the number n of people.
        local_error: the error of the answer from their reports, of whom nobody is trusted.
        central_error: the error where a curator sees all records and one of them may change, at
            the same budget; its mechanism is in `central_mechanism`.
        central_mechanism: the best that a plan would take, or "laplace" for marginals under ε.
        people_for_equal_error: of how many people a curator's answer errs no more than n reports.
        shuffled_delta: δ of the two that follow.
        shuffled_epsilon: ε of all reports in random order, without their senders; None where a
            report itself leaves a δ out.
        shuffled_local_epsilon: what ε₀ each report may have where such shuffling is trusted, for
            all of them to be within the budget's ε (and that δ); None likewise.
    """

    size: int
    local_error: float
    central_error: float
    central_mechanism: str
    people_for_equal_error: int
    shuffled_delta: float
    shuffled_epsilon: float | None
    shuffled_local_epsilon: float | None


def central_equivalent(
    question: Mean | Marginals,
    budget: LocalDP,
    order: float,
    size: int,
    local_error_one: float,
    *,
    weights: Vector | None = None,
    delta: float = _DELTA,
) -> CentralEquivalent:
    """Return what n people's reports compare with; see `CentralEquivalent`.

    Errors are ‖ω·(standard deviations)‖_p of means, and of marginals of shares, as a local plan
    states its own.

    Args:
        question: what the local plan answers.
        budget: of one report.
        order: p in [2, ∞].
        size: n ≥ 1.
        local_error_one: the error of one report; of n people it is that over √n.
        weights: ω of a mean's answers; a question of marginals has its own.
        delta: δ of what is shuffled.

    Raises:
        PlanError: where the size is none, or the marginals are along ordered attributes.
        BudgetError: where delta is out of range.
        DomainError: where no noise is known for the domain.

    Examples:
        >>> import lownoise as ln
        >>> from lownoise.privacy.local_budget import local_dp
        >>> found = central_equivalent(ln.Mean(["x"], ln.Box([-1], [1])), local_dp(1.0), 2.0,
        ...                            10_000, 1 / math.tanh(0.5))
        >>> round(found.local_error, 4), round(found.central_error, 4), found.central_mechanism
        (0.0216, 0.0003, 'staircase')
        >>> found.people_for_equal_error, round(found.shuffled_epsilon, 3)
        (129, 0.053)
    """
    people = checked_size(size, "substitute") or 1
    local_error = local_error_one / math.sqrt(people)
    central_error, mechanism = _central(question, budget, order, people, weights)
    shuffled = shuffled_local = None
    if not budget.delta:
        shuffled = epsilon_up(budget.epsilon, people, delta)
        shuffled_local = local_epsilon_down(budget.epsilon, people, delta)
    # a curator's noise is over n, so that n·error is the same for any number of people
    equal = max(math.ceil(central_error * people / local_error * (1 - 2.0**-40)), 1)
    return CentralEquivalent(
        size=people,
        local_error=local_error,
        central_error=central_error,
        central_mechanism=mechanism,
        people_for_equal_error=equal,
        shuffled_delta=delta,
        shuffled_epsilon=shuffled,
        shuffled_local_epsilon=shuffled_local,
    )


def _central(
    question: Mean | Marginals, budget: LocalDP, order: float, size: int, weights: Vector | None
) -> tuple[float, str]:
    """Return a curator's error on n people, and by which mechanism."""
    allowed = approx_dp(budget.epsilon, budget.delta) if budget.delta else pure_dp(budget.epsilon)
    unit = 1
    if isinstance(question, Marginals):
        unit, weights = size, None
        if question.drops:
            raise PlanError(
                'outside="drop" of ln.Marginals would change the public size; name what stands in '
                "for other values, as outside={name: category}"
            )
        if not budget.delta:
            return _laplace_shares(question, budget.epsilon, order) / size, "laplace"
    made = plan(
        question, budget=allowed, relation="substitute", size=size, order=order, weights=weights
    )
    return made.terms.objective / unit, made.mechanism


def _laplace_shares(question: Marginals, epsilon: float, order: float) -> float:
    """Return n times the error of shares under Laplace noise on the cells of every marginal.

    A record is in one cell of each, and changing it moves two by 1: T marginals beside the public
    number of rows are moved by 2T together, and every cell has deviation √2·2T/ε.
    """
    if question.ordered:
        raise PlanError(
            "question is along ordered attributes, of which no pure central noise is known; "
            "compare without ordered"
        )
    sets = [own for own in question.sets() if own]
    cells = [math.prod(question.attributes[i].size for i in own) for own in sets]
    ways = [len(own) for own in question.sets()]
    each = question.weights if question.way is None else question.weights[ways]
    matter = [w for w, way in zip(each, ways, strict=True) if way]
    deviation = math.sqrt(2) * 2 * len(sets) / epsilon
    return deviation * order_norm(np.sqrt(np.array(matter)), order, np.array(cells))
