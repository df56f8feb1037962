# SPDX-License-Identifier: Apache-2.0
"""One of several tables: how far marginals stray, and from any table; see `test_laws.py`."""

import numpy as np
import pytest

import lownoise as ln
from local_model.laws import LABELS, MIXED, law
from local_model.test_cells import QUESTIONS, people
from lownoise.errors import FileError, PlanError
from lownoise.local_model import (
    ENCODERS,
    RANDOMIZERS,
    CellEncoder,
    SampledTables,
    TablesEncoder,
)


def test_the_loss_is_the_greatest_of_the_parts():
    assert MIXED.loss.epsilon == max(own.loss.epsilon for own in MIXED.parts)


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


def test_documents_of_no_meaning_are_refused():
    document = RANDOMIZERS.write(MIXED)
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
