# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals with ordered attributes: one covariance a block.

The program of `newton` with F = Σ_A F(G_A(c), C_A(w)), one fidelity a block; value, stretches,
variances and curvature are sums over blocks (see `certificate.tables`). The answers of one block
enter at p = 2 only by G_A, which does not move: a triangle stands for them. Where records become
others the changes that bind are found a few at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.tables import OrderedDual, moments
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sensitivity.residuals import ChangeCosts
from lownoise.sensitivity.residuals.ordered import whitened
from lownoise.solvers.fidelity import Fidelity, fidelity
from lownoise.solvers.newton import Linear, Problem, Step, bent_system, objective, steps
from lownoise.solvers.solution import SOLVED, STUCK, Fitted, Sides

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals import Blocks
    from lownoise.solvers.solution import Progress

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
_MOST_WORK = 9e8  # changes, squared, times coordinates
_FULL = (
    "stopped: nearly every pair of ordered categories binds; the bounds hold, declare fewer "
    "categories or raise rtol"
)
_SHORT = "stopped with a gap; the bounds hold, declare fewer ordered categories or raise rtol"


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

    def system(self, state: _State, linear: Linear) -> Callable[[Vector], Vector]:
        """Return the function that solves one step."""
        pull = linear.pull
        k, n = self.count, 0 if pull is None else pull.size
        matrix = np.zeros((n + k, n + k))
        for asked, part in zip(self.asked, state.parts, strict=True):
            own = part.curvature(None if pull is None else pull[asked.places], coarse=linear.coarse)
            own_n = 0 if pull is None else asked.places.size
            folds = (len(own) - own_n) // k
            crossed = own[:own_n, own_n:].reshape(own_n, folds, k).sum(axis=1)
            matrix[n:, n:] += own[own_n:, own_n:].reshape(folds, k, folds, k).sum(axis=(0, 2))
            if own_n:
                matrix[np.ix_(asked.places, asked.places)] += own[:own_n, :own_n]
                matrix[asked.places, n:] += crossed
                matrix[n:, asked.places] += crossed.T
        return bent_system(matrix, state.value, linear)


def solve_ordered(
    blocks: Blocks,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> Fitted[tuple[Vector, ...], OrderedDual]:
    """Return the least noise on the blocks at μ = 1.

    The noise is L_A of each block, lower triangles of shape (r, r).

    Args:
        blocks: what the marginals see.
        order: p in [2, ∞].
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.

    Raises:
        PlanError: under `substitute`, where there are too many patterns.
    """
    sides: Sides[tuple[Vector, ...], OrderedDual] = Sides(rtol, progress)
    return sides.searched(_Search(blocks, order, sides).run)


@final
class _Search:
    """The changes at hand, on which both sides are looked for."""

    def __init__(
        self, blocks: Blocks, order: float, sides: Sides[tuple[Vector, ...], OrderedDual]
    ) -> None:
        self.blocks, self.order, self.sides, self.fine = blocks, order, sides, False
        self.costs = ChangeCosts(blocks) if blocks.public or blocks.becoming else None
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
            queries=np.ones(count), order=order, moves=False, floor=min(_FLOOR, _INNER * sides.rtol)
        )
        self.patterns, self.pairs = self._first()
        self.weights = np.full(len(self.pairs), 1 / len(self.pairs))
        self.fixed = len(self.pairs)
        width = sum(block.length for block in blocks.blocks)
        self.most = max(2 * self.fixed, int(math.sqrt(_MOST_WORK / max(width, 1))))
        self.roots = np.full(count, 1 / max(count, 1))
        self.images: list[Vector] = []

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
                answer_share = sum(
                    entry * self.scale[self.starts[row]]
                    for row, entry in self.blocks.seen(block)
                    if self.blocks.spans[row] == span
                )
                rows.append(math.sqrt(answer_share) * own)
            triangle = triangle_of(np.vstack(rows))
            found.append(_Asked(triangle, np.arange(start, start + len(triangle))))
            start += len(triangle)
        return tuple(found), start

    def _first(self) -> tuple[Integers, Integers]:
        """Return changes to begin with: together they move every block in every direction."""
        K, kinds = self.blocks.categories, self.blocks.plain.members.size
        every = np.arange(K)
        if self.costs is None:
            return np.zeros((K, kinds), dtype=np.int64), np.stack([every, every], axis=1)
        if self.blocks.becoming:  # category K is no record
            K, every = K + 1, np.arange(K + 1)
        chain = np.stack([every[:-1], every[1:]], axis=1)
        members = self.blocks.plain.members
        single = np.diag((members > 0).astype(np.int64))
        middle = np.full((kinds, 2), K // 2)
        patterns = np.vstack(
            [np.zeros((K - 1, kinds), dtype=np.int64), np.tile(members, (K, 1)), single]
        )
        pairs = np.vstack([chain, np.stack([every, every[::-1]], axis=1), middle])
        patterns[np.any(pairs == self.blocks.categories, axis=1)] = 0
        _, kept = np.unique(
            np.hstack([patterns, np.sort(pairs, axis=1)]), axis=0, return_index=True
        )
        return patterns[kept], pairs[kept]

    def run(self) -> str:
        """Search until both sides meet; return how it ended."""
        if not self.blocks.blocks:  # the number of records alone, which is public
            self.sides.prove(0.0, self._evidence())
            self.sides.cover(0.0, ())
            return SOLVED
        for _ in range(_MOST_LISTS):
            found = self._solve()
            if self.sides.met or self.costs is None:
                return SOLVED if self.sides.met else found
            if self._price():
                self.fine = False
            elif self.fine or len(self.pairs) >= self.most:
                return _FULL if len(self.pairs) >= self.most else STUCK
            else:
                self.fine = True
        return _SHORT

    def _price(self) -> bool:
        """Add the changes that cost most; return whether there were any."""
        assert self.costs is not None  # noqa: S101 (only where records become others)
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
        # while changes are missing, a list need not be solved to the end
        aim = _INNER * self.sides.rtol
        if self.costs is not None and not self.fine:
            aim = max(aim, min(_ROUGH * self.sides.gap, _ROUGHEST))
        ended = self.sides.walk(
            steps(program, self.weights, self.roots, dense=small),
            aim=aim,
            most=_MOST_STEPS if small else _MOST_ROUNDS,
            each=self._tell,
            last=self._take,
        )
        return _SHORT if ended is None else ended

    def _tell(self, _: Step[_State]) -> bool:
        """Count a step: what it proves is looked at in the end."""
        self.sides.steps += 1
        self.sides.tell()
        return False

    def _take(self, step: Step[_State]) -> None:
        """Take in a step: its evidence as it is, its noise measured on all changes."""
        self.weights, self.roots, state, _ = step
        self.sides.steps += 1
        dual = self._evidence()
        weights = np.sqrt(self.blocks.plain.weights)
        self.sides.prove(dual.least(self.blocks, self.order, weights), dual)
        factors = [part.factor() for part in state.parts]
        none = int(self.blocks.becoming)
        self.images = [
            np.pad(whitened(block.records, factor)[0], ((0, none), (0, 0)))
            for block, factor in zip(self.blocks.blocks, factors, strict=True)
        ]
        cost = self.blocks.cost_up(factors)
        V = np.concatenate(self.blocks.variances(factors))
        upper = math.sqrt(cost) * objective(self.scale * V, self.order)
        self.sides.cover(upper, tuple(frozen(math.sqrt(cost) * f) for f in factors))
        self.sides.tell()

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
