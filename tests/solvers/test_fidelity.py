# SPDX-License-Identifier: Apache-2.0
"""F, its ellipsoid and its derivatives against definitions and finite differences."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.solvers import fidelity as fidelities
from lownoise.solvers.fidelity import fidelity

SEED = st.integers(0, 2**32 - 1)
few = settings(max_examples=20)


def problem(seed, *, scale=1.0):
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 5))
    k, n = r + 2 + int(rng.integers(0, 6)), r + int(rng.integers(0, 5))
    vertices = (rng.normal(size=(k, r)) + 1) * 10.0 ** rng.uniform(-scale, scale, r)
    queries = rng.normal(size=(n, r)) if rng.random() < 0.7 else 10.0 ** rng.uniform(-1, 1, r)
    return vertices, rng.uniform(0.1, 1, k), queries, rng.uniform(0.1, 1, len(queries))


def matrices(vertices, w, queries, c, *, moves):
    L = np.diag(queries) if queries.ndim == 1 else queries
    mean = w @ vertices / np.sum(w) if moves else 0.0
    about = vertices - mean
    return L, L.T @ np.diag(c) @ L, about.T @ np.diag(w) @ about, about


@few
@given(SEED, st.booleans())
def test_it_is_the_trace_and_the_geometric_mean(seed, moves):
    vertices, w, queries, c = problem(seed)
    state = fidelity(vertices, w, queries, c, moves=moves)
    L, G, C, about = matrices(vertices, w, queries, c, moves=moves)
    half = np.real(scipy.linalg.sqrtm(G))
    inside = np.linalg.eigvalsh(half @ C @ half)
    assert state.value == pytest.approx(np.sum(np.sqrt(np.maximum(inside, 0))), rel=1e-6)
    M = state.factor() @ state.factor().T
    product = M @ G @ M
    assert product == pytest.approx(C, rel=1e-6, abs=1e-8 * np.max(np.abs(C)))
    X, inverse = state.inverse_factor(), np.linalg.inv(M)
    square = X.T @ X
    assert square == pytest.approx(inverse, rel=1e-5, abs=1e-7 * np.max(inverse))
    assert state.variances() == pytest.approx(np.sum((L @ M) * L, axis=1), rel=1e-7)
    assert state.stretches() == pytest.approx(np.sum((about @ X.T) ** 2, axis=1), rel=1e-7)
    assert not np.any(np.triu(state.factor(), 1))
    assert np.all(np.diag(state.factor()) > 0)


@few
@given(SEED, st.booleans())
def test_its_slopes_are_half_the_variances_and_half_the_stretches(seed, moves):
    vertices, w, queries, c = problem(seed)
    state = fidelity(vertices, w, queries, c, moves=moves)

    def value(dc, dw):
        return fidelity(vertices, w + dw, queries, c + dc, moves=moves).value

    h = 1e-5
    for j, e in enumerate(np.eye(c.size)):
        slope = (value(h * e, 0) - value(-h * e, 0)) / (2 * h)
        assert slope == pytest.approx(state.variances()[j] / 2, rel=1e-5, abs=1e-7 * state.value)
    for i, e in enumerate(np.eye(w.size)):
        slope = (value(0, h * e) - value(0, -h * e)) / (2 * h)
        assert slope == pytest.approx(state.stretches()[i] / 2, rel=1e-5, abs=1e-7 * state.value)


def second_differences(vertices, w, queries, c, pull, *, moves):
    """−2F″ by differences of the gradient; query weights move by pull² a unit."""
    n, h = c.size, 1e-5
    gradients = []
    for e in np.eye(n + w.size):
        two = []
        for sign in (1, -1):
            at = fidelity(
                vertices, w + sign * h * e[n:], queries, c + sign * h * pull**2 * e[:n], moves=moves
            )
            two.append(np.concatenate([pull**2 * at.variances(), at.stretches()]) / 2)
        gradients.append((two[0] - two[1]) / (2 * h))
    return -2 * np.array(gradients)


@few
@given(SEED, st.booleans(), st.booleans())
def test_its_curvature_is_that_of_finite_differences(seed, moves, coarse):
    vertices, w, queries, c = problem(seed, scale=0.5)
    pull = np.random.default_rng(seed).uniform(0.5, 2, c.size)
    state = fidelity(vertices, w, queries, c, moves=moves)
    known = second_differences(vertices, w, queries, c, pull, moves=moves)
    found = state.curvature(pull, coarse=coarse)
    # within 2% of each square that is summed, so between 0.98 and 1.02 of the form itself
    scale = np.sqrt(np.maximum(np.diag(known), 1e-12 * np.max(np.diag(known))))
    off = (found - known) / np.outer(scale, scale)
    values = np.linalg.eigvalsh(off)
    assert np.max(np.abs(values)) < 0.021 * len(off)
    assert np.diag(found) == pytest.approx(np.diag(known), rel=0.021, abs=1e-6 * np.max(found))
    assert state.curvature(None) == pytest.approx(found[c.size :, c.size :])


@pytest.mark.sweep("test_its_curvature_is_that_of_finite_differences")
def test_half_precision_is_near_enough(monkeypatch):
    """Beyond a thousand well-scaled variables, single precision and fewer nodes."""
    rng = np.random.default_rng(0)
    vertices, w = rng.normal(size=(1200, 4)), np.full(1200, 1 / 1200)
    state = fidelity(vertices, w, np.ones(4), np.ones(4), moves=True)
    fine, coarse = state.curvature(None), state.curvature(None, coarse=True)
    part = fidelity(vertices[:900], w[:900], np.ones(4), np.ones(4), moves=True)
    assert part.curvature(None).dtype == fine.dtype == np.float64
    assert np.diag(coarse) == pytest.approx(np.diag(fine), rel=0.14)
    monkeypatch.setattr(fidelities, "_LARGE", 10**9)  # all of it at once, in double precision
    assert fine == pytest.approx(state.curvature(None), abs=1e-5 * np.max(fine))
    assert np.array_equal(fine, fine.T)
    # along w itself, a scaling, F is homogeneous of degree ½: −2F″ = F/2, and 0 where x̄ moves w
    assert w @ fine @ w == pytest.approx(state.value / 2, rel=0.03)
