# SPDX-License-Identifier: Apache-2.0
"""Released marginals: exact but for the noise, unbiased, consistent, with the promised spread."""

import itertools
import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tables import layouts
from tests.tables.layouts import NoNoise

import lownoise as ln
from lownoise.errors import FileError, LedgerError, PlanError, QuestionError, TableError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release import folders as files
from lownoise.release import marginal_answers as module
from lownoise.release.execution import execute

DATA = Path(__file__).parents[1] / "data"
ADULT = json.loads((DATA / "adult-domain.json").read_text())
SIZES = {"a": 2, "b": 3, "one": 1, "c": ["x", "y"]}
N = 400
RNG = np.random.default_rng(11)
ROWS = pd.DataFrame(
    {
        "a": RNG.integers(0, 2, N),
        "b": RNG.choice([0, 1, 2, 7], N, p=[0.5, 0.3, 0.15, 0.05]),
        "one": 0,
        "c": RNG.choice(["x", "y"], N),
    }
)
REPEATS = 80_000
exact, run = partial(layouts.exact, rows=ROWS), partial(layouts.run, rows=ROWS)


def plan(relation="add_remove", rho=0.5, order=2.0, **asked):
    asked = asked or {"sets": [["a", "b", "one"], ["b", "c"], []]}
    size = N if relation == "substitute" else None
    return ln.plan(
        ln.Marginals(SIZES, outside="extra", **asked),
        budget=ln.zcdp(rho),
        relation=relation,
        size=size,
        order=order,
    )


@pytest.mark.grid(3)
@pytest.mark.parametrize("limit", [1, 20, 1 << 16])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_marginals_are_put_together_as_each_alone(relation, limit, monkeypatch):
    # one shape, but noise of several sizes and grids: weights tell the attributes apart
    sizes = dict.fromkeys("abcd", 3) | {"one": 1}
    rows = pd.DataFrame({name: RNG.integers(0, n, N) for name, n in sizes.items()})
    sets = [[*pair, "one"] for pair in itertools.combinations("abcd", 2)] + [["a"], []]
    question = ln.Marginals(sizes, sets=sets, weights=10.0 ** np.arange(8), outside="extra")
    size = N if relation == "substitute" else None
    made = ln.plan(question, budget=ln.zcdp(1e-5), relation=relation, size=size)
    assert len(set(made.terms.mechanism.totals.layout.steps.tolist())) > 2
    released = made.release(rows)
    monkeypatch.setattr(module, "_AT_ONCE", limit)
    listed = list(released.marginals())
    assert [names for names, _ in listed] == [question.names(s) for s in question.sets()]
    for names, counts in listed:
        assert np.array_equal(counts, released.marginal(*names))
        assert isinstance(counts, np.ndarray)
        assert not counts.flags.writeable


def test_names_may_come_in_any_order():
    released = plan().release(ROWS)
    assert np.array_equal(released.marginal("a", "b"), released.marginal("b", "a").T)
    assert released.marginal().shape == ()
    assert np.array_equal(released["a", "b"], released.marginal("a", "b"))
    assert np.array_equal(released["a"], released.marginal("a"))


def test_what_is_of_other_questions_is_refused_in_one_line(tmp_path):
    released = plan().release(ROWS)
    means = ln.plan(ln.Mean(["x"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="add_remove")
    mean = means.release(pd.DataFrame({"x": [0.5]}))
    for ask in (lambda: released.estimate, lambda: released.mean, lambda: mean["x"]):
        with pytest.raises(ln.errors.PlanError) as refusal:
            ask()
        assert "\n" not in str(refusal.value)
    account = ln.Ledger.create(tmp_path / "l", "people", ln.zcdp(1))
    with pytest.raises(ln.errors.PlanError, match=r"path=.*r is for marginals.*save"):
        means.release(pd.DataFrame({"x": [0.5]}), account, path=tmp_path / "r")
    assert not account.entries()
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_answers_agree_on_what_they_share(relation):
    released = plan(relation, way=3).release(ROWS)
    ab = released.marginal("a", "b")
    assert np.allclose(ab.sum(axis=1), released.marginal("a"))
    assert np.allclose(released.marginal("a", "b", "c").sum(axis=2), ab)
    assert np.allclose(ab.sum(), released.marginal())
    if relation == "substitute":
        assert released.marginal() == N


def draws(made, names, repeats=REPEATS):
    """Released counts of many releases of one table."""
    return layouts.draws(made, "residual", names, repeats, SimulationRandomness(17), rows=ROWS)


def test_the_noise_of_a_published_total_counts_what_cells_share():
    made = plan(way=2)
    cells = [(("a", "b"), (0, 1)), (("b", "c"), (2, 0)), (("a",), (1,))]
    value, deviation = made.release(ROWS).total(cells)
    mechanism_draws = draws(made, [n for n, _ in cells], repeats=4000)
    offsets = np.cumsum([0, *[exact(made, *n).size for n, _ in cells]])
    picked = [
        offsets[k] + np.ravel_multi_index(place, exact(made, *names).shape)
        for k, (names, place) in enumerate(cells)
    ]
    assert mechanism_draws[:, picked].sum(axis=1).std() == pytest.approx(deviation, rel=0.07)
    assert math.isfinite(value)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_intervals_cover(relation):
    """First kind 1e-6 for 80,000 draws: 95 % within 0.4 points."""
    made = plan(relation)
    found, truth = draws(made, [("b", "c")]), exact(made, "b", "c").reshape(-1)
    reach = 1.959963984540054 * made.standard_deviation("b", "c")
    assert np.all(np.abs((np.abs(found - truth) <= reach).mean(axis=0) - 0.95) < 0.004)
    lower, upper = made.release(ROWS).interval("b", "c")
    assert np.allclose(upper - lower, 2 * reach)


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
def test_error_and_objective_follow_from_the_cells(order):
    made = plan(order=order, way=2)
    deviations = np.concatenate(
        [
            np.full(table.size, made.standard_deviation(*names))
            for names, table in made.release(ROWS).marginals()
        ]
    )
    assert made.objective == pytest.approx(np.linalg.norm(deviations, order), rel=1e-12)
    assert made.error >= made.objective * (1 - 1e-12)
    if order == 2:
        assert made.error == pytest.approx(math.sqrt(np.sum(deviations**2)), rel=1e-12)


def test_weights_say_what_a_variance_matters():
    made = plan(sets=[["a", "b"], ["c"]], weights=[1.0, 100.0])
    even = plan(sets=[["a", "b"], ["c"]])
    assert made.standard_deviation("c") < even.standard_deviation("c")
    assert made.standard_deviation("a", "b") > even.standard_deviation("a", "b")
    total = 100 * 3 * made.standard_deviation("c") ** 2  # x, y and the extra cell
    total += 12 * made.standard_deviation("a", "b") ** 2
    assert made.error == pytest.approx(math.sqrt(total), rel=1e-12)


def test_adult_from_the_file():
    made = ln.plan(
        ln.Marginals(ADULT, way=2), budget=ln.approx_dp(1.0, 1e-6), relation="add_remove"
    )
    released = made.release(DATA / "adult.csv")
    frame = pd.read_csv(DATA / "adult.csv")
    counts = frame.groupby(["sex", "race"]).size().to_numpy().reshape(2, 5)
    off = released.marginal("sex", "race") - counts
    assert np.abs(off).max() < 7 * made.standard_deviation("sex", "race")
    assert made.cost.delta <= 1e-6


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.marginal("nobody"), "nobody"),
        (lambda r: r.marginal("a", "a"), "twice"),
        (lambda r: r.marginal("a", "c"), "does not follow"),
        (lambda r: r.standard_deviation("a", "c"), "does not follow"),
        (lambda r: r.covariance((["a"], [0]), (["a", "c"], [0, 0])), "does not follow"),
        (lambda r: r.covariance((["a"], [3]), (["a"], [0])), "cell=3"),
        (lambda r: r.covariance((["a"], [0, 1]), (["a"], [0])), "one number"),
        (lambda r: r.total([]), "at least one"),
    ],
)
def test_what_was_not_asked_is_refused(ask, words):
    with pytest.raises(QuestionError, match=words):
        ask(plan().release(ROWS))


def test_relations_and_sizes_that_do_not_fit_are_refused():
    question = ln.Marginals(SIZES, way=1)
    budget = ln.zcdp(1)
    for arguments, words in (
        ({"relation": "substitute", "size": N}, "public size"),
        ({"relation": "add_remove", "size": N}, "private"),
        ({"relation": "other"}, "unknown"),
        ({"relation": ln.Ball(2)}, "unknown"),
        ({"relation": "add_remove", "count_share": 0.5}, "for means"),
        ({"relation": "add_remove", "weights": "range"}, "for means"),
        ({"relation": "add_remove", "order": 1}, "order"),
    ):
        with pytest.raises(PlanError, match=words):
            ln.plan(question, budget=budget, **arguments)


def test_a_table_of_another_size_is_refused_and_nothing_is_spent(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l.ledger", "d", ln.zcdp(1))
    made = plan("substitute")
    with pytest.raises(TableError, match="size=400 is not the number of rows"):
        made.release(ROWS.iloc[1:], ledger, path=tmp_path / "out")
    assert [e.state for e in ledger.entries()] == ["cancelled"]
    assert not (tmp_path / "out").exists()


def test_a_ledger_pays_once_and_refuses_what_it_cannot_pay(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l.ledger", "d", ln.zcdp(0.6))
    released = plan().release(ROWS, ledger)
    assert released.recorded
    with pytest.raises(LedgerError):
        plan().release(ROWS, ledger, path=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [e.state for e in ledger.entries()] == ["settled"]


def test_what_would_fill_the_memory_goes_to_a_folder(tmp_path, monkeypatch):
    ledger = ln.Ledger.create(tmp_path / "l.ledger", "d", ln.zcdp(1))
    monkeypatch.setattr(files, "_MOST_IN_MEMORY", 3)
    with pytest.raises(FileError, match="give path="):
        plan().release(ROWS, ledger)
    assert ledger.entries() == []
    assert plan().release(ROWS, ledger, path=tmp_path / "out").recorded


def test_a_folder_that_exists_is_refused_before_anything_is_spent(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l.ledger", "d", ln.zcdp(1))
    (tmp_path / "out").mkdir()
    with pytest.raises(FileError, match="exists"):
        plan().release(ROWS, ledger, path=tmp_path / "out")
    assert ledger.entries() == []
    with pytest.raises(FileError, match="cannot be made"):
        plan().release(ROWS, ledger, path="/proc/nothing/here")
    assert ledger.entries() == []


def test_many_attributes_in_one_marginal_lose_no_count():
    sizes = {f"x{i}": 2 for i in range(10)}
    made = ln.plan(
        ln.Marginals(sizes, sets=[list(sizes)]), budget=ln.zcdp(1e6), relation="add_remove"
    )
    rows = pd.DataFrame({name: np.zeros(1000, dtype=int) for name in sizes})
    found = execute(made.terms, rows, None, randomness=NoNoise()).marginal(*sizes)
    assert found.reshape(-1)[0] == pytest.approx(1000, abs=1e-6)


def test_noise_beyond_integers_is_refused_before_anything_is_spent():
    question = ln.Marginals({"a": 3, "b": 3}, way=2, weights=[1e100, 1e100, 1e-100])
    with pytest.raises(PlanError, match="beyond what integers hold"):
        ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")


def test_round_noise_counts_the_marginals_that_move():
    one = ln.Marginals({"a": 1, "b": 2}, way=1, outside={"b": 0, "a": 0})
    made = ln.plan(one, budget=ln.zcdp(0.5), relation="substitute", size=3)
    assert made.terms.isotropic == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    "cell", [(("a",), (99,)), (("a", "b"), (0,)), (("a",), (0.5,)), (("a",), (True,))]
)
def test_cells_that_do_not_exist_are_refused(cell):
    with pytest.raises(QuestionError):
        plan().release(ROWS).total([cell])
