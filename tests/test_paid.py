# SPDX-License-Identifier: Apache-2.0
"""Releases of any noise, from any reader of tables, are paid for, or nothing is released."""

import math
from functools import cache

import pytest

import lownoise as ln
from lownoise.engines.queries import TableQuery
from lownoise.errors import EngineError, LedgerError, PlanError, TableError
from lownoise.noise import AdditiveMechanism, ResponseMechanism
from pure.documents import BUDGET, plan_of, planned, table
from refusals import one_line

WHOLE = ln.approx_dp(0.5, 1e-5)
# of each way to read a table, and of the mechanism that answers for each record
KINDS = ("gaussian", "k_norm", "k_norm ", "laplace_histogram", "randomized_response")
each = pytest.mark.parametrize("name", KINDS)


@cache
def made(name):
    return planned(mechanism=name, budget=WHOLE) if name == "gaussian" else plan_of(name)


@pytest.fixture
def account(name, tmp_path):
    """An account that pays for the release once."""
    budget, reading = (WHOLE, "gaussian") if name == "gaussian" else (BUDGET, None)
    return ln.Ledger.create(tmp_path / "ledger", "people", budget, reading=reading)


def cost(ledger):
    """The sum that a spend of any of these adds to."""
    spent = ledger.spent()
    return spent.delta if isinstance(spent, ln.privacy.ApproxDP) else spent.epsilon


class Untouchable:
    def __getattr__(self, name):
        raise AssertionError(name)


@each
def test_overspending_is_refused_before_the_table_is_touched(name, tmp_path):
    other = ln.gaussian_dp(0.01) if name == "gaussian" else ln.pure_dp(0.6)
    for i, budget in enumerate([other, ln.zcdp(0.01), ln.approx_dp(0.1, 1e-9)]):
        ledger = ln.Ledger.create(tmp_path / "ledger", f"d{i}", budget)
        with pytest.raises(LedgerError, match="too little"):
            made(name).release(Untouchable(), ledger)
        assert ledger.entries() == []


@each
@pytest.mark.parametrize("given", ["no.csv", table().drop(columns=["a", "x"]), 3], ids=type)
def test_what_is_refused_is_not_paid_for(given, name, account, tmp_path):
    with one_line(TableError):
        made(name).release(tmp_path / given if isinstance(given, str) else given, account)
    assert [e.state for e in account.entries()] == ["cancelled"]
    assert cost(account) == 0


FAILURES = [
    (TableError("no such column"), "cancelled"),
    (EngineError("could not be read"), "reserved"),
    (KeyboardInterrupt(), "reserved"),
    (MemoryError("an array of shape (1234,)"), "reserved"),
]


@each
@pytest.mark.parametrize(("failure", "expected"), FAILURES)
def test_only_a_refusal_that_no_record_caused_gives_the_spend_back(
    failure, expected, name, account, monkeypatch
):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(TableQuery, "of", fail)
    seen = EngineError if isinstance(failure, MemoryError) else type(failure)
    with pytest.raises(seen) as refusal:
        made(name).release(table(), account)
    assert "1234" not in str(refusal.value)
    assert [e.state for e in account.entries()] == [expected]
    assert (cost(account) == 0) == (expected == "cancelled")


@each
def test_once_noise_may_be_drawn_nothing_gives_the_spend_back(name, account, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for kind in (AdditiveMechanism, ResponseMechanism):
        monkeypatch.setattr(kind, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made(name).release(table(), account)
    assert [e.state for e in account.entries()] == ["settled"]


@pytest.mark.parametrize("name", ["gaussian", "k_norm "])
@pytest.mark.parametrize("step", ["settle", "cancel"])
def test_a_ledger_that_fails_midway_yields_no_answer_and_keeps_the_spend(
    step, name, account, tmp_path, monkeypatch
):
    def full(*_):
        raise LedgerError("ledger cannot be used (SQLITE_FULL)")

    monkeypatch.setattr(ln.Ledger, step, full)
    monkeypatch.setattr(ln.Ledger, "cancel", full)
    given = table() if step == "settle" else tmp_path / "absent.csv"
    with pytest.raises(LedgerError if step == "settle" else TableError):
        made(name).release(given, account)
    assert [e.state for e in account.entries()] == ["reserved"]
    assert cost(account) > 0


@pytest.mark.parametrize(
    ("whole", "tenth"), [(ln.zcdp(0.3), ln.zcdp(0.1)), (ln.pure_dp(0.3), ln.pure_dp(0.1))]
)
def test_three_releases_of_a_tenth_fill_three_tenths(whole, tenth, tmp_path):
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", whole)
    own = planned(budget=tenth)
    for _ in range(3):
        own.release(table(), ledger)
    assert ledger.spent() == whole
    with pytest.raises(LedgerError):
        own.release(table(), ledger)


@pytest.mark.parametrize("name", ["gaussian", "k_norm", "randomized_response"])
def test_levels_out_of_range_are_refused(name):
    answer = made(name).release(table())
    for level in (0, 1, -0.1, math.nan):
        for ask in (answer.interval, answer.simultaneous_interval):
            with pytest.raises(PlanError, match="level"):
                ask(level)
