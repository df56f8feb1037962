# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides boxes, lists, balls and ellipsoids, as `ln.verify` does."""

import json

import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import MEANS, changed, mean
from lownoise_check import FALSE, HOLDS, OPEN


@pytest.mark.grid
@pytest.mark.parametrize("asked", MEANS, ids=str)
def test_what_was_planned_holds(asked):
    status, lines = checker.decide(mean(*asked))
    assert status == HOLDS, lines
    assert ln.verify(mean(*asked))


@pytest.mark.grid
@pytest.mark.parametrize("asked", MEANS, ids=str)
def test_a_part_in_a_million_less_of_anything_does_not(asked):
    """Of the noise, of the budget, of the upper end; and as much more of the lower end."""

    def less(value, by=1 - 1e-6):
        if isinstance(value, list):
            return [less(own, by) for own in value]
        return {k: less(v, by) for k, v in value.items()} if isinstance(value, dict) else value * by

    text = mean(*asked)
    noise = "scale" if "scale" in json.loads(text)["terms"]["noise"] else "factor"
    number = {"zcdp": "rho", "gdp": "mu", "approx": "epsilon"}[asked[2]]
    for path, by in (
        (("terms", "noise", noise), 1 - 1e-6),
        (("terms", "budget", number), 1 - 1e-6),
        (("derived", "certificate", "upper"), 1 - 1e-6),
        (("derived", "certificate", "lower"), 1 + 1e-6),
        (("derived", "cost", "mu"), 1 - 1e-6),
        (("derived", "cost", "delta"), 1 - 1e-6),
    ):
        edited = changed(text, path, lambda value, by=by: less(value, by))
        assert checker.decide(edited)[0] == FALSE, path


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (lambda: ln.Mean(["a", "b"], ln.Ball(2, order=4)), "neither Euclidean nor a cube"),
        (lambda: ln.Mean(list("abcd"), ln.TensorPower(2, 2)), "the domain is none"),
        (lambda: ln.Parity(["a", "b", "c"], 2), "question.kind='parity' is not decided"),
    ],
)
def test_what_is_outside_is_named(question, said):
    plan = ln.plan(question(), budget=ln.zcdp(0.5), relation="add_remove")
    status, lines = checker.decide(plan.to_json())
    assert (status, said in lines[-1]) == (OPEN, True), lines
