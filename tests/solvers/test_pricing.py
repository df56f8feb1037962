# SPDX-License-Identifier: Apache-2.0
"""Pricing against brute force, while bounds are carried from one ellipsoid to the next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.solvers.pricing import PairVertices, PointVertices, distinct

SEED = st.integers(0, 2**32 - 1)
CLOSE = 1 + 1e-7
few = settings(max_examples=12)


def maps(rng, r, *, moves):
    """Ellipsoids that settle down, as a solver's do."""
    base, center = np.eye(r) + 0.3 * rng.normal(size=(r, r)), rng.normal(size=r)
    for size in (1.0, 0.3, 0.1, 0.01, 1e-4, 0.5):
        yield (
            base + size * rng.normal(size=(r, r)),
            (center + size * rng.normal(size=r)) * moves,
            float(rng.uniform(0.3, 1.1)),
            int(rng.integers(1, 30)),
        )


@few
@given(SEED, st.booleans())
def test_points_that_stand_out_are_found(seed, moves):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(1, 900)), int(rng.integers(1, 5))
    points = rng.standard_t(3, size=(n, r))
    vertices = PointVertices(points, moves=moves)
    for inverse, mean, part, wanted in maps(rng, r, moves=moves):
        norms = np.linalg.norm((points - mean) @ inverse.T, axis=1)
        beyond = part * float(np.max(norms))
        found = vertices.price(inverse, mean, beyond, wanted)
        assert found.radius == pytest.approx(np.max(norms), rel=1e-9)
        out = np.sort(norms[norms > beyond])[::-1]
        assert norms[found.indices] == pytest.approx(out[:wanted], rel=1e-9)


@few
@given(SEED)
def test_pairs_that_stand_out_are_found(seed):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 300)), int(rng.integers(1, 5))
    points = rng.standard_t(3, size=(n, r))
    vertices = PairVertices(points)
    i, j = np.triu_indices(n, 1)
    for inverse, mean, part, wanted in maps(rng, r, moves=False):
        norms = np.linalg.norm((points[i] - points[j]) @ inverse.T, axis=1)
        longest = float(np.max(norms))
        beyond = part * longest
        found = vertices.price(inverse, mean, beyond, wanted)
        assert found.radius >= longest / CLOSE
        lengths = np.linalg.norm(vertices.gather(found.indices) @ inverse.T, axis=1)
        assert np.all(lengths > beyond / CLOSE)
        assert len(np.unique(found.indices, axis=0)) == len(found.indices) <= wanted
        if beyond < longest / CLOSE:
            assert len(found.indices) > 0
        elif beyond > longest * CLOSE:
            assert not len(found.indices)
            assert found.radius <= beyond * CLOSE


@few
@given(SEED, st.booleans(), st.floats(0, 6))
def test_the_first_vertices_span(seed, pairs, scale):
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 6))
    n = int(rng.integers(r + 1, 400))
    points = rng.normal(size=(n, r)) * 10.0 ** rng.uniform(-scale, scale, r)
    vertices = PairVertices(points) if pairs else PointVertices(points, moves=True)
    first = vertices.first(4 * r + 8)
    rows = vertices.gather(first)
    rows = rows if pairs else rows - rows.mean(axis=0)
    assert np.linalg.matrix_rank(rows / np.max(np.abs(points), axis=0)) == r
    assert len(np.unique(first, axis=0)) == len(first)


def test_a_direction_that_few_points_have_is_found():
    """A sample at even distances misses them."""
    points = np.random.default_rng(0).normal(size=(50_000, 3))
    points[:, 2] = 0.0
    points[12_345, 2] = 1.0
    for vertices in (PointVertices(points, moves=True), PairVertices(points)):
        rows = vertices.gather(vertices.first(20))
        assert np.linalg.matrix_rank(rows - rows.mean(axis=0)) == 3


@few
@given(SEED)
def test_distinct_points_are_kept_once(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-1, 2, (int(rng.integers(1, 200)), int(rng.integers(1, 4)))) * 0.1
    kept = distinct(points)
    assert len(np.unique(points[kept], axis=0)) == len(np.unique(points, axis=0)) == kept.size
    assert np.all(np.diff(kept) > 0)
    seen = {tuple(p) for p in points[: kept[-1]]}
    assert tuple(points[kept[-1]]) not in seen
