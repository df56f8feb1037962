# SPDX-License-Identifier: Apache-2.0
"""Lemma 1 from both sides, complex factors, and factors that move the columns first."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.theory.spectral import prefix_trace_norm

ORDERS = [2.0, 3.0, math.inf]


def fourier(n):
    return np.exp(2j * np.pi * np.outer(range(n), range(n)) / n)


def matrices():
    rng = np.random.default_rng(5)
    yield np.tril(np.ones((9, 9)))
    yield rng.normal(size=(3, 8))
    yield rng.normal(size=(8, 3))
    yield rng.normal(size=(6, 2)) @ rng.normal(size=(2, 6))
    yield np.diag([3.0, 0.0, 1e-9])
    yield np.diag([1e-60, 1e60])
    yield np.array([[7.0]])
    yield np.zeros((2, 3))
    yield fourier(6)[:4]
    yield rng.normal(size=(4, 6)) + 1j * rng.normal(size=(4, 6))


@pytest.mark.parametrize("W", list(matrices()), ids=lambda W: str(W.shape))
def test_singular_values_bracket_the_best_factors(W):
    lower, upper = ln.theory.trace_norm_lower(W), ln.theory.trace_norm_upper(W)
    assert (lower.side, upper.side) == ("lower", "upper")
    exact = np.linalg.svd(W, compute_uv=False)
    assert lower.value <= float(np.sum(exact)) / math.sqrt(W.shape[1]) * (1 + 1e-12)
    assert upper.value >= math.sqrt(float(np.sum(exact)) * exact[0]) * (1 - 1e-12)
    if np.any(W) and np.max(np.abs(W)) < 1e50:
        found = ln.theory.factorize(W).certificate
        assert lower.value <= found.upper
        assert found.lower <= upper.value
        assert lower.value >= float(np.sum(exact)) / math.sqrt(W.shape[1]) * (1 - 1e-9)
        assert upper.value <= math.sqrt(float(np.sum(exact)) * exact[0]) * (1 + 1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_running_sums_have_the_trace_norm_of_the_closed_form(n):
    """Theorem 19, by a decomposition."""
    exact = np.linalg.norm(np.tril(np.ones((n, n))), "nuc")
    assert prefix_trace_norm(n) == pytest.approx(exact, rel=1e-11)
    assert prefix_trace_norm(n) < prefix_trace_norm(n, upper=True)
    assert ln.theory.trace_norm_lower(np.tril(np.ones((n, n)))).value == pytest.approx(
        exact / math.sqrt(n), rel=1e-9
    )


@pytest.mark.parametrize("n", [2, 3, 8])
def test_one_singular_value_makes_both_sides_meet(n):
    """Corollary 47: γ_F of the Fourier matrix is n, though it is complex."""
    F = fourier(n)
    found = ln.theory.factorize(F)
    assert found.certificate.lower == pytest.approx(n, rel=1e-7)
    assert ln.theory.trace_norm_lower(F).value == pytest.approx(n, rel=1e-9)
    assert ln.theory.trace_norm_upper(F).value == pytest.approx(n, rel=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_complex_factors_make_the_matrix_and_cost_what_is_proved(order):
    rng = np.random.default_rng(2)
    for W in (
        rng.normal(size=(4, 6)) + 1j * rng.normal(size=(4, 6)),
        (rng.normal(size=(5, 2)) + 1j * rng.normal(size=(5, 2))) @ rng.normal(size=(2, 5)),
        np.tril(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))),
        np.zeros((2, 2)) + 0j,
    ):
        found = ln.theory.factorize(W, order=order)
        rows = np.linalg.norm(W, axis=1, keepdims=True)
        assert np.all(np.abs(found.left @ found.right - W) <= 1e-9 * rows)
        assert np.all(np.linalg.norm(found.right, axis=0) <= 1)
        deviations = np.linalg.norm(found.left, axis=1)
        cost = np.linalg.norm(deviations, order) if W.any() else 0.0
        assert cost == pytest.approx(found.certificate.upper, rel=1e-6, abs=1e-12)
        assert found.certificate.verify().lower <= cost * (1 + 1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_a_unit_of_modulus_one_on_each_coordinate_changes_nothing(order):
    """|e^{iθ}| = 1: neither do phases of the columns, which are another x, nor those of answers."""
    rng = np.random.default_rng(8)
    W = rng.normal(size=(4, 5))
    phases = np.exp(2j * np.pi * rng.random(5)), np.exp(2j * np.pi * rng.random(4))
    plain = ln.theory.factorize(W, order=order).certificate
    turned = ln.theory.factorize(phases[1][:, None] * W * phases[0], order=order).certificate
    assert turned.lower <= plain.upper * (1 + 1e-9)
    assert plain.lower <= turned.upper * (1 + 1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_columns_that_are_alike_cost_nothing_once_they_are_moved(order):
    found = ln.theory.factorize(np.outer([1.0, -2.0, 5.0], np.ones(4)), order=order, shift=True)
    assert found.certificate.upper == 0
    assert found.shift.tolist() == [1, -2, 5]
    assert found.left.shape == (3, 0)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_simplex_costs_its_closed_form(n):
    found = ln.theory.factorize(np.eye(n), shift=True)
    assert found.certificate.lower <= (n - 1) / math.sqrt(n) <= found.certificate.upper
    assert found.certificate.gap < 1e-6
    assert found.shift == pytest.approx(np.full(n, 1 / n), abs=1e-4)


@pytest.mark.parametrize("order", ORDERS)
def test_moved_factors_make_the_matrix_and_are_those_of_its_hull(order):
    rng = np.random.default_rng(4)
    W = rng.normal(size=(4, 9)) + 3
    found = ln.theory.factorize(W, order=order, shift=True)
    made = found.left @ found.right + found.shift[:, None]
    assert np.max(np.abs(made - W)) <= 1e-9 * np.max(np.linalg.norm(W, axis=1))
    assert np.all(np.linalg.norm(found.right, axis=0) <= 1)
    hull = ln.theory.enclose(ln.Points(W.T), order=order).certificate
    assert found.certificate.lower <= hull.upper
    assert hull.lower <= found.certificate.upper
    assert found.certificate.upper < ln.theory.factorize(W, order=order).certificate.lower
    both = np.hstack([W, -W])  # symmetric: no shift helps
    moved = ln.theory.factorize(both, order=order, shift=True).certificate
    still = ln.theory.factorize(both, order=order).certificate
    assert moved.lower <= still.upper
    assert still.lower <= moved.upper


def test_a_shift_takes_a_workload_and_weights():
    rng = np.random.default_rng(6)
    W, L = rng.normal(size=(4, 7)), rng.normal(size=(2, 4))
    seen = ln.theory.factorize(W, workload=L, weights=[1.0, 2.0], shift=True).certificate
    asked = ln.theory.factorize(L @ W, weights=[1.0, 2.0], shift=True).certificate
    assert seen.lower <= asked.upper * (1 + 1e-9)
    assert asked.lower <= seen.upper * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: ln.theory.factorize(fourier(3), shift=True), "complex"),
        (lambda: ln.theory.factorize(fourier(3), weights=[1, 1, 1]), "complex"),
        (lambda: ln.theory.trace_norm_lower([[math.nan]]), "matrix"),
        (lambda: ln.theory.trace_norm_upper([[1j * math.inf]]), "matrix"),
        (lambda: prefix_trace_norm(0), "rounds=0"),
    ],
)
def test_refuses(call, match):
    with pytest.raises(PlanError, match=match):
        call()
