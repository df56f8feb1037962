# SPDX-License-Identifier: Apache-2.0
"""Randomizers of finitely many reports: their law is written out in fractions, and judges them.

Statistical tests have an error of the first kind of at most 1e-6 each; `test_other_laws_are_seen`
is their power: the same test on reports that reveal more, or of another record.
"""

from itertools import product

import numpy as np
import pytest

from local_model.laws import (
    LABELS,
    MIXED,
    allowed,
    check_loss,
    law,
    nearest_corner,
    points,
    statistic,
    truth,
)
from lownoise.local_model.coordinates import SampledCoordinates
from lownoise.local_model.draws import GRAIN
from lownoise.local_model.labels import DirectResponse, SubsetSelection, UnaryEncoding
from lownoise.local_model.randomizer import FULL, RANDOMIZERS
from lownoise.local_model.tables import SampledTables
from lownoise.numbers.randomness import SimulationRandomness

OF_LABELS = {
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
OF_SIGNS = {
    "one of one": SampledCoordinates.fitted(1, 1.0),
    "one of three": SampledCoordinates.fitted(3, 1.0),
    "two of three": SampledCoordinates.fitted(3, 4.0),
    "all of three": SampledCoordinates(coordinates=3, sampled=3, flipped=0.25),
    "two of four": SampledCoordinates(coordinates=4, sampled=2, flipped=0.125),
}
OWN = {**OF_LABELS, **OF_SIGNS, "tables": MIXED}
each = pytest.mark.parametrize("name", OWN)


def records(name):
    """Every record as it is encoded, or for signs all corners and a few points."""
    if name in OF_SIGNS:
        r = OWN[name].coordinates
        return [*points(r), *(FULL * np.array(signs) for signs in product((-1, 1), repeat=r))]
    return [(label,) for label in range(OWN[name].labels)] if name in OF_LABELS else LABELS


def drawn(randomizer, record, seed):
    rows = np.tile(record, (300_000, 1))
    return randomizer.reports(rows, randomness=SimulationRandomness(seed))


def estimate(randomizer, report):
    return randomizer.mean(randomizer.sums(np.array([report])), 1)


@each
def test_the_loss_is_the_largest_ratio_of_chances(name):
    check_loss(OWN[name], [law(OWN[name], record) for record in records(name)])
    assert OWN[name].loss.delta == 0


@each
def test_reports_of_every_law_are_the_allowed_ones(name):
    known = allowed(OWN[name])
    assert all(set(law(OWN[name], record)) == known for record in records(name))


@pytest.mark.grid(3)
@each
def test_reports_follow_the_law(name):
    every = records(name)
    seen = every[:5] if name in OF_SIGNS else [every[i] for i in (0, len(every) // 2, -1)]
    for seed, record in enumerate(seen):
        assert statistic(law(OWN[name], record), drawn(OWN[name], record, seed)) < 1


OTHERS = {
    "direct": DirectResponse.fitted(5, 1.25),
    "unary": UnaryEncoding.fitted(4, 1.25),
    "unary of other chances": UnaryEncoding(labels=3, kept=0.875, added=0.25),
    "subset": SubsetSelection(labels=6, size=OWN["subset"].size, missed=29 / 64),
    "subset, listed": SubsetSelection(labels=9, size=2, missed=31 / 64),
    **{
        name: SampledCoordinates(
            coordinates=own.coordinates,
            sampled=own.sampled,
            flipped=int(own.flipped * 0.8 * GRAIN) / GRAIN,
        )
        for name, own in OF_SIGNS.items()
    },
    "tables": SampledTables(parts=MIXED.parts, tickets=(33, 10, 20)),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", OTHERS)
def test_other_laws_are_seen(name):
    """Of more ε, or tickets; and of another record, or of the corner that is nearest to a point."""
    one, other = records(name)[3 if name in OF_SIGNS else 0], records(name)[1]
    if name in OF_SIGNS:
        other = nearest_corner(one)
    at = other if name in OF_SIGNS else one
    assert statistic(law(OWN[name], at), drawn(OTHERS[name], at, 3)) > 1
    assert statistic(law(OWN[name], one), drawn(OWN[name], other, 3)) > 1


@pytest.mark.parametrize("shape", ["matrix", "diagonal"])
@pytest.mark.parametrize("name", {**OF_LABELS, **OF_SIGNS})
def test_estimates_are_unbiased_and_stray_as_the_law_says(name, shape):
    randomizer, rng = OWN[name], np.random.default_rng(2)
    k = randomizer.dimension
    answers = rng.normal(size=(3, k)) if shape == "matrix" else rng.normal(size=k)
    A = answers if shape == "matrix" else np.diag(answers)
    greatest, total = np.zeros(len(A)), 0.0
    for record in records(name):
        own = law(randomizer, record)
        values = np.array([estimate(randomizer, report) for report in own])
        chances = np.array([float(chance) for chance in own.values()])
        np.testing.assert_allclose(chances @ values, truth(randomizer, record), atol=1e-11)
        told = values @ A.T
        spread = chances @ told**2 - (chances @ told) ** 2
        greatest, total = np.maximum(greatest, spread), max(total, spread.sum())
    reach = np.ptp(told, axis=0)
    np.testing.assert_allclose(randomizer.variances(answers), greatest, rtol=1e-8)
    assert np.all(randomizer.influence(answers) >= reach * (1 - 1e-14))
    np.testing.assert_allclose(randomizer.influence(answers), reach, rtol=1e-8)
    assert total * (1 - 1e-11) <= randomizer.total_variance(answers) <= total * (1 + 1e-8)


SMALL = {  # with the records of a few people
    "direct": (DirectResponse.fitted(3, 1.0), [(0,), (0,), (2,)]),
    "unary": (UnaryEncoding.fitted(3, 1.0), [(0,), (0,), (2,)]),
    "subset": (SubsetSelection(labels=4, size=2, missed=0.25), [(0,), (0,), (2,)]),
    **{name: (OWN[name], points(3)[3:]) for name in list(OF_SIGNS)[1:4]},
    "tables": (MIXED, [LABELS[5], LABELS[18]]),
}


def moments(randomizer, laws):
    """The expectation of `covariance`, and the covariance of `mean`, over all ways to report."""
    k, count = randomizer.dimension, len(laws)
    stated, first, second = np.zeros((k, k)), np.zeros(k), np.zeros((k, k))
    for chosen in product(*(own.items() for own in laws)):
        chance = float(np.prod([float(c) for _, c in chosen]))
        sums = randomizer.sums(np.array([report for report, _ in chosen]))
        mean = randomizer.mean(sums, count)
        stated += chance * randomizer.covariance(sums, count)
        first += chance * mean
        second += chance * np.outer(mean, mean)
    return stated, second - np.outer(first, first)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("count", [2, 3])
def test_the_covariance_is_right_on_average_where_people_are_drawn_at_random(name, count):
    randomizer, people = SMALL[name]
    laws = [law(randomizer, record) for record in people]
    shares = np.arange(1, len(laws) + 1) / sum(range(len(laws) + 1))
    mixed = {
        r: sum(f * float(own[r]) for f, own in zip(shares, laws, strict=True)) for r in laws[0]
    }
    stated, true = moments(randomizer, [mixed] * count)
    np.testing.assert_allclose(stated, true, atol=1e-10 * np.abs(true).max())


@pytest.mark.parametrize("name", SMALL)
def test_the_covariance_is_no_less_on_average_for_these_people(name):
    randomizer, people = SMALL[name]
    stated, true = moments(randomizer, [law(randomizer, record) for record in people])
    between = np.cov(np.array([truth(randomizer, record) for record in people]).T)
    np.testing.assert_allclose(
        stated, true + between / len(people), atol=1e-10 * np.abs(true).max()
    )


@each
def test_how_much_is_drawn_does_not_depend_on_the_record(name):
    left = []
    for record in records(name):
        randomness = SimulationRandomness(9)
        OWN[name].reports(np.tile(record, (300, 1)), randomness=randomness)
        left.append(int(randomness.words(1)[0]))
    assert len(set(left)) == 1


@each
def test_documents_come_back(name):
    assert RANDOMIZERS.read(RANDOMIZERS.write(OWN[name])) == OWN[name]
