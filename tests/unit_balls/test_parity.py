# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from lownoise.errors import FileError
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    NormBall,
    ParityBall,
    ParityDifferenceBall,
    product_ball,
)
from lownoise.sets.unit_balls.mixtures import best_mixture, least_mixture_up
from lownoise.sets.unit_balls.parity import krawtchouk, parities, subsets
from unit_ball_cases import PARITIES

every_base = pytest.mark.parametrize("base", PARITIES.values(), ids=list(PARITIES))


def vertices(base: ParityBall | ParityDifferenceBall) -> np.ndarray:
    """All of them, product by product in plain Python."""
    sets = [s for j in base.degrees for s in itertools.combinations(range(base.size), j)]
    every = [
        [math.prod(x[i] for i in s) for s in sets]
        for x in itertools.product((-1.0, 1.0), repeat=base.size)
    ]
    p = np.unique(np.array(every), axis=0)
    if isinstance(base, ParityBall):
        return np.vstack([p, -p])
    return (p[:, None] - p[None]).reshape(-1, p.shape[1])


@every_base
def test_what_a_base_says_is_what_its_vertices_say(base: ParityBall) -> None:
    rng = np.random.default_rng(7)
    v = vertices(base)
    assert base.dimension == v.shape[1]
    theta = rng.normal(size=(6, base.dimension))
    support = np.max(theta @ v.T, axis=1)
    np.testing.assert_allclose(base.support_up(theta), support, rtol=1e-9)
    assert np.all(base.support_up(theta) >= support)
    np.testing.assert_allclose(np.sum(theta * base.extreme(theta), axis=1), support)
    assert all(np.any(np.all(v == x, axis=1)) for x in base.extreme(theta))
    for y in (*rng.uniform(size=(4, base.dimension)), np.ones(base.dimension)):
        energy = np.max(np.square(v) @ y)
        assert energy <= base.energy_up(y) <= energy * (1 + 1e-9)
    assert np.array_equal(base.widths(), np.max(np.abs(v), axis=0))


@pytest.mark.grid(3)
@every_base
def test_no_point_has_less_norm_than_its_best_mixture_of_vertices(base: ParityBall) -> None:
    rng = np.random.default_rng(8)
    v = vertices(base)
    own = v[np.any(v != 0, axis=1)]
    # vertices and their multiples are told exactly
    np.testing.assert_allclose(base.norm_up(own), 1.0, rtol=1e-12)
    np.testing.assert_allclose(base.norm_up(-3 * own[:4]), 3.0, rtol=1e-12)
    for x in (*rng.normal(size=(5, base.dimension)), *np.eye(base.dimension)):
        least = linprog(np.ones(len(v)), A_eq=v.T, b_eq=x).fun
        assert base.norm_up(x[None])[0] >= least * (1 - 1e-9)


@pytest.mark.grid(3)
@every_base
def test_a_moment_is_that_of_some_random_vertex(base: ParityBall) -> None:
    """Of the best mixtures of vertices whose second moment is at least diag(z)."""
    rng = np.random.default_rng(9)
    squares = np.square(vertices(base))
    for z in (*rng.uniform(size=(4, base.dimension)), np.ones(base.dimension)):
        found = linprog(np.ones(len(squares)), A_ub=-squares.T, b_ub=-z)
        assert base.moment_up(z) >= found.fun * (1 - 1e-9)
    gains = np.repeat(rng.uniform(0.1, 1), base.dimension)
    z = base.best_squares(gains)
    assert base.moment_up(z) <= 1 + 1e-9
    # by symmetry nothing is lost where all sets of one size matter alike, as they do here
    best = minimize(
        lambda w: -np.sum(np.sqrt(gains * (np.square(w) @ squares / np.sum(np.square(w))))),
        rng.uniform(0.5, 1, len(squares)),
        options={"maxiter": 500},
    )
    assert np.sum(np.sqrt(gains * z)) >= -best.fun * (1 - 1e-6)


@every_base
def test_changes_of_signs_make_second_moments_diagonal(base: ParityBall) -> None:
    v = vertices(base)
    characters = parities(
        np.array(list(itertools.product((-1.0, 1.0), repeat=base.size))), base.degrees
    )
    x = np.random.default_rng(3).dirichlet(np.ones(len(v))) @ v
    flipped = characters * x
    moment = flipped.T @ flipped / len(flipped)
    np.testing.assert_allclose(moment, np.diag(np.square(x)), atol=1e-12)


@pytest.mark.grid(3)
@every_base
def test_the_signed_norm_holds_for_every_sign(base: ParityBall) -> None:
    """Against the least mixture of vertices, whose signs all are tried."""
    rng = np.random.default_rng(11)
    v = vertices(base)
    k = base.dimension
    for x in (*rng.uniform(0.1, 1, size=(2, k)), np.ones(k)):
        bound = base.signed_norm_up(x[None])[0]
        flips = rng.choice([-1.0, 1.0], size=(20, k))
        assert np.all(base.signed_norm_up(flips * x) == bound)
        least = [linprog(np.ones(len(v)), A_eq=v.T, b_eq=x * s).fun for s in flips]
        assert bound >= max(least) * (1 - 1e-9)
        pair = product_ball([base, NormBall(1, math.inf)])
        assert pair.signed_norm_up(np.append(x, 2 * bound)[None])[0] >= 2 * bound
        assert pair.signed_norm_up(np.append(x, 0.0)[None])[0] >= bound


@pytest.mark.grid(3)
@every_base
def test_the_segments_along_the_axes_are_inside(base: ParityBall) -> None:
    """On which `signed_norm_up` rests."""
    v = vertices(base)
    for i, width in enumerate(base.widths()):
        axis = width * np.eye(base.dimension)[i]
        found = linprog(np.ones(len(v)), A_eq=v.T, b_eq=axis)
        assert found.fun == pytest.approx(1.0, abs=1e-9)


def test_a_change_of_signs_can_raise_a_parity_norm() -> None:
    """So `signed_norm_up` says something: a vertex with one sign changed is outside."""
    base = ParityBall(4, (2,))
    v = vertices(base)
    turned = np.array([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert base.norm_up(np.ones((1, 6)))[0] == 1
    assert linprog(np.ones(len(v)), A_eq=v.T, b_eq=turned).fun > 1.1
    assert base.signed_norm_up(np.ones((1, 6)))[0] > 1.1


def test_many_signs_are_bounded_without_listing_them() -> None:
    rng = np.random.default_rng(4)
    for base in (ParityBall(30, (2,)), ParityDifferenceBall(30, (2, 4))):
        theta = rng.normal(size=(2, base.dimension))
        x = base.extreme(theta)
        assert np.all(np.sum(theta * x, axis=1) <= base.support_up(theta))
        other = parities(rng.choice([-1.0, 1.0], size=(300, 30)), base.degrees)
        assert np.all(np.sum(theta * x, axis=1) > np.max(theta @ other.T, axis=1))
        np.testing.assert_allclose(base.norm_up(x), 1.0)
        y = rng.uniform(size=base.dimension)
        assert np.max(np.square(base.extreme(rng.normal(size=(20, base.dimension)))) @ y) <= (
            base.energy_up(y)
        )


@pytest.mark.parametrize("d", range(2, 8))
def test_krawtchouk_is_the_sum_of_parities(d: int) -> None:
    for w in range(d + 1):
        signs = np.array([[-1.0] * w + [1.0] * (d - w)])
        for j in range(d + 1):
            assert krawtchouk(d, j, w) == np.sum(parities(signs, (j,)))
    assert [tuple(s) for s in subsets(d, 2)] == list(itertools.combinations(range(d), 2))


@pytest.mark.parametrize("seed", range(8))
def test_best_and_least_mixtures_against_general_optimisers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(size=(6, 1 + seed % 4))
    gains = rng.uniform(size=rows.shape[1])
    omega = best_mixture(rows, gains)
    assert np.all(omega >= 0)
    assert abs(np.sum(omega) - 1) < 1e-12
    value = gains @ np.sqrt(omega @ rows)
    # dual: any y with Zy ≤ 1 bounds the value by √Σ gain²/y
    y = gains / np.sqrt(omega @ rows)
    y /= np.max(rows @ y)
    assert value <= math.sqrt(np.sum(gains**2 / y)) <= value * (1 + 1e-7)
    found = linprog(np.ones(6), A_ub=-rows.T, b_ub=-gains).fun
    assert found <= least_mixture_up(rows, gains) <= found * (1 + 1e-7)


@every_base
def test_a_file_joins_parities_with_nothing_that_needs_every_sign(base: ParityBall) -> None:
    own, cube = UNIT_BALLS.write(base), UNIT_BALLS.write(NormBall(base.dimension, math.inf))
    both = product_ball([base, NormBall(2, 2.0)])
    assert not both.unconditional
    meet = {"kind": "meet", "parts": [own, cube], "scales": np.ones((2, base.dimension)).tolist()}
    for fields in (
        meet,
        {"kind": "kronecker", "first": own, "second": cube},
        {"kind": "kronecker", "first": cube, "second": UNIT_BALLS.write(both)},
    ):
        with pytest.raises(FileError, match="signs"):
            UNIT_BALLS.read(fields)
