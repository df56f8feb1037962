# SPDX-License-Identifier: Apache-2.0
"""Intervals of means that are ratios of sums and a count: exact in their level, about any center.

Fieller's interval is all of θ with |s − θc| ≤ z·σ(s − θc): that its ends solve this equation, with
the covariance that the plan states, is that it covers with the chance of a normal number; no draws
are needed. The few draws there are show that the equation is about the mean itself.
"""

import math

import numpy as np
import pytest

import lownoise as ln
from cases import MEMBERS
from lownoise.errors import LownoiseError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.regions import normal_quantile, ratio_interval, simultaneous_quantile
from lownoise.release.release import Release

LEVEL = 0.95
ROWS = 10**6
# 4,000 draws: one standard error of a coverage of 0.95 is 0.00345, and 0.02 is 5.8 of them: a right
# interval is refused with chance 7e-9, and one that covers 0.90 is seen with chance above 1 - 1e-9
DRAWS = 4_000
OFF = 0.02


def far_center(place, domain):
    """A corner, a middle, another corner of the bounds in turn: as far as a center may be."""
    corner = np.where(np.arange(domain.dimension) % 2, domain.lower, domain.upper)
    return (domain.lower, domain.center, corner, domain.upper)[place % 4]


def gaussian(domain, center, order=2.0):
    names = [f"c{i}" for i in range(domain.dimension)]
    question = ln.Mean(names, domain, center=center)
    return ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", order=order, rtol=0.1)


def of_integers(terms, integers):
    return Release(terms=terms, integers=integers, spend=None, created="", versions={})


def middling(terms, mean, rows=ROWS):
    """A release whose noisy count is near `rows` and whose noisy mean is near `mean`."""
    mechanism = terms.mechanism
    grid = mechanism.totals
    about, kept = grid.query.coding.center, grid.coordinates.pivots
    totals = rows * np.append((mean - about)[kept], 1.0) / grid.unit
    return of_integers(terms, tuple(int(t) for t in totals))


def ends_solve(release, found, z, *, correlated=True):
    """Whether both ends that are inside the bounds are just `z` deviations of s − θc away."""
    question, every = release.terms.question, release.covariance
    inside = (found > question.domain.lower[:, None]) & (found < question.domain.upper[:, None])
    theta = found - question.center[:, None]
    sums, count = release.estimate[:-1, None], release.estimate[-1]
    mixed = every[:-1, -1:] if correlated else 0.0
    variance = np.diag(every)[:-1, None] - 2 * theta * mixed + theta**2 * every[-1, -1]
    apart = np.abs(sums - theta * count)
    near = np.abs(apart - z * np.sqrt(variance)) <= 1e-4 * z * np.sqrt(variance)
    return bool(np.all(near | ~inside)), inside


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("place", range(len(MEMBERS)), ids=[m.name for m in MEMBERS])
def test_the_ends_are_where_the_whole_covariance_puts_them(place):
    domain = MEMBERS[place].domain
    plan = gaussian(domain, far_center(place, domain))
    some = MEMBERS[place].sample(np.random.default_rng(7), 200)[-1]
    mean = 0.7 * domain.center + 0.3 * some
    release = middling(plan.terms, mean)
    solved, inside = ends_solve(release, release.mean_interval(LEVEL), normal_quantile(LEVEL))
    assert solved
    wide = domain.upper - domain.lower > 1e-9 * np.abs(domain.upper)
    assert np.all(inside[wide])
    together = simultaneous_quantile(LEVEL, domain.dimension)
    assert ends_solve(release, release.simultaneous_mean_interval(LEVEL), together)[0]


LIST = ln.Points([[0.0], [1.0], [10.0]])
BALL = ln.Ball(2, 1.0, center=[5.0, 0.0])
COVERED = {
    "list": (LIST, None, [9.0]),
    "list about its end": (LIST, [0.0], [9.0]),
    "ball about its edge": (BALL, [4.0, 0.0], [5.8, 0.0]),
    "ball about its other edge": (BALL, [6.0, 0.0], [5.8, 0.0]),
    "box about its corner": (ln.Box([0.0, 0.0], [1.0, 8.0]), [0.0, 8.0], [0.8, 1.6]),
}


def draws(plan, mean, seed, rows):
    """Releases of `rows` records of that mean, far enough from the bounds that none cuts an end."""
    mechanism = plan.terms.mechanism
    grid = mechanism.totals
    about, kept = grid.query.coding.center, grid.coordinates.pivots
    exact = np.rint(rows * np.append((mean - about)[kept], 1.0) / grid.unit)
    if not plan.terms.gaussian:
        noise = np.rint(mechanism.noise.simulate(DRAWS, SimulationRandomness(seed)))
    else:
        normal = np.random.default_rng(seed).normal(size=(DRAWS, mechanism.noise.shape.sources))
        noise = np.rint([mechanism.noise.shape.apply(each) for each in normal])
    for each in exact + noise:
        yield of_integers(plan.terms, tuple(int(k) for k in each))


def coverage(plan, mean, seed, rows=400):
    mean = np.array(mean)
    found = np.zeros(mean.size)
    for release in draws(plan, mean, seed, rows):
        low, high = release.mean_interval(LEVEL).T
        found += (low <= mean) & (mean <= high)
    return found / DRAWS


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", COVERED)
def test_intervals_of_gaussian_means_cover_at_their_level(name):
    domain, center, mean = COVERED[name]
    found = coverage(gaussian(domain, center), mean, seed=31)
    assert np.all(np.abs(found - LEVEL) <= OFF), found


def test_without_the_covariance_they_would_not():
    """What the law above would see: 0.90 and less where the mixed term is left out."""
    plan = gaussian(LIST, None)
    release = middling(plan.terms, np.array([7.0]))
    wrong = ratio_interval(
        release.estimate[:-1],
        float(release.estimate[-1]),
        variance=np.square(plan.standard_deviation[:-1]),
        covariance=np.zeros(1),
        scale=float(plan.standard_deviation[-1]),
        radius=normal_quantile(LEVEL),
    )
    ends = plan.terms.question.center[:, None] + wrong
    assert not ends_solve(release, ends, normal_quantile(LEVEL))[0]
    assert ends_solve(release, ends, normal_quantile(LEVEL), correlated=False)[0]


def test_a_center_changes_no_interval_that_its_noise_does_not():
    """Fieller's interval follows the point that sums are taken about: one noise, two tellings."""
    rng = np.random.default_rng(8)
    root = rng.normal(size=(2, 2))
    noise, moved = root @ root.T, np.array([[1.0, 7.5], [0.0, 1.0]])
    there = moved @ noise @ moved.T
    found = []
    for every, sums in ((noise, 40.0), (there, 40.0 + 7.5 * 25.0)):
        found.append(
            ratio_interval(
                np.array([sums]),
                25.0,
                variance=every[:1, 0],
                covariance=every[:1, 1],
                scale=math.sqrt(every[1, 1]),
                radius=2.5,
            )
        )
    assert np.allclose(found[0] + 7.5, found[1], rtol=1e-12)


def test_where_the_count_may_be_zero_all_of_the_bounds_are_given():
    plan = gaussian(LIST, None)
    b = float(plan.standard_deviation[-1])
    bounds = [[0.0, 10.0]]
    few = middling(plan.terms, np.array([5.0]), rows=0.99 * normal_quantile(LEVEL) * b)
    assert few.mean_interval(LEVEL).tolist() == bounds
    assert few.simultaneous_mean_interval(LEVEL).tolist() == bounds
    many = middling(plan.terms, np.array([5.0]), rows=300 * b)
    assert many.mean_interval(LEVEL).tolist() != bounds


def pure(domain, center, mechanism=None, **asked):
    names = [f"c{i}" for i in range(domain.dimension)]
    question = ln.Mean(names, domain, center=center)
    budget = ln.pure_dp(1.0)
    return ln.plan(question, budget=budget, relation="add_remove", mechanism=mechanism, **asked)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("list about its end", "k_norm"),
        ("box about its corner", "laplace"),
        ("ball about its edge", "ellipsoid"),
        ("box about its corner", "recursive"),
    ],
)
def test_intervals_of_pure_means_cover_at_least_at_their_level(name, mechanism):
    """And below 0.985: they are wide for the worst direction, not for all there are."""
    domain, center, mean = COVERED[name]
    found = coverage(pure(domain, center, mechanism), mean, seed=32)
    assert np.all((found >= LEVEL - OFF) & (found <= 0.985)), found


def test_pure_means_are_covered_together():
    domain, center, mean = COVERED["box about its corner"]
    plan, hit = pure(domain, center), 0
    for release in draws(plan, np.array(mean), 33, 400):
        low, high = release.simultaneous_mean_interval(LEVEL).T
        hit += bool(np.all((low <= mean) & (mean <= high)))
    assert hit / DRAWS >= LEVEL - OFF


def test_where_draws_would_be_too_many_the_tails_of_log_concave_noise_hold():
    from lownoise.release.guarantees import tail_quantile
    from lownoise.release.proofs import ratio_quantile

    wide = pure(ln.Box(np.zeros(70), np.ones(70)), np.zeros(70), "laplace").terms.mechanism
    assert np.all(ratio_quantile(wide, LEVEL) == tail_quantile(1 - LEVEL))
    few = pure(LIST, None).terms.mechanism
    assert 1.8 < ratio_quantile(few, LEVEL)[0] < 2.3 < ratio_quantile(few, LEVEL, 4)[0]
    with pytest.raises(LownoiseError, match="level=1"):
        ratio_quantile(few, 1.0)


# the most that a search's last digits, and the rounding of codes, may change
SAME = 1e-9


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("place", range(len(MEMBERS)), ids=[m.name for m in MEMBERS])
def test_no_center_changes_what_is_promised_of_a_mean(place):
    """Every mechanism's number and the bound under them, about the middle and about an end."""
    domain = MEMBERS[place].domain
    order = (2.0, math.inf, 3.0)[place % 3]
    plain = pure(domain, None, order=order)
    there = pure(domain, (domain.lower, domain.upper)[place % 2], order=order)
    assert 0 <= plain.lower_bound <= plain.error
    assert there.error == pytest.approx(plain.error, rel=SAME)
    assert there.lower_bound == pytest.approx(plain.lower_bound, rel=SAME)
    ranked = [(own.mechanism, own.error) for own in plain.comparison if own.error is not None]
    again = [(own.mechanism, own.error) for own in there.comparison if own.error is not None]
    assert [own[0] for own in ranked] == [own[0] for own in again]
    assert np.allclose([own[1] for own in ranked], [own[1] for own in again], rtol=SAME)
    assert ranked[0][1] == pytest.approx(plain.terms.compared)
    # what is answered are sums about the center: their noise is that of the others, moved along
    away = there.terms.question.center - plain.terms.question.center
    moved = np.eye(away.size + 1)
    moved[:-1, -1] = -away
    if there.mechanism == plain.mechanism:
        near = 1e-9 * np.max(np.abs(there.covariance))
        every = moved @ plain.covariance @ moved.T
        assert np.allclose(there.covariance, every, rtol=1e-6, atol=near)


@pytest.mark.parametrize("away", [-3.0, 1e3])
def test_where_a_domain_lies_does_not_matter_either(away):
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 4.0]])
    for here, there in (
        (ln.Points(corners), ln.Points(corners + away)),
        (ln.Box([0, 0], [1, 4]), ln.Box([away, away], [1 + away, 4 + away])),
        (ln.Ball(2, 2.0), ln.Ball(2, 2.0, center=[away, away])),
    ):
        plain, moved = pure(here, None), pure(there, there.lower)
        assert moved.mechanism == plain.mechanism
        assert moved.error == pytest.approx(plain.error, rel=1e-6)  # codes are on another grid
        assert moved.lower_bound == pytest.approx(plain.lower_bound, rel=1e-6)


def test_the_error_is_that_of_the_worst_mean():
    """The list {0, 1, 10}: sum and count of K-norm noise, whose least at either end is √200."""
    plan = pure(LIST, None)
    assert plan.mechanism == "k_norm"
    assert plan.error == pytest.approx(math.sqrt(200), rel=1e-6)
    every, question = plan.covariance, plan.terms.question
    about = np.array([0.0, 1.0, 10.0]) - question.center
    strays = np.sqrt(every[0, 0] - 2 * about * every[0, 1] + about**2 * every[1, 1])
    assert plan.error == pytest.approx(np.max(strays))
    # what leaving the covariance out says, about the mean of the list
    apart = math.sqrt(every[0, 0] + np.max(about**2) * every[1, 1])
    assert apart > 1.1 * plan.error
    # no mechanism is below this: about 10, one record at 0 moves the sum by 10
    assert plan.lower_bound == pytest.approx(13.5696, rel=1e-4)


@pytest.mark.parametrize("mechanism", ["k_norm", "ellipsoid"])
def test_the_error_is_that_of_the_worst_corner_of_the_bounds(mechanism):
    """On a triangle sum and count go together about every center: all four corners, by hand."""
    domain = ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 4.0]])
    plan = pure(domain, [1.0, 1.0], mechanism)
    every, center = plan.covariance, plan.terms.question.center
    strays = []
    for corner in np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 4.0], [1.0, 4.0]]):
        about = np.hstack([np.eye(2), -(corner - center)[:, None]])
        strays.append(math.sqrt(np.trace(about @ every @ about.T)))
    assert plan.error == pytest.approx(max(strays), rel=1e-9)
    assert plan.error > 1.05 * min(strays)
    assert plan.lower_bound <= plan.error


def test_a_release_about_another_center_answers_sums_about_it(tmp_path):
    import pandas as pd

    rows = pd.DataFrame({"c0": np.linspace(0, 1, 5000), "c1": np.linspace(8, 0, 5000)})
    center = np.array([0.0, 8.0])
    plan = pure(ln.Box([0.0, 0.0], [1.0, 8.0]), center)
    release = plan.release(rows)
    exact = np.append((rows.to_numpy() - center).sum(axis=0), len(rows))
    assert np.all(np.abs(release.estimate - exact) <= 60 * plan.standard_deviation)
    assert np.allclose(release.mean, center + release.estimate[:2] / release.estimate[2])
    release.save(tmp_path / "release.json")
    again = Release.from_json((tmp_path / "release.json").read_text())
    assert np.array_equal(again.estimate, release.estimate)
    assert np.array_equal(again.mean_interval(), release.mean_interval())
    assert ln.verify(release.to_json())
    other = release.to_json().replace('"about": "domain"', '"about": "center"')
    with pytest.raises(LownoiseError, match="about"):
        Release.from_json(other)
