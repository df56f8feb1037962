# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: DuckDB, through ibis, reads, parses, filters and sums integers.

What a cell means is what `numerals.number_of` says, as SQL: a typed column and the texts it was
made of give the same numbers, so that it matters to no other row which type one row left its
column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, final

from lownoise.engines.source import AbstractSource, Batch, Sums
from lownoise.engines.tables import open_table
from lownoise.numbers.numerals import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.source import Kind, Range

_BATCH = 1 << 17  # rows
# what DuckDB reads as truth values and as integers, but not as floats
_ODD = rf"^((?i:{'|'.join(WORDS)})$|[ \t\n\v\f\r]*0[xXbB])"


@final
@dataclass(frozen=True, eq=False)
class DuckSource(AbstractSource):
    """A table on DuckDB.

    Args:
        connection: to the database.
        rows: an ibis table on it.
    """

    connection: Any
    rows: Any

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds; `open_table` has refused what holds neither."""
        schema = self.rows.schema()
        return tuple(_kind(schema[column]) for column in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order, batch by batch."""
        chosen = {f"n{i}": number(self.rows[name]) for i, name in enumerate(numbers)}
        chosen |= {f"t{i}": self.rows[name] for i, name in enumerate(texts)}
        rows = self.rows.select(**chosen)
        # what ibis's to_pyarrow_batches does, less a call that DuckDB deprecates
        self.connection._run_pre_execute_hooks(rows)  # noqa: SLF001
        reader = self.connection.con.sql(self.connection.compile(rows)).to_arrow_reader(_BATCH)
        for batch in reader:
            columns = list(batch.columns)
            # null becomes NaN
            floats = [c.to_numpy(zero_copy_only=False) for c in columns[: len(numbers)]]
            yield Batch(floats, columns[len(numbers) :])

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of clipped integers, by one query."""
        import ibis

        columns = {f"x{i}": self.rows[name].cast("int64") for i, (name, _, _) in enumerate(ranges)}
        rows = self.rows.select(**columns)
        if complete:
            rows = rows.filter(reduce(and_, [rows[x].notnull() for x in rows.columns]))
        wanted: dict[str, Any] = {"n": rows.count()}
        for i, (_, lower, upper) in enumerate(ranges):
            x = rows[f"x{i}"]
            clipped = ibis.greatest(ibis.least(x.fill_null(lower), upper), lower)
            # DuckDB sums 64-bit integers in 128 bits; the cast keeps them through the way out
            wanted[f"s{i}"] = clipped.sum().cast("decimal(38, 0)")
            wanted[f"k{i}"] = x.count()
        found = self.connection.to_pyarrow(rows.aggregate(**wanted)).to_pylist()[0]
        count = int(found["n"])
        present = tuple(int(found[f"k{i}"]) for i in range(len(ranges)))
        return Sums(
            count,
            present,
            # no rows: null; what is absent was summed as the lower bound
            tuple(
                int(found[f"s{i}"] or 0) - (count - present[i]) * lower
                for i, (_, lower, _) in enumerate(ranges)
            ),
        )


def opened(table: Any, columns: Sequence[str]) -> DuckSource:  # noqa: ANN401 (any frame)
    """Return a table on DuckDB, as `lownoise.engines.reading.source_of` takes it.

    Raises:
        TableError: where it cannot be opened, or a column is absent or of a type that holds no
            numbers.
    """
    return DuckSource(*open_table(table, columns))


def _kind(kind: Any) -> Kind:  # noqa: ANN401 (ibis has no types)
    if kind.is_string():
        return "texts"
    whole = kind.is_boolean() or (kind.is_integer() and not kind.is_uint64())
    return "integers" if whole else "numbers"


def number(column: Any) -> Any:  # noqa: ANN401
    """Return an ibis column as floats, null or NaN where a cell is no number and spells none.

    Args:
        column: of numbers, booleans or texts.
    """
    import ibis

    if not column.type().is_string():
        return column.cast("float64")
    # what may stop on bytes that are no UTF-8 (as a change of case does) must not stand here
    odd = ibis.ifelse(column.re_search(_ODD), column, None)
    truth, whole = odd.try_cast("boolean"), odd.try_cast("int64")
    return ibis.coalesce(column.try_cast("float64"), truth.cast("float64"), whole.cast("float64"))
