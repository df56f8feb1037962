# SPDX-License-Identifier: Apache-2.0
"""Marginals with noise that is a product over ordered attributes; see test_layouts.py, too."""

import numpy as np
import pandas as pd
import pytest
from tests.tables.layouts import N, damaged, product_plan

import lownoise as ln
from lownoise.errors import FileError, PlanError, QuestionError
from lownoise.noise.product import ProductNoise

DAMAGE = {
    "a smaller noise": lambda t: t["noise"]["axes"][0]["triangle"].__setitem__(0, 1e-3),
    "a smaller deviation": lambda t: t["noise"]["deviations"].__setitem__(1, 1e-3),
    "no deviation": lambda t: t["noise"]["deviations"].__setitem__(1, 0.0),
    "a negative deviation": lambda t: t["noise"]["deviations"].__setitem__(1, -9.0),
    "a moved mean": lambda t: t["noise"]["axes"][0]["mean"].__setitem__(0, 3.0),
    "a negative diagonal": lambda t: t["noise"]["axes"][0]["triangle"].__setitem__(0, -5.0),
    "a short triangle": lambda t: t["noise"]["axes"][0]["triangle"].pop(),
    "a short mean": lambda t: t["noise"]["axes"][0]["mean"].pop(),
    "a missing axis": lambda t: t["noise"]["axes"].pop(),
    "steps": lambda t: t["noise"]["steps"].__setitem__(0, 0.5),
    "cells": lambda t: t["evidence"]["cells"].__setitem__(0, -1.0),
    "answers": lambda t: t["evidence"]["axes"][0]["answers"].__setitem__(0, -1.0),
    "chances": lambda t: t["evidence"]["axes"][1]["chances"].pop(),
    "missing evidence": lambda t: t["evidence"]["axes"].pop(),
    "patterns": lambda t: t["evidence"]["patterns"].__setitem__(0, [1, 0, 0, 0, 0]),
    "no ordered attribute": lambda t: [a.pop("ordered", 0) for a in t["question"]["attributes"]],
    "another kind of noise": lambda t: t["noise"].update(factors=[]),
}


@pytest.fixture(scope="module")
def text():
    return product_plan().to_json()


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused(name, text):
    assert ln.Plan.from_json(damaged(text, lambda _: None)).to_json() == text
    with pytest.raises((FileError, QuestionError)):
        ln.Plan.from_json(damaged(text, DAMAGE[name]))


def test_many_categories_are_planned_and_released():
    sizes = {"age": 85, "income": 40, "sex": 2, "work": 3}
    ordered = {"age": "prefix", "income": "prefix"}
    question = ln.Marginals(sizes, way=2, outside="extra", ordered=ordered)
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    assert isinstance(made.terms.mechanism.noise, ProductNoise)
    assert "many categories" in made.status
    assert 0 < made.certificate.gap < 0.02
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({name: rng.integers(0, n, N) for name, n in sizes.items()})
    released = made.release(rows)
    counts = np.zeros((86, 41))
    np.add.at(counts, (rows["age"], rows["income"]), 1)
    off = released.answers("age", "income") - counts.cumsum(axis=0).cumsum(axis=1)
    deviations = made.standard_deviation("age", "income", answers=True)
    assert np.all(np.abs(off) < 7 * deviations)
    assert made.lower_bound < made.error
    # noise on cells alone, added up, is far more
    plain = ln.plan(
        ln.Marginals(sizes, way=2, outside="extra"), budget=ln.zcdp(0.5), relation="add_remove"
    )
    cells = plain.standard_deviation("age", "income")
    assert np.sqrt(np.mean(deviations**2)) < 0.5 * cells * np.sqrt(86 * 41) / 2


@pytest.mark.parametrize("size", [12, 13])
def test_pairs_of_many_categories_are_not_searched(size):
    """All changes of 144 pairs of categories are; those of 169 are bounded by a product."""
    sizes = {"t": size, "u": size}
    question = ln.Marginals(
        sizes, sets=[["t"], ["u"]], outside=dict.fromkeys(sizes, 0), ordered={"t": "prefix"}
    )
    both = ln.Marginals(
        sizes,
        sets=[["t"], ["u"]],
        outside=dict.fromkeys(sizes, 0),
        ordered={"t": "prefix", "u": "prefix"},
    )
    found = []
    for asked in (question, both):
        made = ln.plan(
            asked, budget=ln.zcdp(0.5), relation="substitute", size=N, order=2.0, rtol=0.5
        )
        found.append(isinstance(made.terms.mechanism.noise, ProductNoise))
    assert found == [False, size == 13]


def test_what_is_too_large_is_refused_before_any_search():
    for sizes, ordered in (
        ({"age": 2000}, {"age": "prefix"}),
        ({"age": 400, "pay": 400}, {"age": "range", "pay": "range"}),
    ):
        question = ln.Marginals(sizes, way=len(sizes), ordered=ordered)
        with pytest.raises(PlanError, match="declare fewer categories"):
            ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
