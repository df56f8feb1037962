# SPDX-License-Identifier: Apache-2.0
"""Norms of sections: their radii, their reach, and that the walk is of the unit ball."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.bodies import ImageBody, RoundedBody, Section, SectionBody
from lownoise.sets.norms import WalkNorm, norm_of
from lownoise.sets.unit_balls import CappedBall, NormBall, product_ball

RNG = np.random.default_rng(20260110)
SLABS = np.vstack([np.eye(3), [[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]]) * 2.0**-20
CYLINDERS = product_ball([NormBall(3, math.inf), NormBall(2, 2.0)])


def test_differences_of_a_section_reach_1():
    body = SectionBody(Section(SLABS, np.zeros(5), NormBall(5, math.inf)), "differences")
    gauge = norm_of(body)
    assert isinstance(gauge, WalkNorm)
    assert gauge.sensitivity_up(body) == 1
    assert gauge.uniform.relative <= 1e-9
    assert gauge.uniform.distance == 0
    assert gauge.scaled(4.0).sensitivity_up(body) == pytest.approx(0.25, rel=1e-6)
    s = RNG.normal(size=(50, 3)) * 2.0**20
    z = s @ SLABS.T / 2
    sizes = np.max(np.abs(z), axis=1)
    found = gauge.norm_up(s)
    assert np.all((sizes <= found) & (found <= sizes * (1 + 1e-9)))
    # radii that are proved: in the round coordinates s = F·u the ball is in and around
    walk = gauge.uniform.body
    u = RNG.normal(size=(4000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    norms = gauge.norm_up(u @ walk.matrix.T)
    assert np.max(norms) * walk.inner <= 1 + 1e-9
    assert np.min(norms) * walk.outer >= 1 - 1e-9
    assert np.max(norms) * walk.inner >= 0.7
    inside = gauge.uniform.simulate(200, SimulationRandomness(1))
    assert 0.8 < np.max(gauge.norm_up(inside)) <= 1 + 1e-9


def test_capped_balls_and_rounding():
    """Supports and energies are what they are of the ball and of the caps."""
    body = ImageBody(np.array([[2.0, 1.0], [0.0, 3.0]]) * 2.0**20, CappedBall(np.array([0.6, 1.0])))
    rounded = RoundedBody(body, np.array([1.0, 0.5]))
    gauge = norm_of(rounded)
    assert isinstance(gauge, WalkNorm)
    assert 1 - 1e-5 <= gauge.sensitivity_up(rounded) <= 1 + 1e-9
    x = RNG.normal(size=(3000, 2))
    x /= body.base.norm_up(x)[:, None]
    greatest = float(np.max(gauge.norm_up(x @ body.dense.T)))
    assert 1 - 1e-4 <= greatest <= 1


def test_refusals():
    with pytest.raises(PlanError, match="has no walk"):
        WalkNorm(np.eye(2), CappedBall(np.ones(2)))
    with pytest.raises(PlanError, match="a coordinate a row"):
        WalkNorm(np.eye(2), NormBall(3, 1.0))
    with pytest.raises(PlanError, match="cylinders"):
        norm_of(SectionBody(Section(SLABS, np.zeros(5), CYLINDERS), "differences"))
    with pytest.raises(PlanError, match="flat"):
        WalkNorm(np.ones((3, 2)), NormBall(3, math.inf))
