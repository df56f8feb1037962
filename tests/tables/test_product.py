# SPDX-License-Identifier: Apache-2.0
"""Releases with noise that is a product over ordered attributes: exact but for the noise."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.engines.counts import read_records
from lownoise.errors import FileError, PlanError, QuestionError
from lownoise.noise.product import ProductNoise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.orders import answer_rows

N = 300
RNG = np.random.default_rng(12)
SIZES = {"a": 2, "t": 5, "one": 1, "u": ["low", "mid", "high"], "b": 3}
ROWS = pd.DataFrame(
    {
        "a": RNG.integers(0, 2, N),
        "t": RNG.choice([0, 1, 2, 3, 4, 9], N),
        "one": 0,
        "u": RNG.choice(["low", "mid", "high"], N),
        "b": RNG.integers(0, 3, N),
    }
)
ORDERS = [{"t": "range", "one": "prefix"}, {"t": "prefix", "u": "range"}]
SETS = [["t", "b"], ["t", "u"], ["u", "a"], ["b", "one"]]
REPEATS = 20_000


@pytest.fixture
def few(monkeypatch):
    """Let products begin with few categories, so that all that is here can be looked at."""
    monkeypatch.setattr("lownoise.planning.gaussian.MOST_CATEGORIES", 1)


def plan(relation="add_remove", ordered=None, rho=0.5, order=2.0, **asked):
    size = N if relation == "substitute" else None
    question = ln.Marginals(
        SIZES,
        outside="extra",
        ordered=ORDERS[1] if ordered is None else ordered,
        **(asked or {"way": 2}),
    )
    made = ln.plan(question, budget=ln.zcdp(rho), relation=relation, size=size, order=order)
    assert isinstance(made.terms.mechanism.noise, ProductNoise)
    return made


class NoNoise:
    """Words whose normal numbers are 0 up to 2^-60: for tests of everything but the noise."""

    def words(self, count):
        return np.full(count, 2**63 - 1, dtype=np.uint64)


def exact(made, *names):
    chosen = made.terms.question.index(names)
    return read_records(list(made.terms.question.attributes), ROWS).marginal(chosen)


@pytest.mark.parametrize(
    ("relation", "ordered", "asked"),
    [
        ("add_remove", ORDERS[1], {"way": 3}),
        ("substitute", ORDERS[1], {"way": 2}),
        ("substitute", ORDERS[1], {"way": 0}),
        ("add_remove", ORDERS[0], {"way": 2}),
        ("add_remove", ORDERS[0], {"way": 0}),
        ("substitute", ORDERS[0], {"sets": SETS, "weights": [1, 9, 2, 3]}),
        ("add_remove", ORDERS[1], {"sets": SETS, "weights": [1, 9, 2, 3]}),
    ],
    ids=str,
)
def test_without_noise_the_counts_are_exact(relation, ordered, asked, few):
    made = plan(relation, ordered, **asked)
    released = execute(made.terms, ROWS, None, randomness=NoNoise())
    question = made.terms.question
    listed = list(released.marginals())
    assert len(listed) == question.count
    for (names, table), chosen in zip(listed, question.sets(), strict=True):
        cells = exact(made, *names)
        assert np.allclose(table, cells, atol=1e-9)
        answers = cells
        for axis, i in enumerate(chosen):
            a = question.attributes[i]
            rows = answer_rows(a.ordered, a.size)
            answers = np.moveaxis(np.tensordot(rows, answers, axes=(1, axis)), 0, axis)
        assert np.allclose(released.answers(*names), answers, atol=1e-9)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_answers_agree_on_what_they_share(relation, few):
    released = plan(relation, sets=[["a", "t", "u"], ["t", "b"]]).release(ROWS)
    tu = released.marginal("t", "u")
    assert np.allclose(tu.sum(axis=1), released.marginal("t"))
    assert np.allclose(released.marginal("a", "t", "u").sum(axis=0), tu)
    assert np.allclose(released.answers("t", "b")[-1], released.marginal("b"))
    assert np.allclose(tu.sum(), released.marginal())
    assert np.array_equal(released.answers("b", "t"), released.answers("t", "b").T)
    assert released.standard_deviation("b", "t").shape == (4, 6)


def test_what_was_not_asked_is_refused(few):
    made = plan(sets=[["t", "a"], ["b"]])
    for names in (("t", "b"), ("u",), ("t", "u"), ("a", "b")):
        with pytest.raises(QuestionError, match="does not follow"):
            made.standard_deviation(*names)
    assert made.standard_deviation("t").shape == (6,)


def noise(made, repeats, randomness):
    mechanism = made.terms.mechanism
    found = np.zeros((repeats, mechanism.length), dtype=np.int64)
    for space in mechanism.totals.layout.spaces:
        factor = mechanism.noise.factor(space, repeats * len(space.sets))
        own = rounded_gaussian(factor, randomness=randomness).reshape(repeats, -1)
        found[:, space.start : space.start + own.shape[1]] = own
    return found


def run(made, randomness):
    mechanism = made.terms.mechanism
    records = read_records(made.terms.question.attributes, ROWS)
    integers = np.zeros(mechanism.length, dtype=np.int64)
    for start, piece in mechanism.pieces(records, randomness=randomness):
        integers[start : start + piece.size] = piece
    return integers


def test_a_release_is_the_exact_integers_plus_that_noise(few):
    made = plan()
    drawn = noise(made, 1, SimulationRandomness(3))[0]
    assert np.array_equal(run(made, SimulationRandomness(3)), run(made, NoNoise()) + drawn)
    assert np.count_nonzero(drawn) > drawn.size * 0.99


def draws(made, names, seed):
    """Released cells of many releases of one table."""

    def counts(integers):
        release = ln.Release(
            terms=made.terms, integers=integers, spend=None, created="", versions={}
        )
        return np.concatenate([release.marginal(*n).reshape(-1) for n in names])

    length = made.terms.mechanism.length
    start = counts(np.zeros(length, dtype=np.int64))
    step = 2**20  # counts are affine in the integers
    unit = np.eye(length, dtype=np.int64) * step
    matrix = np.array([(counts(row) - start) / step for row in unit])
    integers = run(made, NoNoise()) + noise(made, REPEATS, SimulationRandomness(seed))
    return start + integers @ matrix


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_counts_are_unbiased_with_the_promised_covariance(relation, few):
    made = plan(relation, sets=[["t", "a"], ["u", "a"], ["t", "u"], []])
    names = [("a", "t"), ("u",), ("t", "u")]
    found = draws(made, names, 8)
    cells = [
        (n, place) for n in names for place in itertools.product(*map(range, exact(made, *n).shape))
    ]
    truth = np.concatenate([exact(made, *n).reshape(-1) for n in names])
    promised = np.array([[made.covariance(x, y) for y in cells] for x in cells])
    spread = np.sqrt(np.diag(promised))
    told = [np.broadcast_to(made.standard_deviation(*n), exact(made, *n).shape) for n in names]
    assert np.allclose(spread, np.concatenate([own.reshape(-1) for own in told]))
    # six deviations and a union over a few thousand entries: below 1e-6
    limit = 6.5
    assert np.all(np.abs(found.mean(axis=0) - truth) <= limit * spread / np.sqrt(REPEATS))
    sample = np.cov(found.T)
    scale = np.outer(spread, spread)
    error = limit * np.sqrt((scale**2 + promised**2) / REPEATS)
    assert np.all(np.abs(sample - promised) <= error)
    for wrong in (0.95**2, 1.05**2):
        assert not np.all(np.abs(sample - promised * wrong) <= error)


@pytest.mark.parametrize("kind", ["prefix", "range"])
def test_the_objective_is_that_of_the_answers(kind, few):
    made = plan(ordered={"t": kind, "u": "prefix"}, sets=[["t", "a"], ["b", "u"], ["u", "t"]])
    total = 0.0
    for names in (("t", "a"), ("b", "u"), ("t", "u")):
        shape = made.release(ROWS).answers(*names).shape
        own = made.standard_deviation(*names, answers=True)
        total += float(np.sum(np.broadcast_to(own, shape) ** 2))
    assert made.objective == pytest.approx(total**0.5, rel=1e-12)
    assert 0 < made.certificate.gap < 0.01
    cells = [(("t", "a"), (k, 1)) for k in range(6)]
    matrix = np.array([[made.covariance(x, y) for y in cells] for x in cells])
    rows = answer_rows(kind, 6)
    expected = np.sqrt(np.einsum("ri,ij,rj->r", rows, matrix, rows))
    assert np.allclose(made.standard_deviation("t", "a", answers=True), expected[:, None])


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("order", [2.0, np.inf])
def test_a_plan_and_a_release_come_back_from_their_files(relation, order, tmp_path, few):
    made = plan(relation, order=order)
    again = type(made).from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert again.certificate == made.certificate
    assert made.verify()
    assert 1 - 1e-8 <= made.cost.rho / 0.5 <= 1
    released = made.release(ROWS, path=tmp_path / "out")
    back = ln.Release.load(tmp_path / "out")
    for names in (("t", "a"), ("u", "t"), ("b",), ()):
        assert np.array_equal(back.answers(*names), released.answers(*names))


def damaged(text, change):
    content = json.loads(text)
    change(content["content"]["terms"] if "content" in content else content["terms"])
    return json.dumps(content)


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lownoise.planning.gaussian.MOST_CATEGORIES", 1)
        return plan().to_json()


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
