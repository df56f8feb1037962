# SPDX-License-Identifier: Apache-2.0
"""Signs of sampled coordinates: how they are fitted, and drawn; their laws: `test_laws.py`."""

from math import tanh

import numpy as np
import pytest

from lownoise.errors import FileError, PlanError
from lownoise.local_model.coordinates import SampledCoordinates
from lownoise.local_model.draws import GRAIN
from lownoise.local_model.randomizer import FULL, RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness


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
