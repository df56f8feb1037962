# SPDX-License-Identifier: Apache-2.0
"""Closed forms against singular values and sums."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.bounds.unbiased import block_worth_down
from lownoise.solvers.streams import square_root, squared_error


@pytest.mark.grid(3)
@pytest.mark.parametrize("n", [1, 2, 7, 64, 300])
def test_the_closed_form_is_the_trace_norm(n):
    singular = np.linalg.svd(np.tril(np.ones((n, n))), compute_uv=False)
    found = ln.Prefix(n).trace_norm_down
    assert found <= singular.sum() / n * (1 + 1e-12)
    assert found == pytest.approx(singular.sum() / n, rel=1e-9)
    for order in (2.0, math.inf):
        best = ln.theory.factorize(np.tril(np.ones((n, n))), order=order).certificate.upper
        assert found <= best / (math.sqrt(n) if order == 2.0 else 1.0)


def test_long_sums_are_bounded_from_below_and_closely():
    n = 1 << 18
    angle = math.pi / (4 * n + 2)
    exact = math.fsum(0.5 / np.sin((2 * np.arange(1, n + 1) - 1) * angle)) / n
    found = ln.Prefix(n).trace_norm_down
    assert exact * (1 - 1e-4) < found <= exact
    # (2/π)·ln n grows without end
    assert ln.Prefix(1 << 40).trace_norm_down > ln.Prefix(1 << 30).trace_norm_down > found


@pytest.mark.parametrize("workload", [ln.Prefix(40), ln.SlidingWindow(40, 5), ln.Decayed(40, 0.9)])
def test_a_bound_over_few_rounds_holds_over_many(workload):
    few = workload.leading(16)
    part = ln.theory.factorize(few, rtol=1e-9).certificate.lower ** 2
    complete = ln.theory.factorize(workload.matrix(), rtol=1e-9).certificate.upper ** 2 / 40
    assert part * block_worth_down(16, 40) <= complete


def test_the_square_root_stays_a_constant_above_the_bound():
    """003: both grow as ln(n)/π; the root of the square root's mean error is the upper side."""
    gaps = []
    for power in range(4, 21, 4):
        n = 1 << power
        error = squared_error(np.ones(n), square_root(np.ones(n)), "mean") ** 0.5
        gaps.append(error - ln.Prefix(n).trace_norm_down)
        assert 0 < gaps[-1] < 0.21
    assert abs(gaps[-1] - gaps[-2]) < 0.01
