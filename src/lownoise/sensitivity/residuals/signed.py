# SPDX-License-Identifier: Apache-2.0
"""Signed tables: what independent noise on each of their cells reveals, and what they tell.

A *signed table* (P, C) of two disjoint sets of attributes, those of P with two categories each,
counts rows by the cells of C, a row with the sign of the parity of its values on P. With no P it is
the marginal of C; with no C it is a parity. A record is in one cell, so one that comes or goes
moves one number by 1; where one becomes another, two numbers move by 1 each, or one by 2, and none
where both agree on C and differ in an even number of the attributes of P. With scales b of
independent noise, Laplace or geometric, the moves add up:

    ε = Σ 1/b  over all tables, or  ε = max over changes of Σ 2/b  over the tables that change.

It tells of the residual space of A, P ⊆ A ⊆ P ∪ C, what independent noise on the cells of A would
that has the variance v·2^{−|P|}·Π_{j∈C∖A} nⱼ, v that of one number, and what one table tells of
different A is uncorrelated: centred directions are orthogonal. So the least squares estimate from
all tables is, space by space, the mean of what they tell with inverse variances as weights:

    1/σ_A² = Σ 2^{|P|}/(v·Π_{j∈C∖A} nⱼ)  over the tables with P ⊆ A ⊆ P ∪ C  (ours).

It is unbiased, and counts that are made of it agree on what they share.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals.orbits import Orbit, Orbits

_MOST_PATTERNS = 1 << 14  # of attributes that differ; of more, all tables are taken to change


@final
@dataclass(frozen=True, order=True)
class Signed:
    """The signed tables that exchanges of attributes make equal.

    Args:
        cells: the types of C, rising, repeated as often as they occur.
        signs: the types of P, likewise.
    """

    cells: Orbit
    signs: Orbit = ()


@final
@dataclass(frozen=True, eq=False)
class SignedTables:
    """Which signed tables are noised, an entry an orbit.

    Args:
        orbits: the marginals that are asked, and the types of attributes.
        asked: the orbits of signed tables, each once.
        public: whether the number of records is public.

    Raises:
        PlanError: where an orbit is none of these attributes, or its numbers never change.
    """

    orbits: Orbits
    asked: tuple[Signed, ...]
    public: bool

    def __post_init__(self) -> None:
        sizes, members = self.orbits.sizes.tolist(), self.orbits.members.tolist()
        for own in self.asked:
            both = Counter(own.cells) + Counter(own.signs)
            fits = all(0 <= k < len(sizes) and n <= members[k] for k, n in both.items())
            if (
                not fits
                or any(sizes[k] < 2 for k in both)  # noqa: PLR2004
                or any(sizes[k] != 2 for k in own.signs)  # noqa: PLR2004
                or list(own.cells) != sorted(own.cells)
                or list(own.signs) != sorted(own.signs)
                or (self.public and not both)
            ):
                raise PlanError("signed tables are not those of the attributes; plan again")
        if len(set(self.asked)) < len(self.asked):
            raise PlanError("a signed table stands twice; plan again")

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """How many tables each orbit has."""
        members = self.orbits.members.tolist()

        def count(own: Signed) -> int:
            cells, signs = Counter(own.cells), Counter(own.signs)
            return math.prod(
                math.comb(m, cells[k]) * math.comb(m - cells[k], signs[k])
                for k, m in enumerate(members)
            )

        return tuple(map(count, self.asked))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How many numbers each table of an orbit has."""
        sizes = self.orbits.sizes.tolist()
        return tuple(math.prod(sizes[k] for k in own.cells) for own in self.asked)

    @cached_property
    def information(self) -> tuple[Integers, Integers, Vector]:
        """What 1/v of each orbit's tables is multiplied by in 1/σ_A²: rows, columns, entries.

        Rows are residual orbits, columns those of tables.
        """
        sizes, members = self.orbits.sizes.tolist(), self.orbits.members.tolist()
        residuals, place = self.orbits.residuals, self.orbits.place
        rows, columns, entries = [], [], []
        for column, own in enumerate(self.asked):
            cells, signs = Counter(own.cells), Counter(own.signs)
            inside = list(cells.items())
            within = math.prod(c + 1 for _, c in inside)
            if within < len(residuals):
                picks = itertools.product(*(range(c + 1) for _, c in inside))
                kept = [dict(zip(cells, pick, strict=True)) for pick in picks]
                parts = [Counter(one) + signs for one in kept]
                orbits = [tuple(sorted(part.elements())) for part in parts]
            else:
                orbits = list(residuals)
            for orbit in orbits:
                if orbit not in place:
                    continue
                seen, entry = Counter(orbit), 2.0 ** len(own.signs)
                for k in {*seen, *cells, *signs}:
                    a, p, c = seen[k], signs[k], cells[k]
                    summed = c - (a - p)
                    if not 0 <= summed <= c:
                        entry = 0.0
                        break
                    entry *= math.comb(a, p) * math.comb(members[k] - a, summed)
                    entry *= float(sizes[k]) ** -summed
                if entry:
                    rows.append(place[orbit])
                    columns.append(column)
                    entries.append(entry)
        return np.array(rows, np.int64), np.array(columns, np.int64), frozen(np.array(entries))

    def precisions(self, squares: Vector) -> Vector:
        """Return 1/σ² of residual spaces from 1/v of orbits of tables, shapes (r,) and (s,)."""
        rows, columns, entries = self.information
        found = np.bincount(rows, entries * squares[columns], minlength=len(self.orbits.residuals))
        return np.asarray(found)

    def variances(self, numbers: Vector) -> Vector:
        """Return σ² of each residual space by least squares, shape (r,).

        That of the number of records is 0 where it is public; infinite where no table tells of it.

        Args:
            numbers: v of the noise of each number of an orbit's tables, in records, shape (s,).
        """
        with np.errstate(divide="ignore", over="ignore"):
            found = 1 / self.precisions(1 / numbers)
        return frozen(np.where(self.silent, 0.0, found))

    def cell_weights(
        self, numbers: Vector, chosen: Sequence[int]
    ) -> tuple[Vector, Integers, Vector]:
        """Return how much numbers of the tables count in one cell of a marginal, and how many.

        By least squares, a number in the cell c of (P, C) counts in the cell x of the attributes B

            Σ over A, P ⊆ A ⊆ P ∪ (B ∩ C), of its share in A's estimate ·
                2^{−|P|}·Π_{i∈A∖P} (δᵢ − 1/nᵢ)·Π_{j∈B∖A} 1/nⱼ,  δᵢ = 1 where c and x agree in i.

        Args:
            numbers: as of `variances`.
            chosen: B, rising, of two categories or more each.

        Returns:
            The weights, of which orbit's tables the numbers are, and how many have each, (k,).
        """
        sizes, members = self.orbits.sizes.tolist(), self.orbits.members.tolist()
        kinds = self.orbits.kinds.tolist()
        inside = [kinds[i] for i in chosen]
        free = Counter(inside)
        precision = self.precisions(1 / numbers)
        weights: list[float] = []
        orbits: list[int] = []
        counts: list[float] = []
        places = range(len(inside))
        for at, (own, square) in enumerate(zip(self.asked, (1 / numbers).tolist(), strict=True)):
            cells, signs = Counter(own.cells), Counter(own.signs)
            for p in _picks(places, inside, signs, exact=True):
                rest = [i for i in places if i not in p]
                for inner in _picks(rest, inside, cells, exact=False):
                    outer = cells - Counter(inside[i] for i in inner)
                    others = math.prod(
                        math.comb(members[k] - free[k], count) for k, count in outer.items()
                    )
                    if not others:
                        continue
                    beyond = math.prod(sizes[k] ** count for k, count in outer.items())
                    shares = {}
                    for within in _subsets(inner):
                        orbit = tuple(sorted(inside[i] for i in (*p, *within)))
                        if self.public and not orbit:
                            shares[within] = 0.0
                            continue
                        summed = math.prod(sizes[inside[i]] for i in inner if i not in within)
                        precise = square * 2.0 ** len(p) / (summed * beyond)
                        even = math.prod(sizes[inside[j]] for j in places if j not in (*p, *within))
                        share = precise / float(precision[self.orbits.place[orbit]])
                        shares[within] = share * 2.0 ** -len(p) / even
                    for agree in _subsets(inner):
                        weight = sum(
                            share * math.prod((i in agree) - 1 / sizes[inside[i]] for i in within)
                            for within, share in shares.items()
                        )
                        apart = math.prod(sizes[inside[i]] - 1 for i in inner if i not in agree)
                        weights.append(abs(weight))
                        orbits.append(at)
                        counts.append(float(others * beyond * apart))
        return np.array(weights), np.array(orbits, dtype=np.int64), np.array(counts)

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """Which residual orbits are known without noise: the number of records where public."""
        return np.array([self.public and not orbit for orbit in self.orbits.residuals])

    def epsilon_up(self, scales: Vector) -> float:
        """Return at least ε of independent noise of these scales, in records, shape (s,)."""
        if not np.all(scales > 0):
            return math.inf
        rates = [1 / Fraction(b) for b in scales.tolist()]
        every = sum((n * t for n, t in zip(self.copies, rates, strict=True)), Fraction(0))
        if not self.public:
            return fraction_up(every)
        bound = fraction_up(2 * every)
        changed = self.changed
        if changed is None:
            return bound
        return min(bound, grown(float(np.max(changed @ (1 / scales), initial=0.0)) * 2))

    @cached_property
    def changed(self) -> Vector | None:
        """How many tables of each orbit change at once, a row a pattern of attributes that differ.

        Of attributes that no table has the sign of, more that differ change more tables: all do.
        None where there are too many patterns.
        """
        members = self.orbits.members.tolist()
        signed = sorted({k for own in self.asked for k in own.signs})
        if math.prod(members[k] + 1 for k in signed) * len(self.asked) > _MOST_PATTERNS:
            return None
        rows = []
        for chosen in itertools.product(*(range(members[k] + 1) for k in signed)):
            differ = dict(enumerate(members)) | dict(zip(signed, chosen, strict=True))
            rows.append([float(self._changed(own, differ)) for own in self.asked])
        return frozen(np.array(rows))

    def _changed(self, own: Signed, differ: dict[int, int]) -> int:
        """Return how many tables of an orbit change where so many attributes of each type differ.

        Those that do not have all of C where both records agree, and of P an even number where they
        differ: with signs, half of all and of the even less the odd ones.
        """
        cells, signs = Counter(own.cells), Counter(own.signs)
        every = even = odd = 1
        for k, m in enumerate(self.orbits.members.tolist()):
            d, c, p = differ[k], cells[k], signs[k]
            agreeing = math.comb(m - d, c)
            every *= math.comb(m, c) * math.comb(m - c, p)
            even *= agreeing * math.comb(m - c, p)
            odd *= agreeing * sum(
                (-1) ** j * math.comb(d, j) * math.comb(m - d - c, p - j)
                for j in range(min(d, p) + 1)
                if m - d - c >= 0
            )
        return every - (even + odd) // 2

    def members(self, place: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the tables of an orbit: the attributes of C and of P, each rising."""
        own = self.asked[place]
        cells, signs = Counter(own.cells), Counter(own.signs)
        kinds = sorted({*cells, *signs})
        by_kind = [np.flatnonzero(self.orbits.kinds == k).tolist() for k in kinds]

        def splits(at: Sequence[int], k: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
            found = []
            for inside in itertools.combinations(at, cells[k]):
                rest = [i for i in at if i not in inside]
                found += [(inside, p) for p in itertools.combinations(rest, signs[k])]
            return found

        parts = [splits(at, k) for at, k in zip(by_kind, kinds, strict=True)]
        for choice in itertools.product(*parts):
            yield (
                tuple(sorted(itertools.chain.from_iterable(c for c, _ in choice))),
                tuple(sorted(itertools.chain.from_iterable(p for _, p in choice))),
            )


def _subsets(chosen: Sequence[int]) -> list[tuple[int, ...]]:
    return [s for k in range(len(chosen) + 1) for s in itertools.combinations(chosen, k)]


def _picks(
    places: Sequence[int], kinds: Sequence[int], most: Counter[int], *, exact: bool
) -> Iterator[tuple[int, ...]]:
    """Yield the places whose kinds occur as often as `most` has them, or at most so often."""
    for own in _subsets(places):
        found = Counter(kinds[i] for i in own)
        if found == most if exact else found <= most:
            yield own


def seen_sets(orbits: Orbits) -> list[Orbit]:
    """Return the asked orbits without attributes of one category, each once, the widest last."""
    sizes = orbits.sizes.tolist()
    found = {tuple(k for k in orbit if sizes[k] > 1) for orbit in orbits.asked}
    return sorted(found, key=lambda orbit: (len(orbit), orbit))


def cell_tables(orbits: Orbits, *, public: bool) -> SignedTables:
    """Return the cells of all marginals that are asked, but for a public number of records."""
    sets = [own for own in seen_sets(orbits) if own or not public]
    return SignedTables(orbits, tuple(Signed(own) for own in sets), public)


def residual_tables(orbits: Orbits, *, public: bool) -> SignedTables:
    """Return a table for each residual space: of attributes with two categories the difference."""
    sizes = orbits.sizes.tolist()
    return SignedTables(
        orbits,
        tuple(
            Signed(
                tuple(k for k in own if sizes[k] > 2),  # noqa: PLR2004
                tuple(k for k in own if sizes[k] == 2),  # noqa: PLR2004
            )
            for own in orbits.residuals
            if own or not public
        ),
        public,
    )


def full_table(orbits: Orbits, *, public: bool) -> SignedTables:
    """Return the one table of all attributes that some marginal sees."""
    sizes, seen = orbits.sizes.tolist(), {k for own in orbits.asked for k in own}
    own = tuple(k for k, m in enumerate(orbits.members.tolist()) for _ in range(m) if k in seen)
    kept = tuple(k for k in own if sizes[k] > 1)
    return SignedTables(orbits, (Signed(kept),) if kept or not public else (), public)


# by what follows the law's name in those of mechanisms
WAYS: dict[str, Callable[..., SignedTables]] = {
    "": cell_tables,
    "_residual": residual_tables,
    "_histogram": full_table,
}
