# SPDX-License-Identifier: Apache-2.0
"""The codes of records that are tensor powers of signs.

Every entry has one of two values, so every code is one of two integers, known beforehand: no bound
on rounding is needed. Which signs a row stands for depends on that row alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.query import LARGEST_CODE, AbstractCoding, exact_sums, rounding_slack
from lownoise.errors import PlanError
from lownoise.sets.unit_balls.parity import parities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import CubePower

_BLOCK = 1024  # rows


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
