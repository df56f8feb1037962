# SPDX-License-Identifier: Apache-2.0
"""Symmetric tensors under rotations: their harmonic parts and what each entry has of them.

Symmetric tensors of order ℓ are polynomials T ↦ ⟨T, x ⊗ … ⊗ x⟩, homogeneous of degree ℓ, and fall
into parts |x|^{ℓ−k}·(harmonic of degree k), k = ℓ, ℓ − 2, …, each moved into itself by every
rotation and by none of its own subspaces. All of this is rational, and computed so.

With m the monomials x^α, |α| = ℓ, each in its multinomial number Dα of entries, x ⊗ … ⊗ x has the
orthonormal coordinates D^{½}m. There the operator p ↦ |x|²Δp is symmetric, and the projection to
the part of degree k is a polynomial in it, Πₖ = Π (A − λⱼ)/(λₖ − λⱼ) over the other parts. So
Kₖ = D^{−½}ΠₖD^{−½} is D⁻¹ times that polynomial in the integer matrix of the operator: whole
numbers over whole numbers, of which floats hold all but the last bits.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Integers, Vector

Exponents = tuple[int, ...]
_WIDE = 2**62


@final
@dataclass(frozen=True)
class Harmonics:
    """The parts of symmetric tensors of order ℓ in d ≥ 2 dimensions.

    Args:
        size: d.
        power: ℓ.
    """

    size: int
    power: int

    @property
    def degrees(self) -> tuple[int, ...]:
        """K = ℓ, ℓ − 2, …, 1 or 0."""
        return tuple(range(self.power, -1, -2))

    @cached_property
    def dimensions(self) -> Vector:
        """The dimension of each part, C(d + k − 1, k) − C(d + k − 3, k − 2)."""
        d = self.size
        return frozen(
            np.array(
                [
                    math.comb(d + k - 1, k) - (math.comb(d + k - 3, k - 2) if k > 1 else 0)
                    for k in self.degrees
                ],
                dtype=np.float64,
            )
        )

    @cached_property
    def shares(self) -> Vector:
        """The squared length of each part of x ⊗ … ⊗ x, |x| = 1; they add up to 1.

        tˡ = Σ aₖPₖ(t) with Pₖ(1) = 1, by Rodrigues' formula aₖ/dimₖ = E tˡPₖ(t) is
        ℓ!/((ℓ − k)!·2ᵏ)·(½)ⱼ/(d/2)_{j+k}, j = (ℓ − k)/2, t a coordinate of the unit sphere.
        """
        found = [
            float(self._share(k) * int(n))
            for k, n in zip(self.degrees, self.dimensions, strict=True)
        ]
        return frozen(np.array(found))

    @cached_property
    def patterns(self) -> tuple[Exponents, ...]:
        """The kinds of entries: how often their indices occur, falling."""
        return tuple(_partitions(self.power, self.power, self.size))

    @cached_property
    def counts(self) -> Vector:
        """How many entries are of each kind."""
        found = []
        for pattern in self.patterns:
            orders = _orders(pattern)
            places = math.perm(self.size, len(pattern))
            for n in Counter(pattern).values():
                places //= math.factorial(n)
            found.append(float(orders * places))
        return frozen(np.array(found))

    @cached_property
    def table(self) -> Vector:
        """The squared length of each part of an entry's unit vector, shape (kinds, parts).

        For the monomial p = x^α, of Dα copies, that is the diagonal of Kₖ: the coefficient of p in
        its own part of degree k, over Dα. And that part follows from p by the operator p ↦ |x|²Δp,
        which is (ℓ(ℓ + d − 2) − k(k + d − 2)) on the part of degree k.
        """
        found = [self._parts(pattern) for pattern in self.patterns]
        return frozen(np.array([[float(v) for v in row] for row in found]))

    def value(self, degree: int) -> Fraction:
        """Return what p ↦ |x|²Δp is on the part of that degree."""
        ell, d = self.power, self.size
        return Fraction(ell * (ell + d - 2) - degree * (degree + d - 2))

    def zonal(self, cosines: Vector) -> Vector:
        """Return Pₖ(u) with Pₖ(1) = 1 for each part, shapes (n,) and (n, parts)."""
        d = self.size
        rows = [np.ones_like(cosines), cosines]
        for k in range(1, self.power):
            # (k + d − 2)·P_{k+1} = (2k + d − 2)·u·P_k − k·P_{k−1}
            rows.append(((2 * k + d - 2) * cosines * rows[k] - k * rows[k - 1]) / (k + d - 2))
        return np.stack([rows[k] for k in self.degrees], axis=1)

    def _parts(self, pattern: Exponents) -> list[Fraction]:
        """Return the squared lengths of the parts of one entry, from Dⁱp for few i."""
        whole = (*pattern, *(0 for _ in range(self.size - len(pattern))))
        polynomial = {whole: Fraction(1)}
        own = []
        for _ in self.degrees:
            own.append(polynomial.get(whole, Fraction(0)))
            polynomial = _stepped(polynomial)
        values = [self.value(k) for k in self.degrees]
        found = []
        for i in range(len(values)):
            # Π (D − λ)/(λₖ − λ) over the other values, as coefficients of powers of D
            row = [Fraction(1)]
            for other in values[:i] + values[i + 1 :]:
                pairs = zip([Fraction(0), *row], [*row, Fraction(0)], strict=True)
                row = [(low - other * high) / (values[i] - other) for low, high in pairs]
            part = sum((c * m for c, m in zip(row, own, strict=True)), start=Fraction(0))
            found.append(part / _orders(pattern))
        return found

    def _share(self, degree: int) -> Fraction:
        """Return aₖ/dimₖ = E tˡPₖ(t)."""
        ell, j = self.power, (self.power - degree) // 2
        front = Fraction(math.factorial(ell), math.factorial(ell - degree) * 2**degree)
        return front * _rising(Fraction(1, 2), j) / _rising(Fraction(self.size, 2), j + degree)


def _orders(pattern: Exponents) -> int:
    """Return in how many orders indices that occur so often can stand."""
    return math.factorial(sum(pattern)) // math.prod(math.factorial(a) for a in pattern)


def _stepped(polynomial: dict[Exponents, Fraction]) -> dict[Exponents, Fraction]:
    """Return |x|²Δp."""
    bent: dict[Exponents, Fraction] = {}
    for exponents, c in polynomial.items():
        for i, a in enumerate(exponents):
            if a > 1:
                less = (*exponents[:i], a - 2, *exponents[i + 1 :])
                bent[less] = bent.get(less, Fraction(0)) + c * a * (a - 1)
    found: dict[Exponents, Fraction] = {}
    for exponents, c in bent.items():
        for i, a in enumerate(exponents):
            more = (*exponents[:i], a + 2, *exponents[i + 1 :])
            found[more] = found.get(more, Fraction(0)) + c
    return found


def _rising(start: Fraction, times: int) -> Fraction:
    return math.prod((start + i for i in range(times)), start=Fraction(1))


def _partitions(total: int, most: int, parts: int) -> Iterator[Exponents]:
    """Yield all ways to write a number as a falling sum of at most that many parts."""
    if not total:
        yield ()
    elif parts:
        for first in range(min(total, most), 0, -1):
            for rest in _partitions(total - first, first, parts - 1):
                yield (first, *rest)


@lru_cache(maxsize=16)
def harmonics(size: int, power: int) -> Harmonics:
    """Return the parts, once computed for all who ask."""
    return Harmonics(size, power)


@lru_cache(maxsize=8)
def monomials(size: int, power: int) -> Integers:
    """Return the exponents of the different entries, shape (k, size), by their sorted indices.

    Examples:
        >>> monomials(2, 2).tolist()
        [[2, 0], [1, 1], [0, 2]]
    """
    indices = np.array(list(combinations_with_replacement(range(size), power)))
    found = np.zeros((len(indices), size), dtype=np.int64)
    for column in indices.T:
        found[np.arange(len(found)), column] += 1
    return found


@lru_cache(maxsize=8)
def copies(size: int, power: int) -> Integers:
    """Return which monomial each entry is, shape (size^power,)."""
    entries = np.arange(size**power)
    indices = np.sort(np.stack([entries // size**i % size for i in range(power)], axis=1))
    keys = indices @ size ** np.arange(power)[::-1]
    return np.asarray(np.unique(keys, return_inverse=True)[1].ravel())


@lru_cache(maxsize=8)
def multiplicities(size: int, power: int) -> Vector:
    """Return how many entries are copies of each monomial, shape (k,)."""
    return frozen(np.bincount(copies(size, power)).astype(np.float64))


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


@lru_cache(maxsize=4)
def kernels(size: int, power: int) -> tuple[Any, ...]:
    """Return Kₖ for each part, sparse, shape (k, k); every entry is off by 2^-50 of itself at most.

    Entries of monomials that differ in the parity of an exponent are 0.
    """
    parts = harmonics(size, power)
    values = [int(parts.value(k)) for k in parts.degrees]
    step = _operator(size, power)
    most = int(np.max(np.sum(np.abs(step), axis=0))) + max(values)
    exact = most ** max(len(values) - 1, 1) < _WIDE  # otherwise in numbers of any length
    whole = multiplicities(size, power)
    found = []
    for own in values:
        others = [value for value in values if value != own]
        top = _polynomial(step if exact else step.astype(object), others, exact=exact)
        below = math.prod(own - value for value in others)
        found.append(_over(top, below, whole))
    return tuple(found)


def _operator(size: int, power: int) -> Integers:
    """Return the matrix of p ↦ |x|²Δp on coefficients of monomials, shape (k, k)."""
    exponents = monomials(size, power)
    place = {tuple(alpha): i for i, alpha in enumerate(exponents.tolist())}
    matrix = np.zeros((len(place), len(place)), dtype=np.int64)
    for alpha, j in place.items():
        for i, a in enumerate(alpha):
            for other in range(size) if a > 1 else ():
                beta = list(alpha)
                beta[i] -= 2
                beta[other] += 2
                matrix[place[tuple(beta)], j] += a * (a - 1)
    return matrix


def _polynomial(step: Any, others: list[int], *, exact: bool) -> Any:  # noqa: ANN401
    """Return Π (A − λ) in whole numbers."""
    from scipy.sparse import csr_array

    one = np.eye(len(step), dtype=step.dtype)
    if not exact:
        found = one
        for value in others:
            found = step @ found - value * found
        return found
    thin, total = csr_array(step), csr_array(one)
    for value in others:
        total = thin @ total - value * total
    return total.toarray()


def _over(top: Any, below: int, counts: Vector) -> Any:  # noqa: ANN401
    from scipy.sparse import csr_array

    floats = top.astype(np.float64) / float(below) / counts[:, None]
    return csr_array(floats)


@lru_cache(maxsize=4)
def axes(size: int, power: int) -> tuple[tuple[Vector, ...], float]:
    """Return columns that span each part in orthonormal coordinates, and how far off they are.

    For every part there are exactly orthonormal columns that span it and differ from those by that
    much at most, in the Frobenius norm: with δ ≥ ‖UUᵀ − Π‖ the columns ΠU differ from U by δ(1 + δ)
    and, being orthonormal within 2δ, from their polar factor by as much again.
    """
    root = np.sqrt(multiplicities(size, power))
    projections = [root[:, None] * kernel.toarray() * root for kernel in kernels(size, power)]
    values, vectors = np.linalg.eigh(sum(j * each for j, each in enumerate(projections)))
    part = np.rint(values).astype(np.int64)
    found, off = [], 0.0
    for j, projection in enumerate(projections):
        own = vectors[:, part == j]
        apart = np.linalg.norm(own @ own.T - projection) + len(root) * 2.0**-50 * len(projections)
        off = max(off, 5 * float(apart))
        found.append(frozen(own))
    return tuple(found), off
