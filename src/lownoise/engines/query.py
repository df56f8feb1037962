# SPDX-License-Identifier: Apache-2.0
"""What an engine is asked for: the sum over rows of each record's integer code.

A value x becomes floor((clamp(x) − center)·(1/step) + ½) with `step` a power of two. Each float
operation in it rounds monotonically, so the code of any value lies between the codes of the two
bounds: the reach of a record is known exactly, with no bound on rounding errors to trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Coding:
    """How records become integers; every field but `columns` has shape (d,).

    Args:
        columns: the d names in the table.
        lower: least value; what is below it is clamped.
        upper: greatest value.
        center: what is subtracted, in [lower, upper].
        missing: what stands in for null, NaN and text that is no number.
        step: the unit of the integers, powers of two.
    """

    columns: tuple[str, ...]
    lower: Vector
    upper: Vector
    center: Vector
    missing: Vector
    step: Vector

    def encode(self, values: Vector) -> Integers:
        """Return the codes of float `values`, shape (..., d): the meaning that engines match.

        Examples:
            >>> one = np.ones(1)
            >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=2 * one,
            ...                 missing=2 * one, step=one / 2)
            >>> coding.encode(np.array([[-9.0], [3.2], [np.nan], [np.inf]])).ravel().tolist()
            [-4, 2, 0, 4]
        """
        present = np.where(np.isnan(values), self.missing, values)
        clamped = np.clip(present, self.lower, self.upper)
        return np.floor((clamped - self.center) * (1 / self.step) + 0.5).astype(np.int64)

    def least(self) -> Integers:
        """Return the least code of any record, shape (d,)."""
        return self.encode(self.lower)

    def greatest(self) -> Integers:
        """Return the greatest code of any record, shape (d,)."""
        return self.encode(self.upper)


@final
@dataclass(frozen=True, eq=False)
class TotalsQuery:
    """The totals of `coding` over the rows; `drops_missing` leaves out those that lack a value."""

    coding: Coding
    drops_missing: bool


@final
@dataclass(frozen=True)
class Totals:
    """How many rows were summed, and the exact sum of each column's codes."""

    count: int
    sums: tuple[int, ...]
