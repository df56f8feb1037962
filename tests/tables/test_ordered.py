# SPDX-License-Identifier: Apache-2.0
"""Released marginals with ordered attributes: exact but for the noise, unbiased, as promised."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.engines.counts import read_records
from lownoise.errors import FileError, PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors.tables import CorrelatedFactor
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
ORDERS = [{"t": "prefix"}, {"t": "range", "one": "prefix"}, {"t": "prefix", "u": "range"}]
REPEATS = 60_000


def plan(relation="add_remove", ordered=None, rho=0.5, order=2.0, rtol=1e-6, **asked):
    asked = asked or {"way": 2}
    size = N if relation == "substitute" else None
    question = ln.Marginals(
        SIZES, outside="extra", ordered={"t": "prefix"} if ordered is None else ordered, **asked
    )
    return ln.plan(
        question, budget=ln.zcdp(rho), relation=relation, size=size, order=order, rtol=rtol
    )


class NoNoise:
    """Words whose normal numbers are 0 up to 2^-60: for tests of everything but the noise."""

    def words(self, count):
        return np.full(count, 2**63 - 1, dtype=np.uint64)


def exact(made, *names):
    attributes = list(made.terms.question.attributes)
    chosen = made.terms.question.index(names)
    return read_records(attributes, ROWS).marginal(chosen)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("ordered", ORDERS, ids=str)
@pytest.mark.parametrize(
    "asked",
    [
        {"way": 3},
        {"way": 0},
        {"sets": [["t", "b"], ["u"], ["a", "one"]]},
        # a has as many cells as u where that is not ordered, and another block
        {"sets": [["t", "b"], ["t", "u"], ["u", "a"], ["b", "one"]], "weights": [1, 9, 2, 3]},
    ],
    ids=str,
)
def test_without_noise_the_counts_are_exact(relation, ordered, asked):
    made = plan(relation, ordered, rtol=0.02, **asked)
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


def test_names_may_come_in_any_order():
    made = plan(ordered={"t": "range"})
    released = made.release(ROWS)
    assert np.array_equal(released.answers("b", "t"), released.answers("t", "b").T)
    assert np.array_equal(released.marginal("b", "t"), released.marginal("t", "b").T)
    found = released.standard_deviation("b", "t")
    assert found.shape == (4, 6)
    assert np.array_equal(found, made.standard_deviation("t", "b").T)
    assert released.standard_deviation("b", "t", answers=True).shape == (4, 21)
    assert isinstance(released.standard_deviation("b", "u"), float)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_answers_agree_on_what_they_share(relation):
    released = plan(relation, {"t": "prefix", "u": "prefix"}, rtol=0.02, way=3).release(ROWS)
    tu = released.marginal("t", "u")
    assert np.allclose(tu.sum(axis=1), released.marginal("t"))
    assert np.allclose(released.marginal("a", "t", "u").sum(axis=0), tu)
    assert np.allclose(released.answers("t", "b")[-1], released.marginal("b"))
    assert np.allclose(tu.sum(), released.marginal())
    if relation == "substitute":
        assert released.marginal() == pytest.approx(N)


def test_what_was_not_asked_is_refused():
    made = plan(sets=[["t", "a"], ["b"]])
    for names in (("t", "b"), ("u",), ("t", "u"), ("a", "b")):
        with pytest.raises(QuestionError, match="does not follow"):
            made.standard_deviation(*names)
    assert made.standard_deviation("t").shape == (6,)


def noise(made, repeats, randomness):
    mechanism = made.terms.mechanism
    found = np.zeros((repeats, mechanism.length), dtype=np.int64)
    for space in mechanism.totals.layout.spaces:
        k = next(i for i, b in enumerate(mechanism.totals.layout.parts) if b.place == space.orbit)
        factor = CorrelatedFactor(
            triangle=mechanism.noise.factors[k] / mechanism.totals.layout.steps[k],
            sizes=space.sizes,
            copies=repeats * len(space.sets),
        )
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


def test_a_release_is_the_exact_integers_plus_that_noise():
    made = plan(ordered={"t": "prefix", "u": "range"})
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
@pytest.mark.parametrize("ordered", ORDERS[::2], ids=str)
def test_counts_are_unbiased_with_the_promised_covariance(relation, ordered):
    made = plan(relation, ordered, rtol=1e-3, sets=[["t", "a"], ["u", "a"], ["t", "u"], []])
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
def test_the_objective_is_that_of_the_answers(kind):
    made = plan(ordered={"t": kind}, sets=[["t", "a"], ["b", "u"]])
    total = 0.0
    for names in (("t", "a"), ("b", "u")):
        shape = made.release(ROWS).answers(*names).shape
        own = made.standard_deviation(*names, answers=True)
        total += float(np.sum(np.broadcast_to(own, shape) ** 2))
    assert made.objective == pytest.approx(total**0.5, rel=1e-12)
    assert made.error == pytest.approx(total**0.5, rel=1e-12)
    assert made.certificate.gap < 1e-6


def test_deviations_of_answers_are_those_of_sums_of_cells():
    made = plan(ordered={"t": "range"}, sets=[["t", "a"]])
    cells = [(("t", "a"), (k, 1)) for k in range(6)]
    matrix = np.array([[made.covariance(x, y) for y in cells] for x in cells])
    rows = answer_rows("range", 6)
    expected = np.sqrt(np.einsum("ri,ij,rj->r", rows, matrix, rows))
    found = made.standard_deviation("t", "a", answers=True)
    assert np.allclose(found, expected[:, None], rtol=1e-10)
    released = made.release(ROWS)
    value, deviation = released.total(cells[1:4])
    (place,) = np.flatnonzero(np.all(rows == [0, 1, 1, 1, 0, 0], axis=1))
    assert value == pytest.approx(released.answers("t", "a")[place, 1])
    assert deviation == pytest.approx(found[place, 1], rel=1e-9)


def test_noise_fitted_to_prefixes_beats_noise_fitted_to_cells():
    fitted, plain = plan(way=2), plan(way=2, ordered={})
    own = float(np.mean(fitted.standard_deviation("t", "a", answers=True) ** 2))
    cells = [(("t", "a"), (k, 0)) for k in range(6)]
    matrix = np.array([[plain.covariance(x, y) for y in cells] for x in cells])
    rows = answer_rows("prefix", 6)
    assert own < 0.9 * float(np.mean(np.einsum("ri,ij,rj->r", rows, matrix, rows)))


def test_the_cost_is_the_budget_and_the_mean_over_intervals_holds():
    made = plan("substitute", {"t": "range"}, rho=0.02)
    assert 1 - 1e-8 <= made.cost.rho / 0.02 <= 1
    released = made.release(ROWS)
    low, high = released.interval("t", "a", level=0.9)
    assert np.allclose(high - low, 2 * 1.6448536269 * released.standard_deviation("t", "a"))


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("ordered", ORDERS, ids=str)
def test_a_plan_and_a_release_come_back_from_their_files(relation, ordered, tmp_path):
    made = plan(relation, ordered, order=4.0, rtol=1e-3)
    again = type(made).from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert again.certificate == made.certificate
    assert made.verify()
    released = made.release(ROWS, path=tmp_path / "out")
    back = ln.Release.load(tmp_path / "out")
    for names in (("t", "a"), ("u", "t"), ("b",), ()):
        assert np.array_equal(back.answers(*names), released.answers(*names))


def damaged(text, change):
    content = json.loads(text)
    change(content["content"]["terms"] if "content" in content else content["terms"])
    return json.dumps(content)


DAMAGE = {
    "a smaller noise": lambda t: t["noise"]["factors"][0].__setitem__(0, 1e-3),
    "a negative diagonal": lambda t: t["noise"]["factors"][0].__setitem__(0, -5.0),
    "a short triangle": lambda t: t["noise"]["factors"][0].pop(),
    "a missing triangle": lambda t: t["noise"]["factors"].pop(),
    "steps": lambda t: t["noise"]["steps"].__setitem__(0, 0.3),
    "cells": lambda t: t["evidence"]["cells"][0].__setitem__(0, -1.0),
    "few cells": lambda t: t["evidence"]["cells"].pop(),
    "pairs": lambda t: t["evidence"]["pairs"].__setitem__(0, [0, 1]),
    "far pairs": lambda t: t["evidence"]["pairs"].__setitem__(0, [99, 99]),
    "patterns": lambda t: t["evidence"]["patterns"].__setitem__(0, [1, 0, 0, 0, 0]),
    "order": lambda t: t["question"]["attributes"][1].__setitem__("ordered", "other"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused(name):
    made = plan()
    assert type(made).from_json(damaged(made.to_json(), lambda _: None)).to_json()
    with pytest.raises((FileError, QuestionError)):
        type(made).from_json(damaged(made.to_json(), DAMAGE[name]))


def test_orders_that_are_none_are_refused():
    for ordered, said in (
        ({"t": "suffix"}, "suffix"),
        ({"x": "prefix"}, "not in sizes"),
        (["t"], "no mapping"),
        ({"t": 3}, "unknown"),
    ):
        with pytest.raises(QuestionError, match=said):
            ln.Marginals(SIZES, way=2, ordered=ordered)
    question = ln.Marginals({"t": 4, "a": 2}, way=2, ordered={"t": "prefix"})
    with pytest.raises(PlanError, match="drop"):
        ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=N)
