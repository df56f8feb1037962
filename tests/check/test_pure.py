# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides independent noise, and that of a box, under a pure budget."""

import json
import math
from functools import partial

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf
from scipy.optimize import linprog
from scipy.stats import norm

import lownoise as ln
import lownoise_check as checker
from check.documents import changed
from check.test_questions import scaled
from lownoise.certificate.staircase import least_first
from lownoise.numbers.hadamard import hadamard_order
from lownoise.numbers.packing import packed, unpacked
from lownoise.samplers.steps import StepRadius
from lownoise_check import FALSE, HOLDS, OPEN, F

BOX = ln.Box([0, -1, 2], [1, 4, 12])
LISTED = ln.Points([[0.0, 0.0], [1.0, 4.0], [3.0, 1.0]])
SIZES = {"a": 5, "b": 3, "c": 2, "d": 3}
QUESTIONS = {
    "mean": lambda: ln.Mean(["a", "b", "c"], BOX),
    "one": lambda: ln.Mean(["a"], ln.Box([0], [1])),
    "sum": lambda: ln.Sum(["a", "b", "c"], BOX),
    "even": lambda: ln.Sum(["a"], ln.Box([-3], [3])),
    "sum of points": lambda: ln.Sum(["a", "b"], LISTED),
    "queries": lambda: ln.Queries([[0, 0, 1, 3], [0, 1, 0, 1]], {"a": 2, "b": 2}),
    "threes": lambda: ln.Queries([[3, 6, 12, 9], [0, 5, 0, 10]], {"a": 2, "b": 2}),
    "counts": lambda: ln.Marginals(SIZES, way=2, outside="extra"),
    "sets": lambda: ln.Marginals(SIZES, sets=[["a", "b"], ["d", "b"], ["c"]], weights=[1, 1, 3]),
}
CASES = [
    ("mean", "k_norm", 2.0, 1.0),
    ("mean", "staircase", 2.0, 4.0),
    ("even", "staircase", math.inf, 0.7),
    ("mean", "laplace", math.inf, 0.1),
    ("sum", "laplace", 2.0, 3.0),
    ("sum of points", "laplace", math.inf, 1.0),
    ("queries", "laplace", 2.0, 0.5),
    ("queries", "geometric", math.inf, 2.0),
    *[("counts", law, 2.0, 1.0) for law in ("laplace", "geometric")],
    ("counts", "geometric_histogram", math.inf, 4.0),
    ("sets", "geometric", 2.0, 0.3),
    ("sets", "laplace_histogram", math.inf, 1.0),
]


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize(("name", "mechanism", "order", "epsilon"), CASES)
def test_pure_noise_holds_and_a_part_in_a_million_less_does_not(name, mechanism, order, epsilon):
    plan = ln.plan(
        QUESTIONS[name](),
        budget=ln.pure_dp(epsilon),
        relation="add_remove",
        order=order,
        mechanism=mechanism,
    )
    text = plan.to_json()
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    scale = "scale" if mechanism in ("k_norm", "staircase") else "scales"
    for path in (
        ("terms", "noise", scale),
        ("terms", "budget", "epsilon"),
        ("derived", "cost", "epsilon"),
        ("derived", "cost_of_noise", "rho"),
        ("derived", "cost_of_noise", "mu"),
        *([("derived", "error")] * (order == 2.0)),
    ):
        for by in (1 - 1e-6, 0.5):
            edited = changed(text, path, lambda value, by=by: scaled(value, by))
            status, lines = checker.decide(edited)
            assert status == FALSE, path
            if path[1] == "noise":  # it is what hides that fails, and not what is stated alone
                assert "FALSE  no change by one neighbour reveals more than ε" in lines, path
    more = changed(text, ("derived", "lower_bound"), lambda value: value * 2)
    assert checker.decide(more)[0] != HOLDS


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("question", "relation", "said"),
    [
        (lambda: ln.Mean(["a"], ln.Points([[0], [1], [5]])), "substitute", "staircase"),
        (lambda: ln.Distribution("a", [0, 1, 2, 3]), "add_remove", "ordered attributes"),
        (lambda: ln.Mean(["a"], ln.Box([0], [1]), by={"g": 2}), "add_remove", "groups"),
        (lambda: ln.Sum(["a", "b"], ln.Ball(2, order=1)), "add_remove", "neither Euclidean nor"),
    ],
)
def test_what_is_outside_is_named_beside_what_is_decided(question, relation, said):
    size = 40 if relation == "substitute" else None
    plan = ln.plan(question(), budget=ln.pure_dp(1.0), relation=relation, size=size)
    status, lines = checker.decide(plan.to_json())
    assert (status, said in lines[-1]) == (OPEN, True), lines


@pytest.mark.parametrize("name", ["mean", "even"])
def test_steps_of_a_staircase_that_are_other_ones_do_not_hold(name):
    budget = ln.pure_dp(2.0)
    plan = ln.plan(QUESTIONS[name](), budget=budget, relation="add_remove", mechanism="staircase")
    text = plan.to_json()
    assert checker.decide(text)[0] == HOLDS
    for field, by in (("epsilon", 1 + 1e-6), ("first", 0.99), ("first", 1.01), ("scale", 1.01)):
        edited = changed(text, ("terms", "noise", field), lambda value, by=by: scaled(value, by))
        assert checker.decide(edited)[0] == FALSE, field
    if name == "even":
        edited = changed(
            text,
            ("terms", "noise", "factor"),
            lambda own: packed(0.999 * unpacked(own, "factor", 1)),
        )
        assert "FALSE  no change by one neighbour reveals more than ε" in checker.decide(edited)[1]


@pytest.mark.parametrize(("epsilon", "first"), [(0.5, 0.47), (1.0, 0.2), (3.0, 0.9), (8.0, 0.05)])
def test_two_staircases_of_one_number_differ_by_no_more_than_the_checker_has(epsilon, first):
    """By their densities, interval by interval: total variation, and every divergence over α."""
    file, step, far = checker.File(), F(epsilon), int(80 / epsilon) + 8
    low, high = (checker.shells(F(first), 1, step, up) for up in (0, 1))
    file.law, file.apart = "staircase", 1 - checker.shells(F(first) - F(1, 2), 1, step, 0) / high
    ends = np.arange(-far, far) + first
    ends = np.unique(np.concatenate([ends, -ends, ends + 1, 1 - ends]))
    middles, widths = (ends[1:] + ends[:-1]) / 2, np.diff(ends)

    def density(z):
        steps = np.maximum(np.ceil(np.abs(z) - first), 0)
        return np.exp(-epsilon * steps) / (-math.expm1(-epsilon) * 2 * float(low))

    one, two = density(middles), density(middles - 1)
    kept = np.abs(middles) < far - 2
    one, two, widths = one[kept], two[kept], widths[kept]
    tail = math.exp(-epsilon * (far - 4)) * 4 + 1e-12
    assert np.sum(widths * one) == pytest.approx(1, abs=tail)
    variation = float(np.sum(widths * np.maximum(one - two, 0)))
    assert variation - tail <= float(file.apart) <= variation + tail  # of an interval it is exact
    rho = float(file.divergence(step))
    for order in (1.001, 1.1, 1.5, 2.0, 3.0, 8.0):
        moment = float(np.sum(widths * two * (one / two) ** order))
        assert math.log(moment) / (order - 1) <= rho * order * (1 + 1e-9) + tail
    assert rho <= epsilon * math.tanh(epsilon / 2) * (1 + 1e-12)
    mu = math.sqrt(float(file.shift(step)))  # tests between two such normal laws are as good
    for odds in np.unique(one / two):
        wrong, right = (float(np.sum(widths * own * (one / two >= odds))) for own in (two, one))
        if wrong > tail:
            assert right - tail <= norm.cdf(norm.ppf(min(wrong, 1.0)) + mu)


QUICK = ln.Mean(["age", "income"], ln.Box([0, 0], [120, 500_000]))
WIDE = ln.Mean(["a", "b", "c"], ln.Box([-3.1, 40, 7], [-3, 90.7, 7000]))
OUTSIDE = {"a": 0, "b": 0, "c": 0}
MARGINS = partial(ln.Marginals, {"a": 2, "b": 3, "c": 2}, outside=OUTSIDE)
OF_FORTY = ("substitute", 40, None)
APPROX = [  # question, relation, size, weights, order, ε, mechanism
    (QUICK, "substitute", 5000, "range", 2.0, 1.0, None),
    (QUICK, "substitute", 40, "range", 2.0, 1.0, "k_norm"),
    (QUICK, "add_remove", None, "range", 2.0, 1.0, "k_norm"),
    (WIDE, "substitute", 700, [30.0, 0.1, 1e-3], math.inf, 0.3, "k_norm"),
    (WIDE, "substitute", 5000, [30.0, 0.1, 1e-3], 2.0, 6.0, "laplace"),
    (WIDE, "add_remove", None, [30.0, 0.1, 1e-3], math.inf, 2.0, "k_norm"),
    (WIDE, "add_remove", None, None, 2.0, 0.1, "laplace"),
    (QUESTIONS["sum"](), "substitute", 40, None, 2.0, 1.0, "k_norm"),
    (QUESTIONS["counts"](), "substitute", 40, None, 2.0, 1.0, "geometric"),
    (MARGINS(way=2), *OF_FORTY, 2.0, 4.0, "discrete_k_norm"),
    (MARGINS(way=1), *OF_FORTY, math.inf, 1.0, "discrete_k_norm"),
    (MARGINS(sets=[["a", "b"], ["c"]], weights=[3, 1]), *OF_FORTY, 2.0, 2.0, "discrete_k_norm"),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", APPROX)
def test_pure_noise_under_a_delta_holds_and_a_part_in_a_million_less_does_not(case):
    question, relation, size, weights, order, epsilon, mechanism = case
    asked = {"size": size, "order": order, "mechanism": mechanism, "weights": weights}
    asked = {name: value for name, value in asked.items() if value is not None}
    text = ln.plan(
        question, budget=ln.approx_dp(epsilon, 1e-6), relation=relation, **asked
    ).to_json()
    assert checker.decide(text)[0] == HOLDS
    noise = json.loads(text)["terms"]["noise"]
    less = [("terms", "budget", "epsilon"), ("derived", "cost", "epsilon")]
    less.append(("terms", "noise", "scale" if "scale" in noise else "scales"))
    for path in less:
        edited = changed(text, path, lambda value: scaled(value, 1 - 1e-6))
        assert checker.decide(edited)[0] == FALSE, path
    for path, value in (
        (("derived", "cost", "delta"), 1e-9),
        (("terms", "budget", "delta"), 1.0),
        (("terms", "budget", "delta"), -1e-6),
        (("terms", "budget", "kind"), "pure_dp"),
    ):
        found = checker.decide(changed(text, path, lambda _, value=value: value))[0]
        assert found == (OPEN if path[-1] == "kind" else FALSE), path
    if question in (QUICK, WIDE):
        swapped = changed(text, ("derived", "standard_deviation"), _swapped)
        assert checker.decide(swapped)[0] == FALSE
        other = changed(text, ("terms", "question", "center"), _swapped)
        for name in ("lower", "upper"):
            other = changed(other, ("terms", "question", name), _swapped)
        assert checker.decide(other)[0] == FALSE
    more = changed(text, ("derived", "lower_bound"), lambda value: value * 2)
    assert checker.decide(more)[0] == OPEN


def _swapped(row):
    return [row[1], row[0], *row[2:]]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_no_mechanism_errs_less_than_is_said_of_a_count(epsilon):
    """A linear programme over all mechanisms on 0 … n with answers on a grid errs more."""
    for n in (1, 2, 6):
        found = float(checker.among(F(epsilon), n, F(1), 1, F(1), F(1)))
        answers = np.linspace(0, n, 4 * n + 1)
        m, t = answers.size, np.arange(n + 1)
        cost = np.zeros((n + 1, (n + 1) * m + 1))
        for j in t:
            cost[j, j * m : (j + 1) * m] = (answers - j) ** 2
        cost[:, -1] = -1
        odds = np.exp(epsilon)
        rows = []
        for j in range(n):
            for x in range(m):
                for a, b in ((j, j + 1), (j + 1, j)):
                    row = np.zeros((n + 1) * m + 1)
                    row[a * m + x], row[b * m + x] = 1, -odds
                    rows.append(row)
        sums = np.kron(np.eye(n + 1), np.ones(m))
        done = linprog(
            np.eye((n + 1) * m + 1)[-1],
            A_ub=np.vstack([cost, rows]),
            b_ub=np.zeros(n + 1 + len(rows)),
            A_eq=np.hstack([sums, np.zeros((n + 1, 1))]),
            b_eq=np.ones(n + 1),
        )
        assert 0.4 * np.sqrt(done.fun) < found <= np.sqrt(done.fun) * (1 + 1e-6)


def test_what_proves_bounds_of_a_public_size_is_no_more_than_is_true():
    assert [checker.orthogonal(d) for d in range(1, 131)] == [*map(hadamard_order, range(1, 131))]
    for d, epsilon in ((1, 1.0), (3, 4.0), (12, 0.5)):
        best = least_first(d, epsilon)
        least = F(StepRadius(d, epsilon, best).mean(2.0))
        assert checker.staircase(F(epsilon), d, least * F(1 - 1e-5))
        assert not checker.staircase(F(epsilon), d, least * F(1 + 1e-9))


@pytest.mark.parametrize(
    "cells", [[0, 0], [0] * 60, list(range(60))], ids=["twice", "sixty times", "sixty"]
)
def test_a_table_of_noise_costs_no_more_than_it_may(cells):
    """Of 60 attributes there are 2^60 residual spaces, none of which is looked at."""
    question = ln.Marginals({f"a{i}": 2 for i in range(60)}, way=1, outside="extra")
    text = ln.plan(
        question, budget=ln.pure_dp(1.0), relation="add_remove", mechanism="laplace"
    ).to_json()
    assert checker.decide(text)[0] == HOLDS
    hostile = changed(
        text,
        ("terms", "noise"),
        lambda given: given | {"tables": [{"cells": cells, "signs": []}, *given["tables"][1:]]},
    )
    found, lines = checker.decide(hostile)
    assert (found, "on an attribute twice, or on so many" in lines[-1]) == (OPEN, True), lines


@pytest.mark.parametrize("law", ["laplace", "geometric"])
def test_what_one_number_reveals_is_enclosed(law):
    file = checker.File()
    file.law = law
    with mp.workdps(150):
        for x in (checker.F(1, 1000), checker.F(1, 3), checker.F(4)):
            t = mpf(x.numerator) / x.denominator
            chance = 1 - mp.exp(-t / 2) / 2 if law == "laplace" else 1 / (1 + mp.exp(-t))
            rho = t + mp.exp(-t) - 1 if law == "laplace" else t * mp.tanh(t / 2)
            found = file.divergence(x)
            assert rho <= mpf(found.numerator) / found.denominator <= rho * (1 + mpf(10) ** -30)
            square = file.shift(x)
            half = mp.sqrt(mpf(square.numerator) / square.denominator) / 2
            assert chance <= ncdf(half) <= chance + mpf(10) ** -20


def test_the_variances_are_those_of_the_laws():
    file = checker.File()
    k = np.arange(-400, 401)
    weights = np.exp(-np.abs(k) / 3.0)
    for law, variance in (
        ("laplace", 18.0),
        ("geometric", np.sum(k**2 * weights) / np.sum(weights)),
    ):
        file.law = law
        assert math.isclose(file.spread(checker.F(3)), variance, rel_tol=1e-12)


def test_steps_of_linear_queries_divide_all_of_their_numbers():
    question = QUESTIONS["threes"]()
    plan = ln.plan(question, budget=ln.pure_dp(2.0), relation="add_remove", mechanism="geometric")
    assert plan.terms.mechanism.totals.step.tolist() == [3, 5]
    assert checker.decide(plan.to_json())[0] == HOLDS
    wrong = changed(plan.to_json(), ("terms", "noise", "step"), lambda _: [6.0, 5.0])
    status, lines = checker.decide(wrong)
    assert status == FALSE
    assert "whole multiples" in lines[-1]
