# SPDX-License-Identifier: Apache-2.0
"""Nuclear norms from below, without trusting a decomposition.

The nuclear norm of a matrix is at least its product with any matrix of spectral norm at most 1. Its
polar factor would make both equal; one that floats find is made orthonormal as far as they can, its
own norm is bounded, and the product is rounded down.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import TINY, grown, growth, shrunk

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

_THIN = 1e-12  # of the largest eigenvalue
_ORTHOGONAL = 1e-10
_STEPS = 4
_LOST = 1e-12  # of the pairing, beyond which a hint is not near enough


def paired_down(
    seen: Vector,
    off: Vector,
    asked: Vector,
    queries: Vector | None,
    initial: AbstractShape | None,
) -> float:
    """Return at most the nuclear norm of diag(asked)·L·seenᵀ.

    Args:
        seen: √wᵢ·sᵢ, shape (k, d).
        off: how far the mean that sᵢ is taken about can be off, shape (d,).
        asked: √c·ω, shape (m,).
        queries: L, or None.
        initial: the nearly least M, or None.
    """
    # in units in which no square of an entry overflows: powers of two, which round nothing
    seen, power = _in_range(seen)
    off = np.ldexp(off, -power)
    asked, more = _in_range(asked)
    power += more
    if queries is None:
        right = seen * asked
        # at the optimum the square root of rightᵀ·right is asked·M·asked, up to a factor
        trial, norm = _polar(right, None if initial is None else _root(initial, asked))
        products = right * trial
        found, doubt = math.fsum(products.ravel()), growth(9) * float(np.sum(np.abs(products)))
        doubt += grown(float(np.linalg.norm(asked * off)))
    else:
        # rows of asked·L are orthonormal rows times a triangle, and only the triangle is long
        scaled, more = _in_range(asked[:, None] * queries)
        power += more
        turn = np.linalg.qr(scaled)[0]
        triangle = turn.T @ scaled
        trial, norm = _polar(seen @ triangle.T)
        norm *= _orthonormal_up(turn)
        found = float(np.sum((seen @ triangle.T) * trial))
        m, d = queries.shape
        size = np.abs(seen) @ (np.abs(turn).T @ np.abs(scaled)).T
        doubt = growth(m + 2 * d + 99) * float(np.sum(size * np.abs(trial)))
        doubt += grown(float(np.linalg.norm(np.abs(scaled) @ off)))
    return shrunk(_scaled_down(max(found - doubt, 0.0) / norm, power), TINY)


def _in_range(values: Vector) -> tuple[Vector, int]:
    """Return values at most 1 in size, and the power of two that they are to be multiplied by."""
    power = math.frexp(float(np.max(np.abs(values), initial=0.0)))[1]
    return np.ldexp(values, -power), power


def _scaled_down(value: float, power: int) -> float:
    """Return value·2^power, or the largest float where that is more."""
    try:
        return math.ldexp(value, power)
    except OverflowError:
        return sys.float_info.max


def about_mean(vertices: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Return the vertices about their mean, and how far that mean can be off, shape (d,)."""
    about = vertices - vertices[0]
    off = growth(len(w) + 3) * (w @ np.abs(about)) * 2
    return about - w @ about, off


def _root(initial: AbstractShape, asked: Vector) -> Vector | None:
    """Return the inverse of asked·M·asked, shape (d, d)."""
    white = initial.whitening
    if not white.defect < 1 or not np.all(asked > 0):
        return None
    scaled = _in_range(_in_range(white.matrix)[0] / asked)[0]
    return scaled.T @ scaled if np.all(np.isfinite(scaled)) else None


def _polar(rows: Vector, inverse_root: Vector | None = None) -> tuple[Vector, float]:
    """Return a matrix of spectral norm about 1 that pairs best with `rows`, and its norm."""
    if not np.any(rows):
        return np.zeros_like(rows), 1.0
    tall = len(rows) >= rows.shape[1]
    high = rows if tall else rows.T
    if tall and inverse_root is not None:
        near = _in_range(high @ inverse_root)[0]
        near *= math.sqrt(near.shape[1]) / max(float(np.linalg.norm(near)), TINY)
        if _straighten(near) and _pairs_well(near, high):
            return near, _orthonormal_up(near)
    values, axes = np.linalg.eigh(high.T @ high)
    near = np.empty(0)
    if values[0] > _THIN * values[-1]:
        near = (high @ (axes / np.sqrt(values))) @ axes.T
    if not near.size or not _straighten(near):
        left, _, right = np.linalg.svd(high, full_matrices=False)
        near = left @ right
    return (near if tall else near.T), _orthonormal_up(near)


def _pairs_well(near: Vector, high: Vector) -> bool:
    """Return whether no rotation of `near` pairs much better: nearᵀ·high is then symmetric."""
    pairing = near.T @ high
    size = np.diag(pairing)
    if not np.all(size > 0):
        return False
    turn = pairing - pairing.T
    lost = np.sum(turn * turn / (size[:, None] + size)) / 4
    return bool(lost <= _LOST * np.sum(size))


def _straighten(near: Vector) -> bool:
    """Make nearly orthonormal columns more so, in place (Newton and Schulz); return whether."""
    for _ in range(_STEPS):
        gram = near.T @ near
        gram[np.diag_indices(len(gram))] -= 1
        off = float(np.linalg.norm(gram))
        if off < _ORTHOGONAL:
            return True
        if not off < 1:
            return False
        near -= 0.5 * (near @ gram)
    return False


def _orthonormal_up(columns: Vector) -> float:
    """Return at least the spectral norm of nearly orthonormal columns, shape (n, k), n ≥ k."""
    n, k = columns.shape
    gram = columns.T @ columns
    gram[np.diag_indices(k)] -= 1
    rounding = growth(n + 2) * float(np.sum(columns * columns))
    return grown(math.sqrt(1 + grown(float(np.linalg.norm(gram)) + rounding)), TINY)
