# SPDX-License-Identifier: Apache-2.0
"""Which of Spark's plans give the same rows whenever a task of them runs again.

What is shuffled arrives in another order each time, so that whatever asks for an order (a limit, a
sample, the first of some) may give other rows to a second attempt. A plan is taken if each of its
operators gives, of the same rows in whatever order, the same rows; or if it asks for their order,
where nothing below moves rows. An operator that is not known is not taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
_KEYS = re.compile(rf"{_EXACT.pattern}|float|double|decimal\(\d+,\d+\)")  # Spark has one zero there


def unsettled(table: Any) -> str | None:  # noqa: ANN401 (pyspark's)
    """Return what of a DataFrame's plan may give other rows when a task runs again, if anything."""
    plan = table._jdf.queryExecution().analyzed()  # noqa: SLF001 (pyspark does not say it)
    return next((found for own in _nodes(plan) if (found := _of_operator(own))), None)


def _nodes(plan: Any) -> Iterator[Any]:  # noqa: ANN401
    """Return the operators of a plan, and of the queries in its expressions."""
    yield plan
    for others in (plan.children(), plan.subqueries()):
        for own in _items(others):
            yield from _nodes(own)


def _items(found: Any) -> list[Any]:  # noqa: ANN401 (Scala's Seq)
    return [found.apply(i) for i in range(found.size())]


def _name(own: Any) -> str:  # noqa: ANN401
    name: str = own.getClass().getName()
    return name


def _kind(own: Any) -> str:  # noqa: ANN401
    return _name(own).rpartition(".")[2]


def _of_operator(own: Any) -> str | None:  # noqa: ANN401
    kind, below = _kind(own), _items(own.children())
    if not own.deterministic() and all(child.deterministic() for child in below):
        return "a column that is drawn anew each time (rand(), uuid(), …)"
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
    return known and all(map(_keeps_order, _items(own.children())))


def _of_keys(keys: Any) -> str | None:  # noqa: ANN401
    kinds = [key.dataType().catalogString() for key in _items(keys)]
    other = next((kind for kind in kinds if not _KEYS.fullmatch(kind)), None)
    return other and f"groups by a column of type {other.partition('<')[0]}"


def _of_aggregates(expressions: Any) -> str | None:  # noqa: ANN401
    for own in _items(expressions):
        if _name(own) == f"{_AGGREGATES}AggregateExpression":
            function = own.aggregateFunction()
            name, kind = function.prettyName(), _name(function)
            known = kind.removeprefix(_AGGREGATES) in _COMMUTING and kind.startswith(_AGGREGATES)
            if not known or name == "try_sum":
                return f"the aggregate {name if kind.startswith(_AGGREGATES) else 'of your own'}"
            kinds = [cell.dataType().catalogString() for cell in _items(function.children())]
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
