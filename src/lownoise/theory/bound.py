# SPDX-License-Identifier: Apache-2.0
"""What theorems about a domain begin with: Γ_p of it, or of its differences, from below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lownoise.bounds import HARDT_TALWAR, HENZINGER, NIKOLOV_TANG, Bound
from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_order
from lownoise.numbers.rounding import shrunk
from lownoise.sets.domains import AbstractDomain, Difference, difference_body
from lownoise.theory.enclosure import Enclosure, enclose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["HARDT_TALWAR", "HENZINGER", "NIKOLOV_TANG", "Bound", "gamma_down"]


def gamma_down(
    asked: AbstractDomain | Enclosure,
    *,
    differences: bool,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
) -> float:
    """Return at most Γ_p(LK), or with `differences` at most Γ_p(LK − LK), as proved.

    An enclosure of K proves Γ_p(K − K) ≥ √(2(d+1)/d)·Γ_p(K), because a set of diameter D lies in a
    ball of radius D·√(d/(2(d+1))) (Jung), in the norm of the ellipsoid around K − K (ours); the
    domain itself proves more where it is symmetric.

    Args:
        asked: K, the domain of the records, or an `Enclosure` of it.
        differences: which of the two is wanted.
        order: p in [2, ∞]; that of the enclosure, where one is given.
        weights: ω > 0 on the m answers; ones by default; not beside an enclosure, which
            has its own.
        workload: L, shape (m, d); the identity by default. Likewise.

    Raises:
        PlanError: where an argument is out of range, or an enclosure is given with weights, with a
            workload or with an order other than its own.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> simplex = ln.Points([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> [round(gamma_down(simplex, differences=wide), 6) for wide in (False, True)]
        [1.154701, 2.0]
        >>> found = ln.theory.enclose(simplex)
        >>> round(gamma_down(found, differences=True), 6)  # by Jung's theorem, in 3 dimensions
        1.885618
    """
    if not isinstance(asked, Enclosure):
        body = difference_body(asked) if differences else asked
        return enclose(body, order=order, weights=weights, workload=workload).certificate.lower
    if isinstance(asked.domain, Difference):
        raise PlanError(
            f"an enclosure of {asked.domain!r} is one of changes; enclose the domain of the records"
        )
    if weights is not None or workload is not None or asked.order != checked_order(order):
        raise PlanError(
            f"an enclosure has an order ({asked.order:g}), weights and a workload of its own; give "
            "its order and no weights or workload, or give the domain",
        )
    gamma, d = asked.certificate.lower, asked.domain.dimension
    return shrunk(gamma * math.sqrt(2 * (d + 1) / d)) if differences else gamma
