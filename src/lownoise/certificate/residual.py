# SPDX-License-Identifier: Apache-2.0
"""What no Gaussian noise on a table's marginals can beat, from weights on cells and patterns.

With cell weights c and pattern weights w, both at least 0, let a_A be the sum of w times what a
pattern costs σ_A⁻², and b_A the sum of c times what σ_A² adds to the weighted variances. For all
variances that cost at most 1,

    ‖c‖_q·‖ω V‖_{p/2} ≥ Σ c ω V = Σ_A b_A σ_A²,    Σw ≥ Σ_A a_A/σ_A²,    q = p/(p − 2),

and Cauchy-Schwarz gives ‖ω V‖_{p/2} ≥ (Σ_A √(a_A b_A))²/(‖c‖_q Σw) (Hölder; ours). Noise that is
not independent on residual spaces does no better: see `residuals.orbits`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import shrunk
from lownoise.questions.residuals import TableChanges

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.residuals import Orbits


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualDual:
    """The evidence for a lower bound.

    Args:
        cells: c ≥ 0 on a cell of each orbit of marginals, shape (g,).
        patterns: which attributes of a record change, by type, shape (k, t); one row of zeros under
            `add_remove`.
        chances: w ≥ 0, shape (k,).
    """

    cells: Vector
    patterns: Integers
    chances: Vector

    def least(
        self, changes: TableChanges, order: float, weights: Vector, embed: Vector | None = None
    ) -> float:
        """Return at most the least ‖ω·deviations‖_p at μ = 1: 0 where nothing is proved.

        Args:
            changes: what one record changes in the marginals.
            order: p in [2, ∞].
            weights: ω of each orbit of marginals, on standard deviations, shape (g,).
            embed: None: counts are asked for themselves.

        Raises:
            PlanError: where the weights are not one an orbit, or one a pattern.

        Examples:
            >>> from lownoise.questions.residuals import TableChanges, marginal_orbits
            >>> from lownoise.questions import Marginals
            >>> found = marginal_orbits(Marginals({"x": 4}, sets=[["x"]]))
            >>> none = np.zeros((1, 1), int)
            >>> even = ResidualDual(cells=np.ones(1), patterns=none, chances=np.ones(1))
            >>> round(even.least(TableChanges(found, "add_remove"), 2.0, np.ones(1)), 9)
            2.0
        """
        c, w, orbits = self.cells, self.chances, changes.orbits
        sound = np.all(np.isfinite(c) & (c >= 0)) and np.all(np.isfinite(w) & (w >= 0))
        if not sound or not np.any(c) or not np.any(w):
            return 0.0
        costs = changes.costs(self.patterns)
        if c.shape != orbits.cells.shape or w.shape != costs.shape[:1]:
            raise PlanError("ResidualDual does not fit its marginals; plan again")
        c = c / float(np.max(c))
        size = order_norm(c, conjugate(order), orbits.cells)
        rows, columns, entries = orbits.variance_terms
        seen = np.zeros(len(orbits.residuals))
        np.add.at(seen, columns, entries * (c * np.square(weights) * orbits.cells)[rows])
        paid = (w / float(np.sum(w))) @ costs
        found = math.fsum(np.sqrt(seen * paid)) / math.sqrt(size)
        return shrunk(found) if math.isfinite(found) else 0.0


def residual_lower_bound(dual: ResidualDual, orbits: Orbits, order: float, relation: str) -> float:
    """Return `dual.least` for the orbits' own weights."""
    return dual.least(TableChanges(orbits, relation), order, np.sqrt(orbits.weights))
