# SPDX-License-Identifier: Apache-2.0
"""A curator and a shuffler beside local reports: the same question, budget and unit of error."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import BudgetError, PlanError
from lownoise.local_model.cap_law import best, moments
from lownoise.planning.local_plan import central_equivalent
from lownoise.privacy.local_budget import local_dp
from lownoise.privacy.shuffling import delta_up, epsilon_up

BALL = ln.Mean([f"x{i}" for i in range(4)], ln.Ball(4))
TABLE = ln.Marginals({"a": 3, "b": [0, 1], "c": 4}, way=1, outside={"a": 0, "b": 0, "c": 0})
PAIRS = ln.Marginals({"a": 3, "b": [0, 1]}, way=2, outside="extra")
BUDGETS = [local_dp(1.0), local_dp(4.0), local_dp(1.0, 1e-6)]


@pytest.mark.grid(1)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_a_mean_is_compared_with_the_plan_of_the_same_budget(budget, order):
    found = central_equivalent(BALL, budget, order, 5000, 7.0)
    same = (
        ln.approx_dp(budget.epsilon, budget.delta) if budget.delta else ln.pure_dp(budget.epsilon)
    )
    made = ln.plan(BALL, budget=same, relation="substitute", size=5000, order=order)
    assert (found.central_error, found.central_mechanism) == (made.objective, made.mechanism)
    assert found.local_error == 7.0 / math.sqrt(5000)
    assert found.size == 5000


def test_a_curator_of_as_many_people_as_are_said_errs_no_more():
    for (question, one), budget in itertools.product([(BALL, 3.0), (TABLE, 40.0)], BUDGETS):
        found = central_equivalent(question, budget, 2.0, 3000, one)
        n = found.people_for_equal_error
        own = central_equivalent(question, budget, 2.0, n, one)
        assert own.central_error <= found.local_error * (1 + 1e-9)
        if n > 1:
            fewer = central_equivalent(question, budget, 2.0, n - 1, one)
            assert fewer.central_error > found.local_error


def test_weights_matter_to_both():
    heavy = np.array([1.0, 1.0, 1.0, 5.0])
    plain = central_equivalent(BALL, local_dp(1.0), 2.0, 100, 7.0)
    weighted = central_equivalent(BALL, local_dp(1.0), 2.0, 100, 7.0, weights=heavy)
    assert weighted.central_error > plain.central_error
    assert weighted.shuffled_epsilon == plain.shuffled_epsilon


@pytest.mark.grid(1)
@pytest.mark.parametrize("question", [TABLE, PAIRS])
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_marginals_are_shares_under_either_budget(question, order):
    approximate = central_equivalent(question, local_dp(1.0, 1e-6), order, 900, 7.0)
    made = ln.plan(
        question, budget=ln.approx_dp(1.0, 1e-6), relation="substitute", size=900, order=order
    )
    assert approximate.central_error == made.objective / 900
    assert approximate.central_mechanism == made.mechanism
    pure = central_equivalent(question, local_dp(1.0), order, 900, 7.0)
    assert pure.central_mechanism == "laplace"
    # brute force: the most by which two records' cells differ in ‖·‖₁, over all pairs
    sizes = [a.size for a in question.attributes]
    sets = [own for own in question.sets() if own]
    records = itertools.product(*map(range, sizes))
    cells = [[(own, tuple(r[i] for i in own)) for own in sets] for r in records]
    most = max(len(set(a) ^ set(b)) for a, b in itertools.combinations(cells, 2))
    count = len({cell for own in cells for cell in own})
    deviation = math.sqrt(2) * most / 900
    expected = deviation * (math.sqrt(count) if order == 2 else 1)
    assert pure.central_error == pytest.approx(expected)


def test_weights_of_marginals_matter_as_in_a_plan():
    heavy = ln.Marginals(
        {"a": 3, "b": [0, 1]}, sets=[["a"], ["b"]], weights=[4.0, 9.0], outside={"a": 0, "b": 0}
    )
    found = central_equivalent(heavy, local_dp(1.0), 2.0, 1, 7.0)
    assert found.central_error == pytest.approx(math.sqrt(2) * 4 * math.sqrt(3 * 4 + 2 * 9))


def test_shuffling_is_of_the_same_budget_and_delta():
    found = central_equivalent(BALL, local_dp(1.0), 2.0, 100_000, 7.0, delta=1e-8)
    assert found.shuffled_delta == 1e-8
    assert found.shuffled_epsilon == epsilon_up(1.0, 100_000, 1e-8) < 0.1
    assert delta_up(found.shuffled_local_epsilon, 100_000, 1.0) <= 1.01e-8
    assert found.shuffled_local_epsilon > 3
    approximate = central_equivalent(BALL, local_dp(1.0, 1e-6), 2.0, 100_000, 7.0)
    assert approximate.shuffled_epsilon is approximate.shuffled_local_epsilon is None


def test_trust_saves_noise_on_balls_of_every_size_and_all_but_small_crowds():
    for dimension, epsilon in itertools.product((1, 3, 20), (0.5, 1.0, 4.0)):
        one = 1 / moments(dimension, *best(dimension, epsilon))[0]
        question = ln.Mean([f"x{i}" for i in range(dimension)], ln.Ball(dimension))
        found = central_equivalent(question, local_dp(epsilon), 2.0, 10_000, one)
        assert found.central_error < found.local_error
        assert found.people_for_equal_error < 10_000


def test_it_shows_itself_in_few_lines():
    text = repr(central_equivalent(BALL, local_dp(1.0), 2.0, 1000, 7.0))
    assert text.startswith("CentralEquivalent(\n    size=1000,\n    local_error=0.22")
    assert max(map(len, text.splitlines())) < 97


def test_what_does_not_fit_is_refused_in_one_line():
    ordered = ln.Marginals({"a": 3}, way=1, ordered={"a": "prefix"}, outside={"a": 0})
    for call, error, match in [
        (lambda: central_equivalent(BALL, BUDGETS[0], 2.0, 0, 7.0), PlanError, "size=0"),
        (lambda: central_equivalent(ordered, BUDGETS[0], 2.0, 9, 7.0), PlanError, "ordered"),
        (
            lambda: central_equivalent(ln.Marginals({"a": 3}, way=1), BUDGETS[0], 2.0, 9, 7.0),
            PlanError,
            'outside="drop"',
        ),
        (
            lambda: central_equivalent(BALL, BUDGETS[0], 2.0, 9, 7.0, delta=0.0),
            BudgetError,
            "delta=0",
        ),
    ]:
        with pytest.raises(error, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)
