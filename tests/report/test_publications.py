# SPDX-License-Identifier: Apache-2.0
"""Pages of distributions, of groups and of moments by groups: their numbers, charts and order.

Mutants, each seen red: a band of half its width, quantiles of all rows in place of a group's, the
variance of another column, sums before means.
"""

import functools
import re

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from golden.accessors import simulated
from lownoise import report
from lownoise.report.parts import Chart, Table
from report.members import RUDE, words

ROWS = 400
RNG = np.random.default_rng(8)
TABLE = pd.DataFrame(
    {
        "age": RNG.gamma(4, 10, ROWS),
        RUDE[0]: RNG.uniform(0, 9, ROWS),
        RUDE[2]: RNG.choice([RUDE[0], "M"], ROWS),
        "old": RNG.integers(0, 2, ROWS),
    }
)
COLUMNS, BOX = ["age", RUDE[0]], ln.Box([0, 0], [100, 9])
GROUPS = {RUDE[2]: [RUDE[0], "M"], "old": 2}
EDGES = [0, 20, 40, 60, 100]
ASKED = {
    "distribution": ln.Distribution("age", EDGES, by=GROUPS),
    "means": ln.Mean(COLUMNS, BOX, by=GROUPS, way=2),
    "moments": ln.Moments(COLUMNS, BOX, by=GROUPS, way=1),
    "sums": ln.Mean(COLUMNS, BOX),
}


@functools.cache
def release(name):
    plan = ln.plan(ASKED[name], budget=ln.zcdp(0.05), relation="add_remove")
    with simulated(3):
        return plan.release(TABLE)


def parts(name, kind=Table):
    (found,) = [s for s in report.sections(release(name)) if s.name == "answers"]
    return [p for p in found.parts if isinstance(p, kind)]


def ends(found):
    """Return the estimates of a table's rows with their ends, shape (rows, estimates, 3)."""
    own = [[c for c in row if not isinstance(c, str)] for row in found.rows]
    return np.array([[(c.value, c.low, c.high) for c in row] for row in own])


def test_a_distribution_is_drawn_in_its_band_with_quantiles_of_each_group():
    own = release("distribution")
    (chart,) = parts("distribution", Chart)
    band = own.distribution()
    paths = re.findall(r'<path class="(band|own)" d="M([^"]*)"', chart.drawn[0])
    assert [look for look, _ in paths] == ["band", "own"]
    around, line = (
        np.array([at.split() for at in path.removesuffix("z").split("L")], float)
        for _, path in paths
    )
    assert len(around) == 2 * len(EDGES)
    assert len(line) == len(EDGES)
    every = np.concatenate([[0], band.counts, [0], band.upper, band.lower[::-1], [0]])
    up = np.concatenate([line, around])[:, 1]
    slope = (up[0] - up[4]) / band.counts[-1]  # pixels a row
    assert up == pytest.approx(up[0] - slope * every, abs=0.15)
    assert np.ptp(np.diff(line[:, 0])) <= 0.2  # ranges are equally wide
    quantiles, counts, *_ = parts("distribution")
    assert counts.columns[0].heading == "age"
    groups = [{}] + [{RUDE[2]: sex, "old": k} for sex in GROUPS[RUDE[2]] for k in (0, 1)]
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    expected = [own.quantile(q, where=where) for where in groups for q in shares]
    assert ends(quantiles)[:, 0].tolist() == [[q.value, q.lower, q.upper] for q in expected]
    assert quantiles.rows[0][:2] == ("all rows", "10%")
    assert quantiles.rows[-1][0] == f"{RUDE[2]}=M, old=1"


def test_a_chart_of_a_distribution_shows_no_letter_that_others_hide():
    rows = TABLE.rename(columns={"age": RUDE[3]})
    asked = ln.plan(ln.Distribution(RUDE[3], EDGES), budget=ln.zcdp(1), relation="add_remove")
    with simulated(3):
        page = report.render_html(report.sections(asked.release(rows)))
    assert "each value of line" in page
    assert "\x1b" not in page


def test_words_have_no_quantiles():
    """Nor has a column that is not asked for in its order."""
    for question in (
        ln.Histogram("old", 2),
        ln.Marginals({RUDE[2]: GROUPS[RUDE[2]]}, way=1, ordered={RUDE[2]: "prefix"}),
    ):
        with simulated(3):
            own = ln.plan(question, budget=ln.zcdp(1), relation="add_remove").release(TABLE)
        (found,) = [s for s in report.sections(own) if s.name == "answers"]
        assert not any(isinstance(p, Chart) for p in found.parts)
        tables = [p for p in found.parts if isinstance(p, Table)]
        assert len(tables) == own.terms.question.count
        assert not any("uantile" in c.heading for table in tables for c in table.columns)


def test_groups_have_a_column_an_attribute_and_moments_their_variances():
    means = parts("means")[0]
    assert [c.heading for c in means.columns[:3]] == [RUDE[2], "old", "Count"]
    assert means.rows[0][:2] == (RUDE[0], "0")
    own = release("moments")
    counts, variances, correlations, sums, *_ = parts("moments")
    assert [c.heading for c in counts.columns[1:]] == ["Count", *(f"Mean of {c}" for c in COLUMNS)]
    assert len(parts("moments", Chart)) == 2  # of columns, and not of their products
    groups = list(own.moments.groups("old").values())
    assert counts.columns[0].heading == "old"
    expected = [
        np.column_stack([g.variance, np.array([np.diag(e) for e in g.covariance_interval().T]).T])
        for g in groups
    ]
    assert ends(variances) == pytest.approx(np.array(expected), nan_ok=True)
    expected = [[[g.correlation[0, 1], *g.correlation_interval()[0, 1]]] for g in groups]
    assert ends(correlations) == pytest.approx(np.array(expected), nan_ok=True)
    shown = own.groups("old")
    assert [c.heading for c in sums.columns[1:]] == [f"sum({c})" for c in COLUMNS]
    assert ends(sums)[..., 0] == pytest.approx(shown.sums[:, : len(COLUMNS)])
    assert ends(sums)[..., 1:] == pytest.approx(shown.sum_intervals[:, : len(COLUMNS)])


def test_plans_name_what_is_left_out_in_the_same_words_whatever_a_table_holds():
    """`month = 12` is 0 to 11: whoever has 1 to 12 reads it before a row is read."""
    months = {"month": 12, "sex": ["F", "M"], "job": 3}
    asked = {
        "marginals": ln.Marginals(months, way=1, outside={"sex": "extra", "job": 1}),
        "means": ln.Mean(["x"], ln.Box([0], [1]), by=months, outside={"sex": "extra", "job": 1}),
        "totals": ln.Sum(["x"], ln.Box([0], [1]), by=months, outside={"sex": "extra", "job": 1}),
    }
    named = "whose 'month' is missing or none of 0, 1, 2, …, 11; how many is not published."
    rows = pd.DataFrame({"month": [0, 11], "sex": "F", "job": 0, "x": 0.5})
    for question in asked.values():
        plan = ln.plan(question, budget=ln.zcdp(1), relation="add_remove")
        found = [said for said in plan.terms.assumptions if "left out" in said]
        assert found == [f"A row is left out {named}"]
        few = plan.release(rows.assign(month=[1, 12]))
        for own in (plan, few, plan.release(rows)):
            assert found[0] in " ".join(str(own).split())
            assert "left out" in words(own._repr_html_())
            assert own.terms.assumptions == plan.terms.assumptions
    kept = ln.plan(
        ln.Histogram("sex", 2, outside="extra"), budget=ln.zcdp(1), relation="add_remove"
    )
    assert "left out" not in str(kept)
    band = ln.plan(ln.Distribution("x", [0, 1]), budget=ln.zcdp(1), relation="add_remove")
    assert "whose 'x' is no number;" in " ".join(str(band).split())
    drop = ln.Mean(["x"], ln.Box([0], [1]), missing="drop")
    plan = ln.plan(drop, budget=ln.zcdp(1), relation="add_remove")
    assert "A row that lacks a value in any of the columns is left out." in str(plan)


def test_means_come_first_and_sums_after():
    titles = [p.title for p in parts("sums")]
    assert titles == ["Means", "What they are made of: the sums and the count"]
    said = str(release("sums"))
    assert said.index("Mean of") < said.index("sum(age - center)")


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ASKED)
def test_names_of_columns_and_groups_are_literal(name):
    page = report.render_html(report.sections(release(name)))
    assert "<script" not in page
    assert RUDE[0] in words(page)
    assert "nan" not in re.findall(r"[a-z]+", str(release(name)))
