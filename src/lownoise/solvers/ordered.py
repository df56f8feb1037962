# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals with ordered attributes: one covariance a block.

The program of `newton` with F = Σ_A F(G_A(c), C_A(w)), one fidelity a block; value, stretches,
variances and curvature are sums over blocks (see `certificate.tables`). The answers of one block
enter at p = 2 only by G_A, which does not move: a triangle stands for them. Under `substitute` the
changes that bind are found a few at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.tables import OrderedDual, moments
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.questions.residuals import ChangeCosts, ordered_cost_up
from lownoise.questions.residuals.ordered import whitened
from lownoise.solvers.fidelity import Fidelity, fidelity
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress
from lownoise.solvers.newton import Problem, Step, bent_system, objective, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.residuals import Blocks

_FLOOR = 1e-7  # under each answer's weight where p is large: see `newton`
_MOST_DENSE = 3000  # variables of Newton's system
_MOST_STEPS = 120
_MOST_ROUNDS = 1000  # of the multiplicative rule, where there are more variables
_MOST_LISTS = 60  # of changes
_NEW_SHARE = 0.2  # of all weight, for changes that were just found
_LEAST_SHARE = 1e-4  # for one that is kept
_DROPPED = 1e-3  # of the mean weight: a change that is no longer listed
_INNER = 0.3  # of rtol, for the changes at hand
_ROUGH, _ROUGHEST = 0.05, 0.02  # of the gap on all changes, and at most
_MOST_WORK = 4e8  # changes, squared, times coordinates
_FULL = (
    "stopped: nearly every pair of ordered categories binds; the bounds hold, declare fewer "
    "categories or raise rtol"
)
_SHORT = "stopped with a gap; the bounds hold, declare fewer ordered categories or raise rtol"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedSolution:
    """Noise that nearly is the least, and the evidence.

    Args:
        factors: L_A of each block at μ = 1, lower triangles of shape (r, r).
        dual: the evidence for the lower bound.
        status: how the search ended.
        iterations: the number of steps.
    """

    factors: tuple[Vector, ...]
    dual: OrderedDual
    status: str
    iterations: int


@final
@dataclass(frozen=True, eq=False)
class _Asked:
    """The answers as one block sees them: rows of shape (n', r), their places among all answers."""

    rows: Vector
    places: Integers


@final
@dataclass(frozen=True, eq=False)
class _State:
    """F at one pair of weights: the sum over blocks."""

    parts: tuple[Fidelity, ...]
    mass: float
    program: _Program

    @property
    def value(self) -> float:
        return sum(part.value for part in self.parts)

    def stretches(self) -> Vector:
        k = self.program.count
        found: Vector = np.zeros(k)
        for part in self.parts:
            found += part.stretches().reshape(-1, k).sum(axis=0)
        return found

    def variances(self) -> Vector:
        found: Vector = np.zeros(self.program.problem.count)
        for asked, part in zip(self.program.asked, self.parts, strict=True):
            found[asked.places] += part.variances()
        return found


@final
@dataclass(frozen=True, eq=False)
class _Program:
    """The program on given changes; `changes` has shape (j·count, r) for each block."""

    problem: Problem
    asked: tuple[_Asked, ...]
    changes: tuple[Vector, ...]
    count: int

    def at(self, weights: Vector, query_weights: Vector) -> _State:
        parts = [
            fidelity(
                changes,
                np.tile(weights, len(changes) // self.count),
                asked.rows,
                query_weights[asked.places],
                moves=False,
            )
            for asked, changes in zip(self.asked, self.changes, strict=True)
        ]
        return _State(tuple(parts), float(np.sum(weights)), self)

    def system(
        self,
        state: _State,
        pull: Vector | None,
        gradient: Vector,
        extra: Vector,
        *,
        coarse: bool,
    ) -> Callable[[Vector], Vector]:
        """Return the function that solves one step."""
        k, n = self.count, 0 if pull is None else pull.size
        matrix = np.zeros((n + k, n + k))
        for asked, part in zip(self.asked, state.parts, strict=True):
            own = part.curvature(None if pull is None else pull[asked.places], coarse=coarse)
            own_n = 0 if pull is None else asked.places.size
            folds = (len(own) - own_n) // k
            crossed = own[:own_n, own_n:].reshape(own_n, folds, k).sum(axis=1)
            matrix[n:, n:] += own[own_n:, own_n:].reshape(folds, k, folds, k).sum(axis=(0, 2))
            if own_n:
                matrix[np.ix_(asked.places, asked.places)] += own[:own_n, :own_n]
                matrix[asked.places, n:] += crossed
                matrix[n:, asked.places] += crossed.T
        return bent_system(matrix, state.value, gradient, extra)


def solve_ordered(
    blocks: Blocks,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> OrderedSolution:
    """Return the least noise on the blocks at μ = 1.

    Args:
        blocks: what the marginals see.
        order: p in [2, ∞].
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.

    Raises:
        PlanError: under `substitute`, where there are too many patterns.
    """
    search = _Search(blocks, order, rtol, progress)
    try:
        status = search.run()
    except KeyboardInterrupt:
        if search.best is None:
            raise
        status = INTERRUPTED
    assert search.best is not None  # noqa: S101 (the first list always gives one)
    return OrderedSolution(
        factors=search.best, dual=search.dual, status=status, iterations=search.steps
    )


@final
class _Search:
    """The best of both sides so far, and the changes at hand."""

    def __init__(
        self,
        blocks: Blocks,
        order: float,
        rtol: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.blocks, self.order, self.rtol, self.progress = blocks, order, rtol, progress
        self.costs = ChangeCosts(blocks) if blocks.public else None
        plain, counts = blocks.plain, blocks.counts
        # Σ cells·(ω V)^{p/2} = Σ (ω·cells^{2/p}·V)^{p/2}: equal answers count as one
        power = 0.0 if math.isinf(order) else 2 / order
        self.scale = np.repeat(plain.weights * plain.cells**power, counts)
        self.starts = np.cumsum([0, *counts])
        if order > 2:  # noqa: PLR2004
            self.asked = self._all_answers()
            count = int(self.starts[-1])
        else:
            self.asked, count = self._triangles()
        self.problem = Problem(
            queries=np.ones(count), order=order, moves=False, floor=min(_FLOOR, _INNER * rtol)
        )
        self.lower, self.upper, self.steps, self.fine = 0.0, math.inf, 0, False
        self.patterns, self.pairs = self._first()
        self.weights = np.full(len(self.pairs), 1 / len(self.pairs))
        self.fixed = len(self.pairs)
        width = sum(block.length for block in blocks.blocks)
        self.most = max(2 * self.fixed, int(math.sqrt(_MOST_WORK / max(width, 1))))
        self.roots = np.full(count, 1 / max(count, 1))
        self.images: list[Vector] = []
        self.best: tuple[Vector, ...] | None = None
        self.dual: OrderedDual

    def _all_answers(self) -> tuple[_Asked, ...]:
        found = []
        for block, queries in zip(self.blocks.blocks, self.blocks.queries, strict=True):
            rows, places = [], []
            for row, entry in self.blocks.seen(block):
                part = slice(self.starts[row], self.starts[row + 1])
                scale = np.sqrt(entry * self.scale[part])
                rows.append(scale[:, None] * queries[self.blocks.spans[row]])
                places.append(np.arange(part.start, part.stop))
            found.append(_Asked(np.vstack(rows), np.concatenate(places)))
        return tuple(found)

    def _triangles(self) -> tuple[tuple[_Asked, ...], int]:
        found, start = [], 0
        for block, queries in zip(self.blocks.blocks, self.blocks.queries, strict=True):
            rows = []
            for span, own in queries.items():
                told = sum(
                    entry * self.scale[self.starts[row]]
                    for row, entry in self.blocks.seen(block)
                    if self.blocks.spans[row] == span
                )
                rows.append(math.sqrt(told) * own)
            triangle = triangle_of(np.vstack(rows))
            found.append(_Asked(triangle, np.arange(start, start + len(triangle))))
            start += len(triangle)
        return tuple(found), start

    def _first(self) -> tuple[Integers, Integers]:
        """Return changes to begin with: together they move every block in every direction."""
        K, kinds = self.blocks.categories, self.blocks.plain.members.size
        every = np.arange(K)
        if not self.blocks.public:
            return np.zeros((K, kinds), dtype=np.int64), np.stack([every, every], axis=1)
        chain = np.stack([every[:-1], every[1:]], axis=1)
        members = self.blocks.plain.members
        single = np.diag((members > 0).astype(np.int64))
        middle = np.full((kinds, 2), K // 2)
        patterns = np.vstack(
            [np.zeros((K - 1, kinds), dtype=np.int64), np.tile(members, (K, 1)), single]
        )
        pairs = np.vstack([chain, np.stack([every, every[::-1]], axis=1), middle])
        _, kept = np.unique(
            np.hstack([patterns, np.sort(pairs, axis=1)]), axis=0, return_index=True
        )
        return patterns[kept], pairs[kept]

    @property
    def gap(self) -> float:
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    def run(self) -> str:
        """Search until both sides meet; return how it ended."""
        if not self.blocks.blocks:  # the number of records alone, which is public
            self.best, self.dual = (), self._evidence()
            return SOLVED
        for _ in range(_MOST_LISTS):
            found = self._solve()
            if self.gap <= self.rtol or self.costs is None:
                return SOLVED if self.gap <= self.rtol else found
            if self._price():
                self.fine = False
            elif self.fine or len(self.pairs) >= self.most:
                return _FULL if len(self.pairs) >= self.most else STUCK
            else:
                self.fine = True
        return _SHORT

    def _price(self) -> bool:
        """Add the changes that cost most; return whether there were any."""
        assert self.costs is not None  # noqa: S101 (only under `substitute`)
        patterns, pairs, _ = self.costs.worst(self.images)
        known = set(map(tuple, np.hstack([self.patterns, self.pairs]).tolist()))
        known |= set(map(tuple, np.hstack([self.patterns, self.pairs[:, ::-1]]).tolist()))
        if len(self.pairs) >= self.most:
            return False
        rows = np.hstack([patterns, pairs])
        fresh = np.array([r for r in rows.tolist() if tuple(r) not in known], dtype=np.int64)
        if not len(fresh) or tuple(rows[0].tolist()) in known:
            return False
        kinds = self.patterns.shape[1]
        mean = float(np.mean(self.weights))
        # the first changes stay: they move every block in every direction
        kept = (self.weights > _DROPPED * mean) | (np.arange(self.weights.size) < self.fixed)
        self.weights = self.weights[kept]
        self.patterns = np.vstack([self.patterns[kept], fresh[:, :kinds]])
        self.pairs = np.vstack([self.pairs[kept], fresh[:, kinds:]])
        kept = np.maximum(self.weights, _LEAST_SHARE * mean) * (1 - _NEW_SHARE)
        share = _NEW_SHARE * float(np.sum(self.weights)) / len(fresh)
        self.weights = np.append(kept, np.full(len(fresh), share))
        return True

    def _solve(self) -> str:
        """Take steps on these changes until their own gap is small, and measure the noise."""
        changes = tuple(moments(self.blocks, self.patterns, self.pairs))
        program = _Program(self.problem, self.asked, changes, len(self.pairs))
        answers = 0 if self.order <= 2 else self.problem.count  # noqa: PLR2004
        small = answers + len(self.pairs) <= _MOST_DENSE
        most = _MOST_STEPS if small else _MOST_ROUNDS
        # while changes are missing, a list need not be solved to the end
        aim = _INNER * self.rtol
        if self.costs is not None and not self.fine:
            aim = max(aim, min(_ROUGH * self.gap, _ROUGHEST))
        status, step = STUCK, None
        try:
            for taken, now in enumerate(steps(program, self.weights, self.roots, dense=small)):
                step = now
                self._tell(step)
                if step.gap <= aim or taken >= most:
                    status = SOLVED if taken < most else _SHORT
                    break
        except np.linalg.LinAlgError:
            if step is None:
                raise
        except KeyboardInterrupt:
            self.progress = None  # it has had its say
            if step is not None:
                self._take(step)
            raise
        assert step is not None  # noqa: S101 (the first step always comes)
        self._take(step)
        return status

    def _tell(self, step: Step[_State]) -> None:
        self.steps += 1
        if self.progress is not None:
            self.progress(Progress(self.steps, self.lower, self.upper))

    def _take(self, step: Step[_State]) -> None:
        """Take in a step: its evidence as it is, its noise measured on all changes."""
        self.weights, self.roots, state, _ = step
        dual = self._evidence()
        lower = dual.least(self.blocks, self.order, np.sqrt(self.blocks.plain.weights))
        if lower > self.lower or self.best is None:
            self.lower, self.dual = lower, dual
        factors = [part.factor() for part in state.parts]
        self.images = [
            whitened(block.records, factor)[0]
            for block, factor in zip(self.blocks.blocks, factors, strict=True)
        ]
        cost = ordered_cost_up(self.blocks, factors)
        V = np.concatenate(self.blocks.variances(factors))
        upper = math.sqrt(cost) * objective(self.scale * V, self.order)
        if upper < self.upper or self.best is None:
            self.upper = upper
            self.best = tuple(frozen(math.sqrt(cost) * f) for f in factors)
        if self.progress is not None:
            self.progress(Progress(self.steps, self.lower, self.upper))

    def _evidence(self) -> OrderedDual:
        return OrderedDual(
            cells=self._cells(self.roots),
            patterns=self.patterns,
            pairs=self.pairs,
            chances=frozen(self.weights.copy()),
        )

    def _cells(self, roots: Vector) -> tuple[Vector, ...]:
        """Return the weight on each answer in one unordered cell."""
        counts = self.blocks.counts
        if self.order <= 2:  # noqa: PLR2004
            return tuple(np.ones(count) for count in counts)
        each = (roots / np.repeat(self.blocks.plain.cells, counts)) ** self.problem.exponent
        return tuple(frozen(part) for part in np.split(each, self.starts[1:-1]))
