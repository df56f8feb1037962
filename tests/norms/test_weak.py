# SPDX-License-Identifier: Apache-2.0
"""Norms of unit balls: what floats exceed by, samplers and walks of them, and what these cost.

A walk by floats alone is charged in δ; where balls of the norm are known too, it is pure.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import stats

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.noise import KNormNoise
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform import UniformNormBall, UniformPlaced, UniformProduct
from lownoise.samplers.uniform.abstract import distance_within
from lownoise.samplers.walks import Normed
from lownoise.samplers.walks.mixing import Proximal
from lownoise.sets.bodies import ImageBody, RoundedBody, SymmetricBox
from lownoise.sets.domains import Image
from lownoise.sets.norms import UnitBallNorm, norm_of
from lownoise.sets.unit_balls import IntersectionBall, NormBall
from lownoise.sets.unit_balls.matrices import decomposed
from lownoise.sets.unit_balls.norm import SortedBall
from lownoise.sets.unit_balls.products import KroneckerBall, MixedBall
from lownoise.sets.unit_balls.spectral import SpectralBall

RNG = np.random.default_rng(20260301)
ERROR = 1e-6  # of the first kind
WIDE = SpectralBall(2, 3, NormBall(2, math.inf))
SQUARE = SpectralBall(2, 2, NormBall(2, math.inf))
ORDERED = SortedBall(np.array([0.75, 0.5, 0.25]))
# no list of corners says what it is
ROUND = MixedBall((SortedBall(np.array([0.75, 0.5])), NormBall(1, 2.0)), 2.0)
MIXED = MixedBall((SortedBall(np.array([1.0, 0.5])), NormBall(1, 2.0)), 1.0)
BOTH = IntersectionBall((NormBall(2, 1.0), NormBall(2, 2.0)), np.array([[0.2, 0.2], [0.9, 1.0]]))
BASES = [WIDE, SQUARE, SpectralBall(2, 2, NormBall(2, 1.0)), ORDERED, MIXED, BOTH]


@pytest.fixture
def floats_alone(monkeypatch):
    """Let no norm be known by balls, so that all memberships are weak."""
    monkeypatch.setattr("lownoise.sets.norms.image.decided", lambda _: False)


def _ks(values: np.ndarray) -> float:
    n = len(values)
    rising = np.sort(values)
    return float(max(np.max(np.arange(1, n + 1) / n - rising), np.max(rising - np.arange(n) / n)))


def _threshold(n: int) -> float:
    """Dvoretzky, Kiefer and Wolfowitz, with Massart's constant."""
    return math.sqrt(math.log(2 / ERROR) / (2 * n))


def _operator_norm(x: np.ndarray) -> arb:
    """The greatest singular value of a matrix with two rows, in balls."""
    with precision(300):
        p, q = ([arb(v) for v in row] for row in x.tolist())
        a, c, b = (sum(map(arb.__mul__, s, t), arb(0)) for s, t in ((p, p), (q, q), (p, q)))
        return ((a + c + ((a - c) ** 2 + 4 * b * b).sqrt()) / 2).sqrt()


def test_norms_exceed_by_what_is_claimed_and_no_more():
    x = RNG.normal(size=(200, 6))
    found, most = replace(WIDE, checked=True).norm_up(x), WIDE.norm_excess
    assert most < 1e-12
    with precision(300):
        for row, norm in zip(x.reshape(-1, 2, 3), found.tolist(), strict=True):
            off = arb(norm) / _operator_norm(row) - 1
            assert 0 <= off <= most
    y = RNG.normal(size=(200, 3))
    weights = [Fraction(w) for w in ORDERED.weights.tolist()]
    for row, norm in zip(y.tolist(), ORDERED.norm_up(y).tolist(), strict=True):
        sizes = sorted((abs(Fraction(v)) for v in row), reverse=True)
        exact = sum(w * v for w, v in zip(weights, sizes, strict=True))
        assert 0 <= Fraction(norm) / exact - 1 <= Fraction(ORDERED.norm_excess)


def test_a_bad_decomposition_is_refused(monkeypatch):
    def bad(matrices):
        u, s, v = decomposed(matrices)
        return u, s * (1 + 1e-9), v

    monkeypatch.setattr("lownoise.sets.unit_balls.matrices.decomposed", bad)
    with pytest.raises(PlanError, match="decomposition is off"):
        WIDE.as_checked().norm_up(RNG.normal(size=(3, 6)))
    assert np.all(np.isfinite(WIDE.norm_up(RNG.normal(size=(3, 6)))))


@pytest.mark.grid(3)
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_balls_in_and_around_and_volumes(base):
    z = RNG.normal(size=(20000, base.dimension))
    z /= np.linalg.norm(z, axis=1)[:, None]
    norms = base.norm_up(z)
    assert np.max(norms) * base.inner_radius <= 1 + 1e-12
    assert np.min(norms) * base.outer_radius >= 1 - 1e-12
    d = base.dimension
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    shares = norms**-d
    assert ball * (np.mean(shares) - 6 * np.std(shares) / len(z) ** 0.5) <= base.volume_up()


def test_half_spaces_hold_the_body_and_cut_a_point_off():
    for base in (SQUARE, ORDERED):
        x = RNG.normal(size=(50, base.dimension))
        x *= 2 / base.norm_up(x)[:, None]
        normals, limits, errors = Normed(base, 1e-12).cuts(x)
        assert not np.any(errors)
        inside = RNG.normal(size=(500, base.dimension))
        inside /= base.norm_up(inside)[:, None]
        assert np.all(np.max(inside @ normals.T, axis=0) <= limits)
        assert np.allclose(np.sum(normals * x, axis=1), 2 * limits, rtol=1e-6)


def test_radial_laws_and_moments():
    """‖u‖^d is uniform on [0, 1] where u is uniform in the unit ball."""
    gauge = norm_of(ImageBody(np.array([2.0, 1.0, 4.0]), ROUND), 1e-6)
    assert isinstance(gauge, UnitBallNorm)
    randomness = SimulationRandomness(5)
    drawn = np.array(
        [[float(x.mid()) for x in gauge.uniform.draw(randomness).balls()] for _ in range(30)]
    )
    assert _ks(gauge.norm_up(drawn) ** 3) < _threshold(30)
    many = gauge.uniform.simulate(1000, randomness)
    assert _ks(gauge.norm_up(many) ** 3) < _threshold(1000)
    moment = gauge.uniform.second_moment()
    assert np.allclose(np.diag(moment), np.mean(many**2, axis=0), rtol=0.25)
    assert gauge.uniform.estimated
    square = UnitBallNorm(np.eye(4), SQUARE, 1e-6)
    some = square.uniform.simulate(100, randomness)
    assert _ks(square.norm_up(some) ** 4) < _threshold(100)
    assert np.allclose(np.diag(square.uniform.second_moment()), np.mean(some**2), rtol=0.35)


def test_reach():
    factor = np.array([[2.0, 1.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.5], [0, 0, 1, 0], [1, 0, 0, 2]])
    other = SpectralBall(2, 2, NormBall(2, math.inf))  # the same numbers, made again
    for own in (factor, np.array([2.0, 3.0, 1.0, 5.0])):
        gauge = UnitBallNorm(own, SQUARE, 1e-6)
        body = ImageBody(own, other)
        assert gauge.sensitivity_up(body) == 1
        assert 1 <= gauge.scaled(0.5).sensitivity_up(body) * 0.5 <= 1 + 1e-9
        x = RNG.normal(size=(2000, 4))
        x /= SQUARE.norm_up(x)[:, None]
        s = x @ (np.diag(own) if own.ndim == 1 else own).T
        assert np.allclose(gauge.norm_up(s), 1, rtol=1e-9)
        box = SymmetricBox(np.full(4, 1e-3))
        ends = RNG.choice([-1e-3, 1e-3], size=(64, 4))
        assert np.max(gauge.norm_up(ends)) <= gauge.sensitivity_up(box) * (1 + 1e-12)
        rounded = RoundedBody(body, np.full(4, 1e-3))
        assert gauge.sensitivity_up(rounded) >= 1 + gauge.sensitivity_up(box)
    assert (
        UnitBallNorm(np.ones(3), ORDERED, 1e-6).akin_image_up(ImageBody(np.ones(4), SQUARE))
        == math.inf
    )


@pytest.mark.usefixtures("floats_alone")
def test_what_is_not_allowed_is_refused():
    body = ImageBody(np.ones(3), ROUND)
    with pytest.raises(PlanError, match=r"weak membership.*approx_dp.*k_norm"):
        norm_of(body)
    distance = norm_of(body, 1e-6).uniform.distance
    assert norm_of(body, distance).uniform.distance == distance
    with pytest.raises(PlanError, match="total variation"):
        norm_of(body, distance / 2)
    loose = KroneckerBall(NormBall(2, 2.0), NormBall(2, math.inf))
    with pytest.raises(PlanError, match="no exact sampler"):
        norm_of(ImageBody(np.ones(4), loose), 1e-6)
    inside = MixedBall((SQUARE, NormBall(1, 2.0)), 1.0)
    with pytest.raises(PlanError, match="no exact sampler"):
        norm_of(ImageBody(np.ones(5), inside), 1e-6)


@pytest.mark.usefixtures("floats_alone")
def test_cost_counts_the_total_variation():
    gauge = norm_of(ImageBody(np.ones(3), ROUND), 1e-6)
    loss = KNormNoise(gauge, 1.0).loss(ImageBody(np.ones(3), ROUND))
    uniform = gauge.uniform
    assert 1 + 2 * uniform.relative <= loss.epsilon <= 1 + 3e-9
    least = uniform.distance * (1 + math.e)
    assert 0 < least <= loss.delta <= least * (1 + 1e-6)
    for epsilon, delta in ((0.1, 1e-6), (3.0, 1e-9), (30.0, 0.1)):
        within = Fraction(distance_within(epsilon, delta))
        assert within * Fraction(1 + math.exp(epsilon)) <= Fraction(delta)
        assert within * Fraction(1 + math.exp(epsilon)) >= Fraction(delta) * Fraction(999, 1000)
    assert distance_within(800.0, 0.1) == 0


def _plan(budget, domain=None):
    domain = domain or Image(np.ones(3), ROUND, np.zeros(3))
    return ln.plan(
        ln.Mean([f"x{i}" for i in range(domain.dimension)], domain),
        budget=budget,
        relation="substitute",
        size=100,
        mechanism="k_norm",
    )


@pytest.mark.usefixtures("floats_alone")
def test_plans_are_approximate_and_files_give_them_again():
    plan = _plan(ln.approx_dp(1.0, 1e-6))
    assert 0.999 < plan.terms.cost.epsilon <= 1
    assert 0 < plan.terms.cost.delta <= 1e-6
    assert str(plan.terms.cost.delta)[:6] in plan.guarantee
    text = plan.to_json()
    again = type(plan).from_json(text)
    assert again.to_json() == text
    assert again.terms.cost == plan.terms.cost
    with pytest.raises(PlanError, match="weak membership") as refusal:
        _plan(ln.pure_dp(1.0))
    assert "\n" not in str(refusal.value)
    with pytest.raises(PlanError, match="total variation"):
        _plan(ln.approx_dp(1.0, 1e-14))


def test_the_shell_is_counted_step_by_step():
    proof = Proximal(dimension=4, inner=1.0, outer=1.5, deviation=0.7)
    n, shell = proof.steps_needed(1e-9), 1e-12
    each = [min(proof.warmth_up, 1 + proof.relative_up(k)) for k in range(1, n + 1)]
    least = sum(each) * 4 * shell
    assert least * (1 - 1e-9) <= proof.distance_up(n, shell) <= 1.5 * least


def test_what_holds_an_estimate_says_so():
    walk = UnitBallNorm(np.ones(3), ROUND).uniform
    assert UniformProduct((UniformNormBall(2, 2.0), walk)).estimated
    assert UniformPlaced(walk, np.array([0, 2, 3]), 4).estimated
    assert not UniformPlaced(UniformNormBall(2, 2.0), np.array([0, 2]), 4).estimated


PURE = {
    "operator norm": (
        ln.OperatorNormBall(6, 9),
        lambda x: np.linalg.norm(x, 2, axis=(1, 2)),
        (6, 9),
    ),
    "five largest": (ln.TopBall(40, 5), lambda x: np.sort(np.abs(x))[:, -5:].sum(axis=1), (40,)),
    "nuclear norm": (
        ln.SchattenBall(2, 2, order=1),
        lambda x: np.linalg.norm(x, "nuc", axis=(1, 2)),
        (2, 2),
    ),
}


@pytest.mark.sweep("test_radial_laws_and_moments")
@pytest.mark.parametrize("name", PURE)
def test_plans_are_pure_and_their_noise_has_the_radial_law(name):
    """‖z‖/scale is Gamma(d): a radius of Gamma(d + 1) times a point of the unit ball."""
    domain, norm, shape = PURE[name]
    d = domain.dimension
    plan = ln.plan(
        ln.Mean([f"x{i}" for i in range(d)], domain),
        budget=ln.pure_dp(1.0),
        relation="substitute",
        size=1000,
        mechanism="k_norm",
    )
    assert plan.guarantee == "1-DP, pure"
    cost = plan.terms.cost
    assert cost.delta == 0
    assert 1 - 1e-6 <= cost.epsilon <= 1
    text = plan.to_json()
    assert type(plan).from_json(text).to_json() == text
    noise = plan.terms.mechanism.noise
    walked = noise.gauge.uniform.relative > 0
    few = 20 if walked else 300
    drawn = np.array([noise.integers(SimulationRandomness(k)) for k in range(few)], dtype=float)
    many = noise.simulate(400 if walked else 20_000, SimulationRandomness(8))
    # in the units of the norm: the first change that records make has length 1, or hardly less
    half = norm(np.eye(d)[:1].reshape(1, *shape))[0] * noise.gauge.norm_up(np.eye(d)[:1])[0] ** -1
    for some in (drawn, many):
        radii = norm(some.reshape(-1, *shape)) / (half * noise.scale)
        assert _ks(stats.gamma(d).cdf(radii)) < _threshold(len(radii))
        wrong = max(_ks(stats.gamma(k).cdf(radii)) for k in (0.8 * d, 1.25 * d))
        assert wrong > _threshold(len(radii)) or len(radii) < 400


def test_one_product_has_samplers_of_all_its_parts():
    domain = ln.product(
        ln.OrderedBall([1.0, 0.5, 0.5, 0.25]), ln.OperatorNormBall(3, 2), ln.Ball(3)
    )
    plan = _plan(ln.pure_dp(0.5), domain)
    gauge = plan.terms.mechanism.noise.gauge
    assert gauge.uniform.relative == gauge.uniform.distance == 0
    points = gauge.uniform.simulate(20_000, SimulationRandomness(9))
    assert _ks(gauge.norm_up(points) ** domain.dimension) < _threshold(len(points))


def test_points_in_doubt_are_decided_and_nothing_is_charged_but_the_steps():
    gauge = norm_of(ImageBody(np.ones(4), SpectralBall(2, 2, NormBall(2, 1.0))))
    walk = gauge.uniform.inner
    assert (gauge.uniform.distance, walk.body.membership.exact) == (0.0, True)
    body = replace(walk.body, membership=replace(walk.body.membership, slack=0.5))
    # half of the body is in doubt, and all of it is decided as without
    wide = replace(walk, body=body)
    assert wide.distance == 0
    for seed in range(3):
        own = [float(x.mid()) for x in walk.draw(SimulationRandomness(seed)).balls()]
        other = [float(x.mid()) for x in wide.draw(SimulationRandomness(seed)).balls()]
        assert np.array(own) == pytest.approx(np.array(other), abs=1e-9)
    loss = KNormNoise(gauge, 1.0).loss(ImageBody(np.ones(4), SpectralBall(2, 2, NormBall(2, 1.0))))
    assert loss.delta == 0
    assert 1 + 2 * gauge.uniform.relative <= loss.epsilon <= 1 + 3e-9
