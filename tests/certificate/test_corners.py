# SPDX-License-Identifier: Apache-2.0
"""Noise for boxes about another point than their middle is the least for what records change.

Mutants, each red here: the middle left out of the image (`columns[0]` 0); the greatest code taken
for the least; the checker's search of signs ended one sign early; the diag(1 − b²) of leaning signs
taken for the identity, here and in the checker; a count's share without α (`spared` 0 in its root).
"""

import itertools
import json
import math

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from lownoise.certificate import SignsDual, SquaresDual
from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import ImageBody, beside_a_count, off_middle, signed
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers import solve

RANGES = {
    "the unit square about a corner": ([0.0, 0.0], [1.0, 1.0]),
    "unlike widths": ([0.0, -1.0, -7.0], [1.0, 4.0, 0.0]),
    "one off its middle": ([-1.0, -2.0, -3.0, 0.0], [1.0, 2.0, 3.0, 1.0]),
    "five": ([0.0, -1.0, 0.0, -0.25, -3.0], [1.0, 0.5, 2.0, 0.5, 1.0]),
}
WIDE = 14  # columns: beyond what is listed
MANY = 40  # beyond what is searched for


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


@pytest.mark.grid(3)
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


@pytest.mark.grid(3)
@pytest.mark.parametrize("d", [2, 3, 4, 7, WIDE, 24])
def test_a_unit_cube_about_its_corner(d):
    body = off_middle(np.zeros(d), np.ones(d), None)
    found = solve(body, order=2.0, weights=np.ones(d)).claim.certificate()
    least = cube_about_a_corner(d)
    assert found.lower <= least * (1 + 1e-9)
    assert least * (1 - 1e-7) <= found.upper <= least * (1.002 if d >= WIDE else 1 + 1e-6)
    assert found.gap < (3e-3 if d >= WIDE else 1e-6)
    assert found.upper < 0.82 * d  # the box around it takes d


@pytest.mark.parametrize("d", [33, 80])
def test_many_ranges_about_a_corner(d):
    """Against the closed form; the box around them takes d."""
    body = off_middle(np.zeros(d), np.ones(d), None)
    found = solve(body, order=2.0, weights=np.ones(d)).claim.certificate()
    least = cube_about_a_corner(d)
    assert found.lower <= least * (1 + 1e-9)
    assert least * (1 - 1e-9) <= found.upper <= least * 1.002
    assert found.gap < 0.012
    assert found.upper < 0.6 * d


@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("count", [None, 1.0])
def test_many_ranges_of_any_widths(count, order):
    rng = np.random.default_rng(5)
    lower, upper = -rng.random(MANY), rng.random(MANY) * np.exp(rng.normal(size=MANY))
    body = off_middle(lower, upper, count)
    solution = solve(body, order=order, weights=np.ones(body.dimension))
    found = solution.claim.certificate()
    assert isinstance(solution.claim.dual, SignsDual)
    assert 0 < found.lower <= found.upper <= found.lower * 1.04
    # noise of what is found covers every corner that a climb finds
    shape = solution.claim.shape.factor
    points = np.where(rng.random((200, MANY)) < 0.5, lower, upper)
    points = np.hstack([points, np.ones((200, 0 if count is None else 1))])
    inverse = np.linalg.inv(shape @ shape.T)
    for _ in range(20):
        slopes = points @ inverse
        points[:, :MANY] = np.where(slopes[:, :MANY] > 0, upper, lower)
        if count is not None:
            points *= np.sign(points @ inverse)[:, -1:] * points[:, -1:]
            points[points[:, -1] < 0] *= -1
    far = math.sqrt(np.max(np.einsum("ij,jk,ik->i", points, inverse, points)))
    variances = np.diag(shape @ shape.T)
    reached = far * (math.sqrt(np.max(variances)) if order > 2 else math.sqrt(np.sum(variances)))
    assert found.lower * (1 - 1e-9) <= reached * 1.04
    assert reached <= found.upper * (1 + 1e-9)


@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
def test_leaning_signs_prove_what_their_corners_do(order):
    """Against the second moment of all corners, one by one."""
    rng = np.random.default_rng(7)
    k, d = 5, 3
    body = ImageBody(rng.standard_normal((d, k)), NormBall(k, math.inf))
    means, c = np.append(rng.uniform(-1, 1, k - 1), -1.0), rng.random(d)
    signs = np.array(list(itertools.product((-1, 1), repeat=k)))
    chances = np.prod((1 + signs * means) / 2, axis=1)
    points = signs @ body.dense.T
    second = points.T @ (chances[:, None] * points)
    exact, mass = SignsDual(means, c).square(body)
    assert np.allclose(exact.floats() / float(mass), second, rtol=1e-12, atol=1e-12)
    root = np.sqrt(c)[:, None] * np.linalg.cholesky(second)
    q = math.inf if order == 2 else order / (order - 2) if order < math.inf else 1
    known = np.sum(np.linalg.svd(root, compute_uv=False)) / math.sqrt(np.linalg.norm(c, q))
    found = SignsDual(means, c).least(body, order, np.ones(d))
    assert known * (1 - 1e-9) <= found <= known * (1 + 1e-12)


@pytest.mark.parametrize("of_count", [1.0, -0.3, 0.0])
@pytest.mark.parametrize("place", [0, 3])
def test_signs_beside_a_count_have_the_moments_of_their_values(place, of_count):
    """Of all corners ±(x, 1), the count in any column: the mean of x and its covariance."""
    rng = np.random.default_rng(5)
    k, d = 4, 3
    dense = np.vstack([rng.standard_normal((d, k)), np.where(np.arange(k) == place, 2.0, 0.0)])
    means = rng.uniform(-1, 1, k)
    means[place] = of_count
    body, c = ImageBody(dense, NormBall(k, math.inf)), np.ones(d + 1)
    signs = np.array(list(itertools.product((-1, 1), repeat=k)))
    values = signs[:, [place]] * (signs @ dense[:-1].T)
    for dual, b in ((SignsDual(means, c), means), (SquaresDual(np.ones(k), c), 0 * means)):
        chances = np.prod((1 + signs * b) / 2, axis=1)
        mean, found = chances @ values, dual.moments(body, counted=True)
        assert found.mean == pytest.approx(mean, rel=1e-12, abs=1e-12)
        covariance = (values - mean).T @ (chances[:, None] * (values - mean))
        assert found.rows.T @ found.rows == pytest.approx(covariance, rel=1e-12, abs=1e-12)
        with pytest.raises(PlanError, match="fit their image"):
            dual.moments(ImageBody(dense[[0, 1, 3, 2]], body.base), counted=True)


def test_means_by_groups_of_many_ranges_about_another_point_are_planned():
    """Of 14 columns and a public number of rows, whose evidence is on signs that lean."""
    question = ln.Mean(
        [f"x{i}" for i in range(WIDE)],
        ln.Box([0] * WIDE, [1] * WIDE),
        by={"g": 3},
        outside={"g": 0},
        center=[0.3] * WIDE,
    )
    plan = ln.plan(question, budget=ln.zcdp(0.1), relation="substitute", size=50, order=math.inf)
    assert isinstance(plan.terms.evidence.values, SignsDual)
    assert 0 < plan.certificate.gap < 0.02
    assert ln.verify(plan.to_json())


def test_leaning_signs_fit_cubes_alone():
    cube, c = ImageBody(np.ones((2, 3)), NormBall(3, math.inf)), np.ones(2)
    for body, means in (
        (ImageBody(np.ones((2, 3)), NormBall(3, 2.0)), np.zeros(3)),
        (cube, np.zeros(2)),
        (cube, np.array([0.0, 0.0, 1 + 1e-15])),
        (cube, np.array([0.0, 0.0, math.nan])),
        (off_middle(np.zeros(2), np.ones(2), None), np.zeros(3)),
    ):
        with pytest.raises(PlanError, match="does not fit its body"):
            SignsDual(means, c).least(body, 2.0, np.ones(2))


@pytest.mark.parametrize("d", [2, 9, 600])
def test_what_a_box_beside_a_count_is_said_to_hold_is_less_than_a_second_moment(d):
    rng = np.random.default_rng(d)
    for below, above in ((np.zeros(d), np.ones(d)), (rng.random(d), 3 * rng.random(d))):
        inner = beside_a_count(below, above)
        half, middle = (below + above) / 2, (above - below) / 2
        evens = []
        for lean in (0.0, 1.0):  # signs of means −lean·m/h
            v = np.append((1 - lean) * middle, 1.0)
            spread = np.append(half**2 - lean**2 * middle**2, 0.0)
            left = np.outer(v, v) + np.diag(spread) - np.diag(inner**2)
            evens.append(np.linalg.eigvalsh(left)[0] >= -1e-12)
        assert any(evens)
        box = np.append(np.maximum(below, above), 1.0)
        assert np.sum(inner / box) >= (0.4 if d > 2 else 0.2) * d


def off_center(d, order):
    return ln.plan(
        ln.Mean([f"c{i}" for i in range(d)], ln.Box([0] * d, [1 + i % 3 for i in range(d)]),
                center=[0.25 * (i % 2) for i in range(d)]),
        budget=ln.zcdp(0.5), relation="add_remove", order=order, mechanism="gaussian",
    )  # fmt: skip


STRANGE = [(1, 2.0), (3, math.inf), (5, 2.0), (WIDE, 2.0), (33, 2.0)]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("d", "order"), STRANGE)
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


def test_strangers_give_signs_that_lean_too_far_no_more_than_they_prove():
    document = json.loads(off_center(33, 2.0).to_json())
    evidence = document["terms"]["evidence"]
    assert checker.decide(json.dumps(document))[0] == checker.HOLDS
    for own in ("", "plain_"):
        if f"{own}means" in evidence:
            evidence[f"{own}means"] = [1.0] + [0.9] * (len(evidence["means"]) - 1)
    status, lines = checker.decide(json.dumps(document))
    assert status == checker.FALSE
    assert any(own.startswith("FALSE") and "lower" in own for own in lines), lines


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
