# SPDX-License-Identifier: Apache-2.0
"""The closed form for boxes: published values, both sides of the certificate, brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from cases import CASES, ORDERS
from lownoise.certificate import CornerDual, order_norm, upper_bound
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.bodies import SymmetricBox
from lownoise.solvers import solve

HALF_WIDTHS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6)
ORDER = st.one_of(st.floats(2, 50), st.just(math.inf))


def ones(body):
    return np.ones(body.half_width.size)


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_certificate_brackets_the_published_value(case, order):
    body = sensitivity_set(case.domain, "substitute", case.domain.center)
    found = solve(body, order=order, weights=ones(body))
    lower = found.claim.dual.least(body, order, ones(body))
    upper = upper_bound(found.claim.shape, order, ones(body)) * body.radius_up(found.claim.shape)
    least = 2 * case.gamma(order)  # Γ_p(K − K) of a symmetric K is twice Γ_p(K)
    assert lower <= least <= upper
    assert upper <= lower * (1 + 1e-9)


@given(HALF_WIDTHS, ORDER)
def test_shape_covers_the_body(half_width, order):
    body = SymmetricBox(np.array(half_width))
    assert body.radius_up(solve(body, order=order, weights=ones(body)).claim.shape) <= 1 + 1e-12


@given(HALF_WIDTHS, ORDER, st.data())
def test_no_diagonal_cover_has_a_smaller_objective(half_width, order, data):
    """Weak duality against covers that the solver did not choose."""
    h = np.array(half_width)
    spread = data.draw(st.lists(st.floats(0.01, 100), min_size=h.size, max_size=h.size))
    m = h**2 * np.array(spread)
    m *= np.sum(h**2 / m)  # now Σ h²/m = 1: it covers
    body = SymmetricBox(h)
    found = solve(body, order=order, weights=ones(body))
    assert found.claim.dual.least(body, order, ones(body)) <= order_norm(np.sqrt(m), order) * (
        1 + 1e-12
    )


@pytest.mark.parametrize("order", [2.0, 4.0])
def test_agrees_with_a_general_optimiser_over_all_covariances(order):
    """Second method: minimise over full 2×2 covariances through a Cholesky factor (scipy)."""
    h = np.array([1.0, 3.0])
    corners = np.array(list(itertools.product(*zip(-h, h, strict=True))))

    def objective(parameters):
        a, b, c = parameters
        factor = np.array([[math.exp(a), 0], [b, math.exp(c)]])
        solved = np.linalg.solve(factor, corners.T)
        radius = (solved**2).sum(axis=0).max()
        return math.sqrt(radius) * order_norm(np.sqrt(np.diag(factor @ factor.T)), order)

    best = min(
        minimize(
            objective,
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 20000, "maxfev": 20000},
        ).fun
        for start in ([0, 0, 0], [0.5, 0.3, 1.0], [1, -0.5, 1])
    )
    body = SymmetricBox(h)
    found = solve(body, order=order, weights=np.ones(2))
    assert upper_bound(found.claim.shape, order, np.ones(2)) == pytest.approx(best, rel=1e-6)


@given(HALF_WIDTHS, ORDER)
def test_least_noise_falls_with_the_order(half_width, order):
    body = SymmetricBox(np.array(half_width))
    at = [
        upper_bound(solve(body, order=p, weights=ones(body)).claim.shape, p, ones(body))
        for p in (
            order,
            order + 1,
        )
    ]
    assert at[1] <= at[0] * (1 + 1e-12)


def test_evidence_that_is_wrong_cannot_raise_the_bound():
    """Any non-negative query weights give a true bound: evidence is checked, not believed."""
    body = SymmetricBox(np.array([1.0, 3.0]))
    for weights in ([1.0, 0.0], [5.0, 0.1], [1e9, 1.0]):
        assert CornerDual(np.array(weights)).least(body, 4.0, np.ones(2)) <= upper_bound(
            solve(body, order=4.0, weights=np.ones(2)).claim.shape,
            4.0,
            np.ones(2),
        )


def test_a_million_coordinates_never_form_a_matrix():
    body = SymmetricBox(np.linspace(1, 2, 1_000_000))
    found = solve(body, order=3.0, weights=ones(body))
    assert found.claim.shape.diagonal().shape == (1_000_000,)
    assert body.radius_up(found.claim.shape) == pytest.approx(1, rel=1e-9)
