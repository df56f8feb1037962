# SPDX-License-Identifier: Apache-2.0
"""Parts of a table that threads add up, and tables that need no engine for it.

Columns of floats, integers and truth values are what they say, in memory as in Parquet files: Arrow
hands them over as they are, and no query is run. What texts spell is for an engine to say.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Condition, Event, Lock, local
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.folds import Batch, InTurn, floats_of
from lownoise.engines.source import AbstractSource
from lownoise.numbers.readable import brief
from lownoise.numbers.threads import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from lownoise.engines.folds import AbstractFold, Range, Turn
    from lownoise.engines.source import Groups, Kind, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit

    # columns of numbers, of texts, and (by name) whether the first are asked for in turn → rows
    Open = Callable[..., Iterator[Batch]]

_ROWS = 1 << 17  # a batch, of few columns
_NUMBERS = 1 << 22  # a batch: 32 MB
_IN_TURN = range(1 << 16, 1 << 21)  # rows of a file's group that is read column after column
_TEXTS = 1 << 26  # bytes of a column of texts in such a group
_STATES = 1 << 28  # bytes, of all threads


def rows_at_once(columns: int) -> int:
    """Return how many rows a batch has, so that one of many columns is no larger than others."""
    return max(min(_ROWS, _NUMBERS // max(columns, 1)), 1 << 10)


@final
class Part:
    """Rows that one thread at a time takes the next batch of.

    Args:
        batches: opens them.
    """

    def __init__(self, batches: Callable[[], Iterable[Batch]]) -> None:
        self._open, self._lock = batches, Lock()
        self._batches: Iterator[Batch] | None = None
        self._over = False

    def __iter__(self) -> Iterator[Batch]:
        """Yield batches that no other thread has taken."""
        while True:
            with self._lock:
                if self._batches is None and not self._over:
                    self._batches = iter(self._open())
                batch = None if self._batches is None else next(self._batches, None)
                if batch is None:
                    self._batches, self._over = None, True
                    return
            yield batch


@final
@dataclass(eq=False)
class _Turns:
    """The columns of a batch: those that nobody has taken, and how many are being added."""

    waiting: deque[Callable[[], None]]
    held: int = 0


@final
class _Columns:
    """Columns that threads are to add up, of batches that they are at.

    In the block a thread has batches of its own; after it, it helps others until none has any. A
    thread leaves a batch when all columns of it were added: no two threads write one total.

    Args:
        threads: how many there are.
    """

    def __init__(self, threads: int) -> None:
        self._working, self._changed = threads, Condition()
        self._open: list[_Turns] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait for a thread, as one may never have begun."""
        with self._changed:
            self._working = 0
            self._changed.notify_all()

    def add(self, work: AbstractFold, found: Integers, batch: Batch) -> None:
        """Add the rows of a batch, with those that have none left."""
        turns = work.turns(found, batch).items()
        own = _Turns(deque(partial(_added, turn, batch.numbers, place) for place, turn in turns))
        with self._changed:
            self._open = [*(other for other in self._open if other.waiting), own]
            self._changed.notify_all()
        self._take(own)
        with self._changed:
            self._changed.wait_for(lambda: not own.held)

    def help(self) -> None:
        """Add columns of others' batches as long as there may be any."""
        while (own := self._next()) is not None:
            self._take(own)

    def _next(self) -> _Turns | None:
        def left() -> _Turns | None:
            return next((own for own in self._open if own.waiting), None)

        with self._changed:
            self._changed.wait_for(lambda: left() or self._working <= 0)
            return left()

    def _take(self, own: _Turns) -> None:
        """Do what nobody has taken yet."""
        while True:
            with self._changed:
                if not own.waiting:
                    return
                turn = own.waiting.popleft()
                own.held += 1
            try:
                turn()
            except BaseException:
                own.waiting.clear()  # nobody needs the others
                raise
            finally:
                with self._changed:
                    own.held -= 1
                    self._changed.notify_all()


def _added(turn: Turn, numbers: Sequence[Vector], place: int) -> None:
    turn(numbers[place])


def fold(work: AbstractFold, parts: Sequence[Part]) -> Integers:
    """Return what the rows of all parts add up to, in as many threads as there are processors.

    Each thread begins with parts of its own, and then helps with those of others: with batches that
    none has taken, and last with columns of those that another is at, where they come in turn.

    Args:
        work: what a row adds.
        parts: the rows, each once.

    Examples:
        >>> from lownoise.engines.codings import Coding, TotalsQuery
        >>> from lownoise.engines.folds import CodeSums
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=0 * one,
        ...                 missing=0 * one, step=one)
        >>> parts = [Part(lambda: [Batch([np.full(5, 3.0)], [])] * 3)] * 2
        >>> CodeSums.totals(fold(CodeSums(TotalsQuery(coding, drops_missing=False)), parts))
        Totals(count=15, sums=(45,))
    """
    zeros, stop = work.zeros(), Event()
    most = max(_STATES // max(zeros.nbytes, 1), 1)
    threads = min(processors(), most)
    shared = _Columns(threads)

    def run(thread: int) -> Integers:
        found = work.zeros()
        first = thread * len(parts) // threads
        with np.errstate(all="ignore"):  # a thread's own
            with shared:
                for part in [*parts[first:], *parts[:first]]:
                    for batch in part:
                        if stop.is_set():
                            return found
                        if work.in_turn:
                            shared.add(work, found, batch)
                        else:
                            work.add(found, batch)
            shared.help()
        return found

    if threads == 1:
        return run(0)
    with ThreadPoolExecutor(threads) as pool:
        try:
            for found in list(pool.map(run, range(threads))):  # others may add to a thread's own
                zeros += found
        except BaseException:
            stop.set()
            shared.close()
            raise
    return zeros


@final
@dataclass(frozen=True, eq=False)
class PlainTable:
    """A table whose columns Arrow knows, in pieces that are read apart.

    Args:
        schemas: of the pieces' files, or of the one table.
        pieces: each opens its record batches.
        held: whether they are in memory.
    """

    schemas: tuple[Any, ...]
    pieces: tuple[Open, ...]
    held: bool = False

    @classmethod
    def of(cls, table: Any) -> PlainTable:  # noqa: ANN401
        """Return a table in memory."""

        def opens(start: int, length: int) -> Open:
            def batches(
                numbers: Sequence[str], texts: Sequence[str], *, in_turn: bool
            ) -> Iterator[Batch]:
                names = _names(numbers, texts)
                own = table.select(names).slice(start, length)
                for batch in own.to_batches(max_chunksize=rows_at_once(len(names))):
                    yield _batch(batch.column, numbers, texts, in_turn=in_turn)

            return batches

        rows = range(0, len(table), _ROWS)
        return cls((table.schema,), tuple(opens(start, _ROWS) for start in rows), held=True)

    @classmethod
    def of_files(cls, paths: Sequence[Path]) -> PlainTable | None:
        """Return the rows of Parquet files; None where Arrow does not open one."""
        import pyarrow.parquet as pq

        def opens(path: Path, group: int) -> Open:
            def batches(
                numbers: Sequence[str], texts: Sequence[str], *, in_turn: bool
            ) -> Iterator[Batch]:
                # texts as the file has them, each word once
                file = pq.ParquetFile(path, read_dictionary=list(texts))
                if in_turn and _few(file.metadata.row_group(group), texts):
                    opened = local()  # two threads may read two columns at once
                    opened.file = file

                    def read(name: str) -> Any:  # noqa: ANN401
                        if not hasattr(opened, "file"):
                            opened.file = pq.ParquetFile(path, metadata=file.metadata)
                        own = opened.file.read_row_group(group, columns=[name], use_threads=False)
                        return _array_of(own.column(name))

                    yield _batch(read, numbers, texts, in_turn=True)  # open as long as it is used
                    return
                names = _names(numbers, texts)
                with file:
                    for batch in file.iter_batches(
                        batch_size=rows_at_once(len(names)),
                        row_groups=[group],
                        columns=names,
                        use_threads=False,
                    ):
                        yield _batch(batch.column, numbers, texts)

            return batches

        schemas: list[Any] = []
        pieces: list[Open] = []
        for path in paths:
            try:
                with pq.ParquetFile(path) as file:
                    schemas.append(file.schema_arrow)
                    pieces += [opens(path, group) for group in range(file.num_row_groups)]
            except Exception:  # noqa: BLE001 (the engine may open it)
                return None
        return cls(tuple(schemas), tuple(pieces))

    def covers(self, columns: Sequence[str]) -> bool:
        """Return whether it has each column once, of one plain type wherever it is."""
        first = self.schemas[0]
        for schema in self.schemas:
            folded = Counter(map(str.casefold, schema.names))  # engines take one for the other
            for name in columns:
                plain = _plain(schema, name, _is_number) or _plain(schema, name, _is_text)
                if not plain or folded[name.casefold()] > 1:
                    return False
                if schema.field(name).type != first.field(name).type:
                    return False
        return True

    def parts(
        self, numbers: Sequence[str], texts: Sequence[str] = (), *, in_turn: bool = False
    ) -> list[Part] | None:
        """Return the rows, as of `AbstractSource.batches`; None where that takes an engine.

        It takes one where a column is of another type than floats, integers and truth values that
        are read as numbers, and texts that are read as texts: known from the schema alone.

        Args:
            numbers: columns that are read as numbers.
            texts: columns that are read as texts.
            in_turn: whether those of numbers are read only when they are asked for.
        """
        for schema in self.schemas:
            known = [_plain(schema, name, _is_number) for name in numbers]
            known += [_plain(schema, name, _is_text) for name in texts]
            if not all(known):
                return None
        return [Part(partial(piece, numbers, texts, in_turn=in_turn)) for piece in self.pieces]


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlainSource(AbstractSource):
    """A table that Arrow reads; groups, order and units are asked of an engine.

    Args:
        table: the rows.
        engine: opens the same rows on an engine, which most totals never need.
    """

    unit_kinds = ("integers", "numbers", "texts")
    table: PlainTable
    engine: Callable[[], AbstractSource]

    def __repr__(self) -> str:
        return f"PlainSource(columns {brief(list(self.table.schemas[0].names))})"

    @property
    def held(self) -> bool:
        """Whether all rows are in memory."""
        return self.table.held

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds."""
        if not self.table.covers(columns):
            return self.engine().kinds(columns)
        schema = self.table.schemas[0]
        return tuple(_kind(schema.field(column).type) for column in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order, batch by batch."""
        return self.engine().batches(numbers, texts)

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> AbstractSource:
        """Return the first rows of each unit, as the engine numbers them."""
        return self.engine().bounded(unit, columns)

    def keyed(self, column: str, columns: Sequence[str]) -> Iterator[tuple[Any, Sequence[Vector]]]:
        """Return all rows with their units, as the engine has them, batch by batch."""
        return self.engine().keyed(column, columns)

    def fold(self, work: AbstractFold) -> Integers:
        """Return what all rows add up to, in threads."""
        parts = self.table.parts(work.numbers, work.texts, in_turn=work.in_turn)
        return self.engine().fold(work) if parts is None else fold(work, parts)

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of clipped integers, in threads, or by the engine's query."""
        if self.table.parts([name for name, _, _ in ranges]) is None:
            return self.engine().sums(ranges, complete=complete)
        return super().sums(ranges, complete=complete)

    def group_sums(
        self, numbers: Sequence[str], texts: Sequence[str] = (), ranges: Sequence[Range] = ()
    ) -> Iterator[Groups]:
        """Return each group once, by the engine's query."""
        return self.engine().group_sums(numbers, texts, ranges)


def _kind(kind: Any) -> Kind:  # noqa: ANN401 (pyarrow has no types)
    import pyarrow.types as kinds

    if _is_text(kind):
        return "texts"
    whole = kinds.is_boolean(kind) or (kinds.is_integer(kind) and not kinds.is_uint64(kind))
    return "integers" if whole else "numbers"


def _plain(schema: Any, name: str, is_kind: Callable[[Any], bool]) -> bool:  # noqa: ANN401
    places = schema.get_all_field_indices(name)
    return len(places) == 1 and is_kind(schema.field(places[0]).type)


def _is_number(kind: Any) -> bool:  # noqa: ANN401
    import pyarrow.types as kinds

    known = (kinds.is_float32, kinds.is_float64, kinds.is_integer, kinds.is_boolean)
    return any(is_kind(kind) for is_kind in known)


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _array_of(column: Any) -> Any:  # noqa: ANN401
    """Return the one array of a column's chunks, copied only where they are several."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _names(numbers: Sequence[str], texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*numbers, *texts]))


def _few(group: Any, texts: Sequence[str]) -> bool:  # noqa: ANN401
    """Return whether a file's rows are so few that a column of them is held at once."""
    columns = map(group.column, range(group.num_columns)) if texts else ()
    sizes = {own.path_in_schema: own.total_uncompressed_size for own in columns}
    return group.num_rows in _IN_TURN and all(sizes[name] <= _TEXTS for name in texts)


def _batch(
    read: Callable[[str], Any],
    numbers: Sequence[str],
    texts: Sequence[str],
    *,
    in_turn: bool = False,
) -> Batch:
    """Return rows by what reads an Arrow array of each column, as its name says.

    A file's columns may be more than were asked for: those whose names begin alike, with a dot.
    """
    import pyarrow as pa

    def floats(name: str) -> Vector:
        return floats_of(read(name).cast(pa.float64(), safe=False))

    columns = InTurn(floats, numbers)
    return Batch(columns if in_turn else list(columns), [read(name) for name in texts])
