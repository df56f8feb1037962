# SPDX-License-Identifier: Apache-2.0
"""Spark gives the reference's integers for every question, whatever rows hold and tasks suffer.

Mutants, each seen red: texts cast by Spark; sums of whole 64-bit integers; units told apart by a
column's collation; rows of units ordered by texts before numbers; what pyspark logs of a failure
let through; a plan that draws anew taken, or a limit, a window or the first of some.
"""

import decimal
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyspark.sql
import pytest
from tests.engines import test_contract as contract
from tests.units import test_units as units

import lownoise as ln
import sparks
from command_line import WITHIN_REACH
from lownoise.engines import AbstractFold, TotalsQuery, executors, memory, opening, spark
from lownoise.engines.queries import totals_query
from lownoise.engines.source import Columns
from lownoise.errors import EngineError, OverspentError, TableError
from lownoise.noise.totals import table_of
from lownoise.privacy.units import PrivacyUnit
from lownoise.questions import QUESTIONS
from lownoise.questions.streams import Running

# pyspark leaves it to Python to close its sockets
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ANSI = "spark.sql.ansi.enabled"


@pytest.fixture
def ansi(request):
    """Run with and without the rule that a cast that fails, and a sum that is too large, stops."""
    own = sparks.session().conf
    own.set(ANSI, request.param)
    yield request.param
    own.unset(ANSI)


both = pytest.mark.parametrize("ansi", ["true", "false"], indirect=True)


def awkward(count=400):
    rng = np.random.default_rng(5)
    records = rng.choice(contract.NASTY, size=(count, 2))
    records[count // 2 :] = rng.normal(0, 50, size=(count - count // 2, 2))
    return records


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("texts", "ansi"), [(False, "true"), (True, "false"), (True, "true")], indirect=["ansi"]
)
def test_totals_are_the_reference_ones_of_any_floats_and_of_texts_that_spell_them(ansi, texts):
    records = awkward()
    columns = {"x": records[:, 0], "y z": records[:, 1]}
    if texts:
        columns = {
            c: [None if np.isnan(v) else repr(float(v)) for v in own] for c, own in columns.items()
        }
    table = sparks.frame(pa.table(columns), 3)
    for drops in (False, True):
        query = TotalsQuery(contract.CODING, drops)
        assert totals_query(query).of(table) == memory.totals(query, records)


HOSTILE = [*contract.FIELDS, "1_0", " 7", "١", "1e-400", "0b1", "x" * 2000, "1" + " " * 999, "é1"]


def test_texts_mean_what_they_mean_to_the_reference():
    table = pa.table({"x": HOSTILE, "y z": ["1"] * len(HOSTILE)})
    reference = memory.MemorySource(
        {n: np.array(table[n].to_pylist(), object) for n in ("x", "y z")}
    )
    query = TotalsQuery(contract.CODING, drops_missing=False)
    expected = totals_query(query).of(reference)
    assert totals_query(query).of(sparks.frame(table)) == totals_query(query).of(table) == expected


def test_numbers_of_every_type():
    """Decimals that are nearest to another float than digits divided by a power of ten, too."""
    wide = [decimal.Decimal(v) for v in ("12345678901234567890.12", "-0.07", "0.10")]
    table = pa.table(
        {
            "int8": pa.array([-128, None, 127], pa.int8()),
            "int16": pa.array([-(2**15), 1, 2**15 - 1], pa.int16()),
            "int32": pa.array([2**31 - 1, 0, None], pa.int32()),
            "int64": pa.array([2**63 - 1, -(2**63), 2**53 + 1]),
            "bit": pa.array([True, None, False]),
            "float": pa.array([0.1, None, 3e38], pa.float32()),
            "decimal": pa.array(wide, pa.decimal128(38, 2)),
            "none": pa.nulls(3),
        }
    )
    names = table.schema.names
    values = [[np.nan if v is None else float(v) for v in table[n].to_pylist()] for n in names]
    lower, upper = np.full(len(names), -5.0), np.full(len(names), 2.0**50)
    one = contract.coding(lower, upper, step=1.0, names=tuple(names))
    query = TotalsQuery(one, drops_missing=False)
    own = sparks.frame(table)
    assert totals_query(query).of(own) == memory.totals(query, np.array(values).T)
    (batch,) = spark.opened(sparks.frame(table, 1), Columns(names)).batches(names)
    assert np.array_equal(np.sort(batch.numbers), np.sort(values), equal_nan=True)


@both
def test_sums_beyond_64_bits_are_exact(ansi):
    rows = sparks.session().range(3000).selectExpr("bigint(pow(2, 62)) AS x", "id % 2 AS y")
    own = spark.opened(rows, Columns(["x"]))
    ranges = [("x", -(2**52), 2**52)]
    assert own.sums(ranges, complete=False).sums == (3000 * 2**52,)
    (found,) = [int(s[0]) for g in own.group_sums([], [], ranges) for _, s in g.sums]
    assert found == 3000 * 2**52


def test_what_partitions_add_up_to_is_exact_beyond_64_bits():
    class Large(AbstractFold):
        columns = ("x",), ()

        def zeros(self):
            return np.zeros((2, 1), dtype=np.int64)

        def add(self, found, batch):
            found[1] -= 2**62

    own = spark.opened(sparks.session().range(6).selectExpr("double(id) AS x"), Columns(["x"]))
    assert own.fold(Large()).tolist() == [[0], [-2 * 2**62]]


def tables(rows):
    """Return rows as the three engines have them; Spark in another order."""
    mixed = units.dice(len(rows)).sample(rows, len(rows))
    return units.memory(rows), units.arrow(rows), sparks.frame(units.arrow(mixed), 3)


BY = {"by": units.BY, "outside": "drop"}
EVERY = {
    **units.QUESTIONS,
    "totals by groups": ln.Sum(["x"], ln.Box([-2], [4]), way=1, **BY),
    "moments by groups": ln.Moments(["x", "bit"], units.BOX, **BY),
    "moments of a ball": ln.Moments(["x", "bit"], ln.Ball(2, 3.0)),
    "all rows": ln.Count("id"),
    "words": ln.Histogram("word", ["1", "x"], outside="extra"),
}
# the engine bounds units, whatever is asked of the rows that are left
ASKED = [
    *((question, False) for question in EVERY),
    *((question, True) for question in ("means", "marginals", "groups", "totals by groups")),
]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("question", "of_units"), ASKED)
def test_every_question_has_the_same_integers_on_every_engine(question, of_units):
    """Of rows and of units, of awkward cells."""
    unit = {"privacy_unit": "who", "rows_per_unit": units.M, "order_by": "id"}
    given = {"budget": ln.zcdp(0.5), "relation": "add_remove", **(unit if of_units else {})}
    mechanism = ln.plan(EVERY[question], **given).terms.mechanism
    reference, arrow, own = tables(units.drawn(60, units.dice(3)))
    expected = units.exact(mechanism, reference).tolist()
    assert units.exact(mechanism, arrow).tolist() == expected
    assert units.exact(mechanism, own).tolist() == expected


def test_every_kind_of_question_of_a_table_is_among_those_that_are_asked_on_every_engine():
    ours = {kind for kind in QUESTIONS.classes if kind.__module__.startswith("lownoise.")}
    # a stream is asked of rounds
    assert {type(question) for question in EVERY.values()} == ours - {Running}


def test_distinct_records_of_wide_marginals_come_once():
    """Of more cells than one table of all of them has."""
    wide = ln.Marginals({"id": 2000, "x": 3000, "word": ["x", "1"]}, way=1, outside="extra")
    mechanism = ln.plan(wide, budget=ln.zcdp(1), relation="add_remove").terms.mechanism
    reference, _, own = tables(units.drawn(40, units.dice(8)))
    assert units.exact(mechanism, own).tolist() == units.exact(mechanism, reference).tolist()


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(1, 5))
def test_the_same_rows_of_units_count(seed):
    rng = units.dice(seed)
    rows = units.drawn(14, rng)
    order = tuple(rng.sample(list(units.KINDS), seed % 3))
    null = ("drop", "one")[seed % 2]
    unit = PrivacyUnit(("who", "id", "x")[seed % 3], 1 + seed // 2, order, null)
    columns = rng.sample(list(units.KINDS), 2)
    reference, _, own = tables(rows)
    assert units.read(own, unit, columns) == units.read(reference, unit, columns)


def test_columns_are_told_apart_by_every_letter_of_their_names():
    """Where a session does not tell them apart, and reads dots and backticks as its own."""
    names = ["x", "X", "a.b", "`", "c0"]
    table = pa.table({name: [float(i)] for i, name in enumerate(names)})
    own = spark.opened(sparks.session().createDataFrame(table), Columns(names))
    for i, name in enumerate(names):
        ((found,),) = [b.numbers for b in own.batches([name])]
        assert found.tolist() == [i]
    twice = sparks.session().createDataFrame(table).toDF("x", "y", "y", "z", "Z")
    spark.opened(twice, Columns(["x", "z"]))
    for name, said in (("y", "twice"), ("Y", "not in the table")):
        with pytest.raises(TableError, match=said):
            spark.opened(twice, Columns(["x", name]))


def test_collations_make_no_two_texts_one():
    plain = sparks.frame(units.arrow([{**r, "who": w} for r in units.drawn(2) for w in "aA"]))
    columns = ["who", "word"]
    mixed = plain.selectExpr(
        "who COLLATE UTF8_LCASE AS who", "word COLLATE UNICODE_CI AS word", "x"
    )
    unit = PrivacyUnit("who", 1, ("word",))
    assert units.read(mixed, unit, columns) == units.read(plain, unit, columns)
    groups = spark.opened(mixed, Columns(columns)).group_sums([], ["who"])
    assert sorted(t for g in groups for t in g.keys.texts[0].to_pylist()) == ["A", "a"]


def test_dates_order_rows_and_bytes_that_are_no_text_stop_nothing():
    rows = sparks.session().sql(
        "SELECT 'a' AS who, date'2020-01-01' + n AS day, timestamp'2020-01-01' - n * interval 1 day"
        " AS time, double(n) AS x, CAST(X'ff' AS string) AS odd FROM VALUES 3, 1, NULL, 2 t(n)"
    )
    for by, expected in (("day", {1, 2}), ("time", {3, 2})):
        found = opening.source_of(source_units(rows, PrivacyUnit("who", 2, (by,))), ["x"])
        assert {v for b in found.batches(["x"]) for v in b.numbers[0].tolist()} == expected
    own = spark.opened(rows, Columns(["odd"]))
    (group,) = own.group_sums(["odd"], ["odd"])
    assert group.counts.tolist() == [4]
    assert np.isnan(group.keys.numbers[0]).all()
    with pytest.raises(TableError, match="column='day' has type date"):
        opening.source_of(source_units(rows, PrivacyUnit("day", 2)), ["x"])


@pytest.mark.grid(1)
@pytest.mark.parametrize("cached", [False, True])
def test_tasks_that_fail_and_partitions_that_are_made_again_add_nothing(cached):
    """The first attempt at each partition dies, in the middle of its rows or the whole process."""

    def dying(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        for batch in batches:
            yield batch
            if task.attemptNumber() == 0:
                if task.partitionId():
                    raise ValueError("SECRET")
                os.kill(os.getpid(), signal.SIGKILL)

    rows = sparks.session().range(0, 999, 1, 2).selectExpr("double(id % 7) AS x", "id % 7 AS y")
    table = rows.mapInArrow(dying, "x double, y bigint")
    table = table.cache() if cached else table
    values = np.arange(999.0) % 7
    query = TotalsQuery(contract.coding([0], [5], names=("x",)), drops_missing=False)
    try:
        assert totals_query(query).of(table) == memory.totals(query, values[:, None])
        found = spark.opened(table, Columns(["y"])).sums([("y", 1, 9)], complete=False)
        assert (found.count, found.sums) == (999, (int(values.clip(1, 9).sum()),))
    finally:
        table.unpersist()


# of tasks of one stage each dies in an attempt of its own
RUNS = {
    "of the first rows": (
        PrivacyUnit("u", 2, ("word",)),
        {"rows": 0, "numbered": 1, "folded": 0, "packed": 0},
    ),
    "of totals": (
        PrivacyUnit("u", None, total=ln.Box([0], [5])),
        {"rows": 0, "unit_parts": 1, "units": 0, "folded": 1, "packed": 0},
    ),
}
BEHIND = {"units", "folded", "packed"}  # a shuffle, where there may be one part


def dying(name, attempt, folder):
    """Return a task that dies in one attempt, at a place that its partition chooses."""
    last = name in BEHIND

    def run(*given):
        import os
        import signal

        from pyspark import TaskContext

        from lownoise.engines import executors

        task = TaskContext.get()
        place = (task.partitionId() + 3 * last) % 4

        def die(at):
            if (at, task.attemptNumber()) == (place, attempt):
                (Path(folder) / f"{name} {at}").touch()
                os.kill(os.getpid(), signal.SIGKILL)

        die(0)  # before it has read a row
        for batch in getattr(executors, name)(*given):
            die(1)  # with a batch that nobody has
            yield batch
            die(2)  # with one that somebody has
        die(3)  # behind its last row

    return run


@pytest.mark.parametrize("run", RUNS)
def test_an_executor_that_dies_in_any_task_adds_nothing(run, tmp_path, monkeypatch):
    unit, tasks = RUNS[run]
    rows = pd.DataFrame({"x": np.arange(400.0) % 7, "u": [f"{i // 3}" for i in range(400)]})
    rows["word"] = [f"w{i % 11}" for i in range(400)]
    each = TotalsQuery(contract.coding([0], [5], names=("x",)), drops_missing=False)
    paths = [tmp_path / f"{i}.csv" for i in range(4)]
    for i, path in enumerate(paths):
        rows[100 * i : 100 * i + 100].to_csv(path, index=False)
    known = memory.MemorySource({name: rows[name].to_numpy() for name in rows})
    died = tmp_path / "died"
    died.mkdir()
    # who sums codes of floats where there are operators of others
    monkeypatch.setattr(spark.spark_sums, "of_spark_alone", lambda _frame: False)
    for name, attempt in tasks.items():
        monkeypatch.setattr(spark.executors, name, dying(name, attempt, died))
    sparks.session()
    found, expected = (
        totals_query(each).of(table_of(own, unit, each))
        for own in (ln.Table(paths, engine="spark"), known)
    )
    assert found == expected
    names = {path.name for path in died.iterdir()}
    assert {f"{name} {place}" for name in {*tasks} - BEHIND for place in range(4)} <= names
    assert {f"{name} 3" for name in BEHIND & {*tasks}} <= names


@pytest.mark.sweep("test_an_executor_that_dies_in_any_task_adds_nothing")
def test_on_a_cluster_tasks_that_run_twice_and_executors_that_are_killed_add_nothing(tmp_path):
    """One row more or less moves an answer by 1 or more; noise at ρ = 10⁶ is below 0.01."""
    harness = Path(__file__).parents[1] / "crash" / "cluster_harness.py"
    done = subprocess.run(
        [sys.executable, str(harness), str(tmp_path)],
        env=WITHIN_REACH, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    happened = []
    for fact in json.loads(done.stdout):
        assert fact["found"] == pytest.approx(fact["expected"], abs=0.3), fact
        assert fact["states"] == ["settled"]
        happened.append(set(fact["marks"]) - {"ledger"})
    twice, killed = {"first", "second"}, {"killed"}
    assert happened == [twice, killed, twice, killed]


def test_of_releases_at_once_on_one_session_as_many_are_paid_as_the_budget_holds(tmp_path):
    """Each has the rows of its own table."""
    plan = ln.plan(MEAN.terms.question, budget=ln.zcdp(5e5), relation="add_remove")
    path = tmp_path / "l"
    ln.Ledger.create(path, "d", ln.zcdp(1e6))
    frames = [
        sparks.session().range(0, 9 + i, 1, 2).selectExpr("double(id) AS x") for i in range(4)
    ]
    begin = threading.Barrier(len(frames))

    def released(frame):
        begin.wait()
        try:
            return plan.release(frame, path).estimate[-1]
        except OverspentError:
            return None

    with ThreadPoolExecutor(len(frames)) as pool:
        found = list(pool.map(released, frames))
    paid = {i: count for i, count in enumerate(found) if count is not None}
    assert paid == {i: pytest.approx(9 + i, abs=0.3) for i in paid}
    assert [e.state for e in ln.Ledger(path, "d").entries()] == ["settled"] * 2
    assert len(paid) == 2


def test_every_task_of_executors_is_among_those_that_die():
    made = {name for name, own in vars(executors).items() if hasattr(own, "__wrapped__")}
    # one of these reads no table
    assert made - {"quiet", "probe"} == set().union(*(tasks for _, tasks in RUNS.values()))


def test_a_frame_of_spark_connect_is_refused_before_anything_is_asked_of_it(tmp_path):
    place = {"__module__": "pyspark.sql.connect.dataframe"}
    frame = type("DataFrame", (pyspark.sql.DataFrame,), place)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(TableError, match="is of Spark Connect, whose server alone knows its plan"):
        MEAN.release(object.__new__(frame), ledger)
    assert [e.state for e in ledger.entries()] == ["cancelled"]


@pytest.mark.sweep("test_every_question_has_the_same_integers_on_every_engine")
def test_ten_million_rows():
    table = sparks.session().range(0, 10**7, 1, 4).selectExpr("sqrt(id) AS x")
    one = contract.coding([5], [3000], step=2.0**-30, names=("x",))
    found = totals_query(TotalsQuery(one, drops_missing=False)).of(table)
    codes = one.encode(np.sqrt(np.arange(1e7)).reshape(-1, 1)).ravel()
    assert found.sums[0] == int((codes >> 24).sum()) * 2**24 + int((codes & (2**24 - 1)).sum())


def source_units(table, unit):
    return units.UnitTable(table, unit)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("array(1.0)", "column='x' has type array"),
        ("named_struct('SECRET', 1)", "column='x' has type struct"),
        ("X'31'", "column='x' has type binary"),
        ("current_date()", "column='x' has type date"),
        ("rand()", "drawn anew each time"),
        ("monotonically_increasing_id()", "drawn anew each time"),
        ("length(base64(aes_encrypt('a', repeat('k', 16))))", "drawn anew each time"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_and_nothing_is_spent(expression, said, tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    table = sparks.session().range(3).selectExpr(f"{expression} AS x")
    with pytest.raises(TableError, match=said) as refused:
        MEAN.release(table, ledger)
    assert "SECRET" not in str(refused.value)
    assert [e.state for e in ledger.entries()] == ["cancelled"]


TAKEN = [
    "SELECT x, count(*), sum(y), max(d), min(w), count(DISTINCT x) FROM t GROUP BY x",
    "SELECT DISTINCT x FROM t UNION SELECT x + 1 FROM t",
    "WITH a AS (SELECT x FROM t WHERE y > 1 ORDER BY w) SELECT a.x FROM a JOIN t ON a.x = t.x",
    "SELECT /*+ REPARTITION(3) */ x + z AS x FROM t LATERAL VIEW explode(array(1, 2)) e AS z",
    "SELECT x FROM t WHERE y = (SELECT max(y) FROM t) OR x IN (SELECT y FROM t)",
    "SELECT x FROM VALUES 1.5D, 2 v(x)",
    "SELECT x FROM t WHERE aes_encrypt(w, repeat('k', 16), 'ECB') > X'80'",
    "SELECT x FROM t WHERE aes_encrypt(w, w, 'CBC', 'DEFAULT', unhex(repeat('0', 32))) > X''",
]
REFUSED = [
    ("SELECT x FROM t LIMIT 2", "a limit"),
    ("SELECT x FROM t OFFSET 2", "an offset"),
    ("SELECT x FROM t TABLESAMPLE (50 PERCENT)", "a sample"),
    ("SELECT x, row_number() OVER (PARTITION BY y ORDER BY w) AS r FROM t", "a window"),
    ("SELECT x FROM t WHERE y IN (SELECT y FROM t LIMIT 1)", "a limit"),
    ("WITH a AS (SELECT x FROM t LIMIT 1) SELECT x FROM a", "a limit"),
    ("SELECT y, max_by(x, w) AS x FROM t GROUP BY y", "the aggregate max_by"),
    ("SELECT 1 + any_value(x) AS x FROM t GROUP BY y", "the aggregate any_value"),
    ("SELECT size(collect_list(x)) AS x FROM t GROUP BY y", "the aggregate collect_list"),
    ("SELECT y AS x FROM t GROUP BY y HAVING first(x) > 0", "the aggregate first"),
    ("SELECT sum(x) AS x FROM t GROUP BY y", "the aggregate sum of type double"),
    ("SELECT avg(y) AS x FROM t", "the aggregate avg"),
    ("SELECT try_sum(y) AS x FROM t", "the aggregate try_sum"),
    ("SELECT max(w COLLATE UTF8_LCASE) AS x FROM t", "the aggregate max of type string collate"),
    ("SELECT w COLLATE UTF8_LCASE AS x FROM t GROUP BY 1", "groups by a column of type string"),
    ("SELECT x FROM t WHERE aes_encrypt(w, w, 'CBC') > X'80'", "a column that is drawn"),
    ("SELECT x FROM t WHERE aes_encrypt(w, w, 'CBC', 'DEFAULT', w) > X''", "a column that"),
    ("SELECT size(transform(array(w), v -> aes_encrypt(v, w))) AS x FROM t", "a column"),
    ("SELECT x FROM t WHERE y IN (SELECT y FROM t WHERE aes_encrypt(w, w, 'GCM') > X'80')", "a co"),
    ("SELECT x FROM t INTERSECT SELECT x FROM t", "the operator Intersect"),
]


@pytest.fixture
def seen():
    rows = (
        sparks.session()
        .range(9)
        .selectExpr("double(id) AS x", "id % 3 AS y", "string(id) AS w", "date'2020-01-01' AS d")
    )
    rows.createOrReplaceTempView("t")
    yield rows
    sparks.session().catalog.dropTempView("t")


def test_only_plans_whose_rows_no_order_changes_are_taken(seen):
    """Whoever asks for an order that a shuffle makes may keep other rows at a second attempt."""
    own = sparks.session()
    for query in TAKEN:
        spark.opened(own.sql(query), Columns(["x"]))
    for query, said in REFUSED:
        with pytest.raises(TableError, match=f"has {said}.*write it to a file first") as refused:
            spark.opened(own.sql(query), Columns(["x"]))
        assert "\n" not in str(refused.value)
    moved, still = seen.repartition(2, "y"), seen.dropDuplicates(["y"])
    same = [seen.coalesce(1), moved.cache(), moved.distinct(), own.createDataFrame([(1,)], ["x"])]
    for frame in same + [f.mapInArrow(list, "x double") for f in (seen, seen.union(seen))]:
        spark.opened(frame, Columns(["x"]))
    moved.unpersist()
    other = [still, still.cache(), still.union(seen), moved.rdd.toDF()]
    for frame in [*other, moved.mapInArrow(list, "x double"), moved.mapInPandas(list, "x double")]:
        with pytest.raises(TableError, match="write it to a file first"):
            spark.opened(frame, Columns(["x"]))
    still.unpersist()


def test_what_a_session_reads_by_a_reader_of_its_own_is_taken(tmp_path):
    """As Iceberg's tables are read, and Delta's: a relation of Spark's second kind of source."""
    own = sparks.session()
    records = awkward()
    path = contract.as_parquet(pd.DataFrame({"x": records[:, 0], "y z": records[:, 1]}), tmp_path)
    query = TotalsQuery(contract.CODING, drops_missing=False)
    first = "spark.sql.sources.useV1SourceList"
    own.conf.set(first, "")
    try:
        table = own.read.parquet(str(path))
        plan = table._jdf.queryExecution().analyzed()
        assert plan.getClass().getSimpleName() == "DataSourceV2Relation"
        assert totals_query(query).of(table) == memory.totals(query, records)
        table.createOrReplaceTempView("v")
        for asked, said in (
            ("SELECT * FROM v LIMIT 3", "a limit"),
            ("SELECT rand() AS x", "drawn"),
        ):
            with pytest.raises(TableError, match=said):
                spark.opened(own.sql(asked), Columns(["x"]))
    finally:
        own.conf.unset(first)
        own.catalog.dropTempView("v")


MEAN = ln.plan(ln.Mean(["x"], ln.Box([0], [4])), budget=ln.zcdp(0.1), relation="add_remove")


@pytest.mark.parametrize(
    ("failing", "unit"),
    [("CAST(concat('SECRET', id) AS double)", None), ("spoilt(id)", "who"), ("killed(id)", None)],
)
def test_what_spark_says_of_rows_is_not_shown_and_the_spend_stays_reserved(
    failing, unit, tmp_path, capfd, caplog
):
    """Nor where every attempt at a task fails, or kills the process that it runs in."""
    own = sparks.session()

    def spoilt(cell):
        raise ValueError(f"SECRET{cell}")

    def killed(_):
        os.kill(os.getpid(), signal.SIGKILL)

    for function in (spoilt, killed):
        own.udf.register(function.__name__, function, "double")
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    by_unit = {} if unit is None else {"privacy_unit": unit, "rows_per_unit": 2}
    plan = ln.plan(
        ln.Mean(["x"], ln.Box([0], [4])), budget=ln.zcdp(0.1), relation="add_remove", **by_unit
    )
    with pytest.raises(EngineError, match="table=DataFrame could not be") as refused:
        plan.release(own.range(3).selectExpr(f"{failing} AS x", "string(id) AS who"), ledger)
    assert refused.value.__cause__ is None
    assert "SECRET" not in str(refused.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]
    assert "".join(capfd.readouterr()) + caplog.text == ""
