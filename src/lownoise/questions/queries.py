# SPDX-License-Identifier: Apache-2.0
"""Sums of what rows add; and linear queries: a matrix times the counts of finitely many records."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.kinds import PACKED, Field, Form
from lownoise.numbers.arrays import frozen
from lownoise.numbers.arrays import matrix as matrix_of
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import Categories, check_labels
from lownoise.questions.encoding import (
    QUESTIONS,
    AbstractQuestion,
    Parts,
    attribute_to_dict,
    schema_from,
)
from lownoise.questions.universe import Universe, universe_of
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.domains.coordinates import Coordinates, counted_coordinates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from lownoise.engines.counts import Histogram
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody

OUTSIDE = "A row outside the records that are counted is left out; how many is not published."
_LARGEST = 2.0**250  # products of numbers, and sums of them, stay finite
_SMALLEST = 2.0**-250
_MOST = 1 << 28  # numbers in the matrix: 2 GiB


def of_records(left_out: str) -> tuple[str, ...]:
    """Return what counts of records rest on, given which rows are left out, one sentence each."""
    return (
        "The queries and the records they count are public; none was taken from this table.",
        left_out or "A row outside these records counts as the one that stands in for it.",
    )


class AbstractSummed(AbstractQuestion):
    """A question whose answers are sums of what each row adds to them.

    What is summed in a form of its own joins here, also from outside: it says what one neighbour
    changes and names its totals, which read a table and hold privacy; every noise, bounds, files,
    specifications and reports follow.
    """

    parts: ClassVar[Parts] = Parts(
        view="release.linear_views:QueryView",
        read="release.stored:read_summed",
        gaussian="planning.gaussian:plan_summed",
        pure="planning.pure:pure_summed",
        page="report.linear:LinearView",
    )
    totals: ClassVar[Any]  # their class, an `AbstractSummedTotals`, or where that stands

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""

    @property
    @abstractmethod
    def rows(self) -> str:
        """What rows add or count as, one sentence for reports."""

    @abstractmethod
    def changes(
        self, relation: Relation, chosen: Coordinates, *, exchanged: bool = False
    ) -> AbstractBody:
        """Return the hull of all changes that one neighbour makes to the summed answers.

        Noise is fitted to it, and bounds are as good as it is tight; what noise covers is what the
        totals say.

        Args:
            relation: what a neighbour is, "substitute" or "add_remove".
            chosen: the answers that are summed.
            exchanged: whether a row of a unit becomes another, beside coming and going.
        """

    @property
    def count(self) -> int:
        """The number of answers m."""
        return len(self.names)

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters: ones, shape (m,)."""
        return np.ones(self.count)

    @property
    def note(self) -> str:
        """What a ledger says of a release."""
        return f"{self.count:,} sums of rows"

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return False

    @property
    def left_out(self) -> str:
        """Which rows are left out, in words; "" where none is."""
        return ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What answers rest on beside noise, one sentence each."""
        return (self.rows,)

    def coordinates(self, relation: Relation) -> Coordinates:
        """Return which answers are summed, and how all follow from them: all by default."""
        return self.as_summed(relation, np.arange(self.count), None)

    def as_summed(self, relation: Relation, pivots: Integers, embed: Vector | None) -> Coordinates:
        """Return the answers at `pivots`, of which all follow by `embed`, as coordinates."""
        return Coordinates(pivots=pivots, embed=embed, start=frozen(np.zeros(self.count)))

    def follows(self, chosen: Coordinates) -> bool:
        """Return whether every answer is what the summed ones say, for every row."""
        return chosen.complete

    def check(self) -> None:
        """Refuse what no release can read; called before a plan is made."""


class AbstractQueries(AbstractSummed):
    """Counts of rows of finitely many kinds: `matrix` times how many rows are of each kind.

    What asks for counts in a form of its own joins here, also from outside: it says its matrix and
    how rows are counted; totals, noise, bounds, files and reports are those of linear queries.
    """

    totals: ClassVar[Any] = "noise.queries:QueryTotals"
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

    @property
    def note(self) -> str:
        """What a ledger says of a release."""
        return f"{self.count:,} queries of records"

    @property
    def left_out(self) -> str:
        """Those outside the records."""
        return OUTSIDE if self.drops else ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What counts of records rest on."""
        return of_records(self.left_out)

    def coordinates(self, relation: Relation) -> Coordinates:
        """Return which queries are summed, and how all follow from them.

        Under `substitute` changes are what counts: a query that has one number for all records
        follows from the public size.

        Examples:
            >>> twice = Queries([[1, 1], [0, 1], [0, 2]], {"x": 2})
            >>> twice.coordinates("substitute").pivots.size
            1
            >>> twice.coordinates("add_remove").pivots.size
            2
        """
        return counted_coordinates(self.matrix, public=not checked_relation(relation).counted)

    def as_summed(self, relation: Relation, pivots: Integers, embed: Vector | None) -> Coordinates:
        """Return them about the first record's answers, where the number of records is public."""
        counted = checked_relation(relation).counted
        start = np.zeros(self.count) if counted else self.matrix[:, 0].copy()
        return Coordinates(pivots=pivots, embed=embed, start=frozen(start))

    def follows(self, chosen: Coordinates) -> bool:
        """Return whether every query is what its pivots say, for every record."""
        about = self.matrix.T - chosen.start
        return chosen.fits(about, np.max(np.abs(about), axis=0))

    def changes(
        self, relation: Relation, chosen: Coordinates, *, exchanged: bool = False
    ) -> SymmetricPoints | PointDifferences:
        """Return the hull of all changes that one neighbour makes to the summed queries."""
        kept = frozen(np.ascontiguousarray(self.matrix[chosen.pivots].T))
        if exchanged:  # 0 is what no row adds
            return PointDifferences(frozen(np.pad(kept, ((1, 0), (0, 0)))))
        counted = checked_relation(relation).counted
        return SymmetricPoints(kept) if counted else PointDifferences(kept)


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
    """Linear queries: a matrix times the histogram of the table over a public universe of records.

    Args:
        matrix: W, shape (m, N): what each record adds to each answer.
        universe: the N records in the order of W's columns. Either a mapping from names to numbers
            n of categories (0 … n − 1), lists of them, or ranges of numbers as for `ln.Marginals`:
            then all combinations, the last name varying fastest. Or a list of N different records,
            each a row of values.
        columns: the names of a record's values; with a list of records only.
        outside: rows outside the universe: "drop" leaves them out (`add_remove` only). With a
            mapping also "extra", one more category (and so more columns of W), or a mapping from
            names to "drop", "extra" or the category that replaces other values. With a list, the
            record that replaces them.

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
