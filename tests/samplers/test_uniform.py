# SPDX-License-Identifier: Apache-2.0
"""Uniform points: the law of each body, and that every number stays what its bits say.

With N the norm of the body, N(u)^d is uniform on [0, 1] and independent of the direction; and
directions are judged against points found by rejection from a box.
"""

import math
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from scipy import stats

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.gamma import k_norm_noise
from lownoise.samplers.lazy import rounded
from lownoise.samplers.uniform import (
    UniformHull,
    UniformImage,
    UniformNormBall,
    UniformProduct,
    UniformZonotope,
)
from uniform_cases import CASES, GENERATORS, HULL, Scripted, middles, reference

FIRST_KIND = 1e-6
EXACT = 1500  # points drawn exactly
MANY = 150_000  # simulated
REFERENCE = 150_000
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def exact(uniform, count, seed):
    source = SimulationRandomness(seed)
    return np.array([middles(uniform.draw(source)) for _ in range(count)])


def radial_rejects(levels):
    """Kolmogorov–Smirnov: whether N(u)^d is not uniform."""
    return stats.kstest(levels, "uniform").pvalue < FIRST_KIND


def reach_rejects(norms, d):
    """Whether a norm is over 1, or the largest so small as happens once in a million."""
    n = len(norms)
    return np.max(norms) > 1 + 1e-9 or np.max(norms) ** d < 1 + math.log(FIRST_KIND) / n


def direction_rejects(points, other):
    """Chi-square of two samples over cells: which of some fixed directions is the nearest."""
    d = points.shape[1]
    axes = np.random.default_rng(7).normal(size=(8 * d, d))
    axes = np.vstack([axes, -axes]) / np.linalg.norm(np.vstack([axes, -axes]), axis=1)[:, None]
    spread = np.sqrt(np.mean(other**2, axis=0))
    counts = []
    for sample in (points, other):
        cells = np.argmax((sample / spread) @ axes.T, axis=1)
        counts.append(np.bincount(cells, minlength=len(axes)))
    full = np.array(counts)[:, counts[1] > 40 * REFERENCE / len(points)]
    return stats.chi2_contingency(full, correction=False).pvalue < FIRST_KIND


def moment_rejects(points, moment):
    """Whether the second moments are not those claimed: whitened, so that they should be I.

    With the sample's own fourth moments: 5.7 of a normal number have 1.2e-8, 9 entries 1.1e-7.
    """
    full = np.diag(moment) if moment.ndim == 1 else moment
    z = np.linalg.solve(np.linalg.cholesky(full), points.T).T
    products = z[:, :, None] * z[:, None, :]
    off = np.abs(products.mean(axis=0) - np.eye(z.shape[1]))
    return bool(np.any(off > 5.7 * products.std(axis=0) / math.sqrt(len(z)) + 1e-12))


@pytest.mark.grid(3)
@every
def test_exact_points_have_the_law(case):
    # power: radii of d − 1 or d + 1 dimensions, scales off by 2 %, and points that never leave one
    # half are rejected, below
    drawn = exact(case.uniform, EXACT, 1)
    d, norms = case.dimension, case.norm(drawn)
    assert not radial_rejects(norms**d)
    assert not reach_rejects(norms, d)
    assert not direction_rejects(drawn, reference(case, REFERENCE))


@pytest.mark.grid(3)
@every
def test_simulated_points_have_the_law(case):
    drawn = case.uniform.simulate(MANY, SimulationRandomness(2))
    d, norms = case.dimension, case.norm(drawn)
    assert not radial_rejects(norms**d)
    assert not reach_rejects(norms, d)
    assert not direction_rejects(drawn, reference(case, REFERENCE))
    assert not moment_rejects(drawn, case.uniform.second_moment())


@pytest.mark.grid
@every
def test_points_found_by_rejection_have_the_second_moment(case):
    assert not moment_rejects(reference(case, REFERENCE), case.uniform.second_moment())


@pytest.mark.grid(3)
@every
def test_other_laws_are_rejected(case):
    drawn = case.uniform.simulate(MANY, SimulationRandomness(3))
    few, d, norms = drawn[:EXACT], case.dimension, case.norm(drawn)
    for wrong in (d - 1, d + 1):
        levels = norms[:EXACT] ** (d * d / wrong) if wrong else np.ones(EXACT)
        assert radial_rejects(levels)
    for off in (0.98, 1.02):
        assert reach_rejects(off * norms[:EXACT], d)
        assert moment_rejects(off * drawn, case.uniform.second_moment())
    if d > 1:
        assert direction_rejects(np.abs(few), reference(case, REFERENCE))


def test_a_ball_without_its_exponential_is_rejected():
    for order in (1.0, 2.0, 3.0):
        drawn = UniformNormBall(3, order).simulate(EXACT, SimulationRandomness(4))
        norms = np.linalg.norm(drawn, order, axis=1)
        bare = drawn / norms[:, None]
        assert radial_rejects(np.linalg.norm(bare, order, axis=1) ** 3)


@pytest.mark.parametrize("name", ["hull", "zonotope"])
def test_equal_shares_for_unequal_pieces_are_rejected(name, monkeypatch):
    case = next(case for case in CASES if case.name == name)
    pieces = len(case.uniform.cumulative)
    monkeypatch.setitem(case.uniform.__dict__, "cumulative", list(range(1, pieces + 1)))
    drawn = exact(case.uniform, EXACT, 5)
    assert direction_rejects(drawn, reference(case, REFERENCE))


def test_a_missing_simplex_is_rejected(monkeypatch):
    case = next(case for case in CASES if case.name == "hull")
    weights = list(case.uniform.weights)
    weights[np.argmax(case.uniform.shares)] = 0
    monkeypatch.setitem(case.uniform.__dict__, "cumulative", list(accumulate(weights)))
    assert direction_rejects(exact(case.uniform, EXACT, 6), reference(case, REFERENCE))


def test_tiles_on_one_side_are_rejected(monkeypatch):
    case = next(case for case in CASES if case.name == "zonotope")
    monkeypatch.setattr(UniformZonotope, "_signs", lambda own, _: [1] * len(own.generators))
    assert direction_rejects(exact(case.uniform, EXACT, 7), reference(case, REFERENCE))


@pytest.mark.grid
@every
def test_more_bits_only_narrow_what_is_known(case):
    source = SimulationRandomness(8)
    for _ in range(20):
        lazy = case.uniform.draw(source)
        with precision(600):
            before = lazy.balls()
            lazy.refine(source)
            after = lazy.balls()
            for wide, narrow in zip(before, after, strict=True):
                assert narrow.mid() in wide
                assert narrow.rad() < wide.rad() * 2**-40


@pytest.mark.grid
@every
def test_a_rounding_stands_whatever_bits_follow(case):
    source = SimulationRandomness(9)
    for _ in range(20):
        noise = k_norm_noise(case.uniform, 1000.5, randomness=source)
        found = rounded(noise, randomness=source)
        for _ in range(4):
            noise.refine(source)
        with precision(700):
            assert [int((z + 0.5).floor().unique_fmpz()) for z in noise.balls()] == found


@pytest.mark.grid
@every
@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**63, 2**63 - 1])
def test_structured_words_are_cured_by_more(case, word):
    source = Scripted([word] * 12, SimulationRandomness(10))
    noise = k_norm_noise(case.uniform, 1000.5, randomness=source)
    found = rounded(noise, randomness=source)
    assert len(found) == case.dimension
    assert all(isinstance(integer, int) for integer in found)


@cache
def largest_room(r):
    """The largest x − x^r, looked for."""
    grid = np.linspace(0, 1, 1_000_001)
    return np.max(grid - grid**r)


def float_point(uniform, words):
    """A point from the words that `draw` was served, by formulas of its own."""
    u = [(np.asarray(own, dtype=float) + 0.5) * 2.0**-64 for own in words]
    d = uniform.dimension
    if uniform.order == math.inf:
        return 2 * u[0] - 1
    if uniform.order == 1:
        e, v = -np.log(u[0]), 2 * u[1] - 1
        x = -np.sign(v) * np.log(np.abs(v))
        return x / (np.abs(x).sum() + e)
    if uniform.order == 2:
        e, radii, angles = -np.log(u[0]), np.sqrt(-np.log(u[1])), 2 * np.pi * u[2]
        x = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]).ravel()[:d]
        return x / np.sqrt((x**2).sum() + e)
    r, x, left = uniform.order, np.zeros(d), list(range(d))
    most = largest_room(r)
    rounds = iter(u)
    e = -np.log(next(rounds))
    while left:
        v, w = 2 * next(rounds) - 1, next(rounds)
        size = -np.log(np.abs(v))
        taken = w <= np.exp(size - size**r - most)
        for i, s, own, yes in zip(left, np.sign(v), size, taken, strict=True):
            if yes:
                x[i] = s * own
        left = [i for i, yes in zip(left, taken, strict=True) if not yes]
    return x / (np.sum(np.abs(x) ** r) + e) ** (1 / r)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 40.0, math.inf])
@pytest.mark.parametrize("size", [1, 4, 5])
def test_balls_are_what_their_words_say(order, size):
    uniform = UniformNormBall(size, order)
    for seed in range(20):
        source = Scripted([], SimulationRandomness(seed))
        found = middles(uniform.draw(source))
        assert np.allclose(found, float_point(uniform, source.served), rtol=1e-9, atol=1e-13)


def test_images_and_products_are_what_their_parts_say():
    ball = UniformNormBall(3, 1.0)
    F = np.array([[1.0, 2, 0], [0, 1, 0.5], [3, 0, -1]])
    x = middles(ball.draw(SimulationRandomness(3)))
    image = middles(UniformImage(F, ball).draw(SimulationRandomness(3)))
    assert np.allclose(image, F @ x, rtol=1e-12)
    stretched = middles(UniformImage([2.0, 3.0, -1.0], ball).draw(SimulationRandomness(3)))
    assert np.allclose(stretched, [2, 3, -1] * x, rtol=1e-12)
    source = SimulationRandomness(3)
    parts = [middles(ball.draw(source)), middles(UniformNormBall(2, 2.0).draw(source))]
    both = middles(UniformProduct((ball, UniformNormBall(2, 2.0))).draw(SimulationRandomness(3)))
    assert np.allclose(both, np.concatenate(parts), rtol=1e-12)


def test_what_is_off_adds_up_over_a_product():
    class Off:
        dimension, relative, distance = 2, 0.25, 0.125

    part = Off()
    assert 0.25 <= UniformProduct((part,)).relative < 0.25 + 1e-9
    two = UniformProduct((part, UniformNormBall(2, 2.0), part))
    assert 1.25**2 - 1 <= two.relative < 1.25**2 - 1 + 1e-9
    assert 0.25 <= two.distance < 0.25 + 1e-9
    assert UniformImage(np.ones(2), part).relative == 0.25
    assert UniformImage(np.ones(2), part).distance == 0.125
    exact_ones = UniformProduct((UniformNormBall(2, 2.0), UniformHull(HULL)))
    assert (exact_ones.relative, exact_ones.distance) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UniformNormBall(0, 2.0), "size=0"),
        (lambda: UniformNormBall(2, 0.5), "order=0.5"),
        (lambda: UniformNormBall(2, math.nan), "order=nan"),
        (lambda: UniformImage([1.0, 0.0], UniformNormBall(2, 2.0)), r"factor\[1\]=0"),
        (lambda: UniformImage([1.0], UniformNormBall(2, 2.0)), r"shape \(1,\)"),
        (lambda: UniformImage(np.ones((2, 3)), UniformNormBall(3, 2.0)), r"shape \(2, 3\)"),
        (lambda: UniformImage([1.0, math.inf], UniformNormBall(2, 2.0)), "not finite"),
        (lambda: UniformProduct(()), "empty"),
        (lambda: UniformZonotope(np.zeros((3, 2))), "0 that are not 0"),
        (lambda: UniformZonotope([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]), "rank below 2"),
        (
            lambda: UniformZonotope(np.eye(40)[:, :8] + 1.0),
            "more than 200000; give at most 20 generators in 8 dimensions, 40 in at most 4",
        ),
        (lambda: UniformHull(np.zeros((3, 2))), "nothing but 0"),
        (lambda: UniformHull([[1.0, 2.0], [2.0, 4.0]]), "rank 1, below 2"),
        (lambda: UniformHull([[1.0, math.nan]]), "not finite"),
        (lambda: UniformHull(np.eye(30)), "over 200000 simplices"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_one_line(make, message):
    with pytest.raises(PlanError, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_zeros_parallels_and_order_change_no_zonotope():
    plain = UniformZonotope(GENERATORS)
    other = UniformZonotope(np.vstack([[0.0, 0, 0], -GENERATORS[::-1], [0, 0, 0]]))
    split = UniformZonotope(np.vstack([GENERATORS / 4, GENERATORS * 0.75]))
    assert plain.volume == other.volume == split.volume
    for same in (other, split):
        assert np.allclose(plain.second_moment(), same.second_moment(), rtol=1e-9, atol=1e-9)
