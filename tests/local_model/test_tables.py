# SPDX-License-Identifier: Apache-2.0
"""One of several tables: the law of reports in fractions, and marginals from any of the tables.

The statistical test has an error of the first kind of at most 1e-6, and sees a tenth more tickets
of a table (`test_other_tickets_are_seen`).
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import lownoise as ln
from local_model.laws import allowed, check_loss, statistic
from local_model.test_cells import QUESTIONS, people
from local_model.test_labels import law as part_law
from lownoise.errors import FileError, PlanError
from lownoise.local_model import (
    ENCODERS,
    RANDOMIZERS,
    CellEncoder,
    DirectResponse,
    SampledTables,
    SubsetSelection,
    TablesEncoder,
    UnaryEncoding,
)
from lownoise.numbers.randomness import SimulationRandomness

PARTS = (
    DirectResponse.fitted(3, 1.0),
    UnaryEncoding.fitted(2, 0.5),
    SubsetSelection.fitted(4, 0.5),
)
MIXED = SampledTables(parts=PARTS, tickets=(3, 1, 2))
LABELS = list(product(range(3), range(2), range(4)))


def law(randomizer, labels):
    """The chance of every report, of the parts' laws."""
    found, width = {}, randomizer.lowest.size - 1
    for t, (part, ticket) in enumerate(zip(randomizer.parts, randomizer.tickets, strict=True)):
        for report, chance in part_law(part, labels[t]).items():
            padded = (t, *report, *(0,) * (width - len(report)))
            found[padded] = Fraction(ticket, sum(randomizer.tickets)) * chance
    return found


def test_the_loss_is_the_largest_ratio_of_chances():
    check_loss(MIXED, [law(MIXED, labels) for labels in LABELS])
    assert MIXED.loss.epsilon == max(own.loss.epsilon for own in PARTS)


def test_reports_of_the_law_are_the_allowed_ones():
    assert allowed(MIXED) == set(law(MIXED, LABELS[0]))


def drawn(randomizer, labels):
    return randomizer.reports(np.tile(labels, (300_000, 1)), randomness=SimulationRandomness(4))


@pytest.mark.grid(1)
@pytest.mark.parametrize("labels", [LABELS[0], LABELS[13], LABELS[-1]])
def test_reports_follow_the_law(labels):
    assert statistic(law(MIXED, labels), drawn(MIXED, labels)) < 1


def test_other_tickets_are_seen():
    other = SampledTables(parts=PARTS, tickets=(33, 10, 20))
    assert statistic(law(MIXED, LABELS[3]), drawn(other, LABELS[3])) > 1


def estimate(report):
    return MIXED.mean(MIXED.sums(np.array([report])), 1)


def test_estimates_are_unbiased_and_variances_are_no_less():
    rng = np.random.default_rng(6)
    alone = np.zeros((3, 9))
    alone[0, :3], alone[1, 3:5], alone[2, 5:] = rng.normal(size=3), [1, -2], rng.normal(size=4)
    answers = np.vstack([alone, rng.normal(size=9)])
    greatest, total = np.zeros(4), 0.0
    for labels in LABELS:
        own = law(MIXED, labels)
        values = np.array([estimate(report) for report in own])
        chances = np.array([float(chance) for chance in own.values()])
        true = np.concatenate([np.eye(k)[i] for k, i in zip((3, 2, 4), labels, strict=True)])
        np.testing.assert_allclose(chances @ values, true, atol=1e-11)
        told = values @ answers.T
        spread = chances @ told**2 - (chances @ told) ** 2
        greatest, total = np.maximum(greatest, spread), max(total, spread[:3].sum())
    stated = MIXED.variances(answers)
    np.testing.assert_allclose(stated[:3], greatest[:3], rtol=1e-8)
    assert greatest[3] <= stated[3] <= 1.3 * greatest[3]
    assert total * (1 - 1e-12) <= MIXED.total_variance(alone) <= total * (1 + 1e-8)
    reach = np.ptp(told, axis=0)
    np.testing.assert_allclose(MIXED.influence(answers), reach, rtol=1e-8)
    diagonal = rng.normal(size=9)
    for stated in (MIXED.variances, MIXED.influence):
        np.testing.assert_allclose(stated(diagonal), stated(np.diag(diagonal)))


def test_the_covariance_is_right_on_average():
    """Of two people drawn at random, each with one of two records."""
    laws = [law(MIXED, LABELS[5]), law(MIXED, LABELS[18])]
    mixed = {r: float(laws[0][r] + laws[1][r]) / 2 for r in laws[0]}
    stated, mean, square = np.zeros((9, 9)), np.zeros(9), np.zeros((9, 9))
    for (one, p), (two, q) in product(mixed.items(), mixed.items()):
        sums = MIXED.sums(np.array([one, two]))
        found = MIXED.mean(sums, 2)
        stated += p * q * MIXED.covariance(sums, 2)
        mean += p * q * found
        square += p * q * np.outer(found, found)
    true = square - np.outer(mean, mean)
    np.testing.assert_allclose(stated, true, atol=1e-10 * np.abs(true).max())


@pytest.mark.parametrize("name", QUESTIONS)
def test_shares_decode_to_what_all_cells_decode_to(name):
    question = QUESTIONS[name]
    tables, cells = TablesEncoder.of(question), CellEncoder.of(question)
    records = people()[list(tables.columns)].to_dict("records")
    labels = tables.encode(records)
    shares = [
        np.bincount(labels[:, t], minlength=size) / len(records)
        for t, size in enumerate(tables.sizes)
    ]
    found = tables.decode(np.concatenate(shares))
    joint = np.bincount(cells.encode(records)[:, 0], minlength=cells.dimension) / len(records)
    np.testing.assert_allclose(found, cells.decode(joint), atol=1e-12)
    assert tables.names == cells.names
    again = ENCODERS.read(ENCODERS.write(tables))
    np.testing.assert_array_equal(again.encode(records), labels)
    assert again.apart(question) == 0


def test_tables_have_the_least_error_where_cells_are_many():
    sizes = {"a": 8, "b": 5, "c": 6, "d": ["x", "y"]}
    plan = ln.local(ln.Marginals(sizes, way=1, outside="extra"), ln.local_dp(1.0))
    assert isinstance(plan.randomizer, SampledTables)
    errors = {own.mechanism: own.error for own in plan.comparison}
    assert errors["sampled"] < 0.2 * errors["subset"]
    assert plan.randomizer.loss.epsilon <= 1
    two = ln.local(ln.Marginals({"a": ["x", "y"]}, way=1, outside="extra"), ln.local_dp(1.0))
    assert not isinstance(two.randomizer, SampledTables)


def test_documents_come_back_and_those_of_no_meaning_are_refused():
    document = RANDOMIZERS.write(MIXED)
    assert RANDOMIZERS.read(document) == MIXED
    nested = {**document, "parts": [document]}
    for fields in [
        {"tickets": [1, 2]},
        {"tickets": [1, 2, 0]},
        {"tickets": [1, 2, 0.5]},
        {"tickets": 3},
        {"parts": []},
        nested,
    ]:
        with pytest.raises(FileError):
            RANDOMIZERS.read({**document, **fields})


@pytest.mark.parametrize(("sizes", "epsilon"), [((), 1.0), ((3, 1), 1.0), ((3, 4), 0.0)])
def test_what_cannot_be_fitted_is_refused(sizes, epsilon):
    with pytest.raises(PlanError):
        SampledTables.of(sizes, epsilon)
