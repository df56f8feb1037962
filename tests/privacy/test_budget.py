# SPDX-License-Identifier: Apache-2.0
"""Budgets: what is refused, in which words, and the most one Gaussian release may reveal."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lownoise.errors import BudgetError, LownoiseError, quoted_number
from lownoise.numbers.rounding import exact
from lownoise.privacy import ApproxDP, Zcdp, approx_dp, gaussian_dp, zcdp
from lownoise.privacy.budget import checked_budget
from lownoise.privacy.gaussian_curve import parameter_down

NOT_NUMBERS = ["abc", "", "nan", "0.5", b"1", True, None, [1.0], 10**400, 1j]


def refusal(make, *arguments):
    with pytest.raises(BudgetError) as caught:
        make(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    assert "; give " in text  # the remedy
    return text


@pytest.mark.parametrize("rho", [0, 0.0, -0.0, -1, -1e-300, 1e-13, 2e6, math.inf, -math.inf])
def test_rho_out_of_range_is_named_with_its_value(rho):
    text = refusal(zcdp, rho)
    assert f"zcdp.rho={float(rho):g} " in text


@pytest.mark.parametrize("epsilon", [0, 0.0, -1, 1e-7, 1e4, math.inf, -math.inf])
def test_epsilon_out_of_range_is_named_with_its_value(epsilon):
    text = refusal(approx_dp, epsilon, 1e-6)
    assert f"approx_dp.epsilon={float(epsilon):g} " in text
    assert "delta" not in text


@pytest.mark.parametrize("delta", [0, 0.0, 1, 1.0, -1e-6, 1.5, 1e-101, math.inf, -math.inf])
def test_delta_out_of_range_is_named_with_its_value(delta):
    text = refusal(approx_dp, 1.0, delta)
    assert f"approx_dp.delta={float(delta):g} " in text
    assert ("ln.pure_dp" in text) == (delta == 0)
    assert "approx_dp.epsilon" not in text


@pytest.mark.parametrize("nan", [math.nan, np.float64("nan")])
def test_nan_is_refused(nan):
    assert "zcdp.rho=nan" in refusal(zcdp, nan)
    assert "approx_dp.epsilon=nan" in refusal(approx_dp, nan, 1e-6)
    assert "approx_dp.delta=nan" in refusal(approx_dp, 1.0, nan)


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_what_is_no_number_is_refused(value):
    said = f"={quoted_number(value)} is not a number"
    assert f"zcdp.rho{said}" in refusal(zcdp, value)
    assert f"approx_dp.epsilon{said}" in refusal(approx_dp, value, 1e-6)
    assert f"approx_dp.delta{said}" in refusal(approx_dp, 1.0, value)


def test_a_refusal_can_be_caught_as_any_of_this_library():
    assert issubclass(BudgetError, LownoiseError)


def test_budgets_are_values():
    assert zcdp(1) == zcdp(1.0) == Zcdp(1.0)
    assert approx_dp(1, 1e-6) == ApproxDP(1.0, 1e-6) != approx_dp(1, 1e-7)
    assert (str(zcdp(0.5)), str(approx_dp(1, 1e-6))) == ("0.5-zCDP", "(1, 1e-06)-DP")
    with pytest.raises(dataclasses.FrozenInstanceError):
        zcdp(1.0).rho = 2.0


@pytest.mark.parametrize("value", [1e-12, 1e6])
def test_the_ends_of_rho_are_allowed(value):
    assert zcdp(value).rho == value


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-100), (1e3, math.nextafter(1.0, 0.0))])
def test_the_ends_of_epsilon_and_delta_are_allowed(epsilon, delta):
    assert approx_dp(epsilon, delta) == ApproxDP(epsilon, delta)


@pytest.mark.parametrize(
    ("typed", "decimal"),
    [(0.1, "1/10"), (0.3, "3/10"), (1e-12, "1/1000000000000"), (2, "2"), (1e22, str(10**22))],
)
def test_numbers_mean_the_decimals_that_were_typed(typed, decimal):
    assert exact(typed) == Fraction(decimal)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_read_back_as_the_number(number):
    assert float(exact(number)) == number


@given(st.floats(1e-12, 1e6))
@example(0.1)
@example(0.5)
@example(106748.98586048934)
@example(2.0)
@example(1e-12)
@example(1e6)
def test_the_zcdp_parameter_is_the_last_float_that_fits(rho):
    mu = zcdp(rho).gaussian_parameter()
    # a Gaussian of parameter μ is μ²/2-zCDP and no less; ρ is read as its decimal and its float
    assert Fraction(mu) ** 2 <= 2 * exact(rho)
    assert Fraction(mu) ** 2 <= 2 * Fraction(rho)
    assert Fraction(math.nextafter(mu, math.inf)) ** 2 > 2 * min(exact(rho), Fraction(rho))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (10.0, 0.1)])
def test_the_approx_parameter_is_the_curve_s(epsilon, delta):
    assert approx_dp(epsilon, delta).gaussian_parameter() == parameter_down(epsilon, delta)


@pytest.mark.parametrize("budget", [None, 1.0, "zcdp", (1.0, 1e-6)])
def test_unknown_budgets_are_refused(budget):
    with pytest.raises(BudgetError, match="no known kind"):
        checked_budget(budget)


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.7, 1.0])
def test_a_gaussian_budget_allows_no_more_than_its_decimal(mu):
    """The float of 0.1 is above 1/10."""
    found = Fraction(gaussian_dp(mu).gaussian_parameter())
    assert found <= min(exact(mu), Fraction(mu)) < Fraction(math.nextafter(float(found), math.inf))
