# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from lownoise import Ball, Box, Points
from lownoise.bounds import geometric_down, pure_mean_bound
from lownoise.bounds.means import extent_bound

EPSILONS = (0.01, 0.3, 1.0, 4.0)
RNG = np.random.default_rng(2029)


@pytest.mark.grid
@pytest.mark.parametrize("d", [1, 2, 12])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_below_the_k_norm_mechanism_of_boxes_and_balls(d, epsilon):
    for size in (None, 50, 10**6):
        share = 1 if size is None else 2 / size  # differences are twice as long
        box = pure_mean_bound(
            Box(-np.ones(d), np.ones(d)), size=size, center=np.zeros(d), epsilon=epsilon
        )
        assert 0 <= box <= share * math.sqrt((d + 1) * (d + 2) * d / 3) / epsilon
        ball = pure_mean_bound(Ball(d), size=size, center=np.zeros(d), epsilon=epsilon)
        assert 0 <= ball <= share * math.sqrt(d * (d + 1)) / epsilon
        if size is not None:  # the middle of K errs by its radius at most
            assert ball <= 1
            assert box <= math.sqrt(d)


def test_one_number_has_no_better_noise_than_laplace():
    for epsilon in (0.01, 0.1):
        added = pure_mean_bound(Box([0], [1]), size=None, center=np.zeros(1), epsilon=epsilon)
        assert added == pytest.approx(math.sqrt(2) / epsilon, rel=epsilon**2)
        mean = pure_mean_bound(Box([0], [1]), size=10**5, center=np.zeros(1), epsilon=epsilon)
        assert 0.9 * math.sqrt(2) / epsilon < mean * 10**5 < math.sqrt(2) / epsilon


def test_far_from_zero_the_width_counts():
    far = Box([2.0**50], [2.0**50 + 1])
    asked = {"size": None, "center": np.array([2.0**50]), "epsilon": 0.1}
    assert 0.9 < pure_mean_bound(far, **asked) / geometric_down(0.1) <= 1


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_counts_have_no_better_noise_than_geometric(epsilon):
    """One-hot records: geometric noise on each count, which one record moves by 1, or two by 1."""
    d = 5
    noise = math.sqrt(d) * geometric_down(epsilon)
    one_hot = Points(np.vstack([np.eye(d), np.zeros(d)]))
    found = pure_mean_bound(one_hot, size=None, center=np.zeros(d), epsilon=epsilon)
    assert 0.99 * noise <= found <= noise * (1 + 1e-9)
    for size in (6, 1000, 10**6):
        mean = pure_mean_bound(one_hot, size=size, center=np.zeros(d), epsilon=epsilon)
        assert mean <= math.sqrt(d) * geometric_down(epsilon / 2) / size
        assert mean <= 1  # as far as any mean is from the middle
    assert mean > 0.95 * math.sqrt(d) * geometric_down(epsilon) / size


def test_orders_and_weights():
    box, weights = Box([-1, -1, -1], [1, 1, 1]), np.array([1.0, 10.0, 0.0])
    asked = {"size": None, "center": np.zeros(3), "epsilon": 0.1}
    largest = pure_mean_bound(box, **asked, order=math.inf, weights=weights)
    assert largest == pytest.approx(10 * geometric_down(0.1), rel=1e-9)
    both = pure_mean_bound(box, **asked, weights=weights)
    assert both == pytest.approx(math.sqrt(101) * geometric_down(0.1), rel=1e-9)


def test_many_numbers_are_bound_by_volume():
    box = Box(-np.ones(64), np.ones(64))
    found = pure_mean_bound(box, size=None, center=np.zeros(64), epsilon=0.01)
    assert found > 1.1 * math.sqrt(64) * geometric_down(0.01)
    assert pure_mean_bound("no domain", size=None, center=np.zeros(2), epsilon=1.0) == 0.0


@pytest.mark.parametrize("size", [None, 7, 40])
@pytest.mark.parametrize("order", [1.0, 2.0, math.inf])
def test_columns_that_are_constant_cost_the_bound_nothing(size, order):
    widths = np.array([1.0, 1.0, 0.9])  # alike: all directions prove more than one does
    for epsilon in EPSILONS:
        asked = {"size": size, "epsilon": epsilon, "order": order}
        own = extent_bound(Box(-widths, widths), center=np.zeros(3), **asked)
        wide = np.append(widths, np.zeros(4))
        box = Box(-wide, wide)
        assert own > 0
        assert extent_bound(box, center=np.zeros(7), **asked) == own
