# SPDX-License-Identifier: Apache-2.0
"""Sums of products that each task of Spark's makes of its own rows, one integer of 64 bits each.

All rows' codes do not fit one. So an aggregate of all rows is planned, and what is run of it is the
first half alone: each task adds up its rows, and its sums come here with how many rows they are of,
instead of being added to others'. Of codes of b bits no 2^(63 − b) pass 64 bits; sums of more rows
are not used. They raise no error: sums are analysed in a session whose sums wrap around modulo 2^64
(`spark.sql.ansi.enabled` is false there), whatever the table's session does. Else plans are made by
the table's session.

Spark takes one attempt's row for each part of the rows, as of every query. Nothing runs before the
tasks, and no row moves between them: the operators are some that are known by name for it.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines import spark_sums
from lownoise.engines.adding import AWKWARD, HALF
from lownoise.engines.record_codings import ClampingCoding
from lownoise.engines.sessions import items
from lownoise.sets.domains import MomentBox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.record_codings import Products
    from lownoise.numbers.arrays import Integers

_LEAST = 1 << 22  # rows of a task that must fit: tasks of more rows are rare
_ANSI = "spark.sql.ansi.enabled"
_PLAIN: dict[str, Any] = {}  # of each application, a session whose sums wrap around
_SEEN: dict[str, bool] = {}  # sessions, and whether tasks' sums are numpy's there


def added(
    rows: Any,  # noqa: ANN401 (pyspark's)
    asked: Products,
    collected: Callable[[Any], list[Any]],
    *,
    complete: bool,
) -> Integers | None:
    """Return what codes add up to and how many rows, by high and low bits, shape (r + 1, 2).

    None where Spark alone does not say it, or a task has too many rows.

    Args:
        rows: a DataFrame of floats n0, n1, ….
        asked: which codes.
        collected: what runs a DataFrame, and says nothing of what fails.
        complete: leave out every row that lacks a value.
    """
    if most_rows(asked) < _LEAST:
        return None
    parts = _parts(rows, asked, complete=complete)
    session = rows.sparkSession
    if parts is None or not spark_sums.as_numpy(session, collected):
        return None
    if not _as_numpy(session, collected):
        return None
    return _found(collected(parts), asked)


def most_rows(asked: Products) -> int:
    """Return how many codes surely fit a sum of 64 bits: 2^(63 − b)·(2^b − 1) is below 2^63."""
    return 1 << (63 - max(own.largest for own in asked.codes).bit_length())


def _texts(asked: Products) -> tuple[list[str], list[str]]:
    """Return what is made of the columns of a row, and what of these is summed."""
    columns, sums = [], []
    for i, own in enumerate(asked.clipped):
        clipped = f"least(greatest(n{i}, {own.lower!r}D), {own.upper!r}D)"
        clipped = f"if({spark_sums.missing(f'n{i}')}, {own.missing!r}D, {clipped})"
        columns += [f"{clipped} as r{i}", f"{spark_sums.less(clipped, own.middle)} as a{i}"]
    for code in asked.codes:
        (left, right), center = code.columns, code.center
        value = f"a{left} * a{right}"
        if right is None:
            same = center == asked.clipped[left].middle
            value, center = (f"a{left}", 0.0) if same else (f"r{left}", center)
        made = spark_sums.floored(value, center, code.inverse)
        # the clamp moves no code; a shift is what no source computes
        made = spark_sums.clamped(made, -code.largest, code.largest)
        sums.append(f"sum(shiftright({made}, 0))")
    return columns, [*sums, "count(1)"]


def _parts(rows: Any, asked: Products, *, complete: bool) -> Any:  # noqa: ANN401
    """Return a row of each task, of what its rows' codes add up to, and of how many they are.

    None where it is not as it is known to be: no row was read.
    """
    from pyspark.sql import DataFrame

    session, streams = rows.sparkSession, False
    java, jvm = session._jsparkSession, session.sparkContext._jvm  # noqa: SLF001
    own = jvm.org.apache.spark.sql
    if complete:
        lacks = " or ".join(spark_sums.missing(f"n{i}") for i in range(len(asked.clipped)))
        rows = rows.where(f"not ({lacks})")
    try:
        frame = own.classic.Dataset.ofRows(_plain(session), _analyzed(rows._jdf))  # noqa: SLF001
        for texts in _texts(asked):
            frame = frame.selectExpr(jvm.PythonUtils.toSeq(texts))
        with _active(own.classic.SparkSession, java):
            frame = own.classic.Dataset.ofRows(java, _analyzed(frame))
            plan = _first_half(frame.queryExecution().sparkPlan())
            # of two sums that are the same Spark makes one
            if plan is None or plan.output().size() != len(asked.codes) + 1:
                return None
            made = own.execution.QueryExecution.prepareExecutedPlan(java, plan)
            if _name(made) != spark_sums.COMPILED or not _straight(made) or spark_sums.rules(rows):
                return None
            found = java.internalCreateDataFrame(made.execute(), made.schema(), streams)
    except Exception:  # noqa: BLE001 (of a plan alone: another Spark's insides may be others)
        return None
    return DataFrame(found, session)


def _analyzed(frame: Any) -> Any:  # noqa: ANN401
    return frame.queryExecution().analyzed()


def _plain(session: Any) -> Any:  # noqa: ANN401
    """Return a session whose sums wrap around modulo 2^64 in place of an error."""
    application = session.sparkContext.applicationId
    if application not in _PLAIN:
        own = session._jsparkSession.newSession()  # noqa: SLF001
        own.conf().set(_ANSI, "false")
        _PLAIN[application] = own
    return _PLAIN[application]


def _first_half(plan: Any) -> Any:  # noqa: ANN401
    """Return what tasks add up before an aggregate adds tasks up; None where it does not so."""
    if _name(plan) != spark_sums.AGGREGATE or _name(plan.child()) != spark_sums.AGGREGATE:
        return None
    first = plan.child()
    mode = first.aggregateExpressions().head().mode().toString()
    return first if mode == "Partial" else None


@contextmanager
def _active(sessions: Any, own: Any) -> Iterator[None]:  # noqa: ANN401 (Java's)
    """Let plans be made by the settings of a session, as Spark does itself."""
    before = sessions.getActiveSession()
    sessions.setActiveSession(own)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _name(plan: Any) -> str:  # noqa: ANN401
    name: str = plan.getClass().getName()
    return name


def _straight(plan: Any) -> bool:  # noqa: ANN401
    """Return whether no row moves between tasks, and nothing runs before them."""
    known = _name(plan) in spark_sums.STRAIGHT and plan.subqueries().isEmpty()
    return known and all(map(_straight, items(plan.children())))


def _found(collected: Sequence[Any], asked: Products) -> Integers | None:
    """Return what tasks' sums add up to; None where one of them is of too many rows."""
    most = most_rows(asked)
    kept = [row for row in collected if row[-1]]  # sums of no rows are null
    if any(row[-1] > most for row in kept):
        return None
    own = np.array(kept, dtype=np.int64).reshape(-1, len(asked.codes) + 1)
    return np.stack([(own >> HALF).sum(axis=0), (own & ((1 << HALF) - 1)).sum(axis=0)], axis=1)


@cache
def probe() -> ClampingCoding:
    """Return how pairs of awkward values become integers, which a session is asked for first."""
    domain = MomentBox([-4.0, -3.0], [4.0, 5.0])
    every = np.arange(domain.dimension)
    return ClampingCoding(
        columns=("x", "y"),
        domain=domain,
        center=np.array([0.5, 1.0, 8.0, 0.0, 1.7]),
        missing=np.array([0.5, 9.0]),
        pivots=every,
        step=2.0 ** np.array([0, -36, -1, 0, -36]),
    )


def _as_numpy(session: Any, collected: Callable[[Any], list[Any]]) -> bool:  # noqa: ANN401
    """Return whether tasks' sums of awkward values are in this session what they are to numpy."""
    import pyarrow as pa

    own = session._jsparkSession.sessionUUID()  # noqa: SLF001
    if own not in _SEEN:
        values = np.append(AWKWARD, np.nan)
        given = np.stack([values, np.roll(values, 7)], axis=1)
        columns = {
            f"n{i}": pa.array(column, from_pandas=i == 0) for i, column in enumerate(given.T)
        }
        coding = probe()
        asked, frame, found = coding.products, session.createDataFrame(pa.table(columns)), None
        if asked and (parts := _parts(frame, asked, complete=False)) is not None:
            found = _found(collected(parts), asked)
        codes = coding.encode(given)
        wanted = [*codes.astype(object).sum(axis=0).tolist(), len(given)]
        _SEEN[own] = found is not None and wanted == [
            (h << HALF) + low for h, low in found.tolist()
        ]
    return _SEEN[own]
