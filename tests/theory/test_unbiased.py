# SPDX-License-Identifier: Apache-2.0
"""Bounds on unbiased mechanisms: every domain, order, budget and form; honest noise obeys them."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import BudgetError, LownoiseError, PlanError

DOMAINS = {
    "box": ln.Box([0, -1, 2], [1, 3, 2.5]),
    "simplex": ln.Points(np.eye(4)),
    "ball": ln.Ball(3, radius=2),
    "ellipsoid": ln.Ellipsoid([[2.0, 0.0], [1.0, 1.0]], center=[5, 5]),
    "tensors": ln.TensorPower(3, 2),
    "segment": ln.Points([[0.0, 0.0], [3.0, 4.0]]),
}
ORDERS = (2.0, 3.0, math.inf)
BUDGETS = {
    "zcdp": ln.zcdp(0.02),
    "gaussian": ln.gaussian_dp(0.4),
    "pure": ln.pure_dp(0.6),
    "approximate": ln.approx_dp(0.5, 1e-9),
    "local": ln.local_dp(0.8),
}
EVERY = pytest.mark.parametrize("name", DOMAINS)
PER_ORDER = pytest.mark.parametrize("order", ORDERS)


@pytest.mark.grid(least=3)
@EVERY
@PER_ORDER
@pytest.mark.parametrize("budget", BUDGETS)
def test_honest_noise_obeys_every_bound(name, order, budget):
    """The least Gaussian within a budget is at least the bound on the budget's mechanisms."""
    domain, own = DOMAINS[name], BUDGETS[budget]
    found = ln.theory.lower_bound(domain, own, size=20, order=order)
    assert found.value > 0
    if budget == "local":
        honest = ln.local(domain, own, order=order).error / math.sqrt(20)
    elif budget == "pure":  # the widest coordinate's own noise is below any on all
        honest = ln.theory.gaussian_bound(domain, ln.approx_dp(0.6, 1e-12), size=20, order=order)
        honest = honest.value
    else:
        honest = ln.theory.gaussian_bound(domain, own, size=20, order=order).value
    assert found.value <= honest


@pytest.mark.grid(least=3)
@EVERY
@PER_ORDER
@pytest.mark.parametrize("budget", ["zcdp", "gaussian", "pure", "local"])
def test_ours_is_never_below_the_published(name, order, budget):
    ours, theirs = (
        ln.theory.lower_bound(DOMAINS[name], BUDGETS[budget], size=7, order=order, form=form)
        for form in ("best", "published")
    )
    assert ours.value >= theirs.value > 0
    assert ours.theorem == theirs.theorem
    assert ours.ours != theirs.ours


def test_the_published_constants_are_a_half():
    """On a symmetric domain Γ(K − K) = 2Γ(K): the ratios say which constants were used."""
    ball, rho, epsilon = ln.Ball(4), 1e-7, 1e-4
    gamma = 2.0
    found = ln.theory.concentrated_bound(ball, ln.zcdp(rho), size=1, form="published")
    assert found.value == pytest.approx(gamma / (2 * math.sqrt(2 * rho)), rel=1e-5)
    found = ln.theory.pure_bound(ball, ln.pure_dp(epsilon), size=1, form="published")
    assert found.value == pytest.approx(gamma / (2 * epsilon), rel=1e-5)
    found = ln.theory.pure_bound(ball, ln.pure_dp(epsilon), size=1)
    assert found.value == pytest.approx(2 * gamma / epsilon, rel=1e-5)
    found = ln.theory.local_bound(ball, ln.local_dp(epsilon), size=25)
    assert found.value == pytest.approx(2 * gamma / (5 * epsilon), rel=1e-5)
    alone = ln.theory.pure_bound(ball, ln.pure_dp(epsilon), relation="add_remove")
    assert alone.value == pytest.approx(gamma / epsilon, rel=1e-5)


@pytest.mark.parametrize("odds", [1.2, 1.7, 2.0])
def test_randomised_response_attains_the_pure_and_the_local_bound(odds):
    epsilon = math.log(odds)
    truth = odds / (1 + odds)
    deviation = math.sqrt(truth * (1 - truth)) / (2 * truth - 1)
    bit = ln.Box([0], [1])
    local = ln.theory.local_bound(bit, ln.local_dp(epsilon), size=16)
    assert local.value == pytest.approx(deviation / 4, rel=1e-6)
    assert ln.theory.pure_bound(bit, ln.pure_dp(epsilon), size=1).value == pytest.approx(deviation)


@pytest.mark.grid
@EVERY
@PER_ORDER
def test_small_delta_comes_to_the_pure_bound(name, order):
    pure = ln.theory.pure_bound(DOMAINS[name], ln.pure_dp(0.5), size=9, order=order).value
    found = [
        ln.theory.approximate_bound(
            DOMAINS[name], ln.approx_dp(0.5, delta), size=9, order=order
        ).value
        for delta in (1e-4, 1e-8, 1e-12)
    ]
    assert found == sorted(found)
    assert 0.8 * pure < found[-1] < pure


@pytest.mark.grid(3)
@EVERY
def test_the_two_clauses_hold_together_what_one_promises(name):
    budget = ln.approx_dp(0.5, 1e-9)
    both = ln.theory.approximate_bound(DOMAINS[name], budget, size=9)
    for share in (0.01, 0.1, 0.5, 0.9):
        one = ln.theory.approximate_bound(DOMAINS[name], budget, size=9, share=share)
        assert min(one.value, one.alternative.value) <= both.value * (1 + 1e-9)
        assert one.over == "the dataset"
        assert one.alternative.over == "a neighbour"


@pytest.mark.grid
@EVERY
@PER_ORDER
def test_distributions_and_records_come_together_for_small_budgets(name, order):
    """Laws under nearby distributions are about e^ε − 1 apart, the published 6ε."""
    domain, budget = DOMAINS[name], ln.pure_dp(0.01)
    records = ln.theory.pure_bound(domain, budget, size=50, order=order).value
    ours = ln.theory.distributional_bound(domain, budget, size=50, order=order)
    theirs = ln.theory.distributional_bound(domain, budget, size=50, order=order, form="published")
    assert 0.99 < ours.value / records <= 1
    assert theirs.value / ours.value == pytest.approx(1 / 6, rel=0.02)
    assert ours.over == "every distribution"
    clauses = ln.theory.distributional_bound(domain, ln.approx_dp(0.5, 1e-12), size=5, share=0.2)
    assert "1/n" in clauses.alternative.over


@EVERY
def test_an_enclosure_will_do_and_is_never_more(name):
    domain, budget = DOMAINS[name], ln.zcdp(0.1)
    exact = ln.theory.concentrated_bound(domain, budget, size=3).value
    found = ln.theory.concentrated_bound(ln.theory.enclose(domain), budget, size=3).value
    d = domain.dimension
    assert 0.99 * math.sqrt((d + 1) / (2 * d)) * exact <= found <= exact * (1 + 1e-6)


@pytest.mark.parametrize("budget", ["zcdp", "pure", "approximate"])
def test_it_scales_with_domain_weights_and_size(budget):
    own = BUDGETS[budget]
    box = ln.Box([0, 0], [1, 3])
    one = ln.theory.lower_bound(box, own, size=4).value
    assert ln.theory.lower_bound(ln.Box([0, 0], [2, 6]), own, size=4).value == pytest.approx(
        2 * one
    )
    assert ln.theory.lower_bound(box, own, size=8).value == pytest.approx(one / 2)
    weighted = ln.theory.lower_bound(box, own, size=4, weights=[3, 1]).value
    turned = ln.theory.lower_bound(box, own, size=4, workload=[[3, 0], [0, 1]]).value
    wider = ln.theory.lower_bound(ln.Box([0, 0], [3, 3]), own, size=4).value
    assert weighted == pytest.approx(wider) == pytest.approx(turned)


square_error = ln.theory.power_error(2.0)

REFUSED = [
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.zcdp(1), size=3), BudgetError),
    (lambda: ln.theory.concentrated_bound(ln.Ball(2), ln.pure_dp(1), size=3), BudgetError),
    (lambda: ln.theory.approximate_bound(ln.Ball(2), 1.0, size=3), BudgetError),
    (lambda: ln.theory.local_bound(ln.Ball(2), ln.local_dp(1, 1e-6), size=3), BudgetError),
    (lambda: ln.theory.distributional_bound(ln.Ball(2), ln.zcdp(1), size=3), BudgetError),
    (lambda: ln.theory.lower_bound(ln.Ball(2), None, size=3), BudgetError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1)), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=0), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=2.5), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=10**400), PlanError),
    (lambda: ln.theory.gaussian_bound(ln.Ball(2), ln.zcdp(1), size=10**400), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=True), PlanError),
    (
        lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=3, relation="add_remove"),
        PlanError,
    ),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=3, relation="any"), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=3, order=1.5), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=3, form="better"), PlanError),
    (lambda: ln.theory.pure_bound(ln.Ball(2), ln.pure_dp(1), size=3, weights=[1]), PlanError),
    (
        lambda: ln.theory.approximate_bound(
            ln.Ball(2), ln.approx_dp(1, 1e-6), size=3, share=math.nan
        ),
        PlanError,
    ),
    (
        lambda: ln.theory.pure_bound(ln.theory.enclose(ln.Ball(2), order=4), ln.pure_dp(1), size=3),
        PlanError,
    ),
    (
        lambda: ln.theory.pure_bound(
            ln.theory.enclose(ln.difference_body(ln.Points(np.eye(3)))), ln.pure_dp(1), size=3
        ),
        PlanError,
    ),
    (lambda: ln.theory.pure_bound("ball", ln.pure_dp(1), size=3), LownoiseError),
    (lambda: ln.theory.approximate_bound("ball", ln.approx_dp(1, 1e-6), size=3), LownoiseError),
    (
        lambda: ln.theory.approximate_bound(ln.Ball(2), ln.approx_dp(1, 1e-6), size=3, workload=5),
        PlanError,
    ),
    (
        lambda: ln.theory.approximate_bound(ln.Ball(2), ln.approx_dp(1, 1e-6), size=3, share="x"),
        PlanError,
    ),
    (lambda: ln.theory.variance_bound(ln.Ball(2), ln.zcdp(500), square_error, size=3), PlanError),
    (
        lambda: ln.theory.enclose_convex(ln.Ball(2), ln.theory.power_error(weights=[1, 2, 3])),
        PlanError,
    ),
    (lambda: ln.theory.enclose_convex(ln.Ball(2), ln.theory.largest_error(np.eye(3))), PlanError),
    (lambda: ln.theory.enclose_convex(ln.Ball(2), square_error, iterations=0), PlanError),
    (lambda: ln.theory.least_isotropic_constant(0), PlanError),
    (lambda: ln.theory.most_isotropic_constant(-1), PlanError),
    (lambda: ln.theory.volume_bound([[1e200]], ln.pure_dp(1)), PlanError),
    (lambda: ln.theory.trace_norm_upper([[1e-300]]), PlanError),
    (lambda: ln.theory.factorization_error([[1e-200]], [[1e150]], ln.zcdp(1)), PlanError),
    (lambda: ln.theory.exact_on([[1e300]], delta=0.1), PlanError),
    (lambda: ln.theory.gaussian_bound(ln.Ball(2), ln.local_dp(1), size=3), BudgetError),
]


@pytest.mark.parametrize(("call", "error"), REFUSED)
def test_what_is_out_of_range_is_refused_in_one_line(call, error):
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value)


@pytest.mark.parametrize("epsilon", [10.0, 1000.0])
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("size", [3, 10**6])
def test_every_budget_has_a_bound_on_distributions(epsilon, delta, size):
    """e^{ε'} = (1 + (e^ε − 1)/n)^n is beyond the floats for budgets that are not."""
    budget = ln.approx_dp(epsilon, delta) if delta else ln.pure_dp(epsilon)
    found = ln.theory.distributional_bound(ln.Box([0], [1]), budget, size=size)
    records = ln.theory.lower_bound(ln.Box([0], [1]), budget, size=size)
    assert 0 <= found.value <= records.value


def test_the_published_bound_on_distributions_is_refused_where_its_lemma_fails():
    """Chances ∝ e^{ε·count} of n bits are ε' apart where one more is 1 with chance 1/n each."""
    bit, size = ln.Box([0], [1]), 1000
    for epsilon in (0.5, 2.8, 2.9, 5.0):
        apart = size * math.log1p(math.expm1(epsilon) / size)
        budget = ln.pure_dp(epsilon)
        if apart <= 6 * epsilon:
            theirs = ln.theory.distributional_bound(bit, budget, size=size, form="published").value
            assert theirs <= ln.theory.distributional_bound(bit, budget, size=size).value
        else:
            with pytest.raises(PlanError, match="Lemma 57"):
                ln.theory.distributional_bound(bit, budget, size=size, form="published")


def test_one_point_needs_no_error():
    one = ln.Points([[1.0, 2.0]])
    for budget in BUDGETS.values():
        assert ln.theory.lower_bound(one, budget, size=2).value == 0


def test_a_bound_reads_as_a_sentence():
    found = ln.theory.approximate_bound(ln.Ball(2), ln.approx_dp(1, 1e-9), size=10, share=0.1)
    said = str(found)
    assert said.startswith("(E‖error of the mean‖_2²)^{1/2} ≥ ")
    assert "; or (E" in said
    assert "Nikolov & Tang 2023, Theorems 51 and 52" in said
