# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals: one variance a residual orbit.

    minimise ‖ω V(σ²)‖_{p/2}  over variances that cost at most 1

is dual to maximising F(c, w) = Σ_A √(a_A(w)·b_A(c)) (see `certificate.tables`), which is the
fidelity program of `newton` with diagonal G and C. At p = 2 under `add_remove` nothing is left to
choose. Under `substitute` the patterns that bind are found a few at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.tables import ResidualDual
from lownoise.numbers.arrays import frozen
from lownoise.questions.residuals import PatternCosts, TableChanges
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress
from lownoise.solvers.newton import Problem, Step, bent_system, objective, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.residuals import Orbits

_FLOOR = 1e-7  # under each cell's weight where p is large: see `newton`
_MOST_DENSE = 2000  # variables of Newton's system
_MOST_STEPS = 120
_MOST_ROUNDS = 3000  # of the multiplicative rule, where there are more variables
_MOST_PATTERNS = 1000
_NEW_SHARE = 0.1  # of all weight, for patterns that were just found
_LEAST_SHARE = 1e-4  # for one that is kept
_INNER = 0.3  # of rtol, for the patterns at hand
_BOUNDED = (
    "stopped: no costlier change of a record was found, and the gap is that of the bound on those "
    "that were not looked at"
)
_PROBLEM = "stopped with a gap; the bounds hold, ask for fewer different marginals or raise rtol"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualSolution:
    """Variances that nearly are the least, and the evidence.

    Args:
        variances: σ² of each residual orbit at μ = 1, shape (r,); 0 where no noise is needed.
        dual: the evidence for the lower bound.
        status: how the search ended.
        iterations: the number of steps.
    """

    variances: Vector
    dual: ResidualDual
    status: str
    iterations: int


@final
@dataclass(frozen=True, eq=False)
class _State:
    """F = Σ √(a·b) at one pair of weights."""

    paid: Vector  # a, shape (r,)
    seen: Vector  # b, shape (r,)
    mass: float
    program: _Program

    @property
    def value(self) -> float:
        return float(np.sum(np.sqrt(self.paid * self.seen)))

    def stretches(self) -> Vector:
        found: Vector = self.program.costs @ np.sqrt(self.seen / self.paid)
        return found

    def variances(self) -> Vector:
        found: Vector = self.program.terms @ np.sqrt(self.paid / self.seen)
        return found


@final
@dataclass(frozen=True, eq=False)
class _Program:
    """The program on given patterns; `terms` is sparse, shape (g, r), `costs` has shape (k, r)."""

    problem: Problem
    terms: Any
    costs: Vector

    def at(self, weights: Vector, query_weights: Vector) -> _State:
        return _State(
            weights @ self.costs,
            self.terms.T @ query_weights,
            float(np.sum(weights)),
            self,
        )

    def system(
        self,
        state: _State,
        pull: Vector | None,
        gradient: Vector,
        extra: Vector,
        *,
        coarse: bool,
    ) -> Callable[[Vector], Vector]:
        """Solve with −2F″/F + ½·gradient·gradientᵀ + diag(extra), −2F″ = J·diag(½√(ab))·Jᵀ."""
        from scipy.sparse import csr_array, diags_array, vstack

        bend = 0.5 * np.sqrt(state.paid * state.seen)
        if pull is None:
            own = self.costs * (np.sqrt(bend) / state.paid)
            matrix = own @ own.T
        else:
            ahead = diags_array(pull**2) @ self.terms @ diags_array(1 / state.seen)
            slopes = vstack([ahead, csr_array(-self.costs / state.paid)], format="csr")
            matrix = (slopes @ diags_array(bend) @ slopes.T).toarray()
        return bent_system(np.ascontiguousarray(matrix), state.value, gradient, extra)


def solve_residual(
    orbits: Orbits,
    order: float,
    relation: str,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> ResidualSolution:
    """Return the least noise on the residual spaces at μ = 1.

    Args:
        orbits: the marginals.
        order: p in [2, ∞].
        relation: "substitute" or "add_remove".
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.
    """
    search = _Search(orbits, order, relation, rtol, progress)
    try:
        status = search.run()
    except KeyboardInterrupt:
        if search.best is None:
            raise
        status = INTERRUPTED
    assert search.best is not None  # noqa: S101 (the first step always gives one)
    return ResidualSolution(
        variances=search.best,
        dual=search.dual,
        status=status,
        iterations=search.steps,
    )


@final
class _Search:
    """The best of both sides so far, and the patterns at hand."""

    def __init__(
        self,
        orbits: Orbits,
        order: float,
        relation: str,
        rtol: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        from scipy.sparse import csr_array

        self.orbits, self.order, self.relation = orbits, order, relation
        self.changes = TableChanges(orbits, relation)
        self.rtol, self.progress = rtol, progress
        rows, columns, entries = orbits.variance_terms
        # Σ cells·(ω V)^{p/2} = Σ (ω·cells^{2/p}·V)^{p/2}: an orbit counts as one query
        power = 0.0 if math.isinf(order) else 2 / order
        self.scale = orbits.weights * orbits.cells**power
        shape = (len(orbits.asked), len(orbits.residuals))
        self.terms = csr_array((entries * self.scale[rows], (rows, columns)), shape=shape)
        self.moving = self.changes.costs(_first(orbits, relation)).max(axis=0) > 0
        self.problem = Problem(
            queries=np.ones(shape[0]), order=order, moves=False, floor=min(_FLOOR, _INNER * rtol)
        )
        self.lower, self.upper, self.steps = 0.0, math.inf, 0
        self.costs = PatternCosts(orbits)
        self.last, self.roots, self.weights = np.zeros(shape[1]), np.zeros(0), np.zeros(0)
        self.best: Vector | None = None
        self.dual = ResidualDual(
            cells=np.ones(shape[0]),
            patterns=_first(orbits, relation),
            chances=np.ones(len(_first(orbits, relation))),
        )

    def run(self) -> str:
        """Search until both sides meet; return how it ended."""
        if not np.any(self.moving):  # the number of records alone, which is public
            self.best = np.zeros(self.moving.size)
            return SOLVED
        patterns = _first(self.orbits, self.relation)
        weights = np.full(len(patterns), 1 / len(patterns))
        self.roots = np.full(self.problem.count, 1 / self.problem.count)
        while True:
            found = self._solve(patterns, weights, self.roots)
            if self.gap <= self.rtol or self.relation == "add_remove":
                return SOLVED if self.gap <= self.rtol else found
            rates = np.where(self.moving, 1 / np.where(self.moving, self.last, 1.0), 0.0)
            worst = self.costs.costly(rates)
            known = {tuple(p) for p in patterns.tolist()}
            fresh = np.array([p for p in worst.tolist() if tuple(p) not in known])
            if len(patterns) >= _MOST_PATTERNS or not len(fresh) or tuple(worst[0]) in known:
                return found if found != SOLVED else _BOUNDED
            patterns = np.vstack([patterns, fresh])
            kept = np.maximum(self.weights, _LEAST_SHARE) * (1 - _NEW_SHARE)
            weights = np.append(kept, np.full(len(fresh), _NEW_SHARE / len(fresh)))

    @property
    def gap(self) -> float:
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    def _solve(self, patterns: Integers, weights: Vector, roots: Vector) -> str:
        """Take steps on these patterns until their own gap is small."""
        costs = self.changes.costs(patterns)[:, self.moving]
        program = _Program(self.problem, self.terms[:, np.flatnonzero(self.moving)], costs)
        variables = len(patterns) + (self.problem.count if self.problem.exponent else 0)
        small = variables <= _MOST_DENSE
        most = _MOST_STEPS if small else _MOST_ROUNDS
        status = STUCK
        try:
            for taken, step in enumerate(steps(program, weights, roots, dense=small)):
                solved = step.gap <= _INNER * self.rtol
                # all patterns are looked at where that is quick, and else only at the end
                if solved or taken >= most:
                    status = SOLVED if solved else _PROBLEM
                    break
                self._take(patterns, step, whole=self.relation == "add_remove")
                if self.gap <= self.rtol:
                    return SOLVED
        except np.linalg.LinAlgError:
            pass
        except KeyboardInterrupt:
            self.progress = None  # it has had its say
            self._take(patterns, step, whole=True)
            raise
        self._take(patterns, step, whole=True)
        return status

    def _take(self, patterns: Integers, step: Step[_State], *, whole: bool) -> None:
        """Take one step in; where `whole`, its variances are measured on all patterns."""
        weights, roots, state, _ = step
        self.steps += 1
        dual = ResidualDual(
            cells=frozen((roots / self.orbits.cells) ** self.problem.exponent),
            patterns=patterns,
            chances=frozen(weights.copy()),
        )
        lower = dual.least(self.changes, self.order, np.sqrt(self.orbits.weights))
        if lower > self.lower:
            self.lower, self.dual = lower, dual
        if whole:
            self.roots, self.weights = roots, weights
            self.last = variances = np.zeros(self.moving.size)
            variances[self.moving] = np.sqrt(state.paid / state.seen)
            cost = self.changes.cost_up(variances)
            error = objective(self.scale * self.orbits.cell_variances(variances), self.order)
            if math.sqrt(cost) * error < self.upper or self.best is None:
                self.upper, self.best = math.sqrt(cost) * error, frozen(cost * variances)
        if self.progress is not None:
            self.progress(Progress(self.steps, self.lower, self.upper))


def _first(orbits: Orbits, relation: str) -> Integers:
    """Return patterns to begin with: all attributes differ, and one of each type alone."""
    if relation == "add_remove":
        return np.zeros((1, orbits.members.size), dtype=np.int64)
    return np.vstack([orbits.members, np.eye(orbits.members.size, dtype=np.int64)])
