# SPDX-License-Identifier: Apache-2.0
"""The dense shape: every method tells of the same L, and the whitening's defect is true."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape

SEED = st.integers(0, 2**32 - 1)


def some_factor(seed, *, square=False, triangular=False, scale=0):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    k = d if square else int(rng.integers(1, d + 1))
    L = rng.normal(size=(d, k)) + 2 * np.eye(d, k)
    return (np.tril(L) if triangular else L) * 10.0 ** rng.uniform(-scale, scale, (d, 1))


@settings(max_examples=30)
@given(SEED)
def test_every_method_tells_of_the_same_factor(seed):
    rng = np.random.default_rng(seed)
    L = some_factor(seed)
    d, k = L.shape
    shape = DenseShape(L)
    z = rng.normal(size=k)
    M = L @ L.T
    assert (shape.dimension, shape.sources, shape.longest_row) == (d, k, k)
    assert shape.apply(z) == pytest.approx(L @ z)
    assert shape.apply_abs(np.abs(z)) == pytest.approx(np.abs(L) @ np.abs(z))
    assert shape.dense() == pytest.approx(M)
    assert shape.diagonal() == pytest.approx(np.diag(M))
    assert shape.solve(L @ z) == pytest.approx(z, rel=1e-6, abs=1e-9)
    assert shape.quadratic_form(L @ z) == pytest.approx(z @ z, rel=1e-6)
    rows = np.zeros_like(L)
    for i in range(d):
        columns, entries = shape.row(i)
        rows[i, columns] = entries
    assert np.array_equal(rows, L)
    by = rng.normal(size=d)
    assert shape.scaled(by).dense() == pytest.approx(np.diag(by) @ M @ np.diag(by))
    assert shape.scaled(3.0).dense() == pytest.approx(9 * M)
    assert shape.mapped(np.eye(d)).dense() == pytest.approx(M)


@settings(max_examples=20)
@given(SEED, st.booleans(), st.sampled_from([0, 4, 12]))
def test_the_defect_is_at_least_the_true_one(seed, triangular, scale):
    """‖I − XL‖₂ to 80 digits, and a vector is no shorter under L⁻¹ than X says."""
    L = some_factor(seed, square=True, triangular=triangular, scale=scale)
    white = DenseShape(L).whitening
    with mpmath.workdps(80):
        X, exact = mpmath.matrix(white.matrix.tolist()), mpmath.matrix(L.tolist())
        off = mpmath.eye(len(L)) - X * exact
        norm = mpmath.sqrt(max(mpmath.eigsy(off.T * off, eigvals_only=True)))
        assert norm <= white.defect
        s = mpmath.matrix(
            (np.random.default_rng(seed).normal(size=len(L)) * np.abs(L).max(1)).tolist()
        )
        true, said = mpmath.norm(mpmath.lu_solve(exact, s)), mpmath.norm(X * s)
        assert true <= said / (1 - mpmath.mpf(white.defect))
    assert white.defect < 1e-9


@settings(max_examples=20)
@given(SEED)
def test_no_corner_of_a_box_is_farther_than_the_radius(seed):
    L = some_factor(seed, square=True, scale=2)
    half = np.random.default_rng(seed).exponential(size=len(L)) * np.abs(L).max(axis=1)
    corners = half * np.array(np.meshgrid(*[[1, -1]] * len(L))).reshape(len(L), -1).T
    reach = max(np.linalg.norm(np.linalg.solve(L, c)) for c in corners)
    assert DenseShape(L).box_radius_up(half) >= reach * (1 - 1e-12)


def test_outside_its_range_there_is_no_noise():
    shape = DenseShape([[1.0], [2.0]])
    assert shape.solve(np.array([2.0, 4.0])) == pytest.approx([2.0])
    assert shape.solve(np.array([2.0, 5.0])).tolist() == [math.inf]
    assert shape.quadratic_form(np.array([1.0, 0.0])) == math.inf
    nothing = DenseShape(np.zeros((2, 0)))
    assert nothing.apply(np.zeros(0)).tolist() == [0.0, 0.0]
    assert nothing.quadratic_form(np.zeros(2)) == 0.0
    assert nothing.quadratic_form(np.ones(2)) == math.inf
    with pytest.raises(PlanError, match="1 sources for 2 coordinates"):
        _ = shape.whitening


def test_a_singular_factor_whitens_nothing():
    for L in ([[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]):
        shape = DenseShape(L)
        assert not shape.whitening.defect < 1
        assert shape.box_radius_up(np.ones(2)) == math.inf


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        ([[math.nan]], r"\[0, 0\]=nan"),
        ([1.0], r"shape \(1,\)"),
        ("L", "not a table"),
    ],
)
def test_bad_factors_are_refused_in_one_line(factor, said):
    with pytest.raises(PlanError, match=said) as refusal:
        DenseShape(factor)
    assert "DenseShape.factor" in str(refusal.value)
    assert "\n" not in str(refusal.value)
