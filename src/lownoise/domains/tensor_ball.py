# SPDX-License-Identifier: Apache-2.0
"""Moment tensors of the Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.domains.abstract import AbstractDifference, AbstractDomain
from lownoise.errors import DomainError

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector

_BLOCK = 1 << 20  # numbers
_ROUNDS = 30
_INSIDE = 1 - 2.0**-44  # so that rounded lengths stay in the ball
_NEAR = 1e-9


@final
@dataclass(frozen=True)
class BallPower(AbstractDomain):
    """{x ⊗ … ⊗ x : |x| ≤ radius}; made by `TensorPower`, size ≥ 2, radius > 0.

    Args:
        size: d.
        power: ℓ.
        radius: of the Euclidean ball.
    """

    size: int
    power: int
    radius: float

    @property
    def dimension(self) -> int:
        """The number of entries d^ℓ."""
        return int(self.size**self.power)

    @property
    def value(self) -> float:
        """The greatest length of a tensor."""
        return math.prod([self.radius] * self.power)

    @property
    def odd(self) -> bool:
        """Whether the power is odd: then −K is K."""
        return self.power % 2 == 1

    @cached_property
    def monomials(self) -> Integers:
        """The exponents of the different entries, shape (k, size): C(d + ℓ − 1, ℓ) of them."""
        keys = np.unique(self._keys)
        digits = np.stack([keys // self.size**i % self.size for i in range(self.power)], axis=1)
        found = np.zeros((len(keys), self.size), dtype=np.int64)
        for column in digits.T:
            found[np.arange(len(keys)), column] += 1
        return found

    @cached_property
    def copies(self) -> Integers:
        """Which monomial each entry is, shape (d^ℓ,)."""
        return np.unique(self._keys, return_inverse=True)[1].ravel()

    @cached_property
    def center(self) -> Vector:
        """Half the mean over the sphere where the power is even, else zero; shape (d^ℓ,)."""
        if self.odd:
            return frozen(np.zeros(self.dimension))
        return frozen(self.value / 2 * sphere_moments(self.monomials)[self.copies])

    @cached_property
    def lower(self) -> Vector:
        """At most the least value of each entry, shape (d^ℓ,)."""
        even = np.all(self.monomials % 2 == 0, axis=1)[self.copies]
        return frozen(np.where(even, 0.0, -self.upper))

    @cached_property
    def upper(self) -> Vector:
        """At least the greatest value of each entry, R^ℓ·Π (αᵢ/ℓ)^{αᵢ/2}, shape (d^ℓ,)."""
        share = self.monomials / self.power
        size = np.exp(np.sum(self.monomials / 2 * np.log(np.where(share > 0, share, 1.0)), axis=1))
        return frozen((self.value * size * (1 + 2.0**-40))[self.copies])

    def support(self, direction: Vector) -> float:
        """Return at least max of ⟨direction, x⟩ over K, shape (d^ℓ,).

        Exact up to rounding for powers 1 and 2; beyond, the greatest eigenvalue or singular value
        of the symmetric part folded to a matrix (the exact one is NP-hard from power 3 on).
        """
        counts = np.bincount(self.copies)
        means = np.bincount(self.copies, weights=direction) / counts
        half = self.power // 2
        matrix = means[self.copies].reshape(self.size**half, -1)
        if self.odd:
            return self.value * float(np.linalg.norm(matrix, 2))
        return self.value * max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d^ℓ,), lies in K, within 1e-9 of radius^power."""
        return bool(np.all(np.abs(self.clamp(point) - point) <= _NEAR * self.value))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d^ℓ), each moved to a tensor near it."""
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        found = np.empty_like(rows)
        step = max(_BLOCK // self.dimension, 1)
        for start in range(0, len(rows), step):
            found[start : start + step] = self._clamped(rows[start : start + step])
        return found.reshape(np.shape(points))

    def _clamped(self, rows: Vector) -> Vector:
        """Return the best multiple of a tensor power that power iterations end at.

        They start from the fibre through the greatest entry, which for a tensor of K is x already.
        Sums go entry by entry, the same for every row.
        """
        n, d = len(rows), self.size
        t = np.clip(rows, -self.value, self.value) / self.value
        at = np.argmax(np.abs(t), axis=1) // d
        x = t.reshape(n, -1, d)[np.arange(n), at]
        for _ in range(_ROUNDS if self.power > 1 else 0):
            x = _unit(x)
            x = _contracted(t, x, self.power - 1)
        x = x if self.power == 1 else _unit(x)
        size = _length(x) if self.power == 1 else _contracted(t, x, self.power)[:, 0]
        x = _unit(x)
        low = -1.0 if self.odd and self.power > 1 else 0.0
        size = np.clip(size, low, 1.0)
        root = np.abs(size) ** (1 / self.power) * np.where(size < 0, -1.0, 1.0)
        x = x * (np.minimum(np.abs(root), _INSIDE) * np.sign(root) * self.radius)[:, None]
        found = np.ones((n, 1))
        for _ in range(self.power):
            found = (found[:, :, None] * x[:, None, :]).reshape(n, -1)
        return found

    @cached_property
    def _keys(self) -> Integers:
        """Each entry's sorted index as a number, shape (d^ℓ,)."""
        entries = np.arange(self.dimension)
        indices = np.sort(
            np.stack([entries // self.size**i % self.size for i in range(self.power)], axis=1)
        )
        return np.asarray(indices @ self.size ** np.arange(self.power)[::-1])


@final
@dataclass(frozen=True)
class BallPowerDifference(AbstractDifference):
    """{x − y : x, y in a `BallPower`}; made by `difference_body`."""

    base: BallPower

    def contains(self, point: Vector) -> bool:
        """Return whether `point` is the difference of two records.

        Raises:
            DomainError: always: no rule is known.
        """
        raise DomainError("BallPowerDifference has no rule for points in it; ask of the records")


def sphere_moments(exponents: Integers) -> Vector:
    """Return E Π uᵢ^αᵢ for u uniform on the unit sphere, shapes (n, d) and (n,).

    Π (αᵢ − 1)!! / (d(d + 2)…(d + |α| − 2)) where all αᵢ are even, else 0.

    Examples:
        >>> sphere_moments(np.array([[2, 0], [4, 0], [2, 2], [1, 1]])).round(9)
        array([0.5  , 0.375, 0.125, 0.   ])
    """
    d = exponents.shape[1]
    most = int(np.max(exponents, initial=0))
    odd_factorials = np.array([math.prod(range(a - 1, 0, -2)) for a in range(most + 1)], float)
    degrees = np.sum(exponents, axis=1)
    below = {int(k): math.prod(range(d, d + int(k), 2)) for k in np.unique(degrees)}
    found = np.prod(odd_factorials[exponents], axis=1)
    found /= np.array([below[int(k)] for k in degrees], dtype=np.float64)
    return np.where(np.all(exponents % 2 == 0, axis=1), found, 0.0)


def _contracted(tensors: Vector, x: Vector, times: int) -> Vector:
    """Return each row's tensor with x in its last places, shapes (n, d^ℓ), (n, d), (n, d^…)."""
    n, d = x.shape
    for _ in range(times):
        fibres = tensors.reshape(n, -1, d)
        tensors = np.zeros(fibres.shape[:2])
        for i in range(d):
            tensors += fibres[:, :, i] * x[:, i, None]
    return tensors


def _length(x: Vector) -> Vector:
    total = np.zeros(len(x))
    for column in x.T:
        total += column * column
    return np.sqrt(total)


def _unit(x: Vector) -> Vector:
    """Return x over its length, zero where that vanishes."""
    top = np.max(np.abs(x), axis=1, keepdims=True)
    x = x / np.where(top > 0, top, 1.0)
    size = _length(x)[:, None]
    return np.asarray(x / np.where(size > 0, size, 1.0))
