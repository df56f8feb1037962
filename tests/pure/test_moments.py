# SPDX-License-Identifier: Apache-2.0
"""Pure noise of moments: ellipsoids of the least noise, and sums of sizes that are bounded.

Mutants, each seen red: the part of squares about their center left out of a sum of sizes; products
counted half; √d left out where a sum is bounded by a length; an ellipsoid of deviations where noise
has a block.
"""

import math

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.sets.bodies import BallMomentSet, LiftedOracle, MomentSet, OracleDifferences
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

SEED = 20_261_128


def names(d):
    return [f"c{i}" for i in range(d)]


def planned(domain, relation, budget=None, **asked):
    """Return a plan of moments."""
    rest = {"size": 1} if relation == "substitute" else {}
    budget = ln.pure_dp(1) if budget is None else budget
    question = ln.Moments(names(domain.dimension), domain)
    return ln.plan(question, budget=budget, relation=relation, **rest, **asked)


@pytest.mark.grid(1)
@pytest.mark.parametrize("domain", [ln.Ball(3), ln.Ball(8), ln.Box([0, 0], [1, 3])])
def test_the_ellipsoid_is_that_of_the_least_gaussian_noise_and_is_released(domain):
    plan = planned(domain, "substitute", weights="range")
    gauss = planned(domain, "substitute", ln.gaussian_dp(1), weights="range")
    more = plan.standard_deviation / gauss.standard_deviation
    assert plan.terms.name == "ellipsoid"
    assert more == pytest.approx(math.sqrt(more.size + 1), rel=0.02)
    rows = np.full((1, domain.dimension), 0.25)
    release = plan.release(pd.DataFrame(rows, columns=names(domain.dimension)))
    assert ln.verify(release.to_json())


def drawn(random, count, d):
    """Return codes of records: inside, at ends of axes, even, and at the center."""
    z = random.normal(size=(count, d))
    z[::5] = np.sign(z[::5])
    z[1::5] = np.round(z[1::5] / np.max(np.abs(z[1::5]), axis=1, keepdims=True))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    z[2::5] *= random.uniform(size=(len(z[2::5]), 1))
    z[-1] = 0.0
    return z


def units_of(random, own, about):
    """Return units in which each kind of moment matters most, all alike, and at random."""
    n = own.dimension + about
    kinds = [np.arange(own.width), own.products, own.squares]
    found = [np.ones(n), *(np.exp(random.normal(size=n)) for _ in range(3))]
    for kind in kinds:
        unit = np.full(n, 30.0)
        unit[kind] = 1.0
        found.append(unit)
    return found


@pytest.mark.parametrize("d", [2, 5, 12])
def test_sums_of_sizes_are_bounded_and_nearly_reached(d):
    random = np.random.default_rng([SEED, d])
    own = BallMomentSet(np.zeros(d), 2.0, np.zeros(d))
    every = np.arange(own.dimension)
    body = LiftedOracle(own, every, np.full(own.dimension, 0.5), own.center)
    points = body.vertices(drawn(random, 4000, d))
    for unit in units_of(random, own, 1):
        upper, sizes = body.sums_in_up(unit)
        known = np.sum(np.abs(points) / unit, axis=1)
        most = max(float(np.max(known)), float(np.sum(sizes / unit)))
        assert np.max(known) <= upper <= most * (1 + 1e-9)
        assert upper <= np.max(known) * 1.45
        norm = ImageNorm(unit, NormBall(unit.size, 1.0))
        assert np.max(known) <= norm.sensitivity_up(body) <= upper


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.0, 2.0, 4.0, math.inf])
@pytest.mark.parametrize("kind", ["ball", "box"])
def test_no_change_is_beyond_the_norm_of_independent_noise(kind, order):
    d = 8
    random = np.random.default_rng([SEED, d, int(min(order, 9))])
    half = np.ones(d)
    own = BallMomentSet(0 * half, 1.0, 0 * half) if kind == "ball" else MomentSet(-half, half)
    every, one = np.arange(own.dimension), np.ones(own.dimension)
    codes = drawn(random, 4000, d)
    if kind == "box":
        codes /= np.max(np.abs(codes), axis=1, keepdims=True) + 1e-300
    pairs = np.stack([codes, codes[random.permutation(len(codes))]], axis=1)
    pairs[: len(pairs) // 2, 1] = -pairs[: len(pairs) // 2, 0] * random.uniform(size=(2000, 1))
    for body, points in (
        (OracleDifferences(own, every, one), pairs),
        (LiftedOracle(own, every, one, own.center), codes),
    ):
        changes = body.vertices(points)
        for unit in units_of(random, own, changes.shape[1] - own.dimension):
            norm = ImageNorm(unit, NormBall(unit.size, order))
            most = np.max(np.linalg.norm(changes / unit, order, axis=1))
            assert most <= norm.sensitivity_up(body)
            assert norm.sensitivity_up(body) < math.sqrt(unit.size) * 2.5 * most
    off = LiftedOracle(own, every, one, own.center + 0.25)
    assert not off.firm  # flips of signs do not leave it as it is


def test_laplace_noise_of_many_columns_of_a_ball_is_less_than_an_ellipsoid():
    plan = planned(ln.Ball(40), "add_remove")
    around = planned(ln.Ball(40), "add_remove", mechanism="ellipsoid")
    assert plan.terms.name == "laplace"
    assert plan.error < 0.97 * around.error


def test_a_box_of_many_columns_has_an_ellipsoid_too():
    """A box's Laplace noise cannot have less: a corner moves every moment by all its width."""
    for d in (7, 60):  # of so many moments no matrix is formed
        box = ln.Box([-1] * d, [1] * d)
        made = [planned(box, "add_remove", mechanism=m) for m in ("ellipsoid", "laplace")]
        assert made[0].error < 0.9 * made[1].error


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_a_refusal_of_k_norm_noise_names_no_class(relation):
    with pytest.raises(PlanError) as refused:
        planned(ln.Box([0, 0, 0], [1, 1, 1]), relation, mechanism="k_norm")
    assert "all that one neighbour can change" in str(refused.value)
    assert "another mechanism" in str(refused.value)
    assert "Oracle" not in str(refused.value)
