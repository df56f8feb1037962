# SPDX-License-Identifier: Apache-2.0
"""Means by groups: tables of counts in which a vector stands in place of the number 1.

A record of group g and values x adds e_g ⊗ y to the table of all groups, y the integers that a mean
makes of it and its count. For every set A of attributes that a margin sees, the integers
(D ⊗ … ⊗ D ⊗ I)·sums are released with the noise σ_A·(D ⊗ … ⊗ D ⊗ L)ξ: σ_A is that of marginals, L
that of the mean. A record that comes or goes is told with

    μ² = Σ_A Π_{i∈A} (1 − 1/nᵢ)/σ_A² · ‖L⁻¹y‖²,

the product of what marginals and a mean cost (ours; `certificate.groups` says why none is less).

Where one record becomes another, of any group and values, let h be that sum, C what counts of the
groups cost then, r the greatest ‖L⁻¹y‖ and v the variance of the count in LLᵀ. The change is
e_g ⊗ y − e_g' ⊗ y'; with h_δ = Σ_A Π (δᵢ − 1/nᵢ)/σ_A², δᵢ = 1 where g and g' agree in i, it costs

    h·(‖L⁻¹y‖² + ‖L⁻¹y'‖²) − 2h_δ·⟨L⁻¹y, L⁻¹y'⟩,

which is affine in h_δ, so that it is greatest at h_δ = h or at the least, h − C/2. With D the
greatest ‖L⁻¹(y − y')‖ it is at most h·D² at the former. At the latter it is

    h·‖L⁻¹(y − y')‖² + C·⟨L⁻¹y, L⁻¹y'⟩ ≤ (h − C/2)·‖L⁻¹(y − y')‖² + C·r²,

as 2⟨a, b⟩ = |a|² + |b|² − |a − b|². As y and y' have the same last entry 1, the parts of L⁻¹y and
L⁻¹y' beside that of the count are at most √(r² − 1/v) long, so that D² is at most 4(r² − 1/v), and
it is measured where differences are known:

    μ² ≤ max(h·D², C·r² + max(h − C/2, 0)·D²)

(ours), or, where files do not state D, by max(max(2h, C)·r², h·D²), which is never less
(`docs/theory.md`). The count of all rows is public, without noise; sums of all rows then cost no
more than this, since the inverse of a part of LLᵀ is at most that part of the inverse.

Totals, which have no count, are charged by the latter; or the sums of all rows have noise of
another shape, and pairs are measured (`exchanges`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.noise.exchanges import pairs_extent
from lownoise.noise.marginals import MarginalTotals, Piece
from lownoise.noise.means import CLAMPED
from lownoise.noise.tables import tables_of
from lownoise.noise.totals import AbstractTotals, check_public
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors.tables import differences
from lownoise.sensitivity.relations import ADD_REMOVE, SUBSTITUTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.groups import GroupSums
    from lownoise.engines.queries import TableQuery
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sensitivity.relations import Relation
    from lownoise.sensitivity.residuals import TableChanges
    from lownoise.sets.bodies import AbstractBody


@final
@dataclass(frozen=True, eq=False)
class GroupChanges:
    """What one record that comes or goes changes: e_g ⊗ y; or one that becomes another.

    Args:
        inner: all y, or their opposites.
        tables: what e_g changes in tables of counts.
        count: the last entry of y where one becomes another; 0 where records come and go, or have
            no count.
        apart: the differences of two y where one becomes another, else None.
        pairs: all pairs (y, y') where one becomes another and has no count, side by side; None
            where they are not known.
    """

    inner: AbstractBody
    tables: TableChanges
    count: int = 0
    apart: AbstractBody | None = None
    pairs: AbstractBody | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractGroupTotals(AbstractTotals):
    """The integers of means by groups, whichever of them are released.

    Args:
        question: what is asked.
        inner: the integers that each group has: sums of codes, and the count.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where groups have no count, or rows would be dropped from a table of public size.
    """

    question: AbstractGrouped
    inner: MeanTotals
    size: int | None = None

    def __post_init__(self) -> None:
        counted = self.question.counted
        if self.inner.comes == counted or (self.inner.count_step is not None) != counted:
            raise PlanError("groups have a count each, and totals have none; plan again")
        check_public(self.size, self.relation, drops=self.question.drops)

    @property
    @abstractmethod
    def exact_count(self) -> bool:
        """Whether the number of all rows is public, and has no noise in any margin."""

    @property
    def relation(self) -> Relation:  # type: ignore[override]  # a field of others
        """What a neighbour is."""
        return ADD_REMOVE if self.size is None else SUBSTITUTE

    @property
    def width(self) -> int:
        """How many integers stand in place of one count."""
        return self.inner.length

    @property
    def grid(self) -> Any:  # noqa: ANN401 (Python's integers)
        """What sums and the count are multiplied by to be integers, shape (w,)."""
        ends = [] if self.inner.count_step is None else [int(1 / self.inner.count_step)]
        return np.array([1] * (self.width - len(ends)) + ends, dtype=object)

    @property
    def reading(self) -> TableQuery[GroupSums]:
        """What is asked of a table."""
        from lownoise.engines.groups import groups_query

        return groups_query(self.question.groups.attributes, self.inner.query)

    @property
    def unit(self) -> Vector:
        """What one step is worth in each integer, shape (length,)."""
        return frozen(np.tile(self.inner.unit, self.length // self.width))

    @abstractmethod
    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w).

        Args:
            integers: the release as floats, shape (length,).
            chosen: the attributes of the margin, rising.
        """

    def sums(self, integers: Sequence[int], chosen: tuple[int, ...]) -> Vector:
        """Return the sums about the center and the count in each group of a margin.

        Args:
            integers: the release.
            chosen: the attributes of the margin, rising.

        Returns:
            Shape (n, …, d + 1).
        """
        found = self.counted(np.array([float(k) for k in integers]), chosen) * self.inner.unit
        embed = self.inner.embed
        return frozen(found if embed is None else found @ embed.T)

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the sums and the count of each group that is asked for, in a row, shape (m,)."""
        own = [self.sums(integers, s).reshape(-1) for s in self.question.groups.sets()]
        return frozen(np.concatenate(own))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupTotals(AbstractGroupTotals):
    """The integers of every residual space that a margin sees.

    Args:
        tables: the integers of one number for each record, in whole records.
    """

    tables: MarginalTotals

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.tables.length * self.width

    @property
    def exact_count(self) -> bool:
        """Whether the number of all rows is public."""
        return self.size is not None and self.question.counted

    def check_released(self, integers: Sequence[int]) -> None:
        """Refuse a count of all rows that is not the public one: it has no noise."""
        if not self.exact_count:
            return
        assert self.size is not None  # noqa: S101 (as asked)
        if int(integers[self.width - 1]) != self.size * self.grid[-1]:
            raise FileError("integers do not have the public number of rows that terms.size states")

    @cached_property
    def changes(self) -> GroupChanges:
        """The set of all changes that one neighbour makes to the integers."""
        if self.size is not None:
            return self.becoming
        return GroupChanges(self.inner.changes, self.tables.changes)

    @cached_property
    def becoming(self) -> GroupChanges:
        """What a record changes that becomes another, of any group."""
        inner, tables = self.inner, self.tables.changes
        if self.question.counted:
            return GroupChanges(inner.changes, tables, int(self.grid[-1]), inner.becoming)
        pairs = pairs_extent(inner.query.coding, np.maximum(inner.query.coding.slack, CLAMPED))
        return GroupChanges(inner.changes, tables, apart=inner.becoming, pairs=pairs)

    @property
    def pieces(self) -> Iterator[Piece]:
        """The parts in which integers are summed and noised, in their order."""
        for own in self.tables.pieces:
            yield Piece(own.start * self.width, own.space, own.sets)

    def part(self, records: GroupSums, piece: Piece) -> Any:  # noqa: ANN401 (Python's integers)
        """Return one piece of the integers without noise: never to be shown."""
        kept = [records.table(own)[..., : self.width] for own in piece.sets]
        found = np.moveaxis(np.stack(kept), -1, 0)
        own = np.moveaxis(differences(found, 2), 0, -1).reshape(-1, self.width)
        return (own * self.grid).reshape(-1)

    def exact(self, records: GroupSums) -> list[int]:
        """Return the integers without noise, all at once: never to be shown."""
        return [k for piece in self.pieces for k in self.part(records, piece).tolist()]

    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w)."""
        attributes, tables = self.question.groups.attributes, self.tables
        own = integers.reshape(-1, self.width)
        found = [
            tables_of(tables.layout, attributes, [chosen], tables.noisy(column))[0]
            for column in np.ascontiguousarray(own.T)
        ]
        return np.stack(found, axis=-1)

    @property
    def rounding(self) -> Vector:
        """Half a step for each category that a difference has, shape (length,)."""
        found = [
            np.full(len(space.sets) * space.length, 2.0 ** len(space.sizes))
            for space in self.tables.layout.spaces
        ]
        return frozen(np.outer(np.concatenate(found), self.inner.rounding).reshape(-1))
