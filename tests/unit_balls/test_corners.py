# SPDX-License-Identifier: Apache-2.0
"""Corners of unit balls: their hull is the ball, and noise of its shape is the hull's."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.bodies import ImageBody
from lownoise.sets.norms.choice import norm_of
from lownoise.sets.unit_balls import CappedBall, NormBall, SortedBall, product_ball, signed_corners
from unit_ball_cases import BASES

RNG = np.random.default_rng(20261123)
CAPPED = {
    "unlike caps": [0.7, 0.6],
    "one cap is enough": [1.0, 0.3, 0.2],
    "caps alone": [0.2, 0.3, 0.4],
    "caps of sum one": [0.25, 0.25, 0.5],
    "nearly of sum one": [0.3, 0.6, 0.1 + 2.0**-50],
    "halves": [0.5] * 5,
    "many": np.linspace(0.15, 0.9, 6).tolist(),
}
OWN = {
    **{name: CappedBall(np.array(cap), 1.0) for name, cap in CAPPED.items()},
    "all equal": SortedBall(np.ones(4)),
    "two equal": SortedBall(np.array([2.0, 2.0, 1.0])),
    "falling": SortedBall(np.array([3.0, 1.0, 0.5, 0.1])),
    "beside one": product_ball([SortedBall(np.array([1.0, 0.5])), NormBall(1, math.inf)]),
}
FOUND = {**{name: base for name, base in BASES.items() if signed_corners(base) is not None}, **OWN}


@pytest.mark.grid
@pytest.mark.parametrize("base", FOUND.values(), ids=list(FOUND))
def test_the_hull_of_the_corners_is_the_ball(base):
    corners = signed_corners(base)
    directions = RNG.standard_normal((400, base.dimension)) ** 3
    directions[: base.dimension] = np.eye(base.dimension)
    reach = np.max(np.abs(directions @ corners.T), axis=1)
    inside = np.einsum("ij,ij->i", base.extreme(directions), directions)
    assert np.all(reach * (1 + 1e-13) >= inside)
    assert reach == pytest.approx(base.support_up(directions), rel=1e-10)
    assert np.all(base.norm_up(corners) <= 1 + 1e-10)


def test_round_and_many_have_none():
    assert signed_corners(CappedBall(np.array([0.6, 1.0]))) is None
    assert signed_corners(SortedBall(np.linspace(1, 0.1, 9))) is None
    assert signed_corners(CappedBall(np.full(30, 0.1), 1.0)) is None
    assert signed_corners(NormBall(3, 1.0)) is None  # which has its own forms


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ["unlike caps", "one cap is enough", "two equal", "falling"])
@pytest.mark.parametrize("dense", [False, True])
def test_a_hulls_norm_holds_the_image_and_hardly_more(name, dense):
    base = OWN[name]
    k = base.dimension
    factor = RNG.standard_normal((max(k - 1, 2), k)) if dense else np.linspace(0.5, 3, k)
    body = ImageBody(factor, base)
    norm = norm_of(body)  # pure: no distance is asked for
    assert norm.sensitivity_up(body) <= 1
    ends = base.extreme(RNG.standard_normal((300, k))) @ body.dense.T
    sizes = norm.norm_up(ends)
    assert np.all(sizes <= 1 + 1e-9)
    if k > 2:
        assert np.max(sizes) > 1 - 1e-9


def test_noise_of_a_capped_cross_polytope_is_that_of_its_vertices():
    """With the ℓ₂ ball in its place K-norm noise has 3.677, and Gaussian noise a gap of 9 %."""
    both = ln.intersection(ln.Ball(2, order=1), ln.Box([-0.7, -0.6], [0.7, 0.6]))
    corners = [[0.7, 0.3], [0.7, -0.3], [0.4, 0.6], [-0.4, 0.6]]
    listed = ln.hull(ln.Points([*corners, *(-np.array(corners)).tolist()]))
    for relation in ({"relation": "substitute", "size": 1}, {"relation": "add_remove"}):
        own, other = (
            [
                ln.plan(ln.Mean(["a", "b"], domain), budget=budget, mechanism=name, **relation)
                for budget, name in ((ln.pure_dp(1), "k_norm"), (ln.zcdp(0.5), None))
            ]
            for domain in (both, listed)
        )
        for mine, theirs in zip(own, other, strict=True):
            assert mine.error == pytest.approx(theirs.error, rel=1e-4)
        assert own[1].certificate.gap < 1e-6
    assert own[0].error < 3.25


@pytest.mark.parametrize("d", [2, 3, 4])
def test_images_of_sorted_norms_are_closed_by_their_vertices(d):
    factor = RNG.standard_normal((d, d + 1)).tolist()
    for base in (ln.TopBall(d + 1, 2), ln.OrderedBall(np.linspace(1, 0.3, d + 1))):
        found = ln.theory.enclose(ln.image(factor, base), order=2.0)
        assert found.certificate.gap < 1e-5


@pytest.mark.parametrize("name", ["unlike caps", "halves", "two equal", "falling"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_the_length_of_an_image_is_that_of_its_farthest_corner(name, diagonal):
    base = OWN[name]
    k = base.dimension
    body = ImageBody(np.linspace(0.5, 3, k) if diagonal else RNG.standard_normal((k, k)), base)
    for matrix in (np.eye(k), RNG.standard_normal((20, k))):
        ends = base.extreme(RNG.standard_normal((4000, k))) @ body.dense.T
        longest = np.max(np.linalg.norm(ends @ matrix.T, axis=1))
        found = [body.length_up(matrix, np.zeros(k))]
        if len(matrix) == k:
            found.append(body.answer_length(None))
        for own in found:
            assert longest <= own <= longest * (1 + 1e-9)
