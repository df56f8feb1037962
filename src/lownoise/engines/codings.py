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

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.query import LARGEST_CODE, AbstractCoding, exact_sums, rounding_slack
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sets.unit_balls.parity import parities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import AbstractDomain, CubePower, Points

_BLOCK = 1024  # rows


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ClampingCoding(AbstractCoding):
    """How records of a domain become integers.

    Args:
        columns: the d names in the table.
        domain: K, in d coordinates.
        center: what is subtracted, shape (d,).
        missing: what stands in for null, NaN and text that is no number, shape (d,); for all of a
            row that lacks any where the domain says so.
        pivots: the coordinates that are summed, shape (r,); the others follow from them.
        step: the unit of the integers, powers of two, shape (r,).

    Raises:
        PlanError: where a code could exceed 2^50.
    """

    columns: tuple[str, ...]
    domain: AbstractDomain
    center: Vector
    missing: Vector
    pivots: Integers
    step: Vector

    def __post_init__(self) -> None:
        if not np.all(self.reach * (1 / self.step) <= LARGEST_CODE / 4):
            raise PlanError("ClampingCoding.step is too fine for its domain; use a coarser grid")

    @property
    def reach(self) -> Vector:
        """At least |x − center| in the summed coordinates, shape (r,)."""
        far = self.domain.reach + self.domain.rounding
        return np.asarray((far + np.abs(self.domain.center - self.center))[self.pivots])

    @cached_property
    def slack(self) -> Vector:
        """How far a code can be from a point of the domain over the step, shape (r,).

        Clamping is off by the domain's `rounding`; the difference to the center, of at most 2^50
        steps, and the half that is added to it are rounded by an eighth at most each; and the floor
        takes half a step. Where nothing moves, nothing is off.
        """
        off = self.domain.rounding[self.pivots] / self.step
        moves = self.domain.reach[self.pivots] > 0
        return frozen(np.where(moves, (off + 0.75) * (1 + 2.0**-50), 0.0))

    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shapes (..., d) and (..., r).

        Examples:
            >>> from lownoise.sets.domains import Ball
            >>> one = np.ones(2)
            >>> coding = ClampingCoding(columns=("x", "y"), domain=Ball(2, 5), center=0 * one,
            ...                         missing=0 * one, pivots=np.arange(2), step=one / 2)
            >>> coding.encode(np.array([[6.0, 8.0], [np.nan, 1.0]])).tolist()
            [[6, 8], [0, 2]]
        """
        rows = np.reshape(values, (-1, len(self.columns)))
        lacks = np.isnan(rows)
        if self.domain.whole:
            lacks = np.any(lacks, axis=1, keepdims=True)
        present = np.where(lacks, self.missing, rows)
        about = self.domain.clamp(present)[:, self.pivots] - self.center[self.pivots]
        found = np.floor(about * (1 / self.step) + 0.5).astype(np.int64)
        return found.reshape(*np.shape(values)[:-1], self.pivots.size)

    def sums(self, columns: Sequence[Vector]) -> list[int]:
        """Return the exact sums of the codes over a batch of rows, given by columns."""
        return exact_sums(self.encode(np.stack(columns, axis=1)))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ListCoding(AbstractCoding):
    """How records near a list of points become integers.

    Args:
        columns: the d names in the table.
        domain: the points, in d coordinates.
        center: what is subtracted, shape (d,).
        missing: what stands in for null, NaN and text that is no number, shape (d,).
        pivots: the coordinates that are summed, shape (r,); the others follow from them.
        step: the unit of the integers, powers of two, shape (r,).

    Raises:
        PlanError: where a code could exceed 2^52.
    """

    columns: tuple[str, ...]
    domain: Points
    center: Vector
    missing: Vector
    pivots: Integers
    step: Vector

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            ends = np.stack([self.domain.lower, self.domain.upper]) - self.center
            fits = np.all(np.abs(ends[:, self.pivots]) * (1 / self.step) <= LARGEST_CODE)
        if not fits:
            raise PlanError("ListCoding.step is too fine for its points; use a coarser grid")

    @cached_property
    def codes(self) -> Integers:
        """The code of each listed point, shape (N, r); points of one code repeat it."""
        about = self.domain.points[:, self.pivots] - self.center[self.pivots]
        return np.floor(about * (1 / self.step) + 0.5).astype(np.int64)

    @property
    def slack(self) -> Vector:
        """How far a code can be from (x − center)/step for x in the list, shape (r,)."""
        own, kept = self.domain, self.pivots
        return rounding_slack(own.lower[kept], own.upper[kept], self.center[kept], self.step)

    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shapes (..., d) and (..., r).

        Examples:
            >>> from lownoise.sets.domains import Points
            >>> one = np.ones(1)
            >>> coding = ListCoding(columns=("x",), domain=Points([[0.0], [4.0]]), center=2 * one,
            ...                     missing=4 * one, pivots=np.arange(1), step=one / 2)
            >>> coding.encode(np.array([[-9.0], [3.2], [np.nan], [np.inf]])).ravel().tolist()
            [-4, 4, 4, 4]
        """
        rows = np.reshape(values, (-1, len(self.columns)))
        present = np.where(np.isnan(rows), self.missing, rows)
        found = self.codes[self.domain.nearest(present)]
        return found.reshape(*np.shape(values)[:-1], self.pivots.size)

    def sums(self, columns: Sequence[Vector]) -> list[int]:
        """Return the exact sums of the codes over a batch of rows, given by columns."""
        return exact_sums(self.encode(np.stack(columns, axis=1)))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SignCoding(AbstractCoding):
    """How records of a `CubePower` become integers.

    Args:
        columns: the d names in the table.
        domain: the tensors, in d coordinates.
        center: what is subtracted, shape (d,).
        missing: the record that stands in where a value is null, NaN or no number, shape (d,).
        pivots: the entries that are summed, one of each kind, shape (r,).
        step: the unit of the integers, powers of two, shape (r,).

    Raises:
        PlanError: where a code could exceed 2^50.
    """

    columns: tuple[str, ...]
    domain: CubePower
    center: Vector
    missing: Vector
    pivots: Integers
    step: Vector

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            far = (self.domain.value + np.abs(self.center[self.pivots])) * (1 / self.step)
        if not np.all(far <= LARGEST_CODE / 4):
            raise PlanError("SignCoding.step is too fine for its domain; use a coarser grid")

    @cached_property
    def codes(self) -> Integers:
        """The codes of each summed entry where its sign is −1 and +1, shape (2, r)."""
        ends = np.array([[-self.domain.value], [self.domain.value]])
        about = (ends - self.center[self.pivots]) * (1 / self.step)
        return np.floor(about + 0.5).astype(np.int64)

    @property
    def slack(self) -> Vector:
        """How far a code can be from (x − center)/step for x in the domain, shape (r,)."""
        ends = np.full(self.pivots.size, self.domain.value)
        return rounding_slack(-ends, ends, self.center[self.pivots], self.step)

    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shapes (..., d) and (..., r).

        Examples:
            >>> from lownoise.sets.domains import TensorPower
            >>> pairs = TensorPower(2, 2)
            >>> coding = SignCoding(columns=("a", "b", "c", "d"), domain=pairs, center=np.zeros(4),
            ...                     missing=np.ones(4), pivots=np.array([1]), step=np.ones(1) / 4)
            >>> coding.encode(np.array([[1.0, -2.0, -1.0, 1.0], [1.0, np.nan, -1.0, 1.0]])).tolist()
            [[-4], [4]]
        """
        rows = np.reshape(values, (-1, len(self.columns)))
        lacking = np.any(np.isnan(rows), axis=1, keepdims=True)
        present = np.where(lacking, self.missing, rows)
        low, high = self.codes
        found = np.empty((len(rows), self.pivots.size), dtype=np.int64)
        for start in range(0, len(rows), _BLOCK):
            signs = self.domain.signs(present[start : start + _BLOCK])
            plus = parities(signs, self.domain.degrees) > 0
            found[start : start + _BLOCK] = np.where(plus, high, low)
        return found.reshape(*np.shape(values)[:-1], self.pivots.size)

    def sums(self, columns: Sequence[Vector]) -> list[int]:
        """Return the exact sums of the codes over a batch of rows, given by columns."""
        return exact_sums(self.encode(np.stack(columns, axis=1)))
