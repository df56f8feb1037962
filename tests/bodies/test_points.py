# SPDX-License-Identifier: Apache-2.0
"""What bodies say of their reach is above the truth, in exact fractions, and not far above."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.sets.bodies import PointDifferences, SymmetricPoints, TranslatedPoints
from lownoise.sets.pairs import farthest_pairs

KINDS = (TranslatedPoints, SymmetricPoints, PointDifferences)


def exact(array):
    return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(array)]


def members(body, center):
    x = exact(body.points)
    if isinstance(body, PointDifferences):
        return [[p - q for p, q in zip(a, b, strict=True)] for a in x for b in x]
    v = exact(center)[0] if isinstance(body, TranslatedPoints) else [Fraction(0)] * body.dimension
    return [[p - q for p, q in zip(a, v, strict=True)] for a in x]


@settings(max_examples=40)
@given(
    st.sampled_from(KINDS),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 3, 12]),
    st.sampled_from([0.0, 1.0, 1e9]),
)
def test_reach_and_extent_are_just_above_the_truth(kind, seed, scale, far):
    rng = np.random.default_rng(seed)
    n, d, r = rng.integers(1, 7, 3)
    units = 10.0 ** rng.uniform(-scale, scale, d)
    body = kind((rng.normal(size=(n, d)) + far * rng.normal(size=d)) * units)
    matrix = rng.normal(size=(r, d)) / units * 10.0 ** rng.uniform(-scale, scale, (r, 1))
    center = body.points.mean(axis=0) * (kind is TranslatedPoints)
    images = [
        [sum(a * b for a, b in zip(row, s, strict=True)) for row in exact(matrix)]
        for s in members(body, center)
    ]
    reach = max(sum(v * v for v in image) for image in images)
    found = Fraction(body.length_up(matrix, center))
    assert found**2 >= reach
    extents = body.extent_up(matrix, center)
    for i in range(r):
        assert Fraction(float(extents[i])) >= max(abs(image[i]) for image in images)
    # no more than rounding of what was multiplied
    size = np.abs(matrix) @ np.max(np.abs(body.points - center), axis=0)
    doubt = 1e-12 * float(np.linalg.norm(size))
    assert float(found) <= float(reach) ** 0.5 * (1 + 1e-11) + 2 * doubt
    assert np.all(
        extents <= [2 * float(max(abs(m[i]) for m in images)) + 2 * doubt for i in range(r)]
    )


@settings(max_examples=20)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_what_cancels_is_rounded_outward(kind, seed):
    """Points far along a direction that the matrix hardly sees: the image is mostly rounding."""
    rng = np.random.default_rng(seed)
    along = rng.normal(size=3)
    across = np.linalg.qr(along[:, None], mode="complete")[0][:, 1:].T
    body = kind(rng.normal(size=(5, 1)) * 1e9 * along + 1e-7 * rng.normal(size=(5, 3)))
    center = np.zeros(3)
    images = [
        [sum(a * b for a, b in zip(row, s, strict=True)) for row in exact(across)]
        for s in members(body, center)
    ]
    reach = max(sum(v * v for v in image) for image in images)
    assert Fraction(body.length_up(across, center)) ** 2 >= reach
    extents = body.extent_up(across, center)
    for i in range(2):
        assert Fraction(float(extents[i])) >= max(abs(image[i]) for image in images)


@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_reaches_farther_block_by_block(kind, monkeypatch):
    monkeypatch.setattr("lownoise.sets.bodies.points._BLOCK", 12)
    body = kind(np.random.default_rng(0).normal(size=(50, 3)))
    center = np.zeros(3)
    reach = max(float(sum(v * v for v in s)) for s in members(body, center)) ** 0.5
    assert body.length_up(np.eye(3), center) == pytest.approx(reach, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_vertices_are_known_by_their_indices(kind):
    body = kind(np.arange(6.0).reshape(3, 2) ** 2)
    pairs = kind is PointDifferences
    known = np.array([[0, 2], [1, 1]]) if pairs else np.array([2, 0])
    assert body.knows(known)
    assert body.vertices(known).shape == (2, 2)
    assert not body.knows(known + 1)
    assert not body.knows(known - 1)
    assert not body.knows(known.astype(float))
    assert not body.knows(np.array([0, 1]) if pairs else np.array([[0, 1]]))
    assert not body.knows(np.array(0))
    assert body.replaced(np.eye(3)).dimension == 3
    assert body.moves == (kind is TranslatedPoints)


def test_the_reach_of_differences_holds_far_from_zero():
    # a float mean of these 16,384 rows is nowhere near them
    points = np.full((2**14, 2), 2.0**52 - 3523)
    points[-1] += [3, 1]
    points[-2] -= [3, 1]
    scale = np.array([2.0300000000000002, 2.6000000000000001])
    matrix = np.diag(1 / scale)
    exact_square = sum(
        (Fraction(float(m)) * Fraction(2 * step)) ** 2
        for m, step in zip(np.diag(matrix), (3, 1), strict=True)
    )
    found = PointDifferences(points).length_up(matrix, np.zeros(2))
    assert Fraction(found) ** 2 >= exact_square
    assert found <= float(exact_square) ** 0.5 * (1 + 1e-12)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_longest_pair_is_never_below_the_truth_about_any_center(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-5, 6, size=(30, 3)).astype(float) + 10.0 ** rng.uniform(0, 12)
    rows = [[Fraction(float(x)) for x in row] for row in points]
    truth = max(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for a in rows for b in rows)
    assert Fraction(farthest_pairs(points).longest) ** 2 >= truth
