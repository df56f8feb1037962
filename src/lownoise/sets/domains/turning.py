# SPDX-License-Identifier: Apache-2.0
"""Images of matrix bodies in the coordinates where they are covered best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.unit_balls import NormBall, SpectralBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_STRAIGHT = 1e-12  # of the trace: what counts as diagonal already


def turned(base: AbstractUnitBall, factor: Vector) -> Vector:
    """Return F' with F'·B = F·B that the program covers better, or F itself.

    X ↦ UᵀXV maps a body of singular values onto itself, so F·(U ⊗ V) has the same image, up to
    rounding. The ellipsoids that are known to cover the body are Σ (aᵢ + bⱼ)xᵢⱼ² ≤ 1, in all such
    coordinates the family tr AXXᵀ + tr BXᵀX ≤ 1. Those where the partial traces of FᵀF are diagonal
    are a good choice: there F = P ⊗ Q has orthogonal columns, and the sums of a contraction's rows
    are covered exactly. Where an eigenvalue is multiple the choice is not unique.

    Args:
        base: B; only a body of matrices has such maps.
        factor: F, shape (d, k); or shape (d,), a diagonal, which has diagonal traces already.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> row_sums = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        >>> np.abs(turned(SpectralBall(2, 2, NormBall(2, np.inf)), row_sums)).round(6)
        array([[0.      , 1.414214, 0.      , 0.      ],
               [0.      , 0.      , 0.      , 1.414214]])
    """
    if factor.ndim == 1 or not isinstance(base, SpectralBall):
        return factor
    maps = factor.reshape(-1, base.rows, base.columns)
    # in parts of the largest entry, so that no square overflows
    unit = float(np.max(np.abs(maps)))
    if not unit:
        return factor
    scaled = maps / unit
    left = _axes(np.concatenate(list(scaled), axis=1).T)
    right = _axes(np.concatenate(list(scaled), axis=0))
    if left is None and right is None:
        return factor
    if left is not None:
        maps = left.T @ maps
    if right is not None:
        maps = maps @ right
    return frozen(np.ascontiguousarray(maps.reshape(factor.shape)))


def narrowed(base: AbstractUnitBall, factor: Vector) -> tuple[Vector, AbstractUnitBall]:
    """Return an injective factor, and its ball, where B is a Euclidean ball and F is not injective.

    With F = UΣVᵀ the image F·B is UΣ times the ball of as many coordinates as F has rank, up to
    rounding. Records outside an injective image need no search.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> narrow, ball = narrowed(NormBall(2, 2.0), np.array([[3.0, 4.0]]))
        >>> np.abs(narrow).round(9), ball.size
        (array([[5.]]), 1)
    """
    if factor.ndim == 1 or not isinstance(base, NormBall) or base.order != 2:  # noqa: PLR2004
        return factor, base
    unit = float(np.max(np.abs(factor)))
    if not unit:
        return factor, base
    left, sizes, _ = np.linalg.svd(factor / unit, full_matrices=False)
    kept = sizes > _STRAIGHT * sizes[0]
    rank = int(np.count_nonzero(kept))
    if rank == factor.shape[1]:
        return factor, base
    narrow = left[:, kept] * (sizes[kept] * unit)
    return frozen(np.asarray(narrow)), NormBall(rank, 2.0)


def _axes(rows: Vector) -> Vector | None:
    """Return the eigenvectors of rowsᵀ·rows as columns; None where it is diagonal already."""
    gram = rows.T @ rows
    off = gram - np.diag(np.diag(gram))
    if np.max(np.abs(off)) <= _STRAIGHT * float(np.trace(gram)):
        return None
    return np.asarray(np.linalg.eigh(gram)[1])
