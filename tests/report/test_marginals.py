# SPDX-License-Identifier: Apache-2.0
"""Reports of marginals: whole pages that fetch nothing, and numbers computed a second way."""

import csv
import io
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.tables.execution import execute
from lownoise.report.heatmap import MOST, heatmap
from lownoise.report.marginal_csv import label_of
from lownoise.report.spread import spreads, totals, variance_ratio
from report.test_page import RUDE, Reader

ADULT = json.loads((Path(__file__).parents[1] / "data" / "adult-domain.json").read_text())


def planned(sizes, *, relation="add_remove", order=2.0, outside="extra", **asked):
    question = ln.Marginals(sizes, outside=outside, **asked)
    size = 40 if relation == "substitute" else None
    return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size, order=order)


def made(plan):
    rng = np.random.default_rng(0)
    columns = {
        a.name: rng.choice(a.categories if a.labels is None else list(a.labels), 40)
        for a in plan.terms.question.attributes
    }
    return execute(plan.terms, pd.DataFrame(columns), None, randomness=SimulationRandomness(1))


SUBJECTS = {
    "pairs": lambda: planned({"age": ["young", "old"], "sex": 2, "town": 5}, way=2),
    "one": lambda: planned({"age": 3}, way=1),
    "rows alone": lambda: planned({"age": 3, "sex": 2}, way=0),
    "public size": lambda: planned({"age": 3, "sex": 2}, way=2, relation="substitute"),
    "no noise": lambda: planned({"age": 3}, way=0, relation="substitute"),
    "one category": lambda: planned({"age": 1, "sex": 2}, way=2, outside="drop"),
    "sets": lambda: planned(
        {"a": 3, "b": 2, "c": 4}, sets=[["a", "b"], ["c"]], weights=[1, 3], order=math.inf
    ),
    "rude": lambda: planned({name: [*RUDE[:2], "x"] for name in RUDE}, way=2),
    "many": lambda: planned({f"attribute {i}": 2 + i % 7 for i in range(103)}, way=2),
}


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("kind", ["release", "plan"])
def test_a_page_is_whole_and_fetches_nothing(name, kind):
    plan = SUBJECTS[name]()
    text = report.html(made(plan) if kind == "release" else plan.terms)
    page = Reader(text)
    assert page.open == []
    assert page.fetched == []
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert "@import" not in text
    assert "://" not in text
    assert len(text) < 400_000
    words = "".join(page.words)
    assert "nan" not in re.findall(r"[a-z]+", words)
    assert "What this rests on" in words
    assert (name == "no noise") == ("nothing to compare" in words)


def test_user_text_is_shown_literally_and_controls_are_made_visible():
    words = "".join(Reader(report.html(made(SUBJECTS["rude"]()))).words)
    for name in RUDE[:3]:
        assert words.count(name) >= 3  # counts, largest first, attributes
    assert "line�break�[31m" in words
    assert "\x1b" not in words


def test_a_page_depends_on_its_subject_alone():
    release = made(SUBJECTS["pairs"]())
    assert report.html(release) == report.html(release)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_the_map_says_the_deviation_of_every_pair(relation):
    plan = planned({"a": 3, "b": 2, "c": 4, "d": 4}, way=3, relation=relation)
    drawn = heatmap(plan.terms)
    names = ["a", "b", "c", "d"]
    places = [(i, j) for i in range(4) for j in range(i + 1)]
    deviations = [plan.standard_deviation(*{names[i], names[j]}) for i, j in places]
    shown = [float(text) for _, _, text, _ in drawn["texts"]]
    assert shown == pytest.approx(deviations, rel=6e-3)
    assert [row[2] for row in drawn["rows"]] == names
    assert not drawn["missing"]
    # the darker, the larger: each square is in the shade whose range holds its number
    squares = [len(re.findall("M", path)) for _, path in drawn["shades"]]
    ends = [[float(e) for e in text.split(" – ")] for _, text in drawn["legend"]]
    for count, (low, high) in zip(squares, ends, strict=True):
        inside = [d for d in deviations if low * 0.99 <= d <= high * 1.01]
        assert count <= len(inside)
    assert sum(squares) == len(places)
    least, most = min(deviations), max(deviations)
    assert ends[0][0] == pytest.approx(least, rel=6e-3)
    assert ends[-1][1] == pytest.approx(most, rel=6e-3)
    opacities = [float(opacity) for opacity, _ in drawn["shades"]]
    assert opacities == sorted(opacities)


def test_a_pair_that_was_not_asked_for_has_no_square():
    plan = SUBJECTS["sets"]()
    drawn = heatmap(plan.terms)
    assert drawn["missing"]
    shown = [float(text) for _, _, text, _ in drawn["texts"]]
    deviations = [plan.standard_deviation("a", "b"), plan.standard_deviation("c")]
    assert shown == pytest.approx(deviations, rel=6e-3)


def test_labels_of_a_hundred_attributes_do_not_overlap():
    plan = SUBJECTS["many"]()
    drawn = heatmap(plan.terms)
    assert drawn["hidden"] == 3
    assert len(drawn["rows"]) == len(drawn["columns"]) == MOST
    for lines in (
        [float(y) for _, y, _ in drawn["rows"]],
        [float(x) for x, _, _ in drawn["columns"]],
    ):
        assert np.min(np.diff(lines)) >= 12.5  # letters are 11 pixels high
    edge = float(drawn["rows"][0][0])
    assert all(6.2 * len(name) <= edge for _, _, name in drawn["rows"])
    assert f"The first {MOST} attributes are shown; 3 more are not." in report.html(plan.terms)


def test_the_largest_noise_comes_first_and_every_marginal_is_counted():
    plan = planned(ADULT, way=3)
    found = spreads(plan.terms)
    assert sum(s.count for s in found) == 470
    assert sum(s.count * s.cells for s in found) == plan.terms.question.cells
    assert [s.largest for s in found] == sorted((s.largest for s in found), reverse=True)
    for spread in found[:50]:
        assert spread.typical == pytest.approx(plan.standard_deviation(*spread.names), rel=1e-12)
    page = report.html(plan.terms)
    assert page.index("(number of rows)") < page.index("sex × income")
    # ResidualPlanner's root mean square a cell at this cost, to every digit that it prints
    dropping = planned(ADULT, way=3, outside="drop")
    over = totals(spreads(dropping.terms))
    assert over["plan"].typical == pytest.approx(10.66500805, abs=1e-8)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_other_noise_is_as_computed_cell_by_cell(relation):
    sizes = {"a": 3, "b": 2, "c": 4}
    plan = planned(sizes, way=2, relation=relation, outside=dict.fromkeys(sizes, 0))
    over = totals(spreads(plan.terms))
    sets = [s for k in range(3) for s in itertools.combinations(sizes, k)]
    # a record, or a change of one, moves one or two cells of each marginal whose total may move
    moves = 1 if relation == "add_remove" else 2
    noisy = [s for s in sets if s or relation == "add_remove"]
    iid, full, own = [], [], []
    for names in sets:
        cells = math.prod(sizes[n] for n in names)
        public = names not in noisy
        iid += [0.0 if public else math.sqrt(moves * len(noisy))] * cells
        full += [0.0 if public else math.sqrt(moves * 24 / cells)] * cells
        own += [plan.standard_deviation(*names)] * cells
    for kind, cells in (("plan", own), ("isotropic", iid), ("histogram", full)):
        assert over[kind].typical == pytest.approx(np.sqrt(np.mean(np.square(cells))), rel=1e-9)
        assert over[kind].largest == pytest.approx(max(cells), rel=1e-9)
    ratio = sum(np.square(iid)) / sum(np.square(own))
    assert variance_ratio(over, "isotropic") == pytest.approx(ratio, rel=1e-9)
    assert f"{ratio:.3f} times smaller than with i.i.d. Gaussian noise" in report.html(plan.terms)


def test_noise_that_is_more_than_usual_noise_is_said_to_be_more():
    """Order ∞ spends on the worst weighted cell, and may pay for it in the total."""
    plan = SUBJECTS["sets"]()
    over = totals(spreads(plan.terms))
    ratio = 1 / variance_ratio(over, "isotropic")
    assert ratio > 1.01
    page = "".join(Reader(report.html(plan.terms)).words)
    assert f"is {ratio:.4g} times that of i.i.d. Gaussian noise on every cell" in page
    assert "smaller than with i.i.d. Gaussian" not in page


def test_any_marginal_of_a_release_is_shown_with_its_intervals():
    release = made(SUBJECTS["pairs"]())
    default = "".join(Reader(report.html(release)).words)
    assert "Counts: age" in default
    assert "(other)" in default
    chosen = Reader(report.html(release, marginal=("town", "age")))
    assert "Counts: town × age" in "".join(chosen.words)
    text = report.html(release, marginal=("town", "age"))
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    values = re.findall(r'class="value">([^<]*)</td><td>([^<]*)</td><td>([^<]*)<', table)
    found = np.array([[float(x.replace(",", "").replace("−", "-")) for x in v] for v in values])
    low, high = release.interval("town", "age")
    exact = np.stack([release.marginal("town", "age"), low, high], axis=-1).reshape(-1, 3)
    assert np.max(np.abs(found - exact)) <= 0.051  # the second digit of about 3
    assert np.min(exact) < 0  # unbiased, so some are negative, and shown as they are
    labels = re.findall(r'<th scope="row"><bdi>([^<]*)</bdi></th>', table)
    assert labels[:4] == ["0", "young", "0", "old"]
    assert "number of rows" in report.html(release, marginal=())
    with pytest.raises(QuestionError, match="no attribute"):
        report.html(release, marginal=("income",))
    with pytest.raises(PlanError, match="is for a release of marginals"):
        report.html(release.terms, marginal=("age",))


def test_a_large_marginal_is_cut_and_said_so():
    release = made(planned({"a": 40, "b": 40}, way=2))
    page = report.html(release, marginal=("a", "b"))
    assert "681 more cells of this marginal" in page  # 41·41 − 1000
    rows = report.marginal_csv(release, ("a", "b")).splitlines()
    assert len(rows) == 41 * 41 + 1


def test_csv_reads_back_exactly_and_keeps_columns_apart(tmp_path):
    plan = planned({"count": ["a,b", 'c"d', "é\n"], "low": 2}, way=2)
    release = made(plan)
    (tmp_path / "x.csv").write_text(report.marginal_csv(release, ("count", "low")), "utf-8")
    read = pd.read_csv(tmp_path / "x.csv", dtype={"low": str})
    assert list(read) == ["count", "low", "count_", "low_", "high", "standard_deviation"]
    assert read["count"].tolist()[::3] == ["a,b", 'c"d', "é\n", "(other)"]
    counts = release.marginal("count", "low").reshape(-1)
    assert read["count_"].tolist() == counts.tolist()


RUN = ["=cmd|'/c calc'!A1", "+x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"]
KEPT = ["-1", "+2.5e3", "-.5", "a=b", "", " =1", "1"]


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    labels = [*RUN, *KEPT, "'", "'=cmd|'/c calc'!A1"]
    release = made(planned({"=HYPERLINK(1)": labels, "b": 2}, way=2))
    names = ("=HYPERLINK(1)", "b")
    text = report.marginal_csv(release, names)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0][0] == "'=HYPERLINK(1)"
    written = [row[0] for row in rows[1::3]]
    assert written == [*(f"'{x}" for x in RUN), *KEPT, "''", "''=cmd|'/c calc'!A1", "(other)"]
    assert [label_of(cell) for cell in written] == [*labels, "(other)"]
    for row in rows[1:]:
        assert all(float(number) == float(number) for number in row[2:])
        assert all(not cell.startswith("'") for cell in row[1:])  # numbers stay numbers


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("width", [40, 100])
def test_terminal_tables(name, width):
    plan = SUBJECTS[name]()
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    with console.capture() as capture:
        console.print(report.plan_table(plan.terms))
        console.print(report.release_table(made(plan)))
    text = capture.get()
    console.file.close()
    assert "\x1b" not in text
    assert "nan" not in text
    assert "certificate" in text
    assert "ledger" in text


def test_what_is_neither_has_no_table():
    with pytest.raises(PlanError, match="are no terms"):
        report.plan_table(3)
    with pytest.raises(PlanError, match="is no release"):
        report.release_table(3)


def test_counts_along_an_order_are_not_called_cells():
    question = ln.Marginals({"age": 6, "sex": 2}, way=2, ordered={"age": "prefix"})
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    page = report.html(plan.terms)
    assert "Standard deviation of a count" in page
    assert "of a cell" not in page
    assert "every cell" not in page
