# SPDX-License-Identifier: Apache-2.0
"""Codes that Spark's own operators make are numpy's, and are asked for only where they are.

Mutants, each seen red: `rint` for `floor`; a missing value clamped to an end; codes that are not
clamped; words that are not told apart; a session's own `floor`; a missing integer at an end.
"""

import ast
import inspect
import re

import numpy as np
import pyarrow as pa
import pytest

import sparks
from lownoise.engines import (
    Coding,
    TotalsQuery,
    executors,
    memory,
    sessions,
    spark,
    spark_sums,
    spark_tasks,
)
from lownoise.engines.adding import AWKWARD, CODES, LARGEST_CODE, ColumnCode
from lownoise.engines.categories import Reader
from lownoise.engines.folds import CodeSums
from lownoise.engines.groups import GroupCodes
from lownoise.engines.source import Columns
from lownoise.errors import TableError
from lownoise.questions.attributes import attributes

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
BOX = Coding(
    columns=("x", "y"),
    lower=np.array([-1.0, 0.0]),
    upper=np.array([2.5, 9.0]),
    center=np.array([0.3, 0.0]),
    missing=np.array([0.25, 7.0]),
    step=np.array([2.0**-30, 1.0]),
)
WORDS = ["", "a", "A", "é", "e\u0301", "'", "\\", "\n", "x'", "🙂", "null", "a ", "b"]


def rows(arrow):
    return spark.opened(sparks.frame(arrow), Columns(arrow.schema.names))


def drawn(count=300):
    """Return rows of awkward cells, and of texts that are words, nearly, or missing."""
    rng = np.random.default_rng(3)
    given = [*AWKWARD, *rng.normal(0, 3, 40)]
    texts = [*WORDS, "B", "ab", "NULL", "\x00", None]
    return {
        "x": pa.array([None if k % 17 == 0 else given[k % len(given)] for k in range(count)]),
        "y": pa.array(rng.choice(given, count)),
        "w": pa.array([texts[i] for i in rng.integers(0, len(texts), count)]),
        "v": pa.array([texts[i] for i in rng.integers(0, 4, count)]),
    }


@pytest.fixture
def no_python(monkeypatch):
    """Let nothing be added up by Python on executors."""

    def stopped(*_given):
        raise ValueError

    monkeypatch.setattr(executors, "folded", stopped)


def of_memory(table, work):
    own = {name: np.array(column.to_pylist(), object) for name, column in table.items()}
    own |= {n: np.array([np.nan if v is None else v for v in own[n]], float) for n in ("x", "y")}
    return memory.MemorySource(own).fold(work)


@pytest.mark.parametrize("drops", [False, True])
def test_sums_of_floats_by_spark_alone_are_the_references(drops, no_python):
    """With and without the rule that what is too large stops."""
    table, work = drawn(), CodeSums(TotalsQuery(BOX, drops))
    own = sparks.session().conf
    own.set("spark.sql.ansi.enabled", str(drops).lower())
    try:
        assert rows(pa.table(table)).fold(work).tolist() == of_memory(table, work).tolist()
    finally:
        own.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize("outside", ["extra", "drop"])
def test_sums_by_words_are_the_references_whatever_the_words(outside, no_python):
    table = drawn()
    asked = attributes({"w": WORDS, "v": WORDS[:3]}, outside)
    own = rows(pa.table(table))
    for drops in (False, True):
        work = GroupCodes(Reader.of(asked, own), TotalsQuery(BOX, drops))
        assert own.fold(work).tolist() == of_memory(table, work).tolist()


def test_codes_are_numpys_of_any_64_bits():
    """Of subnormal, huge and one-valued ranges, and of floats whose every bit is drawn."""
    rng = np.random.default_rng(24)
    bits = rng.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    values = np.concatenate([AWKWARD, bits, rng.normal(0, 4, 3000), np.arange(-99, 99) / 2**38])
    codes = [
        *CODES,
        ColumnCode(-4.0, 4.0, 0.1, 2.0**37, 0, 2.0**40),
        ColumnCode(-1e307, 1.5e308, -1e307, 2.0**-973, -9, LARGEST_CODE),
        ColumnCode(0.0, 5e-324, 0.0, 2.0**1023, 4, 4.0),
        ColumnCode(-0.0, 0.0, -0.0, 1.0, 1, 1.0),
        ColumnCode(1e-310, 3e-310, 1e-310, 2.0**1000, 1, 2.0),
        ColumnCode(-(2.0**52), 2.0**52, 0.0, 1.0, 0, LARGEST_CODE),
    ]
    frame = sparks.frame(pa.table({"i": np.arange(len(values)), "n": values}))
    own = frame.selectExpr("i", *(spark_sums.coded("n", code) for code in codes))
    assert spark_sums.of_spark_alone(own)
    found = np.array([list(row) for row in sorted(own.collect())])[:, 1:].T
    for code, each in zip(codes, found, strict=True):
        assert each.tolist() == code.write(values, np.empty(len(values))).tolist()


@pytest.mark.parametrize("strict", [False, True])
def test_sums_of_integers_are_the_references_where_some_are_missing(strict):
    """Of all of 64 bits, in ranges with and without 0, and of groups of which some lack all."""
    ends = [2**63 - 1, -(2**63), 2**52, -(2**52), -1, 0, 1, 6, None]
    cells = [None if k % 3 == 0 else ends[k % len(ends)] for k in range(90)]
    table = {
        "k": pa.array(cells, pa.int64()),
        "g": pa.array(["a" if c is None else "b" for c in cells]),
    }
    ranges = [("k", 5, 9), ("k", -9, -5), ("k", -(2**52), 2**52), ("k", 2**52, 2**52), ("k", 0, 0)]
    kept = [[min(max(c, low), high) for c in cells if c is not None] for _, low, high in ranges]
    totals, known = tuple(map(sum, kept)), len(kept[0])
    own, conf = rows(pa.table(table)), sparks.session().conf
    conf.set("spark.sql.ansi.enabled", str(strict).lower())
    try:
        for complete in (False, True):
            found = own.sums(ranges, complete=complete)
            assert (found.count, found.sums) == (known if complete else len(cells), totals)
            assert found.present == (known,) * len(ranges)
        groups = {
            word: (int(each.counts[i]), [(int(k[i]), s[i]) for k, s in each.sums])
            for each in own.group_sums((), ("g",), ranges)
            for i, word in enumerate(each.keys.texts[0].to_pylist())
        }
    finally:
        conf.unset("spark.sql.ansi.enabled")
    none = (len(cells) - known, [(0, 0)] * len(ranges))
    assert groups == {"a": none, "b": (known, [(known, total) for total in totals])}


def test_what_groups_add_up_to_is_exact_beyond_64_bits():
    asked = CodeSums(TotalsQuery(BOX, drops_missing=False)).coded
    zeros = np.zeros((3, 2), dtype=np.int64)
    sums = [np.array([-(2**93) - 1], object), np.array([5])]
    found = asked.found([], np.array([2**42]), sums, zeros)
    assert CodeSums.totals(found).sums == (-(2**93) - 1, 5)
    assert CodeSums.totals(found).count == 2**42
    none = asked.found([], np.array([], np.int64), [], zeros)
    assert none.tolist() == zeros.tolist()


@pytest.mark.parametrize(
    "made",
    [
        "SELECT x FROM held UNION ALL SELECT y FROM held WHERE x > 0",
        "SELECT a.x FROM held a JOIN held b ON a.v = b.w",
        "SELECT explode(array(x, y)) AS x FROM held ORDER BY x",
        "SELECT sum(k) AS x FROM (SELECT v, bigint(y) AS k FROM held WHERE y = 1) GROUP BY v",
    ],
)
def test_plans_of_spark_alone_are_known(made):
    session = sparks.session()
    sparks.frame(pa.table(drawn())).createOrReplaceTempView("held")
    assert spark_sums.of_spark_alone(session.sql(made))


@pytest.mark.parametrize("missing", ["operator", "rules", "numpy"])
def test_where_an_operator_is_not_sparks_own_python_adds_up(missing, monkeypatch):
    """An operator whose name is not known, an accelerator's rules, codes that differ."""
    table, work = drawn(60), CodeSums(TotalsQuery(BOX, drops_missing=False))
    own = rows(pa.table(table))
    if missing == "operator":
        left = {n for n in spark_sums._OPERATORS if not n.endswith("HashAggregateExec")}
        monkeypatch.setattr(spark_sums, "_OPERATORS", left)
    elif missing == "rules":
        monkeypatch.setattr(spark_sums, "rules", lambda _frame: ["of an accelerator"])
    else:
        monkeypatch.setattr(spark_sums, "as_numpy", lambda *_given: False)
    made = []
    folded = spark.partial
    monkeypatch.setattr(spark, "partial", lambda *own: made.append(own[0]) or folded(*own))
    assert own.fold(work).tolist() == of_memory(table, work).tolist()
    assert executors.folded in made


@pytest.mark.parametrize("name", sessions.ASKED)
def test_a_session_with_a_function_of_its_users_by_a_name_of_ours_is_refused(name):
    """It would make what a row adds, which then were bounded by nothing."""
    session = sparks.session().newSession()
    session.udf.register(name, lambda *_given: 10**12, "bigint")
    table = session.createDataFrame([(0.5,)], ["x"])
    with pytest.raises(TableError, match=re.escape(f"{name}() is a function of its user's")) as no:
        spark.opened(table, Columns(["x"]))
    assert "\n" not in str(no.value)
    spark.opened(sparks.session().createDataFrame([(0.5,)], ["x"]), Columns(["x"]))


def test_no_other_function_is_asked_for_by_its_name():
    """Of SQL's words and pyspark's `cast` and `when` are none that a session can replace."""
    asked, plain = set(), {"col", "lit", "expr", "when", "in", "cast"}
    for own in ast.walk(
        ast.parse("".join(map(inspect.getsource, (spark, spark_sums, spark_tasks))))
    ):
        if isinstance(own, ast.Constant) and "\n" not in str(own.value):  # no docstring
            asked |= set(re.findall(r"\b([a-z_]+)\(", str(own.value)))
        elif isinstance(own, ast.Attribute) and getattr(own.value, "id", "") == "sql":
            asked.add(own.attr)
    assert {"floor", "sum", "row_number"} < asked
    assert asked - plain <= set(sessions.ASKED)


def test_a_session_whose_floor_is_another_is_seen():
    session = sparks.session().newSession()
    session.udf.register("floor", lambda x: None if x is None else 0, "bigint")
    assert not spark_sums.as_numpy(session, spark._collected)
    assert spark_sums.as_numpy(sparks.session(), spark._collected)
