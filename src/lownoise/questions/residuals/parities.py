# SPDX-License-Identifier: Apache-2.0
"""What independent noise on parities reveals of one record, at most.

A record adds ±1 to every parity: one that comes or goes is told with μ² = Σ_S 1/τ_S². Where one
record becomes another that differs in d bits, the parities of the sets with an odd number of these
bits change by 2, and no others: with one variance τ_k² for all sets of k bits,

    μ² = max over d of Σ_k 4·odd(k, d)/τ_k²,   odd(k, d) = Σ_{j odd} C(d, j)·C(D − d, k − j).

The least noise has this form: averaging a covariance over the 2^D flips of bits (which change only
signs of parities) leaves it diagonal, and averaging over the orders of bits leaves one variance a
degree; both keep privacy and errors (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector


def parity_costs(bits: int, degrees: Sequence[int], relation: str) -> Vector:
    """Return what τ_k⁻² is multiplied by in μ², shape (patterns, degrees): a row for each pattern.

    Whole numbers, rounded once. Under `add_remove` there is one pattern; under `substitute` pattern
    d − 1 is that of d differing bits.

    Args:
        bits: D.
        degrees: k of each degree.
        relation: "substitute" or "add_remove".

    Examples:
        >>> parity_costs(3, [0, 1, 2], "substitute").tolist()
        [[0.0, 4.0, 8.0], [0.0, 8.0, 8.0], [0.0, 12.0, 0.0]]
        >>> parity_costs(3, [0, 1, 2], "add_remove").tolist()
        [[1.0, 3.0, 3.0]]
    """
    if relation == "add_remove":
        return np.array([[float(math.comb(bits, k)) for k in degrees]])
    return np.array(
        [[4.0 * _odd(bits, k, differing) for k in degrees] for differing in range(1, bits + 1)]
    )


def _odd(bits: int, degree: int, differing: int) -> int:
    """Return how many sets of `degree` bits have an odd number of the `differing` ones."""
    return sum(
        math.comb(differing, j) * math.comb(bits - differing, degree - j)
        for j in range(1, min(degree, differing) + 1, 2)
    )


@final
@dataclass(frozen=True, eq=False)
class ParityChanges:
    """What one record changes in parities.

    Args:
        costs: as `parity_costs`, shape (n, k).
        counts: the number of parities of each degree, shape (k,).
    """

    costs: Vector
    counts: Vector


def parity_cost_up(costs: Vector, variances: Vector) -> float:
    """Return at least μ² of independent noise on parities.

    Args:
        costs: as `parity_costs`.
        variances: τ² of each degree, shape (degrees,), 0 where there is no noise.
    """
    with np.errstate(divide="ignore"):
        rates = np.where(np.any(costs > 0, axis=0), 1 / variances, 0.0)
    if not np.all(np.isfinite(rates)):
        return math.inf
    return grown(float(np.max(costs @ rates)))
