# SPDX-License-Identifier: Apache-2.0
"""Signs of sampled coordinates: their law is written out in fractions, and all is judged by it.

Statistical tests have an error of the first kind of at most 1e-6 each;
`test_other_laws_are_seen` is their power.
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb, prod, tanh

import numpy as np
import pytest

from local_model.laws import allowed, check_loss, statistic
from lownoise.errors import FileError, PlanError
from lownoise.local_model.coordinates import SampledCoordinates
from lownoise.local_model.draws import GRAIN
from lownoise.local_model.randomizer import FULL, RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness

COUNT = 200_000
CASES = {
    "one of one": SampledCoordinates.fitted(1, 1.0),
    "one of three": SampledCoordinates.fitted(3, 1.0),
    "two of three": SampledCoordinates.fitted(3, 4.0),
    "all of three": SampledCoordinates(coordinates=3, sampled=3, flipped=0.25),
    "two of four": SampledCoordinates(coordinates=4, sampled=2, flipped=0.125),
}


def points(randomizer):
    r = randomizer.coordinates
    rng = np.random.default_rng(3)
    inside = rng.integers(-FULL, FULL + 1, (2, r))
    return [np.full(r, FULL), np.full(r, -FULL), np.zeros(r, dtype=np.int64), *inside]


def law(randomizer, point):
    """The chance of every report, written out of the stored numbers."""
    r, b, f = randomizer.coordinates, randomizer.sampled, Fraction(randomizer.flipped)
    found = {}
    for chosen in combinations(range(r), b):
        for signs in product((0, 1), repeat=b):
            chances = []
            for i, sign in zip(chosen, signs, strict=True):
                above = (1 + Fraction(int(point[i]), FULL)) / 2
                plus = above * (1 - f) + (1 - above) * f
                chances.append(plus if sign else 1 - plus)
            report = tuple(2 * i + s for i, s in zip(chosen, signs, strict=True))
            found[report] = prod(chances) / comb(r, b)
    return found


def estimate(randomizer, report):
    return randomizer.mean(randomizer.sums(np.array([report])), 1)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_the_loss_is_the_largest_ratio_of_chances(name):
    randomizer = CASES[name]
    corners = [FULL * np.array(signs) for signs in product((-1, 1), repeat=randomizer.coordinates)]
    check_loss(randomizer, [law(randomizer, at) for at in [*corners, *points(randomizer)]])


@pytest.mark.parametrize("name", CASES)
def test_reports_of_the_law_are_the_allowed_ones(name):
    randomizer = CASES[name]
    own = law(randomizer, np.zeros(randomizer.coordinates, dtype=np.int64))
    assert set(own) == allowed(randomizer)


def drawn(randomizer, point, seed):
    rows = np.repeat(point[None, :], COUNT, axis=0)
    return randomizer.reports(rows, randomness=SimulationRandomness(seed))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_reports_follow_the_law(name):
    randomizer = CASES[name]
    for seed, point in enumerate(points(randomizer)):
        assert statistic(law(randomizer, point), drawn(randomizer, point, seed)) < 1


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_other_laws_are_seen(name):
    """Of a fifth more ε, and of a point that is taken for its nearest corner."""
    randomizer = CASES[name]
    point = points(randomizer)[3]
    other = SampledCoordinates(
        coordinates=randomizer.coordinates,
        sampled=randomizer.sampled,
        flipped=int(randomizer.flipped * 0.8 * GRAIN) / GRAIN,
    )
    corner = np.where(point > 0, FULL, -FULL)
    assert statistic(law(randomizer, corner), drawn(other, corner, 1)) > 1
    assert statistic(law(randomizer, point), drawn(randomizer, corner, 1)) > 1


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_unbiased_and_have_the_stated_variances(name):
    randomizer = CASES[name]
    r = randomizer.coordinates
    rng = np.random.default_rng(1)
    diagonal = rng.normal(size=r)
    for answers, A in [(rng.normal(size=(2, r)),) * 2, (diagonal, np.diag(diagonal))]:
        greatest, total = np.zeros(len(A)), 0.0
        for point in points(randomizer):
            own = law(randomizer, point)
            values = np.array([estimate(randomizer, report) for report in own])
            chances = np.array([float(c) for c in own.values()])
            np.testing.assert_allclose(chances @ values, point / FULL, atol=1e-12)
            told = values @ A.T
            spread = chances @ told**2 - (chances @ told) ** 2
            greatest, total = np.maximum(greatest, spread), max(total, spread.sum())
        np.testing.assert_allclose(randomizer.variances(answers), greatest, rtol=1e-9)
        assert np.all(randomizer.variances(answers) >= greatest * (1 - 1e-14))
        assert randomizer.total_variance(answers) == pytest.approx(total, rel=1e-9)
        reach = np.ptp(told, axis=0)
        assert np.all(randomizer.influence(answers) >= reach * (1 - 1e-14))
        np.testing.assert_allclose(randomizer.influence(answers), reach, rtol=1e-9)


@pytest.mark.parametrize("name", ["one of three", "two of three", "all of three"])
def test_the_covariance_is_right_on_average(name):
    """Of two people: drawn at random, and these two, of whom it is no less."""
    randomizer = CASES[name]
    first, second = points(randomizer)[3:]
    laws = [law(randomizer, point) for point in (first, second)]
    mixed = {report: (laws[0][report] + laws[1][report]) / 2 for report in laws[0]}
    for pair, between in [((mixed, mixed), 0.0), (laws, np.outer(*[(first - second) / FULL] * 2))]:
        r = randomizer.coordinates
        stated, mean, square = np.zeros((r, r)), np.zeros(r), np.zeros((r, r))
        for (one, p), (two, q) in product(pair[0].items(), pair[1].items()):
            sums = randomizer.sums(np.array([one, two]))
            found = randomizer.mean(sums, 2)
            stated += float(p * q) * randomizer.covariance(sums, 2)
            mean += float(p * q) * found
            square += float(p * q) * np.outer(found, found)
        true = square - np.outer(mean, mean)
        np.testing.assert_allclose(stated, true + between / 4, atol=1e-10 * np.abs(true).max())


@pytest.mark.parametrize("dimension", [1, 2, 10, 500, 3000])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 4.0, 10.0, 100.0, 1000.0])
def test_fitted_keeps_epsilon_and_has_the_least_error(dimension, epsilon):
    randomizer = SampledCoordinates.fitted(dimension, epsilon)
    assert randomizer.loss.epsilon <= epsilon
    less = randomizer.flipped - 1 / GRAIN
    if less > 0:
        found = SampledCoordinates(
            coordinates=dimension, sampled=randomizer.sampled, flipped=less
        ).loss.epsilon
        assert found > epsilon
    counts = range(1, dimension + 1) if dimension <= 2000 else [1]
    known = min(dimension**2 / (b * tanh(epsilon / (2 * b)) ** 2) for b in counts)
    assert randomizer.total_variance(np.ones(dimension)) == pytest.approx(known, rel=1e-5)


@pytest.mark.parametrize("dimension", [1000, 20_000])
def test_many_coordinates(dimension):
    randomizer = SampledCoordinates.fitted(dimension, 6.0)
    encoded = np.full((20, dimension), FULL)
    reports = randomizer.reports(encoded, randomness=SimulationRandomness(1))
    assert np.all(randomizer.allowed(reports))
    sums = randomizer.sums(reports)
    assert randomizer.mean(sums, 20).shape == (dimension,)


def test_how_much_is_drawn_does_not_depend_on_the_point():
    for randomizer in CASES.values():
        left = []
        for point in points(randomizer):
            randomness = SimulationRandomness(9)
            randomizer.reports(np.repeat(point[None, :], 300, axis=0), randomness=randomness)
            left.append(int(randomness.words(1)[0]))
        assert len(set(left)) == 1


def test_a_sign_compares_integers_exactly():
    class Word:
        def __init__(self, *words):
            self.left = list(words)

        def words(self, count):
            assert count == 1
            return np.array([self.left.pop(0)], dtype=np.uint64)

    randomizer = SampledCoordinates(coordinates=1, sampled=1, flipped=0.25)
    kept = 2**64 - 1  # no flip
    ends = [(-FULL, 0, 0), (FULL, 2 * FULL - 1, 1)]
    for own, bits, sign in [(5, FULL + 4, 1), (5, FULL + 5, 0), *ends]:
        word = Word(bits << 37, kept)
        assert randomizer.reports(np.array([[own]]), randomness=word).tolist() == [[sign]]


@pytest.mark.parametrize(
    "fields",
    [
        {"coordinates": 0},
        {"coordinates": 10**6},
        {"coordinates": 3.0},
        {"sampled": 0},
        {"sampled": 4},
        {"coordinates": 3000, "sampled": 2},
        {"flipped": 0.5},
        {"flipped": 0.0},
        {"flipped": 0.1},
        {"flipped": "0.25"},
    ],
)
def test_documents_come_back_and_those_of_no_meaning_are_refused(fields):
    good = {"kind": "coordinates", "coordinates": 3, "sampled": 2, "flipped": 0.25}
    assert RANDOMIZERS.write(RANDOMIZERS.read(good)) == good
    with pytest.raises(FileError):
        RANDOMIZERS.read({**good, **fields})


@pytest.mark.parametrize(("dimension", "epsilon"), [(0, 1.0), (10**6, 1.0), (3, 0.0), (3, 1e9)])
def test_what_cannot_be_fitted_is_refused(dimension, epsilon):
    with pytest.raises(PlanError):
        SampledCoordinates.fitted(dimension, epsilon)
