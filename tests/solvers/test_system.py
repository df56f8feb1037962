# SPDX-License-Identifier: Apache-2.0
"""One Newton step's system: both ways of solving it, and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.solvers.fidelity import fidelity
from lownoise.solvers.newton import Linear, _columns, _formed, _reduced, newton_system

few = settings(max_examples=12)


def problem(seed, *, queries, moves):
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 5))
    vertices = rng.normal(size=(r + 5, r)) + 1
    L = rng.normal(size=(r + 30, r))
    w, c = rng.uniform(0.1, 1, len(vertices)), rng.uniform(0.1, 1, len(L))
    state = fidelity(vertices, w, L, c, moves=moves)
    pull = rng.uniform(0.5, 2, len(L)) if queries else None
    size = len(w) + (len(L) if queries else 0)
    return rng, (vertices, w, L, c), state, pull, size


@few
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.floats(-6, 3))
def test_both_ways_give_one_step(seed, queries, moves, size):
    rng, _, state, pull, n = problem(seed, queries=queries, moves=moves)
    gradient, extra = rng.normal(size=n), 10.0 ** rng.uniform(size - 1, size + 1, n)
    formed = _formed(state, Linear(pull, gradient, extra))
    reduced = _reduced(state, Linear(pull, gradient, extra))
    for right in rng.normal(size=(4, n)):
        x, y = formed(right), reduced(right)
        # two positive forms within 2% of each other have inverses within 2% of each other
        assert right @ x == pytest.approx(right @ y, rel=0.025)


@few
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_the_reduced_way_solves_what_finite_differences_say(seed, queries, moves):
    rng, (vertices, w, L, c), state, pull, n = problem(seed, queries=queries, moves=moves)
    gradient, extra = rng.normal(size=n), rng.uniform(0.1, 1, n)
    m, h = n - len(w), 1e-5

    def slopes(step):
        at = fidelity(
            vertices,
            w + step[m:],
            L,
            c + (pull**2 * step[:m] if queries else 0.0),
            moves=moves,
        )
        on_queries = pull**2 * at.variances() if queries else np.zeros(0)
        return np.concatenate([on_queries, at.stretches()]) / 2

    hessian = np.array([(slopes(h * e) - slopes(-h * e)) / (2 * h) for e in np.eye(n)])
    matrix = -2 * hessian / state.value + 0.5 * np.outer(gradient, gradient) + np.diag(extra)
    x = _reduced(state, Linear(pull, gradient, extra))(matrix @ np.ones(n))
    assert x == pytest.approx(np.ones(n), abs=1e-4)


def test_blocks_of_columns_make_up_one_matrix(monkeypatch):
    _, _, state, pull, n = problem(3, queries=True, moves=True)
    whole = list(_columns(state, pull, np.arange(float(n))))
    monkeypatch.setattr("lownoise.solvers.newton._BLOCK", 30)
    blocks = list(_columns(state, pull, np.arange(float(n))))
    assert len(blocks) > len(whole)
    parts = [np.arange(n)[part] for part, _ in blocks]
    assert np.concatenate(parts).tolist() == list(range(n))
    joined = np.vstack([columns for _, columns in whole])
    assert np.vstack([columns for _, columns in blocks]) == pytest.approx(joined)


@pytest.mark.parametrize("few_", [0, 10**6])
def test_the_smaller_space_is_chosen(monkeypatch, few_):
    rng, _, state, pull, n = problem(1, queries=True, moves=False)
    monkeypatch.setattr("lownoise.solvers.newton._FEW", few_)
    gradient, extra = rng.normal(size=n), np.ones(n)
    right = rng.normal(size=n)
    known = _reduced(state, Linear(pull, gradient, extra))(right)
    found = newton_system(state, Linear(pull, gradient, extra))(right)
    assert right @ found == pytest.approx(right @ known, rel=0.025)
