# SPDX-License-Identifier: Apache-2.0
"""A workload and a budget become a running stream; no data are read."""

from __future__ import annotations

import math
import os
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import (
    DomainError,
    PlanError,
    QuestionError,
    path_of,
    quoted,
)
from lownoise.noise.gaussian import thickened
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen
from lownoise.planning.comparing import compared
from lownoise.planning.pure_streams import PURE_STRATEGIES, pure_streams
from lownoise.planning.strategies import STRATEGIES, Choice, choose
from lownoise.planning.stream_plan import StreamPlan, StreamRequest
from lownoise.privacy import ApproxDP, PureDP, checked_ledger
from lownoise.questions import AbstractStreamWorkload, LowerTriangular, Mean
from lownoise.questions.streams import Running
from lownoise.release.comparison import GAUSSIAN
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.sensitivity.relations import Change, checked_relation
from lownoise.sets.domains import Box, Image
from lownoise.solvers import solve
from lownoise.streams import (
    MECHANISMS,
    OF_ANY,
    ORDERS,
    StreamEvidence,
    round_totals,
    steps_of,
    stream_mechanism,
    unlike_signs,
)
from lownoise.streams.view import round_changes, spanned
from lownoise.theory.factorization import best_factors, best_pattern_factors

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, Payer
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.participation import Pattern
    from lownoise.sensitivity.relations import CheckedRelation, Relation
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.solvers import Progress, Solution
    from lownoise.streams import Stream

_ROUGH = 2.0**-5  # the gap at which evidence for many patterns will do: it is proved sooner
_BLOCK = 256  # rounds of evidence, where the strategy is not the optimum
_MOST_EVIDENCE = 1024
_MOST_ROOM = 512  # rounds of a block that holds a whole pattern
_MOST_KEPT = 1 << 26
STREAM_USES = "the rounds of a stream share its budget already: leave uses out"


def stream(  # noqa: PLR0913 (all but the first by name)
    workload: AbstractStreamWorkload | ArrayLike,
    *,
    budget: Budget,
    strategy: str = "auto",
    error: str = "mean",
    domain: AbstractDomain | None = None,
    relation: Relation | AbstractDomain = "add_remove",
    memory: int | None = None,
    participations: int = 1,
    separation: int = 1,
    pattern: Pattern | None = None,
    mechanism: str | None = None,
    ledger: Payer | None = None,
    path: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    uses: None = None,
) -> Stream:
    """Start a stream of private estimates, one after every round.

    Args:
        workload: `ln.Prefix(n)`, `ln.SlidingWindow(n, width)`, `ln.Decayed(n, rate)`,
            `ln.Momentum(n, rate)`, or a lower-triangular matrix of shape (n, n).
        budget: the budget of all rounds together: `ln.zcdp(rho)`, `ln.approx_dp(epsilon, delta)`,
            `ln.gaussian_dp(mu)` or `ln.pure_dp(epsilon)`.
        strategy: how the rounds share noise. "auto" chooses one; `reason` states why.
        error: what is minimised over the rounds: "mean", the mean variance of an answer, or "max",
            the largest.
        domain: the possible values of a round, by default `ln.Box([0], [1])`. Values outside are
            clipped.
        relation: "add_remove": in a neighbouring stream one round's value becomes 0, which the
            domain must contain. "substitute": it becomes any other value of the domain. Or a domain
            of the changes that one person can make to a round's value, such as `ln.Box([-1], [1])`
            for a count of people. A value may then be a sum over many people.
        memory: how many numbers of noise a strategy stores: the buffers of "rational", the band
            of "banded". The default is nearly optimal.
        participations: k, the most rounds that one person contributes to. A neighbouring stream
            differs in all of them.
        separation: b, the distance between these rounds.
        pattern: "spaced", exactly b rounds apart; "separated", at least b; "any", any k rounds. By
            default "any" if b is 1, else "separated".
        mechanism: the noise: "gaussian", "laplace" or "k_norm"; for values in `ln.Points`
            "geometric", which is integer noise; for values of one number "staircase". By default
            all but "staircase" that the budget allows are compared, and the one with the least
            error is used.
        ledger: the account that pays, once for all rounds.
        path: the file of the stream, with its noise. Every batch is on disk before its answers are
            returned. If the file exists and holds the same stream, that stream continues; nothing
            is charged or drawn again.
        progress: called with a `Progress` while a strategy is optimised.
        uses: not for streams, whose rounds share the budget already.

    Raises:
        PlanError, QuestionError, BudgetError: if an argument is out of range, or a strategy does
            not fit the workload.
        DomainError: if the domain does not contain 0 under "add_remove".
        LedgerError: if the account cannot pay, or did not pay for the stream in the file; then
            nothing has started.
        FileError: if the file is not a stream or is damaged, holds another stream, or cannot be
            written; then nothing is spent.

    Examples:
        >>> import lownoise as ln
        >>> counts = ln.stream(ln.Prefix(16), budget=ln.zcdp(0.5))
        >>> counts.strategy, round(counts.error ** 2, 5), counts.certificate.gap < 1e-6
        ('optimal', 2.85408, True)
        >>> visits = ln.stream(
        ...     ln.Prefix(16), budget=ln.zcdp(0.5), participations=2, separation=8
        ... )
        >>> visits.terms.view.assumptions[0].split("; ")[1]
        'one person adds to at most 2 rounds, any two at least 8 apart.'
    """
    if isinstance(workload, (Number, str, bytes)):
        raise QuestionError(
            f"workload={quoted(workload)} is no workload; give ln.Prefix(n) for n rounds"
        )
    if uses is not None:
        raise PlanError(f"uses={quoted(uses)} is for ln.plan; {STREAM_USES}")
    asked = workload if isinstance(workload, AbstractStreamWorkload) else LowerTriangular(workload)
    request = StreamRequest(
        workload=asked,
        budget=budget,
        strategy=strategy,
        error=error,
        domain=Box([0.0], [1.0]) if domain is None else domain,
        relation=checked_relation(relation),
        memory=memory,
        participation=Participation.asked(participations, separation, pattern),
        mechanism=mechanism,
    )
    return begun(request, ledger, path, progress)


def begun(
    request: StreamRequest,
    ledger: Payer | None = None,
    path: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Stream:
    """Return the stream that is asked for: started, or where its file exists, gone on with.

    Args:
        request: what is asked for.
        ledger: as `stream`'s.
        path: as `stream`'s.
        progress: called with a `Progress` while a strategy is solved for.

    Raises:
        LownoiseError: as `stream`.
    """
    path = None if path is None else path_of(path)
    ledger = checked_ledger(ledger)
    if path is not None and os.path.lexists(path):
        return request.resume(path, ledger)
    return plan_stream(request, progress).start(ledger, path)


def plan_stream(
    request: StreamRequest, progress: Callable[[Progress], None] | None = None
) -> StreamPlan:
    """Return what a stream will be; nothing has started.

    Args:
        request: what is asked for.
        progress: called with a `Progress` while a strategy is solved for.

    Raises:
        PlanError, QuestionError, DomainError: as `stream`.
    """
    choice = Choice(
        error=request.error,
        memory=request.memory,
        progress=progress,
        participation=request.participation,
    )
    question, chosen = _question(request.domain, request.relation)
    if isinstance(request.budget, PureDP):
        if request.mechanism == GAUSSIAN:
            raise PlanError(
                f"mechanism='gaussian' is not pure, and budget={request.budget} is; leave it out"
            )
        return compared(_pure(request, question, chosen), request)
    if isinstance(request.budget, ApproxDP):
        return compared(_every(request, question, chosen, choice), request)
    if request.mechanism not in (None, GAUSSIAN):
        raise PlanError(
            f"mechanism={quoted(request.mechanism)} is pure, and budget={request.budget} is not; "
            "give ln.pure_dp(epsilon), or leave the mechanism out"
        )
    return _gaussian(request, question, chosen, choice)


def _every(
    request: StreamRequest, question: Mean, chosen: Coordinates, choice: Choice
) -> dict[str, Callable[[], StreamPlan]]:
    """Return what makes a plan with each noise of an (ε, δ), by the mechanism's name.

    A strategy that only one kind of noise has is asked of that kind alone.

    Raises:
        PlanError: where an argument fits none.
    """
    asked = request.strategy
    found: dict[str, Callable[[], StreamPlan]] = {}
    known = ("auto", *dict.fromkeys((*STRATEGIES, *PURE_STRATEGIES)))
    if not isinstance(asked, str) or asked not in known:
        raise PlanError(f"strategy={quoted(asked)} is unknown; give {', '.join(known)}")
    if asked == "auto" or asked in STRATEGIES:
        found[GAUSSIAN] = partial(_gaussian, request, question, chosen, choice)
    if (asked == "auto" or asked in PURE_STRATEGIES) and request.memory is None:
        try:
            return found | _pure(request, question, chosen)
        except PlanError as error:
            if not found or request.mechanism in MECHANISMS:
                raise
            reason = str(error)  # Gaussian noise is left, and the comparison says why it is alone

        def refuse() -> StreamPlan:
            raise PlanError(reason)

        return found | dict.fromkeys(OF_ANY, refuse)
    return found


def _gaussian(
    request: StreamRequest, question: Mean, chosen: Coordinates, choice: Choice
) -> StreamPlan:
    asked, neighbour, error = request.workload, request.relation, request.error
    participation = request.participation
    name, reason = _chosen(asked, request.strategy, choice)
    parameter = request.budget.gaussian_parameter()
    if isinstance(neighbour, Change):
        neighbour.check(question.domain, chosen)
    body, _ = round_changes(question, chosen, neighbour)
    space = solve(body, order=2.0, weights=np.ones(question.domain.dimension), queries=chosen.embed)
    made = STRATEGIES[name].make(asked, choice)
    pair = made.pair
    signed = unlike_signs(question.domain, neighbour)
    evidence = StreamEvidence(space.claim.dual, made.dual, asked.rounds, made.patterns)
    if made.dual is None or not (signed or participation == ONE):
        evidence = _evidence(asked, choice, space.claim.dual, signed=signed)
    # one round's noise, about as wide as it must be: rescaled to what the final integers need
    shape, multipliers = _about_zero(space, question, chosen, neighbour)
    shape = shape.scaled(pair.sensitivity_up(participation) / parameter)
    extent = np.maximum(
        np.abs(question.domain.upper - question.center),
        np.abs(question.domain.lower - question.center),
    )[chosen.pivots]
    if isinstance(neighbour, Change):
        shape = thickened(shape, extent, 1, parameter)
    thin, wide = shape.conditional_scales()
    step = steps_of(asked, extent, thin, wide, pair)
    totals = round_totals(question, neighbour, chosen, frozen(step), multipliers)
    terms = Terms(
        question=Running(asked, question),
        budget=request.budget,
        order=ORDERS[error],
        mechanism=stream_mechanism(
            totals,
            pair,
            shape.scaled(1 / step),
            parameter,
            strategy=name,
            reason=reason,
            participation=participation,
        ),
        evidence=evidence,
    )
    return StreamPlan(terms, request)


def _pure(
    request: StreamRequest, question: Mean, chosen: Coordinates
) -> dict[str, Callable[[], StreamPlan]]:
    neighbour = request.relation
    if isinstance(neighbour, Change):
        neighbour.check(question.domain, chosen)
    body, _ = round_changes(question, chosen, neighbour)
    space = solve(body, order=2.0, weights=np.ones(question.domain.dimension), queries=chosen.embed)
    # beyond few rounds what no factorization beats is known in closed form, or not at all
    dual, rounds = space.claim.dual, request.workload.rounds
    evidence = StreamEvidence(dual, None, rounds)
    if rounds <= _BLOCK and request.participation == ONE:
        signed = unlike_signs(question.domain, neighbour)
        evidence = _evidence(request.workload, Choice(error=request.error), dual, signed=signed)
    return pure_streams(request, question, chosen, body, evidence)


def _chosen(workload: AbstractStreamWorkload, strategy: str, choice: Choice) -> tuple[str, str]:
    if not isinstance(strategy, str) or strategy not in ("auto", *STRATEGIES):
        raise PlanError(
            f"strategy={quoted(strategy)} is unknown; give auto, {', '.join(STRATEGIES)}"
        )
    memory = choice.memory
    if memory is not None and strategy not in ("rational", "banded"):
        raise PlanError(
            f'memory={quoted(memory)} is for strategy="rational" or "banded"; leave it out'
        )
    if memory is not None and not is_integer(memory):
        raise PlanError(f"memory={quoted(memory)} is no whole number; give one of at least 1")
    name, reason = strategy, "it was asked for"
    if strategy == "auto":
        name, reason = choose(workload, choice.error, choice.participation)
    why = STRATEGIES[name].refuses(workload)
    if why:
        raise PlanError(f'strategy="{name}" {why}; use another, or "auto"')
    if STRATEGIES[name].keeps and workload.rounds > _MOST_KEPT:
        raise PlanError(
            f'strategy="{name}" keeps noise for each of {workload.rounds:,} rounds, and goes to '
            f'{_MOST_KEPT:,}; ask for fewer, or where it will do for strategy="rational"',
        )
    return name, reason


def _question(domain: AbstractDomain, relation: CheckedRelation) -> tuple[Mean, Coordinates]:
    """Return the columns of one round, coded about 0 where 0 is what a round becomes."""
    d = domain.dimension
    if np.array_equal(domain.lower, domain.upper):
        raise DomainError(
            "domain has one point, so that every answer is known beforehand; give one with more"
        )
    names = [f"x{i + 1}" for i in range(d)]
    nearest = domain.clamp(np.zeros(d))
    if not relation.counted:
        return Mean(names, domain, missing=nearest), domain.coordinates()
    if np.any(domain.lower > 0) or np.any(domain.upper < 0) or not domain.contains(np.zeros(d)):
        raise DomainError(
            'domain does not hold 0, which a round\'s value becomes under relation="add_remove"; '
            'give one that does, or relation="substitute"',
        )
    question = Mean(names, domain, center=np.zeros(d), missing=nearest)
    return question, spanned(domain, relation).coordinates()


def _evidence(
    workload: AbstractStreamWorkload, choice: Choice, changes: AbstractDual, *, signed: bool
) -> StreamEvidence:
    """Return weights on columns, or patterns, of the first rounds: what no factorization beats."""
    n, person = workload.rounds, choice.participation
    if workload.toeplitz:
        # a block that has no room for a pattern proves less
        n = min(n, max(_BLOCK, person.span if person.span <= _MOST_ROOM else 0))
    if n > _MOST_EVIDENCE:
        return StreamEvidence(changes, None, n)
    W = workload.leading(n)
    if person == ONE:
        return StreamEvidence(changes, best_factors(W, choice.error)[2], n)
    own = best_pattern_factors(W, choice.error, person, signed=signed, rtol=_ROUGH)[2]
    return StreamEvidence(changes, own.dual, n, own.patterns)


def _about_zero(
    space: Solution, question: Mean, chosen: Coordinates, relation: CheckedRelation
) -> tuple[AbstractShape, Vector | None]:
    """Return a shape of one round's noise, and coefficients that prove what it covers, or None.

    For an image K = c + F·B that is not about 0, ±K lies in the sum of F·B and the segment ±c. With
    F·B in the ellipsoid of M, that is in the one of (1 + t)M + (1 + 1/t)ccᵀ, whose trace is least
    at t = |c|/√tr M; for a ball no ellipsoid around ±K has less.
    """
    shape, domain = space.full_shape, question.domain
    if not relation.counted or not isinstance(domain, Image):
        about = isinstance(domain, Box) and relation.counted  # it was fitted to ±K
        return shape, space.claim.body.multipliers if about else None
    center = domain.center[chosen.pivots]
    size = math.sqrt(float(np.sum(shape.diagonal()))) / 2  # it covers K − K
    if not size or not np.any(center):
        return shape, None
    t = float(np.linalg.norm(center)) / size
    covered = (1 + t) / 4 * shape.dense() + (1 + 1 / t) * np.outer(center, center)
    try:
        factor = np.linalg.cholesky(covered)
    except np.linalg.LinAlgError:  # a coordinate that never moves
        return shape, None
    own = space.claim.body.multipliers
    weights = np.ones(domain.base.dimension) if own is None else own
    weights = weights / domain.base.energy_up(weights)
    return DenseShape(factor), frozen(np.append(weights / (1 + t), t / (1 + t)))
