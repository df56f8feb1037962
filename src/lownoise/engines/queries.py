# SPDX-License-Identifier: Apache-2.0
"""What is asked of a table, alone or along with others whose answers one pass gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from lownoise.engines.cells import alike
from lownoise.engines.codings import Totals
from lownoise.engines.folds import CodeSums, Folds, RangeSums, folded
from lownoise.engines.opening import source_of
from lownoise.engines.source import AbstractSource, Sums
from lownoise.engines.tables import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import AbstractFold, Range
    from lownoise.numbers.arrays import Integers

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class TableQuery(Generic[T]):
    """What is asked of a table, alone or along with others.

    Args:
        columns: that are read.
        work: from a table, by its schema alone, to what its rows add up to and what that says.
        what: is done to the table, in messages.
        alone: from a table to the same, by an engine's own way, where nothing else is asked; None
            where `work` is the way.
    """

    columns: tuple[str, ...]
    work: Callable[[AbstractSource], tuple[AbstractFold, Callable[[Integers], T]]]
    what: str
    alone: Callable[[AbstractSource], T] | None = None

    def of(self, table: Any) -> T:  # noqa: ANN401 (any frame)
        """Return what a table says.

        Args:
            table: as `source_of` takes it.

        Raises:
            TableError: where the table cannot be opened or lacks a column: known from its schema,
                before a row is read.
            EngineError: where reading rows failed; the text is the same for every cause.
        """
        source = source_of(table, self.columns)
        with alike(failed(table, self.what)):
            return self.read(source)

    def read(self, source: AbstractSource) -> T:
        """Return what the rows of an open table say."""
        if self.alone is not None:
            return self.alone(source)
        work, made = self.work(source)
        return made(source.fold(work))


def read_all(queries: Sequence[TableQuery[Any]], table: Any) -> list[Any]:  # noqa: ANN401
    """Return what a table says to each, of rows that are read once.

    Of rows that are held each is read its own way, where it has one, as is from an engine that is
    not near what keeps rows.

    Args:
        queries: what is asked.
        table: as `source_of` takes it; of units the same rows count for all, and columns that any
            of them reads end their order.

    Raises:
        TableError, EngineError: as `TableQuery.of`.
    """
    if len(queries) == 1:
        return [queries[0].of(table)]
    source = source_of(table, list(dict.fromkeys(c for own in queries for c in own.columns)))
    with alike(failed(table, "read")):
        asked = [own.work(source) for own in queries]
        apart = [
            query.alone is not None and (source.held or (work.keeps and not source.near))
            for query, (work, _) in zip(queries, asked, strict=True)
        ]
        works = Folds(tuple(w for (w, _), own in zip(asked, apart, strict=True) if not own))
        parts = iter(works.parts(_of_all(source, works)) if works.members else ())
        return [
            query.read(source) if own else made(next(parts))
            for query, (_, made), own in zip(queries, asked, apart, strict=True)
        ]


def _of_all(source: AbstractSource, works: Folds) -> Integers:
    if any(work.keeps for work in works.members):
        return folded(works, source.batches(*works.columns))
    return source.fold(works)


def totals_query(query: TotalsQuery) -> TableQuery[Totals]:
    """Return what is asked of a table for the totals over its rows.

    Codes that are exact multiples of integers are summed as these, by the engine where it can.
    """
    coding, complete = query.coding, query.drops_missing
    missing = coding.encode(coding.missing).tolist()

    def exact(source: AbstractSource) -> tuple[Range, ...] | None:
        """Return the columns of integers that are summed, where that is all there is to it."""
        integers = all(kind == "integers" for kind in source.kinds(coding.columns))
        scaled = coding.of_integers() if integers else None
        if scaled is None:
            return None
        columns = zip(coding.columns, scaled, strict=True)
        return tuple((name, own.lower, own.upper) for name, own in columns)

    def coded(found: Sums) -> Totals:
        """Σ codes = (Σ clamp(x) − n·center)/step, and the stand-ins' codes."""
        sums = [
            total * own.scale - present * own.offset + (found.count - present) * missing[i]
            for i, (own, present, total) in enumerate(
                zip(coding.of_integers() or (), found.present, found.sums, strict=True)
            )
        ]
        return Totals(found.count, tuple(sums))

    def work(source: AbstractSource) -> tuple[AbstractFold, Callable[[Integers], Totals]]:
        ranges = exact(source)
        if ranges is None:
            return CodeSums(query), CodeSums.totals
        return RangeSums(ranges, complete), lambda found: coded(Sums.of(found))

    def alone(source: AbstractSource) -> Totals:
        ranges = exact(source)
        if ranges is None:
            return CodeSums.totals(source.fold(CodeSums(query)))
        return coded(source.sums(ranges, complete=complete))

    return TableQuery(tuple(coding.columns), work, "summed", alone)
