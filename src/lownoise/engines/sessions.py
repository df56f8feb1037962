# SPDX-License-Identifier: Apache-2.0
"""Files on Spark: the session that reads them, and what a file's rows are to it.

Parquet is read by Spark. All else is read by this package, a file a task: quotes may hold lines
together, so that where a row begins follows from all before it, and no file is cut.

Which of Spark's plans give the same rows whenever a task of them runs again.

What is shuffled arrives in another order each time, so that whatever asks for an order (a limit, a
sample, the first of some) may give other rows to a second attempt. A plan is taken if each of its
operators gives, of the same rows in whatever order, the same rows; or if it asks for their order,
where nothing below moves rows. An operator that is not known is not taken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.engines import executors
from lownoise.engines.logs import PARQUET
from lownoise.engines.tables import found_files, guarded, kind_of, named
from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lownoise.engines.source import Columns
    from lownoise.engines.tables import Table

# nothing is fetched, served, drawn or logged; where rows spill is Spark's spark.local.dir
_QUIET = {
    "spark.app.name": "lownoise",
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# a folder called name=value makes no column; a file of other types is found before a row is read
_PARQUET = {
    "recursiveFileLookup": "true",
    "mergeSchema": "true",
    "datetimeRebaseMode": "CORRECTED",
    # whatever the session says: rows are not lost in silence
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}


def frame_of(table: Table, columns: Columns) -> Any:  # noqa: ANN401
    """Return files as a DataFrame, on the session that is running or else on a new one.

    Args:
        table: which files; executors must find them, too.
        columns: those that the question needs.

    Raises:
        TableError: where Spark or Java is not there, or the files cannot be opened.
        EngineError: where that is so of a file beyond the first whose folders are values.
    """
    session = running()
    files = found_files(table)
    if any(file.address for file in files):
        raise TableError(
            f"table={named(table)} is remote; give the DataFrame that the session itself reads"
        )
    # what their folders say was read off the paths as they were given
    files = [replace(file, path=file.path.absolute()) for file in files]
    if kind_of(table, files) is PARQUET and not table.partitions:
        # Spark's own text has many lines
        read = session.read.options(**_PARQUET).parquet
        return guarded(named(table), lambda: read(*(_literal(str(file.path)) for file in files)))
    from pyspark.sql.pandas.types import from_arrow_schema

    kinds = executors.of_spark(table, files, columns).schema
    read = partial(executors.rows, table, files, columns)
    places = session.range(0, len(files), 1, max(len(files), 1))
    return places.mapInArrow(read, from_arrow_schema(kinds))


def _literal(path: str) -> str:
    """Return a path with the letters that Spark would expand as a pattern made literal."""
    return "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in path)


def running(settings: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
    """Return the session that is running, or else a new one on this machine.

    Args:
        settings: of the new one, beside those that make it quiet.

    Raises:
        TableError: where there is no pyspark, or no Java that it runs on.
    """
    if find_spec("pyspark") is None:
        raise TableError(
            "the engine spark needs pyspark, which is not installed; run pip install "
            "'lownoise[spark]'"
        )
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    given = SparkContext._active_spark_context is not None  # noqa: SLF001 (it has no public name)
    if given or "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.builder.getOrCreate()
    own = {**_QUIET, **(settings or {})}
    # the executors are of this process's Python, and find this package where it is
    own["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).parents[2])
    conf = SparkConf().setAll(list(own.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise _no_java(f"none is found in {home or 'PATH'}")
    try:
        context = SparkContext(conf=conf, gateway=launch_gateway(conf, silent))
    except Exception:  # noqa: BLE001 (whatever Java says has many lines)
        raise _no_java(f"{java} does not start it") from None
    context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return SparkSession(context)


def _no_java(found: str) -> TableError:
    return TableError(
        f"the engine spark needs Java 17 or 21, and {found}; install OpenJDK 17, or set JAVA_HOME "
        "to where it is"
    )


# these, of the same rows, give the same rows, in their order
_KEEPING = {
    "LocalRelation",
    "Range",
    "OneRowRelation",
    "Project",
    "Filter",
    "SubqueryAlias",
    "View",
}
_KEEPING |= {"Union", "Expand"}
_SOURCES = {"LogicalRelation", "DataSourceV2Relation", "HiveTableRelation"}
_MOVING = {"Join", "Sort", "Repartition", "RepartitionByExpression", "ResolvedHint", "WithCTE"}
_MOVING |= {"CTERelationDef", "CTERelationRef", *_SOURCES}
_DRAWN = "a column that is drawn anew each time (rand(), uuid(), …)"
_OF_PYTHON = {"MapInArrow", "PythonMapInArrow", "MapInPandas"}  # which see rows in their order
_PLAIN = {
    "Deduplicate": "dropDuplicates() of some columns",
    "GlobalLimit": "a limit",
    "LocalLimit": "a limit",
    "Offset": "an offset",
    "Tail": "a limit",
    "Sample": "a sample",
    "Window": "a window",
    **dict.fromkeys(_OF_PYTHON, "a function of batches after a shuffle"),
}
_AGGREGATES = "org.apache.spark.sql.catalyst.expressions.aggregate."
_COMMUTING = {"Count", "CountIf", "Min", "Max", "Sum", "BoolAnd", "BoolOr"}
# of others (floats, texts of a collation) cells that are equal are not the same
_EXACT = re.compile(
    r"boolean|tinyint|smallint|int|bigint|decimal\(([1-9]|1\d|2[0-8]),\d+\)|date|timestamp(_ntz)?"
    r"|string|binary"
)
# by name, in texts of SQL or as pyspark does; a session may have functions of its own by these
ASKED = (
    *("coalesce", "count", "floor", "greatest", "if", "isnan", "isnotnull", "isnull", "least"),
    *("octet_length", "row_number", "shiftright", "sum", "!", "+", "<=", "="),
)
_KEYS = re.compile(rf"{_EXACT.pattern}|float|double|decimal\(\d+,\d+\)")  # Spark has one zero there


def replaced(session: Any) -> str | None:  # noqa: ANN401
    """Return which function that is asked for is another than Spark's in a session, if any."""
    catalyst = session.sparkContext._jvm.org.apache.spark.sql.catalyst  # noqa: SLF001
    ours = catalyst.analysis.FunctionRegistry.builtin()
    own = session._jsparkSession.sessionState().functionRegistry()  # noqa: SLF001
    keys = ((name, catalyst.FunctionIdentifier(name)) for name in ASKED)
    found = (n for n, key in keys if not own.lookupFunction(key).equals(ours.lookupFunction(key)))
    return next(found, None)


def unsettled(table: Any) -> str | None:  # noqa: ANN401 (pyspark's)
    """Return what of a DataFrame's plan may give other rows when a task runs again, if anything."""
    plan = table._jdf.queryExecution().analyzed()  # noqa: SLF001 (pyspark does not say it)
    patterns = table.sparkSession.sparkContext._jvm.org.apache.spark.sql.catalyst.trees  # noqa: SLF001
    kept = plan.containsPattern(patterns.TreePattern.RUNTIME_REPLACEABLE())
    for own in _nodes(plan):
        if found := _of_operator(own):
            return found
        if kept and any(map(_draws, items(own.expressions()))):
            return _DRAWN
    return None


def _draws(own: Any) -> bool:  # noqa: ANN401
    """Return whether an expression draws where Spark says that it is deterministic.

    `aes_encrypt` does, but in mode ECB, or where it is given what it would draw.
    """
    if _kind(own) == "AesEncrypt":
        mode, iv = own.mode(), own.iv()
        plain = mode.foldable() and mode.eval(None).toString().upper() == "ECB"
        if not plain and not (iv.foldable() and iv.eval(None)):
            return True
    return any(map(_draws, items(own.children())))


def _nodes(plan: Any) -> Iterator[Any]:  # noqa: ANN401
    """Return the operators of a plan, and of the queries in its expressions."""
    yield plan
    for others in (plan.children(), plan.subqueries()):
        for own in items(others):
            yield from _nodes(own)


def items(found: Any) -> list[Any]:  # noqa: ANN401 (of py4j)
    """Return what is in a sequence of Scala's."""
    return [found.apply(i) for i in range(found.size())]


def _name(own: Any) -> str:  # noqa: ANN401
    name: str = own.getClass().getName()
    return name


def _kind(own: Any) -> str:  # noqa: ANN401
    return _name(own).rpartition(".")[2]


def _of_operator(own: Any) -> str | None:  # noqa: ANN401
    kind, below = _kind(own), items(own.children())
    if not own.deterministic() and all(child.deterministic() for child in below):
        return _DRAWN
    if kind in _KEEPING | _MOVING or (kind in _OF_PYTHON and all(map(_keeps_order, below))):
        return None
    return _CHECKS.get(kind, _unknown)(own)


def _unknown(own: Any) -> str:  # noqa: ANN401
    return _PLAIN.get(_kind(own), f"the operator {_kind(own)}")


def _of_rdd(own: Any) -> str | None:  # noqa: ANN401
    settled = own.rdd().outputDeterministicLevel().toString() == "DETERMINATE"
    return None if settled else "an RDD that was shuffled"


def _of_table_function(own: Any) -> str | None:  # noqa: ANN401
    yours = "UDTF" in _kind(own.generator()).upper()
    return "a table function of your own" if yours else None


def _of_distinct(own: Any) -> str | None:  # noqa: ANN401
    """Return what is wrong where some columns, or texts that are equal, do not make a row."""
    if _kind(own) == "Deduplicate" and own.keys().size() < own.output().size():
        return _unknown(own)
    return _of_keys(own.output())


def _keeps_order(own: Any) -> bool:  # noqa: ANN401
    """Return whether rows come in the same order each time, as well."""
    kind = _kind(own)
    if kind == "LogicalRelation":  # of files, and not of a server
        return _kind(own.relation()) == "HadoopFsRelation"
    known = kind in _KEEPING | _OF_PYTHON or (kind == "LogicalRDD" and _of_rdd(own) is None)
    return known and all(map(_keeps_order, items(own.children())))


def _of_keys(keys: Any) -> str | None:  # noqa: ANN401
    kinds = [key.dataType().catalogString() for key in items(keys)]
    other = next((kind for kind in kinds if not _KEYS.fullmatch(kind)), None)
    return other and f"groups by a column of type {other.partition('<')[0]}"


def _of_aggregates(expressions: Any) -> str | None:  # noqa: ANN401
    for own in items(expressions):
        if _name(own) == f"{_AGGREGATES}AggregateExpression":
            function = own.aggregateFunction()
            name, kind = function.prettyName(), _name(function)
            known = kind.removeprefix(_AGGREGATES) in _COMMUTING and kind.startswith(_AGGREGATES)
            if not known or name == "try_sum":
                return f"the aggregate {name if kind.startswith(_AGGREGATES) else 'of your own'}"
            kinds = [cell.dataType().catalogString() for cell in items(function.children())]
            other = next((k for k in kinds if not _EXACT.fullmatch(k)), None)
            if name in ("min", "max", "sum") and other is not None:
                return f"the aggregate {name} of type {other.partition('<')[0]}"
        elif found := _of_aggregates(own.children()):
            return found
    return None


def _of_groups(own: Any) -> str | None:  # noqa: ANN401
    return _of_keys(own.groupingExpressions()) or _of_aggregates(own.aggregateExpressions())


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "Aggregate": _of_groups,
    "Deduplicate": _of_distinct,
    "Distinct": _of_distinct,
    "Generate": _of_table_function,
    "LogicalRDD": _of_rdd,
}
