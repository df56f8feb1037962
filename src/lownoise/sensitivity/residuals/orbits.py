# SPDX-License-Identifier: Apache-2.0
"""Marginals up to the exchange of attributes that play the same part.

Counts of records over n₁ × … × n_D cells split into one residual space for each set A of
attributes: tables over A whose sum over any one of its attributes is 0. By the symmetry of
categories the least noise is independent on these spaces, with one variance σ_A² on each, and a
cell of the marginal of B has the variance

    V_B = Σ_{A⊆B} σ_A² Π_{i∈A} (1 − 1/nᵢ) Π_{j∈B∖A} nⱼ⁻²

(ours; averaging a covariance over permutations of categories keeps privacy and errors, and what
commutes with them all is a multiple of the identity on each residual space). Attributes of one size
whose exchange leaves the weighted marginals as they are give equal variances, because the program
is convex: an *orbit* is a set of attributes up to such exchanges, and one variable stands for it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals

Orbit = tuple[int, ...]  # the types of a set's attributes, rising, repeated as often as they occur


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Orbits:
    """Marginals and residual spaces, one entry for all that exchanges make equal.

    Args:
        kinds: of each attribute, its type, shape (D,).
        sizes: n of each type, shape (t,).
        members: how many attributes each type has, shape (t,).
        asked: the orbits of the marginals, g of them.
        weights: ω of each, on variances, shape (g,).
        shares: h of each type, shape (t,): two records have the product 1 − h along an attribute
            in which they agree, and −h where they differ; 1/n where it is not given.
        counted: how many answers the marginals of each orbit have, shape (g,); their cells where it
            is not given.
        answer_parts: what the residual variances add to those of answers: rows, columns and
            entries; that of cells where it is not given.
    """

    kinds: Integers
    sizes: Integers
    members: Integers
    asked: tuple[Orbit, ...]
    weights: Vector
    shares: Vector | None = None
    counted: Vector | None = None
    answer_parts: tuple[Integers, Integers, Vector] | None = None

    @cached_property
    def products(self) -> Vector:
        """The h of each type, shape (t,)."""
        return frozen(1 / self.sizes) if self.shares is None else self.shares

    @cached_property
    def residuals(self) -> tuple[Orbit, ...]:
        """The orbits of the residual spaces that some marginal sees, those of one point left out.

        By rising number of attributes, so that the empty set comes first.
        """
        found: set[Orbit] = set()
        for orbit in self.asked:
            kept = [k for k in orbit if self.sizes[k] > 1]
            for count in range(len(kept) + 1):
                found.update(itertools.combinations(kept, count))
        return tuple(sorted(found, key=lambda orbit: (len(orbit), orbit)))

    @cached_property
    def place(self) -> dict[Orbit, int]:
        """Where each orbit stands in `residuals`."""
        return {orbit: i for i, orbit in enumerate(self.residuals)}

    @cached_property
    def cells(self) -> Vector:
        """How many cells the marginals of each orbit have together, shape (g,)."""
        if self.counted is not None:
            return self.counted
        sizes = self.sizes.tolist()
        cells = [math.prod(sizes[k] for k in o) * self.copies(o) for o in self.asked]
        return frozen(np.array(cells, dtype=np.float64))

    def orbit(self, chosen: Iterable[int]) -> Orbit:
        """Return the orbit of a set of attributes."""
        return tuple(sorted(self.kinds[list(chosen)].tolist()))

    def copies(self, orbit: Orbit) -> int:
        """Return how many sets of attributes the orbit has."""
        return math.prod(
            math.comb(int(self.members[k]), count) for k, count in Counter(orbit).items()
        )

    def members_of(self, orbit: Orbit) -> list[int]:
        """Return the attributes of one set of an orbit, rising."""
        found: list[int] = []
        for kind, count in Counter(orbit).items():
            found += np.flatnonzero(self.kinds == kind)[:count].tolist()
        return sorted(found)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many sets of attributes each residual orbit has."""
        return tuple(map(self.copies, self.residuals))

    @cached_property
    def trace(self) -> Vector:
        """Σ over the sets A of each residual orbit of Π_{i∈A} (1 − hᵢ), shape (r,).

        Within (|A| + 2)·2^-52 of it, relatively.
        """
        part = 1 - self.products
        own = [
            math.prod(part[list(orbit)].tolist()) * count
            for orbit, count in zip(self.residuals, self.counts, strict=True)
        ]
        return frozen(np.array(own))

    @cached_property
    def variance_terms(self) -> tuple[Integers, Integers, Vector]:
        """The matrix from residual variances to cell variances V: rows, columns and entries."""
        if self.answer_parts is not None:
            return self.answer_parts
        part, shrunk = 1 - 1 / self.sizes, 1 / np.square(self.sizes.astype(np.float64))
        rows, columns, entries = [], [], []
        for row, orbit in enumerate(self.asked):
            found: defaultdict[int, float] = defaultdict(float)
            for count in range(len(orbit) + 1):
                for inside in itertools.combinations(range(len(orbit)), count):
                    types = tuple(orbit[i] for i in inside)
                    place = self.place.get(types)
                    if place is None:
                        continue  # one of its attributes has one category: there is no such space
                    rest = [orbit[i] for i in range(len(orbit)) if i not in inside]
                    entry = math.prod(part[list(types)].tolist())
                    found[place] += entry * math.prod(shrunk[rest].tolist())
            rows += [row] * len(found)
            columns += list(found)
            entries += list(found.values())
        return np.array(rows), np.array(columns), frozen(np.array(entries))

    def cell_variances(self, variances: Vector) -> Vector:
        """Return V, the variance of a cell in each orbit of marginals, shape (g,).

        Args:
            variances: σ² of each residual orbit, shape (r,).
        """
        rows, columns, entries = self.variance_terms
        found: Vector = np.zeros(len(self.asked))
        np.add.at(found, rows, entries * variances[columns])
        return found


def marginal_orbits(question: Marginals) -> Orbits:
    """Return the orbits of a question's marginals.

    Examples:
        >>> from lownoise.questions import Marginals
        >>> ten = Marginals({f"x{i}": 10 for i in range(100)}, way=3)
        >>> found = marginal_orbits(ten)
        >>> ten.count, len(found.asked), len(found.residuals)
        (166751, 4, 4)
    """
    sizes = [a.size for a in question.attributes]
    # an ordered attribute is like no other
    alike = [(a.size, i if a.ordered else -1) for i, a in enumerate(question.attributes)]
    if question.way is not None:
        types = _numbered(alike)
        members = np.bincount(types)
        asked, weights = [], []
        for count in range(question.way + 1):
            for orbit in itertools.combinations_with_replacement(range(members.size), count):
                if all(c <= members[k] for k, c in Counter(orbit).items()):
                    asked.append(orbit)
                    weights.append(float(question.weights[count]))
    else:
        types = _interchangeable(alike, question.chosen, question.weights.tolist())
        members = np.bincount(types)
        found = {
            tuple(sorted(types[i] for i in chosen)): weight
            for chosen, weight in zip(question.chosen, question.weights.tolist(), strict=True)
        }
        asked, weights = list(found), list(found.values())
    kinds = np.array(types)
    first = [types.index(k) for k in range(members.size)]
    return Orbits(
        kinds=kinds,
        sizes=np.array(sizes)[first],
        members=members,
        asked=tuple(asked),
        weights=frozen(np.array(weights)),
    )


def _numbered(values: Iterable[object]) -> list[int]:
    """Return for each value the number of different values before its first place."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _interchangeable(
    sizes: Sequence[Any], sets: Sequence[tuple[int, ...]], weights: Sequence[float]
) -> list[int]:
    """Return the type of each attribute: equal where an exchange changes no weighted set.

    Exchanges of i with j and of j with k give that of i with k, so one attribute stands for all of
    its type.
    """
    weight_of = dict(zip(map(frozenset, sets), weights, strict=True))
    holding: list[list[frozenset[int]]] = [[] for _ in sizes]
    for chosen in weight_of:
        for i in chosen:
            holding[i].append(chosen)

    def part(i: int) -> object:  # exchanges preserve it, and it is cheap
        seen = Counter((weight_of[s], tuple(sorted(sizes[j] for j in s))) for s in holding[i])
        return sizes[i], frozenset(seen.items())

    def exchanged(i: int, j: int) -> bool:
        swap = {i: j, j: i}
        one_sided = [s for s in holding[i] + holding[j] if (i in s) != (j in s)]
        return all(
            weight_of.get(frozenset(swap.get(k, k) for k in s)) == weight_of[s] for s in one_sided
        )

    standing: defaultdict[object, list[int]] = defaultdict(list)
    types: list[int] = []
    for i in range(len(sizes)):
        alike = standing[part(i)]
        first = next((j for j in alike if exchanged(i, j)), None)
        if first is None:
            alike.append(i)
            types.append(max(types, default=-1) + 1)
        else:
            types.append(types[first])
    return types
