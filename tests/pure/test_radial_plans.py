# SPDX-License-Identifier: Apache-2.0
"""Plans of radial noise: least for balls, covered whatever a fit says, refused in one line.

Mutants, each seen red: a fit's word taken for δ, the noise fitted to a change of half the length,
tails taken for those of a log-concave law.
"""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import FileError, PlanError
from lownoise.numbers.packing import packed
from lownoise.privacy.readings import within
from lownoise.solvers import radial_fit
from refusals import one_line, refused_plan, sealed

BUDGET = ln.approx_dp(1.0, 1e-6)


def planned(domain=None, budget=BUDGET, **more):
    domain = ln.Ball(16) if domain is None else domain
    names = [f"c{i}" for i in range(domain.dimension)]
    asked = {"relation": "substitute", "size": 50, "mechanism": "radial", **more}
    return ln.plan(ln.Mean(names, domain), budget=budget, **asked)


def test_of_a_ball_it_has_the_error_of_the_fit_which_no_additive_noise_is_below():
    plan, fit = planned(), radial_fit.least_profile(16, 1.0, 1e-6)
    error = math.sqrt(fit.second_moment) * 2 / 50  # a change has length 2 at most
    assert plan.terms.error == pytest.approx(error, rel=1e-7)
    usual = planned(mechanism="k_norm").terms.error
    assert plan.terms.error == pytest.approx(usual * math.sqrt(0.6775), rel=1e-3)
    assert plan.cost.delta <= 1e-6


@pytest.mark.grid(1)
@pytest.mark.parametrize("uses", [None, 1])
@pytest.mark.parametrize(
    "domain",
    [
        ln.Ball(6),
        ln.Ball(9, radius=0.5, center=np.full(9, 4.0)),
        ln.image(np.diag([9.0, 2.0, 1.0, 5.0]), ln.Ball(4)),
    ],
)
def test_of_balls_wherever_they_are_and_of_ellipsoids_it_is_taken_unasked(domain, uses):
    plan = planned(domain, mechanism=None, uses=uses)
    assert plan.mechanism == "radial"
    assert plan.verify()
    assert plan.terms.charged.as_pair() == pytest.approx((1.0, 1e-6), rel=1e-2)
    assert within(BUDGET, plan.terms.charged)
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()


@pytest.mark.parametrize("domain", [ln.Box([0, 0, 0], [1, 4, 2]), ln.Ball(5, order=1)])
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
def test_around_an_ellipsoid_it_covers_and_its_error_is_at_least_the_draws(domain, order):
    plan = planned(domain, order=order)
    assert plan.terms.within_budget
    assert 0.999e-6 < plan.cost.delta <= 1e-6
    assert plan.terms.mean_error <= plan.terms.error
    wide = plan.terms.proof.half_widths(0.999) / plan.terms.standard_deviation
    assert wide == pytest.approx(np.full(wide.size, wide[0]))
    assert 3 < wide[0] < 6  # a Gaussian's is 3.3, of a log-concave law 7 are known


def test_a_fit_that_covers_less_is_grown_until_it_covers(monkeypatch):
    short = radial_fit.least_profile(16, 1.0, 1e-6)
    short = replace(short, radii=short.radii * 0.995)
    monkeypatch.setattr(radial_fit, "least_profile", lambda *_, **__: short)
    assert planned().cost.delta <= 1e-6
    far = replace(short, radii=short.radii / 3)
    monkeypatch.setattr(radial_fit, "least_profile", lambda *_, **__: far)
    with pytest.raises(PlanError, match="does not cover delta; take another mechanism"):
        planned()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"budget": ln.pure_dp(1.0)}, "needs delta > 0; give ln.approx_dp"),
        ({"domain": ln.Ball(201)}, "at most 200 numbers that records move, and these are 201"),
        ({"budget": ln.approx_dp(50.0, 1e-6)}, "epsilon=50"),
        ({"budget": ln.approx_dp(1.0, 1e-20)}, "delta=1e-20"),
        ({"uses": 3}, "leave out uses"),
    ],
)
def test_what_has_no_radial_noise_is_told_in_one_line_with_a_remedy(more, said):
    with one_line(PlanError) as refusal:
        planned(**more)
    assert said in str(refusal.value)


def test_a_file_of_a_mixture_that_does_not_cover_or_is_none_is_refused():
    document = json.loads(planned().to_json())
    noise = planned().terms.mechanism.noise
    own, radii, weights = document["terms"]["noise"], noise.radii, noise.weights
    many = np.arange(1.0, 1e6)
    forged = [
        {"radii": packed(radii * 0.999)},
        {"weights": packed(weights[::-1].copy())},
        {"scale": own["scale"] * 0.999},
        {"epsilon": 1.5},
        {"radii": packed(radii[::-1].copy())},
        {"weights": packed(-weights)},
        {"weights": packed(weights[:-1].copy())},
        {"radii": packed(many), "weights": packed(np.ones(many.size))},
    ]
    for fields in forged:
        edited = json.loads(json.dumps(document))
        edited["terms"]["noise"].update(fields)
        refused_plan(sealed(edited), error=(FileError, PlanError))
