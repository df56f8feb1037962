# SPDX-License-Identifier: Apache-2.0
"""How far images of unit bodies reach is never stated too low, and tightly where it can be."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.errors import PlanError
from lownoise.numbers.rounding import spectral_up
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import ImageBody, RoundedBody, SymmetricPoints, image_body
from lownoise.sets.unit_balls import MixedBall, NormBall
from unit_ball_cases import BASES, random_points

SEED = st.integers(0, 2**32 - 1)
BALL = NormBall(3, 2.0)
every = pytest.mark.parametrize("base", BASES.values(), ids=list(BASES))


def nasty(rng, d, k):
    """A matrix of any scale and rank, some rows and columns 0."""
    rank = int(rng.integers(1, min(d, k) + 1))
    found = rng.normal(size=(d, rank)) @ rng.normal(size=(rank, k))
    found *= 10.0 ** rng.uniform(-6, 6, (1, k)) if rng.random() < 0.5 else 1.0
    found *= 10.0 ** rng.uniform(-6, 6, (d, 1)) if rng.random() < 0.5 else 1.0
    found[rng.random(d) < 0.2] = 0.0
    found[:, rng.random(k) < 0.2] = 0.0
    return found * 10.0 ** rng.uniform(-140, 140)


def exactly(*matrices):
    """The product of float matrices in fractions, rows of rows."""
    found = [[Fraction(float(v)) for v in row] for row in matrices[0]]
    for matrix in matrices[1:]:
        columns = [[Fraction(float(v)) for v in column] for column in np.transpose(matrix)]
        found = [
            [sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in found
        ]
    return found


def length(vector):
    with mpmath.workdps(50):
        squares = sum(v * v for v in vector)
        return mpmath.sqrt(mpmath.mpf(squares.numerator) / mpmath.mpf(squares.denominator))


def sampled(base, rng, count=12):
    return np.vstack(
        [random_points(base, rng, count), base.extreme(rng.normal(size=(count, base.dimension)))]
    )


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_no_sampled_point_is_beyond_the_stated_reach(base, seed):
    rng = np.random.default_rng(seed)
    k, d, r = base.dimension, int(rng.integers(1, 7)), int(rng.integers(1, 5))
    factor, matrix = nasty(rng, d, k), nasty(rng, r, d) * 10.0 ** rng.uniform(-9, 9)
    body = ImageBody(factor, base)
    matrix /= max(np.max(np.abs(factor)), 1.0)  # products that floats hold
    reach = body.length_up(matrix, np.zeros(d))
    extent, widths = body.extent_up(matrix, np.zeros(d)), body.widths()
    # a mistake of the sampled points' own last digits is not the body's
    for x in sampled(base, rng) * (1 - 2.0**-40):
        moved = [row[0] for row in exactly(matrix, factor, x[:, None])]
        assert length(moved) <= mpmath.mpf(reach)
        assert all(abs(m) <= Fraction(float(e)) for m, e in zip(moved, extent, strict=True))
        point = [row[0] for row in exactly(factor, x[:, None])]
        assert all(abs(p) <= Fraction(float(w)) for p, w in zip(point, widths, strict=True))


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_widths_and_extents_are_hardly_more_than_the_truth(base, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(4, base.dimension))
    body, axes = ImageBody(factor, base), np.eye(4)
    truth = np.einsum("ij,ij->i", base.extreme(factor), factor)
    assert body.widths() == pytest.approx(truth, rel=1e-9)
    assert body.extent_up(axes, np.zeros(4)) == pytest.approx(truth, rel=1e-9)


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_along_the_diagonal_the_reach_is_tight_and_nothing_is_beyond(base, seed):
    rng = np.random.default_rng(seed)
    k = base.dimension
    factor = rng.normal(size=k) * 10.0 ** rng.uniform(-30, 30, k) * (rng.random(k) < 0.9)
    scale = np.exp(rng.normal(size=k)) * 10.0 ** rng.uniform(-30, 30)
    body = ImageBody(factor, base)
    reach = body.radius_up(DiagonalShape(scale))
    ratios = np.abs(factor / scale)
    for x in sampled(base, rng) * (1 - 2.0**-40):
        assert float(np.linalg.norm(ratios * x)) <= reach
    # a hint in proportion to the squares is tight: the image is then orthogonal
    hint = np.maximum(np.square(ratios / (np.max(ratios) or 1.0)), 1e-30)
    dense = ImageBody(np.diag(factor), base, hint)
    assert dense.length_up(np.diag(1 / scale), np.zeros(k)) == pytest.approx(reach, rel=1e-9)
    assert body.radius_up(DiagonalShape(scale)) == reach


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_any_hint_is_a_proof_and_the_right_one_is_tight(base, seed):
    """Where the image of a base is turned only, its own squares prove its reach exactly."""
    rng = np.random.default_rng(seed)
    k = base.dimension
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    size = np.exp(rng.normal(size=k))
    body, axes, zero = ImageBody(turn * size, base), np.eye(k), np.zeros(k)
    known = math.sqrt(base.energy_up(np.square(size)))
    assert body.with_multipliers(np.square(size)).length_up(axes, zero) == pytest.approx(
        known, rel=1e-9
    )
    starts = sampled(base, rng)
    for _ in range(30):
        starts = base.extreme(starts * size * size)
    assert float(np.max(np.linalg.norm(starts * size, axis=1))) == pytest.approx(known, rel=1e-6)
    bare = ImageBody(turn * size, base).length_up(axes, zero)
    for spread in (1e-6, 1.0, 30.0, 600.0):
        hint = np.exp(np.clip(spread * rng.normal(size=k), -690, 690))
        found = body.with_multipliers(hint).length_up(axes, zero)
        assert known * (1 - 1e-12) <= found <= bare


@settings(max_examples=30)
@given(SEED)
def test_a_hint_never_proves_less_than_the_corners(seed):
    """A cube under any matrix, against all of its corners."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    factor = rng.normal(size=(d, k)) * 10.0 ** rng.uniform(-3, 3, k)
    cube = NormBall(k, math.inf)
    corners = SymmetricPoints(image_body(factor, cube).points)
    zero = np.zeros(d)
    truth = corners.length_up(np.eye(d), zero)
    for hint in (None, rng.exponential(size=k) + 1e-9, 10.0 ** rng.uniform(-200, 200, k)):
        found = ImageBody(factor, cube, hint).length_up(np.eye(d), zero)
        assert truth * (1 - 1e-12) <= found


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-150, 1e150, 1e170, 1e300])
@pytest.mark.parametrize(
    "hint", [None, np.array([1e-300, 1e-300, 1e-300]), np.array([1e300, 1.0, 1e-300])]
)
def test_numbers_of_every_size_are_covered(size, hint):
    cube = NormBall(3, math.inf)
    truth = size * math.sqrt(3)
    reach = ImageBody(size * np.eye(3), cube, hint).length_up(np.eye(3), np.zeros(3))
    assert reach >= truth * (1 - 1e-15)
    assert hint is not None or reach <= truth * (1 + 1e-9)
    along = ImageBody(np.full(3, size), cube).radius_up(DiagonalShape(np.ones(3)))
    assert along >= truth * (1 - 1e-15)
    beyond = ImageBody(1e200 * np.eye(3), cube, hint).length_up(1e200 * np.eye(3), np.zeros(3))
    assert beyond == math.inf


@pytest.mark.parametrize(
    "hint",
    [np.ones(1), np.ones(2), np.ones(4), np.ones((3, 1)), np.array([1.0, 0.0, 1.0]),
     np.array([1.0, -1.0, 1.0]), np.array([1.0, np.nan, 1.0])],
)  # fmt: skip
def test_a_hint_that_is_not_one_number_a_coordinate_is_refused(hint):
    """One number for all would be broadcast, and would prove too little."""
    with pytest.raises(PlanError, match="multipliers is not 3 numbers") as refused:
        ImageBody(np.eye(3), BALL, hint)
    assert "\n" not in str(refused.value)
    with pytest.raises(PlanError, match="columns of its base"):
        ImageBody(np.eye(2), BALL)


@every
def test_a_body_that_is_a_point_reaches_nowhere(base):
    body = ImageBody(np.zeros((2, base.dimension)), base)
    rounded = RoundedBody(body, np.zeros(2))
    assert body.length_up(np.eye(2), np.zeros(2)) == 0.0
    assert rounded.radius_up(DenseShape(np.eye(2))) == 0.0
    assert np.array_equal(rounded.widths(), np.zeros(2))


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_a_rounded_body_holds_each_point_with_its_box(base, seed):
    rng = np.random.default_rng(seed)
    d = 3
    body = ImageBody(rng.normal(size=(d, base.dimension)), base)
    rounded = RoundedBody(body, rng.exponential(size=d))
    L = np.tril(rng.normal(size=(d, d))) + 2 * np.eye(d)
    reach, widths = rounded.radius_up(DenseShape(L)), rounded.widths()
    ends = sampled(base, rng) @ body.factor.T
    corners = rng.choice([-1.0, 1.0], ends.shape) * rounded.slack
    moved = (ends + corners) * (1 - 2.0**-40)
    assert np.max(np.linalg.norm(np.linalg.solve(L, moved.T), axis=0)) <= reach
    assert np.all(np.max(np.abs(moved), axis=0) <= widths)
    # no more than both apart; and the box alone is reached
    assert reach <= body.radius_up(DenseShape(L)) + DenseShape(L).box_radius_up(rounded.slack) * (
        1 + 1e-12
    )
    assert np.linalg.norm(np.linalg.solve(L, rounded.slack)) <= reach


def test_rounding_counts_in_full():
    """An interval of half a step about each end: both together, exactly."""
    body = RoundedBody(ImageBody(np.array([3.0]), NormBall(1, 2.0)), np.array([0.5]))
    assert body.radius_up(DiagonalShape([1.0])) == pytest.approx(3.5, rel=1e-12)
    assert body.radius_up(DenseShape([[2.0]])) == pytest.approx(1.75, rel=1e-12)


@settings(max_examples=40)
@given(SEED)
def test_the_spectral_bound_is_above_the_norm_and_hardly_more(seed):
    rng = np.random.default_rng(seed)
    matrix = nasty(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    found = spectral_up(matrix)
    scale = Fraction(float(np.max(np.abs(matrix)))) or Fraction(1)
    gram = (
        exactly(matrix, matrix.T) if len(matrix) <= matrix.shape[1] else exactly(matrix.T, matrix)
    )
    with mpmath.workdps(60):
        parts = mpmath.matrix(
            [
                [mpmath.mpf((v / scale**2).numerator) / (v / scale**2).denominator for v in row]
                for row in gram
            ]
        )
        values = mpmath.eigsy(parts, eigvals_only=True)
        known = mpmath.sqrt(max(*values, 0)) * mpmath.mpf(scale.numerator) / scale.denominator
    assert mpmath.mpf(found) >= known
    assert mpmath.mpf(found) <= known * (1 + mpmath.mpf(1e-9))


@pytest.mark.parametrize("least", [5e-324, 1.5e-323, 1e-310])
def test_the_spectral_bound_is_one_among_the_least_floats(least):
    found = spectral_up(np.full((3, 3), least))
    assert Fraction(found) >= 3 * Fraction(least)
    # √2 and √5 of them are no floats
    assert Fraction(spectral_up(np.full((1, 2), least))) ** 2 >= 2 * Fraction(least) ** 2
    assert Fraction(spectral_up(np.full((1, 5), least))) ** 2 >= 5 * Fraction(least) ** 2


def test_the_spectral_bound_of_what_is_not_finite_is_infinite():
    assert spectral_up(np.array([[np.nan, 1.0]])) == math.inf
    assert spectral_up(np.array([[np.inf, 1.0]])) == math.inf
    assert spectral_up(np.zeros((2, 0))) == 0.0


def test_few_generators_are_listed_as_corners_and_many_are_not():
    few = image_body(np.ones((2, 5)), NormBall(5, math.inf))
    assert isinstance(few, SymmetricPoints)
    assert len(few.points) == 2**4
    assert isinstance(image_body(np.ones((2, 22)), NormBall(22, math.inf)), ImageBody)
    assert isinstance(image_body(np.ones((2, 5)), NormBall(5, 1.0)), SymmetricPoints)
    assert isinstance(image_body(np.ones((2, 5)), NormBall(5, 2.0)), ImageBody)
    assert isinstance(
        image_body(np.ones((2, 2)), MixedBall((NormBall(1, 2.0),) * 2, 2.0)), ImageBody
    )
    rng = np.random.default_rng(3)
    factor, theta = rng.normal(size=(3, 5)), rng.normal(size=(40, 3))
    for order in (1.0, math.inf):
        base = NormBall(5, order)
        listed = np.max(np.abs(theta @ image_body(factor, base).points.T), axis=1)
        assert listed == pytest.approx(base.support_up(theta @ factor), rel=1e-9)
