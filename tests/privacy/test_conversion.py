# SPDX-License-Identifier: Apache-2.0
"""What a guarantee implies: tight, safe, and refused where nothing follows."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event, rdp

import lownoise as ln
from lownoise.errors import BudgetError
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.privacy.events import ApproxDPEvent, GaussianEvent, ZcdpEvent
from lownoise.privacy.gaussian_curve import delta_up
from lownoise.privacy.readings import spent, within

RHOS = [1e-6, 1e-3, 0.1, 1.0, 30.0]
DELTAS = [1e-15, 1e-6, 0.01, 0.1]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_zcdp_gives_the_epsilon_of_its_best_order(rho, delta):
    """Second method: the formula in mpmath on a fine grid of orders; ours is never below it."""
    found = ln.convert(ln.zcdp(rho), "approx_dp", delta=delta).epsilon
    with mpmath.workdps(50):
        excess = [mpmath.mpf(10) ** x for x in np.linspace(-4, 12, 3000)]
        best = min(
            (1 + e) * mpmath.mpf(rho)
            + (-mpmath.log(delta) - mpmath.log(1 + e)) / e
            - mpmath.log(1 + 1 / e)
            for e in excess
        )
    assert (
        max(float(best), 0) * (1 - 1e-4) - 1e-12
        <= found
        <= max(float(best), 0) * (1 + 1e-12) + 1e-12
    )


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.0])
def test_zcdp_agrees_with_dp_accounting(rho):
    accountant = rdp.RdpAccountant(orders=1 + np.logspace(-3, 4, 2000))
    accountant.compose(dp_event.ZCDpEvent(rho))
    found = ln.convert(ln.zcdp(rho), "approx_dp", delta=1e-6).epsilon
    assert found == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-4)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_zcdp_is_safe_for_the_gaussian_that_has_it(rho, delta):
    """A Gaussian of that ρ has less than δ left at the ε that was found."""
    epsilon = ln.convert(ln.zcdp(rho), "approx_dp", delta=delta).epsilon
    assert delta_up(math.sqrt(2 * rho), epsilon) <= delta


def test_gaussian_dp_gives_its_exact_curve_and_its_rho():
    assert ln.convert(ln.gaussian_dp(2.0), "zcdp") == ln.zcdp(2.0)
    at = ln.convert(ln.gaussian_dp(0.7), "approx_dp", delta=1e-5)
    assert delta_up(0.7, at.epsilon) <= 1e-5 < delta_up(0.7, at.epsilon * (1 - 1e-9))


def test_rho_of_a_decimal_mu_is_not_a_bit_too_small():
    for k in range(1, 3000):
        mu = k / 1000
        rho = ln.convert(ln.gaussian_dp(mu), "zcdp").rho
        assert Fraction(repr(rho)) >= Fraction(repr(mu)) ** 2 / 2


def test_delta_is_never_zero_by_underflow():
    assert spent(ln.approx_dp(1000, 1e-6), ZcdpEvent(1e-6)).delta > 0


def test_every_budget_is_itself():
    assert ln.convert(ln.zcdp(1), "zcdp") == ln.zcdp(1)
    assert ln.convert(ln.gaussian_dp(1), "gaussian_dp") == ln.gaussian_dp(1)
    assert ln.convert(ln.approx_dp(1, 1e-6), "approx_dp", delta=1e-5) == ln.approx_dp(1, 1e-5)


@pytest.mark.parametrize(
    ("budget", "kind", "delta", "said"),
    [
        (ln.zcdp(1), "gaussian_dp", None, "implies no known mu"),
        (ln.approx_dp(1, 1e-6), "zcdp", None, "implies no zcdp"),
        (ln.approx_dp(1, 1e-6), "gaussian_dp", None, "implies no gaussian_dp"),
        (ln.approx_dp(1, 1e-6), "approx_dp", 1e-7, "below that of"),
        (ln.zcdp(1), "approx_dp", None, "does not fit"),
        (ln.zcdp(1), "zcdp", 0.1, "does not fit"),
        (ln.zcdp(1), "approx_dp", 2, "delta=2"),
        (ln.zcdp(1), "pure", None, "kind='pure' is unknown"),
        (3, "zcdp", None, "no known kind"),
    ],
)
def test_what_does_not_follow_is_refused(budget, kind, delta, said):
    with pytest.raises(BudgetError, match=re.escape(said)) as refusal:
        ln.convert(budget, kind, delta=delta)
    assert "\n" not in str(refusal.value)


def test_a_gaussian_budget_plans_pays_and_is_filled_exactly(tmp_path):
    import pandas as pd

    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])),
        budget=ln.gaussian_dp(0.3),
        relation="substitute",
        size=5,
    )
    assert 0.3 * (1 - 1e-9) <= plan.cost.mu <= 0.3
    assert plan.verify()
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.gaussian_dp(0.3))
    plan.release(pd.DataFrame({"a": [0.5] * 5}), ledger)
    assert ledger.spent().mu <= 0.3
    with pytest.raises(ln.errors.LedgerError, match=r"too little of its 0\.3-GDP"):
        plan.release(pd.DataFrame({"a": [0.5] * 5}), ledger)
    assert ln.Ledger(tmp_path / "l", "d").budget() == ln.gaussian_dp(0.3)


def test_gaussian_budgets_refuse_what_has_no_mu():
    budget = ln.gaussian_dp(0.5)
    assert within(budget, GaussianEvent(0.5))
    assert not within(budget, GaussianEvent(0.51))
    assert spent(budget, GaussianEvent(0.25)).mu == 0.25
    for event in (ZcdpEvent(0.01), ApproxDPEvent(0.1, 1e-9)):
        with pytest.raises(BudgetError, match=r"alone cannot be paid where mu² adds up"):
            within(budget, event)


@pytest.mark.parametrize("mu", [0, -1, math.inf, math.nan, "x", True, 1e4])
def test_gaussian_budgets_out_of_range(mu):
    with pytest.raises(BudgetError, match=r"gaussian_dp\.mu"):
        ln.gaussian_dp(mu)


@pytest.mark.parametrize(
    "budget",
    [ln.zcdp(0.1), ln.approx_dp(1, 1e-6), ln.gaussian_dp(0.2), ln.pure_dp(0.1)],
)
def test_budgets_are_written_and_read(budget):
    assert budget_from_dict(budget_to_dict(budget)) == budget
    assert budget.event is not None
    for wrong in ({"kind": "pure"}, {}, {**budget_to_dict(budget), "x": 1}):
        with pytest.raises(BudgetError):
            budget_from_dict(wrong)
