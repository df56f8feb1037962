# SPDX-License-Identifier: Apache-2.0
"""Reports of pure plans and releases: whole pages, literal user text, the numbers of the terms."""

import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError, QuestionError
from pure.documents import ASKED, BUDGET, SIZE, plan_of, planned, table
from report.test_page import RUDE, Reader

PLANS = {name: plan_of(name) for name in ASKED}
PLANS["flat"] = ln.plan(
    ln.Queries(np.ones((2, 3)), {"age": 3}, outside={"age": 0}),
    budget=BUDGET,
    relation="substitute",
    size=SIZE,
)
PLANS["worst"] = planned("mean", "add_remove", order=float("inf"), weights=[1.0, 3.0])
PLANS["delta"] = planned(budget=ln.approx_dp(0.7, 1e-6), mechanism="k_norm")
RUDE_ONE = ln.plan(
    ln.Mean(RUDE[:4], ln.Box(np.zeros(4), np.ones(4))),
    budget=BUDGET,
    relation="add_remove",
    mechanism="laplace",
)


def released(plan):
    rows = table()
    rows["age"] = np.arange(SIZE) % 3
    return plan.release(rows)


def words(text):
    return "".join(Reader(text).words)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("kind", ["release", "plan"])
def test_a_page_is_whole_and_says_what_was_taken_and_why(name, kind):
    plan = PLANS[name]
    text = report.html(released(plan) if kind == "release" else plan.terms)
    page = Reader(text)
    assert page.open == []
    assert page.fetched == []
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert "://" not in text
    said = words(text)
    assert "nan" not in re.findall(r"[a-z]+", said)
    assert "What this rests on" in said
    for own in plan.comparison:
        assert own.mechanism in said
        assert own.note in said
        unavailable = re.search(rf"\s{own.mechanism}not available", said) is not None
        assert unavailable == (own.error is None)
    assert "Every one of them keeps the budget" in said
    assert all(line in said for line in plan.terms.assumptions)
    assert ("Nothing was recorded" in said) == (kind == "release")
    assert ("0-DP, pure. What" if name == "flat" else "0.7-DP, pure. What") in said


def test_the_bound_and_the_distance_to_it_are_those_of_the_plan():
    for name in ("k_norm", "laplace_histogram"):
        plan = PLANS[name]
        said = words(report.html(plan.terms))
        assert plan.lower_bound > 0
        ratio = plan.error / plan.lower_bound
        shown = float(re.search(r"Error over lower bound\s*([\d.,]+)×", said)[1].replace(",", ""))
        assert ratio <= shown * (1 + 1e-9)
        assert shown <= ratio * 1.01
        bound = float(re.search(r"has an error below ([\d.]+) on", said)[1])
        assert bound <= plan.lower_bound <= bound * 1.001
    said = words(report.html(PLANS["delta"].terms))
    assert "Nothing is proved of mechanisms that may leave a chance delta out" in said
    assert "no bound" in said


def test_the_mechanism_that_was_asked_for_is_told_from_the_best():
    assert "randomized_response was asked for; k_norm has" in words(
        report.html(PLANS["randomized_response"].terms)
    )
    best = planned("queries").terms
    assert f"has a smaller error than {best.name}" in words(report.html(best))


def test_estimates_intervals_and_means_are_those_of_the_release():
    answer = released(PLANS["k_norm"])
    text = report.html(answer)
    pattern = r'class="value">([^<]*)</td><td>([^<]*)</td><td>([^<]*)<'
    rows = [
        [float(x.replace("−", "-").replace(",", "")) for x in row]
        for row in re.findall(pattern, text)
    ]
    every = np.column_stack([answer.estimate, answer.interval()])
    means = np.column_stack([answer.mean, answer.mean_interval()])
    half = np.ptp(np.array(rows)[:, 1:], axis=1)[:, None]
    assert np.all(np.abs(np.array(rows) - np.concatenate([every, means])) <= 0.051 * half)


def test_any_answers_of_linear_queries_are_shown():
    answer = released(PLANS["laplace_histogram"])
    chosen = words(report.html(answer, answers=[2, 0]))
    assert "query 2" in chosen
    assert "query 1" not in chosen
    assert "2 more answers are in the release" in chosen
    for wrong in ([4], [-1], [True], [0.5]):
        with pytest.raises(QuestionError, match="no place of an answer"):
            report.html(answer, answers=wrong)
    with pytest.raises(PlanError, match="is for a release of linear queries"):
        report.html(released(PLANS["k_norm"]), answers=[0])
    with pytest.raises(PlanError, match="is for a release of linear queries"):
        report.html(answer.terms, answers=[0])
    with pytest.raises(PlanError, match="is for a release of marginals"):
        report.html(answer, marginal=["x"])


def test_the_largest_noise_of_many_queries_comes_first_and_the_rest_is_counted():
    asked = ln.Queries(np.diag(np.arange(1.0, 61)), {"x": 60})
    plan = ln.plan(asked, budget=BUDGET, relation="add_remove", mechanism="laplace")
    order = np.argsort(-plan.standard_deviation, kind="stable")
    text = report.html(plan.terms)
    assert re.findall(r"<bdi>(query \d+)</bdi></th>", text) == [f"query {i}" for i in order[:40]]
    assert "20 more answers" in words(text)
    printed = shown(report.plan_table(plan.terms))
    assert "30 more answers have no more noise" in printed
    rows = pd.DataFrame({"x": np.arange(60)})
    assert "30 more answers; the release file" in shown(report.release_table(plan.release(rows)))


def test_user_text_is_shown_literally():
    frame = pd.DataFrame(np.full((5, 4), 0.25), columns=RUDE[:4])
    for text in (report.html(RUDE_ONE.terms), report.html(RUDE_ONE.release(frame))):
        assert "<script" not in text
        assert words(text).count(RUDE[0]) >= 2
        assert "\x1b" not in text


def shown(what):
    console = Console(width=120, file=None, record=True)
    with console.capture() as seen:
        console.print(what)
    return seen.get()


@pytest.mark.parametrize("name", PLANS)
def test_a_terminal_shows_the_plan_and_the_release(name):
    plan = PLANS[name]
    for text in (shown(report.plan_table(plan.terms)), shown(report.release_table(released(plan)))):
        for word in ("mechanism", "guarantee", "error", "lower bound", plan.mechanism):
            assert word in text
        assert " nan" not in text
    table_of_plan = shown(report.plan_table(plan.terms))
    assert all(own.mechanism in table_of_plan for own in plan.comparison)
