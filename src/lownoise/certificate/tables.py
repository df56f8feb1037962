# SPDX-License-Identifier: Apache-2.0
"""What no Gaussian noise on a table's marginals or parities can beat, from weights on both sides.

*Independent noise* (`ResidualDual`, `ParityDual`). With weights c on answers and w on changes of a
record, both at least 0, let a_A be the sum of w times what a change costs σ_A⁻², and b_A the sum of
c times what σ_A² adds to the weighted variances. For all variances that cost at most 1,

    ‖c‖_q·‖ω V‖_{p/2} ≥ Σ c ω V = Σ_A b_A σ_A²,    Σw ≥ Σ_A a_A/σ_A²,    q = p/(p − 2),

and Cauchy-Schwarz gives ‖ω V‖_{p/2} ≥ (Σ_A √(a_A b_A))²/(‖c‖_q Σw) (Hölder; ours). Noise that is
not independent does no better: on residual spaces see `residuals.orbits`; parities are uncorrelated
for a record drawn from the whole cube, whichever bits then change, so the moment of the changes is
diagonal. At p = 2 under `add_remove` the bound for parities is the trace norm of the Hadamard rows
over the root of 2^D, which is m (003, section 8).

*Blocks of ordered attributes* (`OrderedDual`). Let G_A be the sum of c times what the answers make
of M_A in the weighted variances, and C_A that of w times what the changes make of M_A⁻¹ in μ² (see
`residuals.ordered`). For all noise that costs at most 1,

    ‖c‖_q·‖ω V‖_{p/2} ≥ Σ_A tr(G_A M_A),    Σw ≥ Σ_A tr(C_A M_A⁻¹),

and √(tr GM · tr CM⁻¹) summed over blocks is at least Σ_A tr (G_A^{1/2} C_A G_A^{1/2})^{1/2}, each a
nuclear norm that `pairing` bounds from below (Hölder and Cauchy-Schwarz; ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import LEAST_MASS
from lownoise.certificate.pairing import paired_down
from lownoise.errors import PlanError
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import shrunk
from lownoise.sensitivity.residuals import Blocks, ChangeCosts, ParityChanges, TableChanges

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualDual:
    """The evidence for a lower bound.

    Args:
        cells: c ≥ 0 on a cell of each orbit of marginals, shape (g,).
        patterns: which attributes of a record change, by type, shape (k, t); a row of zeros where
            one comes or goes.
        chances: w ≥ 0, shape (k,).
    """

    cells: Vector
    patterns: Integers
    chances: Vector

    def least(
        self,
        changes: TableChanges,
        order: float,
        weights: Vector,
        embed: Vector | None = None,
        all_rows: float = 1.0,
    ) -> float:
        """Return at most the least ‖ω·deviations‖_p at μ = 1: 0 where nothing is proved.

        Args:
            changes: what one record changes in the marginals.
            order: p in [2, ∞].
            weights: ω of each orbit of marginals, on standard deviations, shape (g,).
            embed: None: counts are asked for themselves.
            all_rows: how much of what is proved of the number of all rows counts.

        Raises:
            PlanError: where the weights are not one an orbit, or one a pattern.

        Examples:
            >>> from lownoise.sensitivity.residuals import TableChanges, marginal_orbits
            >>> from lownoise.questions import Marginals
            >>> found = marginal_orbits(Marginals({"x": 4}, sets=[["x"]]))
            >>> none = np.zeros((1, 1), int)
            >>> even = ResidualDual(cells=np.ones(1), patterns=none, chances=np.ones(1))
            >>> round(even.least(TableChanges(found, "add_remove"), 2.0, np.ones(1)), 9)
            2.0
        """
        c, w, orbits = self.cells, self.chances, changes.orbits
        if not _sound(c, w):
            return 0.0
        costs = changes.costs(self.patterns)
        if c.shape != orbits.cells.shape or w.shape != costs.shape[:1]:
            raise PlanError("ResidualDual does not fit its marginals; plan again")
        c = c / float(np.max(c))
        rows, columns, entries = orbits.variance_terms
        seen = np.zeros(len(orbits.residuals))
        np.add.at(seen, columns, entries * (c * np.square(weights) * orbits.cells)[rows])
        counted = np.ones(seen.size)
        counted[0] = all_rows**2
        return _independent(seen * counted, w, costs, order_norm(c, conjugate(order), orbits.cells))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ParityDual:
    """The evidence for a lower bound.

    Args:
        degrees: c ≥ 0 on a parity of each degree, shape (k,).
        patterns: w ≥ 0 on the patterns of `ParityChanges.costs`, shape (n,).
    """

    degrees: Vector
    patterns: Vector

    def least(
        self, changes: ParityChanges, order: float, weights: Vector, embed: Vector | None = None
    ) -> float:
        """Return at most the least ‖ωτ‖_p of noise at μ = 1: 0 where nothing is proved.

        Args:
            changes: what a pattern costs, and how many parities each degree has.
            order: p in [2, ∞].
            weights: ω of each degree, on standard deviations, shape (k,).
            embed: None: parities are asked for themselves.

        Examples:
            >>> from lownoise.sensitivity.residuals import ParityChanges
            >>> even = ParityDual(degrees=np.ones(1), patterns=np.ones(1))
            >>> three = np.array([3.0])
            >>> found = even.least(ParityChanges(three[None], three), 2.0, np.ones(1))
            >>> round(found, 9)
            3.0
        """
        c, w = self.degrees, self.patterns
        if not _sound(c, w):
            return 0.0
        c = c / float(np.max(c))
        seen = changes.counts * c * np.square(weights)
        return _independent(seen, w, changes.costs, order_norm(c, conjugate(order), changes.counts))


def _sound(*weights: Vector) -> bool:
    """Return whether all weights are finite, at least 0, and each kind has some above it."""
    return all(bool(np.all(np.isfinite(v) & (v >= 0)) and np.any(v)) for v in weights)


def _independent(seen: Vector, chances: Vector, costs: Vector, size: float) -> float:
    """Return Σ √(a·b)/√(‖c‖_q·Σw), rounded down; 0 where floats do not hold it.

    Args:
        seen: b, shape (r,).
        chances: w, shape (k,).
        costs: what each change costs, shape (k, r).
        size: ‖c‖_q.
    """
    w = chances / float(np.max(chances))
    paid = (w / float(np.sum(w))) @ costs
    found = math.fsum(np.sqrt(seen * paid)) / math.sqrt(size)
    return shrunk(found) if math.isfinite(found) else 0.0


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedDual:
    """The evidence for a lower bound.

    Args:
        cells: c ≥ 0 on each answer in an unordered cell, one array of shape (counts,) for each
            orbit of marginals.
        patterns: which unordered attributes of a record change, by type, shape (k, t); rows of
            zeros under `add_remove`.
        pairs: its joint ordered categories before and after, shape (k, 2); equal under
            `add_remove`. Of units that take other rows K, one more than the last, is none.
        chances: w ≥ 0, shape (k,).
    """

    cells: tuple[Vector, ...]
    patterns: Integers
    pairs: Integers
    chances: Vector

    @property
    def becoming(self) -> bool:
        """Whether it is about records that become others."""
        return bool(np.any(self.patterns) or np.any(self.pairs[:, 0] != self.pairs[:, 1]))

    def leaves(self, categories: int) -> bool:
        """Return whether it is about records that become none, too: category K."""
        return bool(np.any(self.pairs == categories))

    def least(
        self, changes: Blocks, order: float, weights: Vector, embed: Vector | None = None
    ) -> float:
        """Return at most the least ‖ω·deviations‖_p at μ = 1: 0 where nothing is proved.

        Args:
            changes: the blocks.
            order: p in [2, ∞].
            weights: ω of each orbit of marginals, on standard deviations, shape (g,).
            embed: None: counts are asked for themselves.

        Examples:
            >>> from lownoise.sensitivity.residuals import ordered_blocks
            >>> from lownoise.questions import Marginals
            >>> one = Marginals({"age": 2}, sets=[["age"]], ordered={"age": "prefix"})
            >>> even = OrderedDual(cells=(np.ones(2),), patterns=np.zeros((2, 1), int),
            ...                    pairs=np.array([[0, 0], [1, 1]]), chances=np.ones(2))
            >>> found = even.least(ordered_blocks(one, public=False), 2.0, np.ones(1))
            >>> round(found**2, 6)  # (tr (½LLᵀ)^½)² with L = [[1, 0], [1, 1]]: (1² + 1² + 1² + 2)/2
            2.5
        """
        if not isinstance(changes, Blocks):
            raise PlanError("OrderedDual is evidence for ordered attributes alone; plan again")
        w, blocks = self.chances, changes
        given = [*self.cells, w]
        if not all(np.all(np.isfinite(v) & (v >= 0)) for v in given) or not np.any(w):
            return 0.0
        scale, mass = max(float(np.max(c)) for c in self.cells), math.fsum(w)
        if not scale >= LEAST_MASS or not mass >= LEAST_MASS:
            return 0.0
        q, cells = conjugate(order), blocks.plain.cells
        size = 1.0
        if not math.isinf(q):
            own = [n * math.fsum((c / scale) ** q) for n, c in zip(cells, self.cells, strict=True)]
            size = math.fsum(own) ** (1 / q)
        found = 0.0
        seen = moments(blocks, self.patterns, self.pairs)
        for block, queries, moved in zip(blocks.blocks, blocks.queries, seen, strict=True):
            rows, asked = [], []
            for span, own_rows in queries.items():
                total = sum(
                    entry * weights[row] ** 2 * cells[row] * (self.cells[row] / scale)
                    for row, entry in blocks.seen(block)
                    if blocks.spans[row] == span
                )
                rows.append(own_rows)
                asked.append(np.sqrt(total))
            chances = np.tile(np.sqrt(w / mass), len(moved) // len(w))
            found += paired_down(
                chances[:, None] * moved,
                np.zeros(block.length),
                np.concatenate(asked),
                np.vstack(rows),
                None,
            )
        found /= math.sqrt(size)
        return shrunk(found) if math.isfinite(found) else 0.0


def moments(blocks: Blocks, patterns: Integers, pairs: Integers) -> list[Vector]:
    """Return vectors whose squares, weighted by w, add up to C_A: shape (j·k, r) for each block.

    Row i, and row k + i where records become others, belong to change i: part·(ssᵀ + tt ᵀ) −
    agreeing·(stᵀ + tsᵀ) is (part + agreeing)/2·(s − t)(s − t)ᵀ + (part − agreeing)/2·(s + t)(s +
    t)ᵀ. Category K, of no record, has t = 0.
    """
    trace = blocks.plain.trace[[b.place for b in blocks.blocks]]
    if not blocks.public and not blocks.becoming:
        own = zip(blocks.blocks, trace.tolist(), strict=True)
        return [b.records[pairs[:, 0]] * math.sqrt(part) for b, part in own]
    agreeing = ChangeCosts(blocks).agreeing(patterns)
    found = []
    for i, (block, part) in enumerate(zip(blocks.blocks, trace.tolist(), strict=True)):
        records = np.vstack([block.records, np.zeros(block.length)])
        s, t = records[pairs[:, 0]], records[pairs[:, 1]]
        apart = np.sqrt(np.maximum(part + agreeing[:, i], 0.0) / 2)
        joined = np.sqrt(np.maximum(part - agreeing[:, i], 0.0) / 2)
        found.append(np.vstack([apart[:, None] * (s - t), joined[:, None] * (s + t)]))
    return found
