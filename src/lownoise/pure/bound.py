# SPDX-License-Identifier: Apache-2.0
"""What no mechanism of the same ε can beat on this question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.neighbours import Relation
    from lownoise.workloads import Mean, Queries


def unbeaten(
    question: Mean | Queries,
    relation: Relation,
    size: int | None,
    epsilon: float,
    order: float,
    weights: Vector,
) -> float:
    """Return at most the greatest (E‖ω·error‖_p²)^{1/2} over all tables, of any mechanism.

    Args:
        question: what is asked.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        epsilon: ε.
        order: p.
        weights: ω, shape (m,).
    """
    return 0.0
