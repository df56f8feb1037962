# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals: one variance a residual orbit.

    minimise ‖ω V(σ²)‖_{p/2}  over variances that cost at most 1

is dual to maximising F(c, w) = Σ_A √(a_A(w)·b_A(c)) (see `certificate.tables`), which is the
fidelity program of `newton` with diagonal G and C. At p = 2 under `add_remove` nothing is left to
choose. Under `substitute` the patterns that bind are found a few at a time.

The least noise for parities: one variance a degree.

Where one pattern of changes binds or the largest error counts, in closed form; else the convex
program in log variances, with a logarithmic barrier whose multipliers are the evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.tables import ParityDual, ResidualDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm
from lownoise.sensitivity.residuals import PatternCosts, TableChanges
from lownoise.sensitivity.residuals.cost import ParityChanges, parity_cost_up
from lownoise.solvers.newton import Linear, Problem, Step, bent_system, objective, steps
from lownoise.solvers.solution import SOLVED, STUCK, Fitted, Sides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.solvers.solution import Progress

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
_STEPS = 50  # of Newton, for one barrier
_GROWTH = 10.0  # of the barrier's weight
_ROUNDS = 18
_NEAR = 1e-10  # Newton's decrement, squared, at which the next barrier begins
_NOISE = 1e-12  # of the value: what floats cannot tell from a decrease


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

    def system(self, state: _State, linear: Linear) -> Callable[[Vector], Vector]:
        """Solve with −2F″/F + ½·gradient·gradientᵀ + diag(extra), −2F″ = J·diag(½√(ab))·Jᵀ."""
        from scipy.sparse import csr_array, diags_array, vstack

        bend = 0.5 * np.sqrt(state.paid * state.seen)
        if linear.pull is None:
            own = self.costs * (np.sqrt(bend) / state.paid)
            matrix = own @ own.T
        else:
            ahead = diags_array(linear.pull**2) @ self.terms @ diags_array(1 / state.seen)
            slopes = vstack([ahead, csr_array(-self.costs / state.paid)], format="csr")
            matrix = (slopes @ diags_array(bend) @ slopes.T).toarray()
        return bent_system(np.ascontiguousarray(matrix), state.value, linear)


def solve_residual(
    orbits: Orbits,
    order: float,
    relation: str,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
    *,
    exchanged: bool = False,
) -> Fitted[Vector, ResidualDual]:
    """Return the least noise on the residual spaces at μ = 1.

    The noise is σ² of each residual orbit, shape (r,); 0 where none is needed.

    Args:
        orbits: the marginals.
        order: p in [2, ∞].
        relation: "substitute" or "add_remove".
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.
        exchanged: whether one record becomes another, too, where they come and go.
    """
    sides: Sides[Vector, ResidualDual] = Sides(rtol, progress)
    changes = TableChanges(orbits, relation, exchanged)
    return sides.searched(_Search(changes, order, sides).run)


@final
class _Search:
    """The patterns at hand, on which both sides are looked for."""

    def __init__(
        self, changes: TableChanges, order: float, sides: Sides[Vector, ResidualDual]
    ) -> None:
        from scipy.sparse import csr_array

        self.changes, self.orbits, self.order = changes, changes.orbits, order
        orbits = self.orbits
        self.sides = sides
        rows, columns, entries = orbits.variance_terms
        # Σ cells·(ω V)^{p/2} = Σ (ω·cells^{2/p}·V)^{p/2}: an orbit counts as one query
        power = 0.0 if math.isinf(order) else 2 / order
        self.scale = orbits.weights * orbits.cells**power
        shape = (len(orbits.asked), len(orbits.residuals))
        self.terms = csr_array((entries * self.scale[rows], (rows, columns)), shape=shape)
        self.moving = self.changes.costs(_first(self.changes)).max(axis=0) > 0
        self.problem = Problem(
            queries=np.ones(shape[0]),
            order=order,
            moves=False,
            floor=min(_FLOOR, _INNER * sides.rtol),
        )
        self.costs = PatternCosts(orbits)
        self.last, self.roots, self.weights = np.zeros(shape[1]), np.zeros(0), np.zeros(0)

    def run(self) -> str:
        """Search until both sides meet; return how it ended."""
        if not np.any(self.moving):  # the number of records alone, which is public
            first = _first(self.changes)
            dual = ResidualDual(
                cells=np.ones(self.problem.count), patterns=first, chances=np.ones(len(first))
            )
            self.sides.prove(0.0, dual)
            self.sides.cover(0.0, np.zeros(self.moving.size))
            return SOLVED
        patterns = _first(self.changes)
        weights = np.full(len(patterns), 1 / len(patterns))
        self.roots = np.full(self.problem.count, 1 / self.problem.count)
        while True:
            found = self._solve(patterns, weights, self.roots)
            if self.sides.met or self.changes.counted:
                return SOLVED if self.sides.met else found
            rates = np.where(self.moving, 1 / np.where(self.moving, self.last, 1.0), 0.0)
            worst = self.costs.costly(rates)
            known = {tuple(p) for p in patterns.tolist()}
            fresh = np.array([p for p in worst.tolist() if tuple(p) not in known])
            if len(patterns) >= _MOST_PATTERNS or not len(fresh) or tuple(worst[0]) in known:
                return found if found != SOLVED else _BOUNDED
            patterns = np.vstack([patterns, fresh])
            kept = np.maximum(self.weights, _LEAST_SHARE) * (1 - _NEW_SHARE)
            weights = np.append(kept, np.full(len(fresh), _NEW_SHARE / len(fresh)))

    def _solve(self, patterns: Integers, weights: Vector, roots: Vector) -> str:
        """Take steps on these patterns until their own gap is small."""
        costs = self.changes.costs(patterns)[:, self.moving]
        program = _Program(self.problem, self.terms[:, np.flatnonzero(self.moving)], costs)
        variables = len(patterns) + (self.problem.count if self.problem.exponent else 0)
        small = variables <= _MOST_DENSE
        ended = self.sides.walk(
            steps(program, weights, roots, dense=small),
            aim=_INNER * self.sides.rtol,
            most=_MOST_STEPS if small else _MOST_ROUNDS,
            each=lambda step: self._met(patterns, step),
            last=lambda step: self._take(patterns, step, complete=True),
        )
        return _PROBLEM if ended is None else ended

    def _met(self, patterns: Integers, step: Step[_State]) -> bool:
        """Take one step in; all patterns are looked at where that is quick, else at the end."""
        self._take(patterns, step, complete=self.changes.counted)
        return self.sides.met

    def _take(self, patterns: Integers, step: Step[_State], *, complete: bool) -> None:
        """Take one step in; where `complete`, its variances are measured on all patterns."""
        weights, roots, state, _ = step
        self.sides.steps += 1
        dual = ResidualDual(
            cells=frozen((roots / self.orbits.cells) ** self.problem.exponent),
            patterns=patterns,
            chances=frozen(weights.copy()),
        )
        self.sides.prove(dual.least(self.changes, self.order, np.sqrt(self.orbits.weights)), dual)
        if complete:
            self.roots, self.weights = roots, weights
            self.last = variances = np.zeros(self.moving.size)
            variances[self.moving] = np.sqrt(state.paid / state.seen)
            cost = self.changes.cost_up(variances)
            error = objective(self.scale * self.orbits.cell_variances(variances), self.order)
            self.sides.cover(math.sqrt(cost) * error, frozen(cost * variances))
        self.sides.tell()


def _first(changes: TableChanges) -> Integers:
    """Return patterns to begin with: all attributes differ, and one of each type alone.

    Where a record comes or goes, none of them does.
    """
    members = changes.orbits.members
    none = np.zeros((1, members.size), dtype=np.int64)
    if changes.counted:
        return none
    found = np.vstack([members, np.eye(members.size, dtype=np.int64)])
    return np.vstack([none, found]) if changes.exchanged else found


def solve_parity(
    costs: Vector,
    counts: Vector,
    weights: Vector,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> Fitted[Vector, ParityDual]:
    """Return the least noise on parities at μ = 1: τ² of each degree; 0 where none is needed.

    Args:
        costs: as `residuals.parity_costs`, shape (n, k).
        counts: the number of parities of each degree, shape (k,).
        weights: ω of each degree, on variances, shape (k,).
        order: p in [2, ∞].
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.

    Examples:
        >>> found = solve_parity(np.array([[3.0]]), np.array([3.0]), np.ones(1), 2.0, 1e-9)
        >>> round(float(found.noise[0]), 9)  # m parities need the variance m each
        3.0
    """
    sides: Sides[Vector, ParityDual] = Sides(rtol, progress)
    return sides.searched(lambda: _search(costs, counts, weights, order, sides))


def _search(
    costs: Vector, counts: Vector, weights: Vector, order: float, sides: Sides[Vector, ParityDual]
) -> str:
    """Look at candidates until both sides meet; return how it ended."""
    moving = np.any(costs > 0, axis=0)
    if not np.any(moving):  # the number of records alone, which is public
        none = frozen(np.zeros(counts.size))
        sides.prove(0.0, ParityDual(degrees=none, patterns=frozen(np.ones(len(costs)))))
        sides.cover(0.0, none)
        return SOLVED
    A, n, omega = costs[:, moving], counts[moving], weights[moving]
    for rates, patterns in _candidates(A, n, omega, order):
        own = np.zeros(counts.size)
        own[moving] = 1 / rates
        own *= parity_cost_up(costs, own)
        sides.cover(order_norm(np.sqrt(weights * own), order, counts), frozen(own))
        # where p is large its shares are powers that floats blur: those of the maximum are near
        for p in (order, math.inf):
            share = np.zeros(counts.size)
            share[moving] = _share(A, n, omega, p, own[moving], patterns)
            dual = ParityDual(degrees=frozen(share), patterns=frozen(patterns))
            changes = ParityChanges(costs, counts)
            sides.prove(dual.least(changes, order, np.sqrt(weights)), dual)
        sides.steps += 1
        sides.tell()
        if sides.met:
            return SOLVED
    return STUCK


def _candidates(
    A: Vector, n: Vector, omega: Vector, order: float
) -> Iterator[tuple[Vector, Vector]]:
    """Yield rates 1/τ² and weights on patterns, better and better."""
    even = omega / float(np.max(A @ omega))
    worst = np.zeros(len(A))
    worst[int(np.argmax(A @ even))] = 1.0
    yield even, worst
    if math.isinf(order) or even.size == 1:
        return  # all weighted variances are equal
    s = order / 2
    # in logarithms: ω^s is beyond all floats where p is large
    single = np.exp((np.log(n) + s * np.log(omega) - np.log(A.max(axis=0))) / (s + 1))
    if len(A) == 1:
        yield single / float(A[0] @ single), np.ones(1)
        return
    yield from _barrier(A, n, omega, s, even, single)


def _share(
    A: Vector, n: Vector, omega: Vector, order: float, variances: Vector, patterns: Vector
) -> Vector:
    """Return the weights on degrees that go best with these variances."""
    if math.isinf(order):
        # all weighted variances are equal: c says which degrees pay
        return np.asarray((patterns @ A) * omega / n)
    part = omega * variances
    return np.asarray((part / np.max(part)) ** (order / 2 - 1))


def _barrier(
    A: Vector, n: Vector, omega: Vector, s: float, start: Vector, single: Vector
) -> Iterator[tuple[Vector, Vector]]:
    """Minimise t·log Σ n(ω/u)^s − Σ log(1 − A·u) in log u for rising t: convex, in any unit."""
    v = np.log(min(single / float(np.max(A @ single)), start, key=lambda u: _size(u, n, omega, s)))
    v -= math.log(2.0)

    def value(v: Vector, t: float) -> float:
        with np.errstate(all="ignore"):  # a step too far has no slack, or no rate left
            slack = 1 - A @ np.exp(v)
            if not (np.all(slack > 0) and np.all(np.exp(v) > 0)):
                return math.inf
            return t * _size(np.exp(v), n, omega, s) - float(np.sum(np.log(slack)))

    t = 1.0
    for _ in range(_ROUNDS):
        for _ in range(_STEPS):
            u = np.exp(v)
            share = np.exp(np.log(n) + s * np.log(omega / u) - _size(u, n, omega, s))
            push = A * u / (1 - A @ u)[:, None]
            gradient = push.sum(axis=0) - t * s * share
            bend = np.diag(share) - np.outer(share, share)
            hessian = push.T @ push + np.diag(push.sum(axis=0)) + t * s * s * bend
            move = np.linalg.solve(hessian, -gradient)
            decrement, now, length = float(-gradient @ move), value(v, t), 1.0
            while value(v + length * move, t) > now - 0.1 * length * decrement + _NOISE * abs(now):
                length /= 2
            v = v + length * move
            if decrement < _NEAR:
                break
        u = np.exp(v)
        yield u, 1 / (1 - A @ u)
        t *= _GROWTH


def _size(u: Vector, n: Vector, omega: Vector, s: float) -> float:
    """Return log Σ n(ω/u)^s."""
    parts = np.log(n) + s * np.log(omega / u)
    largest = float(np.max(parts))
    return largest + math.log(float(np.sum(np.exp(parts - largest))))
