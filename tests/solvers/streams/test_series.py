# SPDX-License-Identifier: Apache-2.0
"""Series: identities, and coefficients in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from lownoise.solvers.streams import divide, inverse, multiply, square_root

SIZES = [1, 2, 3, 7, 64, 65, 100, 1000, 4096]


def series(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([[1.5], rng.uniform(-1, 1, n - 1) * 0.7 ** np.arange(1, n)])


@pytest.mark.parametrize("n", SIZES)
def test_products_are_sums_of_products(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    assert multiply(a, b) == pytest.approx(np.convolve(a, b)[:n], abs=1e-14 * n)


@pytest.mark.parametrize("n", SIZES)
def test_an_inverse_times_the_series_is_one(n):
    a = series(n)
    one = np.convolve(a, inverse(a))[:n]
    assert one == pytest.approx(np.eye(1, n)[0], abs=1e-14)
    assert divide(a, a) == pytest.approx(np.eye(1, n)[0], abs=1e-14)


@pytest.mark.parametrize("n", SIZES)
def test_a_root_times_itself_is_the_series(n):
    a = series(n, 1)
    root = square_root(a)
    assert root[0] > 0
    assert np.convolve(root, root)[:n] == pytest.approx(a, abs=1e-14)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_roots_of_geometric_series_are_right_to_the_last_digits(ratio):
    root = square_root(3.0 * ratio ** np.arange(60))
    exact = Fraction(1)
    for k in range(60):
        exact *= (1 - Fraction(1, 2 * k)) * Fraction(ratio) if k else 1
        assert root[k] / 3**0.5 == pytest.approx(float(exact), rel=1e-14)


def test_newton_agrees_with_the_recurrence():
    """A prefix workload that is not seen to be geometric: its last coefficient is another."""
    workload = np.ones(5000)
    workload[-1] = 2.0
    root = square_root(workload)
    assert root[:-1] == pytest.approx(square_root(np.ones(4999)), rel=1e-11)
    assert root[-1] == pytest.approx(square_root(np.ones(5000))[-1] + 0.5, rel=1e-12)
