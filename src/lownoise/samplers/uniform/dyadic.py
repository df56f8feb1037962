# SPDX-License-Identifier: Apache-2.0
"""Floats as integers: each is a dyadic number, so that determinants of them can be exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from flint import fmpz_mat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False)
class Dyadic:
    """Rows of floats as integers, each column with a power of two of its own.

    Args:
        rows: integers n, N rows of d.
        exponents: e, d of them: the floats are n·2^e.
    """

    rows: list[list[int]]
    exponents: list[int]

    def unit(self) -> Fraction:
        """Return Π 2^e: the volume of the unit cell."""
        return Fraction(2) ** sum(self.exponents)

    def square(self, indices: Sequence[int]) -> Any:  # noqa: ANN401 (flint carries no types)
        """Return some rows as an integer matrix."""
        return fmpz_mat([self.rows[i] for i in indices])


def dyadic(rows: Vector) -> Dyadic:
    """Return the floats, shape (N, d), as integers.

    Examples:
        >>> import numpy as np
        >>> found = dyadic(np.array([[0.5, 8.0], [1.25, 24.0]]))
        >>> found.rows, found.exponents
        ([[2, 1], [5, 3]], [-2, 3])
    """
    columns, exponents = [], []
    for column in rows.T.tolist():
        pairs = [a.as_integer_ratio() for a in column]
        common = max(below for _, below in pairs)  # each is a power of two
        integers = [above * (common // below) for above, below in pairs]
        shared = math.gcd(*integers) or 1
        shared &= -shared
        columns.append([n // shared for n in integers])
        exponents.append(shared.bit_length() - common.bit_length())
    return Dyadic([list(row) for row in zip(*columns, strict=True)], exponents)
