# SPDX-License-Identifier: Apache-2.0
"""Every row of a table as a person: what their devices would send.

Whoever runs this has the table, and is trusted with it: local privacy is that of reports which
each person's own device makes. It is for demonstrations, for tests, and to see what a collection
would say before it is begun. What is written protects each row as much as a device would.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.opening import source_of
from lownoise.errors import FileError, path_of
from lownoise.local_model.intake import BINARY, guarded_batches, unread
from lownoise.local_model.report import ReportFormat, Reports, fresh_identifiers
from lownoise.local_model.seen import smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lownoise.engines.folds import Batch
    from lownoise.engines.source import AbstractSource
    from lownoise.local_model.estimate import Planned
    from lownoise.numbers.randomness import Randomness

_NUMBERS = 1 << 18  # of reports that are made at once
_PARQUET = ".parquet"


def simulate(plan: Planned, table: Any, *, randomness: Randomness) -> Iterator[Reports]:  # noqa: ANN401
    """Return a report of each row of a table, in blocks, in the order of the rows.

    Args:
        plan: a local plan, or a tally of it.
        table: as `lownoise.engines.opening.opened` takes it, or an `AbstractSource`, with the
            columns that the plan's records have.
        randomness: where the bits come from.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema.
        EngineError: later, where reading rows failed.
    """
    columns = plan.encoder.columns
    source = source_of(table, columns)
    return _reports(plan, _records(source, columns, unread(table)), randomness)


def _reports(plan: Planned, batches: Iterator[Any], randomness: Randomness) -> Iterator[Reports]:
    step = max(_NUMBERS // max(plan.randomizer.lowest.size, plan.encoder.dimension), 1)
    for records in batches:
        for start in range(0, len(records), step):
            encoded = plan.encoder.encode(records[start : start + step])
            values = plan.randomizer.reports(encoded, randomness=randomness)
            every = np.ones(len(values), dtype=np.bool_)
            identifiers = fresh_identifiers(len(values), randomness=randomness)
            yield Reports(every, every, identifiers, values)


def _records(source: AbstractSource, columns: Sequence[str], text: str) -> Iterator[Any]:
    """Yield rows as numbers, shape (k, d); as tuples where a column is of texts."""
    texts = [
        name for name, kind in zip(columns, source.kinds(columns), strict=True) if kind == "texts"
    ]
    numbers = [name for name in columns if name not in texts]
    for batch in guarded_batches(source, numbers, texts, text):
        yield _rows(batch, numbers, texts, columns)


def _rows(
    batch: Batch, numbers: Sequence[str], texts: Sequence[str], columns: Sequence[str]
) -> Any:  # noqa: ANN401
    if not texts:
        return np.stack(batch.numbers, axis=1)
    own: dict[str, list[Any]] = dict(zip(texts, map(_cells, batch.texts), strict=True))
    own |= {name: held.tolist() for name, held in zip(numbers, batch.numbers, strict=True)}
    return list(zip(*(own[name] for name in columns), strict=True))


def _cells(column: Any) -> list[str | None]:  # noqa: ANN401 (pyarrow carries no types)
    return list(column.to_pylist())


def write(plan: Planned, reports: Iterable[Reports], path: str | Path) -> int:
    """Write reports to a file, all of them or none, and return how many there are.

    Args:
        plan: a local plan, or a tally of it.
        reports: blocks of them, all of the plan, as `simulate` returns them.
        path: ends with ".reports" (their bytes, one after the other) or ".parquet".

    Raises:
        FileError: where the ending is another one, or the file cannot be written.
    """
    path = path_of(path)
    form = ReportFormat.of(plan.digest, plan.randomizer)
    writers: dict[str, Callable[[ReportFormat, Iterable[Reports], Path], int]]
    writers = {BINARY: _write_bytes, _PARQUET: _write_parquet}
    if path.suffix not in writers:
        raise FileError(f"file={path} has an unknown ending; give one of {', '.join(writers)}")
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            draft = Path(folder) / path.name
            count = writers[path.suffix](form, reports, draft)
            draft.replace(path)
    except OSError as error:
        raise FileError(
            f"file={path} cannot be written ({error.strerror}); give a folder that can be written"
        ) from None
    return count


def _write_bytes(form: ReportFormat, reports: Iterable[Reports], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for block in reports:
            file.write(form.pack(block.identifiers, block.values).tobytes())
            count += len(block.values)
    return count


def _write_parquet(form: ReportFormat, reports: Iterable[Reports], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind, count = smallest(form.lowest, form.highest), 0
    names = [f"v{j}" for j in range(len(form.widths))]
    texts = [("plan", pa.dictionary(pa.int32(), pa.string())), ("report", pa.string())]
    schema = pa.schema([*texts, *((name, pa.from_numpy_dtype(kind)) for name in names)])
    with pq.ParquetWriter(path, schema, use_dictionary=["plan", *names]) as file:
        for block in reports:
            columns = form.to_columns(block.identifiers, block.values.astype(kind))
            arrays = [pa.array(columns[name]) for name in ("report", *names)]
            plans = pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(len(block.values), dtype=np.int32)), pa.array([form.plan])
            )
            file.write_table(pa.Table.from_arrays([plans, *arrays], schema=schema))
            count += len(block.values)
    return count
