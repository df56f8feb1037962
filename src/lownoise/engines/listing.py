# SPDX-License-Identifier: Apache-2.0
"""The codes of records that are one of a list of points.

Each record becomes the code of the nearest listed point, so its integers are one of N known rows
and no bound on rounding is needed. Which row that is depends on the record alone: the search takes
one record at a time, with the same arithmetic wherever in a table it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.query import LARGEST_CODE, AbstractCoding, exact_sums, rounding_slack
from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import Points


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
