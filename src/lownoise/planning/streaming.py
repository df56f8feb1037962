# SPDX-License-Identifier: Apache-2.0
"""A workload and a budget become a running stream; no data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.arrays import frozen
from lownoise.coordinates import Coordinates, coordinates
from lownoise.domains import AbstractClampedDomain, Box, CubePower, Points
from lownoise.entropy import SystemEntropy
from lownoise.errors import DomainError, PlanError
from lownoise.factorization import best_factors
from lownoise.mechanisms.gaussian import coding_for
from lownoise.neighbours import RELATIONS
from lownoise.planning.strategies import STRATEGIES, Choice, choose
from lownoise.privacy import gaussian_parameter
from lownoise.shapes import DenseShape
from lownoise.solvers import solve
from lownoise.streams import ERRORS, StreamTerms, start, steps_of, stream_mechanism
from lownoise.streams.bodies import round_changes, spanned
from lownoise.workloads import AbstractStreamWorkload, LowerTriangular, Mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.certificate import AbstractDual
    from lownoise.neighbours import Word
    from lownoise.privacy import Budget, Ledger
    from lownoise.shapes import AbstractShape
    from lownoise.solvers import Progress, Solution
    from lownoise.streams import Stream

_BLOCK = 256  # rounds of evidence, where the strategy is not the optimum
_MOST_EVIDENCE = 1024


def stream(
    workload: AbstractStreamWorkload | ArrayLike,
    *,
    budget: Budget,
    strategy: str = "auto",
    error: str = "mean",
    domain: AbstractClampedDomain | Box | CubePower | Points | None = None,
    relation: Word = "add_remove",
    memory: int | None = None,
    ledger: Ledger | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Stream:
    """Start a stream of private answers, one after every round.

    Args:
        workload: `ln.Prefix(n)`, `ln.SlidingWindow(n, width)`, `ln.Decayed(n, rate)`, or a
            lower-triangular matrix of shape (n, n).
        budget: what all rounds together may reveal: `ln.zcdp(rho)`, `ln.approx_dp(epsilon, delta)`
            or `ln.gaussian_dp(mu)`.
        strategy: how noise is shared between rounds; "auto" chooses by n and says why in `reason`.
        error: "mean", the mean of an answer's variance over the rounds, or "max", the largest: what
            is made small.
        domain: the values of a round, by default `ln.Box([0], [1])`.
        relation: "add_remove": in a neighbouring stream one round's value becomes 0, which the
            domain must hold. "substitute": it becomes any other value of the domain.
        memory: how many numbers of noise a strategy remembers: the buffers of "rational", the band
            of "banded"; by default what is needed to be near the best.
        ledger: the account that pays, once and for all rounds.
        progress: called with a `Progress` while a strategy is solved for.

    Raises:
        PlanError, QuestionError, BudgetError: where an argument is out of range, or a strategy does
            not fit the workload.
        DomainError: where the domain does not hold 0 under "add_remove".
        LedgerError: where the account cannot pay; then nothing has started.

    Examples:
        >>> import lownoise as ln
        >>> counts = ln.stream(ln.Prefix(16), budget=ln.zcdp(0.5))
        >>> counts.strategy, round(counts.error ** 2, 5), counts.certificate.gap < 1e-6
        ('optimal', 2.9436, True)
    """
    asked = workload if isinstance(workload, AbstractStreamWorkload) else LowerTriangular(workload)
    if error not in ERRORS:
        raise PlanError(f'error={error!r} is unknown; give "mean" or "max"')
    if relation not in RELATIONS:
        raise PlanError(f'relation={relation!r} is unknown; give "add_remove" or "substitute"')
    choice = Choice(error=error, memory=memory, progress=progress)
    name, reason = _chosen(asked, strategy, choice)
    question, chosen = _question(Box([0.0], [1.0]) if domain is None else domain, relation)
    parameter = gaussian_parameter(budget)
    body, halved = round_changes(question, chosen, relation)
    space = solve(body, order=2.0, weights=np.ones(question.domain.dimension), queries=chosen.embed)
    made = STRATEGIES[name].make(asked, choice)
    pair = made.pair
    evidence, block = (made.dual, asked.rounds) if made.dual else _evidence(asked, error)
    # one round's noise, about as wide as it must be: rescaled to what the final integers need
    shape = _whole(space).scaled(pair.column_up / parameter)
    thin, wide = shape.spread()
    extent = np.maximum(
        np.abs(question.domain.upper - question.center),
        np.abs(question.domain.lower - question.center),
    )[chosen.pivots]
    step = steps_of(asked, extent, thin, wide, pair)
    coding = coding_for(question, chosen, frozen(step))
    terms = StreamTerms(
        workload=asked,
        question=question,
        chosen=chosen,
        budget=budget,
        error=error,
        strategy=name,
        reason=reason,
        dual=evidence,
        block=block,
        body=body,
        body_dual=space.claim.dual,
        halved=halved,
        mechanism=stream_mechanism(
            asked, coding, relation, pair, shape.scaled(1 / step), parameter
        ),
    )
    return start(terms, entropy=SystemEntropy())


def _chosen(workload: AbstractStreamWorkload, strategy: str, choice: Choice) -> tuple[str, str]:
    if strategy == "auto":
        return choose(workload, choice.error)
    if strategy not in STRATEGIES:
        raise PlanError(f"strategy={strategy!r} is unknown; give auto, {', '.join(STRATEGIES)}")
    why = STRATEGIES[strategy].refuses(workload)
    if why:
        raise PlanError(f'strategy="{strategy}" {why}; use another, or "auto"')
    return strategy, "it was asked for"


def _question(domain: object, relation: Word) -> tuple[Mean, Coordinates]:
    """Return the columns of one round, coded about 0 where 0 is what a round becomes."""
    if not isinstance(domain, (AbstractClampedDomain, Box, CubePower, Points)):
        raise DomainError(f"domain={type(domain).__name__} is no domain of values; use ln.Box")
    d = domain.dimension
    names = [f"x{i + 1}" for i in range(d)]
    nearest = domain.clamp(np.zeros(d))
    if relation == "substitute":
        return Mean(names, domain, missing=nearest), coordinates(domain)
    if np.any(domain.lower > 0) or np.any(domain.upper < 0) or not domain.contains(np.zeros(d)):
        raise DomainError(
            'domain does not hold 0, which a round\'s value becomes under relation="add_remove"; '
            'give one that does, or relation="substitute"',
        )
    question = Mean(names, domain, center=np.zeros(d), missing=nearest)
    return question, coordinates(spanned(domain, relation))


def _evidence(workload: AbstractStreamWorkload, error: str) -> tuple[AbstractDual | None, int]:
    """Return weights on columns that prove what no factorization beats, and for how many rounds."""
    n = min(workload.rounds, _BLOCK) if workload.toeplitz else workload.rounds
    if n > _MOST_EVIDENCE:
        return None, n
    return best_factors(workload.leading(n), error)[2], n


def _whole(space: Solution) -> AbstractShape:
    """Return the shape in all summed coordinates."""
    claim = space.claim
    if claim.frame is None or claim.frame.exact or not isinstance(claim.shape, DenseShape):
        return claim.shape
    return DenseShape(claim.frame.up() @ claim.shape.factor)
