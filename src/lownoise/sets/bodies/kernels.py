# SPDX-License-Identifier: Apache-2.0
"""The different entries of x ⊗ … ⊗ x, and the harmonic parts of symmetric tensors in them.

With m the monomials x^α, |α| = ℓ, each in its multinomial number Dα of entries, x ⊗ … ⊗ x has the
orthonormal coordinates D^{½}m. There the operator p ↦ |x|²Δp is symmetric, and the projection to
the part of degree k is a polynomial in it, Πₖ = Π (A − λⱼ)/(λₖ − λⱼ) over the other parts. So
Kₖ = D^{−½}ΠₖD^{−½} is D⁻¹ times that polynomial in the integer matrix of the operator: whole
numbers over whole numbers, of which floats hold all but the last bits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies.harmonics import harmonics

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_WIDE = 2**62


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


def _over(top: Any, below: int, whole: Vector) -> Any:  # noqa: ANN401
    from scipy.sparse import csr_array

    floats = top.astype(np.float64) / float(below) / whole[:, None]
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
