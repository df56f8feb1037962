# SPDX-License-Identifier: Apache-2.0
"""Noise for boxes about another point than their middle is the least for what records change.

Mutants, each red here: the middle left out of the image (`columns[0]` 0); the greatest code taken
for the least; the checker's search of signs ended one sign early.
"""

import itertools
import json
import math

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import ImageBody, off_middle, signed
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers import solve

RANGES = {
    "the unit square about a corner": ([0.0, 0.0], [1.0, 1.0]),
    "unlike widths": ([0.0, -1.0, -7.0], [1.0, 4.0, 0.0]),
    "one off its middle": ([-1.0, -2.0, -3.0, 0.0], [1.0, 2.0, 3.0, 1.0]),
    "five": ([0.0, -1.0, 0.0, -0.25, -3.0], [1.0, 0.5, 2.0, 0.5, 1.0]),
}
WIDE = 14  # columns: beyond what is listed


def corners(lower, upper, count):
    ends = zip(lower, upper, strict=True)
    return np.array(
        [[*own, *([] if count is None else [count])] for own in itertools.product(*ends)]
    )


@pytest.mark.parametrize("count", [None, 1.0])
@pytest.mark.parametrize("name", RANGES)
def test_the_body_reaches_as_far_as_the_corners(name, count):
    lower, upper = map(np.array, RANGES[name])
    listed = off_middle(lower, upper, count)
    points = corners(lower, upper, count)
    directions = np.random.default_rng(1).standard_normal((50, points.shape[1]))
    true = np.max(np.abs(directions @ points.T), axis=1)
    image = listed.image
    of_list = np.max(np.abs(directions @ listed.points.T), axis=1)
    of_image = np.sum(np.abs(directions @ image.dense), axis=1)
    assert np.allclose(of_list, true, rtol=1e-12)
    assert np.allclose(of_image, true, rtol=1e-12)
    shape = DenseShape(np.tril(np.random.default_rng(2).standard_normal((len(directions[0]),) * 2)))
    farthest = np.max(np.linalg.norm(np.linalg.solve(shape.factor, points.T), axis=0))
    for body in (listed, image):
        assert farthest <= body.radius_up(shape) <= farthest * (1.3 if body is image else 1 + 1e-9)
    # what independent signs prove is at most a second moment of the corners
    roots = signed(listed)
    assert np.array_equal(roots, signed(image))
    assert np.all(roots <= np.max(np.abs(points), axis=0))


@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("count", [None, 1.0])
@pytest.mark.parametrize("name", RANGES)
def test_noise_is_the_least_there_is(name, count, order):
    body = off_middle(*map(np.array, RANGES[name]), count)
    found = solve(body, order=order, weights=np.ones(body.dimension)).claim.certificate()
    assert found.gap < 1e-6


def cube_about_a_corner(d):
    """Return the least ‖std‖₂ for hull ±[0, 1]^d, by one number: the mean of ones in a corner."""
    best = 0.0
    for k in range(d):  # corners with k ones, and k + 1 with chance t
        t = np.linspace(0, 1, 20001)
        ones, squares = k + t, k**2 + t * (2 * k + 1)
        along, across = squares / d, (d - 1) * (ones - squares / d)
        best = max(best, float(np.max(np.sqrt(along) + np.sqrt(np.maximum(across, 0)))))
    return best


@pytest.mark.parametrize("d", [2, 3, 4, 7, WIDE, 24])
def test_a_unit_cube_about_its_corner(d):
    body = off_middle(np.zeros(d), np.ones(d), None)
    found = solve(body, order=2.0, weights=np.ones(d)).claim.certificate()
    least = cube_about_a_corner(d)
    assert found.lower <= least * (1 + 1e-9)
    assert least * (1 - 1e-7) <= found.upper <= least * (1.002 if d >= WIDE else 1 + 1e-6)
    assert found.gap < (3e-3 if d >= WIDE else 1e-6)
    assert found.upper < 0.82 * d  # the box around it takes d


def off_center(d, order):
    return ln.plan(
        ln.Mean([f"c{i}" for i in range(d)], ln.Box([0] * d, [1 + i % 3 for i in range(d)]),
                center=[0.25 * (i % 2) for i in range(d)]),
        budget=ln.zcdp(0.5), relation="add_remove", order=order, mechanism="gaussian",
    )  # fmt: skip


@pytest.mark.parametrize(("d", "order"), [(1, 2.0), (3, math.inf), (5, 2.0), (WIDE, 2.0)])
def test_strangers_decide_plans_and_streams(d, order):
    stream = ln.stream(
        ln.Prefix(4), domain=ln.Box([0] * d, [1] * d), budget=ln.zcdp(0.5), relation="add_remove"
    )
    for made in (off_center(d, order), stream):
        text = made.to_json()
        assert checker.decide(text)[0] == checker.HOLDS
        document = json.loads(text)
        noise = document["terms"]["noise"]
        key = "factor" if "factor" in noise else "scale"
        noise[key] = (np.array(noise[key]) * (1 - 1e-6)).tolist()
        status, lines = checker.decide(json.dumps(document))
        assert status == checker.FALSE
        assert (
            any(own.startswith("FALSE") and " is beyond μ" in own for own in lines)
            or any(own.startswith("FALSE") and "has more than μ" in own for own in lines)
            or any("is short in some direction" in own for own in lines)
        )  # it is coverage that fails


def test_signs_are_searched_to_the_last():
    """Each of the patterns of signs is once the only one that reaches the most."""
    for k in range(1, 7):
        for rest in itertools.product((1, -1), repeat=k - 1):
            sign = (1, *rest)
            form = [[a * b for b in sign] for a in sign]
            assert checker.below(form, k * k, None)
            assert not checker.below(form, k * k - 1, None)


@pytest.mark.parametrize("count", [None, 1.0])
def test_no_body_of_its_own_is_needed_about_the_middle(count):
    assert off_middle(-np.ones(3), np.ones(3), count) is None
    assert off_middle(np.zeros(1), np.ones(1), None) is None
    assert signed(ImageBody(np.ones((2, 3)), NormBall(3, math.inf))) is None
