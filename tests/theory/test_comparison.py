# SPDX-License-Identifier: Apache-2.0
"""Unbiased mechanisms side by side: errors by enumeration, privacy by integration, what binds."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

import lownoise as ln
from lownoise import report
from lownoise.errors import BudgetError, LownoiseError, PlanError
from lownoise.noise.response import keep_for
from lownoise.theory.comparison import _amplified

BUDGETS = {
    "zcdp": ln.zcdp(0.1),
    "approx_dp": ln.approx_dp(0.5, 1e-4),
    "pure_dp": ln.pure_dp(0.5),
}
TRIANGLE = [[0.0, 0.0], [1.0, 0.25], [0.5, -1.0]]
CASES = {
    "bits": ([[0.0], [1.0]], [[0.0], [1.0], [1.0], [0.0], [1.0]]),
    "one of two": ([[0.0], [1.0]], [[1.0]] * 4),
    "a triangle": (TRIANGLE, [TRIANGLE[0], TRIANGLE[1], TRIANGLE[0], TRIANGLE[2]]),
}


def rows(case, budget, **given):
    points, table = CASES[case]
    found = ln.theory.compare_unbiased(ln.Points(points), table, budget=BUDGETS[budget], **given)
    return {row.mechanism: row for row in found.rows}


def neighbours(case):
    points, table = CASES[case]
    for i, point in itertools.product(range(len(table)), points):
        yield [*table[:i], point, *table[i + 1 :]]


def sampled(table, m):
    """The mean and the squared error of the mean of m rows, over all choices of them, exactly."""
    exact = [tuple(map(Fraction, row)) for row in table]
    at = [sum(column) / len(table) for column in zip(*exact, strict=True)]
    found = [
        [sum(column) / m for column in zip(*chosen, strict=True)]
        for chosen in itertools.combinations(exact, m)
    ]
    mean = [sum(column) / len(found) for column in zip(*found, strict=True)]
    assert mean == at  # it is unbiased
    return float(sum(sum((x - a) ** 2 for x, a in zip(f, at, strict=True)) for f in found)) / len(
        found
    )


@pytest.mark.parametrize("budget", ["zcdp", "approx_dp"])
@pytest.mark.parametrize("case", CASES)
def test_the_sampled_mean_errs_as_all_choices_of_rows_say(case, budget):
    points, table = CASES[case]
    n, m = len(table), 2
    found = rows(case, budget, sample=m)[f"sample of {m}, Gaussian noise"]
    mu = _amplified(BUDGETS[budget], m, n).gaussian_parameter()
    widest = ln.theory.enclose(ln.difference_body(ln.Points(points))).certificate.upper
    noise = (widest / (m * mu)) ** 2
    assert found.error == pytest.approx(math.sqrt(sampled(table, m) + noise), rel=1e-12)
    worst = max(sampled(other, m) for other in neighbours(case))
    assert found.neighbour_error == pytest.approx(math.sqrt(worst + noise), rel=1e-12)


def answered(points, table, epsilon):
    """The mean and squared error of randomized response, over all reports, in floats."""
    q, n, x = keep_for(epsilon, len(points)), len(table), np.array(points)
    mean, square = np.zeros(x.shape[1]), 0.0
    for reports in itertools.product(range(len(points)), repeat=n):
        chance = math.prod(
            q * (points[r] == row) + (1 - q) / len(points)
            for r, row in zip(reports, table, strict=True)
        )
        answer = (np.mean(x[list(reports)], axis=0) - (1 - q) * np.mean(x, axis=0)) / q
        mean += chance * answer
        square += chance * np.sum((answer - np.mean(table, axis=0)) ** 2)
    assert mean == pytest.approx(np.mean(table, axis=0), abs=1e-12)  # it is unbiased
    return square


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", ["approx_dp", "pure_dp"])
@pytest.mark.parametrize("case", CASES)
def test_randomized_response_errs_as_all_reports_say(case, budget):
    points, table = CASES[case]
    found = rows(case, budget)["randomized response"]
    epsilon = BUDGETS[budget].epsilon
    assert found.error == pytest.approx(math.sqrt(answered(points, table, epsilon)), rel=1e-12)
    worst = max(answered(points, other, epsilon) for other in neighbours(case))
    assert found.neighbour_error == pytest.approx(math.sqrt(worst), rel=1e-12)


@pytest.mark.grid(3)
@pytest.mark.parametrize("odds", [1.1, 1.5, 1.999])
@pytest.mark.parametrize("n", [1, 7, 100])
def test_randomized_response_of_bits_attains_the_bound_up_to_odds_of_two(odds, n):
    """Section 9: with e^ε ≤ 2 nothing unbiased and local does better on {0, 1}; beyond it may."""
    found = ln.theory.compare_unbiased(
        ln.Points([[0], [1]]), [[0.0]] * n, budget=ln.pure_dp(math.log(odds)), sample=1
    )
    row = {r.mechanism: r for r in found.rows}["randomized response"]
    assert row.bound.value <= row.error <= row.bound.value * (1 + 1e-9)
    beyond = ln.theory.compare_unbiased(
        ln.Points([[0], [1]]), [[0.0]] * n, budget=ln.pure_dp(math.log(2.5)), sample=1
    ).rows[-1]
    assert beyond.error > beyond.bound.value * 1.01


@pytest.mark.grid(1)
@pytest.mark.parametrize(("m", "n"), [(1, 2), (2, 4), (1, 5)])
def test_the_sampled_gaussian_keeps_epsilon_and_delta_on_tables(m, n):
    """Hockey sticks of the mixtures over all choices of rows, by integration, for bits.

    A scale 10% below breaks δ: the noise is that which amplification needs, not much more.
    """
    epsilon, delta = 0.5, 1e-4
    budget = _amplified(ln.approx_dp(epsilon, delta), m, n)
    scale = 1 / (m * budget.gaussian_parameter())

    def stick(table, other, scale):
        def law(rows):
            means = [sum(c) / m for c in itertools.combinations(rows, m)]
            return lambda z: np.mean(stats.norm.pdf(z[:, None], np.array(means), scale), axis=1)

        z = np.linspace(-12 * scale, 1 + 12 * scale, 200_001)
        gap = np.maximum(law(table)(z) - math.exp(epsilon) * law(other)(z), 0)
        return float(integrate.trapezoid(gap, z))

    def worst(scale):
        pairs = [([b, *rest], [1 - b, *rest]) for b in (0, 1) for rest in _bits(n - 1)]
        return max(stick(table, other, scale) for table, other in pairs)

    assert worst(scale) <= delta * (1 + 1e-6)
    assert worst(0.9 * scale) > delta


def _bits(count):
    return [[1] * k + [0] * (count - k) for k in range(count + 1)]


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("case", CASES)
def test_every_row_is_unbiased_and_above_what_binds_it_on_every_table(case, budget):
    for row in rows(case, budget).values():
        assert row.bias == 0
        assert row.neighbour_error >= 0 <= row.error
        if row.bound.over == "every dataset":
            assert min(row.error, row.neighbour_error) >= row.bound.value > 0
        else:  # here or on a neighbour: the one that is exact here has no other bound
            assert "neighbour" in row.bound.over
            assert max(row.error, row.neighbour_error) >= row.bound.value > 0


def test_oblivious_ones_err_alike_everywhere_and_the_others_do_not():
    points, table = CASES["a triangle"]
    found = ln.theory.compare_unbiased(ln.Points(points), table, budget=BUDGETS["approx_dp"])
    for row in found.rows:
        assert row.oblivious == (row.error == row.neighbour_error)


def test_it_shows_a_table_with_every_mechanism_and_what_binds_them():
    points, table = CASES["bits"]
    found = ln.theory.compare_unbiased(ln.Points(points), table, budget=BUDGETS["approx_dp"])
    shown = str(found)
    for row in found.rows:
        assert row.mechanism.split()[-1] in shown
    assert repr(found) == "<Comparison: Unbiased means of 5 rows under (0.5, 0.0001)-DP>"
    (said,) = [s for s in report.sections(found) if s.name == "bounds"]
    assert {str(row.bound) for row in found.rows} == set(said.parts[0].items)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"domain": ln.Box([0], [1])}, "domain="),
        ({"domain": "points"}, "domain="),
        ({"table": [[0.0], [0.5]]}, r"table\[1\] is no point"),
        ({"table": [[0.0, 1.0]]}, "table has shape"),
        ({"table": np.zeros((0, 1))}, "table has shape"),
        ({"sample": 0}, "sample=0"),
        ({"sample": 3}, "sample=3"),
        ({"sample": 1.0}, "sample=1.0"),
        ({"budget": ln.gaussian_dp(1.0)}, "budget="),
        ({"budget": "zcdp"}, "budget="),
    ],
)
def test_refuses_in_one_line(given, said):
    asked = {"domain": ln.Points([[0], [1]]), "table": [[0.0], [1.0]], "budget": ln.zcdp(1)}
    with pytest.raises(LownoiseError, match=said) as refused:
        ln.theory.compare_unbiased(**{**asked, **given})
    assert isinstance(refused.value, (PlanError, BudgetError))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "budget", [ln.approx_dp(1000, 1e-6), ln.pure_dp(1000), ln.zcdp(1e6)], ids=str
)
def test_every_budget_is_compared(budget):
    """e^ε is beyond the floats; what a sample may spend, and a report, is not."""
    table = [[0.0]] * 10 + [[1.0]] * 10
    found = ln.theory.compare_unbiased(ln.Points([[0], [1]]), table, budget=budget)
    assert all(0 <= row.error < 1 for row in found.rows)
