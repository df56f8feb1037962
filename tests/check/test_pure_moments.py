# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides moments under a pure budget, with noise of an ellipsoid."""

import json
from functools import cache

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import changed
from check.test_pure_streams import times
from lownoise_check import FALSE, HOLDS, OPEN

DOMAINS = {
    "one": ln.Box([1.0], [4.0]),
    "box": ln.Box([0.0, -1.0], [1.0, 3.0]),
    "boxes": ln.Box([-1.0] * 3, [1.0, 2.0, 3.0]),
    "many": ln.Box([0.0] * 7, [1.0] * 7),
    "ball": ln.Ball(3, radius=2.0, center=[1.0, 0.0, 5.0]),
}
PLANS = [
    ("one", "add_remove", 0.3, 2.0),
    ("one", "substitute", 2.0, np.inf),
    ("box", "add_remove", 0.3, np.inf),
    ("box", "substitute", 0.3, 2.0),
    ("boxes", "add_remove", 2.0, 2.0),
    ("boxes", "substitute", 2.0, 2.0),
    ("many", "add_remove", 1.0, 2.0),
    ("many", "substitute", 1.0, 2.0),
    ("ball", "add_remove", 1.0, np.inf),
    ("ball", "substitute", 1.0, 2.0),
]


@cache
def planned(domain, relation, epsilon, order, mechanism="ellipsoid"):
    """Return the text of a plan of moments."""
    own = DOMAINS[domain]
    question = ln.Moments([f"x{i}" for i in range(own.dimension)], own)
    asked = {"relation": relation, "size": 50 if relation == "substitute" else None}
    asked |= {"order": order, "weights": "range", "mechanism": mechanism}
    return ln.plan(question, budget=ln.pure_dp(epsilon), **asked).to_json()


@pytest.mark.parametrize("asked", PLANS, ids=str)
def test_pure_moments_hold_and_a_thousandth_less_does_not(asked):
    text = planned(*asked)
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    assert ln.verify(text)
    less, more = times(0.999), times(1.001)
    noise = ("terms", "noise")
    for path, change in (
        ((*noise, "scale"), less),
        ((*noise, "scale"), more),  # errors are larger than is stated
        ((*noise, "factor"), less),
        (("derived", "cost", "epsilon"), less),
        (("derived", "cost_of_noise", "rho"), less),
        (("derived", "cost_of_noise", "mu"), less),
        (("derived", "standard_deviation"), less),
        (("derived", "objective"), less),
        (("terms", "question"), wider),
    ):
        assert checker.decide(changed(text, path, change))[0] == FALSE, path
    above = changed(text, ("derived", "lower_bound"), times(1.5))
    assert checker.decide(above)[0] != HOLDS


def wider(question):
    """Return the question of a domain that is a thousandth wider."""
    own = json.loads(json.dumps(question))
    if "ball_moments" in own:
        own["ball_moments"]["radius"] *= 1.001
        return own
    box = own["moments"]
    for i, (low, high) in enumerate(zip(box["lower"], box["upper"], strict=True)):
        far = (high - low) / 2048
        box["lower"][i], box["upper"][i] = low - far, high + far
    return own


def test_rounding_of_records_is_charged_for():
    """On a grid of few steps a change may be longer by it, and the noise is too narrow."""
    text = planned("box", "substitute", 0.3, 2.0)
    document = json.loads(text)
    noise = document["terms"]["noise"]
    noise["step"] = times(2.0**20)(noise["step"])
    noise["factor"] = times(2.0**-20)(noise["factor"])
    status, lines = checker.decide(json.dumps(document))
    assert status == FALSE
    assert any(own.startswith("FALSE  no change") for own in lines), lines


def test_other_noise_of_moments_under_a_pure_budget_is_left_open():
    status, lines = checker.decide(planned("box", "add_remove", 0.3, 2.0, "laplace"))
    assert (status, "moments under a pure budget" in lines[-1]) == (OPEN, True)
