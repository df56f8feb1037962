# SPDX-License-Identifier: Apache-2.0
"""Pure privacy: what it implies, held against randomised response itself, and how it adds up."""

import json
import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from lownoise import learning
from lownoise.errors import BudgetError, FileError, LedgerError, quoted_number
from lownoise.noise.baselines import split_laplace
from lownoise.numbers.rounding import decimal_up, exact
from lownoise.privacy import (
    PureDP,
    PureDPEvent,
    PureNoiseEvent,
)
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.privacy.events import event_from_text, event_to_text
from lownoise.privacy.pure_curve import mu_square_up, rho_up
from lownoise.privacy.readings import within

EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.7, 5.0, 30.0, 300.0, 1000.0]


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


def response(epsilon):
    """Return the chances of the true and the false answer of randomised response."""
    odds = mpmath.exp(mpmath.mpf(epsilon))
    return odds / (1 + odds), 1 / (1 + odds)


def phi(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize("epsilon", [0, -1, -1e-300, 1e-7, 1e4, math.inf, -math.inf, math.nan])
def test_epsilon_out_of_range_is_named_with_its_value(epsilon):
    said = re.escape(f"pure_dp.epsilon={float(epsilon):g} is out of range; give at least 1e-06 ")
    with pytest.raises(BudgetError, match=f"^{said}.*$"):
        ln.pure_dp(epsilon)


@pytest.mark.parametrize("epsilon", ["abc", "1", b"1", True, None, [1.0], 10**400, 1j])
def test_what_is_no_number_is_refused(epsilon):
    said = f"pure_dp.epsilon={quoted_number(epsilon)} is not a number; give one in [1e-06, 1000]"
    with pytest.raises(BudgetError, match=f"^{re.escape(said)}$"):
        ln.pure_dp(epsilon)


@pytest.mark.parametrize("delta", [1e-6, 0, 0.0, "x", math.nan])
def test_a_delta_is_refused_with_the_budget_that_has_one(delta):
    with pytest.raises(BudgetError, match=r"^pure_dp\.delta=.* or give ln\.approx_dp.*$"):
        ln.pure_dp(1.0, delta)


def test_pure_budgets_are_values():
    assert ln.pure_dp(1) == PureDP(1.0) != ln.pure_dp(2)
    assert str(ln.pure_dp(0.5)) == "0.5-DP"
    assert (ln.pure_dp(1e-6).epsilon, ln.pure_dp(1000).epsilon) == (1e-6, 1000.0)
    assert budget_to_dict(ln.pure_dp(0.1)) == {"kind": "pure_dp", "epsilon": 0.1}
    assert budget_from_dict({"kind": "pure_dp", "epsilon": 0.1}) == ln.pure_dp(0.1)
    assert ln.pure_dp(0.1).event == PureDPEvent(0.1)
    for extra in ({"delta": 1e-6}, {"rho": 1}):
        with pytest.raises(BudgetError):
            budget_from_dict({"kind": "pure_dp", "epsilon": 0.1, **extra})


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**6))
def test_a_number_rounded_up_is_above_however_it_is_read(number):
    found = decimal_up(number)
    assert min(Fraction(found), exact(found)) >= number
    below = math.nextafter(found, 0)
    assert min(Fraction(below), exact(below)) < number


# ---------------------------------------------------------------- no Gaussian keeps it


@pytest.mark.parametrize(
    "ask",
    [
        lambda budget: budget.gaussian_parameter(),
        lambda budget: learning.plan(
            learning.Logistic(), features=3, records=60, clip=1.0, radius=2.0, budget=budget
        ),
    ],
)
def test_questions_with_gaussian_noise_refuse_a_pure_budget_with_the_remedy(ask):
    with pytest.raises(
        BudgetError, match=r"no Gaussian noise keeps.*; give ln\.approx_dp"
    ) as caught:
        ask(ln.pure_dp(1.0))
    assert "\n" not in str(caught.value)
    assert "1-DP" in str(caught.value)


def test_a_file_of_a_gaussian_plan_cannot_claim_a_pure_budget():
    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=5
    )
    fields = json.loads(plan.to_json())
    text = json.dumps(fields).replace(
        '"kind": "zcdp", "rho": 0.5', '"kind": "pure_dp", "epsilon": 1'
    )
    assert "pure_dp" in text
    with pytest.raises(FileError, match="no Gaussian noise keeps"):
        ln.Plan.from_json(text)


# ---------------------------------------------------------------- what it implies


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_the_most_that_randomised_response_has_and_no_more(epsilon):
    """Second method: its Rényi divergences by their definition, and their limit at order 1."""
    rho = mpmath.mpf(ln.convert(ln.pure_dp(epsilon), "zcdp").rho)
    p, q = response(epsilon)
    for excess in np.logspace(-6, 3, 40):
        a = 1 + mpmath.mpf(excess)
        renyi = mpmath.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)
        assert renyi <= rho * a
    relative_entropy = p * mpmath.log(p / q) + q * mpmath.log(q / p)
    assert relative_entropy <= rho <= relative_entropy * (1 + mpmath.mpf(1e-15))
    assert rho <= mpmath.mpf(epsilon) ** 2 / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_mu_is_the_least_whose_curve_lies_below_randomised_response(epsilon):
    """Second method: the two trade-off curves point by point, and at the corner they touch."""
    mu = mpmath.mpf(ln.convert(ln.pure_dp(epsilon), "gaussian_dp").mu)
    p, q = response(epsilon)
    odds = p / q
    # what the best test of level Φ(−t) misses, for thresholds t around the corner's, μ/2
    for t in np.linspace(-4, float(mu) + 4, 41) if epsilon <= 30 else ():
        level, missed = phi(-mpmath.mpf(t)), phi(mpmath.mpf(t) - mu)
        assert missed <= max(1 - odds * level, (1 - level) / odds)
    assert phi(-mu / 2) <= q
    assert phi(-mu * (1 - mpmath.mpf(1e-15)) / 2) > q


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-100, 1e-15, 1e-6, 0.01, 0.4, 0.49999999, 0.9])
def test_epsilon_at_a_delta_is_the_least_of_randomised_response(epsilon, delta):
    found = ln.convert(ln.pure_dp(epsilon), "approx_dp", delta=delta)
    assert found.delta == delta
    assert 0 <= found.epsilon <= epsilon
    mpmath.mp.dps = 600  # 1 and 1 − 1e-100 apart, and e^1000
    p, q = response(epsilon)

    def left(at):
        return max(p - mpmath.exp(at) * q, mpmath.mpf(0))

    assert left(mpmath.mpf(found.epsilon)) <= delta
    if found.epsilon:
        least = mpmath.log((p - mpmath.mpf(delta)) / q)
        assert abs(found.epsilon - least) <= 2 * math.ulp(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
def test_a_laplace_release_has_no_more_than_what_is_implied(epsilon, delta):
    """Another pure mechanism: Laplace at the same ε, whose δ is 1 − e^{(ε′ − ε)/2}."""
    at = ln.convert(ln.pure_dp(epsilon), "approx_dp", delta=delta).epsilon
    assert 1 - mpmath.exp((mpmath.mpf(at) - epsilon) / 2) <= delta
    rho = ln.convert(ln.pure_dp(epsilon), "zcdp").rho
    assert epsilon + math.exp(-epsilon) - 1 < rho  # its relative randomness


def test_what_is_implied_grows_with_epsilon():
    grid = [ln.pure_dp(e) for e in np.logspace(-6, 3, 300)]
    for told in (
        [ln.convert(b, "zcdp").rho for b in grid],
        [ln.convert(b, "gaussian_dp").mu for b in grid],
        [ln.convert(b, "approx_dp", delta=1e-6).epsilon for b in grid],
    ):
        assert told == sorted(told)


@pytest.mark.parametrize("epsilon", ["5e-324", "1e-300", "1e-20", "1e3", "1001", "1e5", "1e300"])
def test_events_of_any_size_are_bounded(epsilon):
    number = Fraction(epsilon)
    assert 0 < rho_up(number) <= min(number**2 / 2, number)
    square = mu_square_up(number)
    ratio = float(square / number if number > 1 else square / number**2)
    assert ratio <= 8
    if 1e-300 <= number < 1:
        assert ratio == pytest.approx(math.pi / 2)
    assert not within(ln.approx_dp(1, 1e-6), PureDPEvent(1.7e308))


def test_pure_implies_itself_and_nothing_implies_pure():
    assert ln.convert(ln.pure_dp(0.7), "pure_dp") == ln.pure_dp(0.7)
    for budget in (ln.zcdp(1), ln.gaussian_dp(1), ln.approx_dp(1, 1e-6)):
        with pytest.raises(BudgetError, match=r"implies no pure_dp.*; state ln\.pure_dp"):
            ln.convert(budget, "pure_dp")
    with pytest.raises(BudgetError, match="does not fit pure_dp"):
        ln.convert(ln.pure_dp(1), "pure_dp", delta=1e-6)


# ---------------------------------------------------------------- the ledger


def test_an_account_with_a_pure_budget_is_filled_exactly(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "people", ln.pure_dp(0.3))
    assert ledger.budget() == ln.pure_dp(0.3)
    for _ in range(3):
        ledger.charge(ln.pure_dp(0.1), "a survey")
    assert ledger.spent() == ln.pure_dp(0.3)
    assert [e.event for e in ledger.entries()] == [PureDPEvent(0.1)] * 3
    with pytest.raises(LedgerError, match=r"has too little of its 0\.3-DP left"):
        ledger.reserve(PureDPEvent(1e-9))
    for other in (ln.zcdp(1e-9), ln.gaussian_dp(1e-6), ln.approx_dp(1e-6, 1e-9)):
        with pytest.raises(BudgetError, match=r"ln\.pure_dp"):
            ledger.charge(other, "another survey")
    assert len(ledger.entries()) == 3
    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=2
    )
    with pytest.raises(BudgetError, match=r"ln\.pure_dp"):
        plan.release([{"a": 0.0}, {"a": 1.0}], ledger)
    assert len(ledger.entries()) == 3


@pytest.mark.parametrize(
    ("budget", "reading"),
    [
        (ln.zcdp(1), "zcdp"),
        (ln.gaussian_dp(2), "gaussian"),
        (ln.approx_dp(9, 1e-6), "gaussian"),
        (ln.approx_dp(9, 1e-6), "zcdp"),
        (ln.approx_dp(2, 1e-6), "basic"),
        (ln.approx_dp(2, 1e-6), ln.Caps(epsilon=1, delta=0, mu=0.1)),
    ],
)
def test_every_account_takes_a_pure_spend(tmp_path, budget, reading):
    ledger = ln.Ledger.create(tmp_path / "l", "people", budget, reading=reading)
    ledger.charge(ln.pure_dp(1.0), "a survey")
    with pytest.raises(LedgerError, match="too little"):
        ledger.charge(ln.pure_dp(5.0), "another survey")


def test_events_are_written_and_read():
    text = event_to_text(PureDPEvent(0.1))
    assert text == '{"kind": "pure_dp", "epsilon": 0.1}'
    assert event_from_text(text) == PureDPEvent(0.1)
    for wrong in ("-1", "NaN", "Infinity", "true", '"1"', "null"):
        with pytest.raises(LedgerError):
            event_from_text(text.replace("0.1", wrong))


def test_known_noise_is_written_and_read():
    text = event_to_text(PureNoiseEvent(0.1, 0.004, 0.09))
    assert text == '{"kind": "pure_noise", "epsilon": 0.1, "rho": 0.004, "mu": 0.09}'
    assert event_from_text(text) == PureNoiseEvent(0.1, 0.004, 0.09)
    for number in ("0.1", "0.004", "0.09"):
        for wrong in ("-1", "NaN", "Infinity", "true", '"1"', "null"):
            with pytest.raises(LedgerError):
                event_from_text(text.replace(number, wrong, 1))


# ---------------------------------------------------------------- for comparison


def test_laplace_takes_an_even_part_of_epsilon():
    widths = np.array([1.0, 3.0])
    found = split_laplace(ln.pure_dp(0.5), widths)
    assert np.allclose(found, math.sqrt(2) * widths / 0.25)
    assert np.array_equal(found, split_laplace(ln.approx_dp(0.5, 1e-9), widths))
    # ε'-DP is (ε'²/2)-zCDP, and μ-GDP is (μ²/2)-zCDP
    for rho in (0.01, 2.0):
        each = math.sqrt(2) * widths / math.sqrt(2 * rho / 2)
        assert np.allclose(split_laplace(ln.zcdp(rho), widths), each)
        assert np.allclose(split_laplace(ln.gaussian_dp(math.sqrt(2 * rho)), widths), each)
