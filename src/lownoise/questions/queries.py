# SPDX-License-Identifier: Apache-2.0
"""Linear queries: any matrix times the counts of finitely many records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.kinds import PACKED, Field, Form
from lownoise.numbers.arrays import matrix as matrix_of
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import Categories, check_labels
from lownoise.questions.encoding import QUESTIONS, attribute_to_dict, schema_from
from lownoise.questions.universe import Universe, universe_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from lownoise.engines.counts import Histogram
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Vector

_LARGEST = 2.0**250  # products of numbers, and sums of them, stay finite
_SMALLEST = 2.0**-250
_MOST = 1 << 28  # numbers in the matrix: 2 GiB


class AbstractQueries(ABC):
    """Counts of rows of finitely many kinds: `matrix` times how many rows are of each kind.

    What asks for counts in a form of its own joins here, also from outside: it says its matrix and
    how rows are counted; totals, noise, bounds, files and reports are those of linear queries.
    """

    matrix: Vector  # what each kind of row adds to each answer, shape (m, N)
    universe: Universe | None = None  # the kinds as records, where they are listed as such

    @property
    @abstractmethod
    def drops(self) -> bool:
        """Whether a row may be left out."""

    @abstractmethod
    def histogram(self, table: Any) -> Histogram:  # noqa: ANN401 (any frame)
        """Return how many rows are of each kind.

        Raises:
            TableError: where the table cannot be opened or lacks a column: known from its schema,
                before a row is read.
            EngineError: where reading rows failed; the text is the same for every cause.
        """

    @property
    def reading(self) -> TableQuery[Histogram] | None:
        """What is asked of a table for the same, so that it is read along with other questions.

        None where only `histogram` knows: then the table is read for it alone.
        """
        return None

    @property
    def count(self) -> int:
        """The number of queries m."""
        return len(self.matrix)

    @property
    def record_count(self) -> int:
        """The number of kinds of rows N."""
        return int(self.matrix.shape[1])

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters: ones, shape (m,)."""
        return np.ones(self.count)

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return tuple(f"query {i}" for i in range(self.count))

    def record(self, place: int) -> tuple[str, ...]:
        """Return the labels of a kind of row."""
        return (f"kind {place}",)

    @property
    def rows(self) -> str:
        """What rows count as, one sentence for reports."""
        return "Every row is of one of the kinds."

    def check(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse what no release can read; called before a plan is made."""


def _universe_to_json(universe: Universe) -> dict[str, Any]:
    if universe.rows is None:
        return {"attributes": [attribute_to_dict(a) for a in universe.attributes]}
    labels = [a.labels or () for a in universe.attributes]
    return {
        "columns": [a.name for a in universe.attributes],
        "records": [
            [own[cell] for own, cell in zip(labels, cells, strict=True)]
            for cells in universe.rows.tolist()
        ],
        "outside": universe.outside,
    }


def _written(matrix: Vector, universe: dict[str, Any]) -> Queries:
    if "records" in universe:
        records, place = universe["records"], universe["outside"]
        outside = "drop" if place is None else records[place]
        return Queries(matrix, records, columns=universe["columns"], outside=outside)
    sizes, policies = schema_from(universe["attributes"])
    return Queries(matrix, sizes, outside=policies)


@QUESTIONS.kind(
    "queries", Field("matrix", PACKED), Field("universe", Form(_universe_to_json)), make=_written
)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Queries(AbstractQueries):
    """Linear queries of a table: matrix·histogram, the histogram of a public universe of records.

    Args:
        matrix: W, shape (m, N): what each record adds to each answer.
        universe: the N records in the order of W's columns: a mapping from names to numbers n of
            categories (whose values are 0 … n − 1), to lists of them, or to ranges of numbers as of
            `ln.Marginals`, all combinations, the last name fastest; or a list of N different
            records, each a row of values.
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
        universe: Mapping[str, Categories] | Sequence[Sequence[float | str]],
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
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return self.universe.drops

    def histogram(self, table: Any) -> Histogram:  # noqa: ANN401 (any frame)
        """Return how often each record of the universe occurs."""
        return self.reading.of(table)

    @property
    def reading(self) -> TableQuery[Histogram]:
        """What is asked of a table for how often each record occurs."""
        from lownoise.engines.counts import histogram_query

        return histogram_query(self.universe)

    def record(self, place: int) -> tuple[str, ...]:
        """Return the values of a record."""
        return self.universe.record(place)

    def check(self) -> None:
        """Refuse labels that no column holds."""
        check_labels(self.universe.attributes)
