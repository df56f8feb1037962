# SPDX-License-Identifier: Apache-2.0
"""Releases of pure plans: right answers, read back exactly; paid for, or nothing at all."""

import re

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import FileError, LedgerError, PlanError
from pure.documents import ASKED, BUDGET, SIZE, exact, plan_of, planned, table

PLANS = {name: plan_of(name) for name in ASKED}
# of each way to read a table, and of the mechanism that answers for each record
KINDS = ("k_norm", "k_norm ", "laplace_histogram", "randomized_response")


def account(tmp_path, budget=BUDGET, name="people", reading=None):
    return ln.Ledger.create(tmp_path / "ledger", name, budget, reading=reading)


@pytest.mark.grid
@pytest.mark.parametrize("name", PLANS)
def test_answers_are_within_what_noise_can_do_and_read_back_exactly(name, tmp_path):
    """20 deviations: below 1e-8 an answer for noise with the tails of a Laplace number."""
    plan = PLANS[name]
    budget = plan.terms.budget
    ledger = account(tmp_path, budget, reading="basic" if budget != BUDGET else None)
    answer = plan.release(table(), ledger)
    off = np.abs(answer.estimate - exact(plan))
    assert np.all(off <= 20 * answer.standard_deviation + 1e-6)
    low, high = answer.simultaneous_interval(1 - 1e-9).T
    assert np.all((low <= exact(plan)) & (exact(plan) <= high))
    answer.save(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    again = ln.Release.from_json(text)
    assert again.to_json() == text
    assert np.array_equal(again.interval(0.9), answer.interval(0.9))
    assert again.spend == answer.spend
    (entry,) = ledger.entries()
    assert (entry.state, entry.id) == ("settled", answer.spend.number)
    assert entry.note.startswith(f"{name.strip()}: ")
    with pytest.raises(LedgerError, match=f"too little of its {re.escape(str(budget))} left"):
        plan.release(table(), ledger)
    for damage in (text[:-9], text.replace('"integers"', '"x"'), text.replace("/2", "/9", 1)):
        with pytest.raises(FileError):
            ln.Release.from_json(damage)


def test_an_answer_that_never_moves_is_exact():
    for name in ("k_norm ", "randomized_response"):
        assert PLANS[name].release(table()).estimate[3] == SIZE


def test_release_draws_fresh_noise_takes_no_seed_and_says_that_nothing_was_recorded():
    """Of 30 reports two runs may be alike, one in a hundred or so: eight are with chance 1e-13."""
    for name in KINDS:
        made = [PLANS[name].release(table()) for _ in range(8)]
        assert len({own.integers for own in made}) > 1
        assert not made[0].recorded
    with pytest.raises(TypeError):
        PLANS["laplace"].release(table(), seed=1)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("budget", "reading"),
    [
        (ln.pure_dp(0.7), "basic"),
        (ln.zcdp(1.0), "zcdp"),
        (ln.gaussian_dp(2.0), "gaussian"),
        (ln.approx_dp(0.7, 1e-9), "basic"),
        (ln.approx_dp(9, 1e-9), "gaussian"),
        (ln.approx_dp(9, 1e-9), "zcdp"),
        (ln.approx_dp(0.9, 1e-9), ln.Caps(epsilon=0.7, delta=0, mu=0.01)),
    ],
)
def test_every_kind_of_account_pays(budget, reading, tmp_path):
    ledger = account(tmp_path, budget, reading=reading)
    for name in ("laplace", "k_norm ", "randomized_response"):
        assert not ledger.entries() or budget != ln.pure_dp(0.7)
        try:
            assert PLANS[name].release(table(), ledger).recorded
        except LedgerError as error:
            assert "too little" in str(error)  # noqa: PT017 (of the second and third)
            assert ledger.entries()
        if budget == ln.pure_dp(0.7):
            break
    assert {e.event.kind for e in ledger.entries()} == {"pure_noise"}
    assert all(e.state == "settled" for e in ledger.entries())


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1 / 3, 1.1, 2.3e-5, 123.4])
def test_what_is_recorded_is_no_less_than_what_was_computed(epsilon):
    from fractions import Fraction

    made = planned(budget=ln.pure_dp(epsilon), mechanism="laplace")
    recorded, cost = made.cost.event.epsilon, made.cost.epsilon
    assert min(Fraction(recorded), Fraction(repr(recorded))) >= Fraction(cost)
    assert recorded <= epsilon


def test_a_table_of_answers_has_no_mean():
    with pytest.raises(PlanError, match="mean is for columns"):
        PLANS["randomized_response"].release(table()).mean  # noqa: B018
