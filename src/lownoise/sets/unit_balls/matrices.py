# SPDX-License-Identifier: Apache-2.0
"""What unit balls of matrices are computed by.

Singular values, with a proof of how far off they are. Rows and columns brought into balance, and
the best weights whose rows and columns sum to at most one, which need not be exact: bounds are
computed from what is returned.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lownoise.numbers.rounding import grown, growth
from lownoise.sets.unit_balls.abstract import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_CROOKED = 0.25  # a defect of orthogonality beyond which nothing is built on a decomposition
_LEAST = 1e-150
_CYCLES = 40
_SETTLED = 1e-9
_ROUNDING = 1e-13
_SCALINGS = 40
_THIN = 1e-30
_FAR = 50.0
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_FAINTEST = 1e-250
_ROUNDS = 80
_SOLVED = 1e-13
_TOWARDS = 0.99  # of the way to the boundary
_RIDGE = 1e-15  # sums of a and b do not change when one falls by what the other gains


class Singular(NamedTuple):
    """What is known of the singular values of n matrices.

    For every norm φ of vectors that neither signs nor the order of entries change, φ of the true
    values is at most stretch·φ(values) + off·φ(e₁).

    Args:
        values: falling, shape (n, m), m the smaller number of rows and columns.
        stretch: about 1, shape (n,).
        off: about 0, shape (n,).
    """

    values: Vector
    stretch: Vector
    off: Vector


def singular_values(matrices: Vector) -> Singular:
    """Return the singular values of `matrices`, shape (n, r, c), and what rounding can hide.

    LAPACK's U diag(s) Vᵀ is checked, not trusted: with A = U diag(s) Vᵀ + E the true values are at
    most ‖U‖·‖V‖·s plus those of E, in φ (Ky Fan's inequality, and Ostrowski's for the product;
    Horn and Johnson 1991, 3.3.16 and 3.4.4). ‖U‖² is at most 1 + m·max |UᵀU − I|, and the singular
    values of E sum to at most √(m·r·c)·max |E|, which bounds φ in parts of φ(e₁).

    A matrix has the same arithmetic wherever it stands and whatever stands beside it: LAPACK sees
    one matrix at a time, and everything else goes entry by entry.

    Examples:
        >>> singular_values(np.array([[[3.0, 0.0], [0.0, -4.0]]])).values.round(9)
        array([[4., 3.]])
    """
    n, r, c = matrices.shape
    m = min(r, c)
    found = Singular(np.zeros((n, m)), np.ones(n), np.zeros(n))
    top = np.max(np.abs(matrices), axis=(1, 2), initial=0.0)
    used = np.flatnonzero(top > 0)
    if not used.size:
        return found
    # powers of two: nothing is rounded but what is 2^1022 times smaller than the largest entry
    unit = np.frexp(top[used])[1]
    scaled = np.ldexp(matrices[used], -unit[:, None, None])
    u, s, v = decomposed(scaled)
    stretch = (1 + m * _defect(u)) * (1 + m * _defect(np.swapaxes(v, 1, 2)))
    rest = scaled.copy()
    for k in range(m):
        rest -= (u[:, :, k] * s[:, k, None])[:, :, None] * v[:, k, None, :]
    # |A| ≤ 1, and Σₖ |uᵢₖ|sₖ|vₖⱼ| ≤ s₁·‖U‖·‖V‖ < 2s₁
    lost = growth(3 * m + 9) * (1 + 2 * s[:, 0])
    off = grown(math.sqrt(m * r * c) * (np.max(np.abs(rest), axis=(1, 2)) + lost))
    crude = ~(stretch <= 1 + _CROOKED) | ~np.isfinite(off)
    # all that is left to say is that the sum of singular values is at most √m times the length
    found.values[used] = np.ldexp(np.where(crude[:, None], 0.0, s), unit[:, None])
    found.stretch[used] = np.where(crude, 1.0, stretch)
    found.off[used] = np.ldexp(np.where(crude, grown(math.sqrt(m * r * c)), off), unit)
    return found


def decomposed(matrices: Vector) -> tuple[Vector, Vector, Vector]:
    """Return U, s and Vᵀ of each matrix; zeros where LAPACK finds none.

    Examples:
        >>> decomposed(np.array([[[0.0, 2.0]]]))[1]
        array([[2.]])
    """
    try:
        u, s, v = np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError:
        if len(matrices) > 1:
            parts = [decomposed(one[None]) for one in matrices]
            return (
                np.concatenate([part[0] for part in parts]),
                np.concatenate([part[1] for part in parts]),
                np.concatenate([part[2] for part in parts]),
            )
        _, r, c = matrices.shape
        m = min(r, c)
        return np.zeros((1, r, m)), np.zeros((1, m)), np.zeros((1, m, c))
    return u, s, v


def _defect(columns: Vector) -> Vector:
    """Return at least max |UᵀU − I| of each matrix U, shape (n, r, m)."""
    n, r, m = columns.shape
    gram = np.zeros((n, m, m))
    for i in range(r):
        gram += columns[:, i, :, None] * columns[:, i, None, :]
    size = np.max(np.abs(gram), axis=(1, 2))
    off = np.max(np.abs(gram - np.eye(m)), axis=(1, 2))
    return np.asarray(grown(off + 2 * growth(r + 9) * size))


def least_sums(y: Vector) -> list[tuple[Vector, Vector]]:
    """Return pairs a, b with yᵢⱼ ≤ aᵢ + bⱼ, and not much less; y ≥ 0, shape (r, c).

    Examples:
        >>> sums = [a[:, None] + b for a, b in least_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))]
        >>> bool(np.allclose(sums[0], [[1.0, 2.0], [3.0, 4.0]]))
        True
    """
    rows, columns = np.max(y, axis=1), np.max(y, axis=0)
    fitted = np.mean(y, axis=1) - np.mean(y) / 2
    starts = [fitted, rows / 2, rows, np.zeros_like(rows)]
    found = []
    for start in starts:
        b = np.max(y - start[:, None], axis=0)
        a = np.max(y - b, axis=1)
        b = np.max(y - a[:, None], axis=0)
        found.append((a, b))
    found.append((rows / 2, columns / 2))
    return [(_raised(y, a, b), b) for a, b in found]


def _raised(y: Vector, a: Vector, b: Vector) -> Vector:
    """Return a, raised by what rounding can have hidden."""
    size = np.max(np.abs(a)) + np.max(np.abs(b)) + np.max(y)
    return np.asarray(a + max(float(np.max(y - (a[:, None] + b))), 0.0) + 2.0**-50 * size)


def scalings(z: Vector) -> list[tuple[Vector, Vector]]:
    """Return pairs f, h ≥ 0 such that z/(fᵢhⱼ) has sums more alike; z ≥ 0, shape (r, c).

    The first is all ones; the last is Sinkhorn's; the others are powers of that.
    """
    f = np.where(np.sum(z, axis=1) > 0, 1.0, 0.0)
    h = np.where(np.sum(z, axis=0) > 0, 1.0, 0.0)
    z = z / np.max(z)
    for _ in range(_SCALINGS):
        f = z @ np.divide(1.0, h, out=np.zeros_like(h), where=h > 0)
        h = np.divide(1.0, f, out=np.zeros_like(f), where=f > 0) @ z
        if not (np.all(np.isfinite(f)) and np.all(np.isfinite(h))):
            return [(np.ones(z.shape[0]), np.ones(z.shape[1]))]
    f, h = f / np.max(f), h / np.max(h)
    return [(np.where(f > 0, f**share, 0.0), np.where(h > 0, h**share, 0.0)) for share in _SHARES]


def balanced(g: Vector, order: float) -> Vector:
    """Return z with nearly the greatest Σ√(gz), its sums of rows and columns in balls of ℓ_order/2.

    The dual problem is, with s dual to order/2,

        min over a, b ≥ 0 of Σ gᵢⱼ/(aᵢ + bⱼ) + ‖a‖_s + ‖b‖_s,   z = g/(a + b)².

    By Cauchy's inequality g/(a + b) is at most g·(λ²/a + (1 − λ)²/b), with equality for
    λ = a/(a + b): so with λ fixed rows and columns part, and each has a closed form. Every third
    step is extrapolated where that gains (squared extrapolation, Varadhan and Roland 2008).

    Args:
        g: shape (r, c), at least 0, not all 0.
        order: above 2.

    Examples:
        >>> z = balanced(np.array([[4.0, 1.0], [1.0, 4.0]]), 4.0)
        >>> np.sum(z.sum(axis=0) ** 2).round(9)
        np.float64(1.0)
    """
    g = np.maximum(g / np.max(g), _LEAST)
    r, c = g.shape
    rows, columns = NormBall(r, order), NormBall(c, order)

    def stepped(x: Vector) -> Vector:
        z = g / np.square(x[:r, None] + x[r:])
        part = np.square(x) * np.append(np.sum(z, axis=1), np.sum(z, axis=0))
        v = np.append(rows.best_squares(part[:r]), columns.best_squares(part[r:]))
        return _kept(np.sqrt(part / np.maximum(v, _LEAST)))

    def value(x: Vector) -> float:
        size = rows.energy_up(x[:r]) + columns.energy_up(x[r:])
        return size + float(np.sum(g / (x[:r, None] + x[r:])))

    x = np.append(np.sqrt(np.sum(g, axis=1)), np.sqrt(np.sum(g, axis=0)))
    for _ in range(_CYCLES):
        start, first = x, stepped(x)
        second = stepped(first)
        change = np.log(first / start)
        bend = np.log(second / first) - change
        x, least = second, value(second)
        if (size := float(np.linalg.norm(bend))) > 0:
            length = max(float(np.linalg.norm(change)) / size, 1.0)
            ahead = 2 * length * change + length**2 * bend
            tried = stepped(_kept(start * np.exp(np.clip(ahead, -_FAR, _FAR))))
            if value(tried) <= least * (1 + _ROUNDING):
                x = tried
        if float(np.max(np.abs(change))) < _SETTLED:
            break
    return np.asarray(g / np.square(x[:r, None] + x[r:]))


def _kept(x: Vector) -> Vector:
    return np.maximum(x, _THIN * float(np.max(x)))


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
    g = np.maximum(gains / np.max(gains), _FAINTEST)
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
