# SPDX-License-Identifier: Apache-2.0
"""What no noise on parities is below, from weights on degrees and on numbers of differing bits.

A record drawn from the whole cube makes its parities uncorrelated, whichever bits then change: the
moment of the changes is diagonal. So weights c on degrees and w on patterns, both at least 0, give

    ‖c‖_q·‖ωτ²‖_{p/2} ≥ Σ_k C(D, k) c_k ω_k τ_k²,   Σw ≥ Σ_k a_k/τ_k²,   a = w·costs,

for every covariance that costs at most 1 and q = p/(p − 2), and Cauchy-Schwarz the bound (ours). At
p = 2 under `add_remove` it is the trace norm of the Hadamard rows over the root of 2^D, which is m
(003, section 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import shrunk
from lownoise.questions.residuals import ParityChanges

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


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
            >>> from lownoise.questions.residuals import ParityChanges
            >>> even = ParityDual(degrees=np.ones(1), patterns=np.ones(1))
            >>> three = np.array([3.0])
            >>> found = even.least(ParityChanges(three[None], three), 2.0, np.ones(1))
            >>> round(found, 9)
            3.0
        """
        c, w = self.degrees, self.patterns
        sound = np.all(np.isfinite(c) & (c >= 0)) and np.all(np.isfinite(w) & (w >= 0))
        if not sound or not np.any(c) or not np.any(w):
            return 0.0
        c = c / np.max(c)
        w = w / np.max(w)
        paid = (w / np.sum(w)) @ changes.costs
        seen = changes.counts * c * np.square(weights)
        size = order_norm(c, conjugate(order), changes.counts)
        found = math.fsum(np.sqrt(seen * paid)) / math.sqrt(size)
        return shrunk(found) if math.isfinite(found) else 0.0


def parity_lower_bound(
    dual: ParityDual, costs: Vector, counts: Vector, weights: Vector, order: float
) -> float:
    """Return `dual.least`; `weights` are on variances."""
    return dual.least(ParityChanges(costs, counts), order, np.sqrt(weights))
