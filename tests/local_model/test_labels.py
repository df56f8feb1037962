# SPDX-License-Identifier: Apache-2.0
"""Reports of labels: their law is written out in fractions, and everything is judged by it.

Statistical tests have an error of the first kind of at most 1e-6 each; `test_other_laws_are_seen`
is their power: the same test on reports that reveal 1.25 times as much, or of another label.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log

import numpy as np
import pytest

from local_model.laws import allowed, check_loss, statistic
from lownoise.errors import FileError, PlanError
from lownoise.local_model.draws import GRAIN, coins, places, subsets
from lownoise.local_model.labels import DirectResponse, SubsetSelection, UnaryEncoding
from lownoise.local_model.randomizer import RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness

COUNT = 200_000
KINDS = [DirectResponse, UnaryEncoding, SubsetSelection]
CASES = {
    "direct, two labels": DirectResponse.fitted(2, 0.5),
    "direct": DirectResponse.fitted(5, 1.0),
    "unary, two labels": UnaryEncoding.fitted(2, 2.0),
    "unary": UnaryEncoding.fitted(4, 1.0),
    "unary of other chances": UnaryEncoding(labels=3, kept=0.75, added=0.125),
    "subset, two labels": SubsetSelection.fitted(2, 1.0),
    "subset": SubsetSelection.fitted(6, 0.5),
    "subset of all but one": SubsetSelection(labels=4, size=3, missed=0.125),
    "subset, listed": SubsetSelection(labels=9, size=2, missed=0.5),
    "subset of one, listed": SubsetSelection.fitted(5, 3.0),
}


def law(randomizer, label):
    """The chance of every report, written out of the stored numbers; by the name of the law."""
    k = randomizer.labels
    found = {}
    if isinstance(randomizer, DirectResponse):
        other = Fraction(randomizer.uniform) / k
        return {(j,): other + (1 - Fraction(randomizer.uniform)) * (j == label) for j in range(k)}
    if isinstance(randomizer, UnaryEncoding):
        p, q = Fraction(randomizer.kept), Fraction(randomizer.added)
        for bits in product((0, 1), repeat=k):
            one = [p if i == label else q for i in range(k)]
            found[bits] = np.prod([c if b else 1 - c for c, b in zip(one, bits, strict=True)])
        return found
    s, missed = randomizer.size, Fraction(randomizer.missed)
    for chosen in combinations(range(k), s):
        inside = label in chosen
        chance = (1 - missed) / comb(k - 1, s - 1) if inside else missed / comb(k - 1, s)
        listed = randomizer.lowest.size == s and s * (k - 1).bit_length() < k
        found[chosen if listed else tuple(int(i in chosen) for i in range(k))] = chance
    return found


def held(randomizer, report):
    """1 for each label that a report names, shape (k,)."""
    return np.array(randomizer.sums(np.array([report])), dtype=float)


@pytest.mark.parametrize("name", CASES)
def test_reports_of_every_law_are_the_allowed_ones(name):
    randomizer = CASES[name]
    for label in range(randomizer.labels):
        assert set(law(randomizer, label)) == allowed(randomizer)


@pytest.mark.parametrize("name", CASES)
def test_the_loss_is_the_largest_ratio_of_chances(name):
    randomizer = CASES[name]
    check_loss(randomizer, [law(randomizer, label) for label in range(randomizer.labels)])
    assert randomizer.loss.delta == 0


def drawn(randomizer, label, seed):
    labels = np.full((COUNT, 1), label)
    return randomizer.reports(labels, randomness=SimulationRandomness(seed))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_reports_follow_the_law(name):
    randomizer = CASES[name]
    for label in {0, randomizer.labels // 2, randomizer.labels - 1}:
        assert statistic(law(randomizer, label), drawn(randomizer, label, 7 + label)) < 1


OTHERS = {
    "direct": DirectResponse.fitted(5, 1.25),
    "unary": UnaryEncoding.fitted(4, 1.25),
    "unary of other chances": UnaryEncoding(labels=3, kept=0.875, added=0.25),
    "subset": SubsetSelection(labels=6, size=CASES["subset"].size, missed=29 / 64),
    "subset, listed": SubsetSelection(labels=9, size=2, missed=31 / 64),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", OTHERS)
def test_other_laws_are_seen(name):
    assert statistic(law(CASES[name], 0), drawn(OTHERS[name], 0, 3)) > 1
    assert statistic(law(CASES[name], 0), drawn(CASES[name], 1, 3)) > 1


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_unbiased(name):
    randomizer = CASES[name]
    for label in range(randomizer.labels):
        own = law(randomizer, label)
        mean = sum(float(c) * randomizer.mean(held(randomizer, r), 1) for r, c in own.items())
        np.testing.assert_allclose(mean, np.eye(randomizer.labels)[label], atol=1e-11)


SMALL = {
    "direct": DirectResponse.fitted(3, 1.0),
    "unary": UnaryEncoding.fitted(3, 1.0),
    "subset": SubsetSelection(labels=4, size=2, missed=0.25),
}


def together(randomizer, laws):
    """The chance of every way that some people report, and the sums."""
    for chosen in product(*(own.items() for own in laws)):
        chance = float(np.prod([float(c) for _, c in chosen]))
        yield chance, sum(held(randomizer, report) for report, _ in chosen)


def moments(randomizer, laws):
    """The expectation of `covariance`, and the covariance of `mean`."""
    k, count = randomizer.labels, len(laws)
    stated, first, second = np.zeros((k, k)), np.zeros(k), np.zeros((k, k))
    for chance, sums in together(randomizer, laws):
        mean = randomizer.mean(sums, count)
        stated += chance * randomizer.covariance(sums, count)
        first += chance * mean
        second += chance * np.outer(mean, mean)
    return stated, second - np.outer(first, first)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("count", [2, 3])
def test_the_covariance_is_right_on_average_where_people_are_drawn_at_random(name, count):
    randomizer = SMALL[name]
    shares = np.arange(1, randomizer.labels + 1) / sum(range(randomizer.labels + 1))
    laws = [law(randomizer, label) for label in range(randomizer.labels)]
    mixed = {
        r: sum(f * float(own[r]) for f, own in zip(shares, laws, strict=True)) for r in laws[0]
    }
    stated, true = moments(randomizer, [mixed] * count)
    np.testing.assert_allclose(stated, true, atol=1e-10 * np.abs(true).max())


@pytest.mark.parametrize("name", SMALL)
def test_the_covariance_is_no_less_on_average_for_these_people(name):
    randomizer = SMALL[name]
    people = [0, 0, 2]
    stated, true = moments(randomizer, [law(randomizer, label) for label in people])
    rows = np.eye(randomizer.labels)[people]
    between = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / 3
    np.testing.assert_allclose(stated, true + between / 2, atol=1e-10 * np.abs(true).max())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", ["matrix", "diagonal"])
def test_variances_and_influence_are_those_of_the_law(name, shape):
    randomizer = CASES[name]
    k = randomizer.labels
    rng = np.random.default_rng(2)
    diagonal = rng.normal(size=k)
    answers = rng.normal(size=(3, k)) if shape == "matrix" else diagonal
    A = answers if shape == "matrix" else np.diag(diagonal)
    greatest, total = np.zeros(len(A)), 0.0
    for label in range(k):
        own = law(randomizer, label)
        values = np.array([A @ randomizer.mean(held(randomizer, r), 1) for r in own])
        chances = np.array([float(c) for c in own.values()])
        spread = chances @ values**2 - (chances @ values) ** 2
        greatest, total = np.maximum(greatest, spread), max(total, spread.sum())
        reach = np.ptp(values, axis=0)
    np.testing.assert_allclose(randomizer.variances(answers), greatest, rtol=1e-8)
    assert np.all(randomizer.influence(answers) >= reach)
    np.testing.assert_allclose(randomizer.influence(answers), reach, rtol=1e-8)
    stated = randomizer.total_variance(answers)
    assert total * (1 - 1e-11) <= stated <= total * (1 + 1e-8)


@pytest.mark.grid
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [2, 3, 17, 300])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, log(3), 1.0, 5.0, 20.0, 1000.0])
def test_fitted_keeps_epsilon_and_uses_it(kind, labels, epsilon):
    randomizer = kind.fitted(labels, epsilon)
    assert randomizer.loss.epsilon <= epsilon
    chance = {DirectResponse: "uniform", UnaryEncoding: "added", SubsetSelection: "missed"}[kind]
    less = getattr(randomizer, chance) - 1 / GRAIN
    if less > 0:
        assert replace(randomizer, **{chance: less}).loss.epsilon > epsilon


@pytest.mark.parametrize("labels", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_errors_are_the_known_ones_and_subsets_have_the_least(labels, epsilon):
    """Direct: (k − 2 + e^ε)/(e^ε − 1)² of a share of 0, unary 4e^ε/(e^ε − 1)²."""
    k, ratio = labels, exp(epsilon)
    direct, unary, subset = (kind.fitted(k, epsilon).total_variance(np.ones(k)) for kind in KINDS)
    P, Q = ratio / (ratio + k - 1), 1 / (ratio + k - 1)
    zero = (k - 2 + ratio) / (ratio - 1) ** 2
    assert direct == pytest.approx((k - 1) * zero + P * (1 - P) / (P - Q) ** 2, rel=1e-6)
    of_zero = 4 * ratio / (ratio - 1) ** 2
    of_one = 0.25 / (0.5 - 1 / (ratio + 1)) ** 2
    assert unary == pytest.approx((k - 1) * of_zero + of_one, rel=1e-6)
    assert subset <= min(direct, unary) * (1 + 1e-8)
    size = SubsetSelection.fitted(k, epsilon).size
    assert abs(size - k / (ratio + 1)) <= 1
    if size == 1:  # a set of one label is a direct response
        assert subset == pytest.approx(direct, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_many_labels(kind, epsilon):
    k = 10_000
    randomizer = kind.fitted(k, epsilon)
    reports = randomizer.reports(np.full((40, 1), k - 1), randomness=SimulationRandomness(1))
    assert np.all(randomizer.allowed(reports))
    assert randomizer.mean(randomizer.sums(reports), 40).shape == (k,)
    assert randomizer.variances(np.ones(k)).shape == (k,)
    both = randomizer.variances(np.stack([np.ones(k), np.arange(k) / k]))
    assert np.all(np.isfinite(both))


@pytest.mark.parametrize("name", CASES)
def test_how_much_is_drawn_does_not_depend_on_the_label(name):
    drawn_words = []
    for label in range(CASES[name].labels):
        counting = Counting(5)
        CASES[name].reports(np.full((500, 1), label), randomness=counting)
        drawn_words.append(counting.count)
    assert len(set(drawn_words)) == 1


class Counting:
    """Counts words."""

    def __init__(self, seed):
        self.own, self.count = SimulationRandomness(seed), 0

    def words(self, count):
        self.count += count
        return self.own.words(count)


class Scripted:
    """Gives the words of a list, and then random ones."""

    def __init__(self, words):
        self.left, self.own = list(words), SimulationRandomness(2)

    def words(self, count):
        given = [self.left.pop(0) for _ in range(min(count, len(self.left)))]
        rest = self.own.words(count - len(given))
        return np.concatenate([np.array(given, dtype=np.uint64), rest])


@pytest.mark.parametrize("fewer", [True, False])
@pytest.mark.parametrize("keys", [(5, 5, 7, 9), (3, 5, 5, 9), (0, 1, 5, 9)])
def test_equal_keys_are_drawn_anew_whatever_the_size(fewer, keys):
    low, high = [a + (b << 32) for a, b in (keys[:2], keys[2:])]
    scripted = Scripted([low, high])
    found = subsets(2, np.array([fewer]), 4, randomness=scripted)
    again = Scripted([])
    np.testing.assert_array_equal(found, subsets(2, np.array([fewer]), 4, randomness=again))
    assert found.sum() == 2 - fewer


def test_a_coin_compares_integers_exactly():
    words = [((1 << 50) - 1) << 12 | 4095, 1 << 62]
    assert coins(0.25, (2,), randomness=Scripted(words)).tolist() == [True, False]


def test_places_beyond_the_last_are_drawn_anew():
    found = places(3, 3, randomness=Scripted([3 << 62, 2 << 62, 0]))
    assert found.tolist()[1:] == [2, 0]
    assert found[0] < 3


@pytest.mark.parametrize("name", CASES)
def test_documents_come_back(name):
    document = RANDOMIZERS.write(CASES[name])
    assert RANDOMIZERS.read(document) == CASES[name]


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "direct", "labels": 1, "uniform": 0.5},
        {"kind": "direct", "labels": 2.0, "uniform": 0.5},
        {"kind": "direct", "labels": True, "uniform": 0.5},
        {"kind": "direct", "labels": 10**7, "uniform": 0.5},
        {"kind": "direct", "labels": 3, "uniform": 0.0},
        {"kind": "direct", "labels": 3, "uniform": 1},
        {"kind": "direct", "labels": 3, "uniform": 2.0**-53},
        {"kind": "direct", "labels": 3, "uniform": float("nan")},
        {"kind": "unary", "labels": 3, "kept": 0.5, "added": 0.5},
        {"kind": "unary", "labels": 3, "kept": "0.5", "added": 0.25},
        {"kind": "unary", "labels": 10**6, "kept": 0.5, "added": 0.25},
        {"kind": "subset", "labels": 4, "size": 4, "missed": 0.25},
        {"kind": "subset", "labels": 4, "size": 0, "missed": 0.25},
        {"kind": "subset", "labels": 4, "size": 2, "missed": 0.5},
        {"kind": "subset", "labels": 4, "size": 2, "missed": 0.75},
    ],
)
def test_documents_of_no_meaning_are_refused(document):
    with pytest.raises(FileError):
        RANDOMIZERS.read(document)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("labels", "epsilon"), [(1, 1.0), (10**7, 1.0), (3, 1e-7), (3, 1e4), (3, float("nan"))]
)
def test_what_cannot_be_fitted_is_refused(kind, labels, epsilon):
    with pytest.raises(PlanError):
        kind.fitted(labels, epsilon)
