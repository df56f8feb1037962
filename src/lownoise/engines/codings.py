# SPDX-License-Identifier: Apache-2.0
"""How records become integers whose sums an engine is asked for; those of a box, value by value.

A value x of a box becomes floor((clamp(x) − center)·(1/step) + ½) with `step` a power of two. Each
float operation in it rounds monotonically, so the code of any value lies between the codes of the
two bounds: the reach of a record is known exactly, with no bound on rounding errors to trust.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.engines.adding import BLOCK, LARGEST_CODE, ColumnCode, add_at, added
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, grown
from lownoise.sets.bodies import SymmetricBox, off_middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.record_codings import Products
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody

_EXACT = 2.0**52  # floats up to here hold integers exactly, and halves


@final
@dataclass(frozen=True)
class ScaledIntegers:
    """The code of an integer x is clip(x, lower, upper)·scale − offset, all of them integers."""

    lower: int
    upper: int
    scale: int
    offset: int


class AbstractCoding(ABC):
    """How records become integers."""

    columns: tuple[str, ...]
    center: Vector
    missing: Vector
    pivots: Integers  # the coordinates that are summed; the others follow from them
    step: Vector
    by_columns: ClassVar[bool] = False  # whether code j is of column j alone

    @abstractmethod
    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shapes (..., d) and (..., r): what engines match."""

    @property
    @abstractmethod
    def slack(self) -> Vector:
        """How far a code can be from a point of the domain over the step, shape (r,).

        0 where all points of the domain have one value.
        """

    @property
    def rounding(self) -> Vector:
        """How far a record's code is from what it stands for at most, in steps, shape (r,)."""
        return np.where(self.slack > 0, 0.5, 0.0)

    @property
    @abstractmethod
    def extent(self) -> Vector:
        """At least |x − center| in the summed coordinates, in their units, shape (r,)."""

    @abstractmethod
    def changes(self, count_step: float | None) -> AbstractBody:
        """Return the body of all changes that one neighbour makes to the integers.

        Args:
            count_step: the unit of the count's integers, the last coordinate; None where no record
                comes or goes, and one takes another value.
        """

    @property
    @abstractmethod
    def largest(self) -> Vector:
        """At least the size of every code, shape (r,)."""

    def coordinates(self, columns: Sequence[Vector]) -> Iterator[Vector]:
        """Yield the codes of rows coordinate by coordinate: floats that are whole, shape (n,) each.

        What is yielded may be written over by what comes next.

        Args:
            columns: of the rows, shape (n,) each; NaN where a value is missing.
        """
        yield from self.encode(np.stack(columns, axis=1)).T.astype(np.float64)

    def sums(self, columns: Sequence[Vector], first: int = 0) -> list[int]:
        """Return the exact sums of the codes over a batch of rows.

        Args:
            columns: as of `coordinates`; where codes are `by_columns`, some of them.
            first: the coordinate of the first of these.
        """
        del first
        found, largest = [0] * self.step.size, self.largest.tolist()
        for j, _, codes in self._blocks(columns):
            found[j] += added(codes, largest[j])[0]
        return found

    def add_at(
        self, found: Integers, columns: Sequence[Vector], at: Integers, first: int = 0
    ) -> None:
        """Add the codes of a batch of rows to the sums at their places.

        Args:
            found: by high and low bits, shape (groups, r, 2).
            columns: as of `sums`.
            at: one more than the place of each row, 0 where it has none, shape (n,).
            first: as of `sums`.
        """
        del first
        largest = self.largest.tolist()
        for j, start, codes in self._blocks(columns):
            add_at(found[:, j], codes, at[start : start + len(codes)], largest[j])

    def _blocks(self, columns: Sequence[Vector]) -> Iterator[tuple[int, int, Vector]]:
        """Yield the codes of rows in blocks: the coordinate, the first row, and the codes."""
        for start in range(0, len(columns[0]), BLOCK):
            blocks = [column[start : start + BLOCK] for column in columns]
            for j, codes in enumerate(self.coordinates(blocks)):
                yield j, start, codes

    @property
    def each(self) -> list[ColumnCode] | None:
        """What makes the codes of each column, where they are `by_columns`; None elsewhere."""
        return None

    @property
    def products(self) -> Products | None:
        """Their arithmetic, where they are of values and products of two; None elsewhere."""
        return None

    def of_integers(self) -> list[ScaledIntegers] | None:
        """Return what the codes of integers are, a column each; None where it is not so simple."""
        return None

    def beside(self, other: AbstractCoding) -> AbstractCoding | None:
        """Return the codes of the columns of both, each once; None where they are not of one."""
        del other
        return None


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Coding(AbstractCoding):
    """How the records of a box become integers; every field but `columns` has shape (d,).

    Args:
        columns: the d names in the table.
        lower: least value; what is below it is clamped.
        upper: greatest value.
        center: what is subtracted, in [lower, upper], or zero.
        missing: what stands in for null, NaN and text that is no number.
        step: the unit of the integers, powers of two.

    Raises:
        PlanError: where a code could exceed 2^52.
    """

    columns: tuple[str, ...]
    lower: Vector
    upper: Vector
    center: Vector
    missing: Vector
    step: Vector
    by_columns: ClassVar[bool] = True
    pivots: Integers = field(init=False, repr=False)  # all of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "pivots", np.arange(self.step.size))
        with np.errstate(all="ignore"):
            ends = np.stack([self.lower, self.upper, self.missing]) - self.center
            fits = np.all(np.abs(ends) * (1 / self.step) <= LARGEST_CODE)
        inside = (self.lower <= self.center) & (self.center <= self.upper)
        inside |= (self.center == 0) & (self.lower <= self.upper)
        if not (fits and np.all(inside)):
            raise PlanError("Coding.step is too fine for its bounds; use a coarser grid")

    @property
    def slack(self) -> Vector:
        """How far a code can be from (x − center)/step for x in the box, shape (d,)."""
        return rounding_slack(self.lower, self.upper, self.center, self.step)

    @property
    def extent(self) -> Vector:
        """The distance of the center from the farther bound, rounded to nearest, shape (d,)."""
        return np.maximum(np.abs(self.lower - self.center), np.abs(self.upper - self.center))

    def changes(self, count_step: float | None) -> AbstractBody:
        """Return the box between the codes of the bounds: they are monotone, so all are there.

        Where records come and go, what one of them changes of the sums and the count: codes are
        whole numbers of at most 2^52, so that nothing of it is rounded.
        """
        least, greatest = (own.astype(np.float64) for own in (self.least(), self.greatest()))
        if count_step is None:
            return SymmetricBox(frozen(greatest - least))
        found = off_middle(least, greatest, 1 / count_step)
        if found is not None:
            return found
        most = np.maximum(np.abs(least), np.abs(greatest))
        return SymmetricBox(frozen(np.append(most, 1 / count_step)))

    @property
    def largest(self) -> Vector:
        """The size of the greatest code, that of a missing value among them."""
        return np.array([code.largest for code in self.each])

    @cached_property
    def each(self) -> list[ColumnCode]:
        """What makes the codes of each column."""
        lacking = self.encode(np.full(self.step.size, np.nan))
        largest = np.abs(np.stack([self.least(), self.greatest(), lacking])).max(axis=0)
        own = (self.lower, self.upper, self.center, 1 / self.step, lacking, largest.astype(float))
        return [ColumnCode(*column) for column in zip(*(f.tolist() for f in own), strict=True)]

    def coordinates(self, columns: Sequence[Vector]) -> Iterator[Vector]:
        """Yield the codes of rows, column by column."""
        codes = np.empty(len(columns[0]))
        for code, column in zip(self.each, columns, strict=True):
            yield code.write(column, codes)

    def sums(self, columns: Sequence[Vector], first: int = 0) -> list[int]:
        """Return the exact sums of the codes of some columns."""
        found = []
        for code, column in zip(self.each[first:], columns, strict=False):
            total, lacking = code.sum(column)
            found.append(total + lacking * code.missing)
        return found

    def add_at(
        self, found: Integers, columns: Sequence[Vector], at: Integers, first: int = 0
    ) -> None:
        """Add the codes of some columns to the sums at their places."""
        for j, column in enumerate(columns, first):
            self.each[j].add_at(found[:, j], column, at)

    def of_integers(self) -> list[ScaledIntegers] | None:
        """Return what the codes of integers are: exact where bounds and center are on the grid."""
        fields = (own.tolist() for own in (self.lower, self.upper, self.center, self.step))
        found = [_scaled(*own) for own in zip(*fields, strict=True)]
        exact = [own for own in found if own is not None]
        return exact if len(exact) == len(found) else None

    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shape (..., d): the meaning that engines match.

        Examples:
            >>> one = np.ones(1)
            >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=2 * one,
            ...                 missing=2 * one, step=one / 2)
            >>> coding.encode(np.array([[-9.0], [3.2], [np.nan], [np.inf]])).ravel().tolist()
            [-4, 2, 0, 4]
        """
        return _codes(values, self.lower, self.upper, self.center, self.missing, self.step)

    def beside(self, other: AbstractCoding) -> Coding | None:
        """Return the codes of the columns of both; None where one column has two kinds of codes."""
        if not isinstance(other, Coding):
            return None
        both = self.by_column
        for name, own in other.by_column.items():
            if both.setdefault(name, own) != own:
                return None
        columns = zip(*both.values(), strict=True)
        lower, upper, center, missing, step = (frozen(np.array(own)) for own in columns)
        return Coding(
            columns=tuple(both),
            lower=lower,
            upper=upper,
            center=center,
            missing=missing,
            step=step,
        )

    @property
    def by_column(self) -> dict[str, tuple[float, ...]]:
        """What decides the codes of each column."""
        own = np.stack([self.lower, self.upper, self.center, self.missing, self.step], axis=1)
        return dict(zip(self.columns, map(tuple, own.tolist()), strict=True))

    def least(self) -> Integers:
        """Return the least code of any record, shape (d,)."""
        return self.encode(self.lower)

    def greatest(self) -> Integers:
        """Return the greatest code of any record, shape (d,)."""
        return self.encode(self.upper)


def _codes(
    values: Vector,
    lower: float | Vector,
    upper: float | Vector,
    center: float | Vector,
    missing: float | Vector,
    step: float | Vector,
) -> Integers:
    def scaled(numbers: float | Vector) -> Vector:
        result: Vector = np.subtract(numbers, center)
        result *= np.divide(1, step)
        result += 0.5
        return result

    # what overflows is clamped, and what is no number is replaced: nothing may warn of a value
    with np.errstate(all="ignore"):
        codes = scaled(values)
        # clamping the code is clamping the value, because every step is monotone
        np.clip(codes, np.floor(scaled(lower)), np.floor(scaled(upper)), out=codes)
        np.copyto(codes, scaled(missing), where=np.isnan(values))
        integers: Integers = np.floor(codes, out=codes).astype(np.int64)
    return integers


def _scaled(lower: float, upper: float, center: float, step: float) -> ScaledIntegers | None:
    """Return what the code of each integer x is, where it is exactly (x − center)/step."""
    largest = max(-lower, upper, abs(center))
    integers = lower.is_integer() and upper.is_integer() and (center / step).is_integer()
    if not (integers and step <= 1 and largest / step <= _EXACT):
        return None
    scale = int(1 / step)
    return ScaledIntegers(int(lower), int(upper), scale, int(center * scale))


def rounding_slack(lower: Vector, upper: Vector, center: Vector, step: Vector) -> Vector:
    """Return at least |floor(fl(fl(x − center)/step + ½)) − (x − center)/step|, all of shape (d,).

    Let t = |x − center|/step be at most T. The difference is off by a part 2^-53 of itself, the
    division by a power of two is exact, and the sum with ½ is off by a part 2^-53 of at most
    T(1 + 2^-53) + ½: together less than (T + 1)·2^-52. The floor of u is within ½ of u − ½. Where
    lower and upper are one number so are the codes, and nothing is off that could change.

    Args:
        lower: the least x.
        upper: the greatest x.
        center: what is subtracted.
        step: powers of two.

    Examples:
        >>> one = np.ones(1)
        >>> bool(0.5 < rounding_slack(-one, one, 0 * one, one)[0] < 0.500001)
        True
    """
    most = np.maximum(np.abs(lower - center), np.abs(upper - center)) * (1 / step)
    off = 0.5 + (most + 1) * 2.0**-52
    return frozen(np.where(lower < upper, grown(off, LAST), 0.0))


@final
@dataclass(frozen=True, eq=False)
class TotalsQuery:
    """The totals of `coding` over the rows; `drops_missing` leaves out those that lack a value."""

    coding: AbstractCoding
    drops_missing: bool

    @property
    def in_turn(self) -> bool:
        """Whether each column adds what it does whatever the others say."""
        return self.coding.by_columns and not self.drops_missing

    def beside(self, other: TotalsQuery) -> TotalsQuery | None:
        """Return the totals of both over the same rows.

        None where rows count for one alone, or a column has another code in each.

        Examples:
            >>> one = np.ones(1)
            >>> asked = [
            ...     TotalsQuery(Coding(columns=(name,), lower=-one, upper=one, center=0 * one,
            ...                        missing=0 * one, step=step * one), drops_missing=drops)
            ...     for name, step, drops in (("x", 1, False), ("y", 2, False), ("x", 2, False),
            ...                               ("y", 2, True))
            ... ]
            >>> asked[0].beside(asked[1]).coding.columns
            ('x', 'y')
            >>> [asked[i].beside(asked[j]) for i, j in ((0, 2), (1, 3))]
            [None, None]
        """
        columns = set(self.coding.columns), set(other.coding.columns)
        if self.drops_missing != other.drops_missing:
            return None
        if self.drops_missing and columns[0] != columns[1]:
            return None
        coding = self.coding.beside(other.coding)
        return None if coding is None else TotalsQuery(coding, self.drops_missing)


@final
@dataclass(frozen=True)
class Totals:
    """How many rows were summed, and the exact sum of each column's codes."""

    count: int
    sums: tuple[int, ...]
