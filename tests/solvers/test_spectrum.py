# SPDX-License-Identifier: Apache-2.0
"""Principal axes against 80 digits: each length to its own accuracy, however graded."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.solvers.fidelity import _jacobi, principal_axes

SEED = st.integers(0, 2**32 - 1)


def graded(seed, spread, *, rows=9):
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 7))
    columns = 10.0 ** rng.uniform(-spread, spread, r)
    return rng.normal(size=(rows, r)) * columns * 10.0 ** rng.uniform(-spread / 3, 0, (rows, 1))


def exact_lengths(rows):
    with mpmath.workdps(120):
        B = mpmath.matrix(rows.tolist())
        values = mpmath.eigsy(B.T * B, eigvals_only=True)
        return np.array([float(mpmath.sqrt(v)) for v in sorted(values)])


@settings(max_examples=20)
@given(SEED, st.sampled_from([0, 3, 12, 40]))
def test_each_length_is_right_to_its_own_digits(seed, spread):
    rows = graded(seed, spread)
    known = exact_lengths(rows)
    for lengths, axes in (principal_axes(rows), _jacobi(rows)):
        assert lengths == pytest.approx(known, rel=1e-7)
        assert np.all(np.diff(lengths) >= 0)
        assert axes.T @ axes == pytest.approx(np.eye(len(axes)), abs=1e-12)
    assert _jacobi(rows)[0] == pytest.approx(known, rel=1e-11)


@settings(max_examples=20)
@given(SEED, st.sampled_from([0, 3, 12]))
def test_along_its_axes_the_second_moment_is_diagonal(seed, spread):
    rows = graded(seed, spread)
    lengths, axes = principal_axes(rows)
    image = rows @ axes / lengths
    assert image.T @ image == pytest.approx(np.eye(len(axes)), abs=1e-6)


def test_many_columns_go_through_lapack():
    """Beyond 300 columns short axes are right to 1e-16 of the longest, and never 0."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 301)) * np.geomspace(1, 1e-14, 301)
    lengths, axes = principal_axes(rows)
    assert lengths == pytest.approx(np.linalg.svd(rows, compute_uv=False)[::-1], abs=1e-13)
    assert lengths[0] > 0
    assert axes.T @ axes == pytest.approx(np.eye(301), abs=1e-12)
    plain = rng.normal(size=(400, 301))
    known = np.linalg.svd(plain, compute_uv=False)[::-1]
    assert principal_axes(plain)[0] == pytest.approx(known, rel=1e-8)
