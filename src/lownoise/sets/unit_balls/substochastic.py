# SPDX-License-Identifier: Apache-2.0
"""The best weights whose rows and columns sum to at most one: an interior-point method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LEAST = 1e-250
_ROUNDS = 80
_SOLVED = 1e-13
_TOWARDS = 0.99  # of the way to the boundary
_RIDGE = 1e-15  # sums of a and b do not change when one falls by what the other gains


def best_substochastic(gains: Vector, total: float) -> Vector:
    """Return z ≥ 0 that makes Σ√(gz) greatest, rows and columns ≤ 1 in sum, all entries ≤ total.

    The dual problem is

        min over a, b, t ≥ 0 of Σ gᵢⱼ/(aᵢ + bⱼ + t) + Σa + Σb + total·t,   z = g/(a + b + t)²,

    convex, with r + c + 1 unknowns: primal-dual Newton steps, about fifteen.

    Args:
        gains: g ≥ 0, shape (r, c), not all 0.
        total: above 0.

    Examples:
        >>> best_substochastic(np.array([[4.0, 1.0], [1.0, 4.0]]), 2.0).round(9)
        array([[0.8, 0.2],
               [0.2, 0.8]])
    """
    g = np.maximum(gains / np.max(gains), _LEAST)
    r, c = g.shape
    n = r + c + 1
    cost = np.append(np.ones(r + c), total)
    x = np.full(n, np.sqrt(np.sum(g) / min(r, c, total)) / 3)
    slope = cost.copy()  # the multipliers of x ≥ 0
    z = g
    for _ in range(_ROUNDS):
        y = x[:r, None] + x[r:-1] + x[-1]
        z = g / np.square(y)
        gradient = cost - np.concatenate([np.sum(z, axis=1), np.sum(z, axis=0), [np.sum(z)]])
        off = float(np.max(np.abs((gradient - slope) / cost)))
        gap = float(x @ slope)
        if gap <= _SOLVED * float(cost @ x) and off < _SOLVED:
            break
        target = (0.1 if off < 1 else 0.5) * gap / n
        curvature = _curvature(2 * z / y)
        curvature[np.diag_indices(n)] += slope / x
        unit = 1 / np.sqrt(np.diag(curvature))
        curvature *= unit[:, None] * unit
        curvature[np.diag_indices(n)] += _RIDGE
        try:
            moved = unit * np.linalg.solve(curvature, unit * (target / x - gradient))
        except np.linalg.LinAlgError:
            break
        turned = target / x - slope - slope / x * moved
        x, slope = x + _inside(x, moved) * moved, slope + _inside(slope, turned) * turned
    return z


def _curvature(w: Vector) -> Vector:
    """Return the second derivative of Σ g/(aᵢ + bⱼ + t), from w = 2g/(aᵢ + bⱼ + t)³."""
    r, c = w.shape
    found = np.zeros((r + c + 1, r + c + 1))
    rows, columns = np.sum(w, axis=1), np.sum(w, axis=0)
    found[:r, r:-1], found[r:-1, :r] = w, w.T
    found[-1, :-1] = found[:-1, -1] = sums = np.append(rows, columns)
    found[np.diag_indices(r + c + 1)] = np.append(sums, np.sum(w))
    return found


def _inside(values: Vector, step: Vector) -> float:
    """Return how much of a step keeps the values above 0."""
    falls = step < 0
    if not np.any(falls):
        return 1.0
    return min(1.0, _TOWARDS * float(np.min(-values[falls] / step[falls])))
