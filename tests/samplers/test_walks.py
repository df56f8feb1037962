# SPDX-License-Identifier: Apache-2.0
"""Random walks in convex bodies: bounds hold of true kernels, the walk is the one proved."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from benchmarks.grid_walk import GridWalk
from benchmarks.grid_walk import rows as table_of_steps
from flint import arb
from scipy import stats

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.lazy import rounded
from lownoise.samplers.walks import (
    InAndOut,
    Meet,
    Normed,
    Preimage,
    RoundBody,
    in_and_out,
    steps_needed,
    walk,
)
from lownoise.samplers.walks.in_and_out import ERROR, LARGEST, Increments
from lownoise.samplers.walks.mixing import Proximal
from lownoise.sets.unit_balls import NormBall

LEVEL = 1e-6
SKEW = np.array([[1.0, 0.4, 0.0], [-0.3, 1.2, 0.5], [0.0, 0.2, 0.9], [0.7, -0.6, 0.4]])
MEMBERS = {
    "cube": Preimage(np.eye(3)),
    "polytope": Preimage(SKEW, [1.0, 0.7, 1.3, 0.9]),
    "ellipsoid": Preimage(SKEW, order=2.0),
    "octahedron": Preimage(np.eye(3), order=1.0),
    "cubic": Preimage(SKEW, order=3.0),
    "odd order": Preimage(np.eye(3), order=2.5),
    "meet": Meet((Preimage(SKEW), Preimage(np.eye(3), order=1.5))),
}
every = pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)


def grid_of(body, dimension, cells, outer):
    """Midpoints of cells in the body, and of a larger box for y."""
    axis = (np.arange(cells) + 0.5) / cells * 2 - 1
    points = np.stack(np.meshgrid(*[axis * outer] * dimension), -1).reshape(-1, dimension)
    return points[body(points)]


@cache
def kernel(shape, deviation):
    """Return the points of a fine grid and the walk's kernel on it, by quadrature."""
    dimension, inside, cells, outer = {
        "segment": (1, lambda x: np.abs(x[:, 0]) <= 1, 161, 1.0),
        "disc": (2, lambda x: np.sum(x * x, axis=1) <= 1, 17, 1.0),
        "rhomb": (2, lambda x: np.abs(x[:, 0]) + np.abs(x[:, 1]) * 4 <= 1, 33, 1.0),
    }[shape]
    x = grid_of(inside, dimension, cells, outer)
    step = 2 * outer / cells
    reach = outer + 6 * deviation
    y = grid_of(lambda p: p[:, 0] < math.inf, dimension, math.ceil(2 * reach / step), reach)
    square = (y * y).sum(axis=1)[:, None] + (x * x).sum(axis=1) - 2 * y @ x.T
    density = np.exp(-square / (2 * deviation**2))
    mass = density.sum(axis=1, keepdims=True)
    kept = mass[:, 0] > 1e-280
    back = density[kept] / mass[kept]
    out = density / density.sum(axis=0)
    return x, back.T @ out[kept]  # from a column to a row


@pytest.mark.parametrize(
    ("shape", "deviation"),
    [("segment", 0.15), ("segment", 0.25), ("segment", 1.5), ("disc", 0.4), ("rhomb", 0.3)],
)
def test_no_eigenvalue_of_the_true_kernel_exceeds_the_bound(shape, deviation):
    points, matrix = kernel(shape, deviation)
    top = np.sort(np.linalg.eigvalsh((matrix + matrix.T) / 2))[::-1]
    assert np.isclose(top[0], 1, atol=1e-6)
    proof = Proximal(dimension=points.shape[1], inner=0.2, outer=1.0, deviation=deviation)
    assert top[1] <= proof.contraction_up * (1 + 2e-3)
    if shape == "segment" and deviation < 0.3:
        assert 1 - top[1] < 1.2 * (1 - proof.contraction_up)  # it is nearly attained


@pytest.mark.grid(3)
@pytest.mark.parametrize("deviation", [0.15, 0.25, 0.6])
@pytest.mark.parametrize("inner", [1.0, 0.5])
def test_the_density_of_a_segment_is_as_near_as_promised(deviation, inner):
    points, matrix = kernel("segment", deviation)
    proof = Proximal(dimension=1, inner=inner, outer=1.0, deviation=deviation)
    density = (np.abs(points[:, 0]) <= proof.start).astype(float)
    density /= density.mean()
    for steps in range(1, 40):
        density = matrix @ density
        assert np.abs(density - 1).max() <= proof.relative_up(steps) + 1e-3
    # likelihoods of end points, by quadrature: M₁ bounds them and is not idle
    worst = max(np.linalg.norm(column) ** 2 for column in half_kernel(deviation).T)
    bound = float(proof._end_norm().upper())
    assert worst <= bound < (10 if inner == 1 else 40) * worst


def half_kernel(deviation):
    """Return √π_Y·k_z(y) on a grid of y, a column a point z of the segment."""
    y = np.linspace(-1 - 8 * deviation, 1 + 8 * deviation, 1501)[:, None]
    z = np.linspace(-1, 1, 41)
    inside = stats.norm.cdf((1 - y) / deviation) - stats.norm.cdf((-1 - y) / deviation)
    density = stats.norm.pdf(y, z, deviation) * 2 / inside
    return density * np.sqrt(inside / 2 * (y[1] - y[0]))


def test_steps_are_the_least_that_the_bound_allows():
    for d in (1, 2, 5, 10):
        proof = Proximal(dimension=d, inner=1.0, outer=d**0.5 * 1.01, deviation=2 / d)
        steps = proof.steps_needed(1e-9)
        assert proof.relative_up(steps) <= 1e-9 < proof.relative_up(steps - 1)
        ratio = proof.relative_up(steps) / proof.relative_up(steps - 1)
        assert ratio == pytest.approx(proof.contraction_up, rel=1e-9)
        first = proof.contraction_up * proof.warmth_up * float(proof._end_norm().mid())
        assert proof.relative_up(1) == pytest.approx(math.sqrt(first), rel=1e-9)
        assert (2 * proof.start) ** d * proof.warmth_up >= proof.outer**d * stats_ball(d)
    table = [steps_needed(d, 1.0, d**0.5, deviation=2 / d) for d in range(1, 9)]
    assert table == sorted(table)


def stats_ball(dimension):
    return math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1) * (1 - 1e-9)


def stationary(member, factor, deviation, steps=2, inner=None):
    """A walk whose start is K, a cube, when its inner radius is said to be that of its corners."""
    d = member.dimension
    inner = math.sqrt(d) if inner is None else inner
    body = RoundBody(membership=member, factor=factor, inner=inner, outer=math.sqrt(d) * 1.0001)
    return InAndOut(body=body, deviation=deviation, steps=steps)


def drawn(uniform, count, seed):
    randomness = SimulationRandomness(seed)
    return np.array(
        [[float(x.mid()) for x in uniform.draw(randomness).balls()] for _ in range(count)]
    )


def unlike_uniform(points):
    """Return the least p-value against the uniform law of [−1, 1]^d, by Bonferroni."""
    own = (points + 1) / 2
    values = [stats.kstest(column, "uniform").pvalue for column in own.T]
    values.append(stats.kstest(np.abs(points).max(axis=1) ** points.shape[1], "uniform").pvalue)
    if points.shape[1] == 2:
        values.append(stats.kstest((own.sum(axis=1)) % 1, "uniform").pvalue)
    return min(values) * len(values)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("d", "deviation", "count"), [(1, 2.5, 700), (2, 1.5, 700)])
def test_the_uniform_law_stays(d, deviation, count, monkeypatch):
    uniform = stationary(Preimage(np.eye(d)), np.eye(d), deviation)
    monkeypatch.setattr(in_and_out, "_TRIES", (1, 16))
    points = drawn(uniform, count, 7)
    assert np.abs(points).max() <= 1
    assert unlike_uniform(points) > LEVEL


def stepped(deviation, start, count):
    """Points of [−1, 1] that one step reaches from `start`."""
    body = RoundBody(membership=Preimage([[0.25]]), factor=[[4.0]], inner=1.0, outer=1.0)
    law = InAndOut(body=body, deviation=deviation, steps=1)
    path = in_and_out._Path(law, SimulationRandomness(3))
    origin = in_and_out.Anchored(np.array([start]), 0.0, path._point.numbers)
    found = []
    for _ in range(count):
        path._near, path._point = np.array([start]), origin
        path._step()
        found.append(float(path._near[0]))
    return np.array(found)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("start", "deviation"), [(0.3, 0.6), (1.0, 0.3), (3.0, 0.5)])
def test_a_step_has_the_law_of_the_kernel(start, deviation, monkeypatch):
    y = np.linspace(start - 7 * deviation, start + 7 * deviation, 4001)
    mass = stats.norm.cdf((1 - y) / deviation) - stats.norm.cdf((-1 - y) / deviation)
    weight = stats.norm.pdf(y, start, deviation) / np.maximum(mass, 1e-290)
    ends = np.linspace(-1, 1, 401)
    below = stats.norm.cdf((ends[:, None] - y) / deviation) - stats.norm.cdf((-1 - y) / deviation)
    law = (below * weight).sum(axis=1) * (y[1] - y[0])
    assert law[-1] == pytest.approx(1, abs=1e-2)

    def p_value():
        points = stepped(deviation, start, 1500)
        return stats.kstest(points, lambda t: np.interp(t, ends, law / law[-1])).pvalue

    assert p_value() > LEVEL
    monkeypatch.setattr(in_and_out, "_TRIES", (1, 16))
    assert p_value() > LEVEL
    if start == 3:  # coins that take everything are seen
        everything = lambda *args: np.ones(len(args[1]), np.int8)  # noqa: E731
        monkeypatch.setattr(in_and_out._Path, "_coins", everything)
        assert p_value() < LEVEL


def test_what_floats_leave_open_is_decided_alike(monkeypatch):
    factor = np.array([[1.0, 0.3], [-0.2, 1.5]])
    member = Preimage(np.linalg.inv(factor))
    uniform = stationary(member, factor, 0.7, steps=12)
    sure = [
        rounded(scaled(uniform.draw(SimulationRandomness(s))), randomness=None) for s in range(12)
    ]
    plain = InAndOut._bounds
    asked = []
    monkeypatch.setattr(
        InAndOut, "_bounds", lambda self, largest: replace(plain(self, largest), doubt=1e9)
    )
    monkeypatch.setattr(in_and_out, "_LOOSE", -1.0)
    monkeypatch.setattr(in_and_out, "LARGEST", 0.5)
    takes = in_and_out._Path._takes
    monkeypatch.setattr(in_and_out._Path, "_takes", lambda *args: asked.append(1) or takes(*args))
    slow = [
        rounded(scaled(uniform.draw(SimulationRandomness(s))), randomness=None) for s in range(12)
    ]
    assert slow == sure
    assert len(asked) >= 12 * 12


class scaled:  # noqa: N801
    """A lazy point, 2^20 times as long: what a release would round."""

    def __init__(self, lazy):
        self.lazy, self.dimension = lazy, lazy.dimension

    def balls(self):
        return [x * 2**20 for x in self.lazy.balls()]

    def refine(self, randomness):
        self.lazy.refine(randomness or SimulationRandomness(1))


def test_floats_stay_within_their_bounds():
    uniform = stationary(MEMBERS["polytope"], np.diag([0.6, 0.5, 0.7]), 0.4, inner=0.5)
    path = in_and_out._Path(uniform, SimulationRandomness(5))
    body, law = uniform.body, uniform
    for _ in range(60):
        path._step()
        with precision(200):
            off = max(
                float(abs(ball - arb(float(near))).upper())
                for ball, near in zip(path._point.balls(), path._near, strict=True)
            )
            assert body.holds(path._point.balls())
        assert off <= law._bounds(LARGEST).error < 1e-13
        assert law._bounds(LARGEST).kappa < 1e-10


class Zeros:
    """Words whose tails are all 0, in places; then those of a simulation."""

    def __init__(self, at, seed):
        self.at, self.source = at, SimulationRandomness(seed)

    def words(self, count):
        found = self.source.words(count).copy()
        if count > 100:
            found[self.at] = 0
        return found


def test_numbers_beyond_every_table_are_numbers():
    stock = Increments(2, Zeros([3, 4], 1))
    first = stock.next(5)
    row = stock.vector(first + 1)
    assert stock.numbers[1].max() > 8
    with precision(200):
        for ball, near in zip(row.balls(), stock.numbers[1], strict=True):
            assert abs(ball - arb(float(near))) < ERROR
    uniform = stationary(Preimage(np.eye(2)), np.eye(2), 0.5, steps=6)
    for at in (0, 3, 6, 9, 12):
        point = uniform.draw(Zeros([at, at + 1], 2)).balls()
        assert all(abs(x) < 1 for x in point)


@pytest.mark.grid(3)
@every
def test_a_membership_agrees_with_itself(member):
    rng = np.random.default_rng(4)
    factor = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
    body = RoundBody(membership=member, factor=factor, inner=0.01, outer=20.0)
    points = rng.normal(size=(400, 3))
    norms = body.norms(points)
    doubt = body.doubt(10.0, 1e-13)
    assert doubt < 1e-9
    sides = body.decide(points / norms[:, None] * np.array([[1 - 1e-8], [1 + 1e-8]] * 200), doubt)
    assert sides.tolist() == [1, -1] * 200
    for point, norm in zip(points[:40], norms[:40], strict=True):
        for scale, inside in ((1 - 1e-8, True), (1 + 1e-8, False)):
            with precision(100):
                assert body.holds([arb(float(x)) for x in point / norm * scale]) is inside
        with precision(100):
            assert body.holds([arb(float(x), 1e-3) for x in point / norm]) is None
    radius = min(part.inner_radius(factor) for part in getattr(member, "parts", (member,)))
    lengths = np.linalg.norm(points, axis=1)
    assert radius <= (lengths / norms).min()
    assert radius > 0.3 * (lengths / norms).min()
    within = points / norms[:, None]
    moved, limits = body.shifts(3 * points)
    assert np.all(within @ moved.T <= limits * (1 + 1e-12) + 1e-12)
    ends = body.norms(3 * points - moved)
    assert np.median(ends) <= 1.01
    assert np.all(ends <= body.norms(3 * points) + 1e-9)


def test_half_spaces_that_points_are_moved_along_hold_the_body_exactly():
    """At each corner F⁻¹s of a parallelogram, s of signs, in fractions."""
    factor = np.array([[1.1, 0.3], [-0.2, 0.9]])
    body = RoundBody(membership=Preimage(np.eye(2)), factor=factor, inner=0.5, outer=2.0)
    points = np.random.default_rng(7).normal(size=(200, 2)) * 3
    moved, limits = body.shifts(points[body.norms(points) > 1])
    (a, b), (c, d) = ([Fraction(x) for x in row] for row in factor.tolist())
    corners = [
        ((d * s - b * t) / (a * d - b * c), (a * t - c * s) / (a * d - b * c))
        for s, t in itertools.product((1, -1), repeat=2)
    ]
    assert len(moved) > 100
    for (x, y), limit in zip(moved.tolist(), limits.tolist(), strict=True):
        most = max(Fraction(x) * u + Fraction(y) * v for u, v in corners)
        assert most <= Fraction(limit) <= most * (1 + Fraction(1, 10**12))


def test_a_planned_walk_keeps_its_word():
    uniform = walk(Preimage(np.eye(3)), np.eye(3), 1.0, 1.7321)
    assert uniform.relative <= 1e-9
    assert uniform.distance == 0.0
    assert uniform.estimated
    assert uniform.second_moment() == pytest.approx(np.eye(3) / 3, abs=0.02)
    points = uniform.simulate(3000, SimulationRandomness(2))
    assert points.shape == (3000, 3)
    assert unlike_uniform(points) > LEVEL
    assert unlike_uniform(0.97 * points) < LEVEL


def test_a_weak_membership_is_charged_in_total_variation():
    base = Normed(NormBall(2, 2.0), 2.0**-40)
    uniform = walk(base, np.eye(2), 1.0, 1.001, distance=1e-6)
    proof = uniform.proof
    assert 0 < uniform.distance <= 1e-6
    assert uniform.distance >= uniform.steps * 2 * 2.0**-40 * proof.warmth_up
    points = drawn(uniform, 150, 5)
    radii = np.linalg.norm(points, axis=1)
    assert stats.kstest(radii**2, "uniform").pvalue > LEVEL
    wide = replace(uniform.body, membership=Normed(NormBall(2, 2.0), 0.01))
    loose = replace(uniform, body=wide)
    assert loose.distance > 0.01 * uniform.steps
    assert np.linalg.norm(drawn(loose, 20, 5), axis=1).max() <= 1


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: walk(Preimage(np.eye(60)), np.eye(60), 0.5, 1e5),
            "60 coordinates takes [0-9]+ st",
        ),
        (
            lambda: walk(Normed(NormBall(2, 2.0), 1e-12), np.eye(2), 1.0, 1.1),
            "no guarantee is pure",
        ),
        (
            lambda: walk(Normed(NormBall(2, 2.0), 1e-3), np.eye(2), 1.0, 1.1, distance=1e-6),
            "1e-06 is allowed",
        ),
        (lambda: walk(Preimage(np.eye(2)), np.eye(2), 1.0, 1.5, relative=0.0), "relative=0.0"),
        (lambda: walk(Preimage(np.eye(2)), np.eye(2), 1.5, 1.0), "inner=1.5"),
        (lambda: walk(Preimage(np.eye(2)), np.ones((2, 2)), 1.0, 1.5), "singular"),
        (lambda: Preimage(np.ones((2, 2))), "unbounded"),
        (lambda: Preimage(np.eye(2), [1.0, -1.0]), "2 positive"),
        (lambda: Preimage(np.eye(2), order=0.5), "order=0.5"),
        (lambda: Meet(()), "none"),
        (lambda: Normed(NormBall(2, 2.0), 0.0), "slack=0.0"),
        (lambda: stationary(Preimage(np.eye(2)), np.eye(2), 0.5, steps=0), "steps=0"),
        (lambda: stationary(Preimage(np.eye(2)), np.eye(2), -0.5), "deviation=-0.5"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(make, text):
    with pytest.raises(PlanError, match=text) as refused:
        make()
    assert "\n" not in str(refused.value)


def grid_kernel(uniform):
    """Return the grid walk's kernel, entry by entry, and where its weights are 1."""
    grid, weights = uniform.grid, uniform.weights
    n, d = grid.cells, uniform.dimension
    matrix = np.zeros((n**d, n**d))
    for cell in range(n**d):
        at = np.array(np.unravel_index(cell, (n,) * d))
        for axis in range(d):
            for sign in (-1, 1):
                to = at.copy()
                to[axis] += sign
                if 0 <= to[axis] < n:
                    there = np.ravel_multi_index(to, (n,) * d)
                    matrix[cell, there] = min(1, weights[there] / weights[cell]) / 2**grid.bits
        matrix[cell, cell] = 1 - matrix[cell].sum()
    return matrix, weights == 1


@pytest.mark.parametrize("case", [(1, 1.5), (2, 1.42)])
def test_the_grid_walk_mixes_as_promised(case):
    d, outer = case
    body = RoundBody(membership=Preimage(np.eye(d)), factor=np.eye(d), inner=1.0, outer=outer)
    uniform = GridWalk(body=body, relative=0.01)
    matrix, full = grid_kernel(uniform)
    meets = np.abs(uniform.centers).max(axis=1) < 1 + uniform.grid.side / 2
    assert full[meets].all()
    start = np.zeros(len(matrix))
    start[len(matrix) // 2] = 1
    share = uniform.weights / uniform.weights.sum()
    for part in (8, 4, 2, 1):
        steps = uniform.steps // part
        found = start @ np.linalg.matrix_power(matrix, steps)
        off = np.abs(found / share - 1)[full].max()
        assert 2 * off <= uniform.grid.relative_up(steps) + 1e-9
    below = uniform.centers[:, 0] < -uniform.grid.side / 4  # a cut near the middle is hard to cross
    across = (share[:, None] * matrix)[np.ix_(below, ~below)].sum() / share[below].sum()
    assert float(uniform.grid._conductance().mid()) <= across
    assert uniform.grid.relative_up(uniform.steps) <= 0.01
    assert uniform.grid.relative_up(uniform.steps - 1) > 0.01


def test_the_grid_walk_draws_uniform_points():
    body = RoundBody(membership=Preimage([[1.0]]), factor=[[1.0]], inner=1.0, outer=1.0)
    uniform = GridWalk(body=body, relative=0.5)
    matrix, _full = grid_kernel(uniform)
    cells = np.bincount([uniform._walk(SimulationRandomness(seed)) for seed in range(120)])
    assert len(cells) <= len(matrix)
    points = drawn(uniform, 120, 9)
    assert np.abs(points).max() <= 1
    assert stats.kstest((points[:, 0] + 1) / 2, "uniform").pvalue > LEVEL
    with pytest.raises(PlanError, match="steps in 4 coordinates"):
        GridWalk(body=RoundBody(membership=Preimage(np.eye(4)), factor=np.eye(4), inner=1, outer=2))


def test_the_table_of_steps_rises():
    found = table_of_steps()
    assert (5, 105, 1914018253) in found
    for near, far in pairwise(found):
        assert all(a < b for a, b in zip(near, far, strict=True))


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, math.inf])
def test_the_inner_ball_is_inside_whatever_the_product_loses(order):
    """A·F where A is nearly flat and F its inverse: floats keep few of its digits."""
    drawn = np.random.default_rng(11)
    for _ in range(40):
        d = int(drawn.integers(2, 4))
        left, right = (np.linalg.qr(drawn.normal(size=(d, d)))[0] for _ in range(2))
        rows = left @ np.diag(10.0 ** -np.linspace(0, 12, d)) @ right
        factor = np.linalg.inv(rows)
        radius = Preimage(rows, order=order).inner_radius(factor)
        with mpmath.workdps(50):
            image = mpmath.matrix(rows.tolist()) * mpmath.matrix(factor.tolist())
            # the longest of F·rB₂ in the norm: at least along each singular vector of the image
            _, _, V = mpmath.svd_r(image)
            for i in range(d):
                y = image * V[i, :].T
                norm = mpmath.norm(y, mpmath.inf if math.isinf(order) else order)
                assert radius * norm <= 1
