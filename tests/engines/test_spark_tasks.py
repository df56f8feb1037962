# SPDX-License-Identifier: Apache-2.0
"""Sums of products that tasks of Spark's make are the reference's, or Python's way is taken.

Mutants, each seen red: a task's count that is not asked; a missing value that is not clipped;
sums that stop where they are too large; an operator that moves rows let through.
"""

import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparks
from lownoise.engines import Totals, TotalsQuery, executors, memory, spark, spark_sums, spark_tasks
from lownoise.engines.adding import AWKWARD
from lownoise.engines.folds import CodeSums
from lownoise.engines.queries import totals_query
from lownoise.engines.record_codings import ClampingCoding
from lownoise.engines.source import Columns
from lownoise.errors import EngineError
from lownoise.sets.domains import MomentBall, MomentBox

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
FAR = 2.0**50


def coded(domain, names, step=2.0**-20, missing=None, center=None):
    every = np.arange(domain.dimension)
    return ClampingCoding(
        columns=tuple(names),
        domain=domain,
        center=domain.center if center is None else np.array(center),
        missing=np.full(len(names), 0.7) if missing is None else np.array(missing),
        pivots=every,
        step=np.broadcast_to(np.float64(step), every.shape),
    )


# about 0, away from it, of subnormal steps, and at an offset; a stand-in is outside its bounds
BOX = MomentBox([-4.0, 0.1, FAR - 100.0], [4.0, 0.7, FAR + 200.0])
MOMENTS = coded(BOX, "xyz", missing=[0.3, 9.0, FAR])
ONE = coded(MomentBox([0.0], [2.0]), "x", 2.0**-30)


def drawn(count=600):
    """Return columns of awkward floats, of floats of any bits, and of floats about 2^50."""
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    own = {
        "x": np.where(rng.random(count) < 0.5, rng.choice(AWKWARD, count), rng.normal(0, 3, count)),
        "y": np.where(rng.random(count) < 0.3, bits, rng.uniform(0, 1, count)),
        "z": FAR + rng.normal(0, 300, count).round(1),
    }
    own["z"][::17] = np.nan
    return {name: [None if k % 13 == 5 else v for k, v in enumerate(c)] for name, c in own.items()}


def of_memory(table, work):
    own = {n: np.array([np.nan if v is None else v for v in c], float) for n, c in table.items()}
    return memory.MemorySource(own).fold(work)


def totals(found):
    return CodeSums.totals(found)


def read(frame, work):
    return totals(spark.opened(frame, Columns(frame.columns)).fold(work))


@pytest.fixture
def no_python(monkeypatch):
    """Let nothing be added up by Python on executors."""

    def stopped(*_given):
        raise ValueError

    monkeypatch.setattr(executors, "folded", stopped)


@pytest.fixture
def by_python(monkeypatch):
    """Return what is asked of Python on executors."""
    made, folded = [], spark.partial
    monkeypatch.setattr(spark, "partial", lambda *own: made.append(own[0]) or folded(*own))
    return made


@pytest.fixture
def settings():
    conf, names = sparks.session().conf, []

    def put(name, value):
        names.append(name)
        conf.set(name, value)

    yield put
    for name in names:
        conf.unset(name)


def folder_of(table, folder, ends=(0, 100, 100, 350)):
    """Write files of a table, one of them without a row."""
    own = pa.table(table)
    for i, (start, end) in enumerate(zip(ends, [*ends[1:], len(own)], strict=True)):
        pq.write_table(own.slice(start, end - start), folder / f"{i}.parquet")
    return str(folder)


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize(("strict", "adapts"), [("true", "true"), ("false", "false")])
def test_sums_by_tasks_are_the_references(strict, adapts, drops, settings, no_python, tmp_path):
    """Of rows that a session was given, of files, one a task, and of what Python hands on."""
    settings("spark.sql.ansi.enabled", strict)
    settings("spark.sql.adaptive.enabled", adapts)
    settings("spark.sql.files.maxPartitionBytes", "20000")
    settings("spark.sql.files.openCostInBytes", "20000")
    table, work = drawn(), CodeSums(TotalsQuery(MOMENTS, drops))
    own = sparks.session()
    given, files = (
        own.createDataFrame(pa.table(table)),
        own.read.parquet(folder_of(table, tmp_path)),
    )
    assert given.rdd.getNumPartitions() == 2
    assert files.rdd.getNumPartitions() == 4
    handed = given.mapInArrow(lambda batches: batches, given.schema)
    expected = totals(of_memory(table, work))
    both = given.where("x > 1").union(files.where("not coalesce(x > 1, false)"))
    for frame in (given, files, handed, both):
        assert read(frame, work) == expected
    assert read(given.where("x = 77"), work) == totals(work.zeros())


def test_moments_of_twelve_columns_are_compiled_and_of_more_are_pythons(by_python):
    for many in (12, 13):
        names = [f"x{i}" for i in range(many)]
        table = {name: [i / 8, 1.0 - i / 32] for i, name in enumerate(names)}
        asked = coded(MomentBox(np.zeros(many), np.ones(many)), names)
        work = CodeSums(TotalsQuery(asked, drops_missing=False))
        frame = sparks.session().createDataFrame(pa.table(table))
        assert read(frame, work) == totals(of_memory(table, work))
        assert (executors.folded in by_python) == (many > 12)


def test_integers_of_every_type_are_floats_first(no_python):
    table = {"x": [1, None, 127, -5], "y": [0.5, 0.25, None, 3.0], "z": [2**50, None, 7, 2**53 + 1]}
    kinds = {"x": pa.int8(), "y": pa.float32(), "z": pa.int64()}
    arrow = pa.table({n: pa.array(c, kinds[n]) for n, c in table.items()})
    work = CodeSums(TotalsQuery(MOMENTS, drops_missing=False))
    assert read(sparks.session().createDataFrame(arrow), work) == totals(of_memory(table, work))


@pytest.mark.parametrize(("strict", "value"), [("true", -9.0), ("false", 9.0)])
def test_tasks_of_too_many_rows_are_added_up_by_python_and_nothing_overflows(
    strict, value, settings, by_python, monkeypatch
):
    """Codes of 2^49: tasks of as many as surely fit, of one more, and with sums that do not fit."""
    settings("spark.sql.ansi.enabled", strict)
    monkeypatch.setattr(spark_tasks, "_LEAST", 1)
    wide = coded(MomentBox([-2.0], [2.0]), "x", 2.0**-47, center=[0.0, 0.0])
    most, work = (
        spark_tasks.most_rows(wide.products),
        CodeSums(TotalsQuery(wide, drops_missing=False)),
    )
    codes = wide.encode(np.array([[value]]))[0].tolist()
    assert most == 2**13
    assert max(codes) == 2**49
    for rows, tasks, fits in (
        (3 * most, 3, True),
        (3 * most + 1, 3, False),
        (9 * most, 1, False),
    ):
        by_python.clear()
        frame = sparks.session().range(0, rows, 1, tasks).selectExpr(f"double({value}) AS x")
        assert read(frame, work) == Totals(rows, tuple(rows * code for code in codes))
        assert (executors.folded not in by_python) == fits


@pytest.mark.parametrize("complete", [False, True])
def test_rows_are_counted_that_are_added(complete, by_python, monkeypatch):
    """Where rows that lack a value are left out, a task may have more than it adds."""
    monkeypatch.setattr(spark_tasks, "_LEAST", 1)
    monkeypatch.setattr(spark_tasks, "most_rows", lambda _asked: 50)
    for there, fits in ((49, True), (50, True), (51, False)):
        by_python.clear()
        table = {"x": [None] * 30 + [float(k % 5) for k in range(there)] + [None] * 30}
        frame = sparks.session().createDataFrame(pa.table(table)).coalesce(1)
        work = CodeSums(TotalsQuery(ONE, complete))
        assert read(frame, work) == totals(of_memory(table, work))
        assert (executors.folded not in by_python) == (fits and complete)


@pytest.mark.parametrize("dies", ["raises", "killed"])
def test_attempts_that_fail_add_nothing(dies, no_python):
    """The first attempt at each part of the rows dies when it has handed on all of them."""

    def dying(batches):
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().attemptNumber() == 0:
            if dies == "raises":
                raise ValueError("SECRET")
            os.kill(os.getpid(), signal.SIGKILL)

    rows = sparks.session().range(0, 999, 1, 3).selectExpr("double(id % 7) AS x")
    work = CodeSums(TotalsQuery(ONE, drops_missing=False))
    expected = totals(of_memory({"x": np.arange(999) % 7}, work))
    assert read(rows.mapInArrow(dying, "x double"), work) == expected


def test_what_fails_always_says_nothing_of_a_row(no_python):
    def failing(batches):
        raise ValueError("SECRET")
        yield from batches

    rows = sparks.session().range(9).selectExpr("double(id) AS x").mapInArrow(failing, "x double")
    with pytest.raises(Exception, match="SECRET"):
        rows.collect()
    with pytest.raises(EngineError) as refused:
        totals_query(TotalsQuery(ONE, drops_missing=False)).of(rows)
    assert "SECRET" not in str(refused.value)


MOVED = {
    "a shuffle": lambda t: t.repartition(3),
    "a join": lambda t: t.crossJoin(sparks.session().range(1).selectExpr("1 AS one")),
    "a cache": lambda t: t.where("true").cache(),
    "a query in a filter": lambda t: t.where("x < (SELECT 99 + max(id) FROM r)"),
}


@pytest.mark.parametrize("moved", MOVED)
def test_where_rows_move_or_something_runs_before_python_adds_up(moved, by_python):
    sparks.session().range(3).createOrReplaceTempView("r")
    table = {"x": [float(k) / 8 for k in range(40)]}
    frame = MOVED[moved](sparks.session().createDataFrame(pa.table(table)))
    work = CodeSums(TotalsQuery(ONE, drops_missing=False))
    assert read(frame.select("x"), work) == totals(of_memory(table, work))
    assert executors.folded in by_python


@pytest.mark.parametrize(
    "missing",
    ["operator", "rules", "numpy", "tasks", "insides", "compiled", "wide", "ball", "text"],
)
def test_where_tasks_sums_are_not_known_to_be_right_python_adds_up(
    missing, by_python, settings, monkeypatch
):
    """An operator that is not known, codes that differ, and insides of Spark that are others."""
    table, coding = (
        {"x": [0.1, None, 3.0], "y": [1.0, 2.0, np.nan]},
        coded(MomentBox([0.0, 0.0], [2.0, 4.0]), "xy"),
    )
    frame = sparks.session().createDataFrame(pa.table(table))
    if missing == "operator":
        left = {n for n in spark_sums.STRAIGHT if not n.endswith("LocalTableScanExec")}
        monkeypatch.setattr(spark_sums, "STRAIGHT", left)
    elif missing == "rules":
        monkeypatch.setattr(spark_sums, "rules", lambda _frame: ["of an accelerator"])
    elif missing == "numpy":
        monkeypatch.setattr(spark_sums, "as_numpy", lambda *_given: False)
    elif missing == "tasks":
        monkeypatch.setattr(spark_tasks, "_as_numpy", lambda *_given: False)
    elif missing == "insides":
        monkeypatch.setattr(spark_tasks, "_active", None)
    elif missing == "compiled":
        settings("spark.sql.codegen.wholeStage", "false")
    elif missing == "wide":
        coding = coded(coding.domain, "xy", 2.0**-44)
        assert spark_tasks.most_rows(coding.products) < 2**22
    elif missing == "ball":
        coding = coded(MomentBall([1.0, 2.0], 3.0), "xy")
    else:
        frame = frame.selectExpr("string(x) AS x", "y")
    work = CodeSums(TotalsQuery(coding, drops_missing=False))
    assert read(frame, work) == totals(of_memory(table, work))
    assert executors.folded in by_python


@pytest.mark.parametrize("other", ["rounds", "middle", "order"])
def test_a_session_whose_tasks_sums_are_others_is_seen(other, monkeypatch):
    session = sparks.session().newSession()
    if other == "rounds":
        made = spark_sums.floored
        monkeypatch.setattr(
            spark_sums, "floored", lambda *own: made(*own).replace("0.5D", "0.499D")
        )
    elif other == "middle":
        less = spark_sums.less
        monkeypatch.setattr(spark_sums, "less", lambda v, c: less(v, c if c != 1.0 else 0.99))
    else:
        found = spark_tasks._found
        monkeypatch.setattr(
            spark_tasks,
            "_found",
            lambda rows, asked: found([(*r[1:-1], r[0], r[-1]) for r in rows], asked),
        )
    assert not spark_tasks._as_numpy(session, spark._collected)
    monkeypatch.undo()
    assert spark_tasks._as_numpy(session.newSession(), spark._collected)


def test_a_session_that_is_active_stays_so(no_python):
    own = sparks.session()
    other = own.newSession()
    active = own._jvm.org.apache.spark.sql.classic.SparkSession
    frame = other.createDataFrame(pa.table({"x": [0.5, 1.5]}))
    before, work = active.getActiveSession(), CodeSums(TotalsQuery(ONE, drops_missing=False))
    read(frame, work)  # what a session is asked for first makes it active, as pyspark has it
    try:
        for kept in (own, other):
            active.setActiveSession(kept._jsparkSession)
            read(frame, work)
            assert active.getActiveSession().get().equals(kept._jsparkSession)
    finally:
        if before.isDefined():
            active.setActiveSession(before.get())
