# SPDX-License-Identifier: Apache-2.0
"""Pure privacy: what it implies, held against randomised response itself, and how it adds up."""

import json
import math
import re
import sqlite3
from contextlib import closing
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from lownoise.errors import BudgetError, FileError, LedgerError
from lownoise.mechanisms.baselines import split_laplace
from lownoise.privacy import (
    ApproxDPEvent,
    GaussianEvent,
    PureDP,
    PureDPEvent,
    PureNoiseEvent,
    ZcdpEvent,
    gaussian_parameter,
)
from lownoise.privacy.accountant import delta_spent, event_of, mu_square_of, rho_of, spent, within
from lownoise.privacy.budget import budget_from_dict, budget_to_dict, decimal_up, exact
from lownoise.privacy.events import event_from_text, event_to_text
from lownoise.privacy.gaussian_curve import delta_up
from lownoise.privacy.pure_curve import mu_square_up, rho_up

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
    said = r"^pure_dp\.epsilon is not a number; give one in \[1e-06, 1000\]$"
    with pytest.raises(BudgetError, match=said):
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
    assert event_of(ln.pure_dp(0.1)) == PureDPEvent(0.1)
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
        gaussian_parameter,
        lambda budget: ln.plan(
            ln.Marginals({"a": 2, "b": 3}, way=1), budget=budget, relation="add_remove"
        ),
        lambda budget: ln.plan(ln.Parity(["a", "b"], 2), budget=budget, relation="add_remove"),
        lambda budget: ln.stream(ln.Prefix(4), budget=budget),
    ],
)
def test_questions_with_gaussian_noise_refuse_a_pure_budget_with_the_remedy(ask):
    with pytest.raises(
        BudgetError, match=r"no Gaussian noise keeps; ask with ln\.Queries"
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
    assert epsilon + math.exp(-epsilon) - 1 < rho  # its relative entropy


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
    assert not within(ln.approx_dp(1, 1e-6), [PureDPEvent(1.7e308)])


def test_pure_implies_itself_and_nothing_implies_pure():
    assert ln.convert(ln.pure_dp(0.7), "pure_dp") == ln.pure_dp(0.7)
    for budget in (ln.zcdp(1), ln.gaussian_dp(1), ln.approx_dp(1, 1e-6)):
        with pytest.raises(BudgetError, match=r"implies no pure_dp.*; state ln\.pure_dp"):
            ln.convert(budget, "pure_dp")
    with pytest.raises(BudgetError, match="does not fit pure_dp"):
        ln.convert(ln.pure_dp(1), "pure_dp", delta=1e-6)


# ---------------------------------------------------------------- how it adds up


def test_three_epsilons_of_a_tenth_fill_three_tenths_exactly():
    tenth, budget = PureDPEvent(0.1), ln.pure_dp(0.3)
    assert within(budget, [tenth] * 3)
    assert spent(budget, [tenth] * 3) == budget
    assert not within(budget, [*[tenth] * 3, PureDPEvent(1e-12)])
    assert not within(ln.pure_dp(math.nextafter(0.3, 0)), [tenth] * 3)
    assert within(budget, [])
    # they fill an (ε, δ) budget just so, and leave its δ whole
    approximate = ln.approx_dp(0.3, 1e-6)
    assert delta_spent([tenth] * 3, 0.3) == 0
    assert within(approximate, [*[tenth] * 3, ApproxDPEvent(0.0, 1e-6)])


@pytest.mark.parametrize("other", [GaussianEvent(1e-9), ZcdpEvent(1e-9), ApproxDPEvent(0.1, 0.0)])
def test_a_pure_budget_takes_nothing_else(other):
    with pytest.raises(BudgetError, match="not pure fits in no pure_dp budget; release with"):
        within(ln.pure_dp(1.0), [PureDPEvent(0.1), other])


def test_pure_spends_count_by_what_they_imply():
    events = [PureDPEvent(0.1), PureDPEvent(2.0)]
    rest = [GaussianEvent(0.5), ZcdpEvent(0.1)]
    rho = sum(Fraction(ln.convert(ln.pure_dp(e.epsilon), "zcdp").rho) for e in events)
    assert float(rho_of([*events, *rest])) == pytest.approx(float(rho) + 0.125 + 0.1, rel=1e-14)
    square = sum(Fraction(ln.convert(ln.pure_dp(e.epsilon), "gaussian_dp").mu) ** 2 for e in events)
    assert float(mu_square_of([*events, rest[0]])) == pytest.approx(float(square) + 0.25, rel=1e-14)
    assert within(ln.zcdp(0.005), [PureDPEvent(0.1)])
    assert not within(ln.zcdp(0.00499), [PureDPEvent(0.1)])
    mu = ln.convert(ln.pure_dp(1), "gaussian_dp").mu
    assert within(ln.gaussian_dp(mu), [PureDPEvent(1.0)])
    assert not within(ln.gaussian_dp(mu * (1 - 1e-12)), [PureDPEvent(1.0)])


def composed(count, epsilon, mu, at):
    """Return δ at ε = `at` of `count` randomised responses and a Gaussian release, exactly.

    The privacy losses add: k true answers and j false ones have (k − j)ε.
    """
    p, q = response(epsilon)
    total = mpmath.mpf(0)
    for false in range(count + 1):
        chance = math.comb(count, false) * p ** (count - false) * q**false
        rest = mpmath.mpf(at) - (count - 2 * false) * mpmath.mpf(epsilon)
        if mu:
            half, ratio = mpmath.mpf(mu) / 2, rest / mpmath.mpf(mu)
            left = phi(half - ratio) - mpmath.exp(rest) * phi(-half - ratio)
        else:
            left = max(1 - mpmath.exp(rest), mpmath.mpf(0))
        total += chance * left
    return total


@pytest.mark.parametrize("mu", [0, 0.2, 1.0])
@pytest.mark.parametrize("at", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("count", "epsilon"), [(1, 0.1), (1, 2.0), (4, 0.5), (30, 0.1), (60, 0.2)])
def test_what_is_said_of_many_is_above_their_exact_composition(count, epsilon, mu, at):
    events = [PureDPEvent(epsilon)] * count + [GaussianEvent(mu)] * (mu > 0)
    found = delta_spent(events, at)
    with mpmath.workdps(60):
        true = composed(count, epsilon, mu, at)
    assert true <= found
    assert delta_spent([*events, PureDPEvent(0.01)], at) >= found
    assert delta_spent([*events, GaussianEvent(0.01)], at) >= found
    assert delta_spent([*events, ZcdpEvent(0.001)], at) >= true


@pytest.mark.parametrize(
    ("count", "epsilon", "mu", "at", "best"),
    [
        (2, 0.1, 0.05, 1.0, "basic"),
        (1, 1.0, 0.0, 0.9, "gaussian"),
        (1, 1.0, 0.5, 0.9, "gaussian"),
        (60, 0.2, 0.0, 9.0, "renyi"),
        (60, 0.2, 1.0, 11.0, "renyi"),
    ],
)
def test_the_least_of_three_readings_is_taken(count, epsilon, mu, at, best):
    """Mutants seen: each of the readings dropped."""
    square = count * mu_square_up(exact(epsilon)) + Fraction(mu) ** 2
    left = at - count * epsilon
    readings = {
        "basic": delta_up(mu, left) if left >= 0 else 1.0,
        "gaussian": delta_up(math.sqrt(square), at),
        "renyi": delta_spent(
            [ZcdpEvent(float(rho_up(exact(epsilon))))] * count + [GaussianEvent(mu)], at
        ),
    }
    assert min(readings, key=readings.get) == best
    found = delta_spent([PureDPEvent(epsilon)] * count + [GaussianEvent(mu)], at)
    assert found == pytest.approx(readings[best], rel=1e-6)


def test_known_noise_counts_by_its_own_numbers_as_they_print():
    noise = PureNoiseEvent(0.1, 0.001, 0.05)
    assert within(ln.pure_dp(0.3), [noise] * 3)
    assert not within(ln.pure_dp(0.3), [*[noise] * 3, PureDPEvent(1e-12)])
    assert rho_of([noise] * 3 + [ZcdpEvent(0.1)]) == exact(0.103)
    assert mu_square_of([noise, GaussianEvent(0.5)]) == exact(0.05) ** 2 + Fraction(1, 4)
    assert within(ln.zcdp(0.003), [noise] * 3)
    assert not within(ln.zcdp(0.003), [*[noise] * 3, ZcdpEvent(1e-12)])
    assert not within(ln.zcdp(0.003), [PureDPEvent(0.1)])


def test_many_of_known_noise_leave_less_delta_than_of_epsilon_alone():
    """The Gaussian of its μ, exactly; and never above what its ε alone says."""
    many = [PureNoiseEvent(0.5, 0.02, 0.2)] * 25
    assert delta_spent(many, 2.0) == pytest.approx(delta_up(1.0, 2.0), rel=1e-12)
    assert delta_spent(many, 2.0) < delta_spent([PureDPEvent(0.5)] * 25, 2.0) / 10
    assert delta_spent(many, 12.5) == 0


def test_known_noise_is_written_and_read():
    text = event_to_text(PureNoiseEvent(0.1, 0.004, 0.09))
    assert text == '{"kind": "pure_noise", "epsilon": 0.1, "rho": 0.004, "mu": 0.09}'
    assert event_from_text(text) == PureNoiseEvent(0.1, 0.004, 0.09)
    for number in ("0.1", "0.004", "0.09"):
        for wrong in ("-1", "NaN", "Infinity", "true", '"1"', "null"):
            with pytest.raises(LedgerError):
                event_from_text(text.replace(number, wrong, 1))


def test_pure_spends_join_those_known_by_a_rho_or_a_delta():
    rest = [ZcdpEvent(0.01), ApproxDPEvent(0.2, 1e-7)]
    pure = PureDPEvent(0.3)
    basic = 1e-7 + delta_spent([ZcdpEvent(0.01)], 1.0 - 0.2 - 0.3)
    renyi = 1e-7 + delta_spent([ZcdpEvent(0.01), ZcdpEvent(float(rho_up(exact(0.3))))], 0.8)
    assert delta_spent([pure, *rest], 1.0) == pytest.approx(min(basic, renyi), rel=1e-6)
    as_rho, known = ZcdpEvent(float(rho_up(exact(0.2)))), ZcdpEvent(0.5)
    many = delta_spent([PureDPEvent(0.2)] * 60 + [known], 9.0)
    assert many == pytest.approx(delta_spent([as_rho] * 60 + [known], 9.0), rel=1e-6)
    assert many > 2 * delta_spent([as_rho] * 60, 9.0)
    assert delta_spent([pure, ApproxDPEvent(0.7, 1e-7)], 1.0) == 1e-7
    assert delta_spent([pure, ApproxDPEvent(1.01, 1e-7)], 1.0) == 1


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
        with pytest.raises(BudgetError, match="is not pure"):
            ledger.charge(other, "another survey")
    assert len(ledger.entries()) == 3
    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=2
    )
    with pytest.raises(BudgetError, match="is not pure"):
        plan.release([{"a": 0.0}, {"a": 1.0}], ledger)
    assert len(ledger.entries()) == 3


@pytest.mark.parametrize("budget", [ln.zcdp(1), ln.gaussian_dp(2), ln.approx_dp(2, 1e-6)])
def test_every_account_takes_a_pure_spend(tmp_path, budget):
    ledger = ln.Ledger.create(tmp_path / "l", "people", budget)
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


def test_ledgers_from_before_pure_budgets_still_open(tmp_path):
    """Rows as they were written before: neither kinds nor fields have changed."""
    path = tmp_path / "l"
    ln.Ledger.create(path, "new", ln.pure_dp(1.0))
    old = {
        "a": ('{"kind": "zcdp", "rho": 1.0}', ln.zcdp(1.0)),
        "b": ('{"kind": "gaussian_dp", "mu": 2.0}', ln.gaussian_dp(2.0)),
        "c": ('{"kind": "approx_dp", "epsilon": 1.0, "delta": 1e-06}', ln.approx_dp(1.0, 1e-6)),
    }
    rows = [
        ('{"kind": "gaussian", "mu": 0.2}', GaussianEvent(0.2)),
        ('{"kind": "zcdp", "rho": 0.25}', ZcdpEvent(0.25)),
        ('{"kind": "approx_dp", "epsilon": 0.5, "delta": 1e-07}', ApproxDPEvent(0.5, 1e-7)),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (text, _) in old.items():
            connection.execute("INSERT INTO dataset VALUES (?, ?, '')", [name, text])
        for name, (text, _) in zip("abc", rows, strict=True):
            connection.execute(
                "INSERT INTO spend (dataset, event, state, note, created) "
                "VALUES (?, ?, 'settled', '', '')",
                ["c" if "approx" in text else name.replace("b", "a"), text],
            )
    for name, (_, budget) in old.items():
        assert ln.Ledger(path, name).budget() == budget
    assert [e.event for e in ln.Ledger(path, "a").entries()] == [rows[0][1], rows[1][1]]
    assert ln.Ledger(path, "a").spent().rho == pytest.approx(0.27, rel=1e-15)
    assert ln.Ledger(path, "c").spent() == ln.approx_dp(1.0, 1e-7)


# ---------------------------------------------------------------- for comparison


def test_laplace_takes_an_even_part_of_epsilon():
    widths = np.array([1.0, 3.0])
    found = split_laplace(ln.pure_dp(0.5), widths)
    assert np.allclose(found, math.sqrt(2) * widths / 0.25)
    assert np.array_equal(found, split_laplace(ln.approx_dp(0.5, 1e-9), widths))
