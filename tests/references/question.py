# SPDX-License-Identifier: Apache-2.0
"""What a reference is asked and what it returns.

The question is put in the span of its points, where every covariance that covers them is
invertible; the answer is the optimum between two numbers, and the noise that has the upper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_RANK = 1e-12  # of the largest singular value: below it a direction is rounding
_LEAST_ORDER = 2.0


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Bracket:
    """Bounds lower ≤ Γ ≤ upper, computed in plain floats.

    `covariance`, M of shape (d, d), covers the points moved by `shift`, v of shape (d,), and
    √tr_{p/2}(L M Lᵀ) is `upper`. M vanishes across the span of the points.
    """

    lower: float
    upper: float
    covariance: Vector
    shift: Vector
    rounds: int

    @property
    def gap(self) -> float:
        """upper/lower − 1; 0 where both are 0.

        Examples:
            >>> import numpy as np
            >>> one = np.ones((1, 1))
            >>> Bracket(lower=1.0, upper=1.25, covariance=one, shift=one[0], rounds=3).gap
            0.25
        """
        if self.upper == 0:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Reduced:
    """Points (N, k) and queries (m, k) in an orthonormal basis (d, k), the points less `origin`.

    k ≤ d is the dimension of the span: of the differences under a free shift, else of the points.
    """

    points: Vector
    queries: Vector
    basis: Vector
    origin: Vector

    def bracket(
        self,
        bounds: tuple[float, float],
        covariance: Vector,
        shift: Vector,
        rounds: int,
    ) -> Bracket:
        """Return the bracket, with M (k, k) and v (k,) back in the coordinates of the caller."""
        lower, upper = bounds
        return Bracket(
            lower=lower,
            upper=upper,
            covariance=frozen(self.basis @ covariance @ self.basis.T),
            shift=frozen(self.origin + self.basis @ shift),
            rounds=rounds,
        )

    def nothing(self) -> Bracket:
        """Return the bracket of a body that is one point: it needs no noise."""
        return self.bracket((0.0, 0.0), np.zeros((0, 0)), np.zeros(0), 0)


def reduced(
    points: ArrayLike,
    queries: ArrayLike | None,
    order: float,
    *,
    centered: bool,
) -> Reduced:
    """Return the question in the span of its points.

    Args:
        points: shape (N, d).
        queries: L, shape (m, d); the identity where None.
        order: p in [2, ∞].
        centered: whether the shift is 0.

    Raises:
        PlanError: where an argument is outside its range, or L is 0 along a direction of the span.

    Examples:
        >>> segment = reduced([[1.0, 1.0], [3.0, 3.0]], None, 2.0, centered=False)
        >>> segment.points.shape, segment.origin
        ((2, 1), array([2., 2.]))
    """
    if not order >= _LEAST_ORDER:
        raise PlanError(f"order={order} is not in [2, inf]; use 2 for the mean square error")
    x = _matrix(points, "points")
    L = np.eye(x.shape[1]) if queries is None else _matrix(queries, "queries")
    if L.shape[1] != x.shape[1]:
        raise PlanError(
            f"queries has {L.shape[1]} columns for points of {x.shape[1]} coordinates; "
            "give one column a coordinate",
        )
    origin = np.zeros(x.shape[1]) if centered else x.mean(axis=0)
    moved = x - origin
    _, scales, directions = np.linalg.svd(moved, full_matrices=False)
    # against the points as given: the differences of equal points far from 0 are rounding
    basis = directions[scales > _RANK * np.linalg.norm(x)].T
    seen = L @ basis
    kept = np.linalg.svd(seen, compute_uv=False)
    rank = int(np.sum(kept > _RANK * max(np.linalg.norm(L), np.finfo(float).tiny)))
    if rank < basis.shape[1]:
        raise PlanError(
            f"queries has rank {rank} on points of rank {basis.shape[1]}; "
            "pass the answers, points @ queries.T, as points",
        )
    return Reduced(points=moved @ basis, queries=seen, basis=basis, origin=origin)


def _matrix(values: ArrayLike, field: str) -> Vector:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise PlanError(f"{field} has shape {array.shape}; give one row each")
    if not np.all(np.isfinite(array)):
        raise PlanError(f"{field} has a number that is not finite; give finite numbers")
    return array
