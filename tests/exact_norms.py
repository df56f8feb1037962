# SPDX-License-Identifier: Apache-2.0
"""Norms of hulls and zonotopes by their definitions, in fractions; for a few points in the plane.

A linear program takes its least value at a basic solution: all of them are looked at.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def solved(columns, right):
    """Return λ with Σ λᵢ·columnᵢ = right, in fractions; None where the columns are dependent."""
    n = len(right)
    rows = [[Fraction(c[i]) for c in columns] + [Fraction(right[i])] for i in range(n)]
    for i in range(n):
        pivot = next((k for k in range(i, n) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def square(factor, changes):
    """Return max sᵀ(LLᵀ)⁻¹s over changes s of whole numbers, L being lower triangular."""
    L = [[Fraction(float(x)) for x in row] for row in factor]
    assert not any(x for i, row in enumerate(L) for x in row[i + 1 :])
    worst = Fraction(0)
    for s in changes:
        z = []
        for row, own in zip(L, s, strict=True):
            z.append((own - dot(row[: len(z)], z)) / row[len(z)])
        worst = max(worst, dot(z, z))
    return worst


def coded_changes(mechanism, codes):
    """Return what records with these codes, or any two of them, change of the integers."""
    codes = [[Fraction(int(k)) for k in row] for row in codes]
    if mechanism.totals.count_step is None:
        return [[a - b for a, b in zip(x, y, strict=True)] for x, y in combinations(codes, 2)]
    return [[*x, 1 / Fraction(mechanism.totals.count_step)] for x in codes]


def hull_norm(points, s):
    """Return min {Σ|λᵢ| : Σ λᵢpᵢ = s}."""
    own = [solved(chosen, s) for chosen in combinations(points, len(s))]
    return min(sum(map(abs, found)) for found in own if found is not None)


def zonotope_norm(generators, s):
    """Return min {max|λᵢ| : Σ λᵢgᵢ = s} = max ⟨a, s⟩/Σ|⟨a, gᵢ⟩| over normals of d − 1 of them."""
    d = len(s)
    best = Fraction(0)
    for chosen in combinations(generators, d - 1):
        normal = [
            (-1) ** i
            * determinant([[Fraction(x) for j, x in enumerate(g) if j != i] for g in chosen])
            for i in range(d)
        ]
        width = sum(abs(dot(normal, g)) for g in generators)
        if width:
            best = max(best, abs(dot(normal, s)) / width)
    return best


def dot(a, b):
    """Return Σ aᵢbᵢ."""
    return sum((x * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))


def determinant(rows):
    """Return the determinant, by its first row."""
    if not rows:
        return Fraction(1)
    return sum(
        (-1) ** j * x * determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j, x in enumerate(rows[0])
    )
