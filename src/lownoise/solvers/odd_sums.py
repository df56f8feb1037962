# SPDX-License-Identifier: Apache-2.0
"""The least noise around an image of a cube that odd sums of signs prove (ours).

With D = diag(y) − Σ λₜvₜvₜᵀ and e = Σ yᵢ − Σ λₜ (see `sets.bodies.multipliers`) noise e·F·D⁻¹·Fᵀ
covers F·[−1, 1]ᵏ. With A = ωLF its size is √(e·f), f = ‖diag(A·D⁻¹·Aᵀ)‖_{p/2}, and as f has degree
−1 the least of e·f is where e + f is least: a convex programme in (y, λ). It is solved by Newton's
method with the barrier −log det D − Σ log λₜ. With the rows V of eᵢ and vₜ the second derivative of
gⱼ = aⱼᵀD⁻¹aⱼ is twice the product, entry by entry, of V·D⁻¹·Vᵀ and V·D⁻¹aⱼaⱼᵀD⁻¹·Vᵀ. Where p is
large its place is taken by one that rises as the barrier falls.

Of sums of three signs those are taken that the second moment of signs which D would have,
Z = D⁻¹·Aᵀ·diag(c)·A·D⁻¹, has shortest: of true signs no ⟨v, Zv⟩ is below 1.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, final

import numpy as np
import scipy

from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_ROUNDS, _MORE = 3, 200
_SHORT = 1 - 1e-2  # what a sum is worth a row for
_TIES = 9  # decimals: sums that are as short but for the last bits stand in order
_SLACK = 1e-3  # of the greatest weight: a sum of less is left out
_NEAR = 1e-3  # of the size: what the barrier's weight may cost
_FIRST, _FALLS = 1e-2, 0.15
_STEPS, _CENTERED = 25, 0.3
_SHARPEST, _SHARP = 8.0, 1.0
_HALVINGS = 20
_INSIDE = 4e-3  # of the least eigenvalue of D: what sums that are new take away
_RIDGE = 1e-7  # of the mean y: what keeps D off the rim, so that whoever checks it sees it above 0
_SIGNS = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])


def least_sums(
    images: Vector, squares: Vector, order: float, query_weights: Vector
) -> tuple[Vector, Vector]:
    """Return multipliers that prove the least noise, or nearly, and D/e.

    Args:
        images: ωLF, shape (m, k), its greatest size about 1.
        squares: y > 0 that prove the least without sums, shape (k,).
        order: p in [2, ∞].
        query_weights: c, that prove that these do, shape (m,).

    Returns:
        The multipliers, shape (1 + n, k), and D/e, shape (k, k).

    Raises:
        LinAlgError: where floats do not find them.
    """
    k = squares.size
    y, sums, weights = squares, np.zeros((0, k)), np.zeros(0)
    seen, c = images.T / y[:, None], query_weights
    for _ in range(_ROUNDS):
        kept = weights > _SLACK * np.max(weights, initial=0.0)
        sums, weights = sums[kept], weights[kept]
        more = _shortest((seen * c) @ seen.T, _MORE)
        known = [bool(np.any(np.all(sums == row, axis=1))) for row in more]
        more = more[~np.array(known, dtype=bool)]
        room = float(np.linalg.eigvalsh(np.diag(y) - (sums.T * weights) @ sums)[0])
        sums = np.vstack([sums, more])
        programme = _Programme(images, sums, order)
        started = np.full(len(more), _INSIDE * room / max(len(more), 1))
        y, weights, seen, c = programme.solved(np.concatenate([y, weights, started]))
    y = y + _RIDGE * np.mean(y)
    form = np.diag(y) - (sums.T * weights) @ sums
    table = np.vstack([y, weights[:, None] * sums])
    return frozen(table), form / float(np.sum(y) - np.sum(weights))


def _shortest(second: Vector, most: int) -> Vector:
    """Return the sums of three signs that are the shortest, as rows, shape (n, k).

    Args:
        second: Z, shape (k, k).
        most: how many at most.
    """
    size = np.sqrt(np.maximum(np.diag(second), np.finfo(float).tiny))  # some may not be seen
    alike = second / np.outer(size, size)
    places = np.array(list(combinations(range(len(size)), 3)), dtype=np.int64)
    pairs = [alike[places[:, i], places[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))]
    both = np.array([[s[0] * s[1], s[0] * s[2], s[1] * s[2]] for s in _SIGNS])
    squares = 3 + 2 * both @ np.array(pairs)
    best = np.argmin(squares, axis=0)
    least = np.round(squares[best, np.arange(len(places))], _TIES)
    chosen = np.argsort(least, kind="stable")[:most]
    chosen = chosen[least[chosen] < _SHORT]
    found = np.zeros((len(chosen), len(size)))
    found[np.arange(len(chosen))[:, None], places[chosen]] = _SIGNS[best[chosen]]
    return found


@final
class _Programme:
    """The least e + f over x = (y, λ), of given sums.

    Args:
        images: A, shape (m, k).
        sums: v as rows, shape (n, k).
        order: p.
    """

    def __init__(self, images: Vector, sums: Vector, order: float) -> None:
        k = images.shape[1]
        self._images, self._order, self._k = images, order, k
        self._rows = np.vstack([np.eye(k), sums])
        self._ways = np.concatenate([np.ones(k), -np.ones(len(sums))])

    def solved(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return y, λ, D⁻¹Aᵀ and the weights of answers there, from a point inside."""
        count = x.size
        f, _ = self._size(x, self._order / 2)
        e = float(self._ways @ x)
        x = x * math.sqrt(f / e)
        value = 2 * math.sqrt(e * f)
        weight = _FIRST * value / count
        while True:
            power = min(self._order / 2, _SHARPEST + _SHARP * value / (weight * count))
            for _ in range(_STEPS):
                step, falls = self._step(x, weight, power)
                moved = self._ahead(x, step, falls, weight, power)
                if moved is None:
                    break
                x = moved
                if falls < _CENTERED * weight * math.sqrt(count):
                    break
            f, c = self._size(x, power)
            value = f + float(self._ways @ x)
            if 2 * weight * count < _NEAR * value:
                break
            weight *= _FALLS
        factor = scipy.linalg.cholesky(self._form(x), lower=True)
        return x[: self._k], x[self._k :], scipy.linalg.cho_solve((factor, True), self._images.T), c

    def _form(self, x: Vector) -> Vector:
        return np.asarray((self._rows.T * (self._ways * x)) @ self._rows)

    def _size(self, x: Vector, power: float) -> tuple[float, Vector]:
        """Return f and how much of it each answer's variance is worth."""
        factor = scipy.linalg.cholesky(self._form(x), lower=True)
        half = scipy.linalg.solve_triangular(factor, self._images.T, lower=True)
        variances = np.sum(np.square(half), axis=0)
        f = float(order_norm(variances, power))
        if math.isinf(power):
            return f, (variances == f) * 1.0
        return f, (variances / f) ** (power - 1)

    def _value(self, x: Vector, weight: float, power: float) -> float:
        """Return e + f and the barrier; infinite outside."""
        weights = x[self._k :]
        if np.any(weights <= 0):
            return math.inf
        try:
            factor = scipy.linalg.cholesky(self._form(x), lower=True)
        except np.linalg.LinAlgError:
            return math.inf
        half = scipy.linalg.solve_triangular(factor, self._images.T, lower=True)
        f = float(order_norm(np.sum(np.square(half), axis=0), power))
        barrier = 2 * np.sum(np.log(np.diag(factor))) + np.sum(np.log(weights))
        return float(f + self._ways @ x - weight * barrier)

    def _step(self, x: Vector, weight: float, power: float) -> tuple[Vector, float]:
        """Return Newton's step, and by how much the value falls along it at first."""
        k, ways = self._k, self._ways
        factor = scipy.linalg.cholesky(self._form(x), lower=True)
        half = scipy.linalg.solve_triangular(factor, self._rows.T, lower=True)
        sight = scipy.linalg.solve_triangular(factor, self._images.T, lower=True)
        gram, seen = half.T @ half, half.T @ sight
        variances = np.sum(np.square(sight), axis=0)
        f = float(order_norm(variances, power))
        part = variances / f
        c = part ** (power - 1)
        slopes = -ways[:, None] * np.square(seen)  # of variances, shape (k + n, m)
        slope = slopes @ c + ways - weight * ways * np.diag(gram)
        slope[k:] -= weight / x[k:]
        bend = np.outer(ways, ways) * gram * (2 * (seen * c) @ seen.T + weight * gram)
        if power > 1:
            own, each = slopes @ c, slopes * part ** (power - 2)
            bend += (power - 1) / f * (each @ slopes.T - np.outer(own, own))
        bend[np.arange(k, x.size), np.arange(k, x.size)] += weight / np.square(x[k:])
        unit = 1 / np.sqrt(np.diag(bend))
        scaled = bend * np.outer(unit, unit) + 1e-13 * np.eye(x.size)
        step = -unit * np.linalg.solve(scaled, unit * slope)
        return step, max(float(-slope @ step), 0.0)

    def _ahead(
        self, x: Vector, step: Vector, falls: float, weight: float, power: float
    ) -> Vector | None:
        """Return a point along a step where the value is less; None where floats find none."""
        here = self._value(x, weight, power)
        for k in range(_HALVINGS):
            there = x + 2.0**-k * step
            if self._value(there, weight, power) <= here - 0.1 * 2.0**-k * falls:
                return there
        return None
