# SPDX-License-Identifier: Apache-2.0
"""How few sign vectors are as good as all: rows of Hadamard matrices.

An m × m matrix of signs whose columns are orthogonal is a Hadamard matrix. The rows of any d of its
columns are m sign vectors with (1/m)·Σ hhᵀ = 1, as all 2^d have.

Kronecker products of such matrices are some, too. Sylvester's has order 2. Of Paley's, let Q have
the Legendre symbols (i − j | q) of a prime q, bordered by ones so that QQᵀ = q·1: where
q ≡ 3 (mod 4) it is made antisymmetric, and 1 + Q has order q + 1; where q ≡ 1 it is symmetric, and
Q ⊗ (1 1; 1 −1) + 1 ⊗ (1 −1; −1 −1) has order 2(q + 1).
"""

from __future__ import annotations

from functools import lru_cache

_ONE = (0,)


def hadamard_order(size: int) -> int:
    """Return the least m ≥ d that these products have; all multiples of 4 below 52 are among them.

    Args:
        size: d ≥ 1.

    Examples:
        >>> [hadamard_order(d) for d in (1, 2, 3, 9, 16, 21, 90)]
        [1, 2, 4, 12, 16, 24, 96]
    """
    order = size
    while not _factors(order):
        order += 1
    return order


@lru_cache(maxsize=4096)
def _factors(order: int) -> tuple[int, ...]:
    """Return 2 and primes whose matrices' product has that order; () where there are none."""
    if order <= 2:  # noqa: PLR2004
        return _ONE if order == 1 else (2,)
    if order % 4:
        return ()
    if _prime(order - 1):
        return (order - 1,)
    half = order // 2
    if half % 4 == 2 and _prime(half - 1):  # noqa: PLR2004
        return (half - 1,)
    for part in range(2, int(order**0.5) + 1):
        if order % part == 0 and _factors(part) and _factors(order // part):
            return _factors(part) + _factors(order // part)
    return ()


def _prime(number: int) -> bool:
    return number > 1 and all(number % k for k in range(2, int(number**0.5) + 1))
