# SPDX-License-Identifier: Apache-2.0
"""Reports of linear queries and parities: whole pages, and numbers computed a second way."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.linear.execution import execute
from lownoise.report.curve import curve
from lownoise.report.linear_noise import largest_first, name, totals
from lownoise.report.spread import variance_ratio
from report.test_page import RUDE, Reader

RNG = np.random.default_rng(1)
PREFIX = np.tril(np.ones((10, 10)))


def planned(question, relation="add_remove", order=2.0):
    size = 40 if relation == "substitute" else None
    return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size, order=order)


def made(plan):
    question = plan.terms.question
    attributes = getattr(question, "attributes", None) or question.universe.attributes
    columns = {
        a.name: RNG.choice(a.categories if a.labels is None else list(a.labels), 40)
        for a in attributes
    }
    return execute(plan.terms, pd.DataFrame(columns), None, randomness=SimulationRandomness(1))


def bits(count, degree, **more):
    return ln.Parity([f"b{i}" for i in range(count)], degree, **more)


SUBJECTS = {
    "prefix": lambda: planned(ln.Queries(PREFIX, {"age": 10})),
    "public size": lambda: planned(
        ln.Queries(np.eye(3), {"age": 3}, outside={"age": 0}), "substitute"
    ),
    "no noise": lambda: planned(
        ln.Queries(np.ones((2, 3)), {"age": 3}, outside={"age": 0}), "substitute"
    ),
    "one": lambda: planned(ln.Queries([[1, 0, -2.5]], {"age": 3})),
    "listed": lambda: planned(
        ln.Queries(np.eye(2), [[0, "x"], [1, "y"]], columns=["age", "sex"], outside=[0, "x"]),
        "substitute",
        math.inf,
    ),
    "rude": lambda: planned(
        ln.Queries(np.eye(8), {name: [*RUDE[:1], "x"] for name in RUDE[:3]}, outside="drop")
    ),
    "parity": lambda: planned(bits(6, [0, 1, 3], weights=[1, 4, 2])),
    "rude bits": lambda: planned(ln.Parity(RUDE, 1)),
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
    assert "://" not in text
    assert len(text) < 600_000
    words = "".join(page.words)
    assert "nan" not in re.findall(r"[a-z]+", words)
    assert "What this rests on" in words
    assert (name == "no noise") == ("nothing to compare" in words)
    assert "\x1b" not in words


def test_a_full_table_beyond_the_floats_is_infinitely_noisy():
    words = "".join(Reader(report.html(planned(bits(2100, 1)).terms)).words)
    assert "∞" in words
    assert "nan" not in re.findall(r"[a-z]+", words)


def test_user_text_is_shown_literally():
    for kind in ("rude", "rude bits"):
        words = "".join(Reader(report.html(made(SUBJECTS[kind]()))).words)
        assert words.count(RUDE[0]) >= 2


def test_a_page_depends_on_its_subject_alone():
    release = made(SUBJECTS["prefix"]())
    assert report.html(release) == report.html(release)


def test_the_largest_noise_comes_first_and_every_answer_is_counted():
    plan = SUBJECTS["prefix"]()
    found, hidden = largest_first(plan.terms, 4)
    deviations = plan.standard_deviation
    order = np.argsort(-deviations)
    assert [own.name for own in found] == [f"query {i}" for i in order[:4]]
    assert [own.own for own in found] == deviations[order[:4]].tolist()
    assert hidden == 6
    assert found[0].about == f"{order[0] + 1} of 10 records"
    plan = SUBJECTS["parity"]()
    found, hidden = largest_first(plan.terms, 9)
    assert sorted(own.count for own in found) == [1, 6, 20]
    assert hidden == 0
    assert [own.own for own in found] == sorted((own.own for own in found), reverse=True)
    by_name = {own.name: own.own for own in found}
    assert by_name["b0 ⊕ b1 ⊕ b2"] == plan.standard_deviation[7]
    assert by_name["(number of rows)"] == plan.standard_deviation[0]


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("kind", ["queries", "parity"])
def test_other_noise_is_as_computed_record_by_record(kind, relation):
    """From the matrix of all records: what one neighbour moves, and sums of noisy counts."""
    if kind == "queries":
        W = RNG.integers(-2, 3, (5, 8)).astype(float)
        W[3] = 1.0  # public where the number of rows is
        question = ln.Queries(W, {"x": 8}, outside={"x": 0})
    else:
        question = bits(3, [0, 1, 2], outside=0)
        records = 1 - 2 * np.array(list(itertools.product([0, 1], repeat=3)))
        sets = [s for k in range(3) for s in itertools.combinations(range(3), k)]
        W = np.array([records[:, list(s)].prod(axis=1) for s in sets], float)
    plan = planned(question, relation)
    over = totals(plan.terms)
    columns = W.T
    if relation == "substitute":
        pairs = [a - b for a, b in itertools.combinations(columns, 2)]
        iid = max(np.linalg.norm(pair) for pair in pairs)
        full = math.sqrt(2) * np.linalg.norm(W - W.mean(axis=1, keepdims=True), axis=1)
        noisy = np.ptp(W, axis=1) > 0
    else:
        iid = max(np.linalg.norm(column) for column in columns)
        full, noisy = np.linalg.norm(W, axis=1), np.any(W != 0, axis=1)
    assert plan.terms.isotropic == pytest.approx(iid, rel=1e-9)
    assert plan.terms.histogram == pytest.approx(full, rel=1e-9, abs=1e-12)
    others = {"isotropic": np.where(noisy, iid, 0.0), "histogram": full}
    own = np.sum(np.square(plan.standard_deviation))
    for noise, deviations in others.items():
        assert over[noise].largest == pytest.approx(np.max(deviations), rel=1e-9)
        ratio = np.sum(np.square(deviations)) / own
        assert variance_ratio(over, noise) == pytest.approx(ratio, rel=1e-9)
        assert ratio > 1 - 1e-5 or noise != "isotropic"  # the plan is the least Gaussian noise


def test_parities_are_named_in_the_order_of_the_answers():
    question = bits(7, [0, 2, 5])
    expected = [" ⊕ ".join(question.names(s)) or "(number of rows)" for s in question.sets()]
    assert [name(question, place) for place in range(question.count)] == expected


def values(text, rows):
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    pattern = r'class="value">([^<]*)</td><td>([^<]*)</td><td>([^<]*)<'
    found = [
        [float(x.replace("−", "-").replace(",", "")) for x in v] for v in re.findall(pattern, table)
    ]
    assert len(found) == rows
    return np.array(found)


def test_any_answers_of_a_release_are_shown_with_their_intervals():
    release = made(SUBJECTS["prefix"]())
    every = np.column_stack([release.estimate, release.interval()])
    assert np.max(np.abs(values(report.html(release), 10) - every)) <= 0.051
    chosen = report.html(release, answers=[7, 2])
    assert np.max(np.abs(values(chosen, 2) - every[[7, 2]])) <= 0.051
    assert "8 more answers are in the release" in chosen
    for wrong in ([10], [-1], [True], [1.5]):
        with pytest.raises(QuestionError, match="no place of an answer"):
            report.html(release, answers=wrong)
    for arguments in ({"marginal": ("age",)},):
        with pytest.raises(PlanError, match="is for a release of marginals"):
            report.html(release, **arguments)
    with pytest.raises(PlanError, match="is for a release of linear queries"):
        report.html(release.terms, answers=[1])
    tables = ln.plan(ln.Marginals({"a": 2}, way=1), budget=ln.zcdp(1), relation="add_remove")
    with pytest.raises(PlanError, match="is for a release of linear queries"):
        report.html(tables.terms, answers=[1])


def test_the_curve_is_the_deviations_from_the_largest_down():
    deviations = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5])
    drawn = curve(deviations, 6.0)
    steps = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)H", drawn["path"])]
    floor = float(drawn["floor"])
    tops = np.sort(deviations)[::-1]
    heights = floor - np.array(steps)
    assert heights / heights[0] == pytest.approx(tops / tops[0], abs=2e-3)
    assert (floor - float(drawn["level"])) / heights[0] == pytest.approx(6 / 9, abs=2e-3)
    for y, text in drawn["ticks"]:
        assert (floor - float(y)) / heights[0] == pytest.approx(float(text) / 9, abs=2e-3)
    assert curve(deviations[:7], 6.0) is None  # a few are read in the table
    assert curve(np.zeros(9), 0.0) is None
    assert len(re.findall("L", curve(np.ones(5000), 1.0)["path"])) <= 400


def printed(what):
    console = Console(width=120, file=None, record=True)
    with console.capture() as seen:
        console.print(what)
    return seen.get()


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_terminal_shows_the_plan_and_the_release(name):
    plan = SUBJECTS[name]()
    for text in (printed(report.plan_table(plan.terms)), printed(report.release_table(made(plan)))):
        assert "certificate" in text
        assert " nan" not in text


def test_noise_that_is_the_same_is_said_to_be_the_same():
    plan = planned(ln.Queries(np.eye(4), {"x": 4}))
    words = "".join(Reader(report.html(plan.terms)).words)
    assert "is the same as with i.i.d. Gaussian noise on every answer" in words
