# SPDX-License-Identifier: Apache-2.0
"""The errors of pure noise shaped as hulls that nothing here samples: by integrals over directions.

A body with the norm ‖·‖ has, u uniform in it and w = Lθ with θ uniform on the unit sphere,

    E‖Au‖₂² = k/(k + 2) · E ‖Aw‖₂²‖w‖^{−(k+2)} / E ‖w‖^{−k},

whatever the invertible L, here a root of the points' second moment. Directions are those of uniform
points of the ball, of the cube and of what is between, and are weighted by their density, so that
no few of them matter much more than the others. A norm is a linear program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from lownoise.bounds.volume import ball_log_volume

_SETTLED = 1e-7
_ORDERS = (2.0, 4.0, math.inf)


@dataclass(frozen=True)
class Estimate:
    """A root mean square error, and its standard error, which is 0 where it is exact."""

    value: float
    off: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.4g}" if not self.off else f"{self.value:.4g} ± {self.off:.1g}"


def distinct(points: np.ndarray) -> np.ndarray:
    """Return the points without repeats and opposites; shape (N, k)."""
    first = np.argmax(points != 0, axis=1)
    sign = np.sign(points[np.arange(len(points)), first])
    return np.unique(points * sign[:, None], axis=0)


def hull_norms(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return min {Σ|c| : Σ cᵢpᵢ = w} for each w, by columns a few at a time; shape (n,)."""
    k = points.shape[1]
    if k == 1:
        return np.asarray(np.abs(directions[:, 0]) / np.max(np.abs(points)))
    spanning = qr(points.T, mode="r", pivoting=True)[1][:k]
    aligned = directions @ np.linalg.inv(points.T @ points) @ points.T
    found = np.empty(len(directions))
    for i, w in enumerate(directions):
        used = np.union1d(spanning, np.argsort(-np.abs(aligned[i]), kind="stable")[: 2 * k])
        while True:
            own = points[used].T
            told = linprog(
                np.ones(2 * used.size), A_eq=np.hstack([own, -own]), b_eq=w, method="highs-ds"
            )
            assert told.status == 0, told.message
            slack = np.abs(points @ told.eqlin.marginals)
            if np.max(slack) <= 1 + _SETTLED:
                break
            worst = np.argsort(-slack, kind="stable")[:k]
            used = np.union1d(used, worst[slack[worst] > 1])
        found[i] = told.fun
    return found


def _directions(samples: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return directions of uniform points of ℓ_p balls, and ln of their mixed density."""
    randomness = np.random.default_rng(seed)
    drawn = []
    for order in _ORDERS:
        shape = (-(-samples // len(_ORDERS)), k)
        size = randomness.random(shape)
        if not math.isinf(order):
            size = randomness.gamma(1 / order, size=shape) ** (1 / order)
        drawn.append(size * randomness.choice([-1.0, 1.0], size=shape))
    theta = np.vstack(drawn)
    theta /= np.linalg.norm(theta, axis=1)[:, None]
    logs = [
        -k * np.log(np.linalg.norm(theta, order, axis=1)) - ball_log_volume(k, order)
        for order in _ORDERS
    ]
    return theta, np.logaddexp.reduce(logs, axis=0)


@dataclass(frozen=True)
class Squares:
    """E(aᵢᵀu)² for each row aᵢ of A, u uniform in a hull of k dimensions, as two means.

    Args:
        k: the dimension.
        below: a number for each direction, whose mean is the volume's.
        above: for each direction and row, those of the second moment, shape (n, r).
    """

    k: int
    below: np.ndarray
    above: np.ndarray

    def kept(self, first: int = 0) -> Estimate:
        """Return the sum over the rows from `first` on, and its standard error."""
        own = np.sum(self.above[:, first:], axis=1)
        ratio = np.mean(own) / np.mean(self.below)
        off = np.std(own - ratio * self.below) / np.mean(self.below) / math.sqrt(len(own))
        share = self.k / (self.k + 2)
        return Estimate(share * float(ratio), share * float(off))


def squares(points: np.ndarray, rows: np.ndarray, samples: int, seed: int) -> Squares:
    """Return the second moments of the hull of ±points along the rows of A, shape (r, k)."""
    k = points.shape[1]
    if k == 1:
        own = np.max(points**2) * rows[:, 0] ** 2
        return Squares(1, np.ones(1), own[None])
    theta, density = _directions(samples, k, seed)
    w = theta @ np.linalg.cholesky(points.T @ points / len(points)).T
    logs = np.log(hull_norms(points, w))
    weight = -k * logs - density
    below = np.exp(weight - np.max(weight))
    above = (w @ rows.T) ** 2 * (np.exp(-2 * logs) * below)[:, None]
    return Squares(k, below, above)


def pure_errors(points: np.ndarray, samples: int, seed: int) -> tuple[Estimate, Estimate]:
    """Return the root mean square errors at ε = 1 of the K-norm and the recursive mechanism.

    The first is √((d + 1)(d + 2)·E‖u‖²). The second, with the best split, is (Σ Vⱼ^{1/3})^{3/2}, Vⱼ
    what level j keeps: it is the better of levels that halve and of two levels, parted where the
    eigenvalues of the points' second moment have the greatest gap. Its axes do not depend on the
    simulation, so that what levels keep is estimated without bias.
    """
    d = points.shape[1]
    values, vectors = np.linalg.eigh(points.T @ points)
    order = np.argsort(-values, kind="stable")
    values, axes = values[order], vectors[:, order].T
    whole = squares(points, axes, samples, seed)
    levels = {d: whole}

    def split(sizes: list[int]) -> Estimate:
        kept, offs = [], []
        for n, first in zip(sizes, [*sizes[1:], 0], strict=True):
            if n not in levels:
                levels[n] = squares(points @ axes[:n].T, np.eye(n), samples // 2, seed + n)
            own = levels[n].kept(first)
            kept.append((n + 1) * (n + 2) * own.value)
            offs.append(own.off / own.value)
        thirds = np.cbrt(kept)
        total = float(np.sum(thirds))
        relative = float(np.linalg.norm(thirds * np.array(offs))) / total / 2
        return Estimate(total**1.5, total**1.5 * relative)

    ways = [[d >> i for i in range(d.bit_length())]]
    ways.append([d, 1 + int(np.argmax(values[:-1] / values[1:]))])
    best = min((split(way) for way in ways), key=lambda own: own.value)
    found = whole.kept()
    value = math.sqrt((d + 1) * (d + 2) * found.value)
    return Estimate(value, value / 2 * found.off / found.value), best
