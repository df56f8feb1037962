# SPDX-License-Identifier: Apache-2.0
"""Sums that Spark's own operators make: of integers, and of the codes of columns of floats.

Integers are summed in pieces of 20 bits, so that no sum comes near 64 bits and it does not matter
what a session does about those that do. The code of a float is made of a difference, a product with
a power of two, a sum and a floor, each of which Java makes as IEEE 754 says and numpy does; it is
clamped as an integer, so that one row is bounded whoever computes. Such codes are asked of a plan
alone whose operators are all Spark's own, in a session where they were seen to be numpy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.adding import AWKWARD, CODES
from lownoise.engines.sessions import items
from lownoise.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines.adding import ColumnCode
    from lownoise.engines.folds import CodedColumns
    from lownoise.numbers.arrays import Integers

_PART = 20  # bits of an integer that are summed at once: those of 2^42 rows fit 63 bits
_MOST_ROWS = 1 << 42
_SEEN: dict[str, bool] = {}  # sessions, and whether codes are numpy's there
_PACKAGE = "org.apache.spark.sql.execution."
# by name: a package says nothing, since accelerators have operators of their own in this one
AGGREGATE, COMPILED = f"{_PACKAGE}aggregate.HashAggregateExec", f"{_PACKAGE}WholeStageCodegenExec"
# each task of these has what it needs of its own part, and nothing runs before
STRAIGHT = {AGGREGATE, COMPILED} | {
    f"{_PACKAGE}{name}"
    for name in (
        *("InputAdapter", "ColumnarToRowExec", "ProjectExec", "FilterExec", "UnionExec"),
        *("ExpandExec", "GenerateExec", "SortExec", "CoalesceExec", "RangeExec", "RDDScanExec"),
        *("LocalTableScanExec", "FileSourceScanExec", "datasources.v2.BatchScanExec"),
        *("python.BatchEvalPythonExec", "python.ArrowEvalPythonExec", "python.MapInPandasExec"),
        "python.MapInArrowExec",
    )
}
_OPERATORS = STRAIGHT | {
    f"{_PACKAGE}{name}"
    for name in (
        *("columnar.InMemoryTableScanExec", "aggregate.ObjectHashAggregateExec"),
        *("aggregate.SortAggregateExec", "exchange.ShuffleExchangeExec"),
        *("exchange.BroadcastExchangeExec", "exchange.ReusedExchangeExec"),
        *("joins.BroadcastHashJoinExec", "joins.SortMergeJoinExec", "joins.ShuffledHashJoinExec"),
        *("joins.BroadcastNestedLoopJoinExec", "joins.CartesianProductExec"),
        *("window.WindowExec", "window.WindowGroupLimitExec"),
    )
}
_ADAPTIVE = f"{_PACKAGE}adaptive.AdaptiveSparkPlanExec"


def bits(*integers: int) -> int:
    """Return of how many bits the integers between some are, less the sign."""
    return max(map(abs, integers)).bit_length()


def count(many: int) -> int:
    """Return of how many pieces integers of so many bits are."""
    return max(-(-many // _PART), 1)


def sums(column: str, many: int) -> list[str]:
    """Return the sums of the lowest bits of integers, of the next ones, and of all that is left.

    Examples:
        >>> sums("x", 30)
        ['coalesce(sum(shiftright(x, 0) & 1048575L), 0L)', 'coalesce(sum(shiftright(x, 20)), 0L)']
    """
    # a shift is what no source computes: of aggregates it is handed all or none
    pieces = [f"shiftright({column}, {_PART * k})" for k in range(count(many))]
    pieces[:-1] = [f"{piece} & {(1 << _PART) - 1}L" for piece in pieces[:-1]]
    return [f"coalesce(sum({piece}), 0L)" for piece in pieces]


def clipped(column: str, lower: int, upper: int) -> str:
    """Return integers between two; Spark would clip null to an end, and 0 stands there."""
    return f"if({column} is null, 0L, {clamped(column, lower, upper)})"


def coded(column: str, code: ColumnCode) -> str:
    """Return the codes of a column of floats, as integers.

    Examples:
        >>> from lownoise.engines.adding import ColumnCode
        >>> coded("n", ColumnCode(0.0, 4.0, 2.0, 2.0, 7, 4.0))  # doctest: +NORMALIZE_WHITESPACE
        'if(n is null or isnan(n), 7L,
            least(greatest(floor((n - 2.0D) * 2.0D + 0.5D), -4L), 4L))'
    """
    made = floored(column, code.center, code.inverse)
    return f"if({missing(column)}, {code.missing}L, {clamped(made, *code.ends)})"


def floored(value: str, center: float, inverse: float) -> str:
    """Return the integers that floats become, as numpy makes them."""
    return f"floor({less(value, center)} * {inverse!r}D + 0.5D)"


def less(value: str, center: float) -> str:
    """Return a difference; of 0 nothing is taken, which is the same but for the sign of 0."""
    return f"({value} - {center!r}D)" if center else value


def missing(column: str) -> str:
    """Return whether floats are missing."""
    return f"{column} is null or isnan({column})"


def clamped(made: str, lower: int, upper: int) -> str:
    """Return integers that are not null, clipped to two."""
    return f"least(greatest({made}, {lower}L), {upper}L)"


def by_words(rows: Any, asked: CodedColumns) -> Any:  # noqa: ANN401 (pyspark's)
    """Return how many rows each group has, and what their codes add up to, in pieces.

    Args:
        rows: a DataFrame of floats n0, n1, …, and of the bytes of words t0, t1, ….
        asked: which codes, of which groups.
    """
    from pyspark.sql import functions as sql

    codes = [coded(f"n{j}", code) for j, (_, code) in enumerate(asked.codes)]
    if asked.complete:
        lacks = " or ".join(missing(f"n{j}") for j in range(len(codes)))
        rows = rows.where(f"not ({lacks})")
    keys = [f"t{i}" for i in range(len(asked.words))]
    words = zip(keys, asked.words.values(), strict=True)
    rows = rows.selectExpr(
        *(f"{_of_words(key, own)} as {key}" for key, own in words),
        *(f"{code} as x{j}" for j, code in enumerate(codes)),
    )
    added = [own for j, many in enumerate(_widths(asked)) for own in sums(f"x{j}", many)]
    return rows.groupBy(*keys).agg(sql.expr("count(1)"), *map(sql.expr, added))


def found(collected: Sequence[Any], asked: CodedColumns, zeros: Integers) -> Integers:
    """Return what codes add up to, by high and low bits.

    Args:
        collected: the rows of `by_words`.
        asked: as of it.
        zeros: of the shape that is wanted.
    """
    import pyarrow as pa

    kinds = len(asked.words)
    columns: list[Any] = list(zip(*collected, strict=True)) or [()] * (kinds + 1)
    texts = [pa.array(own, type=pa.binary()).cast(pa.string()) for own in columns[:kinds]]
    counts = np.array(columns[kinds], dtype=np.int64)
    require_few(counts)
    left, own = columns[kinds + 1 :], []
    for many in _widths(asked):
        pieces, left = left[: count(many)], left[count(many) :]
        own.append(joined([np.array(piece, dtype=np.int64) for piece in pieces]))
    return asked.found(texts, counts, own, zeros)


def _widths(asked: CodedColumns) -> list[int]:
    return [bits(*code.ends, code.missing) for _, code in asked.codes]


def _of_words(column: str, words: Sequence[str]) -> str:
    """Return the bytes of texts that are some words, and null for all others."""
    every = ", ".join(f"X'{word.encode().hex()}'" for word in words)
    return f"if({column} in ({every}), {column}, null)"


def joined(pieces: Sequence[Any]) -> Any:  # noqa: ANN401 (Python's integers, or numpy's)
    """Return the integers of which sums of pieces were made, shape (n,)."""
    own = [np.asarray(piece) for piece in pieces]
    near = sum(np.abs(piece * 2.0 ** (_PART * k)) for k, piece in enumerate(own))
    if np.any(near >= 2.0**62):
        own = [piece.astype(object) for piece in own]
    return sum(piece << (_PART * k) for k, piece in enumerate(own))


def require_few(counts: Integers) -> None:
    """Refuse so many rows that sums of pieces might not fit.

    Raises:
        EngineError: where there are.
    """
    if np.any(counts > _MOST_ROWS):
        raise EngineError("too many rows")  # which is not shown


def of_spark_alone(frame: Any) -> bool:  # noqa: ANN401 (pyspark's)
    """Return whether every operator of a frame's plan is one of Spark's own, which runs on Java.

    What adapts the plan later has the rules that made it. An accelerator has rules for columns, or
    operators that show, or both.
    """
    if rules(frame):
        return False
    left = [frame._jdf.queryExecution().executedPlan()]  # noqa: SLF001
    while left:
        own = left.pop()
        name = own.getClass().getName()
        if name == _ADAPTIVE:
            left.append(own.initialPlan())
        elif name not in _OPERATORS:
            return False
        else:
            left += items(own.children())
    return True


def rules(frame: Any) -> list[Any]:  # noqa: ANN401
    """Return what a session was given that may put operators of others into a plan."""
    return items(frame.sparkSession._jsparkSession.sessionState().columnarRules())  # noqa: SLF001


def as_numpy(session: Any, collected: Callable[[Any], list[Any]]) -> bool:  # noqa: ANN401
    """Return whether codes of awkward values are in this session what they are to numpy."""
    import pyarrow as pa

    own = session._jsparkSession.sessionUUID()  # noqa: SLF001
    if own not in _SEEN:
        places = np.arange(len(AWKWARD) + 1)
        given = pa.table({"i": places, "n": pa.array([*AWKWARD.tolist(), None])})
        frame = session.createDataFrame(given).selectExpr(
            "i", *(f"{coded('n', code)} as x{j}" for j, code in enumerate(CODES))
        )
        lacking = np.append(AWKWARD, np.nan)
        wanted = [code.write(lacking, np.empty(len(lacking))).tolist() for code in CODES]
        found = of_spark_alone(frame) and sorted(map(tuple, collected(frame)))
        _SEEN[own] = found == list(zip(places.tolist(), *wanted, strict=True))
    return _SEEN[own]
