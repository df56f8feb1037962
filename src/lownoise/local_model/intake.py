# SPDX-License-Identifier: Apache-2.0
"""The ways in for reports: objects, bytes, lines of JSON, tables of any engine, and files.

All of them end as columns, block by block, in which what is no report is marked and not lost. What
a report says follows from itself alone. Reports are public, so messages may quote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.cells import alike
from lownoise.engines.opening import source_of
from lownoise.engines.source import AbstractSource
from lownoise.engines.tables import named
from lownoise.errors import FileError, quoted
from lownoise.local_model.report import VERSION, Report, Reports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.engines.folds import Batch
    from lownoise.local_model.report import ReportFormat

BINARY = ".reports"
LINES = ".jsonl"
_PARQUET = (".parquet", ".pq")
_ITEMS = 1 << 12  # reports one by one that are gathered
_BYTES = 1 << 23  # of a binary file at once
_BEYOND = 2.0**53  # from here on floats take neighbouring integers for one


def blocks(given: Any, form: ReportFormat) -> Iterator[Reports]:  # noqa: ANN401 (any frame)
    """Return reports as columns, block by block, in the order in which they stand.

    Args:
        given: one report, or many: see `Tally.add`.
        form: of the plan's reports.

    Raises:
        TableError: where a table cannot be opened or lacks a column: known from its schema.
        FileError: where a file cannot be read, or what is given is no report and holds none.
        EngineError: later, where reading rows failed.
    """
    if isinstance(given, Reports):
        return iter((given,))
    if isinstance(given, (Report, bytes)) or _is_json(given):
        return _of_items([given], form)
    if isinstance(given, (str, Path)) and str(given).lower().endswith(BINARY):
        return _of_file(Path(given), form)
    if isinstance(given, (str, Path)) and str(given).lower().endswith(LINES):
        return _of_items(_lines(Path(given)), form)
    if _is_table(given):
        return _of_table(given, form)
    if not isinstance(given, Iterable):
        raise FileError(
            f"reports={type(given).__name__} holds no reports; give reports, a table or a file"
        )
    return _of_items(given, form)


def _is_json(given: object) -> bool:
    return isinstance(given, str) and given.lstrip().startswith("{")


def _is_table(given: object) -> bool:
    """Return whether an engine is to read it, by its type alone."""
    if isinstance(given, (list, tuple)):  # of paths
        paths = all(isinstance(own, (str, Path)) for own in given)
        return paths and bool(given) and all(str(own).lower().endswith(_PARQUET) for own in given)
    frame = hasattr(given, "__arrow_c_stream__") or (
        hasattr(given, "iloc") and hasattr(given, "dtypes")
    )
    return frame or isinstance(given, (str, Path, AbstractSource))


def _of_items(items: Iterable[Any], form: ReportFormat) -> Iterator[Reports]:
    rest = iter(items)
    while gathered := list(islice(rest, _ITEMS)):
        if all(isinstance(own, Reports) for own in gathered):
            yield from gathered
            continue
        yield _of_few(gathered, form)


def _of_few(items: Sequence[Any], form: ReportFormat) -> Reports:
    """Return reports given one by one as columns."""
    count, width = len(items), len(form.widths)
    found = nothing(count, width)
    packed = [k for k, item in enumerate(items) if isinstance(item, bytes)]
    whole = [k for k in packed if len(items[k]) == form.size]
    own = bytes([VERSION]) + bytes.fromhex(form.plan)
    for k in set(packed) - set(whole):  # those of another plan may be longer or shorter
        head = items[k][: len(own)]
        found.own[k] = len(head) < len(own) or head[0] != VERSION or head == own
    if whole:
        content = np.frombuffer(b"".join(items[k] for k in whole), np.uint8)
        _put(found, whole, form.unpack(content.reshape(-1, form.size)))
    read = {k: _read(item) for k, item in enumerate(items) if not isinstance(item, bytes)}
    known = {k: report for k, report in read.items() if report is not None}
    for k, report in known.items():
        found.own[k] = report.plan == form.plan
    fitting = [k for k, report in known.items() if len(report.values) == width]
    if fitting:
        values = np.array([known[k].values for k in fitting], dtype=np.int64)
        columns = {f"v{j}": values[:, j] for j in range(width)}
        columns["plan"] = np.array([known[k].plan for k in fitting])
        columns["report"] = np.array([known[k].id for k in fitting])
        _put(found, fitting, form.from_columns(columns))
    return found


def _read(item: object) -> Report | None:
    """Return the report that an object is, or a line of JSON says; None where it says none.

    Raises:
        FileError: where it is of a type that reports never have.
    """
    if isinstance(item, Report):
        return item
    if not isinstance(item, str):
        raise FileError(
            f"reports holds one of type {type(item).__name__}; give reports as `randomize` "
            "returns them, or as their bytes or JSON"
        )
    try:
        return Report.from_json(item)
    except FileError:
        return None


def nothing(count: int, width: int) -> Reports:
    """Return columns of reports that are none yet; those are taken for the plan's own."""
    return Reports(
        np.zeros(count, dtype=np.bool_),
        np.ones(count, dtype=np.bool_),
        np.zeros((count, 2), dtype=np.uint64),
        np.zeros((count, width), dtype=np.int64),
    )


def _put(found: Reports, places: list[int], part: Reports) -> None:
    found.formed[places] = part.formed
    found.own[places] = part.own
    found.identifiers[places] = part.identifiers
    found.values[places] = part.values


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file that are not empty."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    yield line.decode("utf-8", "replace")
    except OSError as error:
        raise FileError(
            f"reports={named(path)} cannot be read ({error.strerror}); give a file"
        ) from None


def _of_file(path: Path, form: ReportFormat) -> Iterator[Reports]:
    """Yield reports of a file of their bytes, one after the other; a torn last one is malformed."""
    step = max(_BYTES // form.size, 1) * form.size
    try:
        with path.open("rb") as file:
            while content := file.read(step):
                whole = len(content) - len(content) % form.size
                if whole:
                    packed = np.frombuffer(content, np.uint8, whole)
                    yield form.unpack(packed.reshape(-1, form.size))
                if whole < len(content):
                    yield nothing(1, len(form.widths))
    except OSError as error:
        raise FileError(
            f"reports={named(path)} cannot be read ({error.strerror}); give a file"
        ) from None


def _of_table(table: Any, form: ReportFormat) -> Iterator[Reports]:  # noqa: ANN401 (any frame)
    """Return the rows of a table, whose columns are plan, report, v0 and so on."""
    names = [f"v{j}" for j in range(len(form.widths))]
    ends = max(map(abs, [*form.lowest.tolist(), *form.highest.tolist()]))
    if ends >= _BEYOND:
        raise FileError(
            f"reports={quoted(type(table).__name__)} is a table, whose numbers are exact below "
            "2^53 alone, and reports of this plan go beyond; give their bytes"
        )
    source = source_of(table, [*names, "plan", "report"])
    return _rows(source, names, form, unread(table))


def unread(table: Any) -> str:  # noqa: ANN401
    """Return what is said where rows could not be read, whatever the cause."""
    return (
        f"table={named(table)} could not be read to its end; check that the file is complete, and "
        "that memory and temporary disk suffice"
    )


def _rows(
    source: AbstractSource, names: list[str], form: ReportFormat, text: str
) -> Iterator[Reports]:
    for batch in guarded_batches(source, names, ["plan", "report"], text):
        columns = dict(zip(names, batch.numbers, strict=True))
        columns["plan"], columns["report"] = map(_texts, batch.texts)
        yield form.from_columns(columns)


def guarded_batches(
    source: AbstractSource, numbers: Sequence[str], texts: Sequence[str], text: str
) -> Iterator[Batch]:
    """Yield the rows of a table; whatever fails while they are read is one error.

    Raises:
        EngineError: with the text that is given.
    """
    with alike(text):
        batches = iter(source.batches(numbers, texts))
    while True:
        with alike(text):  # and not around `yield`: what the caller says is the caller's
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _texts(column: Any) -> Any:  # noqa: ANN401 (pyarrow carries no types)
    """Return an Arrow array of texts as numpy's, in place where all are equally long."""
    import pyarrow as pa

    if not len(column):
        return np.zeros(0, dtype="S1")
    if column.null_count == 0 and pa.types.is_string(column.type):
        _, places, letters = column.buffers()
        ends = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
        size = int(ends[1] - ends[0])
        if size and np.all(np.diff(ends) == size):
            return np.frombuffer(letters, f"S{size}", len(column), int(ends[0]))
    return np.array([text or "" for text in column.to_pylist()])
