# SPDX-License-Identifier: Apache-2.0
"""What reports say of each question: numbers computed a second way, charts, what is left out."""

import csv
import functools
import io
import itertools
import json
import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError
from lownoise.release.answer_table import label_of
from lownoise.report import charts, spelling
from lownoise.report.linear import names_of_parities
from lownoise.report.marginals import MOST_ATTRIBUTES, heatmap
from lownoise.report.parts import Caution, Table
from lownoise.report.sections import view_of
from report.members import asked, bits, mean, plan, pure, release, released, tables, words

ADULT = json.loads((Path(__file__).parents[1] / "data" / "adult-domain.json").read_text())
TEXT = re.compile(r'<text x="([\d.]+)" y="([\d.]+)"(?: class="([^"]*)")?>([^<]*)</text>')


GROUPED = functools.partial(ln.Mean, by={"g": 2}, outside="extra")


def part(found, name, kind=Table):
    """Return the first part of a kind in the section of that name."""
    (section,) = [s for s in found if s.name == name]
    return next(p for p in section.parts if isinstance(p, kind))


def page(own, **chosen):
    return report.render_html(report.sections(own, **chosen))


def read(text):
    return float(text.replace("−", "-").replace(",", ""))


# --- means


def test_names_in_charts_are_literal():
    names = ["$x_1$", "<script>", 'id="x" #010101', "飛行時間", "אורך", "url(#y)"]
    for drawn in charts.multiples(mean(names, budget=ln.zcdp(0.5)).terms).drawn:
        body = drawn.partition("</desc>")[2]
        for name in names:
            assert name.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;") in body


def test_an_answer_without_noise_says_so():
    for drawn in charts.multiples(plan("mean, some noise").terms).drawn:
        assert drawn.count("no noise needed") == 2  # in the drawing and in its description


def test_of_many_answers_those_with_the_largest_multiples_are_shown():
    terms = plan("many means").terms
    ratios = [other / terms.standard_deviation for other in (terms.isotropic, terms.laplace)]
    # the narrowest suffer most from round noise
    assert charts.drawn_answers(ratios).tolist() == list(range(40))
    assert charts.drawn_answers([r[:200] for r in ratios]).size == 200
    assert "The 40 of 250 answers" in page(release("many means"))


def test_marks_stand_where_the_multiples_are():
    """On a log scale the distances from the line of 1 are as the logarithms."""
    terms = plan("means").terms
    for drawn in charts.multiples(terms).drawn:
        _, *dots = map(float, re.findall(r'class="iid" cx="([\d.]+)"', drawn))
        _, *diamonds = map(float, re.findall(r'class="laplace" d="M([\d.]+)', drawn))
        one = float(re.findall(r'class="own" d="M([\d.]+)', drawn)[1])
        expected = [o / terms.standard_deviation for o in (terms.isotropic, terms.laplace)]
        across = np.array([dots, diamonds]) - one
        logs = np.log(expected)
        assert across / across[0, 0] == pytest.approx(logs / logs[0, 0], abs=3e-3)


def test_labels_of_an_axis_leave_room_between_them():
    """Though other noise is a hundred million times the plan's, and names are long."""
    wide = ln.Mean(["a" * 26, "b"], ln.Box([0, 0], [1, 1e8]))
    own = ln.plan(wide, budget=ln.zcdp(1), relation="substitute", size=9, weights="range")
    for drawn in charts.multiples(own.terms).drawn:
        labels = re.findall(r'<text x="([\d.]+)"[^>]*>([\d,.⁰-⁹×]+×)</text>', drawn)
        assert len(labels) > 2
        for (x, left), (y, right) in itertools.pairwise(labels):
            assert float(y) - float(x) > 7 * (len(left) + len(right)) / 2


def test_an_error_of_groups_says_when_weights_are_in_it():
    """5.2 is not in columns' units where one of them strays by 30,000."""
    asked = ln.Mean(["a"], ln.Box([0], [1e5]), by={"g": 2})
    for weights, said in ((None, False), ("range", True)):
        own = ln.plan(asked, budget=ln.pure_dp(1), relation="add_remove", weights=weights)
        shown = words(page(own))
        assert ("number of rows, weighted, in" in shown) == said
        assert ("units times their weights" in shown) == said


@pytest.mark.parametrize("question", [ln.Mean, ln.Sum])
def test_a_certificate_says_when_weights_are_in_what_is_least(question):
    """Without weights other noise has the smaller total variance, so the sentence needs them."""
    asked = question(["a", "b"], ln.Box([0, 0], [1, 100]))
    own = {
        weights: ln.plan(asked, budget=ln.zcdp(1), relation="substitute", size=9, weights=weights)
        for weights in (None, "range")
    }
    assert own[None].error < 0.8 * own["range"].error
    for weights, each in own.items():
        shown = words(page(each))
        assert ("has a smaller root of the total weighted variance" in shown) == bool(weights)
        assert ("This total does not include weights" in shown) == bool(weights)


@pytest.mark.grid(0, least=3)
@pytest.mark.parametrize(
    ("question", "relation", "rho", "size", "where"),
    [
        (ln.Mean, "substitute", 5e-6, 500, "the range;"),
        (ln.Moments, "substitute", 5e-5, 5000, "the range;"),
        (ln.Moments, "add_remove", 5e-3, None, "the range in a table of fewer than {} rows;"),
        (ln.Sum, "substitute", 1e-3, 40, "the range;"),
        (GROUPED, "substitute", 1e-3, 300, "the range in groups of average size;"),
        (GROUPED, "add_remove", 1e-6, None, "the range in groups of fewer than {} rows;"),
    ],
)
def test_noise_wider_than_a_range_is_said_with_what_helps(question, relation, rho, size, where):
    """The ages' noise is wide because incomes are; with weights only that of no budget is."""
    asked = question(["age", "pay"], ln.Box([18, 0], [138, 1e4]))

    def said(own):
        noted = [p.text for s in report.sections(own) for p in s.parts if isinstance(p, Caution)]
        found = [text for text in noted if "wider than the range" in text]
        assert str(own).count("too wide  ") == len(found)
        assert page(own).count("wider than the range") == len(found)
        return found

    def planned(rho, **more):
        return ln.plan(asked, budget=ln.zcdp(rho), relation=relation, size=size, **more)

    plain = planned(rho)
    (own,) = said(plain)
    needed = spelling.at_least(plain.standard_deviation[0] / 120, 2)  # rows
    assert own.startswith("age")
    assert " pay" not in own
    assert 'weights="range"' in own
    assert f"wider than {where.format(needed)}" in own
    assert not said(planned(rho, weights="range"))
    assert not said(planned(0.5))
    small = said(planned(1e-10, weights="range"))
    assert len(small) == (size is not None)  # how many rows are enough where they are private?
    for text in small:
        assert text.startswith("age, pay")
        assert "ln.budget_for" in text
        assert "weights" not in text


def test_noise_is_too_wide_from_the_range_on_and_a_release_says_it_too():
    asked = ln.Mean(["a"], ln.Box([0], [9]))
    for rows, wide in ((0.9, True), (1.1, False)):  # at ρ = 1/2 it strays by one row's part
        own = ln.plan(asked, budget=ln.zcdp((rows / 40) ** 2 / 2), relation="substitute", size=40)
        assert ("too wide" in str(own)) == ("too wide" in str(released(own))) == wide


def test_a_tiny_gap_is_said_in_few_digits():
    assert spelling.gap(plan("means").certificate.gap) == "below 0.0001%"


def test_means_under_add_remove_are_said_not_to_be_exactly_unbiased():
    found = words(page(release("sums")))
    assert "not exactly unbiased" in found
    assert "sum(a - center)" in found
    assert "the center, from which sums are measured" in found
    assert "which sets the share of the budget that is spent on the count" in found


def test_pairs_are_drawn_as_ellipses_beside_the_circle_of_equal_privacy():
    """Widths 1 and 9: half axes as √(1·10) : √(9·10), the circle as √82."""
    own = page(release("means"))
    pattern = r'class="round" r="([\d.]+)".*?rx="([\d.]+)" ry="([\d.]+)"'
    circle, across, up = map(float, re.search(pattern, own, re.DOTALL).groups())
    assert up / across == pytest.approx(3, rel=1e-3)
    assert circle / up == pytest.approx(math.sqrt(82 / 90), rel=1e-3)
    assert "This plan: an ellipse reaching" in own
    many = page(mean([f"c{i}" for i in range(9)], upper=np.geomspace(1, 100, 9)))
    assert many.count("<ellipse") == 6
    assert {"→ c0", "↑ c8"} <= set(re.findall(r"[→↑] c\d", many))
    assert "<ellipse" not in page(plan("one mean"))


def test_equal_noise_is_not_said_to_be_less():
    assert "The total variance is the same as with i.i.d." in page(plan("one mean"))
    same = words(page(asked(ln.Queries(np.eye(4), {"x": 4}), "add_remove")))
    assert "is the same as with i.i.d. Gaussian noise on every answer" in same


@pytest.mark.parametrize("name", ["means", "sums", "pure laplace", "pure k_norm"])
def test_estimates_intervals_and_means_are_those_of_the_release(name):
    own = release(name)
    every = np.column_stack([own.estimate, own.interval()])
    if own.terms.size is None:
        # means first, then what they are made of
        every = np.concatenate([np.column_stack([own.mean, own.mean_interval()]), every])
    pattern = r'class="value">([^<]*)</td><td>([^<]*)</td><td>([^<]*)<'
    rows = np.array([[read(x) for x in row] for row in re.findall(pattern, page(own))])
    half = np.ptp(rows[:, 1:], axis=1)[:, None]
    assert np.all(np.abs(rows - every) <= 0.051 * half)
    table = report.to_pandas(own)
    assert list(table) == ["answer", "estimate", "low", "high", "standard_deviation"]
    means = [f"mean({name})" for name in own.terms.question.columns * (own.terms.size is None)]
    assert table["answer"].tolist() == [*means, *own.names]
    assert np.array_equal(table[["estimate", "low", "high"]].to_numpy(), every)
    strays, exact = np.split(table["standard_deviation"].to_numpy(), [len(means)])
    assert np.array_equal(exact, own.standard_deviation)
    if means:  # by the delta method: of sum/count with the covariance of both
        count, center = own.estimate[-1], own.terms.question.center
        slopes = np.column_stack([np.eye(len(means)), center - own.mean]) / count
        assert strays == pytest.approx(np.sqrt(np.diag(slopes @ own.covariance @ slopes.T)))


def test_a_mean_of_what_may_be_no_rows_has_no_number_in_a_table():
    own = release("sums")
    own = replace(own, integers=(*own.integers[:-1], 0))  # the count that was released
    box = own.terms.question.domain
    found = report.to_pandas(own).to_numpy().tolist()
    assert [row[2:4] for row in found[:2]] == [*map(list, zip(box.lower, box.upper, strict=True))]
    assert all(np.isnan([row[1], row[4]]).all() for row in found[:2])
    assert not np.isnan([row[1] for row in found[2:]]).any()


# --- linear queries and parities


def test_a_full_table_beyond_the_floats_is_infinitely_noisy():
    found = words(page(asked(bits(2100, 1), "add_remove")))
    assert "∞" in found
    assert "nan" not in re.findall(r"[a-z]+", found)


def test_the_largest_noise_comes_first_and_every_answer_is_counted():
    own = plan("prefix")
    table = part(report.sections(own), "noise")
    assert table.rows[-1][:2] == ("query 0", "records of 0")  # and no number of them
    order = np.argsort(-own.terms.standard_deviation)
    assert [row[0] for row in table.rows] == [f"query {i}" for i in order]
    assert table.rows[0][1] == f"{order[0] + 1} of 10 records"
    own = plan("parities")
    table = part(report.sections(own), "noise")
    assert sorted(row[1] for row in table.rows) == ["19 more", "5 more", "every row"]
    by_name = {row[0]: read(row[2]) for row in table.rows}
    assert list(by_name.values()) == sorted(by_name.values(), reverse=True)
    deviations = own.terms.standard_deviation
    assert by_name["b0 ⊕ b1 ⊕ b2"] == pytest.approx(deviations[7], rel=6e-3)
    assert by_name["(number of rows)"] == pytest.approx(deviations[0], rel=6e-3)
    for budget, mechanism in ((ln.zcdp(0.5), {}), (ln.pure_dp(0.7), {"mechanism": "laplace"})):
        queries = ln.Queries(np.diag(np.arange(1.0, 61)), {"x": 60})
        many = asked(queries, "add_remove", budget, **mechanism)
        order = np.argsort(-many.terms.standard_deviation, kind="stable")
        found = report.sections(many)
        table = part(found, "noise")
        assert [row[0] for row in table.rows] == [f"query {i}" for i in order[:40]]
        assert "20 more answers have no more noise" in words(report.render_html(found))
        assert "30 more answers have no more noise" in report.render_text(found)
        assert "30 more answers are in" in report.render_text(report.sections(released(many)))


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("kind", ["queries", "parity"])
def test_other_noise_is_as_computed_record_by_record(kind, relation):
    """From the matrix of all records: what one neighbour moves, and sums of noisy counts."""
    if kind == "queries":
        W = np.random.default_rng(1).integers(-2, 3, (5, 8)).astype(float)
        W[3] = 1.0  # public where the number of rows is
        question = ln.Queries(W, {"x": 8}, outside={"x": 0})
    else:
        question = bits(3, [0, 1, 2], outside=0)
        records = 1 - 2 * np.array(list(itertools.product([0, 1], repeat=3)))
        sets = [s for k in range(3) for s in itertools.combinations(range(3), k)]
        W = np.array([records[:, list(s)].prod(axis=1) for s in sets], float)
    own = asked(question, relation)
    if relation == "substitute":
        iid = max(np.linalg.norm(a - b) for a, b in itertools.combinations(W.T, 2))
        full = math.sqrt(2) * np.linalg.norm(W - W.mean(axis=1, keepdims=True), axis=1)
        noisy = np.ptp(W, axis=1) > 0
    else:
        iid = max(np.linalg.norm(column) for column in W.T)
        full, noisy = np.linalg.norm(W, axis=1), np.any(W != 0, axis=1)
    assert own.terms.isotropic == pytest.approx(iid, rel=1e-9)
    assert own.terms.histogram == pytest.approx(full, rel=1e-9, abs=1e-12)
    rows = {
        row[0]: [read(x.removesuffix("×")) for x in row[1:]]
        for row in part(report.sections(own), "compared").rows
    }
    total = np.sum(np.square(own.terms.standard_deviation))
    iid_name, full_name = "i.i.d. on these answers", "i.i.d. on the count of every record"
    others = {iid_name: np.where(noisy, iid, 0.0), full_name: full}
    for noise, deviations in others.items():
        ratio = np.sum(np.square(deviations)) / total
        typical = np.sqrt(np.mean(np.square(deviations)))
        assert rows[noise] == pytest.approx([ratio, typical, np.max(deviations)], rel=6e-3)
        assert ratio > 1 - 1e-5 or noise != iid_name  # the plan is the least Gaussian noise


def test_parities_are_named_in_the_order_of_the_answers():
    question = bits(7, [0, 2, 5])
    expected = [" ⊕ ".join(question.names(s)) or "(number of rows)" for s in question.sets()]
    assert [names_of_parities(question).name(place) for place in range(question.count)] == expected


@pytest.mark.parametrize("name", ["prefix", "pure laplace_histogram"])
def test_any_answers_of_a_release_are_shown_with_their_intervals(name):
    own = release(name)
    every = np.column_stack([own.estimate, own.interval()])
    for chosen in (None, [2, 0]):
        table = part(report.sections(own, answers=chosen), "answers")
        places = list(range(len(every))) if chosen is None else chosen
        assert [row[0] for row in table.rows] == [f"query {i}" for i in places]
        ends = np.array([[row[2].value, row[2].low, row[2].high] for row in table.rows])
        assert np.array_equal(ends, every[places])
        assert table.hidden == len(every) - len(places)
    left = len(every) - 2
    assert f"{left} more answers are in the release" in words(page(own, answers=[2, 0]))


def test_the_curve_is_the_deviations_from_the_largest_down():
    deviations = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5])
    (chart,) = charts.curve(deviations, 6.0)
    (drawn,) = chart.drawn
    steps = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)H", drawn)]
    ticks = {float(said): float(y) for _, y, look, said in TEXT.findall(drawn) if said.isdigit()}
    heights = ticks[0] - np.array(steps)
    tops = np.sort(deviations)[::-1]
    assert heights / heights[0] == pytest.approx(tops / tops[0], abs=2e-3)
    level = float(re.search(r'class="level" d="M[\d.]+ ([\d.]+)', drawn)[1])
    assert (ticks[0] - level) / heights[0] == pytest.approx(6 / 9, abs=2e-3)
    assert len(ticks) > 3
    for tick, y in ticks.items():
        assert (ticks[0] - y) / heights[0] == pytest.approx(tick / 9, abs=2e-3)
    assert charts.curve(deviations[:7], 6.0) == ()  # a few are read in the table
    assert charts.curve(np.zeros(9), 0.0) == ()
    (long,) = charts.curve(np.ones(5000), 1.0)
    assert len(re.findall(r"L[\d.]+ [\d.]+H", long.drawn[0])) <= 400


@pytest.mark.parametrize("deviations", [1.0, 40.0])
def test_a_mean_whose_count_may_be_zero_is_not_available(deviations):
    """As of groups: no number outside of the range stands beside the interval of all of it."""
    asked = ln.Mean(["a", "b"], ln.Box([0, 5], [1, 5]))
    made = ln.plan(asked, budget=ln.zcdp(1), relation="add_remove").release(
        pd.DataFrame({"a": [0.5], "b": [5]})
    )
    one = replace(made, integers=(2**44,) * len(made.integers))
    wanted = deviations * made.standard_deviation[-1] / one.estimate[-1]
    own = replace(made, integers=(int(2**44 * wanted),) * len(made.integers))
    assert own.estimate[-1] == pytest.approx(deviations * made.standard_deviation[-1])
    page = report.render_text(report.sections(own))
    (of_a,) = [row for row in page.split("\n") if re.match(r" a +\S", row)]
    assert ("not available (0" in of_a) == (deviations < 2)
    assert ("mean may be anything in its" in " ".join(page.split())) == (deviations < 2)
    assert page.count("not available") == (deviations < 2)  # b is 5 in every record


# --- marginals


def squares(own):
    """Return the texts of the squares, the names of the rows, and of each shade its squares."""
    (chart,) = heatmap(own.terms, "cell")
    texts = TEXT.findall(chart.drawn[0])
    shown = [float(said) for *_, look, said in texts if look.startswith("number")]
    shades = re.findall(r'class="square" fill-opacity="([\d.]+)" d="([^"]*)"', chart.drawn[0])
    rows = [(float(x), float(y), said) for x, y, look, said in texts if look == "end"]
    return chart, shown, shades, rows


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_the_map_says_the_deviation_of_every_pair(relation):
    own = tables({"a": 3, "b": 2, "c": 4, "d": 4}, relation, way=3)
    chart, shown, shades, rows = squares(own)
    places = [(i, j) for i in range(4) for j in range(i + 1)]
    deviations = [own.standard_deviation(*{"abcd"[i], "abcd"[j]}) for i, j in places]
    assert shown == pytest.approx(deviations, rel=6e-3)
    assert [name for *_, name in rows] == list("abcd")
    assert "was not asked for" not in chart.caption
    # the darker, the larger: each square is in the shade whose range holds its number
    counts = dict.fromkeys((opacity for opacity, _ in chart.legend), 0)
    counts |= {opacity: path.count("M") for opacity, path in shades}
    ends = [[float(e) for e in said.split(" – ")] for _, said in chart.legend]
    for count, (low, high) in zip(counts.values(), ends, strict=True):
        assert count <= sum(low * 0.99 <= d <= high * 1.01 for d in deviations)
    assert sum(counts.values()) == len(places)
    assert ends[0][0] == pytest.approx(min(deviations), rel=6e-3)
    assert ends[-1][1] == pytest.approx(max(deviations), rel=6e-3)
    assert list(map(float, counts)) == sorted(map(float, counts))


@pytest.mark.parametrize("name", ["income>50K", "education-num", "年齢階級", "m" * 30])
def test_names_of_the_map_have_room(name):
    (chart,) = heatmap(tables({name: 2, "b": 2}, "add_remove", way=2).terms, "cell")
    ((x, _, _, said), *_) = [own for own in TEXT.findall(chart.drawn[0]) if own[2] == "end"]
    wide = sum(13.0 if ord(c) > 0x2E80 else 7.5 for c in unescape(said))  # of a wide font
    assert float(x) >= wide


def test_a_pair_that_was_not_asked_for_has_no_square():
    own = plan("sets")
    chart, shown, *_ = squares(own)
    assert "A pair without a square was not asked for." in chart.caption
    deviations = [own.standard_deviation("a", "b"), own.standard_deviation("c")]
    assert shown == pytest.approx(deviations, rel=6e-3)


def test_labels_of_a_hundred_attributes_do_not_overlap():
    chart, _, _, rows = squares(plan("many attributes"))
    assert "The first 100 attributes are shown; 3 more are not." in chart.caption
    assert len(rows) == MOST_ATTRIBUTES
    assert np.min(np.diff([y for _, y, _ in rows])) >= 12.5  # letters are 11 pixels high
    assert all(6.2 * len(name) <= edge for edge, _, name in rows)


def test_every_marginal_is_counted_and_the_largest_noise_comes_first():
    own = tables(ADULT, way=3)
    found = view_of(own).kinds
    labels = [found.label(k) for k in range(found.counts.size)]
    alike = [1 if "only" in like else 1 + read(like.split()[0]) for _, like, _ in labels]
    cells = [read(said) for *_, said in labels]
    assert sum(alike) == 470
    assert found.counts.tolist() == np.multiply(alike, cells).tolist()
    assert found.counts.sum() == own.terms.question.cells
    assert np.all(np.diff(found.largest) <= 0)
    for (name, *_), typical in list(zip(labels, found.typical, strict=True))[:50]:
        expected = own.standard_deviation(*(n for n in name.split(" × ") if n[0] != "("))
        assert typical == pytest.approx(expected, rel=1e-12)
    said = page(own)
    assert said.index("(number of rows)") < said.index("sex × income")
    # ResidualPlanner's root mean square a cell at this cost, to every digit that it prints
    over = view_of(tables(ADULT, way=3, outside="drop")).kinds.totals()
    assert over[0].typical == pytest.approx(10.66500805, abs=1e-8)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_other_noise_is_as_computed_cell_by_cell(relation):
    sizes = {"a": 3, "b": 2, "c": 4}
    own = tables(sizes, relation, way=2, outside=dict.fromkeys(sizes, 0))
    over = dict(zip(("plan", "isotropic", "histogram"), view_of(own).kinds.totals(), strict=True))
    sets = [s for k in range(3) for s in itertools.combinations(sizes, k)]
    # a record, or a change of one, moves one or two cells of each marginal whose total may move
    moves = 1 if relation == "add_remove" else 2
    noisy = [s for s in sets if s or relation == "add_remove"]
    noises = {"plan": [], "isotropic": [], "histogram": []}
    for names in sets:
        cells = math.prod(sizes[n] for n in names)
        public = names not in noisy
        noises["isotropic"] += [0.0 if public else math.sqrt(moves * len(noisy))] * cells
        noises["histogram"] += [0.0 if public else math.sqrt(moves * 24 / cells)] * cells
        noises["plan"] += [own.standard_deviation(*names)] * cells
    for kind, cells in noises.items():
        assert over[kind].typical == pytest.approx(np.sqrt(np.mean(np.square(cells))), rel=1e-9)
        assert over[kind].largest == pytest.approx(max(cells), rel=1e-9)
    ratio = sum(np.square(noises["isotropic"])) / sum(np.square(noises["plan"]))
    assert over["plan"].ratio(over["isotropic"]) == pytest.approx(ratio, rel=1e-9)
    assert f"{ratio:.3f} times smaller than with i.i.d. Gaussian noise" in page(own)


def test_noise_that_is_more_than_usual_noise_is_said_to_be_more():
    """Order ∞ spends on the worst weighted cell, and may pay for it in the total."""
    own, isotropic, _ = view_of(plan("sets")).kinds.totals()
    ratio = 1 / own.ratio(isotropic)
    assert ratio > 1.01
    found = words(page(plan("sets")))
    assert f"is {ratio:.4g} times that of i.i.d. Gaussian noise on every cell" in found
    assert "smaller than with i.i.d. Gaussian" not in found


def test_any_marginal_of_a_release_is_shown_with_its_intervals():
    own = release("pairs")
    default = words(page(own))
    assert "Counts: age" in default
    assert "(other)" in default
    found = report.sections(own, marginal=("town", "age"))
    assert "Counts: town × age" in words(report.render_html(found))
    rows = part(found, "answers").rows
    low, high = own.interval("town", "age")
    exact = np.stack([own.marginal("town", "age"), low, high], axis=-1).reshape(-1, 3)
    assert np.array_equal([[r[2].value, r[2].low, r[2].high] for r in rows], exact)
    assert np.min(exact) < 0  # unbiased, so some are negative, and shown as they are
    assert [row[:2] for row in rows[:2]] == [("0", "young"), ("0", "old")]
    assert "The number of rows" in page(own, marginal=())


def test_a_large_marginal_is_cut_and_said_so():
    own = released(tables({"a": 40, "b": 40}, way=2))
    found = report.sections(own, marginal=("a", "b"))
    assert "681 more rows of this table" in report.render_html(found)  # 41·41 − 1000
    assert "1,651 more rows of this table" in report.render_text(found)  # 41·41 − 30
    assert "681 more rows of this table" in report.render_text(found, rows=1000)
    assert len(csv_of(own, ("a", "b")).splitlines()) == 41 * 41 + 1


def test_counts_along_an_order_are_not_called_cells():
    found = page(plan("ordered"))
    assert "Standard deviation of a count" in found
    assert "of a cell" not in found
    assert "every cell" not in found


# --- streams


def test_a_stream_says_on_which_streams_its_bound_holds():
    """Under add_remove on the stream of zeros alone: another may be known better."""
    for name in ("stream", "stream of columns"):
        own = plan(name)
        said = words(page(own))
        assert f"{spelling.at_least(own.lower_bound)} on the stream of zeros (" in said
        assert "any dataset" not in said
        assert f"{own.terms.mechanism.strategy}: {own.terms.mechanism.reason}." in said


def test_a_stream_of_many_columns_says_how_many_there_are():
    assert "x7, x8, … (10)" in words(page(plan("stream of columns")))
    assert "…" not in words(page(plan("stream")))


def test_a_table_of_two_columns_is_no_wider_than_it_must():
    """Else a number stands a page's width away from its name."""
    assert '<table class="short">' in page(plan("stream"))
    assert '<table class="short">' not in page(plan("stream of columns"))


# --- files


def csv_of(own, names=None):
    file = io.StringIO()
    report.write_csv(own, file, marginal=names)
    return file.getvalue()


def test_csv_reads_back_exactly_and_keeps_columns_apart(tmp_path):
    own = released(tables({"count": ["a,b", 'c"d', "é\n"], "low": 2}, way=2))
    report.write_csv(own, tmp_path / "x.csv", marginal=("count", "low"))
    found = pd.read_csv(tmp_path / "x.csv", dtype={"low": str})
    assert list(found) == ["count", "low", "count_", "low_", "high", "standard_deviation"]
    assert found["count"].tolist()[::3] == ["a,b", 'c"d', "é\n", "(other)"]
    assert found["count_"].tolist() == own.marginal("count", "low").reshape(-1).tolist()
    same = report.to_pandas(own, marginal=("count", "low"))
    assert found.equals(same)


def test_csv_of_answers_in_a_row(tmp_path):
    for name in ("sums", "prefix", "pure laplace"):
        found = pd.read_csv(io.StringIO(csv_of(release(name))))[-release(name).estimate.size :]
        assert found["estimate"].tolist() == release(name).estimate.tolist()
        assert found[["low", "high"]].to_numpy().tolist() == release(name).interval().tolist()
    with pytest.raises(PlanError, match="has no answers yet"):
        report.write_csv(plan("sums"), tmp_path / "x.csv")


RUN = [
    "=cmd|'/c calc'!A1",
    "+x",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    " =1",
    "\ufeff=1",
    "\u00a0+x",
    "\u200b@x",
    "\x01-x",
    '"=1',
]
KEPT = ["-1", "+2.5e3", "-.5", "a=b", "", " 7", "1", "a;=1", "a\t=1"]


def test_no_cell_of_a_csv_is_a_formula():
    labels = [*RUN, *KEPT, "'", "'=cmd|'/c calc'!A1"]
    own = released(tables({"=HYPERLINK(1)": labels, "b": 2}, way=2))
    text = csv_of(own, ("=HYPERLINK(1)", "b"))
    assert '"a;=1"' in text  # in quotes, a semicolon begins no cell
    assert text.startswith('"')
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0][0] == "'=HYPERLINK(1)"
    written = [row[0] for row in rows[1::3]]
    assert written == [*(f"'{x}" for x in RUN), *KEPT, "''", "''=cmd|'/c calc'!A1", "(other)"]
    assert [label_of(cell) for cell in written] == [*labels, "(other)"]
    for row in rows[1:]:
        assert all(float(number) == float(number) for number in row[2:])
        assert all(not cell.startswith("'") for cell in row[1:])  # numbers stay numbers


# --- pure noise


def test_mechanisms_are_compared_and_the_one_that_was_taken_is_named():
    for name in ("pure randomized_response", "pure k_norm", "pure laplace_histogram"):
        own = plan(name)
        said = words(page(own))
        rows = part(report.sections(own), "compared").rows
        assert [row[0] for row in rows] == [a.mechanism for a in own.comparison]
        assert [row[-1] for row in rows] == [a.note for a in own.comparison]
        for row, alternative in zip(rows, own.comparison, strict=True):
            assert (row[1] == "not available") == (alternative.error is None)
        assert "All of them are within the budget" in said
        assert "0.7-DP, pure. Every" in said
    chosen = words(page(plan("pure randomized_response")))
    assert "randomized_response was selected, so no other mechanism was computed" in chosen
    best = pure("queries").terms
    assert f"has a smaller error than {best.name}" in words(page(best))


def test_the_bound_and_the_distance_to_it_are_those_of_the_plan():
    for name in ("pure k_norm", "pure laplace_histogram"):
        own = plan(name)
        said = words(page(own))
        assert own.lower_bound > 0
        ratio = own.error / own.lower_bound
        shown = read(re.search(r"Error over lower bound\s*([\d.,]+)×", said)[1])
        assert ratio <= shown * (1 + 1e-9)
        assert shown <= ratio * 1.01
        bound = float(re.search(r"has an error below ([\d.]+) on", said)[1])
        assert bound <= own.lower_bound <= bound * 1.001
    said = words(page(own := plan("pure, delta")))
    assert len({bound.over for bound in own.terms.bounds}) == 3
    for bound in own.terms.bounds:  # each with whom it binds and where
        assert f"No {bound.denied[0]} has an error below" in said
        assert f"on {bound.denied[1]} (" in said


def test_print_says_the_first_bound_alone():
    """What other bounds there are, pages and `lownoise plan` say."""
    own = plan("pure, delta")
    first, *others = (bound.denied[0] for bound in own.terms.bounds)
    assert len(others) > 1
    whole = report.render_text(report.sections(own))
    for found, shown in ((str(own), 1), (own._repr_html_(), 1), (whole, 1 + len(others))):
        said = " ".join(words(found).split())
        assert said.count("has an error below") == shown
        assert f"No {first} has an error below" in said


def test_the_bound_says_of_whom_and_where_and_what_none_has():
    """A constant answer is exact on one table, and so is a mechanism that knows one (002, 53)."""
    pure_bound = plan("pure k_norm").terms.bounds[0]
    assert "for every mechanism" in str(pure_bound)
    assert "biased or not, on some table" in str(pure_bound)
    assert "has an error below" in words(page(plan("pure k_norm")))
    assert "on every table (Hardt & Talwar" in words(page(plan("pure k_norm")))
    box = ln.Mean(["a"], ln.Box([0], [1]))
    own = ln.plan(
        box, budget=ln.approx_dp(1, 1e-6), relation="substitute", size=100, mechanism="gaussian"
    )
    assert "on any dataset or a neighbour of it" in " ".join(map(str, own.bounds))
    assert "on any dataset and on all neighbours of it" in words(page(own))
