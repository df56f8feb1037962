# SPDX-License-Identifier: Apache-2.0
"""Reports of private learning: complete pages, and nothing of the records but the models."""

import functools

import numpy as np
import pytest

import lownoise as ln
from lownoise import learning, report
from lownoise.learning import Evaluation
from lownoise.privacy import Ledger
from lownoise.report import spelling
from report.test_contract import check_page

ASKED = {"features": 3, "records": 40, "batch": 4, "clip": 1.0, "radius": 2.0}
PLANS = {
    "bound": lambda: planned(learning.Logistic(), feature_radius=1.0),
    "clipped": lambda: planned(learning.LeastSquares(), epochs=2, intercept=True),
    "momentum": lambda: planned(learning.Huber(0.5), momentum=0.5, feature_radius=1.0),
    "no bound": lambda: planned(learning.Loss(value=len, gradient=len, name="<b>free")),
    "many": lambda: planned(learning.Logistic(), features=1001, feature_radius=1.0),
}


def planned(loss, **more):
    return learning.plan(loss, **{"budget": ln.zcdp(0.5), **ASKED, **more})


@functools.cache
def plan(name):
    return PLANS[name]()


def texts(subject, **more):
    return report.render_text(report.sections(subject, **more)).replace("\n", " ")


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_a_whole_page_with_its_promises(name):
    own = plan(name)
    said = check_page(report.render_html(report.sections(own)))
    assert own.request.loss.name in said
    assert all(line in said for line in own.assumptions)
    assert f"{own.memory:,} bytes" in said
    # a page does not show what a terminal has before a sentence
    assert f"make {own.rounds:,} rounds, with noise of" in said
    assert "The noise in a coordinate of a sum of mean gradients is" in said
    assert own.stream.terms.mechanism.reason in said
    if own.regret_bound is None:
        assert "can have gradients beyond" in said
    else:
        assert spelling.at_most(own.regret_bound.value, 3) in said
        assert own.regret_bound.of in said


def test_the_binary_tree_stands_beside_and_a_quick_look_makes_no_plan_of_it():
    own = planned(learning.Logistic(), feature_radius=1.0)
    assert "binary_tree" not in own.__dict__
    assert str(own)
    assert repr(own).startswith("<LearningPlan: A model of 3 numbers from 40 records in 10 rounds")
    assert own._repr_html_()
    assert "binary_tree" not in own.__dict__
    assert "binary tree’s noise" in report.render_html(report.sections(own))


def test_what_was_learned_says_nothing_of_its_records_but_the_models(tmp_path):
    rng = np.random.default_rng(1)
    ledger = Ledger.create(tmp_path / "ledger", "people", ln.zcdp(1.0))
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    own = plan("bound").fit(X, y, ledger=ledger)
    page = report.render_html(report.sections(own))
    check_page(page)
    assert "public records" not in page
    assert "Entry 1 in the account of “people”" in page
    said = report.sections(own, public=Evaluation(0.25, 0.875))
    assert "Accuracy on public records" in report.render_html(said)
    assert "87.5%" in report.render_html(said)
    without = report.render_html(report.sections(own, public=Evaluation(0.25, None)))
    assert "Loss on public records" in without
    assert "Accuracy" not in without
    assert "Nothing was recorded" in texts(plan("bound").fit(X, y))


def test_a_page_is_the_same_but_for_models_whatever_the_records_are():
    rng, own = np.random.default_rng(2), plan("bound")
    pages = []
    for X in (rng.standard_normal((40, 3)), np.full((40, 3), np.nan), np.zeros((40, 3))):
        found = [s for s in report.sections(own.fit(X, np.ones(40))) if s.name != "answers"]
        pages.append(report.render_html(found))
    assert len(set(pages)) == 1


def test_of_a_long_model_the_first_numbers_are_shown():
    own = plan("many").fit(np.ones((40, 1001)), np.ones(40))
    assert "more numbers are in" in " ".join(texts(own).split())
