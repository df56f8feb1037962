# SPDX-License-Identifier: Apache-2.0
"""A matrix that proves a lower bound to anybody who can add and multiply fractions.

Let [[G, X], [Xᵀ, C]] be positive semidefinite. As [[M, −I], [−I, M⁻¹]] is so for every M ≻ 0, their
inner product tr GM − 2·tr X + tr CM⁻¹ is at least 0: half of tr GM + tr CM⁻¹ is at least tr X, and
so is the fidelity of G and C, its minimum. Where G = Lᵀdiag(ω²c)L and C is the second moment of a
measure of mass w on a body S,

    √tr_{p/2}(ωLMLᵀω) ≥ tr X/√(‖c‖_q·w)   for every M that covers S, q = p/(p − 2).

All of G, C and X are fractions, so no rounding is left but that of the norm. With the polar factor
T of R·Aᵀ, where G = AᵀA and C = RᵀR, X = AᵀTᵀR reaches the fidelity; a little of it is given up so
that what rounding X to floats does is covered (ours).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import shrunk

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

Rational = list[list[Fraction]]

_GIVEN = (2.0**-30, 2.0**-24, 2.0**-18)  # of X: where G or C is nearly singular, more
LARGEST = 16  # coordinates: fractions of more take seconds


def moment(rows: Vector, weights: Vector, *, moves: bool = False) -> Rational:
    """Return Σ wᵢ·rowᵢ·rowᵢᵀ exactly, about the weighted mean where the body moves.

    Args:
        rows: shape (n, d).
        weights: w ≥ 0, not all 0 where the body moves, shape (n,).
        moves: whether the body stands for all its translates.

    Examples:
        >>> [[str(v) for v in row] for row in moment(np.array([[0.5, 1.0]]), np.array([2.0]))]
        [['1/2', '1'], ['1', '2']]
    """
    w = [Fraction(v) for v in weights.tolist()]
    exact = [[Fraction(v) for v in row] for row in rows.tolist()]
    d = rows.shape[1]
    if moves:
        mass, none = sum(w), Fraction(0)
        pairs = list(zip(w, exact, strict=True))
        mean = [sum((v * row[j] for v, row in pairs), none) / mass for j in range(d)]
        exact = [[v - m for v, m in zip(row, mean, strict=True)] for row in exact]
    return [
        [
            sum((v * row[i] * row[j] for v, row in zip(w, exact, strict=True)), Fraction(0))
            for j in range(d)
        ]
        for i in range(d)
    ]


def witness(G: Rational, C: Rational) -> Vector | None:
    """Return X in floats with [[G, X], [Xᵀ, C]] ⪰ 0 and a trace near the fidelity, shape (d, d).

    None beyond 16 coordinates, or where G or C has no inverse that floats find.

    Args:
        G: shape (d, d).
        C: shape (d, d).

    Examples:
        >>> one = [[Fraction(4)]]
        >>> found = witness(one, one)
        >>> bool(abs(found[0, 0] - 4) < 1e-8), proves(one, one, found)
        (True, True)
    """
    if not 0 < len(G) <= LARGEST:
        return None
    try:
        A, R = (np.linalg.cholesky(np.array(each, dtype=np.float64)).T for each in (G, C))
    except np.linalg.LinAlgError:
        return None
    left, _, right = np.linalg.svd(R @ A.T)
    best = A.T @ (left @ right).T @ R
    found = (shrunk(best, given) for given in _GIVEN)
    return next((X for X in found if np.all(np.isfinite(X)) and proves(G, C, X)), None)


def proves(G: Rational, C: Rational, X: Vector) -> bool:
    """Return whether [[G, X], [Xᵀ, C]] is positive semidefinite, in exact fractions.

    Args:
        G: shape (d, d), symmetric.
        C: shape (d, d), symmetric.
        X: finite, shape (d, d).

    Examples:
        >>> one = [[Fraction(1)]]
        >>> proves(one, one, np.eye(1)), proves(one, one, np.eye(1) * 1.0000001)
        (True, False)
    """
    exact = [[Fraction(v) for v in row] for row in X.tolist()]
    turned = [list(column) for column in zip(*exact, strict=True)]
    rows = [g + x for g, x in zip(G, exact, strict=True)]
    rows += [x + c for x, c in zip(turned, C, strict=True)]
    while rows:  # Gauss: a pivot above 0, or of 0 with nothing in its row
        first, *rest = rows
        pivot = first[0]
        if pivot < 0 or (pivot == 0 and any(first)):
            return False
        if pivot:
            rows = [
                [v - row[0] * u / pivot for u, v in zip(first[1:], row[1:], strict=True)]
                for row in rest
            ]
        else:
            rows = [row[1:] for row in rest]
    return True
