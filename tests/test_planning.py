# SPDX-License-Identifier: Apache-2.0
"""Plans: what they promise, what they refuse, and how they are written down."""

import json
import math
import re

import numpy as np
import pytest

import lownoise as ln
from cases import CASES, ORDERS
from lownoise.errors import BudgetError, FileError, LownoiseError, PlanError
from lownoise.release.guarantees import error_bound
from lownoise.report.spelling import significant
from refusals import one_line, refused_plan

QUESTION = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4]))
BUDGETS = (ln.zcdp(0.1), ln.approx_dp(1, 1e-6))


def make(question=QUESTION, *, relation="substitute", **keywords):
    arguments = {"budget": ln.zcdp(0.5), "relation": relation, "mechanism": "gaussian"} | keywords
    if relation == "substitute":
        arguments.setdefault("size", 100)
    return ln.plan(question, **arguments)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_numbers_of_a_plan_hang_together(case, order, budget, relation):
    names = [f"c{i}" for i in range(case.domain.dimension)]
    plan = make(ln.Mean(names, case.domain), relation=relation, budget=budget, order=order)
    certificate = plan.certificate
    assert certificate.lower <= certificate.upper
    assert certificate.gap < 1e-8
    weighted = plan.terms.weights * plan.standard_deviation
    assert certificate.upper == pytest.approx(
        np.linalg.norm(weighted / weighted.max(), order) * weighted.max()
    )
    assert plan.objective <= plan.error * (1 + 1e-12)
    assert plan.lower_bound < plan.error
    assert np.array_equal(np.diag(plan.covariance), plan.standard_deviation**2)
    assert len(plan.names) == plan.standard_deviation.size


def test_at_order_two_under_substitute_error_objective_and_trace_are_one_number():
    plan = make()
    assert plan.error == plan.objective == pytest.approx(math.sqrt(np.trace(plan.covariance)))


@pytest.mark.parametrize(("rho", "most"), [(1e-6, 1.001), (1e-2, 1.09), (0.1, 1.33), (0.5, 2.06)])
def test_no_unbiased_mechanism_beats_a_plan_of_a_small_budget(rho, most):
    plan = make(budget=ln.zcdp(rho))
    assert 1 < plan.error / plan.lower_bound < most


@pytest.mark.parametrize("order", ORDERS)
def test_the_count_costs_the_sums_what_its_share_says(order):
    """Each sum's deviation is 1/√(1 − share) of what the sums alone would need."""
    for share in (0.01, 0.05, 0.5):
        plan = make(relation="add_remove", order=order, count_share=share)
        # sums alone: half widths (½, 2), μ = 1
        alone = make(ln.Mean(["a", "b"], ln.Box([0, 0], [0.5, 2])), size=1, order=order)
        ratio = plan.standard_deviation[:2] / alone.standard_deviation
        assert np.allclose(ratio, 1 / math.sqrt(1 - share), rtol=1e-8)
        assert plan.standard_deviation[2] == pytest.approx(1 / math.sqrt(share), rel=1e-8)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 3.0, 8.0, 100.0, math.inf])
def test_error_is_above_the_measured_error_and_exact_at_two(order):
    """Monte Carlo, 200,000 draws from a fixed seed; its own error is below 0.5%."""
    deviations = np.array([1.0, 2.0, 2.0, 0.1])
    draws = np.random.default_rng(0).normal(size=(200_000, 4)) * deviations
    largest = np.abs(draws).max(axis=1)
    norms = (
        largest
        if math.isinf(order)
        else largest * ((np.abs(draws) / largest[:, None]) ** order).sum(axis=1) ** (1 / order)
    )
    measured = math.sqrt(np.mean(norms**2))
    stated = error_bound(deviations, order)
    if order == 2:
        assert stated == pytest.approx(measured, rel=0.01)
    assert measured * 0.995 <= stated <= 1.6 * measured


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_weights_rescale_the_columns_and_nothing_else(order, relation):
    """A plan with weights ω is the plan of the columns in units of 1/ω."""
    weights = np.array([100.0, 0.5])
    weighted = make(relation=relation, order=order, weights=weights)
    rescaled = make(
        ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4] * weights)), relation=relation, order=order
    )
    factor = weights if relation == "substitute" else np.append(weights, 1)
    assert np.allclose(weighted.standard_deviation * factor, rescaled.standard_deviation)
    assert weighted.certificate.gap < 1e-8
    assert weighted.cost.mu == pytest.approx(rescaled.cost.mu)
    assert weighted.lower_bound < weighted.error
    assert weighted.verify()


def test_weights_by_range_share_the_privacy_evenly():
    plan = make(weights="range")
    assert plan.standard_deviation[1] == pytest.approx(4 * plan.standard_deviation[0])
    flat = make(ln.Mean(["a", "b"], ln.Box([0, 3], [1, 3])), weights="range")
    assert flat.standard_deviation[1] == 0


def test_one_answer_has_the_same_error_in_every_order():
    plans = [make(ln.Mean(["a"], ln.Box([0], [1])), order=p) for p in ORDERS]
    assert len({round(p.error, 12) for p in plans}) == 1


def test_isotropic_comparison_is_the_closed_form():
    terms = make().terms
    # d‖w‖²/(Σw)² = 2·17/25
    ratio = np.sum(terms.isotropic**2) / np.sum(terms.standard_deviation**2)
    assert ratio == pytest.approx(34 / 25, rel=1e-8)


def test_laplace_comparison_is_the_closed_form():
    terms = make(budget=ln.approx_dp(1, 1e-6)).terms
    assert np.allclose(terms.laplace, math.sqrt(2) * np.array([1, 4]) / 100 * 2)
    terms = make(budget=ln.zcdp(0.25)).terms
    assert np.allclose(terms.laplace, math.sqrt(2) * np.array([1, 4]) / 100 / 0.5)


def test_a_single_point_needs_no_noise_and_says_so():
    plan = make(ln.Mean(["a"], ln.Box([3], [3])))
    assert plan.standard_deviation.tolist() == [0]
    assert plan.certificate.lower == plan.certificate.upper == plan.certificate.gap == 0
    assert plan.cost.mu == plan.cost.rho == plan.cost.epsilon == 0
    assert any("nothing is revealed" in a for a in plan.terms.assumptions)
    # but under add_remove its count does
    assert make(ln.Mean(["a"], ln.Box([3], [3])), relation="add_remove").standard_deviation[1] > 0


def test_cost_is_what_the_budget_allows_and_no_more():
    plan = make(budget=ln.approx_dp(1, 1e-6))
    assert plan.cost.epsilon == 1
    assert 0.999e-6 < plan.cost.delta <= 1e-6
    assert plan.cost.mu <= ln.approx_dp(1, 1e-6).gaussian_parameter()
    plan = make(budget=ln.zcdp(0.3))
    assert 0.2999 < plan.cost.rho <= 0.3


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"relation": "swap"}, "relation='swap' is unknown; give one of substitute, add_remove"),
        ({"size": None}, "size=None is no public number"),
        ({"size": 0}, "size=0 is no public number"),
        ({"size": -3}, "size=-3"),
        ({"size": 2.5}, "size=2.5"),
        ({"size": True}, "size=True"),
        ({"relation": "add_remove", "size": 9}, "size=9 is private under add_remove"),
        ({"order": 1.9}, "order=1.9 is out of range"),
        ({"order": math.nan}, "order=nan"),
        ({"order": 1e7}, "order=1e"),
        ({"size": 10**13}, "10\\^12"),
        ({"order": "two"}, "order='two' is not a number"),
        ({"order": "inf"}, r"order='inf' .* give one from 2 to 1e6, or infinity \(math.inf\)$"),
        ({"order": 1}, r"order=1 .* give one from 2 to 1e6, or infinity \(math.inf\)$"),
        ({"weights": "size"}, "weights='size' is unknown"),
        ({"weights": [1]}, "weights has 1 numbers for 2 columns"),
        ({"weights": [1, 0]}, r"weights\[1\]=0 is out of range"),
        ({"weights": [1, math.nan]}, r"weights\[1\]=nan is not finite"),
        ({"count_share": 0}, "count_share=0 is out of range"),
        ({"count_share": 1}, "count_share=1 is out of range"),
    ],
)
def test_refuses(keywords, said):
    with one_line(PlanError, match=said):
        make(**keywords)


def test_refuses_what_is_no_question_or_no_budget():
    with pytest.raises(PlanError, match=r"give ln\.Mean"):
        make(["a"])
    with pytest.raises(BudgetError, match="of no known kind"):
        make(budget=1.0)


def test_drop_is_refused_under_substitute():
    question = ln.Mean(["a"], ln.Box([0], [1]), missing="drop")
    with pytest.raises(PlanError, match="drop"):
        make(question)
    assert make(question, relation="add_remove").terms.question.drops_missing


def test_a_million_columns_are_planned_without_a_matrix():
    d = 1_000_000
    question = ln.Mean([f"c{i}" for i in range(d)], ln.Box(np.zeros(d), np.linspace(1, 2, d)))
    plan = make(question, order=math.inf)
    assert plan.certificate.gap < 1e-8
    with pytest.raises(PlanError, match="use standard_deviation"):
        _ = plan.covariance


@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_a_plan_reads_back_exactly(relation, order, tmp_path):
    plan = make(relation=relation, order=order, budget=ln.approx_dp(0.7, 1e-9))
    plan.save(tmp_path / "plan.json")
    text = (tmp_path / "plan.json").read_text()
    again = ln.Plan.from_json(text)
    assert again.to_json() == text
    assert again.cost == plan.cost
    assert again.certificate == plan.certificate


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: t[: len(t) // 2],
        lambda t: t.replace("lownoise.plan/2", "lownoise.plan/9"),
        lambda t: t.replace("lownoise.plan/2", "lownoise.release/2"),
        lambda t: t.replace('"diagonal"', '"magic"'),
        lambda t: t.replace('"size": 100', '"size": 0'),
        lambda t: t.replace('"size": 100', '"size": null'),
        lambda t: t.replace('"order": 2.0', '"order": 1.0'),
        lambda t: t.replace('"scale"', '"scales"'),
        lambda t: t.replace('"rho": 0.5', '"rho": -1'),
        lambda t: t.replace('"rho": 0.5', '"rho": 0.4'),  # noise too small for the budget
        lambda t: t.replace('"size": 100', '"size": -100'),
        lambda t: t.replace('"size": 100', '"size": true'),
        lambda t: re.sub(r'"weights": \[\s*1.0', '"weights": [0.0', t),
        lambda t: re.sub(r'"scale": \[\s*[\d.e+]+', '"scale": [0.0', t),
        lambda t: re.sub(r'"scale": \[\s*[\d.e+]+', '"scale": [1e300', t),
        lambda t: re.sub(r'"step": \[\s*[\d.e-]+', f'"step": [{2.0**-62}', t),
        lambda t: re.sub(r'"step": \[\s*[\d.e-]+', '"step": [5e-324', t),
        lambda t: re.sub(r'"step": \[\s*[\d.e-]+', '"step": [0.3', t),
        lambda t: t.replace('"count_step": null', '"count_step": 4.0'),
        lambda t: t.replace('"drops_missing": false', '"drops_missing": true'),
        lambda t: t.replace('"drops_missing": false', '"drops_missing": "false"'),
        lambda _: "[" * 100_000,
        lambda _: "[]",
        lambda _: "",
    ],
)
def test_a_damaged_plan_is_refused_in_one_line(damage):
    text = make().to_json()
    assert damage(text) != text
    refused_plan(damage(text))


@pytest.mark.parametrize("count_step", [4.0, 5e-324, 0.3, 0.0, None, "x"])
def test_a_damaged_count_is_refused(count_step):
    text = make(relation="add_remove").to_json()
    damaged = re.sub(r'"count_step": [\d.e-]+', f'"count_step": {json.dumps(count_step)}', text)
    assert damaged != text
    refused_plan(damaged)


def test_a_plan_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        make().save(tmp_path / "no" / "plan.json")
    assert list(tmp_path.iterdir()) == []


def test_every_error_has_one_root():
    import lownoise.errors as module

    made = [k for k in vars(module).values() if isinstance(k, type)]
    made = [k for k in made if k.__module__ == module.__name__]
    kinds = [k for k in made if not issubclass(k, Warning)]  # a notice refuses nothing
    assert len(kinds) > 5
    assert all(issubclass(k, LownoiseError) for k in kinds)


@pytest.mark.parametrize(
    "question",
    [
        ln.Mean(["a"], ln.Box([0], [1])),
        ln.Marginals({"a": 2}, way=1),
        ln.Queries([[1, 0]], {"a": 2}),
    ],
    ids=lambda q: type(q).__name__,
)
def test_a_printed_plan_says_its_error_and_who_pays(question):
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    said = str(plan)
    assert said.splitlines()[0].endswith(", planned under 0.5-zCDP.")
    assert f"error in root mean square is {significant(plan.error)}" in " ".join(said.split())
    assert said.endswith(f"reading {', '.join(plan.readings[:-1])} or {plan.readings[-1]}.")
    assert all(len(line) <= 80 for line in said.splitlines())
