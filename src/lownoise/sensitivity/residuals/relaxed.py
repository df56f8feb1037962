# SPDX-License-Identifier: Apache-2.0
"""The costliest pattern where there are too many to look at all: found nearly, bounded surely.

With δᵢ = 1 where two records agree in attribute i and 0 where they differ, a pattern's cost is
2·(Σ_A σ_A⁻² Π (1 − 1/nᵢ) − g(δ)), and for sets A of up to three attributes

    g(δ) = Σ_A σ_A⁻² Π_{i∈A} (δᵢ − 1/nᵢ) = c₀ + c·δ + ½ δᵀCδ + ⅓ Σᵢ δᵢ·½ δᵀRᵢδ,   Rᵢ ≥ 0 hollow.

For any d with R + diag d = P positive semidefinite, and any x, on {0, 1}ᴰ

    ½ δᵀRδ = ½ δᵀPδ − ½ d·δ ≥ (Px − d/2)·δ − ½ xᵀPx                     (a tangent; δᵢ² = δᵢ),

which leaves a quadratic to bound from below. In signs z = (1, 2δ − 1) it is zᵀMz + a constant, and
zᵀMz ≥ −Σy wherever M + diag y is positive semidefinite (Delorme and Poljak 1993). Tangents at the
conditional means of the relaxation are the best ones (ours); what is not positive semidefinite in
floats is paid for entry by entry, so the bound does not rest on how x, d and y were found.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import lowered

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals.orbits import Orbits

MOST_ATTRIBUTES = 128
LARGEST_SETS = 3
_SLACK = 2.0**-36  # outward, of all terms together
_STARTS = 24
_TANGENTS = 8
_SWEEPS = 10
_BLOCKS = 12
_CLOSE = 1e-4
_POWERS = 30
_MARGIN = 1e-12
_FIT_FLOOR = 0.1
_LEAST = 1e-3


@lru_cache(maxsize=4)
def relaxed(orbits: Orbits) -> Relaxed | None:
    """Return the relaxation, or None where a set or all attributes are too many for it."""
    largest = max(map(len, orbits.residuals), default=0)
    fits = largest <= LARGEST_SETS and len(orbits.kinds) <= MOST_ATTRIBUTES
    return Relaxed(orbits) if fits else None


@final
@dataclass(frozen=True, eq=False)
class Relaxed:
    """g of one set of residual spaces; the rates σ⁻² are given later."""

    orbits: Orbits

    @cached_property
    def shrunk(self) -> Vector:
        """The h of each attribute that has more than one category, shape (D,): 1/n."""
        return self.orbits.products[self.orbits.kinds[self._kept]]

    @cached_property
    def _kept(self) -> Integers:
        return np.flatnonzero(self.orbits.sizes[self.orbits.kinds] > 1)

    @cached_property
    def _sets(self) -> list[tuple[Integers, Integers]]:
        """The sets of 1, 2 and 3 attributes, shape (m, k), and the orbit of each, shape (m,)."""
        kinds = self.orbits.kinds[self._kept]
        found = []
        for k in range(1, LARGEST_SETS + 1):
            places = {o: p for o, p in self.orbits.place.items() if len(o) == k}
            sets, orbit = [], []
            own = [np.flatnonzero(kinds == kind).tolist() for kind in range(len(self.orbits.sizes))]
            for types, place in places.items():
                chosen = [
                    list(itertools.combinations(own[kind], count))
                    for kind, count in Counter(types).items()
                ]
                listed = [tuple(itertools.chain(*c)) for c in itertools.product(*chosen)]
                sets += listed
                orbit += [place] * len(listed)
            found.append(
                (np.array(sets, dtype=np.int64).reshape(-1, k), np.array(orbit, dtype=np.int64))
            )
        return found

    def terms(self, rates: Vector) -> tuple[Vector, Vector, Vector]:
        """Return r_i, r_ij and r_ijk, symmetric and 0 where two agree."""
        count = len(self._kept)
        found = []
        for k, (sets, orbit) in enumerate(self._sets, start=1):
            table = np.zeros((count,) * k)
            for order in itertools.permutations(range(k)):
                table[tuple(sets[:, i] for i in order)] = rates[orbit]
            found.append(table)
        return found[0], found[1], found[2]

    def pattern(self, agree: Vector) -> Integers:
        """Return how many attributes of each type differ, shape (t,)."""
        differ = self._kept[agree < 0.5]  # noqa: PLR2004
        return np.bincount(self.orbits.kinds[differ], minlength=len(self.orbits.sizes))

    def search(self, rates: Vector) -> list[Vector]:
        """Return patterns that no one exchange of one attribute makes costlier, costliest first."""
        one, two, three = self.terms(rates)
        h, rng = self.shrunk, np.random.default_rng(0)
        count = h.size
        found: dict[bytes, tuple[float, Vector]] = {}
        for start in range(_STARTS):
            share = 0.0 if start == 0 else rng.uniform(0, 0.5)
            agree = (rng.random(count) < share).astype(np.float64)
            while True:
                t = agree - h
                slope3 = three @ t
                slope = one + two @ t + slope3 @ t / 2
                gain = np.where(agree > 0, slope, -slope)  # what a flip takes off g
                i = int(np.argmax(gain))
                if gain[i] <= _MARGIN * abs(slope[i]) + 1e-300:
                    break
                agree[i] = 1 - agree[i]
            value = float(one @ t + t @ (two / 2 + slope3 / 6) @ t)
            found[agree.tobytes()] = (value, agree)
        return [agree for _, agree in sorted(found.values(), key=lambda pair: pair[0])]

    def least(self, rates: Vector, agree: Vector) -> float:
        """Return at most the least g, near what `agree` has.

        Args:
            rates: σ⁻² of each residual orbit, shape (r,).
            agree: a pattern that is nearly the costliest, or the mean of some, shape (D,).
        """
        one, two, three = self.terms(rates)
        h = self.shrunk
        shifts = np.stack([_shift(r) for r in three]) if np.any(three) else np.zeros_like(two)
        forms, paid = _positive(three + shifts[:, :, None] * np.eye(h.size))
        lost3 = paid / 2
        pull = three @ h
        C = two - pull
        c = one - two @ h + pull @ h / 2
        constant = float(-one @ h + h @ (two / 2 - pull / 6) @ h)
        size = float(np.sum(one) + np.sum(two) / 2 + np.sum(three) / 6)
        best, means, vectors = -math.inf, np.tile(agree, (h.size, 1)), None
        for step in range(_TANGENTS):
            slopes = np.einsum("ijk,ik->ij", forms, means)
            heights = -0.5 * np.einsum("ij,ij->i", slopes, means) - lost3
            slopes -= shifts / 2
            np.fill_diagonal(slopes, 0.0)  # it is but for rounding: Rᵢ has no row i
            bound, vectors = _least_quadratic(c + heights / 3, C + (slopes + slopes.T) / 3, vectors)
            best = max(best, constant + bound)
            ahead = vectors[1:] @ vectors[0]
            chance = (1 + ahead) / 2
            both = (1 + ahead[:, None] + ahead + vectors[1:] @ vectors[1:].T) / 4
            found = np.clip(both / np.maximum(chance, _LEAST)[:, None], 0, 1)
            means = means + (found - means) * (1.0 if step == 0 else 0.5)
        return lowered(best, size, _SLACK)


def _shift(rows: Vector) -> Vector:
    """Return d ≥ 0 that makes a matrix plus diag d positive semidefinite, nearly the least."""
    live = np.any(rows, axis=1)
    shift = np.zeros(len(rows))
    if not np.any(live):
        return shift
    matrix = rows[np.ix_(live, live)]
    d, v = np.zeros(len(matrix)), np.full(len(matrix), 1 / math.sqrt(len(matrix)))
    for _ in range(_POWERS):  # the rank one that fits beside the diagonal
        v = matrix @ v + d * v
        v /= np.linalg.norm(v)
        d = v * v * float(v @ (matrix @ v) + v @ (d * v))
    sums = matrix.sum(axis=1)
    fits = [sums]  # diagonal dominance needs no more: good where few are not 0
    for fit in (d, sums**2 / sums.sum()):
        scale = np.maximum(np.sqrt(fit), _FIT_FLOOR * float(np.mean(np.sqrt(sums))) / len(sums))
        least = float(np.linalg.eigvalsh((matrix + np.diag(fit)) / scale / scale[:, None])[0])
        fits.append(fit + (max(-least, 0.0) + _MARGIN) * scale**2)
    shift[live] = min(fits, key=lambda fit: float(fit.sum()))
    return shift


def _positive(matrices: Vector) -> tuple[Vector, Vector]:
    """Return semidefinite matrices nearby, and Σ|difference| of each; shapes (…, n, n) and (…,)."""
    values, vectors = np.linalg.eigh(matrices)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    near = roots @ np.swapaxes(roots, -1, -2)
    return near, np.sum(np.abs(matrices - near), axis=(-1, -2))


def _least_quadratic(c: Vector, C: Vector, vectors: Vector | None) -> tuple[float, Vector]:
    """Return at most min c·δ + ½ δᵀCδ over {0, 1}ᴰ, and vectors that relax (1, 2δ − 1)."""
    n = c.size + 1
    M = np.zeros((n, n))
    M[1:, 1:] = C / 8
    M[0, 1:] = M[1:, 0] = C.sum(axis=1) / 8 + c / 4
    constant = float(C.sum()) / 8 + float(c.sum()) / 2
    rank = math.isqrt(2 * n) + 2
    if vectors is None:
        vectors = np.random.default_rng(0).standard_normal((n, rank))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    V = vectors.copy()
    best = -math.inf
    for _ in range(_BLOCKS):
        for i in list(range(n)) * _SWEEPS:  # each as far from the pull of the others as it can be
            pull = M[i] @ V
            size = math.sqrt(float(pull @ pull))
            if size > 0:
                V[i] = pull / -size
        pulls = M @ V
        value = float(np.sum(pulls * V))
        y = np.linalg.norm(pulls, axis=1)
        y = np.maximum(y, _LEAST * np.abs(M).sum(axis=1))
        scale = np.sqrt(np.where(y > 0, y, 1.0))
        off = float(np.linalg.eigvalsh(M / scale / scale[:, None] + np.diag(y / scale**2))[0])
        y *= 1 + max(-off, 0.0) * (1 + _MARGIN) + _MARGIN
        _, paid = _positive(M + np.diag(y))
        best = max(best, -float(y.sum()) - float(paid))
        if value - best <= _CLOSE * float(y.sum()):
            break
    return constant + best, V
