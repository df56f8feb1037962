# SPDX-License-Identifier: Apache-2.0
"""How records become integers whose sums an engine is asked for; those of a box, value by value.

A value x of a box becomes floor((clamp(x) − center)·(1/step) + ½) with `step` a power of two. Each
float operation in it rounds monotonically, so the code of any value lies between the codes of the
two bounds: the reach of a record is known exactly, with no bound on rounding errors to trust.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricBox, off_middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody

LARGEST_CODE = 2.0**52  # codes are exact as floats, and so are their halves
_EXACT = 2.0**52  # floats up to here hold integers exactly, and halves
_BLOCK = 1 << 14  # of a column at a time


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

    def sums(self, columns: Sequence[Vector]) -> list[int]:
        """Return the exact sums of the codes over a batch of rows, given by columns, (n,) each."""
        return exact_sums(self.encode(np.stack(columns, axis=1)))

    def of_integers(self) -> list[ScaledIntegers] | None:
        """Return what the codes of integers are, a column each; None where it is not so simple."""
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

    def sums(self, columns: Sequence[Vector]) -> list[int]:
        """Return the exact sums of the codes over a batch of rows, given by columns."""
        return [self.column_total(i, column) for i, column in enumerate(columns)]

    def of_integers(self) -> list[ScaledIntegers] | None:
        """Return what the codes of integers are: exact where bounds and center are on the grid."""
        found = [
            _scaled(float(low), float(high), float(center), float(step))
            for low, high, center, step in zip(
                self.lower, self.upper, self.center, self.step, strict=True
            )
        ]
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

    def column_total(self, i: int, values: Vector) -> int:
        """Return the exact sum of the codes of column i over `values`, shape (n,)."""
        own = [float(a[i]) for a in (self.lower, self.upper, self.center, self.missing, self.step)]
        ends = _codes(np.array(own[:2]), *own)
        # short enough for 64 bits, and for the cache
        block = min(_BLOCK, 2**62 // max(int(np.abs(ends).max()), 1))
        return sum(
            int(_codes(values[start : start + block], *own).sum())
            for start in range(0, len(values), block)
        )

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


def exact_sums(codes: Integers) -> list[int]:
    """Return the sum of each column of codes of at most 2^52, shape (n, r)."""
    # their halves, high and low, sum without overflow
    high, low = codes >> 26, codes & (2**26 - 1)
    return [(int(h) << 26) + int(w) for h, w in zip(high.sum(axis=0), low.sum(axis=0), strict=True)]


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
    return frozen(np.where(lower < upper, off * (1 + 2.0**-50), 0.0))


@final
@dataclass(frozen=True, eq=False)
class TotalsQuery:
    """The totals of `coding` over the rows; `drops_missing` leaves out those that lack a value."""

    coding: AbstractCoding
    drops_missing: bool


@final
@dataclass(frozen=True)
class Totals:
    """How many rows were summed, and the exact sum of each column's codes."""

    count: int
    sums: tuple[int, ...]
