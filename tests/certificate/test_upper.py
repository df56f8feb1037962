# SPDX-License-Identifier: Apache-2.0
"""The upper bound is above what the ellipsoid costs and covers, in exact fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape

SEED = st.integers(0, 2**32 - 1)


def exact_square(points, center, factor, queries):
    """(max ‖L⁻¹(x − v)‖)²·tr(QLLᵀQᵀ) by forward substitution in fractions; L lower triangular."""
    L = [[Fraction(float(v)) for v in row] for row in factor]
    Q = [[Fraction(float(v)) for v in row] for row in queries]
    d, most = len(L), Fraction(0)
    for x in points:
        z = []
        for i in range(d):
            s = Fraction(float(x[i])) - Fraction(float(center[i]))
            z.append((s - sum(L[i][j] * z[j] for j in range(i))) / L[i][i])
        most = max(most, sum(v * v for v in z))
    cost = sum(sum(q[i] * L[i][j] for i in range(d)) ** 2 for q in Q for j in range(d))
    return most * cost


@settings(max_examples=20)
@given(SEED, st.booleans(), st.sampled_from([0.0, 1e3, 1e9]))
def test_it_is_just_above_the_exact_value(seed, asked, far):
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-9, 9, 3)
    points = (rng.normal(size=(7, 3)) + far) * units
    queries = rng.normal(size=(4, 3)) / units if asked else None
    claim = ln.theory.enclose(ln.Points(points), workload=queries).certificate.claim
    upper = Fraction(claim.upper())
    Q = np.eye(3) if queries is None else queries
    exact = exact_square(points, claim.center, claim.shape.factor, Q)
    assert upper**2 >= exact
    assert float(upper**2 / exact) - 1 < 1e-9 * (1 + far)


@settings(max_examples=20)
@given(SEED, st.one_of(st.floats(2, 30), st.just(math.inf)), st.floats(-3, 0))
def test_another_ellipsoid_cannot_go_below_the_optimum(seed, order, size):
    """Whatever the shape and the center, it is scaled until it covers."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3))
    proof = ln.theory.enclose(ln.Points(points), order=order).certificate
    claim = proof.claim
    wrong = np.tril(claim.shape.factor + 10.0**size * rng.normal(size=(3, 3)))
    for other in (
        replace(claim, shape=DenseShape(wrong)),
        replace(claim, shape=claim.shape.scaled(1e-3)),
        replace(claim, center=claim.center + 10.0**size * rng.normal(size=3)),
    ):
        assert other.upper() >= proof.lower


@pytest.mark.parametrize("seed", range(8))
def test_an_inverse_that_is_not_quite_one_is_paid_for(seed, monkeypatch):
    """Its defect is computed, not assumed."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(
        "lownoise.sensitivity.factors.dense._inverse",
        lambda L: np.linalg.inv(L) * (1 + 0.1 * rng.uniform(-1, 1, L.shape)),
    )
    points = rng.normal(size=(6, 3))
    factor = np.tril(rng.normal(size=(3, 3))) + 3 * np.eye(3)
    claim = ln.theory.enclose(ln.Points(points)).certificate.claim
    rough = replace(claim, shape=DenseShape(factor))
    found = Fraction(rough.upper())
    assert found**2 >= exact_square(points, rough.center, factor, np.eye(3))


@pytest.mark.parametrize("seed", range(8))
def test_an_ellipsoid_that_floats_hardly_invert_is_paid_for(seed):
    """A defect of 1e-7 or so: what the approximate inverse hides is added."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3)) * [1.0, 1.0, 1e-9]
    claim = ln.theory.enclose(ln.Points(rng.normal(size=(6, 3)))).certificate.claim
    factor = np.array([[1.0, 0, 0], [rng.normal(), 1e-5, 0], [rng.normal(), rng.normal(), 1e-9]])
    thin = replace(claim, body=claim.body.replaced(points), shape=DenseShape(factor))
    found = Fraction(thin.upper())
    assert found**2 >= exact_square(points, thin.center, factor, np.eye(3))


@pytest.mark.parametrize("order", [2.0, 5.0, math.inf])
@pytest.mark.parametrize("height", [1e-15, 1e-14, 1e-13])
def test_what_is_taken_as_flat_is_paid_for(order, height):
    """A query that magnifies what floats take for flat: half of its range is no more than Γ."""
    points = np.array([[0.0, 0.0], [1.0, 1.0 + height], [2.0, 2.0], [1.0, 1.0 - height]])
    proof = ln.theory.enclose(
        ln.Points(points),
        workload=[[1.0, 1.0], [1e16, -1e16]],
        order=order,
    ).certificate
    gaps = [Fraction(float(x)) - Fraction(float(y)) for x, y in points]
    assert Fraction(proof.upper) >= Fraction(10**16) * (max(gaps) - min(gaps)) / 2


def test_a_singular_ellipsoid_covers_nothing():
    claim = ln.theory.enclose(ln.Points(np.eye(2)), workload=np.eye(2)).certificate.claim
    full = ln.theory.enclose(ln.Points([[0, 0], [1, 0], [0, 1.0]])).certificate.claim
    for singular in ([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]):
        flat = replace(full, shape=DenseShape(singular))
        assert flat.upper() == math.inf
    with pytest.raises(PlanError, match=r"; solve again$"):
        replace(claim, frame=None).upper()


@pytest.mark.parametrize("times", [0.5, 0.999, 3.0])
@pytest.mark.parametrize(
    "domain",
    [ln.Box([0, 0], [1, 5]), ln.Ball(3, radius=2.0), ln.TensorPower(3, 2, "ball")],
    ids=["a box", "a ball", "tensors of a ball"],
)
def test_whatever_its_size_an_ellipsoid_is_scaled_until_it_covers(domain, times):
    """In a body's own coordinates: noise that is too small costs what covers, and no less."""
    proof = ln.theory.enclose(domain).certificate
    claim = proof.claim
    assert claim.frame is None
    other = replace(claim, shape=claim.shape.scaled(times))
    assert other.upper() == pytest.approx(proof.upper, rel=1e-9)
    assert other.upper() >= proof.lower
