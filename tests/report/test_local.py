# SPDX-License-Identifier: Apache-2.0
"""Reports of local plans and of what reports say: complete pages, literal names, numbers."""

import functools
import math
import re
import unicodedata

import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.report import spelling
from lownoise.report.lines import intervals
from lownoise.report.parts import Chart, Figures, Table
from report.members import RUDE, words
from report.test_contract import check_page

BOX = ln.Box([0, -1], [100, 1])
QUESTIONS = {
    "means": lambda: ln.local(ln.Mean(["age", "x"], BOX), ln.local_dp(2.0), weights="range"),
    "ball": lambda: ln.local(ln.Ball(30), ln.local_dp(0.5), name="<b>may"),
    "one": lambda: ln.local(ln.Mean(["a"], ln.Box([0], [1])), ln.local_dp(1)),
    "order": lambda: ln.local(BOX, ln.local_dp(1), order=math.inf),
    "delta": lambda: ln.local(ln.Ball(3), ln.local_dp(1, 1e-6), mechanism="gaussian"),
    "labels": lambda: ln.local(
        ln.Marginals({"city": ["A", "B", "C"]}, way=1, outside="extra"), ln.local_dp(1)
    ),
    "rude": lambda: ln.local(ln.Mean(RUDE, ln.Box([0] * 5, [1] * 5)), ln.local_dp(1)),
}


@functools.cache
def plan(name):
    return QUESTIONS[name]()


@functools.cache
def estimate(name, count=300):
    own = plan(name)
    rng = np.random.default_rng(0)
    low, high = own.encoder.ends
    if name == "labels":
        records = [{"city": c} for c in rng.choice(["A", "B", "C"], count)]
    else:
        records = rng.uniform(low, high, (count, low.size))
    encoded = own.encoder.encode(records)
    randomness = SimulationRandomness(1)
    values = own.randomizer.reports(encoded, randomness=randomness)
    form = own.form
    return own.aggregate([form.fresh(each, randomness=randomness) for each in values])


each = pytest.mark.parametrize("name", QUESTIONS)


@pytest.mark.grid(3)
@each
@pytest.mark.parametrize("subject", [plan, estimate])
def test_a_page_is_whole_and_fetches_nothing(name, subject):
    found = report.sections(subject(name))
    text = report.render_html(found)
    assert text == report.render_html(report.sections(subject(name)))
    assert len(text) < 300_000
    check_page(text)
    check_page(report.render_html(found, whole=False))
    assert len({section.name for section in found}) == len(found)


@pytest.mark.grid(3)
@each
@pytest.mark.parametrize("subject", [plan, estimate])
@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_shows_it_within_its_width(name, subject, width):
    text = report.render_text(report.sections(subject(name)), width=width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    for line in text.splitlines():
        assert sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) <= width
    labels = ["error", "randomizer", "lower bound", "guarantee"]
    for label in labels if subject is plan else ["not counted", "made up"]:
        assert re.search(rf"^{label} ", text, re.MULTILINE)


@pytest.mark.grid(3)
@each
def test_the_numbers_are_the_plans(name):
    own, found = plan(name), words(report.render_html(report.sections(plan(name))))
    assert f"at most {spelling.at_most(own.error, 3)} from one report" in found
    assert f"at most {spelling.at_most(own.error / 100, 3)} from 10,000" in found
    for other in own.comparison:
        if other.error is not None:
            assert spelling.significant(other.error, 4) in found
    loss = own.terms.loss
    assert f"{own.report_bytes:,} bytes" in found
    assert own.form.plan in found
    assert own.digest.startswith(own.form.plan)
    if own.budget.delta:
        assert "Nothing is proved" in found
        assert f"{spelling.at_most(loss.mu)}-GDP" in found
    else:
        assert spelling.at_least(own.lower_bound) in found
        assert spelling.brief_at_most(loss.epsilon, 6) in found
        assert f"at most {spelling.at_most(own.error / own.lower_bound, 3)}×" in found


def test_a_page_says_what_a_trusted_curator_would_make_and_an_object_does_not():
    own = plan("ball")
    found = words(report.render_html(report.sections(own)))
    equal = own.central_equivalent(10_000)
    assert f"by {spelling.significant(equal.central_error)} at the same budget" in found
    assert f"with {equal.people_for_equal_error:,} " in found
    assert f"epsilon {spelling.at_most(equal.shuffled_epsilon, 3)} together" in found
    assert spelling.at_least(equal.shuffled_local_epsilon, 3) in found
    assert "curator" not in str(own)
    small = ln.LocalPlan.from_json(own.to_json())
    assert "Nothing is known" in words(report.render_html(report.sections(small)))
    delta = words(report.render_html(report.sections(plan("delta"))))
    assert "trusted with the records" in delta
    assert "random order" not in delta


@pytest.mark.parametrize("epsilon", [1e-6, 700.0, 1000.0])
def test_the_ends_of_epsilon_have_a_page(epsilon):
    own = ln.local(ln.Box([0], [1]), ln.local_dp(epsilon))
    assert f"e^{spelling.brief_at_most(epsilon)}" in words(report.render_html(report.sections(own)))


def test_an_error_that_is_weighted_or_of_another_order_says_so():
    assert "together, weighted" in words(report.render_html(report.sections(plan("means"))))
    other = words(report.render_html(report.sections(plan("order"))))
    assert "Standard deviations of all answers together in the order-∞ norm" in other
    # on average the greatest of two errors is above the greatest of their deviations
    assert "mean squared" not in other
    assert "weighted" not in words(report.render_html(report.sections(plan("ball"))))


def test_a_devices_file_says_that_it_has_no_proof():
    small = ln.LocalPlan.from_json(plan("ball").to_json())
    found = words(report.render_html(report.sections(small)))
    assert "has no proof" in found
    assert "no bound" in found


def part(found, kind):
    return next(p for section in found for p in section.parts if isinstance(p, kind))


@each
def test_an_estimate_shows_answers_intervals_and_influence(name):
    own = estimate(name)
    table = part(report.sections(own, level=0.8), Table)
    ends = own.interval(0.8)
    for k, row in enumerate(table.rows):
        assert row[0] == spelling.shown(own.names[k])
        assert (row[1].value, row[1].low, row[1].high) == (own.estimate[k], *ends[k])
        assert row[2] == spelling.significant(float(own.standard_deviation[k]))
        assert row[3] == spelling.significant(float(own.influence[k]))
    assert table.columns[1].level == 0.8
    with pytest.raises(PlanError, match="level"):
        report.sections(own, level=1.5)


def test_what_was_left_out_is_counted():
    own = plan("ball")
    one, two = own.randomize_all(np.zeros((2, 30)))
    tally = own.tally(malformed="drop", duplicates="drop", foreign="drop")
    other = plan("one").randomize([0.5])
    tally.add([one, two, one, "no report", "none", other])
    found = report.sections(tally.result())
    table = next(s for s in found if s.name == "left").parts[1]
    assert [row[1] for row in table.rows] == ["2", "1", "1"]
    said = words(report.render_html(found))
    assert "2 reports of people’s own devices" in said
    assert ("Left out", "4") in part(found, Figures).rows
    untouched = words(report.render_html(report.sections(estimate("one"))))
    assert "All reports that were given count as they came." in untouched


def test_how_many_made_up_reports_move_an_answer_by_a_deviation():
    own = estimate("ball")
    said = words(report.render_html(report.sections(own)))
    few = int(re.search(r"([\d,]+) reports? made up in agreement", said)[1].replace(",", ""))
    assert np.all(few * own.influence >= own.standard_deviation.min())
    assert np.all((few - 1) * own.influence < own.standard_deviation)


@pytest.mark.parametrize("shared", [True, False])
def test_every_interval_is_drawn_within_the_picture(shared):
    values = np.array([0.5, -3.0, 40.0])
    found = values[:, None] + np.array([[-0.1, 0.2], [-2, 2], [-5, 70]])
    high = np.ones(3) if shared else np.array([1.0, 2.0, 100.0])
    chart = intervals(RUDE[:3], values, found, (np.zeros(3), high))
    assert isinstance(chart, Chart)
    for drawn in chart.drawn:
        width = float(re.search(r'width="(\d+)"', drawn)[1])
        places = [
            tuple(map(float, own))
            for own in re.findall(r'class="own" d="M([\d.-]+) [\d.-]+L([\d.-]+)', drawn)
        ]
        dots = list(map(float, re.findall(r'class="square" cx="([\d.-]+)"', drawn)))
        assert len(places) == len(dots) == 3
        for (left, right), dot in zip(places, dots, strict=True):
            assert 0 <= left < dot < right <= width
        assert "<script>" not in drawn
    assert ("on one axis" in chart.caption) == shared


@pytest.mark.parametrize(("near", "zero"), [(0.9, True), (200.0, False)])
def test_an_axis_begins_at_zero_only_where_that_is_near(near, zero):
    """Where most of it would be empty, differences between groups could not be seen."""
    values = near + np.array([0.0, 0.5, 1.0])
    found = values[:, None] + np.array([-0.1, 0.1])
    wide = intervals(["a", "b", "c"], values, found, (np.zeros(3), np.full(3, 1e3))).drawn[0]
    dots = list(map(float, re.findall(r'class="square" cx="([\d.-]+)"', wide)))
    ticks = re.findall(r'<text x="([\d.]+)" y="[\d.]+" class="middle">([\d.,]+)</text>', wide)
    assert ("0" in [said for _, said in ticks]) == zero
    assert dots[2] - dots[0] > 250
    (x1, low), (x2, high) = (ticks[0], ticks[-1])
    scale = (float(x2) - float(x1)) / (float(high) - float(low))
    assert dots == pytest.approx([float(x1) + scale * (v - float(low)) for v in values], abs=0.2)


def test_an_answer_that_all_records_have_alike_is_no_axis_of_its_own():
    """As the share of everybody among marginals, which is 1."""
    values = np.array([1.0, 0.4, -0.02])
    found = values[:, None] + np.array([[0, 0], [-0.1, 0.1], [-0.1, 0.1]])
    chart = intervals(["everybody", "a", "b"], values, found, (np.array([1.0, 0, 0]), np.ones(3)))
    assert "on one axis" in chart.caption
    wide = chart.drawn[0]
    first, second = re.findall(r'class="own" d="M([\d.-]+) [\d.-]+L([\d.-]+)', wide)[1:]
    assert float(first[0]) - float(second[0]) == pytest.approx(
        (float(first[1]) - float(first[0])) * 0.42 / 0.2, rel=0.01
    )


def test_of_many_answers_the_first_are_drawn():
    values = np.linspace(0, 1, 100)
    found = np.stack([values - 0.1, values + 0.1], axis=1)
    names = [f"x{k}" for k in range(100)]
    chart = intervals(names, values, found, (np.zeros(100), np.ones(100)))
    assert "The first 40 of 100" in chart.caption
    assert chart.drawn[0].count('class="square"') == 40


def test_objects_show_themselves_briefly():
    for name in QUESTIONS:
        for own in (plan(name), estimate(name)):
            assert "\n" not in repr(own)
            assert len(repr(own)) < 200
            assert len(str(own).splitlines()) < 60
            check_page(own._repr_html_())
    assert repr(plan("means")).startswith("<LocalPlan: 2 answers from reports")
    assert "lower bound" in str(plan("means"))
