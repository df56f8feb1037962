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

from lownoise.numbers.norms import SLACK, conjugate, order_norm

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ParityDual:
    """The evidence for a lower bound.

    Args:
        degrees: c ≥ 0 on a parity of each degree, shape (k,).
        patterns: w ≥ 0 on the patterns of `residuals.parity_costs`, shape (n,).
    """

    degrees: Vector
    patterns: Vector


def parity_lower_bound(
    dual: ParityDual, costs: Vector, counts: Vector, weights: Vector, order: float
) -> float:
    """Return at most the least √‖ωτ²‖_{p/2} of noise that costs μ = 1: 0 where nothing is proved.

    Args:
        dual: the evidence.
        costs: as `residuals.parity_costs`, shape (n, k).
        counts: the number of parities of each degree, shape (k,).
        weights: ω of each degree, on variances, shape (k,).
        order: p in [2, ∞].

    Examples:
        >>> even = ParityDual(degrees=np.ones(1), patterns=np.ones(1))
        >>> three = np.array([3.0])
        >>> round(parity_lower_bound(even, three[None], three, np.ones(1), 2.0), 9)
        3.0
    """
    c, w = dual.degrees, dual.patterns
    sound = np.all(np.isfinite(c) & (c >= 0)) and np.all(np.isfinite(w) & (w >= 0))
    if not sound or not np.any(c) or not np.any(w):
        return 0.0
    c = c / np.max(c)
    w = w / np.max(w)
    paid = (w / np.sum(w)) @ costs
    seen = counts * c * weights
    found = math.fsum(np.sqrt(seen * paid)) / math.sqrt(order_norm(c, conjugate(order), counts))
    return found * (1 - SLACK) if math.isfinite(found) else 0.0
