# SPDX-License-Identifier: Apache-2.0
"""Hulls of points by linear programmes: membership is exact, noise is pure and has its law."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat
from scipy import stats
from scipy.optimize import linprog

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.noise import KNormNoise
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform import UniformBases
from lownoise.samplers.walks import InAndOut, Within
from lownoise.samplers.walks.walk import most_dimensions
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.norms import HullNorm, SpannedNorm, norm_of

RNG = np.random.default_rng(20261124)
ERROR = 1e-6  # of the first kind
DEGENERATE = np.array(  # facets with more points than corners, points inside, twice and flat on one
    [[1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1], [1, 0, 0], [0.5, 0.5, 1], [0, 0, 0.25]]
)
LISTS = {
    "plain": RNG.normal(size=(7, 3)),
    "degenerate": DEGENERATE,
    "many": np.rint(RNG.normal(size=(14, 4)) * 4),
    "units apart": RNG.normal(size=(6, 3)) * [1e-9, 1.0, 1e9],
}
every = pytest.mark.parametrize("name", LISTS)


def norm_by_programme(points, x):
    """‖x‖, by another solver."""
    both = np.hstack([points.T, -points.T])
    return linprog(np.ones(2 * len(points)), A_eq=both, b_eq=x, method="highs-ds").fun


def exact_norm(points, x):
    """‖x‖ in fractions: the greatest ⟨w, x⟩ over planes through d points that all are within."""
    d, best = points.shape[1], Fraction(0)
    rows = [[fmpq(*v.as_integer_ratio()) for v in row] for row in points.tolist()]
    x = [fmpq(v.numerator, v.denominator) for v in x]
    for some in combinations(range(len(rows)), d):
        square = fmpq_mat(d, d, [v for i in some for v in rows[i]])
        if square.det() == 0:
            continue
        for signs in range(1 << (d - 1)):
            right = fmpq_mat(d, 1, [1 - 2 * (signs >> k & 1) for k in range(d)])
            w = square.solve(right).entries()
            if all(abs(sum(a * b for a, b in zip(w, row, strict=True))) <= 1 for row in rows):
                own = abs(sum(a * b for a, b in zip(w, x, strict=True)))
                best = max(best, Fraction(int(own.p), int(own.q)))
    return best


@every
def test_points_are_told_apart_at_any_distance_from_the_boundary(name):
    """In exact fractions: at 2^-90 of the boundary, along faces and edges too."""
    points = LISTS[name]
    member = SpannedNorm(points)._membership
    directions = [RNG.normal(size=points.shape[1]) * np.abs(points).max(axis=0) for _ in range(4)]
    directions += [points[0], points[0] + points[1], points[1] - points[2]]
    for direction in directions:
        x = [Fraction(v) for v in direction.tolist()]
        norm = exact_norm(points, x)
        for off, side in ((-Fraction(1, 2**90), True), (Fraction(1, 2**90), False)):
            own = [v * (1 + off) / norm for v in x]
            with precision(400):
                balls = [arb(fmpq(v.numerator, v.denominator)) for v in own]
                assert member.holds(balls) is side
                wide = [x + arb(0, 2.0**-60 * float(abs(x))) for x in balls]
                assert member.holds(wide) is None
        near = np.array([[float(v / norm) for v in x]])
        assert member.norms_up(near)[0] >= 1 - 1e-12
        assert member.norms_up(near)[0] <= 1 + 1e-9
        assert (member.norms(0.999 * near)[0], member.norms(1.001 * near)[0]) == pytest.approx(
            (0.999, 1.001), rel=2e-3
        )


@pytest.mark.grid(3)
@every
def test_the_rational_programme_ends_at_the_norm_from_any_basis(name):
    points = LISTS[name]
    member, d = SpannedNorm(points)._membership, points.shape[1]
    starts = [s for s in combinations(range(len(points)), d) if np.linalg.det(points[list(s)])]
    for basis in starts[:: max(len(starts) // 8, 1)]:
        for direction in (RNG.normal(size=d) * np.abs(points).max(axis=0), points[0] + points[1]):
            x = [Fraction(v) for v in direction.tolist()]
            point = [fmpq(v.numerator, v.denominator) for v in x]
            inverse, signs = member._optimal(list(basis), point)
            weights = [sum(a * b for a, b in zip(row, point, strict=True)) for row in inverse]
            assert all(sign * w >= 0 for sign, w in zip(signs, weights, strict=True))
            total = sum(abs(w) for w in weights)
            assert Fraction(int(total.p), int(total.q)) == exact_norm(points, x)


@every
def test_floats_are_on_the_safe_side_from_every_start(name):
    points = LISTS[name]
    member, facets = SpannedNorm(points)._membership, HullNorm(points)
    for size in (1, 7, 300):
        x = RNG.normal(size=(size, points.shape[1])) * np.abs(points).max(axis=0)
        true = facets.norm_up(x)
        x *= (RNG.uniform(0.9, 1.1, size) / true)[:, None]
        true, found, upper = facets.norm_up(x), member.norms(x), member.norms_up(x)
        assert np.all((found < 1) == (true < 1))
        assert np.all(found[true < 1] >= true[true < 1] * (1 - 1e-9))
        assert np.all(found[true > 1] <= true[true > 1])
        assert upper == pytest.approx(true, rel=1e-9)
        normals, limits, errors = member.cuts(x)
        assert not np.any(errors)
        assert np.all(np.max(np.abs(points @ normals.T), axis=0) <= limits)
        assert np.sum(normals * x, axis=1) == pytest.approx(true * limits, rel=1e-9)


def test_balls_in_and_around_are_proved_ones():
    for points in (*LISTS.values(), RNG.normal(size=(30, 12))):
        gauge = SpannedNorm(points)
        factor, inner, outer = gauge._round()
        d = points.shape[1]
        z = RNG.normal(size=(400, d))
        z /= np.linalg.norm(z, axis=1)[:, None]
        assert np.max(gauge.norm_up(inner * z @ factor.T)) <= 1
        lengths = np.linalg.norm(np.linalg.solve(factor, points.T), axis=0)
        assert outer * (1 - 1e-6) <= lengths.max() <= outer * (1 + 1e-12)
        assert outer / inner <= math.sqrt(d) * 1.1


def test_what_was_sampled_of_a_hull_is_that_of_it_in_another_size(monkeypatch):
    points = RNG.normal(size=(30, 8))
    gauge = SpannedNorm(points)
    anew = SpannedNorm(3.7 * points).uniform
    monkeypatch.setattr(SpannedNorm, "_moment", None)  # is not asked again
    for scaled in (gauge.scaled(3.7), gauge.scaled(0.37).scaled(10.0)):
        assert scaled.uniform.moment == pytest.approx(anew.moment, rel=1e-9)
        assert scaled.uniform.share == pytest.approx(anew.share, rel=1e-9)


def test_where_a_search_starts_changes_no_draw():
    points = RNG.normal(size=(30, 8))
    first, second = SpannedNorm(points).uniform, SpannedNorm(points).uniform
    for seed in range(20):
        second.body.membership.norms(RNG.normal(size=(50, 8)))  # other bases are kept
        own, other = (u.draw(SimulationRandomness(seed)).balls() for u in (first, second))
        assert [float(x.mid()) for x in own] == [float(x.mid()) for x in other]


@pytest.mark.grid(1)
@pytest.mark.parametrize(("count", "d"), [(60, 11), (26, 22)])
def test_plans_of_many_answers_are_pure_and_their_noise_has_the_radial_law(count, d):
    """‖z‖/scale is Gamma(d), by another solver: a radius of Gamma(d + 1) times a uniform point."""
    points = RNG.normal(size=(count, d))
    plan = ln.plan(
        ln.Mean([f"x{i}" for i in range(d)], ln.image(points.T, ln.Ball(count, order=1))),
        budget=ln.pure_dp(1.0),
        relation="substitute",
        size=1000,
        mechanism="k_norm",
    )
    assert plan.guarantee == "1-DP, pure"
    assert plan.cost.delta == 0
    assert 1 - 1e-6 <= plan.cost.epsilon <= 1
    assert type(plan).from_json(plan.to_json()).to_json() == plan.to_json()
    noise = plan.terms.mechanism.noise
    assert noise.gauge.uniform.relative == noise.gauge.uniform.distance == 0
    randomness = SimulationRandomness(count)
    drawn = np.array([noise.integers(randomness) for _ in range(100)], dtype=float)
    unit = noise.gauge.rows
    radii = [norm_by_programme(unit, z / noise.scale) for z in drawn]
    assert stats.kstest(radii, stats.gamma(d).cdf).pvalue > ERROR
    for wrong in (d - 5, d + 5):
        assert stats.kstest(radii, stats.gamma(wrong).cdf).pvalue < ERROR


def test_what_is_seen_of_a_change_is_within_the_claim_and_near_it():
    """Clopper and Pearson's bounds on where the likelihoods part: at most ε, of twice ε more."""
    points = RNG.normal(size=(9, 6))
    body, gauge = SymmetricPoints(points), SpannedNorm(points)
    change, n = points[0], 8000

    def at_least(epsilon):
        noise = KNormNoise(gauge, 1 / epsilon)
        assert noise.loss(body).epsilon <= epsilon * (1 + 1e-12)
        best = 0.0
        own, other = (
            noise.simulate(n, SimulationRandomness(k)) + shift
            for k, shift in ((1, change), (2, 0.0))
        )
        parted = [gauge.norm_up(z) - gauge.norm_up(z - change) for z in (own, other)]
        for cut in (0.5, 0.9, 0.999):
            hits, misses = (int(np.sum(part >= cut)) for part in parted)
            low = stats.beta.ppf(ERROR, hits, n - hits + 1)
            high = stats.beta.ppf(1 - ERROR, misses + 1, n - misses)
            best = max(best, math.log(low / high))
        return best

    assert at_least(1.0) <= 1.0
    assert at_least(2.0) > 1.2


@pytest.mark.sweep("test_plans_of_many_answers_are_pure_and_their_noise_has_the_radial_law")
def test_where_tries_are_too_many_the_hull_is_walked_in(monkeypatch):
    monkeypatch.setattr("lownoise.sets.norms.spanned._MOST_TRIES", 0)
    monkeypatch.setattr("lownoise.sets.norms.spanned._QUICK", 0)
    points = LISTS["plain"]
    gauge = SpannedNorm(points)
    assert isinstance(gauge.uniform, InAndOut)
    assert (gauge.uniform.distance, gauge.uniform.relative <= 1e-9) == (0, True)
    randomness = SimulationRandomness(3)
    drawn = np.array(
        [[float(x.mid()) for x in gauge.uniform.draw(randomness).balls()] for _ in range(60)]
    )
    norms = np.array([norm_by_programme(points, x) for x in drawn])
    assert stats.kstest(norms**3, "uniform").pvalue > ERROR
    assert stats.kstest((0.8 * norms) ** 3, "uniform").pvalue < 1e-3
    assert KNormNoise(gauge, 1.0).loss(SymmetricPoints(points)).epsilon <= 1 + 3e-9


def test_the_size_of_changes():
    points = RNG.normal(size=(24, 12))
    gauge, body = norm_of(SymmetricPoints(points)), SymmetricPoints(points)
    assert isinstance(gauge, SpannedNorm)
    assert isinstance(gauge.uniform, Within)
    assert gauge.sensitivity_up(body) == 1
    assert 1 <= gauge.scaled(0.5).sensitivity_up(body) * 0.5 <= 1 + 1e-9
    some = SymmetricPoints(points[:5] * 0.5 + points[5:10] * 0.25)
    true = max(norm_by_programme(points, x) for x in some.points)
    assert gauge.sensitivity_up(some) == pytest.approx(true, rel=1e-9)
    assert gauge.sensitivity_up(some) >= true * (1 - 1e-9)


def test_the_differences_of_a_list_are_its_own_unit_ball():
    points = RNG.choice([-8.0, 8.0], size=(95, 11))
    body = PointDifferences(points)  # more pairs than are listed in other norms
    gauge = norm_of(body)
    assert isinstance(gauge, SpannedNorm)
    assert gauge.sensitivity_up(body) == 1
    apart = PointDifferences(points[:20] * 3)
    assert 3 <= gauge.sensitivity_up(apart) * (1 + 1e-12) <= 3.1


def test_refusals_say_where_noise_is_to_be_had():
    points = RNG.normal(size=(40, 20))
    with pytest.raises(
        PlanError, match=r"40 points in 20 dimensions.*ask 1[0-9] answers"
    ) as refusal:
        norm_of(SymmetricPoints(points))
    assert "\n" not in str(refusal.value)
    with pytest.raises(PlanError, match=r"50 points in 40 dimensions.*ask 14 answers") as refusal:
        norm_of(SymmetricPoints(RNG.normal(size=(50, 40))))
    assert most_dimensions(24, 5.0, 12.0) < most_dimensions(24, 5.0, 1.0) < 24


@pytest.mark.sweep("test_refusals_say_where_noise_is_to_be_had")
def test_noise_is_to_be_had_where_refusals_say_so():
    with pytest.raises(PlanError) as refusal:
        norm_of(SymmetricPoints(RNG.normal(size=(40, 20))))
    most = int(str(refusal.value).split("ask ")[1].split()[0])
    assert norm_of(SymmetricPoints(RNG.normal(size=(2 * most, most)))).uniform.relative == 0
    with pytest.raises(PlanError) as refusal:
        norm_of(SymmetricPoints(RNG.normal(size=(50, 40))))
    few = int(str(refusal.value).split("of a hull of ")[1].split()[0])
    assert isinstance(norm_of(SymmetricPoints(RNG.normal(size=(few, 40)))).uniform, UniformBases)
    assert isinstance(norm_of(SymmetricPoints(RNG.normal(size=(28, 14)))).uniform, Within)
