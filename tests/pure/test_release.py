# SPDX-License-Identifier: Apache-2.0
"""Releases of pure plans: right answers, read back exactly; paid for, or nothing at all."""

import math
import re

import numpy as np
import pytest

import lownoise as ln
from lownoise.engines.queries import TableQuery
from lownoise.errors import EngineError, FileError, LedgerError, PlanError, TableError
from lownoise.noise import AdditiveMechanism, ResponseMechanism
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


def test_releases_of_a_tenth_fill_three_tenths(tmp_path):
    ledger = account(tmp_path, ln.pure_dp(0.3))
    made = planned(budget=ln.pure_dp(0.1))
    for _ in range(3):
        made.release(table(), ledger)
    assert ledger.spent() == ln.pure_dp(0.3)
    with pytest.raises(LedgerError):
        made.release(table(), ledger)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1 / 3, 1.1, 2.3e-5, 123.4])
def test_what_is_recorded_is_no_less_than_what_was_computed(epsilon):
    from fractions import Fraction

    made = planned(budget=ln.pure_dp(epsilon), mechanism="laplace")
    recorded, cost = made.cost.event.epsilon, made.cost.epsilon
    assert min(Fraction(recorded), Fraction(repr(recorded))) >= Fraction(cost)
    assert recorded <= epsilon


class Untouchable:
    def __getattr__(self, name):
        raise AssertionError(name)


@pytest.mark.parametrize("name", KINDS)
def test_overspending_is_refused_before_the_table_is_touched(name, tmp_path):
    for i, budget in enumerate([ln.pure_dp(0.6), ln.zcdp(0.1), ln.approx_dp(0.1, 1e-9)]):
        ledger = account(tmp_path, budget, f"d{i}")
        with pytest.raises(LedgerError, match="too little"):
            PLANS[name].release(Untouchable(), ledger)
        assert ledger.entries() == []


@pytest.mark.parametrize("name", ["k_norm ", "laplace_histogram", "randomized_response", "laplace"])
def test_what_is_refused_is_not_paid_for(name, tmp_path):
    rows = table()
    gone = rows.drop(columns=["a", "x"])
    for i, given in enumerate([tmp_path / "no.csv", gone, 3]):
        ledger = account(tmp_path, name=f"d{i}")
        with pytest.raises(TableError) as refusal:
            PLANS[name].release(given, ledger)
        assert "\n" not in str(refusal.value)
        assert [e.state for e in ledger.entries()] == ["cancelled"]
        assert ledger.spent().epsilon == 0


FAILURES = [
    (TableError("no such column"), "cancelled"),
    (EngineError("could not be read"), "reserved"),
    (KeyboardInterrupt(), "reserved"),
    (MemoryError("an array of shape (1234,)"), "reserved"),
]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("failure", "expected"), FAILURES)
def test_only_a_refusal_that_no_record_caused_gives_the_spend_back(
    name, failure, expected, tmp_path, monkeypatch
):
    ledger = account(tmp_path)

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(TableQuery, "of", fail)
    seen = EngineError if isinstance(failure, MemoryError) else type(failure)
    with pytest.raises(seen) as refusal:
        PLANS[name].release(table(), ledger)
    assert "1234" not in str(refusal.value)
    assert [e.state for e in ledger.entries()] == [expected]
    assert (ledger.spent().epsilon == 0) == (expected == "cancelled")


@pytest.mark.parametrize("name", KINDS)
def test_once_noise_may_be_drawn_nothing_gives_the_spend_back(name, tmp_path, monkeypatch):
    ledger = account(tmp_path)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for kind in (AdditiveMechanism, ResponseMechanism):
        monkeypatch.setattr(kind, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PLANS[name].release(table(), ledger)
    assert [e.state for e in ledger.entries()] == ["settled"]


@pytest.mark.parametrize("step", ["settle", "cancel"])
def test_a_ledger_that_fails_midway_yields_no_answer_and_keeps_the_spend(
    step, tmp_path, monkeypatch
):
    ledger = account(tmp_path)

    def full(*_):
        raise LedgerError("ledger cannot be used (SQLITE_FULL)")

    monkeypatch.setattr(ln.Ledger, step, full)
    monkeypatch.setattr(ln.Ledger, "cancel", full)
    given = table() if step == "settle" else tmp_path / "absent.csv"
    with pytest.raises(LedgerError if step == "settle" else TableError):
        PLANS["k_norm "].release(given, ledger)
    assert [e.state for e in ledger.entries()] == ["reserved"]
    assert ledger.spent().epsilon > 0


def test_levels_out_of_range_are_refused():
    for name in ("k_norm", "randomized_response"):
        answer = PLANS[name].release(table())
        for level in (0, 1, -0.1, math.nan):
            for ask in (answer.interval, answer.simultaneous_interval):
                with pytest.raises(PlanError, match="level"):
                    ask(level)
    with pytest.raises(PlanError, match="mean is of columns"):
        answer.mean  # noqa: B018
