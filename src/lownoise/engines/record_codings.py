# SPDX-License-Identifier: Apache-2.0
"""The codes of records of domains other than boxes: clamped in floats, of a list, of signs.

A record is clamped to a point that is in the domain up to rounding, and that point is rounded to
the grid; how far both together can take it is known beforehand, and the noise covers it. A record
near a list of points becomes the code of the nearest one, and a tensor power of signs has entries
of two values: their codes are of a finite number that is known beforehand, and no bound on rounding
is needed. What a row becomes depends on that row alone, with the same arithmetic wherever in a
table it stands.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.engines.adding import LARGEST_CODE
from lownoise.engines.codings import AbstractCoding, rounding_slack
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, grown
from lownoise.sets.bodies import PointDifferences, RoundedBody, SymmetricPoints
from lownoise.sets.domains.grid import SAME, multiples
from lownoise.sets.domains.moments import MomentBox
from lownoise.sets.unit_balls.parity import parities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain, CubePower, Points

_BLOCK = 1024  # rows


@final
@dataclass(frozen=True)
class Clipped:
    """A value of a column, clipped to bounds, and the same about a middle.

    Args:
        lower: least value.
        upper: greatest value.
        missing: what stands in for NaN, between the two.
        middle: what is subtracted before it is multiplied.
    """

    lower: float
    upper: float
    missing: float
    middle: float


@final
@dataclass(frozen=True)
class ProductCode:
    """The code floor((y − center)·inverse + ½) of a clipped value y, or of a product of two.

    Args:
        columns: the place of one, and of what it is multiplied by, each about its middle; None for
            the value alone.
        center: what is subtracted.
        inverse: a power of two.
        largest: at least the size of every code.
    """

    columns: tuple[int, int | None]
    center: float
    inverse: float
    largest: int


@final
@dataclass(frozen=True)
class Products:
    """Codes of clipped values and of their products: all that a record becomes.

    Args:
        clipped: of each column.
        codes: what is summed.
    """

    clipped: tuple[Clipped, ...]
    codes: tuple[ProductCode, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractRecordCoding(AbstractCoding):
    """How records of a domain become integers, each record as one.

    Args:
        columns: the names in the table, as many as `domain.source` has coordinates.
        domain: K, in d coordinates.
        center: what is subtracted, shape (d,).
        missing: what stands in for null, NaN and text that is no number, one a column; for all of a
            row that lacks any where the domain says so.
        pivots: the coordinates that are summed, shape (r,); the others follow from them.
        step: the unit of the integers, powers of two, shape (r,).

    Raises:
        PlanError: where a code could exceed `most`.
    """

    most: ClassVar[float]

    columns: tuple[str, ...]
    domain: AbstractDomain
    center: Vector
    missing: Vector
    pivots: Integers
    step: Vector

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            fits = np.all(self._far * (1 / self.step) <= self.most)
        if not fits:
            raise PlanError(
                f"{type(self).__name__}.step is too fine for its domain; use a coarser grid"
            )

    @property
    @abstractmethod
    def _far(self) -> Vector:
        """How far a clamped record is from the center in the summed coordinates, shape (r,)."""

    @abstractmethod
    def _encoded(self, rows: Vector) -> Integers:
        """Return the codes of rows without NaN, shapes (n, d) and (n, r)."""

    @final
    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shapes (..., d) and (..., r).

        Examples:
            >>> from lownoise.sets.domains import Ball, Points, TensorPower
            >>> one, every = np.ones(2), np.arange(2)
            >>> coding = ClampingCoding(columns=("x", "y"), domain=Ball(2, 5), center=0 * one,
            ...                         missing=0 * one, pivots=every, step=one / 2)
            >>> coding.encode(np.array([[6.0, 8.0], [np.nan, 1.0]])).tolist()
            [[6, 8], [0, 2]]
            >>> coding = ListCoding(columns=("x", "y"), domain=Points([[0.0, 4.0], [4.0, 0.0]]),
            ...                     center=2 * one, missing=0 * one, pivots=every, step=one / 2)
            >>> coding.encode(np.array([[-9.0, 3.2], [np.inf, np.nan]])).tolist()
            [[-4, 4], [4, -4]]
            >>> coding = SignCoding(columns=("a", "b", "c", "d"), domain=TensorPower(2, 2),
            ...                     center=np.zeros(4), missing=np.ones(4), pivots=every[1:],
            ...                     step=one[:1] / 4)
            >>> coding.encode(np.array([[1.0, -2.0, -1.0, 1.0], [1.0, np.nan, -1.0, 1.0]])).tolist()
            [[-4], [4]]
        """
        rows = np.reshape(values, (-1, len(self.columns)))
        lacks = np.isnan(rows)
        if self.domain.whole:
            lacks = np.any(lacks, axis=1, keepdims=True)
        found = self._encoded(np.where(lacks, self.missing, rows))
        return found.reshape(*np.shape(values)[:-1], self.pivots.size)

    @property
    def largest(self) -> Vector:
        """At least the size of every code: the extent in steps, and what rounding adds."""
        return np.ceil(self.extent / self.step) + 2

    def _rounded(self, points: Vector) -> Integers:
        """Return the codes of what is summed of some points, shape (n, r)."""
        about = points - self.center[self.pivots]
        return np.floor(about * (1 / self.step) + 0.5).astype(np.int64)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ClampingCoding(AbstractRecordCoding):
    """How records become integers that are clamped in floats; of at most 2^50."""

    most: ClassVar[float] = LARGEST_CODE / 4

    @property
    def extent(self) -> Vector:
        """At least |x − center| in the summed coordinates, shape (r,)."""
        return self._far

    @property
    def _far(self) -> Vector:
        far = self.domain.extent + self.domain.rounding
        return np.asarray((far + np.abs(self.domain.center - self.center))[self.pivots])

    @cached_property
    def slack(self) -> Vector:
        """How far a code can be from a point of the domain over the step, shape (r,).

        Clamping is off by the domain's `rounding`; the difference to the center, of at most 2^50
        steps, and the half that is added to it are rounded by an eighth at most each; and the floor
        takes half a step. Where nothing moves, nothing is off.
        """
        off = self.domain.rounding[self.pivots] / self.step
        moves = self.domain.extent[self.pivots] > 0
        return frozen(np.where(moves, grown(off + 0.75, LAST), 0.0))

    def _encoded(self, rows: Vector) -> Integers:
        return self._rounded(self.domain.records(rows)[:, self.pivots])

    def coordinates(self, columns: Sequence[Vector]) -> Iterator[Vector]:
        """Yield the codes of rows, coordinate by coordinate as the domain makes them."""
        lacks = [np.isnan(column) for column in columns]
        if self.domain.whole:
            lacks = [np.any(lacks, axis=0)] * len(columns)
        known = [
            np.where(none, missing, column) if none.any() else column
            for column, none, missing in zip(columns, lacks, self.missing, strict=True)
        ]
        codes = np.empty(len(columns[0]))
        for j, own in enumerate(self.domain.record_columns(known, self.pivots)):
            np.subtract(own, self.center[self.pivots[j]], out=codes)
            codes *= 1 / self.step[j]
            codes += 0.5
            yield np.floor(codes, out=codes)

    @property
    def products(self) -> Products | None:
        """The same by its arithmetic, where records are values and products of two of them."""
        own = self.domain
        if not isinstance(own, MomentBox):
            return None
        low, high, of = own.box.lower, own.box.upper, own.bounding_set()
        columns = np.stack([low, high, np.clip(self.missing, low, high), own.middle], axis=1)
        pairs: list[tuple[int, int | None]] = [(i, None) for i in range(of.width)]
        pairs += list(zip(of.left.tolist(), of.right.tolist(), strict=True))
        kept, numbers = self.pivots, (self.center[self.pivots], 1 / self.step, self.largest)
        codes = zip(kept.tolist(), *(each.tolist() for each in numbers), strict=True)
        return Products(
            tuple(Clipped(*each) for each in columns.tolist()),
            tuple(ProductCode(pairs[j], a, b, int(most)) for j, a, b, most in codes),
        )

    def changes(self, count_step: float | None) -> AbstractBody:
        """Return the changes of records in steps, and around them what rounding can add."""
        if count_step is None:
            body = self.domain.differences(self.pivots, self.step)
            return RoundedBody(body, frozen(2 * self.slack))
        # the count's integers are 1/count_step: the body whose last coordinate is 1, times that
        body = self.domain.lifted(self.pivots, self.step / count_step, self.center)
        return RoundedBody(body.scaled(1 / count_step), frozen(np.append(self.slack, 0.0)))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ListCoding(AbstractRecordCoding):
    """How records near a list of points become integers; of at most 2^52."""

    most: ClassVar[float] = LARGEST_CODE

    domain: Points

    @property
    def _far(self) -> Vector:
        ends = np.stack([self.domain.lower, self.domain.upper]) - self.center
        return np.asarray(np.max(np.abs(ends[:, self.pivots]), axis=0))

    @property
    def start(self) -> Vector:
        """The first point of the list, shape (d,)."""
        return self.domain.start

    @cached_property
    def codes(self) -> Integers:
        """The code of each listed point, shape (N, r); points of one code repeat it.

        Where a step is no power of two but a part of what points are apart by, codes are whole
        multiples of that from the point on that is nearest to the center.
        """
        found = self._rounded(self.domain.points[:, self.pivots])
        if self._spelled is None:
            return found
        return np.asarray(found[self._nearest, range(self.step.size)] + self._spelled[1])

    @cached_property
    def lattice(self) -> tuple[Vector, Integers] | None:
        """What all points are apart by, as decimals spell it, and how many times each is; or None.

        Shapes (r,) and (N, r), from the point on that is nearest to the center; 1 of one value.
        """
        own = [multiples(column) for column in self.domain.points[:, self.pivots].T]
        known = [each for each in own if each is not None]
        if len(known) < len(own):
            return None
        units = [unit for unit, _ in known]
        apart = np.stack([k for _, k in known], axis=1)
        apart = apart - apart[self._nearest, range(self.step.size)]
        most = np.maximum(np.gcd.reduce(apart, axis=0), 1)
        wide = [float(unit * int(m)) for unit, m in zip(units, most, strict=True)]
        return frozen(np.array(wide)), apart // most

    @property
    def _nearest(self) -> Integers:
        """The point that is nearest to the center in each coordinate, shape (r,)."""
        about = self.domain.points[:, self.pivots] - self.center[self.pivots]
        return np.asarray(np.argmin(np.abs(about), axis=0))

    @cached_property
    def _spelled(self) -> tuple[Vector, Integers] | None:
        """What points are apart by, and their codes from the nearest on; None of powers of two."""
        if np.all(np.frexp(self.step)[0] == 0.5) or self.lattice is None:  # noqa: PLR2004
            return None
        wide, apart = self.lattice
        times = wide / self.step
        if np.any(times < 1) or np.any(np.frexp(times)[0] != 0.5):  # noqa: PLR2004
            return None
        return wide, apart * times.astype(np.int64)

    @property
    def rounding(self) -> Vector:
        """Nothing where every point is a whole number of steps from the center."""
        kept = self.pivots
        about = self.domain.points[:, kept] - self.center[kept]
        off = np.any(self.codes * self.step != about, axis=0)
        return np.where(off, super().rounding, 0.0)

    @property
    def slack(self) -> Vector:
        """How far a code can be from (x − center)/step for x in the list, shape (r,)."""
        own, kept = self.domain, self.pivots
        off = rounding_slack(own.lower[kept], own.upper[kept], self.center[kept], self.step)
        if self._spelled is None:
            return off
        # both points are what they spell but for 2^-50 of the largest, and a quotient for 2^-52
        size = np.maximum(np.abs(own.lower[kept]), np.abs(own.upper[kept])) / self.step
        return frozen(np.where(off > 0, grown(off + 4 * SAME * size), 0.0))

    @property
    def extent(self) -> Vector:
        """The greatest code, in the coordinates' units, shape (r,)."""
        return np.asarray(np.max(np.abs(self.codes), axis=0) * self.step)

    def _encoded(self, rows: Vector) -> Integers:
        return np.asarray(self.codes[self.domain.nearest(rows)])

    def changes(self, count_step: float | None) -> AbstractBody:
        """Return the differences of the codes, or the codes with their count."""
        # at most 2^52: exact, and so are their differences; points of one code are one row
        codes = np.unique(self.codes, axis=0).astype(np.float64)
        if count_step is None:
            return PointDifferences(frozen(codes))
        counted = np.hstack([codes, np.full((len(codes), 1), 1 / count_step)])
        return SymmetricPoints(frozen(counted))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SignCoding(AbstractRecordCoding):
    """How records of a `CubePower` become integers; of at most 2^50."""

    most: ClassVar[float] = LARGEST_CODE / 4

    domain: CubePower

    @property
    def _far(self) -> Vector:
        return np.asarray(self.domain.value + np.abs(self.center[self.pivots]))

    @cached_property
    def codes(self) -> Integers:
        """The codes of each summed entry where its sign is −1 and +1, shape (2, r)."""
        return self._rounded(np.array([[-self.domain.value], [self.domain.value]]))

    @property
    def slack(self) -> Vector:
        """How far a code can be from (x − center)/step for x in the domain, shape (r,)."""
        ends = np.full(self.pivots.size, self.domain.value)
        return rounding_slack(-ends, ends, self.center[self.pivots], self.step)

    @property
    def extent(self) -> Vector:
        """The greatest code, in the coordinates' units, shape (r,)."""
        return np.asarray(np.max(np.abs(self.codes), axis=0) * self.step)

    def _encoded(self, rows: Vector) -> Integers:
        low, high = self.codes
        found = np.empty((len(rows), self.pivots.size), dtype=np.int64)
        for start in range(0, len(rows), _BLOCK):
            signs = self.domain.signs(rows[start : start + _BLOCK])
            plus = parities(signs, self.domain.degrees) > 0
            found[start : start + _BLOCK] = np.where(plus, high, low)
        return found

    def changes(self, count_step: float | None) -> AbstractBody:
        """Return the parities between the two codes of each entry."""
        # middle ± half, exactly: multiples of ½ below 2^52
        low, high = self.codes.astype(np.float64)
        half, middle = (high - low) / 2, (high + low) / 2
        if count_step is None:
            return self.domain.parity_differences(half)
        body = self.domain.parity_lifted(half * count_step, middle * count_step)
        return body.scaled(1 / count_step)
