# SPDX-License-Identifier: Apache-2.0
"""The totals of marginals: exact counts on residual spaces, piece by piece.

For every set A of unordered attributes that a marginal sees, integers are summed in which each
category stands against the last one, and get noise; which integers along ordered attributes, a
layout says. Nothing of the counts is rounded. There may be 10^8 integers: they come piece by piece.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.totals import FINEST, AbstractTotals, check_public, check_rows
from lownoise.noise.units import Repeated
from lownoise.numbers.arrays import stacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.sensitivity.relations import AbstractWord, Relation
    from lownoise.sensitivity.residuals import Blocks, Orbits
    from lownoise.sensitivity.residuals.ordered import Span

CHUNK = 1 << 16  # cells that are noised at once, in the cache


Sums = tuple["Sequence[int]", "Sequence[Vector]"]  # ordered attributes; the cells of each sum


@final
@dataclass(frozen=True)
class Space:
    """Where the integers of some residual spaces of one shape lie, one after another.

    Args:
        sets: the attributes A of each.
        sizes: n of each attribute, in the order of A.
        orbit: which residual orbit they belong to.
        start: the place of the first integer.
        width: how many integers each centred direction has.
    """

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    orbit: int
    start: int
    width: int = 1

    @property
    def length(self) -> int:
        """How many integers each of them has."""
        return math.prod(n - 1 for n in self.sizes) * self.width

    @property
    def pieces(self) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
        """The sets that are noised at once, each with the place of its first integer."""
        many = max(CHUNK // (math.prod(self.sizes) * self.width), 1)
        starts = range(0, len(self.sets), many)
        return [(self.start + k * self.length, self.sets[k : k + many]) for k in starts]


@final
@dataclass(frozen=True)
class Piece:
    """Integers that are summed and noised at once.

    Args:
        start: the place of the first.
        space: whose they are.
        sets: the sets of attributes of that space.
    """

    start: int
    space: Any
    sets: tuple[Any, ...]


class Part(Protocol):
    """What is kept on a residual orbit."""

    @property
    def place(self) -> int:
        """Which orbit."""

    @property
    def length(self) -> int:
        """How many integers a centred direction has."""


def laid_out(orbits: Orbits, widths: Sequence[int]) -> tuple[Space, ...]:
    """Return the spaces of all residual orbits, in the order of their integers.

    Args:
        orbits: the residual orbits.
        widths: how many integers a centred direction of each has, 0 for an orbit left out.
    """
    found, start = [], 0
    for place, (orbit, width) in enumerate(zip(orbits.residuals, widths, strict=True)):
        if not width:
            continue
        by_sizes: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for chosen in _sets(orbits, orbit):
            sizes = tuple(int(orbits.sizes[orbits.kinds[i]]) for i in chosen)
            by_sizes[sizes].append(chosen)
        for sizes, sets in by_sizes.items():
            space = Space(tuple(sets), sizes, place, start, width)
            start += len(sets) * space.length
            found.append(space)
    return tuple(found)


@final
@dataclass(frozen=True, eq=False)
class Noisy:
    """The integers of a release, as tables are read of them.

    Args:
        integers: shape (length,).
        size: the public number of records, 0 where it is private.
        memory: what was read before, which a layout may add to.
    """

    integers: Any
    size: int
    memory: dict[tuple[int, ...], Vector] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AbstractLayout(ABC):
    """Which integers of a table are summed, and what follows from them.

    Args:
        blocks: what the marginals see along ordered attributes, of which there may be none.
        steps: the unit of each kind of integers, in records: powers of two, at most 1, or what the
            layout says.
    """

    blocks: Blocks
    steps: Vector

    @property
    @abstractmethod
    def changes(self) -> Any:  # noqa: ANN401 (what noise of the layout knows how to cover)
        """All that one neighbour changes: what noise covers, and what evidence is about."""

    @property
    def becoming(self) -> Any:  # noqa: ANN401 (likewise)
        """As of totals."""
        return Repeated(self.changes, 2)

    @property
    @abstractmethod
    def length(self) -> int:
        """How many integers there are."""

    @property
    @abstractmethod
    def spaces(self) -> tuple[Any, ...]:
        """Where integers of one shape lie, in the order of the integers, each with its `pieces`."""

    @abstractmethod
    def step(self, space: Any) -> float:  # noqa: ANN401 (one of `spaces`)
        """Return the unit of a space's integers, in records."""

    @abstractmethod
    def exact(self, records: Records, space: Any, sets: Sequence[Any]) -> Integers:  # noqa: ANN401
        """Return the counts of some tables of a space, without noise, flat."""

    def integers(self, counts: Integers, space: Any, size: int) -> Integers:  # noqa: ANN401
        """Return the integers of exact counts, in the unit of a space, of so many records."""
        del size
        return counts * int(1 / self.step(space))

    @abstractmethod
    def read(
        self,
        sets: Sequence[tuple[int, ...]],
        ordered: Sequence[int],
        released: Noisy,
    ) -> Vector:
        """Return noisy differences along A in each ordered cell, in records, (k, n₁ − 1, …, cells).

        Args:
            sets: unordered attributes A, rising, k sets of one shape.
            ordered: the ordered attributes whose joint cells are the last axis, rising.
            released: the integers.
        """

    @property
    def orbits(self) -> Orbits:
        """The marginals up to the exchange of attributes: their unordered parts."""
        return self.blocks.plain

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return self.blocks.axes

    @property
    def relation(self) -> AbstractWord:
        """What a neighbour is."""
        return self.blocks.relation

    def span(self, ordered: Sequence[int]) -> Span:
        """Return the places of ordered attributes among them."""
        return tuple(self.axes.index(i) for i in ordered)

    def follows(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes follows from the integers."""
        sizes = self.orbits.sizes[self.orbits.kinds]
        inside = tuple(i for i in chosen if i not in self.axes and sizes[i] > 1)
        span = tuple(t for t, i in enumerate(self.axes) if i in chosen)
        place = self.orbits.place.get(self.orbits.orbit(inside))
        return place is not None and span in self.blocks.tops.get(place, ())


class AbstractResidualLayout(AbstractLayout):
    """Integers on each residual space."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """What is kept on residual orbits: its `place`, and its `length` a centred direction."""

    @abstractmethod
    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return noisy differences in each ordered cell, in records, (n₁ − 1, …, cells).

        Args:
            found: the integers of one set of attributes, in records, shape (length,).
            space: their space.
            ordered: the ordered attributes whose joint cells are the last axis, rising.
            size: the public number of records, 0 where it is private.
        """

    @cached_property
    def at(self) -> dict[int, int]:
        """Which part stands on a residual orbit."""
        return {part.place: k for k, part in enumerate(self.parts)}

    def step(self, space: Space) -> float:
        """Return the unit of a space's integers, in records."""
        return float(self.steps[self.at[space.orbit]])

    @cached_property
    def length(self) -> int:
        """How many integers there are, without a list of all spaces."""
        orbits, free = self.orbits, [size - 1 for size in self.orbits.sizes.tolist()]
        return sum(
            orbits.counts[part.place]
            * math.prod([free[k] for k in orbits.residuals[part.place]])
            * part.length
            for part in self.parts
        )

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """All residual spaces of unordered attributes, in the order of their integers."""
        widths = [0] * len(self.orbits.residuals)
        for part in self.parts:
            widths[part.place] = part.length
        return laid_out(self.orbits, widths)

    @cached_property
    def begins(self) -> dict[tuple[int, ...], tuple[int, Space]]:
        """Where the integers of each residual space begin, and its space."""
        return {
            chosen: (space.start + k * space.length, space)
            for space in self.spaces
            for k, chosen in enumerate(space.sets)
        }

    def read(
        self,
        sets: Sequence[tuple[int, ...]],
        ordered: Sequence[int],
        released: Noisy,
    ) -> Vector:
        """Return noisy differences along A in each ordered cell; see `AbstractLayout.read`."""
        if sets[0] not in self.begins:  # the number of records alone
            return np.full((len(sets), 1), float(released.size))
        plain = np.asarray(released.integers)  # pieces of a mapped file are slow to make
        return stacked(
            [
                self.differences(
                    np.asarray(plain[start : start + space.length] * self.step(space)),
                    space,
                    ordered,
                    released.size,
                )
                for start, space in (self.begins[chosen] for chosen in sets)
            ]
        )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class MarginalTotals(AbstractTotals):
    """The integers of marginals, piece by piece.

    Args:
        attributes: of the table.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        layout: which integers are summed.

    Raises:
        PlanError: where the size does not fit.
    """

    attributes: tuple[Attribute, ...]
    relation: Relation
    size: int | None
    layout: AbstractLayout

    def __post_init__(self) -> None:
        check_public(self.size, self.relation, drops=False)
        if self.layout.relation != self.relation:
            raise PlanError("relation is not that of what is summed; plan again")

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.layout.length

    @property
    def changes(self) -> Any:  # noqa: ANN401 (as of the layout)
        """All that one neighbour changes in the tables."""
        return self.layout.changes

    @property
    def becoming(self) -> Any:  # noqa: ANN401 (as of the layout)
        """As of the layout."""
        return self.layout.becoming

    @property
    def reading(self) -> TableQuery[Records]:
        """What is asked of a table."""
        from lownoise.engines.counts import records_query

        return records_query(self.attributes)

    @property
    def pieces(self) -> Iterator[Piece]:
        """The parts in which integers are summed and noised, in their order."""
        for space in self.layout.spaces:
            for start, sets in space.pieces:
                yield Piece(start, space, sets)

    def part(self, records: Records, piece: Piece) -> Integers:
        """Return one piece of the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        own = self.layout.exact(records, piece.space, piece.sets)
        return self.layout.integers(own, piece.space, records.count)

    def exact(self, records: Records) -> list[int]:
        """Return the integers without noise, all at once: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        return [k for piece in self.pieces for k in self.part(records, piece).tolist()]

    @property
    def finest(self) -> float:
        """That of counts."""
        return FINEST

    @property
    def unit(self) -> Vector:
        """Refuse: answers are not in a row.

        Raises:
            PlanError: as said.
        """
        raise PlanError('marginals are tables; ask for one, as plan["a", "b"]')

    def answers(self, integers: Sequence[int]) -> Vector:
        """Refuse: answers are not in a row.

        Raises:
            PlanError: as said.
        """
        raise PlanError('estimate is not for marginals; read them as release["a", "b"]')

    def noisy(self, integers: Any) -> Noisy:  # noqa: ANN401 (of a release, or of what noise may be)
        """Return integers as tables are read of them."""
        return Noisy(integers, self.size or 0)


def _sets(orbits: Orbits, orbit: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of attributes of an orbit, each rising."""
    members = [np.flatnonzero(orbits.kinds == k).tolist() for k in sorted(set(orbit))]
    counts = [count for _, count in sorted(Counter(orbit).items())]
    parts = [itertools.combinations(m, c) for m, c in zip(members, counts, strict=True)]
    for choice in itertools.product(*parts):
        yield tuple(sorted(itertools.chain.from_iterable(choice)))
