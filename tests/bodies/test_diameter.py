# SPDX-License-Identifier: Apache-2.0
"""The farthest pairs, against all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.sets.pairs import farthest_pairs

SEED = st.integers(0, 2**32 - 1)
CLOSE = 1e-9


def cloud(seed):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(1, 1500)), int(rng.integers(1, 6))
    points = rng.normal(size=(n, r)) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.5:
        points *= rng.exponential(size=(n, 1)) ** 3
    if rng.random() < 0.3:
        points = points[rng.integers(0, n, n)]
    return points - points.mean(axis=0)


def distances(points):
    squares = np.sum(points**2, axis=1)
    table = squares[:, None] + squares - 2 * points @ points.T
    return np.sqrt(np.maximum(table, 0))


@settings(max_examples=25)
@given(SEED)
def test_the_longest_is_the_longest_of_all_pairs(seed):
    points = cloud(seed)
    table = distances(points)
    found = farthest_pairs(points)
    assert found.longest == pytest.approx(
        np.max(table), rel=CLOSE, abs=1e-6 * np.max(np.abs(points))
    )
    assert np.all(table.max(axis=1) <= found.bounds * (1 + CLOSE) + 1e-300)


@settings(max_examples=25)
@given(SEED, st.floats(0.3, 1.1), st.integers(1, 60))
def test_enough_pairs_beyond_are_found_with_their_lengths(seed, part, enough):
    points = cloud(seed)
    table = distances(points)
    most = table.max(axis=1)
    beyond = part * float(np.max(most))
    found = farthest_pairs(points, beyond=beyond, enough=enough)
    assert np.all(np.diff(found.distances) <= 0)
    assert found.distances == pytest.approx(table[found.first, found.second], rel=1e-7)
    assert np.all(found.distances >= beyond)
    assert len(found.first) >= min(enough, np.count_nonzero(most > beyond * (1 + CLOSE)))
    assert found.longest >= np.max(most) * (1 - CLOSE)
    assert np.all(most <= found.bounds * (1 + CLOSE) + 1e-300)
    if not np.any(most > beyond * (1 - CLOSE)):
        assert found.longest <= beyond * (1 + CLOSE)


@settings(max_examples=25)
@given(SEED, st.floats(1, 1.5))
def test_known_bounds_change_no_answer(seed, loose):
    points = cloud(seed)
    most = distances(points).max(axis=1)
    plain = farthest_pairs(points)
    told = farthest_pairs(points, bounds=loose * most * (1 + CLOSE))
    assert told.longest == pytest.approx(plain.longest, rel=CLOSE)
    beyond = 0.9 * float(np.max(most, initial=0.0))
    some = farthest_pairs(points, beyond=beyond, enough=5, bounds=loose * most * (1 + CLOSE))
    assert some.longest >= np.max(most) * (1 - CLOSE)
    assert np.all(most <= some.bounds * (1 + CLOSE) + 1e-300)


def test_most_pairs_are_never_looked_at(monkeypatch):
    seen = []
    from lownoise.sets import pairs as module

    scan = module._Scan.block

    def counted(self, start, end, live):
        seen.append((end - start) * (live - start))
        scan(self, start, end, live)

    monkeypatch.setattr(module._Scan, "block", counted)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 3))
    found = farthest_pairs(points)
    assert sum(seen) < 0.1 * 20_000**2
    assert found.longest >= max(np.ptp(points, axis=0))


def test_a_single_point_is_no_pair():
    found = farthest_pairs(np.zeros((1, 2)))
    assert found.longest == 0.0
    assert not found.first.size


def all_pairs(points):
    return max(float(np.max(np.sum((points - own) ** 2, axis=1))) for own in points) ** 0.5


def spherical(n, r, seed=0):
    points = np.random.default_rng(seed).standard_normal((n, r))
    return points / np.linalg.norm(points, axis=1)[:, None]


CLOUDS = {
    "sphere": spherical(2500, 12),
    "sphere in the plane": spherical(2500, 2),
    "simplex": np.eye(300) - 1 / 300,  # all pairs are the longest: more than are settled singly
    "cube": np.array(np.meshgrid(*[[-1.0, 1.0]] * 11)).reshape(11, -1).T,
    "twice": np.repeat(spherical(400, 6), 3, axis=0),
    "clusters": np.repeat(spherical(8, 5), 250, axis=0) + 1e-4 * spherical(2000, 5, 1),
    "nearly as long": spherical(2500, 2) * (1 + 1e-8 * spherical(2500, 1, 2)),
    "one coordinate tiny": spherical(900, 3) * [1, 1e-12, 1e-30],
    "huge": spherical(900, 3) * 1e300,
    "small": spherical(900, 3) * 1e-250,
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CLOUDS)
def test_the_longest_is_outward_and_as_close_as_doubles(name):
    points = CLOUDS[name]
    unit = 2.0 ** np.frexp(np.max(np.abs(points)))[1]
    truth = all_pairs(points / unit) * unit
    for found in (
        farthest_pairs(points),
        farthest_pairs(points, beyond=0.999 * truth, enough=len(points) + 1),
    ):
        assert truth * (1 - 1e-15) <= found.longest <= truth * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_pairs_that_single_precision_cannot_tell_apart_are_told_apart(seed):
    rng = np.random.default_rng(seed)
    half = 1.37 * spherical(150, 12, seed) * (1 + 1e-9 * rng.random((150, 1)))
    points = np.concatenate([half, -half * (1 + 1e-9 * rng.random((150, 1)))])
    truth = all_pairs(points)
    assert truth * (1 - 1e-15) <= farthest_pairs(points).longest <= truth * (1 + 1e-13)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ["sphere", "cube", "nearly as long", "clusters"])
def test_the_farthest_pair_is_among_those_beyond(name):
    """Doubles tell it from pairs that single precision takes for as long."""
    points = CLOUDS[name]
    truth = all_pairs(points)
    found = farthest_pairs(points, beyond=truth * (1 - 1e-11), enough=len(points) + 1)
    assert found.first.size >= 2
    assert found.distances[0] >= truth * (1 - 1e-15)
    length = np.linalg.norm(points[found.first] - points[found.second], axis=1)
    assert length == pytest.approx(found.distances, rel=1e-14)


def test_points_far_from_their_center_have_a_looser_bound():
    points = spherical(900, 3) + 1e6
    assert all_pairs(points) <= farthest_pairs(points).longest <= all_pairs(points) * 1.01


def test_points_on_a_sphere_take_little_memory():
    import tracemalloc

    points = spherical(6000, 10)
    tracemalloc.start()
    farthest_pairs(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * points.nbytes + 2**23  # a table of all pairs is 600 times the points
