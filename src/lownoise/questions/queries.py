# SPDX-License-Identifier: Apache-2.0
"""Linear queries: any matrix times the counts of finitely many records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.numbers.arrays import matrix as matrix_of
from lownoise.numbers.readable import readable
from lownoise.questions.universe import Universe, universe_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_LARGEST = 2.0**250  # products of numbers, and sums of them, stay finite
_SMALLEST = 2.0**-250
_MOST = 1 << 28  # numbers in the matrix: 2 GiB


@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Queries:
    """Linear queries of a table: matrix·histogram, the histogram of a public universe of records.

    Args:
        matrix: W, shape (m, N): what each record adds to each answer.
        universe: the N records in the order of W's columns: a mapping from names to numbers n of
            categories (whose values are 0 … n − 1) or to lists of them, all combinations, the last
            name fastest; or a list of N different records, each a row of values.
        columns: the names of a record's values; with a list of records only.
        outside: where rows outside the universe go: "drop", left out (`add_remove` only). With a
            mapping also "extra", one more category (and so more columns of W), or a mapping from
            names to "drop", "extra" or the category that stands in; with a list the record of it
            that stands in.

    Raises:
        QuestionError: where the matrix has not one finite number for each query and record, or the
            universe is malformed.

    Examples:
        >>> question = Queries(np.tril(np.ones((4, 4))), {"age": 4})
        >>> question.count, question.universe.size
        (4, 4)
    """

    matrix: Vector
    universe: Universe

    def __init__(
        self,
        matrix: ArrayLike,
        universe: Mapping[str, int | Sequence[float] | Sequence[str]]
        | Sequence[Sequence[float | str]],
        *,
        columns: Sequence[str] | None = None,
        outside: object = "drop",
    ) -> None:
        W = matrix_of(matrix, field="matrix", error=QuestionError)
        records = universe_of(universe, columns, outside)
        if W.shape[1] != records.size or not W.shape[0]:
            raise QuestionError(
                f"matrix has shape {W.shape} for a universe of {records.size} records; give at "
                "least one row, and one column a record",
            )
        if W.size > _MOST:
            raise QuestionError(f"matrix has {W.size:,} numbers; give at most {_MOST:,}")
        size = np.max(np.abs(W), axis=1)
        wrong = np.flatnonzero((size > _LARGEST) | ((size > 0) & (size < _SMALLEST)))
        if wrong.size:
            i = int(wrong[0])
            raise QuestionError(
                f"matrix has at most {size[i]:g} in row {i}, not in [2^-250, 2^250]; use another "
                "unit",
            )
        object.__setattr__(self, "matrix", W)
        object.__setattr__(self, "universe", records)

    @property
    def count(self) -> int:
        """The number of queries m."""
        return len(self.matrix)

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return self.universe.drops

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters: ones, shape (m,)."""
        return np.ones(self.count)
