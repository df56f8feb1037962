# SPDX-License-Identifier: Apache-2.0
"""Moment tensors of the ball: both bounds against points of it, and the published display."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from drawn import powers as tensors
from lownoise.errors import DomainError, PlanError, QuestionError
from lownoise.sets.bodies.harmonics import Harmonics, sphere_moments

ORDERS = (2.0, 3.0, math.inf)


def circle(count, power, radius):
    """Tensors of a fine circle, and of 0."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return tensors(np.vstack([x, np.zeros((1, 2))]), power)


def sphere(count, size, seed=0):
    x = np.random.default_rng(seed).normal(size=(count, size))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_in_the_plane_it_is_a_fine_circle(power, order):
    """A circle of n points is the ball's up to (1 − cos(ℓπ/n)); nothing is left to choose."""
    count = 48 if power < 4 else 24  # lists of long tensors are slow
    points = ln.Points(circle(count, power, 1.5))
    ball = ln.TensorPower(2, power, "ball", 1.5)
    for one, other in ((ball, points), (ln.difference_body(ball), ln.difference_body(points))):
        found = ln.theory.enclose(one, order=order).certificate
        general = ln.theory.enclose(other, order=order).certificate
        found.verify()
        assert general.lower <= found.upper * (1 + 1e-9)  # points of it never need more
        assert found.lower <= general.upper / math.cos(power * math.pi / count) * (1 + 1e-9)
        if order == 2 or power < 3:
            assert found.gap < 1e-6
            assert found.upper == pytest.approx(general.upper, rel=0.01)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("size", "power"), [(2, 3), (3, 2), (4, 2), (3, 3), (3, 4), (10, 2)])
def test_the_ellipsoid_covers_points_and_costs_what_it_says(size, power, order):
    ball = ln.TensorPower(size, power, "ball", 0.8)
    x = 0.8 * sphere(200, size)
    x[:size] = 0.8 * np.eye(size)
    x[size] = 0.8 / math.sqrt(size)
    x[size + 1] = 0.0
    points = tensors(x, power)
    moved = points - points[np.random.default_rng(1).permutation(len(points))]
    for domain, rows in ((ball, points), (ln.difference_body(ball), moved)):
        found = ln.theory.enclose(domain, order=order)
        size_of = np.linalg.norm(found.shape.deviations(), ord=order)
        assert size_of == pytest.approx(found.certificate.upper, rel=1e-9)
        worst = max(found.shape.quadratic_form(s - found.center) for s in rows)
        assert worst <= 1 + 1e-9
        assert worst > 0.5
        assert 0 < found.certificate.lower <= found.certificate.upper
        if order == 2 or power == 2:
            assert found.certificate.gap < 1e-6


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, 2.5, 4.0, math.inf])
@pytest.mark.parametrize(("size", "power"), [(2, 2), (4, 2), (6, 3), (4, 4), (6, 2), (8, 2)])
def test_the_published_bounds_hold_once_a_lost_factor_is_put_back(size, power, order):
    """002, Theorem 64, second line. Its proof gives d^{−ℓ/2}·(d/ℓ)^{ℓ/p + ℓ/2}, not (d/ℓ)^{ℓ/p}."""
    found = ln.theory.enclose(ln.TensorPower(size, power, "ball"), order=order).certificate
    proved = size ** (-power / 2) * (size / power) ** (power / order + power / 2)
    assert proved == pytest.approx((size / power) ** (power / order) * power ** (-power / 2))
    assert proved <= found.upper
    assert found.lower <= size ** (power / order)


def test_the_published_display_is_false_where_it_is_tested():
    """Γ_∞ of x ⊗ x in the plane is at most 0.65, and (d/ℓ)^{ℓ/p} is 1: an ellipsoid says so."""
    found = ln.theory.enclose(ln.TensorPower(2, 2, "ball"), order=math.inf)
    assert found.certificate.verify().upper < 0.6496 < (2 / 2) ** 0
    points = circle(720, 2, 1.0)
    assert all(found.shape.quadratic_form(s - found.center) <= 1 + 1e-9 for s in points[::7])
    assert np.max(found.shape.deviations()) < 0.6496


@pytest.mark.parametrize(("size", "power"), [(2, 2), (3, 2), (3, 3), (4, 4), (2, 7), (5, 3)])
def test_harmonic_parts_are_those_of_sampled_tensors(size, power):
    parts = Harmonics(size, power)
    assert np.sum(parts.shares) == pytest.approx(1)
    assert np.sum(parts.dimensions) == math.comb(size + power - 1, power)
    assert np.sum(parts.counts) == size**power
    np.testing.assert_allclose(parts.counts @ parts.table, parts.dimensions, rtol=1e-12)
    u = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(parts.zonal(u) @ parts.shares, u**power, atol=1e-12)
    # E x^{2α} on the sphere is Σ (aₖ/dimₖ)·Bₖ
    for pattern, row in zip(parts.patterns, parts.table, strict=True):
        alpha = np.array([[*pattern, *([0] * (size - len(pattern)))]])
        moment = sphere_moments(2 * alpha)[0]
        assert row @ (parts.shares / parts.dimensions) == pytest.approx(moment, rel=1e-12)


def test_moments_of_the_sphere_are_those_of_many_points():
    u = sphere(400_000, 3)
    raised = [(u**k).T for k in range(4)]
    for alpha in itertools.product(range(4), repeat=3):
        exact = sphere_moments(np.array([alpha]))[0]
        x, y, z = (raised[k][i] for i, k in enumerate(alpha))
        assert np.mean(x * y * z) == pytest.approx(exact, abs=5e-3)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("size", "power"), [(2, 1), (3, 2), (3, 3), (2, 4), (2, 5)])
def test_it_knows_its_own_tensors(size, power):
    ball = ln.TensorPower(size, power, "ball", 1.5)
    rng = np.random.default_rng(3)
    x = 1.5 * sphere(40, size) * rng.uniform(size=(40, 1))
    x[0] *= 1.5 / np.linalg.norm(x[0])
    points = tensors(x, power)
    np.testing.assert_allclose(ball.clamp(points), points, atol=1e-11 * ball.value)
    assert all(ball.contains(t) for t in points)
    assert np.all((ball.lower <= points) & (points <= ball.upper))
    theta = rng.normal(size=size**power)
    far = tensors(1.5 * sphere(3000, size), power) @ theta
    assert max(np.max(far), 0.0 if power % 2 == 0 else -np.inf) <= ball.support(theta) * (1 + 1e-9)
    assert ln.difference_body(ball).support(theta) >= np.ptp(far)
    if power < 3:
        assert ball.support(theta) == pytest.approx(max(np.max(far), 0), rel=0.01)
    rows = rng.normal(size=(30, size**power)) * 10
    inside = ball.clamp(rows)
    assert all(ball.contains(t) for t in inside)
    assert np.array_equal(inside[17], ball.clamp(rows[17]))
    assert not ball.contains(1.1 * points[0])
    assert ball.contains(ball.center) == (power % 2 == 1)


def test_what_it_cannot_do_it_says():
    ball = ln.TensorPower(3, 2, "ball")
    with pytest.raises(QuestionError, match="no domain of records"):
        ln.Mean([f"c{i}" for i in range(9)], ln.difference_body(ball))
    with pytest.raises(PlanError, match="leave them out"):
        ln.theory.enclose(ball, workload=np.ones((1, 9)))
    with pytest.raises(PlanError, match="leave them out"):
        ln.theory.enclose(ball, weights=np.arange(1.0, 10.0))
    with pytest.raises(PlanError, match=r"10\^7"):
        ln.theory.enclose(ln.TensorPower(30, 3, "ball"))
    with pytest.raises(DomainError, match="changes"):
        ln.difference_body(ball).clamp(np.zeros(9))
    with pytest.raises(DomainError, match="does not know what it holds"):
        ln.difference_body(ball).contains(np.zeros(9))
    twice = ln.theory.enclose(ball, weights=np.full(9, 2.0)).certificate.upper
    assert twice == pytest.approx(2 * ln.theory.enclose(ball).certificate.upper)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("dimension", "power"), [(2, 8), (2, 10), (3, 6)])
def test_differences_of_high_even_powers_are_exact_at_two(dimension, power):
    ball = ln.TensorPower(dimension, power, of="ball")
    assert ln.theory.enclose(ln.difference_body(ball), rtol=1e-6).certificate.gap < 1e-6
