"""People, not rows: all rows of a unit are hidden together, and the first m of them count.

Mutants, each seen red: m left out of what changes, of a certificate's bound or of pure noise's; the
first rows by the order of the file; rows of equal rank told apart by a column that is not read; a
collation of the database that makes two units one; nulls kept under "drop"; the noise of one joint
group for rows in several; a ledger that takes a unit's spend for a row's.
"""

import contextlib
import json
import random
from dataclasses import replace
from functools import cache

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.toys.engine import ToySource

import lownoise as ln
import lownoise_check
from lownoise.engines.memory import MemorySource
from lownoise.engines.opening import opened, source_of
from lownoise.engines.source import Columns
from lownoise.engines.tables import UnitTable
from lownoise.errors import (
    EngineError,
    FileError,
    LedgerError,
    LownoiseError,
    PlanError,
    SpecError,
    TableError,
)
from lownoise.noise.units import Repeated
from lownoise.privacy.units import PrivacyUnit
from lownoise.spec.files import read_spec, read_together

KINDS = {"who": "texts", "id": "integers", "x": "numbers", "word": "texts", "bit": "integers"}
TYPES = {"texts": pa.string(), "numbers": pa.float64()}
ARRAYS = {"texts": object, "numbers": float}
CELLS = {
    "who": [None, "a", "A", "a ", "é", "e\u0301", ""],
    "id": [0, 1, 2**53, 2**53 + 1, -5],
    "x": [0.0, -0.0, np.nan, None, 1.5, np.inf, -3.0],
    "word": ["1", "2", "10", "0x10", "x", "y", None, "", "yes", "2013-01-01"],
    "bit": [0, 1],
}
M = 3


def dice(seed=0):
    return random.Random(seed)  # noqa: S311 (tables, not noise)


def drawn(count, rng=None):
    rng = rng or dice()
    return [{name: rng.choice(own) for name, own in CELLS.items()} for _ in range(count)]


def arrow(rows, names=tuple(KINDS)):
    types = {name: TYPES.get(kind, pa.int64()) for name, kind in KINDS.items()}
    return pa.table({n: pa.array([row[n] for row in rows], types[n]) for n in names})


def memory(rows):
    types = {name: ARRAYS.get(kind, np.int64) for name, kind in KINDS.items()}
    return MemorySource({n: np.array([row[n] for row in rows], types[n]) for n in KINDS})


ENGINES = {"memory": memory, "duckdb": arrow, "toy": lambda rows: ToySource(KINDS, rows)}


def read(table, unit, columns):
    """Return the rows that count, as a list that no order of rows changes."""
    source = source_of(UnitTable(table, unit), columns)
    words = [name for name in columns if KINDS[name] == "texts"]
    found = []
    for batch in source.batches(columns, words):
        own = [[None if v != v else v + 0.0 for v in c.tolist()] for c in batch.numbers]  # noqa: PLR0124
        found += zip(*own, *(c.to_pylist() for c in batch.texts), strict=True)
    return sorted(found, key=repr)


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(20))
def test_every_engine_keeps_the_same_rows_whatever_their_order(seed):
    rng = dice(seed)
    rows = drawn(rng.randint(0, 14), rng)
    shuffled, names = rng.sample(rows, len(rows)), rng.sample(list(KINDS), len(KINDS))
    order = tuple(rng.sample(list(KINDS), rng.randint(0, 2)))
    unit = PrivacyUnit(
        rng.choice(["who", "id", "x"]), rng.randint(1, 3), order, rng.choice(["drop", "one"])
    )
    columns = rng.sample(list(KINDS), rng.randint(1, 3))
    expected = read(memory(rows), unit, columns)
    assert read(memory(shuffled), unit, columns) == expected
    assert read(arrow(shuffled, names), unit, columns) == expected
    assert read(opened(arrow(rows), Columns(list(KINDS))), unit, columns) == expected
    if unit.column == "who":
        assert read(ToySource(KINDS, shuffled), unit, columns) == expected
    counts = {}
    for row in rows:
        key = row[unit.column]
        key = None if key != key or key == "" else key  # noqa: PLR0124 (no unit)
        if key is not None or unit.null == "one":
            counts[key] = min(counts.get(key, 0) + 1, unit.rows)
    assert len(expected) == sum(counts.values())


def test_the_first_rows_count_by_numbers_then_texts_and_what_lacks_is_last():
    """Of a column of texts those that spell numbers go by them: "10" is after "9"."""
    ranked = ["-1", "9", "1e1", "0x1F", "Z", "a", "", None]
    rows = [{**drawn(1)[0], "who": "a", "word": w, "id": i} for i, w in enumerate(ranked)]
    for m in (1, 4, 7):
        for engine in ENGINES.values():
            found = read(engine(rows[::-1]), PrivacyUnit("who", m, ("word",)), ["id"])
            assert found == [(float(i),) for i in range(m)]


def test_a_collation_of_the_database_makes_no_two_units_one():
    """Nor does what it says of where nulls are placed matter."""
    connection, one = ibis.duckdb.connect(), drawn(1)[0]
    cells = [(word, x) for word in ("b", "B", None) for x in (None, 1.0, np.nan)]
    rows = [{**one, "who": who, "word": word, "x": x} for who in "aA" for word, x in cells]
    unit = PrivacyUnit("who", 4, ("x", "word"))
    connection.con.register("given", arrow(rows))
    connection.con.execute("CREATE TABLE t AS SELECT * FROM given")
    connection.con.execute("SET default_collation = 'NOCASE'")
    connection.con.execute("SET default_null_order = 'nulls_first'")
    for columns in (["word"], ["x"]):
        assert read(connection.table("t"), unit, columns) == read(memory(rows), unit, columns)


def test_an_engine_that_has_floats_alone_tells_units_apart_by_texts(tmp_path):
    """Two integers may be one float: then two people would be one unit."""
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    plan = made("means", privacy_unit="id")
    with pytest.raises(TableError, match="tells units apart by texts"):
        plan.release(ToySource(KINDS, drawn(3)), ledger)
    with pytest.raises(TableError, match="column='gone' is not in the table"):
        made("means", privacy_unit="gone").release(arrow(drawn(3)), ledger)
    with pytest.raises(TableError, match="column='gone' is not in the table"):
        made("means", order_by="gone").release(arrow(drawn(3)), ledger)
    assert {e.state for e in ledger.entries()} == {"cancelled"}


def test_dates_order_rows_and_are_no_numbers_elsewhere(tmp_path):
    """In frames, Arrow, Parquet, databases and texts alike; none of them stops at any date."""
    days = pd.to_datetime(["2020-01-03", "2020-01-01", None, "2019-12-31", "2020-01-02"])
    table = pd.DataFrame({"who": "a", "day": days, "x": [1.0, 3.0, 0.0, 9.0, 2.0]})
    table["zone"] = table.day.dt.tz_localize("Europe/Berlin")
    rows = pa.Table.from_pandas(table, preserve_index=False)
    rows = rows.append_column("date", rows["day"].cast(pa.date32()))
    pa.parquet.write_table(rows, tmp_path / "t.parquet")
    connection = ibis.duckdb.connect(tmp_path / "t.duckdb")
    connection.con.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path}/t.parquet'")  # noqa: S608
    connection.disconnect()
    table.to_csv(tmp_path / "t.csv", index=False)
    given = [table, rows, *(tmp_path / f"t.{end}" for end in ("parquet", "duckdb", "csv"))]
    for source in given:
        for by in ("day", "zone", *(["date"] if any(source is own for own in given[1:4]) else [])):
            found = source_of(UnitTable(source, PrivacyUnit("who", 3, (by,))), ["x"])
            kept = {v for b in found.batches(["x"]) for v in b.numbers[0].tolist()}
            assert kept == {9.0, 3.0, 2.0}
    for source in given[:-1]:
        for unit, columns in ((PrivacyUnit("day", 1), ["x"]), (PrivacyUnit("who", 1), ["day"])):
            with pytest.raises(TableError, match="column='day' has type"):
                source_of(UnitTable(source, unit), columns)
    both = []
    for kind, rows in (("ms", [0, 1]), ("us", [3, 4])):  # one column in two units
        days = table.day.iloc[rows].astype(f"datetime64[{kind}]")
        part = pa.table({"who": ["a", "a"], "day": pa.array(days), "x": table.x.iloc[rows]})
        both.append(tmp_path / f"{kind}.parquet")
        pa.parquet.write_table(part, both[-1])
    found = source_of(UnitTable(both, PrivacyUnit("who", 2, ("day",))), ["x"])
    assert {v for b in found.batches(["x"]) for v in b.numbers[0].tolist()} == {9.0, 3.0}
    far = pa.array([2**62, -(2**63), None, 5], pa.int64())
    for kind in (pa.timestamp("s", "UTC"), pa.timestamp("ms"), pa.timestamp("ns"), pa.date64()):
        dated = pa.table({"who": ["a"] * 4, "x": [1.0] * 4, "day": far.cast(kind)})
        found = source_of(UnitTable(dated, PrivacyUnit("who", 3, ("day",))), ["x"])
        assert sum(len(b.numbers[0]) for b in found.batches(["x"])) == 3


@pytest.mark.parametrize("fails", ["batches", "bounded"])
def test_what_an_engine_says_of_rows_while_it_bounds_units_is_not_shown(fails, tmp_path):
    """Not even by an error that is of the schema elsewhere; and it gives no spend back."""

    def told(*_):
        raise TableError("SECRET")

    engine = type("Failing", (ToySource,), {fails: told})
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(EngineError) as refused:
        made("means").release(engine(KINDS, drawn(3)), ledger)
    assert "SECRET" not in str(refused.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]


def test_bytes_that_are_no_text_are_units_and_stop_nothing():
    raw = [b"\xff\xfe", b"\xff\xfe", b"\xff\xfd", b"ok", b"\xc3", b"", b"\xf0\x9f"]
    words = pa.Array.from_buffers(pa.string(), len(raw), pa.array(raw, pa.binary()).buffers())
    table = pa.table({"who": words, "word": words, "x": pa.array(range(7), pa.float64())})
    for order in ((), ("word",)):
        assert len(read(table, PrivacyUnit("who", 1, order), ["x"])) == 5


BOX = ln.Box([-2, 0], [4, 1])
BY = {"word": ["x", "y", "1"], "bit": 2}
QUESTIONS = {
    "means": ln.Mean(["x", "bit"], BOX),
    "complete rows": ln.Mean(["x", "bit"], BOX, missing="drop"),
    "a ball": ln.Mean(["x", "bit"], ln.Ball(2, 3.0)),
    "sums": ln.Sum(["x", "bit"], BOX),
    "a list": ln.Mean(["x"], ln.Points([[0.0], [1.0], [5.0]])),
    "moments": ln.Moments(["x", "bit"], BOX),
    "groups": ln.Mean(["x"], ln.Box([-2], [4]), by=BY, way=1, outside="drop"),
    "marginals": ln.Marginals(BY, way=2, outside="drop"),
    "distribution": ln.Distribution("x", [-3, 0, 1, 9]),
    "parity": ln.Parity(["bit", "id"], degree=2, outside={"id": 1})
    if False
    else ln.Parity(["bit", "id"], degree=2),
    "queries": ln.Queries(np.tril(np.ones((2, 2))), {"bit": 2}, outside="drop"),
}
BUDGETS = {"zcdp": ln.zcdp(0.5), "pure": ln.pure_dp(1.0), "approx": ln.approx_dp(1.0, 1e-6)}
PLANS = (
    [(q, "zcdp") for q in QUESTIONS]
    + [(q, "pure") for q in QUESTIONS if q != "moments"]
    + [("means", "approx"), ("groups", "approx")]
)
each_plan = pytest.mark.parametrize(("question", "budget"), PLANS, ids=lambda own: own)


@cache
def made(question, budget="zcdp", **more):
    given = {"privacy_unit": "who", "rows_per_unit": M, "order_by": "id", **more}
    if more.get("privacy_unit", "who") is None:
        given = {name: own for name, own in more.items() if name == "mechanism"}
    return ln.plan(QUESTIONS[question], budget=BUDGETS[budget], relation="add_remove", **given)


def exact(mechanism, table):
    """Return all integers without noise, as Python's."""
    records = mechanism.read(table)
    own = [mechanism.totals.part(records, piece) for piece in mechanism.totals.pieces]
    return np.concatenate([np.asarray(part, dtype=object) for part in own])


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("engine", ENGINES)
@each_plan
def test_one_unit_moves_totals_by_at_most_m_of_its_rows(question, budget, engine):
    """Whatever the others have; and of no more rows than count."""
    mechanism = made(question, budget).terms.mechanism
    rng = dice(7)
    others = drawn(9, rng)
    own = [{**row, "who": "one", "id": i} for i, row in enumerate(drawn(5, rng))]
    shuffled = rng.sample(others + own, 14)
    whole, less = (exact(mechanism, ENGINES[engine](rows)) for rows in (shuffled, others))
    alone = exact(mechanism, ENGINES[engine](own))
    assert np.array_equal(whole - less, alone)
    by_row = replace(mechanism, unit=None)
    assert np.array_equal(alone, sum(exact(by_row, ENGINES[engine]([row])) for row in own[:M]))


@each_plan
def test_m_rows_cost_what_was_asked_and_one_costs_its_part(question, budget):
    """As far as no law that is not linear in moves says less."""
    plan = made(question, budget)
    of_unit, mechanism = plan.terms.mechanism.loss, plan.terms.mechanism
    of_row = replace(mechanism, unit=None).loss
    name = "mu" if plan.terms.gaussian else "epsilon"
    asked = plan.terms.parameter
    assert getattr(of_unit, name) == pytest.approx(asked, rel=1e-9)
    assert getattr(of_unit, name) <= asked
    assert M * getattr(of_row, name) == pytest.approx(getattr(of_unit, name), rel=1e-12)
    assert of_row.rho < of_unit.rho or plan.mechanism == "radial"
    twice = replace(mechanism, unit=replace(mechanism.unit, rows=2 * M))
    assert getattr(twice.loss, name) > 1.9 * asked


WHOLE = ("marginals", "distribution", "queries", "parity")


@pytest.mark.grid(3)
@each_plan
def test_noise_and_what_none_is_below_are_m_times_those_of_rows(question, budget):
    # noise on a lattice is less than in proportion where a row may cost more
    laplace = {"mechanism": "laplace"} if budget == "pure" and question in WHOLE else {}
    rows, units = (
        made(question, budget, **laplace, **more) for more in ({"privacy_unit": None}, {})
    )
    assert units.mechanism == rows.mechanism
    assert units.error == pytest.approx(M * rows.error, rel=1e-6)
    assert units.lower_bound == pytest.approx(M * rows.lower_bound, rel=1e-6)
    assert units.certificate.lower == pytest.approx(M * rows.certificate.lower, rel=1e-6)
    assert units.certificate.gap == pytest.approx(rows.certificate.gap, abs=1e-6)
    if budget != "zcdp":  # which no bound on pure noise is asked of
        assert units.terms.view.unbeaten(1.0) == pytest.approx(M * rows.terms.view.unbeaten(1.0))
    for name in ("isotropic", "laplace"):
        with contextlib.suppress(LownoiseError):  # what a question or a budget has none of
            own = getattr(rows.terms, name)
            assert np.allclose(getattr(units.terms, name), M * np.asarray(own), rtol=1e-9)


@pytest.mark.parametrize("budget", ["zcdp", "pure"])
def test_m_rows_alike_at_an_end_of_the_domain_need_all_of_the_noise(budget):
    """Measured in the noise that is drawn: no bound of the package is asked."""
    mechanism = made("means", budget).terms.mechanism
    rows = [{**drawn(1)[0], "who": "a", "x": 9.0, "bit": 1}] * (M + 2)
    change = exact(mechanism, arrow(rows)).astype(float)
    if budget == "zcdp":
        cost = np.sqrt(change @ np.linalg.solve(mechanism.noise.covariance(), change))
    else:
        cost = mechanism.noise.gauge.norm_up(change[None])[0] / mechanism.noise.scale
    assert cost == pytest.approx(1.0, rel=1e-3)
    assert cost <= 1 + 1e-9


def test_rows_in_several_groups_cost_no_more_than_in_one():
    """ε of independent noise by groups adds up; what points of a walk are off by, too."""
    mechanism = made("groups", "pure").terms.mechanism
    noise, width = mechanism.noise, mechanism.totals.width
    rows = [
        {**row, "who": "a", "word": w, "bit": b, "x": 4.0}
        for row, w, b in zip(drawn(3), "xy1", (0, 1, 0), strict=True)
    ]
    change = exact(mechanism, arrow(rows)).astype(float).reshape(-1, width)
    cost = sum(noise.inner.loss(Repeated(_Point(part), 1)).epsilon for part in change)
    assert 0.5 < cost <= mechanism.loss.epsilon
    round_noise = ln.plan(
        ln.Mean(["x"], ln.Box([-2], [4]), by=BY, way=1, outside="drop"),
        budget=ln.pure_dp(1.0),
        relation="add_remove",
        mechanism="ellipsoid",
        privacy_unit="who",
        rows_per_unit=M,
    )
    loss = round_noise.terms.mechanism.loss
    assert loss.epsilon <= 1
    assert loss.rho == np.inf
    assert round_noise.terms.cost.rho < 0.5


class _Point:
    """A body of one change and its opposite."""

    def __init__(self, point):
        self.point, self.dimension = point, point.size

    def sensitivity_up(self, norm):
        return float(norm.norm_up(self.point[None])[0])

    def widths(self):
        return np.abs(self.point)


@pytest.mark.parametrize("question", ["means", "marginals", "groups", "queries"])
def test_one_row_each_is_the_same_as_rows(question):
    rng = dice(3)
    rows = [{**row, "who": str(i)} for i, row in enumerate(drawn(8, rng))]
    alone, plain = made(question, rows_per_unit=1), made(question, privacy_unit=None)
    assert np.array_equal(
        exact(alone.terms.mechanism, arrow(rows)), exact(plain.terms.mechanism, arrow(rows))
    )
    assert alone.error == pytest.approx(plain.error, rel=1e-9)


@pytest.mark.grid(3)
@each_plan
def test_files_say_whose_rows_are_hidden(question, budget):
    plan = made(question, budget)
    text = plan.to_json()
    assert json.loads(text)["format"] == "lownoise.plan/3"
    again = ln.Plan.from_json(text)
    assert again.terms.privacy_unit == plan.terms.privacy_unit == PrivacyUnit("who", M, ("id",))
    assert again.to_json() == text
    proved = again.verify()
    assert proved
    assert any("rows of one unit" in check.name for check in proved.checks)
    assert "per who" in " ".join(str(plan).split())


def test_files_that_say_more_or_less_of_units_are_refused():
    """A file whose m is raised has noise too small; one whose unit is gone has another digest."""
    text = made("means").to_json()
    for change in (
        {"rows": M + 1},
        {"rows": 0},
        {"null": "keep"},
        {"order_by": ["a", "a"]},
        {"more": 1},
    ):
        fields = json.loads(text)
        fields["terms"]["unit"].update(change)
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(fields))
        assert not ln.verify(json.dumps(fields))
    for other in (text.replace("plan/3", "plan/2"), text.replace('"unit":', '"units":')):
        with pytest.raises(FileError, match="does not fit terms"):
            ln.Plan.from_json(other)
    fields = json.loads(text)
    fields["terms"] |= {"relation": "substitute", "size": 9}
    with pytest.raises(FileError):
        ln.Plan.from_json(json.dumps(fields))


@pytest.mark.parametrize("question", ["means", "a ball", "a list", "marginals"])
def test_the_checker_for_strangers_decides_m_and_no_other(question):
    """With more rows the noise is short, with fewer the bounds are beyond what is proved."""
    text = made(question).to_json()
    status, said = lownoise_check.decide(text)
    assert status == lownoise_check.HOLDS
    assert any("of 3 rows" in line for line in said)
    for rows, wrong in ((M + 1, "FALSE"), (M - 1, "lower"), ("3", "unit.rows"), (0, "unit.rows")):
        fields = json.loads(text)
        fields["terms"]["unit"]["rows"] = rows
        status, said = lownoise_check.decide(json.dumps(fields))
        assert status == lownoise_check.FALSE
        assert wrong in said[-1]
    fields = json.loads(text)
    del fields["terms"]["unit"]
    assert lownoise_check.decide(json.dumps(fields))[0] == lownoise_check.FALSE
    fields = json.loads(text)
    fields["terms"] |= {"relation": "substitute", "size": 9}
    assert lownoise_check.decide(json.dumps(fields))[0] == lownoise_check.OPEN


def test_accounts_of_people_and_of_rows_do_not_add_up(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(9))
    table = arrow(drawn(6))
    made("means").release(table, ledger)
    made("marginals", rows_per_unit=2).release(table, ledger)
    assert {e.relation for e in ledger.entries()} == {"add_remove per who"}
    for other in (made("means", privacy_unit=None), made("means", privacy_unit="id")):
        with pytest.raises(LedgerError, match="does not add up"):
            other.release(table, ledger)
    with pytest.raises(LedgerError, match="does not add up"):
        ledger.charge(ln.zcdp(0.1), "elsewhere", relation="add_remove")
    ledger.charge(ln.zcdp(0.1), "elsewhere", relation="add_remove per who")
    for wrong in ("add_remove per ", "per who", "other per who"):
        with pytest.raises(LedgerError, match="is unknown"):
            ledger.charge(ln.zcdp(0.1), "elsewhere", relation=wrong)


def test_questions_together_hide_the_same_units(tmp_path):
    given = {"privacy_unit": "who", "rows_per_unit": 2}
    asked = {"x": QUESTIONS["means"], "words": ln.Histogram("word", ["x", "y"])}
    both = ln.together(asked, budget=ln.zcdp(0.5), relation="add_remove", **given)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(9))
    both.release(arrow(drawn(6)), ledger)
    assert [e.relation for e in ledger.entries()] == ["add_remove per who"]
    with pytest.raises(PlanError, match="unit is of one question"):
        ln.together(asked, budget=ln.zcdp(0.5), relation="add_remove", unit="who")


def test_a_release_shows_and_keeps_the_unit(tmp_path):
    table = pd.DataFrame({"who": ["a"] * 9 + ["b"], "x": [4.0] * 10, "bit": [1] * 10})
    plan = ln.plan(
        QUESTIONS["means"],
        budget=ln.zcdp(1e6),
        relation="add_remove",
        privacy_unit="who",
        rows_per_unit=M,
    )
    release = plan.release(table)
    assert release.estimate[-1] == pytest.approx(M + 1, abs=0.2)
    release.save(tmp_path / "r.json")
    assert ln.Release.load(tmp_path / "r.json").terms.privacy_unit == plan.terms.privacy_unit
    assert ln.verify(tmp_path / "r.json")


WRONG = {
    "needs rows_per_unit": {"rows_per_unit": None},
    "is no number of rows": {"rows_per_unit": 0},
    "rows_per_unit=True": {"rows_per_unit": True},
    "need privacy_unit": {"privacy_unit": None, "rows_per_unit": 3},
    "order_by is no list of columns": {"order_by": ["id", "id"]},
    "order_by=3": {"order_by": 3},
    "order_by=<ndarray>": {
        "privacy_unit": None,
        "rows_per_unit": None,
        "order_by": np.array(["a", "b"]),
    },
    "null_unit=<ndarray>": {"null_unit": np.array(["drop", "one"])},
    "null_unit='keep'": {"null_unit": "keep"},
    "is no name of a column": {"privacy_unit": ""},
    "size=9 would be a number of rows": {"relation": "substitute", "size": 9},
    "relation is a body of changes": {"relation": ln.Ball(2, radius=1), "size": 9},
}


@pytest.mark.parametrize("said", WRONG)
def test_what_does_not_fit_is_refused_in_one_line(said):
    given = {"relation": "add_remove", "privacy_unit": "who", "rows_per_unit": 2, **WRONG[said]}
    with pytest.raises(PlanError) as refused:
        ln.plan(QUESTIONS["means"], budget=ln.zcdp(1), **given)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_order_is_none_given(question):
    """One door has what every question is asked with, several on one budget among them."""
    assert made(question, order_by=None).terms.privacy_unit == PrivacyUnit("who", M)
    known = {"budget": ln.zcdp(0.5), "relation": "add_remove", "order_by": None}
    assert ln.plan({"q": QUESTIONS[question]}, **known)["q"].terms.privacy_unit is None


SPEC = """
[question]
relation = "add_remove"
{}

[question.columns.x]
lower = 0
upper = 1

[budget]
rho = 0.5
"""
MISTAKES = {
    'privacy_unit = "who"': "question.rows_per_unit: is missing",
    "rows_per_unit = 3": "question.rows_per_unit: needs privacy_unit",
    'order_by = ["id"]': "question.order_by: needs privacy_unit",
    'null_unit = "one"': "question.null_unit: needs privacy_unit",
    'privacy_unit = "who"\nrows_per_unit = 0': "question.rows_per_unit: ",
}


def test_a_specification_says_whose_rows_are_hidden(tmp_path):
    path = tmp_path / "asked.toml"
    declared = 'privacy_unit = "who"\nrows_per_unit = 2\norder_by = ["id"]\nnull_unit = "one"'
    path.write_text(SPEC.format(declared))
    assert read_spec(path).plan().terms.privacy_unit == PrivacyUnit("who", 2, ("id",), "one")
    for given, said in MISTAKES.items():
        path.write_text(SPEC.format(given))
        with pytest.raises(SpecError, match=said):
            read_spec(path)


def test_a_specification_of_several_questions_has_one_unit(tmp_path):
    path = tmp_path / "asked.toml"
    part = 'name = "{}"\nrelation = "add_remove"\nprivacy_unit = "who"\nrows_per_unit = {}\n'
    column = "[question.columns.x]\nlower = 0\nupper = 1\n"
    parts = ["[[question]]\n" + part + column] * 2
    path.write_text("".join(parts).format("a", 2, "b", 2) + "[budget]\nrho = 0.5\n")
    both = read_together(path).plan()
    assert {own.terms.neighbours for own in both.plans.values()} == {"add_remove per who"}
    path.write_text("".join(parts).format("a", 2, "b", 3) + "[budget]\nrho = 0.5\n")
    with pytest.raises(SpecError, match="has another privacy unit"):
        read_together(path)
