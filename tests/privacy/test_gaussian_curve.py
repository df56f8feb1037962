# SPDX-License-Identifier: Apache-2.0
"""The Gaussian privacy curve: always on the safe side of 60 digits, and never far from it."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from lownoise.privacy.gaussian_curve import delta_up, epsilon_up, last_true, parameter_down

CLOSE = 1e-12  # relative
EPSILONS = np.geomspace(1e-3, 50, 11).tolist()
DELTAS = np.geomspace(1e-15, 0.1, 9).tolist()
PARAMETERS = np.geomspace(1e-3, 50, 11).tolist()
GRID = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]


def curve(mu, epsilon):
    """Return δ(ε; μ) by mpmath's own erfc, 60 digits beyond what the subtraction takes."""
    with mpmath.workdps(90):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        root = mpmath.sqrt(2)
        right = mpmath.erfc((epsilon / mu - mu / 2) / root) / 2
        left = mpmath.erfc((epsilon / mu + mu / 2) / root) / 2
        return right - mpmath.exp(epsilon) * left


def test_the_oracle_is_the_curve_by_quadrature():
    # δ = ∫ max(p − e^ε q, 0) for p = N(μ, 1), q = N(0, 1): another road to the same number
    for mu, epsilon in [(1.0, 1.0), (0.5, 0.1), (3.0, 2.0)]:
        with mpmath.workdps(30):
            start = mpmath.mpf(epsilon) / mu + mpmath.mpf(mu) / 2
            area = mpmath.quad(
                lambda x, mu=mu, epsilon=epsilon: (
                    mpmath.npdf(x, mu) - mpmath.exp(epsilon) * mpmath.npdf(x)
                ),
                [start, start + 2, start + 6, start + 40],
            )
            assert abs(area / curve(mu, epsilon) - 1) < 1e-20


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_parameter_is_safe_and_not_wasteful(epsilon, delta):
    mu = parameter_down(epsilon, delta)
    assert curve(mu, epsilon) <= delta
    assert curve(mu * (1 + CLOSE), epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_delta_of_the_greatest_parameter_is_within_the_delta_asked(epsilon, delta):
    # else a release calibrated to a whole budget would be refused by it
    assert delta_up(parameter_down(epsilon, delta), epsilon) <= delta


@pytest.mark.parametrize("near", [None, 1e-300, 1.2, 1.25, np.nextafter(1.25, 2), 1e5, math.inf])
def test_wherever_a_search_looks_first_it_finds_the_same(near):
    assert last_true(lambda x: x <= 1.25, 2.0**-1000, 1e6, near) == 1.25


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 50.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-100, 1e-30, 0.5, 0.999, 1 - 2.0**-53])
def test_the_parameter_at_the_ends_of_the_budgets(epsilon, delta):
    test_the_parameter_is_safe_and_not_wasteful(epsilon, delta)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("epsilon", [0.0, *EPSILONS])
@pytest.mark.parametrize("mu", PARAMETERS)
def test_delta_is_safe_and_tight(mu, epsilon):
    exact = curve(mu, epsilon)
    result = delta_up(mu, epsilon)
    assert exact <= result <= 1.0
    assert result <= exact * (1 + CLOSE) or result == math.nextafter(0.0, 1.0)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("delta", [*DELTAS, 1e-100, 0.9])
@pytest.mark.parametrize("mu", PARAMETERS)
def test_epsilon_is_safe_and_tight(mu, delta):
    epsilon = epsilon_up(mu, delta)
    assert curve(mu, epsilon) <= delta
    assert epsilon == 0.0 or curve(mu, epsilon * (1 - CLOSE)) > delta


def test_no_release_costs_nothing():
    assert delta_up(0.0, 0.0) == delta_up(0.0, 1.0) == 0.0
    assert epsilon_up(0.0, 1e-6) == 0.0


@pytest.mark.parametrize("mu", [1e3, 1e30, 1e100, 1e300, math.inf])
def test_a_release_without_noise_costs_everything(mu):
    assert delta_up(mu, 1.0) == 1.0


SIZES = st.floats(1e-3, 50)
CHANCES = st.floats(-34, -2).map(math.exp)


@given(SIZES, SIZES, st.floats(0, 50))
def test_delta_rises_with_the_parameter(one, other, epsilon):
    assert delta_up(min(one, other), epsilon) <= delta_up(max(one, other), epsilon)


@given(SIZES, st.floats(0, 50), st.floats(0, 50))
def test_delta_falls_with_epsilon(mu, one, other):
    assert delta_up(mu, max(one, other)) <= delta_up(mu, min(one, other))


@given(SIZES, SIZES, CHANCES, CHANCES)
def test_the_parameter_rises_with_both(epsilon, other_epsilon, delta, other_delta):
    low = parameter_down(min(epsilon, other_epsilon), min(delta, other_delta))
    assert low <= parameter_down(max(epsilon, other_epsilon), max(delta, other_delta))


@given(SIZES, SIZES, CHANCES)
def test_epsilon_rises_with_the_parameter(one, other, delta):
    assert epsilon_up(min(one, other), delta) <= epsilon_up(max(one, other), delta)


@given(SIZES, CHANCES)
def test_epsilon_and_parameter_are_inverses(epsilon, delta):
    back = epsilon_up(parameter_down(epsilon, delta), delta)
    assert epsilon * (1 - 1e-9) <= back <= epsilon


@pytest.mark.parametrize(("mu", "epsilon"), [(0.05, 0.1), (0.3, 1.0), (1.0, 1.0), (2.5, 4.0)])
def test_a_privacy_loss_distribution_finds_the_same_curve(mu, epsilon):
    # discretised and convolved by other hands: the one mutant that mpmath above would share is a
    # wrong formula. Mutants seen: μ halved or doubled, e^ε dropped, ε/μ in place of ε/μ − μ/2
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        1 / mu,
        value_discretization_interval=1e-4,
    )
    assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(delta_up(mu, epsilon), rel=1e-3)
    assert pld.get_epsilon_for_delta(1e-6) == pytest.approx(epsilon_up(mu, 1e-6), rel=1e-3)
