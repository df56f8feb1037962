# SPDX-License-Identifier: Apache-2.0
"""The codes of records that are clamped into a domain in floats.

A record is moved to a point that is in the domain up to rounding, and that point is rounded to the
grid; how far both together can take it is known beforehand, and the noise covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.query import LARGEST_CODE, AbstractCoding, exact_sums
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import AbstractDomain


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
