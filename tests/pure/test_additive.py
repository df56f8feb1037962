# SPDX-License-Identifier: Apache-2.0
"""A plan with radial noise carries a proof of what no additive noise errs less than.

Mutants, each seen red: the radius doubled, the divisor or the weights left out, the proof not
decided.
"""

import json
import math
from dataclasses import replace

import pytest

import lownoise as ln
from lownoise.errors import FileError
from lownoise.release import codec
from lownoise.release.additive import additive_bound, limits, short

BUDGET = ln.approx_dp(1.0, 1e-6)
ADDED = "every mechanism that adds noise and is (1, 1e-06)-DP"


def planned(domain, relation="substitute", size=50, **more):
    names = [f"c{i}" for i in range(domain.dimension)]
    more = {"budget": BUDGET, "mechanism": "radial", **more}
    return ln.plan(ln.Mean(names, domain), relation=relation, size=size, **more)


TIGHT = {
    "an interval": (ln.Box([-2], [7]), {}),
    "an interval, greatest error": (ln.Box([0], [1]), {"order": math.inf}),
    "an interval, weighted": (ln.Box([0], [1]), {"weights": [30.0]}),
    "a ball": (ln.Ball(16, radius=3), {}),
    "few columns": (ln.Ball(4), {}),
    "a body of changes": (ln.Box([0] * 8, [9] * 8), {"relation": ln.Ball(8, radius=0.5)}),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", TIGHT)
def test_the_least_for_a_ball_is_within_one_percent(name):
    domain, asked = TIGHT[name]
    plan = planned(domain, **asked)
    first = plan.bounds[0]
    assert first.binds == ADDED
    assert 1 <= plan.error / first.value < 1.005
    again = ln.Plan.from_json(plan.to_json())
    assert [str(b) for b in again.bounds] == [str(b) for b in plan.bounds]
    assert plan.verify()


@pytest.mark.parametrize(
    "domain", [ln.Ball(4), ln.Box([0], [1]), ln.Box([0] * 4, [1, 2, 2, 2])], ids=str
)
def test_no_noise_that_is_added_errs_less(domain):
    plan = planned(domain, mechanism=None)
    bound = additive_bound(planned(domain).terms)
    for own in plan.comparison:
        assert own.error is None or own.error >= bound.value
    assert ADDED in str(bound)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("domain", "asked"),
    [
        (ln.Box([0] * 4, [1, 3, 3, 3]), {"weights": [1, 1, 1, 0.1]}),
        (ln.Ball(3), {"order": 4.0}),
        (ln.Ball(3, order=1), {}),
        (ln.Ball(2), {"relation": "add_remove", "size": None}),
        (ln.Box([0, 0], [1, 1]), {"relation": ln.Ball(2, radius=5)}),
        (ln.Points([[0, 0], [1, 0], [0, 1]]), {}),
    ],
    ids=str,
)
def test_elsewhere_a_bound_is_below_the_error_or_none(domain, asked):
    plan = planned(domain, **asked)
    found = additive_bound(plan.terms)
    assert found is None or 0 < found.value < plan.error
    assert plan.lower_bound <= plan.error


@pytest.mark.grid(1)
@pytest.mark.parametrize(("d", "delta"), [(2, 1e-6), (3, 1e-9), (16, 1e-6)])
def test_a_proof_about_many_steps_is_carried(d, delta):
    """Of 500 and more steps, in which few nodes are needed where hardly any mass is."""
    plan = planned(ln.Ball(d), budget=ln.approx_dp(0.1, delta))
    assert plan.bounds[0].value > 0.999 * plan.error
    assert plan.verify()


def test_a_proof_of_too_many_nodes_is_not_carried():
    proof = planned(ln.Ball(4)).terms.additive
    radii = tuple(k / 10 for k in range(2000))
    assert short(proof) is proof
    assert short(replace(proof, radii=radii, cosines=(-1.0,) * 2000)) is None


def test_the_budget_is_read_outward():
    for epsilon, delta in ((0.1, 1e-6), (0.3, 1e-9), (1.0, 0.5)):
        found = limits(ln.approx_dp(epsilon, delta))
        assert found[0] >= epsilon
        assert found[1] >= delta
        assert found == pytest.approx((epsilon, delta), rel=1e-15)


@pytest.mark.parametrize("domain", [ln.Ball(4), ln.Box([0], [1])], ids=str)
def test_what_the_file_says_is_decided_anew(domain):
    plan = planned(domain)
    proof = plan.terms.additive
    raised = replace(plan.terms, additive=replace(proof, level=proof.level * 1.02))
    assert additive_bound(raised) is None
    document = json.loads(plan.to_json())
    evidence = document["terms"]["evidence"]
    evidence["additive"]["level"] *= 1.02
    document["digest"] = codec.digest(document)
    assert not ln.verify(json.dumps(document))
    for wrong in ({}, [], {"dimension": 4}, 7, {**evidence["additive"], "dimension": "x"}):
        evidence["additive"] = wrong
        with pytest.raises(FileError, match=r"evidence.additive is no proof"):
            ln.Plan.from_json(json.dumps(document))
