# SPDX-License-Identifier: Apache-2.0
"""A step is the minimum that it says it is, for every regularizer, in and on the ball."""

import numpy as np
import pytest

from learning.members import REGULARIZERS
from lownoise.learning.steps import ElasticNet, Leader

RNG = np.random.default_rng(3)
STARTS = {"0": np.zeros(3), "elsewhere": np.array([0.3, -0.4, 0.1])}


def objective(leader, total, rounds, models):
    apart = ((models - leader.start) ** 2).sum(axis=-1)
    own = leader.regularizer
    r = own.lasso * np.abs(models).sum(axis=-1) + own.ridge / 2 * (models**2).sum(axis=-1)
    return leader.strength / 2 * apart + models @ total + rounds * r


@pytest.mark.parametrize("size", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", REGULARIZERS)
def test_no_model_of_the_ball_is_lower(name, start, size):
    leader = Leader(1.5, 0.8, STARTS[start], REGULARIZERS[name] or ElasticNet())
    for rounds in (1, 7, 90):
        total = RNG.normal(size=3) * size
        own = leader.next(total, rounds)
        assert np.linalg.norm(own) <= 0.8 * (1 + 1e-12)
        near = own + RNG.normal(size=(400, 3)) * 10.0 ** RNG.uniform(-6, 0, size=(400, 1))
        near /= np.maximum(np.linalg.norm(near, axis=1) / 0.8, 1.0)[:, None]
        floor = objective(leader, total, rounds, own)
        assert np.all(objective(leader, total, rounds, near) >= floor - 1e-9 * (1 + abs(floor)))


def test_a_lasso_keeps_small_sums_at_zero():
    leader = Leader(1.0, 1.0, np.zeros(2), ElasticNet(lasso=0.5))
    assert leader.next(np.array([0.9, -3.0]), 2).tolist() == [0.0, 1.0]
