# SPDX-License-Identifier: Apache-2.0
"""How spends add up: exactly where a theorem is exact, never too little elsewhere."""

import math
from fractions import Fraction

import pytest
from dp_accounting import dp_event, pld
from hypothesis import given
from hypothesis import strategies as st

from lownoise.errors import BudgetError
from lownoise.privacy import (
    ApproxDPEvent,
    GaussianEvent,
    ZcdpEvent,
    approx_dp,
    gaussian_parameter,
    zcdp,
)
from lownoise.privacy.accountant import delta_spent, gaussian_square, rho_of, within
from lownoise.privacy.budget import exact
from lownoise.privacy.gaussian_curve import delta_up

MUS = st.lists(st.floats(1e-3, 10), min_size=1, max_size=6)


def test_three_spends_of_a_tenth_fill_three_tenths_exactly():
    tenth = ZcdpEvent(0.1)
    assert rho_of([tenth] * 3) == exact(0.3)
    assert within(zcdp(0.3), [tenth] * 3)
    assert not within(zcdp(0.3), [*[tenth] * 3, ZcdpEvent(1e-12)])
    assert not within(zcdp(math.nextafter(0.3, 0)), [tenth] * 3)


def test_three_epsilons_of_a_tenth_fill_three_tenths_exactly():
    third = ApproxDPEvent(0.1, 1e-9)
    budget = approx_dp(0.3, 1e-6)
    assert within(budget, [third] * 3)
    assert not within(budget, [*[third] * 3, ApproxDPEvent(1e-9, 0.0)])
    assert not within(approx_dp(math.nextafter(0.3, 0), 1e-6), [third] * 3)


@pytest.mark.parametrize("delta", [1e-6, 1e-7])
def test_one_spend_may_fill_delta_exactly(delta):
    assert within(approx_dp(1.0, delta), [ApproxDPEvent(1.0, delta)])


def test_three_deltas_of_a_ten_millionth_fill_their_sum_exactly():
    assert within(approx_dp(0.3, 3e-7), [ApproxDPEvent(0.1, 1e-7)] * 3)


def test_a_delta_that_is_full_takes_no_more():
    budget = approx_dp(1.0, 3e-9)
    assert not within(budget, [*[ApproxDPEvent(0.1, 1e-9)] * 3, ApproxDPEvent(0.0, 1e-20)])


@given(MUS)
def test_gaussian_squares_add_exactly(mus):
    events = [GaussianEvent(mu) for mu in mus]
    assert gaussian_square(events) == sum(Fraction(mu) ** 2 for mu in mus)
    assert rho_of([*events, ZcdpEvent(0.1)]) == gaussian_square(events) / 2 + Fraction(1, 10)


@given(MUS, st.floats(0.01, 20))
def test_gaussian_releases_are_one_of_the_root_of_the_summed_squares(mus, epsilon):
    root = math.sqrt(math.fsum(mu * mu for mu in mus))
    spent = delta_spent([GaussianEvent(mu) for mu in mus], epsilon)
    # never less than a release that is smaller by a few roundings, never more than a larger one
    assert delta_up(root * (1 - 1e-15), epsilon) <= spent <= delta_up(root * (1 + 1e-15), epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("mus", [[0.7], [0.3, 0.4, 0.5], [0.2] * 9, [0.1, 1.0]])
def test_gaussian_composition_is_the_convolution_of_the_privacy_losses(mus, epsilon):
    # second method: dp_accounting convolves discretised losses. Mutants seen: μ added in place of
    # μ², the largest μ alone, σ halved
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    for mu in mus:
        accountant.compose(dp_event.GaussianDpEvent(1 / mu))
    spent = delta_spent([GaussianEvent(mu) for mu in mus], epsilon)
    assert accountant.get_delta(epsilon) == pytest.approx(spent, rel=1e-3)


@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 0.1, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", [1e-15, 1.5199110829529332e-05, 1e-6, 0.0053, 0.1])
def test_one_release_may_take_the_whole_of_an_approximate_budget(epsilon, delta):
    budget = approx_dp(epsilon, delta)
    mu = gaussian_parameter(budget)
    assert within(budget, [GaussianEvent(mu)])
    assert not within(budget, [GaussianEvent(mu * (1 + 1e-12))])
    assert not within(budget, [GaussianEvent(mu), GaussianEvent(mu * 1e-3)])


@pytest.mark.parametrize("rho", [1e-12, 0.1, 0.5, 3.0, 1e6])
def test_one_release_may_take_the_whole_of_a_zcdp_budget(rho):
    mu = gaussian_parameter(zcdp(rho))
    assert within(zcdp(rho), [GaussianEvent(mu)])
    assert not within(zcdp(rho), [GaussianEvent(mu * (1 + 1e-12))])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize(("mu", "rho"), [(0.5, 0.1), (0.05, 0.5), (1.0, 0.01), (0.3, 1e-6)])
def test_a_mixture_is_never_less_than_its_parts(mu, rho, epsilon):
    gaussian, concentrated = GaussianEvent(mu), ZcdpEvent(rho)
    both = delta_spent([gaussian, concentrated], epsilon)
    assert both >= delta_spent([gaussian], epsilon)
    assert both >= delta_spent([concentrated], epsilon)
    assert both <= delta_spent([concentrated, gaussian, concentrated], epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5])
def test_a_known_rho_costs_at_least_its_gaussian(rho, epsilon):
    # the Gaussian release of μ = √(2ρ) is ρ-zCDP, so ρ alone cannot promise less
    assert delta_spent([ZcdpEvent(rho)], epsilon) >= delta_up(math.sqrt(2 * rho), epsilon)


def test_rhos_add():
    parts = delta_spent([ZcdpEvent(0.1), ZcdpEvent(0.2)], 2.0)
    assert parts == pytest.approx(delta_spent([ZcdpEvent(0.3)], 2.0), rel=1e-9)


def test_approximate_spends_add_by_basic_composition():
    events = [ApproxDPEvent(0.25, 1e-6), ApproxDPEvent(0.5, 2e-6)]
    assert delta_spent(events, 1.0) == 3e-6
    assert delta_spent(events, 0.75) == 3e-6
    assert delta_spent(events, 0.7) == 1.0
    budget = approx_dp(1.0, 1e-4)
    assert within(budget, events)
    assert not within(budget, [*events, ApproxDPEvent(0.25 + 1e-9, 0.0)])
    assert not within(budget, [*events, ApproxDPEvent(0.0, 9.8e-5)])


def test_approximate_spends_take_their_epsilon_from_the_others():
    known, release = ApproxDPEvent(0.25, 1e-6), GaussianEvent(0.3)
    exact_sum = Fraction(1, 10**6) + Fraction(delta_up(0.3, 0.75))
    spent = delta_spent([release, known], 1.0)
    assert exact_sum <= Fraction(spent) <= exact_sum * (1 + Fraction(1, 10**15))
    mixed = delta_spent([release, known, ZcdpEvent(0.01)], 1.0)
    assert mixed == pytest.approx(1e-6 + delta_spent([release, ZcdpEvent(0.01)], 0.75), rel=1e-12)


def test_the_order_of_the_spends_does_not_matter():
    events = [GaussianEvent(0.1), ZcdpEvent(0.02), ApproxDPEvent(0.1, 1e-7), GaussianEvent(0.3)]
    assert delta_spent(events, 1.0) == delta_spent(events[::-1], 1.0)
    assert rho_of([e for e in events if not isinstance(e, ApproxDPEvent)]) == Fraction(2, 100) + (
        (Fraction(0.1) ** 2 + Fraction(0.3) ** 2) / 2
    )


def test_nothing_costs_nothing():
    assert rho_of([]) == 0
    assert delta_spent([], 1.0) == 0.0
    assert within(zcdp(1e-12), [])
    assert within(approx_dp(1e-6, 1e-100), [])


def test_a_zcdp_budget_refuses_what_has_no_rho():
    with pytest.raises(BudgetError, match="has no rho; charge it to a dataset with an approx_dp"):
        within(zcdp(1.0), [ZcdpEvent(0.1), ApproxDPEvent(0.1, 1e-9)])


@pytest.mark.parametrize("budget", [None, 1.0, "zcdp", (1.0, 1e-6)])
def test_unknown_budgets_are_refused(budget):
    with pytest.raises(BudgetError, match="no known kind"):
        within(budget, [])
