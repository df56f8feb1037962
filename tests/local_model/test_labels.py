# SPDX-License-Identifier: Apache-2.0
"""Reports of labels: how they are fitted, and drawn; their laws are in `test_laws.py`."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from lownoise.errors import FileError, PlanError
from lownoise.local_model.draws import GRAIN, coins, places, subsets
from lownoise.local_model.labels import DirectResponse, SubsetSelection, UnaryEncoding
from lownoise.local_model.randomizer import RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness

COUNT = 200_000
KINDS = [DirectResponse, UnaryEncoding, SubsetSelection]


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
