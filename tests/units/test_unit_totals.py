# SPDX-License-Identifier: Apache-2.0
"""What a unit's rows add up to is clipped: noise hides that, and not a number of rows.

Mutants, each seen red: totals that are not clipped; that are clipped by engines' floats; high bits
of sums left out; totals of two questions added up by the codes of one; a unit without name kept
under "drop"; a plan of the domain of rows; a total that a file states of means; totals that no rows
add up to.
"""

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from tests import sparks
from tests.toys.engine import ToySource
from tests.units.test_units import KINDS, arrow, dice, drawn, exact, memory

import lownoise as ln
from lownoise.engines import queries
from lownoise.engines.opening import source_of
from lownoise.engines.tables import UnitTable
from lownoise.errors import FileError, LownoiseError, PlanError, SpecError
from lownoise.privacy.units import PrivacyUnit
from lownoise.release import execution
from lownoise.spec.files import read_spec

ROWS = ln.Box([-2, 0], [4, 1])
BUDGETS = {"zcdp": ln.zcdp(0.5), "pure": ln.pure_dp(1.0), "approx": ln.approx_dp(1.0, 1e-6)}
TOTALS = {
    "box": ln.Box([-3, 0], [5, 2]),
    "numbers": [3, 2.5],
    "ball": ln.Ball(2, 2.5),
}


@cache
def made(total="box", budget="zcdp", relation="add_remove", **more):
    given = {"privacy_unit": "who", "unit_total": TOTALS[total], **more}
    question = ln.Sum(["x", "bit"], ln.Box([-2, -1], [4, 1]))
    return ln.plan(question, budget=BUDGETS[budget], relation=relation, **given)


def added(rows, unit, drops):
    """Return what rows of each unit add up to, in fractions and by no engine."""
    found = {}
    for row in rows:
        key = row[unit.column]
        key = None if key != key or key == "" else key  # noqa: PLR0124 (no unit)
        x = row["x"]
        lacks = x is None or x != x  # noqa: PLR0124
        if (key is None and unit.null == "drop") or (lacks and drops):
            continue
        own = (1.0 if lacks else min(max(x, -2.0), 4.0), min(max(row["bit"], 0), 1))
        old = found.get(key, (0, 0))
        found[key] = tuple(Fraction(a) + b for a, b in zip(own, old, strict=True))
    return sorted(tuple(map(float, own)) for own in found.values())


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(12))
def test_every_engine_adds_up_the_same_by_unit(seed):
    rng = dice(seed)
    rows = drawn(rng.randint(0, 30), rng)
    column, null = rng.choice(["who", "id", "x"]), rng.choice(["drop", "one"])
    unit = PrivacyUnit(column, None, (), null, total=ROWS)
    missing = rng.choice(["drop", "center"])
    question = ln.Sum(["x", "bit"], ROWS, missing=missing)
    each = ln.plan(question, budget=ln.zcdp(1), relation="add_remove").terms.mechanism.totals.each
    expected = added(rows, unit, missing == "drop")
    tables = [memory(rows), arrow(rng.sample(rows, len(rows)))]
    tables += [ToySource(KINDS, rows)] if column == "who" else []
    tables += [sparks.frame(arrow(rows), 3)] if seed < 2 else []
    for table in tables:
        source = source_of(UnitTable(table, unit, each), ["x", "bit"])
        assert source.kinds(["bit"]) == ("numbers",)
        found = [
            pair
            for batch in source.batches(["x", "bit"])
            for pair in zip(*(c.tolist() for c in batch.numbers), strict=True)
        ]
        assert sorted(found) == expected


def test_sums_of_a_unit_are_exact_and_rounded_once(tmp_path):
    """0.1 added ten times is no float's ten times; nor do high bits get lost, nor digits of ids."""
    tenths = pd.DataFrame({"who": [7] * 10 + [8], "x": [0.1] * 10 + [3e9]})
    question = ln.Sum(["x"], ln.Box([0], [2.0**33]))
    plan = ln.plan(question, budget=ln.zcdp(1), relation="add_remove")
    each = plan.terms.mechanism.totals.each
    step = float(each.coding.step[0])
    code = np.floor(0.1 / step + 0.5) * step
    big = pd.DataFrame({"who": [2.0**53, 2.0**53 + 2, None], "x": [1.0, 2.0, 4.0]})
    for table, expected in ((tenths, [float(Fraction(code) * 10), 3e9]), (big, [1.0, 2.0])):
        table.to_parquet(tmp_path / "t.parquet")
        table.to_csv(tmp_path / "t.csv", index=False)
        for own in (table, tmp_path / "t.parquet", tmp_path / "t.csv"):
            source = source_of(UnitTable(own, PrivacyUnit("who", None, total=ROWS), each), ["x"])
            found = [v for b in source.batches(["x"]) for v in b.numbers[0].tolist()]
            assert sorted(found) == expected
    many = pd.DataFrame({"who": np.zeros(300_000, int), "x": np.full(300_000, 2.0**33 - 1)})
    source = source_of(UnitTable(many, PrivacyUnit("who", None, total=ROWS), each), ["x"])
    (batch,) = source.batches(["x"])
    assert batch.numbers[0].tolist() == [300_000 * (2.0**33 - 1)]  # codes of 2^50, 2^18 of them


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize(("total", "budget"), [(t, "zcdp") for t in TOTALS] + [("box", "pure")])
def test_no_unit_changes_integers_beyond_the_noise(total, budget, relation):
    """Whatever its rows are and however many; and some do change them by all that noise hides."""
    mechanism = made(total, budget, relation, rows_per_unit=None).terms.mechanism
    rng = np.random.default_rng(5)
    seen = []
    others = drawn(5, dice(1))

    def change(rows):
        own = [{**drawn(1)[0], "who": "one", "x": x, "bit": b} for x, b in rows]
        return exact(mechanism, memory(others + own)) - exact(mechanism, memory(others))

    ends = [[(4.0, 1)] * 40, [(-2.0, 0)] * 40, [(4.0, 0)] * 40, [(-2.0, 1)] * 40, []]
    drawn_rows = [
        [(float(rng.normal(0, 9)), int(rng.integers(2))) for _ in range(rng.integers(0, 9))]
        for _ in range(12)
    ]
    changes = [change(own).astype(float) for own in ends + drawn_rows]
    pairs = [(0, 0), (len(ends) - 1, 0)] if relation == "add_remove" else None
    for i, one in enumerate(changes):
        for j, other in enumerate(changes):
            if pairs is not None and j != len(ends) - 1:
                continue
            moved = one - other
            if budget == "zcdp":
                cost = np.sqrt(moved @ np.linalg.solve(mechanism.noise.covariance(), moved))
            else:
                cost = mechanism.noise.gauge.norm_up(moved[None])[0] / mechanism.noise.scale
            seen.append(cost)
            assert cost <= 1 + 1e-9, (i, j)
    # bits do not go below 0, which rows here may: so not all of a ball or a box is reached
    assert max(seen) > 0.75


def test_noise_is_that_of_the_total_and_in_both_of_the_lesser():
    """Closed forms for one column: max |t|/μ, and where units take other rows the width."""
    question = ln.Sum(["x"], ln.Box([-1], [4]))
    for relation, own in (("add_remove", 1), ("substitute", None)):
        for m, total, ends in (
            (None, 10.0, (10, 10)),
            (None, ln.Box([0], [10]), (0, 10)),
            (2, 10.0, (2, 8)),
            (3, ln.Box([-1], [10]), (1, 10)),
            (7, ln.Box([-100], [100]), (7, 28)),
        ):
            plan = ln.plan(
                question,
                budget=ln.gaussian_dp(0.5),
                relation=relation,
                privacy_unit="who",
                rows_per_unit=m,
                unit_total=total,
            )
            widest = max(ends) if own else sum(ends)
            assert plan.error == pytest.approx(widest / 0.5, rel=1e-5)
            assert plan.certificate.gap < 1e-5
            if m is None:
                assert plan.by_rows is None
            else:
                alone = m * (4 if own else 5) / 0.5
                assert plan.by_rows == pytest.approx(alone, rel=1e-5)
                shown = " ".join(str(plan).split())
                assert "With a bound on rows only, not on their total, the error would be" in shown
                assert "counts as the nearest point of" in shown
                assert "is added or removed" in shown or "has any other rows" in shown


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize(("total", "budget"), [(t, "zcdp") for t in TOTALS] + [("box", "approx")])
def test_files_state_the_total_and_verify_computes_everything_again(total, budget, relation):
    plan = made(total, budget, relation)
    release = plan.release(arrow(drawn(20)))
    for own, kind in ((plan, ln.Plan), (release, ln.Release)):
        fields = json.loads(own.to_json())
        assert fields["format"].endswith("/5")
        assert kind.from_json(own.to_json()).to_json() == own.to_json()
        assert ln.verify(own.to_json())
    assert "add up" in " ".join(release.terms.assumptions)
    fields = json.loads(plan.to_json())
    for edit in (
        lambda own: own.pop("total"),
        lambda own: own.update(total={"lower": [-30, 0], "upper": [50, 2]}),
        lambda own: own.update(total={"lower": [1, 0], "upper": [5, 2]}),
        lambda own: own.update(rows=None, total=None),
        lambda own: own.update(total={"lower": [-3], "upper": [5]}),
    ):
        other = json.loads(plan.to_json())
        edit(other["terms"]["unit"])
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(other))
    assert fields["terms"]["unit"]["rows"] is None


def test_no_file_of_means_has_a_total_of_units():
    """What is charged would be of one record, and what is read of all."""
    for question in (ln.Mean(["x"], ln.Box([0], [1])), ln.Histogram("bit", 2)):
        plan = ln.plan(
            question,
            budget=ln.zcdp(0.5),
            relation="add_remove",
            privacy_unit="who",
            rows_per_unit=9,
        )
        fields = json.loads(plan.to_json())
        fields["terms"]["unit"]["total"] = {"lower": [0], "upper": [1]}
        fields["format"] = "lownoise.plan/5"
        with pytest.raises(FileError, match=r"unit_total is of totals|damaged|digest"):
            ln.Plan.from_json(json.dumps(fields))


QUESTION = ln.Sum(["x"], ln.Box([0], [4]))
WRONG = [
    (ln.Mean(["x"], ln.Box([0], [4])), 3, "unit_total is for ln.Sum without by"),
    (ln.Sum(["x"], ln.Box([0], [4]), by={"bit": 2}), 3, "unit_total is for ln.Sum without by"),
    (ln.Distribution("x", [0, 1, 2]), 3, "unit_total is for ln.Sum without by"),
    (QUESTION, [3, 4], "not one size above 0"),
    (QUESTION, 0, "not one size above 0"),
    (QUESTION, -2.0, "not one size above 0"),
    (QUESTION, "many", "unit_total"),
    (QUESTION, ln.Box([1], [4]), "holds 0"),
    (QUESTION, ln.Box([0, 0], [4, 4]), "one coordinate a column"),
    (QUESTION, ln.Ball(1, 3), "no such rows add up to"),
    (ln.Sum(["x"], ln.Box([1], [4])), 3, "a box that holds 0"),
    (ln.Sum(["x"], ln.Ball(1, 3)), 3, "a box that holds 0"),
]


@pytest.mark.parametrize(("question", "total", "text"), WRONG)
def test_what_has_no_total_is_refused_in_one_line(question, total, text):
    with pytest.raises(LownoiseError, match=text) as refused:
        ln.plan(
            question,
            budget=ln.zcdp(1),
            relation="add_remove",
            privacy_unit="who",
            unit_total=total,
        )
    assert "\n" not in str(refused.value)


def test_it_needs_a_unit_and_orders_no_rows_that_all_count():
    for given, text in (
        ({"unit_total": 3}, "unit_total need privacy_unit"),
        ({"unit_total": 3, "privacy_unit": "who", "order_by": "x"}, "order_by needs rows_per_unit"),
        ({"privacy_unit": "who"}, "or for ln.Sum unit_total"),
    ):
        with pytest.raises(PlanError, match=text):
            ln.plan(QUESTION, budget=ln.zcdp(1), relation="add_remove", **given)


SPEC = """
[question]
kind = "sum"
relation = "substitute"
privacy_unit = "who"
{}

[question.columns.x]
lower = -1
upper = 4

[question.columns.bit]
lower = 0
upper = 1

[budget]
rho = 0.5
"""


def test_a_specification_says_it_by_numbers_or_by_a_domain(tmp_path):
    path = tmp_path / "s.toml"
    question = ln.Sum(["x", "bit"], ln.Box([-1, 0], [4, 1]))
    domain = 'unit_total = {kind = "box", lower = [-2, 0], upper = [5, 3]}'
    for text, own in (
        ("unit_total = [5, 3]", {"unit_total": [5, 3]}),
        ("unit_total = 5\nrows_per_unit = 2", {"unit_total": 5, "rows_per_unit": 2}),
        (domain, {"unit_total": ln.Box([-2, 0], [5, 3])}),
    ):
        path.write_text(SPEC.format(text))
        found = read_spec(path).plan()
        expected = ln.plan(
            question, budget=ln.zcdp(0.5), relation="substitute", privacy_unit="who", **own
        )
        assert found.error == pytest.approx(expected.error, rel=1e-9)
    for text in ("", 'unit_total = "many"', domain.replace("lower", "lowr")):
        path.write_text(SPEC.format(text))
        with pytest.raises(SpecError, match=r"rows_per_unit|unit_total"):
            read_spec(path).plan()


@pytest.mark.grid
@pytest.mark.parametrize("kind", [memory, arrow])
@pytest.mark.parametrize(
    ("second", "reads"),
    [
        (ln.Sum(["bit"], ln.Box([0], [1])), 1),
        (ln.Sum(["bit", "x"], ln.Box([0, -2], [1, 4])), 1),
        (ln.Sum(["x"], ln.Box([-2], [3])), 2),  # a row adds another number
        (ln.Sum(["bit"], ln.Box([0], [1]), missing="drop"), 2),  # other rows count
    ],
)
def test_totals_of_the_same_units_share_a_read_and_are_those_of_a_read_each(
    kind, second, reads, monkeypatch
):
    plan = ln.together(
        {"x": ln.Sum(["x"], ln.Box([-2], [4])), "second": second},
        budget=ln.zcdp(0.5),
        relation="add_remove",
        privacy_unit="who",
        options={"x": {"unit_total": 5.0}, "second": {"unit_total": 3.0}},
    )
    every, table = [own.terms for own in plan.plans.values()], kind(drawn(60, dice(4)))
    alone = [terms.mechanism.read(table) for terms in every]
    opened = []
    monkeypatch.setattr(
        queries, "source_of", lambda *given: opened.append(given) or source_of(*given)
    )
    assert execution._each(every, table) == alone
    assert len(opened) == reads


def test_beside_other_questions_each_has_its_own():
    asked = {"x": QUESTION, "bit": ln.Histogram("bit", 2)}
    both = ln.together(
        asked,
        budget=ln.zcdp(0.5),
        relation="add_remove",
        privacy_unit="who",
        rows_per_unit=3,
        options={"x": {"unit_total": 5.0}},
    )
    assert both.plans["x"].terms.privacy_unit.total is not None
    assert both.plans["bit"].terms.privacy_unit.total is None
    found = both.release(arrow(drawn(20)))
    assert set(found.releases) == {"x", "bit"}
