# SPDX-License-Identifier: Apache-2.0
"""Randomizers of the ball: no bias, the moments and the law that they state, and fair sums.

Error of the first kind: normal limits are at `SURE` deviations (3e-11 each, fewer than 5,000 of
them), and bounds of Dvoretzky, Kiefer and Wolfowitz at 1e-9 each, fewer than 100. Power: a bias of
twice that is found nearly always, and laws with another threshold, chance or sign are rejected by
the same draws (`test_another_law_is_rejected`).
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import chi

from lownoise.errors import FileError, PlanError, TableError
from lownoise.local_model import FULL, RANDOMIZERS, HalfSpace, SphereCap
from lownoise.numbers.randomness import SimulationRandomness

SURE = 6.7
COUNT = 100_000
FINE = 2**20
CLASSES = [SphereCap, HalfSpace]
SIZES = [1, 2, 3, 10]
EPSILONS = [0.5, 2.0, 7.0]


def points(r):
    """A corner, the center, points inside, and the one nearest to the center."""
    rng = np.random.default_rng(r)
    corner, nearest = np.zeros(r, dtype=np.int64), np.zeros(r, dtype=np.int64)
    corner[-1], nearest[0] = -FULL, 1
    inside = rng.normal(size=r)
    inside *= 0.4 / np.linalg.norm(inside)
    close = rng.normal(size=r)
    close *= 0.99 / np.linalg.norm(close)
    whole = [np.trunc(own * FULL).astype(np.int64) for own in (inside, close)]
    return {"corner": corner, "center": 0 * corner, "nearest": nearest} | dict(
        zip(("inside", "close"), whole, strict=True)
    )


def drawn(randomizer, point, count=COUNT, seed=1):
    rows = np.repeat(np.asarray(point)[None], count, axis=0)
    return randomizer.reports(rows, randomness=SimulationRandomness(seed))


def sure(values, low, high):
    """Whether each column's mean is between two numbers, but for SURE of its deviations."""
    mean, off = values.mean(axis=0), SURE * values.std(axis=0) / math.sqrt(len(values)) + 1e-12
    return bool(np.all(mean >= low - off) and np.all(mean <= high + off))


# ---------------------------------------------------------------- bias and moments


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("kind", CLASSES)
def test_estimates_are_unbiased_and_their_moments_are_stated(kind, r, epsilon):
    randomizer = kind.fitted(r, epsilon)
    m, a, b = randomizer.moments
    for seed, point in enumerate(points(r).values()):
        estimates = drawn(randomizer, point, seed=seed) / (randomizer.scale * m)
        assert sure(estimates, point / FULL, point / FULL)
        unit = point / np.linalg.norm(point) if point.any() else np.eye(r)[0]
        second = (a * np.outer(unit, unit) + b * (np.eye(r) - np.outer(unit, unit))) / m**2
        products = (estimates[:, :, None] * estimates[:, None, :]).reshape(len(estimates), -1)
        rounding = np.eye(r) * 0.25 / (randomizer.scale * m) ** 2
        assert sure(products, second.ravel(), (second + rounding).ravel())


def test_a_bias_is_found():
    """Power: without the lift, with the sign turned, or m off by a few hundredths."""
    cap = SphereCap.fitted(3, 2.0)
    point = points(3)["inside"]
    unit = point / np.linalg.norm(point)
    estimates = drawn(cap, point) / (cap.scale * cap.moments[0])
    assert sure(estimates, point / FULL, point / FULL)
    assert not sure(estimates, unit, unit)
    assert not sure(estimates, -point / FULL, -point / FULL)
    corner = drawn(cap, points(3)["corner"]) / (cap.scale * cap.moments[0] * 0.95)
    assert not sure(corner, *2 * [points(3)["corner"] / FULL])


@pytest.mark.grid(3)
@pytest.mark.parametrize("r", [1, 2, 3, 10, 1000])
def test_the_moments_of_a_cut_normal_law_are_integrals(r):
    half = HalfSpace.fitted(r, 1.5)
    for cut in {half.longest, math.ceil(math.sqrt(r)), math.ceil(math.sqrt(r)) + 1}:
        own = HalfSpace(r, half.uniform, cut, 50)
        share = chi(r).cdf(cut)
        length = chi(r).expect(lambda x: x, lb=0, ub=cut) / share
        square = chi(r).expect(lambda x: x * x, lb=0, ub=cut) / share
        angle = math.exp(math.lgamma(r / 2) - math.lgamma((r + 1) / 2)) / math.sqrt(math.pi)
        m, a, b = own.moments
        assert m == pytest.approx((1 - own.uniform) * length * angle, rel=1e-7)
        assert a == b == pytest.approx(square / r, rel=1e-7)


def test_a_normal_law_that_is_cut_short_is_still_unbiased():
    own = HalfSpace(2, 0.25, 2, 50)
    for point in points(2).values():
        estimates = drawn(own, point, seed=11) / (own.scale * own.moments[0])
        assert sure(estimates, point / FULL, point / FULL)
        assert np.all(np.abs(estimates) <= 2 / own.moments[0])


@pytest.mark.parametrize("r", [2, 10, 200])
def test_reports_of_half_spaces_are_subgaussian(r):
    """E exp(⟨x, V⟩) ≤ e^{|x|²/2}·2Φ(|x|) whatever u: V is normal but for the sign of ⟨V, u⟩."""
    half = HalfSpace.fitted(r, 1.0)
    values = drawn(half, points(r)["corner"], 40_000)[:, -1] / half.scale
    for x in (0.25, 0.5, 1.0):
        found = np.exp(-x * values)
        most = math.exp(x * x / 2 + x / half.scale) * (1 + math.erf(x / math.sqrt(2)))
        assert found.mean() <= most + SURE * found.std() / math.sqrt(len(found))


# ---------------------------------------------------------------- the law


def tail_of_sphere(r, x):
    """P(first coordinate ≤ x) of a uniform point of the sphere, r ≥ 2."""
    half = betainc((r - 1) / 2, 0.5, 1 - np.minimum(x * x, 1)) / 2
    return np.where(x < 0, half, 1 - half)


def law(r, threshold, uniform):
    """The distribution function of the height of V."""

    def heights(x):
        x = np.clip(x, -1, 1)
        sphere, below = tail_of_sphere(r, x), tail_of_sphere(r, np.float64(threshold))
        cap = np.clip((sphere - below) / (1 - below), 0, 1)
        return uniform * sphere + (1 - uniform) * cap

    return heights


def apart(values, distribution, blur):
    """At most how far the empirical distribution is from one, values being off by `blur`."""
    values = np.sort(values)
    n = len(values)
    over = np.arange(1, n + 1) / n - distribution(values + blur)
    under = distribution(values - blur) - np.arange(n) / n
    return max(over.max(), under.max(), 0.0)


def bound(count, error=1e-9):
    return math.sqrt(math.log(2 / error) / (2 * count))


CAPS = [
    (2, 0.05, 0.25),
    (2, 0.8, 0.25),
    (2, 0.9999, 0.01),
    (3, 2**-26, 0.5),
    (3, 0.5, 0.25),
    (3, 0.9, 0.03125),
    (10, 0.1, 0.25),
    (10, 0.4, 0.125),
    (10, 0.95, 0.25),
    (200, 0.02, 0.25),
    (200, 0.3, 0.125),
]


def heights(cap, seed, count=COUNT):
    """Heights about a direction that is no axis, off by at most √r/s."""
    r = cap.dimension
    point = np.zeros(r, dtype=np.int64)
    point[:2] = int(FULL * 0.6), -int(FULL * 0.8)
    unit = point / np.linalg.norm(point)
    # the lift is + but for a chance below 2^-26
    return drawn(cap, point, count, seed) @ unit / cap.scale


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", CAPS)
def test_heights_have_the_law_of_a_cap_in_a_sphere(case):
    r, threshold, uniform = case
    uniform = round(uniform * 2**52) / 2**52
    count = COUNT if r < 100 else 10_000
    cap = SphereCap(r, threshold, uniform, FINE)
    found = heights(cap, seed=r, count=count)
    assert apart(found, law(r, threshold, uniform), math.sqrt(r) / FINE) <= bound(count)


@pytest.mark.grid(1)
@pytest.mark.parametrize("threshold", [0.1, 0.4])
def test_another_law_is_rejected(threshold):
    """Power: the threshold 0.05 higher or lower, λ double or half, ε doubled, the sign turned."""
    cap = SphereCap(10, threshold, 0.25, FINE)
    found, blur = heights(cap, seed=3), math.sqrt(10) / FINE
    odds = math.exp(cap.loss.epsilon) ** 2 - 1
    share = 1 - float(tail_of_sphere(10, np.float64(threshold)))
    for other in (
        law(10, threshold + 0.05, 0.25),
        law(10, threshold - 0.05, 0.25),
        law(10, threshold, 0.5),
        law(10, threshold, 0.125),
        law(10, threshold, 1 / (1 + share * odds)),
    ):
        assert apart(found, other, blur) > bound(COUNT)
    assert apart(-found, law(10, threshold, 0.25), blur) > bound(COUNT)


def test_both_ways_to_a_cap_are_taken_and_are_of_one_law():
    """Folding accepts 2q of all trials, the other way γq/h: each is forced where it is not best."""
    ways = set()
    for r, threshold, uniform in CAPS[:9]:
        uniform = round(uniform * 2**52) / 2**52  # noqa: PLW2901
        ways.add(SphereCap(r, threshold, uniform, FINE)._folds)
        if 0.05 <= threshold <= 0.8:
            forced = SphereCap(r, threshold, uniform, FINE)
            forced.__dict__["_folds"] = not forced._folds
            found = heights(forced, seed=r, count=20_000)
            blur = math.sqrt(r) / FINE
            assert apart(found, law(r, threshold, uniform), blur) <= bound(20_000)
    assert ways == {True, False}


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", CAPS[3:9])
def test_around_u_all_directions_are_alike(case):
    r, threshold, uniform = case
    cap = SphereCap(r, threshold, uniform, FINE)
    point = np.zeros(r, dtype=np.int64)
    point[0] = FULL
    values = drawn(cap, point, seed=8) / FINE
    across = np.linalg.norm(values[:, 1:], axis=1)
    wide = across > 0.05
    for column in (1, r - 1):
        found = values[wide, column] / across[wide]
        blur = 4 * math.sqrt(r) / FINE / 0.05
        assert apart(found, lambda x: tail_of_sphere(r - 1, np.clip(x, -1, 1)), blur) <= bound(
            int(wide.sum())
        )


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", CLASSES)
def test_one_by_one_is_the_law_of_a_block(kind):
    randomizer, source, count = kind.fitted(2, 2.0), SimulationRandomness(4), 6000
    point = np.array([[FULL, 0]])
    alone = np.array([randomizer.reports(point, randomness=source)[0] for _ in range(count)])
    block = drawn(randomizer, point[0], 60_000, seed=5)
    step = 1e-9  # equal integers are equal
    for column in (0, 1):
        ordered = np.sort(block[:, column])

        def empirical(x, ordered=ordered):
            return np.searchsorted(ordered, x, side="right") / len(ordered)

        found = np.sort(alone[:, column])
        levels = np.unique(found)
        far = np.abs(np.searchsorted(found, levels + step) / count - empirical(levels + step)).max()
        assert far <= bound(count) + bound(60_000)


@pytest.mark.parametrize("kind", CLASSES)
def test_rows_of_a_block_are_independent(kind):
    randomizer = kind.fitted(3, 2.0)
    values = drawn(randomizer, points(3)["corner"], seed=9).astype(float)
    values -= values.mean(axis=0)
    for lag in (1, 2, 1000):
        products = values[lag:] * values[:-lag]
        assert sure(products, 0, 0)


# ---------------------------------------------------------------- loss


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("r", [1, 2, 10, 1000])
@pytest.mark.parametrize("kind", CLASSES)
def test_fitted_ones_keep_epsilon_and_waste_none(kind, r, epsilon):
    randomizer = kind.fitted(r, epsilon)
    assert randomizer.loss.within(epsilon)
    assert randomizer.loss.epsilon >= epsilon * (1 - 1e-9)
    back = RANDOMIZERS.read(RANDOMIZERS.write(randomizer))
    assert back == randomizer
    assert (randomizer.loss.delta, randomizer.loss.mu) == (0.0, math.inf)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_cap_is_no_worse_than_half_of_a_normal_law(epsilon):
    for r in (1, 2, 10, 1000):
        one, other = SphereCap.fitted(r, epsilon), HalfSpace.fitted(r, epsilon)
        assert one.total_variance(np.ones(r)) < other.total_variance(np.ones(r))


# ---------------------------------------------------------------- sums


@pytest.mark.parametrize("kind", CLASSES)
def test_sums_are_exact_and_give_the_sample_covariance(kind):
    randomizer = kind.fitted(3, 1.0)
    reports = drawn(randomizer, points(3)["inside"], 5000)
    sums = randomizer.sums(reports)
    assert sums[:3].tolist() == [sum(column) for column in reports.T.tolist()]
    upper = [(i, j) for i in range(3) for j in range(i, 3)]
    products = [sum(x * y for x, y in zip(*reports.T[[i, j]].tolist())) for i, j in upper]  # noqa: B905
    assert sums[3:].tolist() == products
    parts = sum(randomizer.sums(part) for part in (reports[:7], reports[7:7], reports[7:]))
    assert np.array_equal(parts, sums)
    estimates = reports / (randomizer.scale * randomizer.moments[0])
    assert np.allclose(randomizer.mean(sums, 5000), estimates.mean(axis=0), rtol=1e-12)
    covariance = randomizer.covariance(sums, 5000)
    assert np.allclose(covariance, np.cov(estimates.T) / 5000, rtol=1e-10)
    assert np.array_equal(covariance, covariance.T)


def test_sums_beyond_words_are_integers():
    randomizer = HalfSpace(1, 0.5, 1, 2**20)
    reports = np.full((2**22 + 5, 1), 2**20)
    assert randomizer.sums(reports).tolist() == [len(reports) * 2**20, len(reports) * 2**40]


@pytest.mark.parametrize("kind", CLASSES)
def test_variances_are_those_of_the_worst_record(kind):
    rng = np.random.default_rng(4)
    randomizer = kind.fitted(3, 1.0)
    m, a, b = randomizer.moments
    for answers in (rng.normal(size=(5, 3)), rng.normal(size=3), np.eye(3)[:1]):
        matrix = np.diag(answers) if answers.ndim == 1 else answers
        units = rng.normal(size=(2000, 3))
        units = np.vstack([units, matrix, np.linalg.svd(matrix)[2]])
        units = units[np.linalg.norm(units, axis=1) > 0]
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        # of records near the center
        along = (units @ matrix.T) ** 2
        squares = (matrix**2).sum(axis=1)
        own = (a * along + b * (squares - along)) / m**2
        rounding = squares / (4 * (randomizer.scale * m) ** 2)
        variances, total = randomizer.variances(answers), randomizer.total_variance(answers)
        assert np.allclose(variances, own.max(axis=0) + rounding, rtol=1e-9)
        assert np.all(variances >= own.max(axis=0) + rounding)
        assert total >= own.sum(axis=1).max() + rounding.sum()
        assert total == pytest.approx(own.sum(axis=1).max() + rounding.sum(), rel=1e-9)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("r", [1, 2, 7])
def test_what_is_longer_than_any_honest_report_is_not_allowed(kind, r):
    randomizer = kind.fitted(r, 1.0)
    inside = randomizer.scale * randomizer.longest
    honest = drawn(randomizer, points(r)["corner"], 20_000)
    assert np.all(randomizer.allowed(honest))
    assert np.linalg.norm(honest, axis=1).max() < inside + math.sqrt(r)
    corner = np.full((1, r), inside)
    assert randomizer.allowed(corner)[0] == (r == 1)
    assert not randomizer.allowed(corner + 1)[0]
    assert not randomizer.allowed(np.full((1, r), 2**62))[0]
    rng = np.random.default_rng(r)
    answers = rng.normal(size=(4, r))
    rows = rng.normal(size=(3000, r))
    rows = np.vstack([rows, answers, np.sign(answers), np.eye(r)])
    rows *= (inside + math.sqrt(r)) / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.clip(np.trunc(rows), -inside, inside).astype(np.int64)
    rows = rows[randomizer.allowed(rows)]
    moved = np.abs(rows @ answers.T).max(axis=0) * 2 / (inside / randomizer.longest)
    influence = randomizer.influence(answers)
    assert np.all(moved / randomizer.moments[0] <= influence)
    assert np.all(moved / randomizer.moments[0] >= influence * 0.9)


# ---------------------------------------------------------------- what is refused


def test_what_is_out_of_range_is_refused_in_one_line():
    fine = {"kind": "cap", "dimension": 3, "threshold": 0.5, "uniform": 0.25, "scale": 9}
    half = {"kind": "half_space", "dimension": 3, "uniform": 0.25, "longest": 11, "scale": 9}
    for fields, match in [
        (fine | {"dimension": 10**6}, r"cap.dimension=1000000 is not in"),
        (fine | {"threshold": 1.0}, "cap.threshold=1.0 is not in"),
        (fine | {"threshold": math.nan}, "threshold is no number above 0"),
        (fine | {"uniform": 1.0}, "cap.uniform=1.0 is no multiple"),
        (fine | {"uniform": 2.0**-53}, "cap.uniform=.* is no multiple"),
        (fine | {"uniform": 0.0}, "uniform is no number above 0"),
        (fine | {"scale": 2**21}, "cap.scale=2097152 is not in range"),
        (half | {"longest": 1}, "half_space.longest=1 is below"),
        (half | {"longest": 2**20}, "half_space.scale=9 is not in range"),
        (half | {"uniform": 0.1}, "half_space.uniform=0.1 is no multiple"),
    ]:
        with pytest.raises(FileError, match=match) as caught:
            RANDOMIZERS.read(fields)
        assert "\n" not in str(caught.value)
    assert RANDOMIZERS.read(fine) == SphereCap(3, 0.5, 0.25, 9)
    assert RANDOMIZERS.read(half) == HalfSpace(3, 0.25, 11, 9)


def test_no_randomizer_is_fitted_where_there_is_none():
    for kind in CLASSES:
        for r, epsilon in ((0, 1.0), (10**6, 1.0), (3, 0.0), (3, math.inf), (3, math.nan)):
            with pytest.raises(PlanError) as caught:
                kind.fitted(r, epsilon)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", CLASSES)
def test_points_outside_the_ball_are_refused(kind):
    randomizer = kind.fitted(2, 1.0)
    for row in ([FULL, 1], [2**62, 0], [FULL, FULL]):
        with pytest.raises(TableError, match="is no point of the unit ball") as caught:
            randomizer.reports(np.array([[0, 0], row]), randomness=SimulationRandomness(1))
        assert str(row[0]) not in str(caught.value)
    empty = randomizer.reports(np.zeros((0, 2), np.int64), randomness=SimulationRandomness(1))
    assert empty.shape == (0, 2)


def test_the_grid_costs_a_ten_thousandth_of_the_variance_at_most():
    for kind in CLASSES:
        for r in (1, 10, 1000):
            randomizer = kind.fitted(r, 1.0)
            _, a, b = randomizer.moments
            exact = Fraction(r, 4 * randomizer.scale**2)
            assert exact <= 1e-4 * (a + (r - 1) * b) * (1 + 1e-9)
