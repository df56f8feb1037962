# SPDX-License-Identifier: Apache-2.0
"""What no ε-DP mechanism beats where single changes are far apart: categories (ours)."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import grown, growth, shrunk, spectral_up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_MOST = 512  # kinds of records
_FEW = 9  # below which all numbers of kinds in a block are tried, and all numbers of blocks


def apart_bound(points: Vector, *, size: int | None, epsilon: float, order: float = 2.0) -> float:
    """Return what (E‖error‖_p²)^{1/2}, p ≥ 2, of the sum of records is at least on some table.

    Averaged over many tables, each with its truth, the law of the error Z has P(Z ∈ A + s) ≥
    q·P(Z ∈ A), q = e^{−ε}, for every change s of one record, of N in all. With wₛ(z) =
    |s|² − v + 2⟨z, s⟩ on the ball of radius √v, and 0 elsewhere, Σ wₛ(z − s) − q·Σ wₛ(z) is at most
    |z|² − v everywhere where v ≤ q·Σ(|s|² − v), balls about 0 and the changes share no point and
    no wₛ is below 0: √v ≤ |s|/(1 + √2), and half of how far changes are from each other. So
    E|Z|² ≥ v = q·Σ|s|²/(1 + qN), or as much of that as these allow: a smaller q is as true. Where
    a table has n records, truths are of L = ⌊n/(m − 1)⌋ + 1 counts of each of m kinds but one, and
    two of L of those leave them: at most 2q/L·Σ(|s|² + 2√v|s|) is lost.

    Kinds of records that share no coordinate with others move Z along axes of their own, and such
    blocks add up. Changes are told apart by how long Σ λᵢxᵢ is at least: σ|λ|.

    Args:
        points: the records x, one a row, shape (m, d), or where they come and go what they add.
        size: n, public, and one record becomes another; None where records come and go.
        epsilon: ε > 0.
        order: p in [2, ∞].

    Returns:
        The bound, in the unit of the points; 0 where records are not linearly independent (of a
        public number affinely), or are more than 512.

    Examples:
        >>> q, changes = math.exp(-8), 17 * 16
        >>> one = apart_bound(np.eye(17), size=10**9, epsilon=8.0)
        >>> round(one / math.sqrt(2 * q * changes / (1 + q * changes)), 6)
        1.0
    """
    m = len(points)
    if not 0 < m <= _MOST or not np.all(np.isfinite(points)):
        return 0.0
    unit = math.ldexp(1.0, math.frexp(float(np.max(np.abs(points), initial=0.0)))[1] - 1)
    if not unit >= sys.float_info.min:
        return 0.0
    points = points / unit  # squares of what is as large as 1, and the same points otherwise
    moving = np.any(points != points[0], axis=0) if size else np.any(points != 0, axis=0)
    part = 0.0 if size is None else min(2 / (size // max(m - 1, 1) + 1), 1.0)
    q, squares = shrunk(math.exp(-epsilon)), [0.0]
    falling = points[np.argsort(-np.linalg.norm(points, axis=1), kind="stable")]
    for most in _blocks(points):
        blocks = (falling[at : at + most] for at in range(0, m, most))
        squares.append(math.fsum(_square_down(own, q, part, size=size) for own in blocks))
    share = float(max(int(np.sum(moving)), 1)) ** (2 / order - 1)
    return shrunk(math.sqrt(max(squares) * share)) * unit


def _blocks(points: Vector) -> list[int]:
    """Return how many kinds of records may be looked at together: all, or where none share axes."""
    m = len(points)
    if np.any(np.count_nonzero(points, axis=0) > 1):
        return [m]
    return sorted({m, *range(2, min(m, _FEW)), *(-(-m // parts) for parts in range(2, _FEW))})


def _square_down(points: Vector, q: float, part: float, *, size: int | None) -> float:
    """Return at most E|Z|² along the changes of some kinds of records.

    Args:
        points: as of `apart_bound`.
        q: e^{−ε} or less.
        part: of the truths that a change leads out of.
        size: n.
    """
    rows = points - points[0] if size else points[np.any(points != 0, axis=1)]
    if len(rows) <= (1 if size else 0):
        return 0.0
    least, most = _squares(rows) if size else _own_squares(rows)
    n, total = least.size, float(np.sum(least))
    ends = (float(np.min(least)) / (1 + math.sqrt(2)) ** 2, _independence_down(rows, size) / 2)
    v = shrunk(min(q * total / (1 + q * n), *ends))
    if not v > 0:
        return 0.0
    lengths = float(np.sum(np.sqrt(most)))
    less = min(q, v / (total - n * v))  # the q that this v is of
    lost = grown(less * part * (float(np.sum(most)) + 2 * math.sqrt(v) * lengths))
    return max(v - lost, 0.0)


def _squares(rows: Vector) -> tuple[Vector, Vector]:
    """Return at most and at least |xᵢ − xⱼ|² of all i ≠ j."""
    gram = rows @ rows.T
    size = np.diag(gram)[:, None] + np.diag(gram)
    off = 8 * growth(rows.shape[1] + 9) * size
    away = ~np.eye(len(rows), dtype=bool)
    return np.maximum(size - 2 * gram - off, 0.0)[away], (size - 2 * gram + off)[away]


def _own_squares(rows: Vector) -> tuple[Vector, Vector]:
    """Return at most and at least |xᵢ|², twice each: of a change and of its opposite."""
    found = np.repeat(np.einsum("ij,ij->i", rows, rows), 2)
    return shrunk(found), grown(found)


def _independence_down(rows: Vector, size: int | None) -> float:
    """Return at most the least |Σ λᵢxᵢ|² where |λ| = 1, and where n is public Σ λᵢ = 0."""
    m = len(rows)
    about = rows - np.mean(rows, axis=0) if size else rows
    gram = about @ about.T
    if size:  # what is said of 1 is of no matter
        gram = gram + np.trace(gram) / max(m - 1, 1) / m
    values = np.linalg.eigvalsh(gram)
    middle = float(values[0] + values[-1]) / 2
    off = 2.0**-30 * float(values[-1])  # more than rounding of the matrix, and of its bound
    return middle - spectral_up(middle * np.eye(m) - gram) - off
