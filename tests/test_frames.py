# SPDX-License-Identifier: Apache-2.0
"""Frames lose nothing, or say how much: in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.bodies import PointDifferences, SymmetricPoints, TranslatedPoints
from lownoise.sets.frames import find_frame

KINDS = (TranslatedPoints, SymmetricPoints, PointDifferences)
every_kind = pytest.mark.parametrize("kind", KINDS)


def flat(seed, n=7, d=5, rank=2, scale=6):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, rank))
        @ rng.normal(size=(rank, d))
        * 10.0 ** rng.uniform(-scale, scale, d)
    )


def exact(array):
    return np.array([[Fraction(float(x)) for x in row] for row in np.atleast_2d(array)])


def changes(body):
    x = exact(body.points)
    if isinstance(body, PointDifferences):
        return [a - b for a in x for b in x]
    return list(x - exact(body.base_point)[0])


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_of_a_flat_body_is_within_the_slack(kind, seed):
    body = kind(flat(seed))
    frame = find_frame(body, None)
    assert frame.rank == 2
    slack = frame.slack_up(body, None, body.base_point)
    up, down = exact(frame.up()), exact(frame.map_down())
    for s in changes(body):
        rest = s - up @ (down @ s)
        assert all(abs(r) <= Fraction(float(most)) for r, most in zip(rest, slack, strict=True))
    extent = np.max(np.abs(body.points - body.base_point), axis=0)
    assert np.all(slack <= 1e-11 * np.maximum(extent, 0) + 1e-300)


@every_kind
@pytest.mark.parametrize("queries", [1, 2, 4])
@pytest.mark.parametrize("scale", [0, 10])
def test_what_queries_do_not_see_is_within_the_slack(kind, queries, scale):
    rng = np.random.default_rng(queries)
    body = kind(rng.normal(size=(6, 4)) * 10.0 ** rng.uniform(-scale, scale, 4))
    L = rng.normal(size=(queries, 3)) @ rng.normal(size=(3, 4))
    frame = find_frame(body, L)
    assert frame.rank == min(queries, 3)
    slack = frame.slack_up(body, L, body.base_point)
    up, view, q = exact(frame.up()), exact(frame.map_down()), exact(L)
    for s in changes(body):
        rest = q @ s - q @ (up @ (view @ s))
        assert all(abs(r) <= Fraction(float(most)) for r, most in zip(rest, slack, strict=True))
    reach = np.max(np.abs(L) * np.max(np.abs(body.points), axis=0), axis=1)
    assert np.all(slack <= 1e-10 * np.max(reach))


@every_kind
def test_a_full_body_that_is_fully_asked_keeps_its_coordinates(kind):
    body = kind(np.random.default_rng(0).normal(size=(9, 3)) * [1e-12, 1, 1e12])
    for queries in (None, np.random.default_rng(1).normal(size=(3, 3)), np.diag([1e12, 1, 1e-12])):
        frame = find_frame(body, queries)
        assert frame.exact
        assert not np.any(frame.slack_up(body, queries, body.base_point))
        assert frame.down(body.points) is body.points


def test_in_order_keeps_the_first_independent_coordinates():
    points = np.array([[0.0, 1.0, 2.0, 0.5], [0.0, 3.0, 6.0, 100.0]])
    frame = find_frame(SymmetricPoints(points), None, in_order=True)
    assert frame.pivots.tolist() == [1, 3]
    assert frame.up()[2] == pytest.approx([2.0, 0.0])


def test_a_coordinate_that_no_query_names_is_left_out():
    body = TranslatedPoints(np.random.default_rng(0).normal(size=(9, 3)))
    frame = find_frame(body, np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]]))
    assert frame.rank == 2
    assert not np.any(frame.up()[1])
    assert find_frame(body, np.zeros((2, 3))).rank == 0


def test_the_widest_coordinate_tells_the_others():
    """y = s₃ + s₂ and s₁ − s₂ keep their digits; s₁ + s₃ and s₂ + s₃ would not."""
    body = TranslatedPoints(np.random.default_rng(0).normal(size=(9, 3)) * [1e-9, 1e-9, 1e9])
    frame = find_frame(body, np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    assert frame.seeing[0] == 2


@pytest.mark.parametrize("size", [3, 8, 40])
def test_ties_are_decided_by_place_and_not_by_the_last_bits(size):
    """A simplex in a flat: whatever 1e-12 does to the points, the same coordinates are summed."""
    rng = np.random.default_rng(size)
    points = np.eye(size)
    for _ in range(10):
        off = points * (1 + 1e-12 * rng.standard_normal(points.shape))
        kept = ln.Points(off / off.sum(axis=1, keepdims=True)).coordinates().pivots
        assert kept.tolist() == list(range(size - 1))
