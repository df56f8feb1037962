# SPDX-License-Identifier: Apache-2.0
"""Accounts: one reading each, fixed before the first answer; ledgers known by their identifier."""

import json
import math
import signal
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing

import pytest

import lownoise as ln
from command_line import together
from lownoise.errors import BudgetError, LedgerError
from lownoise.privacy import (
    ApproxDP,
    ApproxDPEvent,
    GaussianDP,
    GaussianEvent,
    PureDP,
    PureDPEvent,
    Zcdp,
    ZcdpEvent,
    entries,
)
from lownoise.privacy.events import event_from_text as known
from refusals import refused

WHOLE = ln.approx_dp(1.0, 1e-6)
CAPS = ln.Caps(epsilon=0.5, delta=1e-7, mu=0.1)
SPENDS = {
    "gaussian": GaussianEvent(0.01),
    "zcdp": ZcdpEvent(1e-4),
    "basic": ApproxDPEvent(0.01, 1e-9),
    "caps": GaussianEvent(0.01),
}


def opened(folder, reading=None, budget=WHOLE, name="d"):
    return ln.Ledger.create(folder / "l", name, budget, reading=reading)


def untouched(ledger, operate, *names, error=LedgerError):
    before = ledger.path.read_bytes()
    refused(operate, *names, error=error)
    assert ledger.path.read_bytes() == before


def test_what_was_spent_alike_is_read_once_and_counts_each_time(tmp_path, monkeypatch):
    """An account of a million spends has few that differ, and each spend looks at all of them."""
    ledger = opened(tmp_path, budget=ln.zcdp(1.0))
    ledger.charge(ln.zcdp(0.25), "another")
    for _ in range(50):
        ledger.charge(ln.zcdp(0.01), "alike")
    ledger.cancel(ledger.reserve(ZcdpEvent(0.01)))
    read, counted = [], []
    count = ZcdpEvent.as_rho
    monkeypatch.setattr(entries, "event_from_text", lambda own: read.append(own) or known(own))
    monkeypatch.setattr(ZcdpEvent, "as_rho", lambda own: counted.append(own) or count(own))
    assert ledger.remaining() == {"rho": 0.25}
    assert len(read) == len(counted) == 2
    ledger.charge(ln.zcdp(0.25), "the rest")
    with pytest.raises(LedgerError, match="too little"):
        ledger.charge(ln.zcdp(0.01), "one more")


# ---------------------------------------------------------------- a reading that was named


@pytest.mark.parametrize("reading", ["gaussian", "zcdp", "basic", CAPS])
def test_a_named_reading_is_kept_and_says_what_remains(tmp_path, reading):
    ledger = opened(tmp_path, reading)
    assert ledger.reading() == reading
    kind = reading if isinstance(reading, str) else "caps"
    before = ledger.remaining()
    number = ledger.reserve(SPENDS[kind])  # no notice: warnings are errors here
    after = ledger.remaining()
    assert any(after[name] < before[name] for name in before)
    ledger.cancel(number)
    assert ledger.reading() == reading
    assert ledger.remaining() == before


def test_budgets_with_one_reading_have_it(tmp_path):
    for budget, kind in (
        (ln.zcdp(1), "zcdp"),
        (ln.gaussian_dp(1), "gaussian"),
        (ln.pure_dp(1), "basic"),
    ):
        for given in (None, kind):
            assert opened(tmp_path, given, budget, f"{kind} {given}").reading() == kind


def test_a_reading_that_does_not_fit_opens_nothing(tmp_path):
    for reading, budget in (("basic", ln.zcdp(1)), ("renyi", WHOLE), (ln.Caps(1, 0, 0.1), WHOLE)):
        with pytest.raises(BudgetError):
            opened(tmp_path, reading, budget)
    assert not (tmp_path / "l").exists()


@pytest.mark.parametrize("kind", ["gaussian", "zcdp", "basic", "caps"])
def test_what_a_reading_cannot_pay_is_refused_in_a_line_and_changes_nothing(tmp_path, kind):
    ledger = opened(tmp_path, CAPS if kind == "caps" else kind)
    events = [*SPENDS.values(), PureDPEvent(0.01)]
    for event in events:
        if kind not in event.readings:
            untouched(ledger, lambda e=event: ledger.reserve(e), "reading of", error=BudgetError)
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "asked",
    [ApproxDP(-1e-9, 1e-6), ApproxDP(0.0, 1e-6), ApproxDP(1.0, 0.0), ApproxDP(math.nan, 0.1), 3],
)
@pytest.mark.parametrize("reading", ["basic", "gaussian"])
def test_no_budget_that_was_asked_with_gives_budget_back(tmp_path, reading, asked):
    ledger = opened(tmp_path, reading)
    event = GaussianEvent(1e-9)
    untouched(ledger, lambda: ledger.reserve(event, asked=asked), error=BudgetError)


def test_what_is_decided_on_is_what_is_recorded(tmp_path):
    class Free(GaussianEvent):
        def as_mu_square(self):
            return 0

    ledger = opened(tmp_path, "gaussian")
    untouched(ledger, lambda: ledger.reserve(Free(9.0)), "too little")
    for none in ("gaussian", None, WHOLE):
        untouched(ledger, lambda e=none: ledger.reserve(e), "event=", "; give", error=BudgetError)


def test_a_basic_account_freezes_the_pair_that_a_plan_was_asked_with(tmp_path):
    ledger = opened(tmp_path, "basic")
    asked = ln.approx_dp(0.25, 1e-7)
    event = GaussianEvent(asked.gaussian_parameter())
    ledger.reserve(event, asked=asked)
    ledger.reserve(PureDPEvent(0.5))
    assert [e.pair for e in ledger.entries()] == [(0.25, 1e-7), (0.5, 0.0)]
    assert ledger.spent() == ln.approx_dp(0.75, 1e-7)
    assert ledger.remaining()["epsilon"] == 0.25
    untouched(ledger, lambda: ledger.reserve(event, asked=ln.approx_dp(0.26, 1e-7)), "too little")
    # which would reveal more than it was asked with
    more = GaussianEvent(event.mu * 1.01)
    untouched(ledger, lambda: ledger.reserve(more, asked=asked), "ln.approx_dp", error=BudgetError)


# ---------------------------------------------------------------- a reading that nobody named


@pytest.mark.parametrize("kind", ["gaussian", "zcdp", "basic"])
def test_the_first_spend_fixes_the_reading_and_says_so_before_it_is_spent(tmp_path, kind):
    ledger = opened(tmp_path)
    assert ledger.reading() is None
    assert ledger.remaining() == {"epsilon": 1.0, "delta": 1e-6}
    said = rf"^dataset='d' has no reading yet: this spend fixes reading='{kind}', where .*rules out"
    untouched(ledger, lambda: ledger.reserve(SPENDS[kind]), error=ln.ReadingNotice)
    with pytest.warns(ln.ReadingNotice, match=said) as caught:
        ledger.reserve(SPENDS[kind])
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert ledger.reading() == kind
    ledger.reserve(SPENDS[kind])  # no second notice


def test_every_account_says_so_each_time_and_where_the_library_was_called(tmp_path):
    """By default Python tells one text at one place once: then only the first account would say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        for i in range(2):
            (tmp_path / str(i)).mkdir()
            ledger = opened(tmp_path / str(i))
            for _ in range(2):
                ledger.cancel(ledger.reserve(SPENDS["gaussian"]))
        ledger.charge(ln.pure_dp(0.1), "last")
    assert [w.category for w in caught] == [ln.ReadingNotice] * 5
    assert {w.filename for w in caught} == {__file__}


def test_a_release_says_which_reading_it_fixes_whatever_the_rows_hold(tmp_path):
    question, noise = ln.Mean(["a"], ln.Box([0], [1])), "gaussian"
    plan = ln.plan(question, budget=WHOLE, relation="substitute", size=2, mechanism=noise)
    heard = set()
    for i, rows in enumerate(([{"a": 0.0}] * 2, [{"a": 1.0}] * 2, [{"a": None}] * 2)):
        ledger = opened(tmp_path, name=f"d{i}")
        with pytest.warns(ln.ReadingNotice) as caught:
            plan.release(rows_of(rows), ledger)
        heard.add(str(caught[0].message).replace(f"d{i}", "d"))
        assert ledger.reading() == "gaussian"
    assert len(heard) == 1


def rows_of(rows):
    import pandas as pd

    return pd.DataFrame(rows, dtype=float)


def test_cancelling_frees_a_reading_only_where_nothing_else_counts(tmp_path):
    ledger = opened(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ln.ReadingNotice)
        first = ledger.reserve(SPENDS["gaussian"])
        second = ledger.reserve(SPENDS["gaussian"])
        ledger.cancel(first)
        assert ledger.reading() == "gaussian"  # the second may have been answered
        ledger.cancel(second)
        assert ledger.reading() is None
        third = ledger.reserve(SPENDS["basic"])
        assert ledger.reading() == "basic"
        ledger.settle(third)
        fourth = ledger.reserve(SPENDS["basic"])
        ledger.cancel(fourth)
        assert ledger.reading() == "basic"


def test_what_is_refused_fixes_nothing(tmp_path):
    ledger = opened(tmp_path)
    untouched(ledger, lambda: ledger.reserve(GaussianEvent(9.0)), "too little")
    assert ledger.reading() is None


@pytest.mark.parametrize("event", ["gaussian", "zcdp", "pure", "approx"])
def test_an_open_account_pays_for_one_whole_release_of_any_kind(tmp_path, event):
    from lownoise.privacy.zcdp_curve import parameter_down

    ledger = opened(tmp_path)
    whole = {
        "gaussian": GaussianEvent(WHOLE.gaussian_parameter()),
        "zcdp": ZcdpEvent(parameter_down(1.0, 1e-6) * (1 - 1e-15)),
        "pure": PureDPEvent(1.0),
        "approx": ApproxDPEvent(1.0, 1e-6),
    }[event]
    with pytest.warns(ln.ReadingNotice):
        ledger.reserve(whole)
    for more in (GaussianEvent(0.01), ZcdpEvent(1e-4), PureDPEvent(0.01), ApproxDPEvent(0.0, 1e-8)):
        left = event == "pure" and more == ApproxDPEvent(0.0, 1e-8)  # all of delta is
        if ledger.reading() in more.readings and not left:
            untouched(ledger, lambda m=more: ledger.reserve(m), "too little")


# ---------------------------------------------------------------- what opens an account


@pytest.mark.parametrize(
    "budget",
    [
        Zcdp(-1.0),
        Zcdp(math.nan),
        GaussianDP(0.0),
        PureDP(math.inf),
        ApproxDP(1.0, 0.0),
        ApproxDP(-1.0, 1e-6),
        ApproxDP(1.0, 1.5),
        1.0,
        None,
    ],
)
def test_a_budget_built_by_hand_is_checked(tmp_path, budget):
    with pytest.raises(BudgetError, match=r"^(\w+\.\w+|budget)=.*; (give|use) "):
        opened(tmp_path, budget=budget)
    assert not (tmp_path / "l").exists()
    ledger = opened(tmp_path, "basic")
    untouched(ledger, lambda: ledger.charge(budget, "x"), error=BudgetError)
    for ask in (
        lambda: ln.plan(
            ln.Mean(["a"], ln.Box([0], [1])), budget=budget, relation="substitute", size=9
        ),
        lambda: ln.stream(ln.Prefix(4), budget=budget),
    ):
        untouched(ledger, ask, error=BudgetError)


@pytest.mark.parametrize("reading", ["gaussian", "zcdp", "basic", CAPS])
def test_a_refusal_says_what_is_asked_for_and_what_is_left(tmp_path, reading):
    ledger = opened(tmp_path, reading)
    with pytest.raises(LedgerError, match=r"it asks for .*, and .* is left") as refusal:
        ledger.charge(ln.pure_dp(5), "x")
    left = ", ".join(f"{k} {v:.6g}" for k, v in ledger.remaining().items())
    assert f"and {left} is left" in str(refusal.value)
    assert ", asked with 5-DP: it asks for" in str(refusal.value)  # in what the reader spoke of
    assert set(ledger.taken().values()) == {0.0}


@pytest.mark.parametrize("path", [":memory:", "/dev/null", "/tmp"])  # noqa: S108 (a folder)
def test_a_path_that_keeps_nothing_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match=r"keeps nothing; give the path of a file$"):
        ln.Ledger.create(path, "d", WHOLE)
    assert list(tmp_path.iterdir()) == []


def test_no_path_mints_a_budget_by_being_absent_or_another_s(tmp_path):
    ledger = opened(tmp_path, "gaussian")
    ledger.reserve(GaussianEvent(0.1))
    for budget in (WHOLE, ln.approx_dp(2, 1e-6), ln.zcdp(1)):
        untouched(ledger, lambda b=budget: opened(tmp_path, None, b), "already has an account")
    ledger.path.rename(tmp_path / "gone")
    for operate in (ledger.budget, lambda: ledger.reserve(GaussianEvent(0.1)), ledger.reading):
        with pytest.raises(LedgerError, match="does not exist"):
            operate()
    assert not ledger.path.exists()


def test_a_ledger_is_known_by_its_identifier_and_not_by_how_its_path_is_written(
    tmp_path, monkeypatch
):
    ledger = opened(tmp_path, "gaussian")
    known = ledger.identifier()
    other = ln.Ledger.create(tmp_path / "m", "d", WHOLE).identifier()
    assert known != other
    (tmp_path / "link").symlink_to(ledger.path)
    monkeypatch.chdir(tmp_path)
    for path in ("l", "./l", str(ledger.path), "link", tmp_path / "." / "l"):
        assert ln.Ledger(path, "d").identifier() == known
        assert ln.Ledger(path, "of no account").identifier() == known
    ledger.path.rename(tmp_path / "moved")
    assert ln.Ledger("moved", "d").identifier() == known


@pytest.mark.parametrize("name", ["a b", "a?mode=memory", "a#b", "100%", "é", "file:x"])
def test_a_path_may_hold_any_letters(tmp_path, name):
    ledger = ln.Ledger.create(tmp_path / name, "d", WHOLE, reading="gaussian")
    assert ledger.path.is_file()
    assert ln.Ledger(tmp_path / name, "d").reading() == "gaussian"


# ---------------------------------------------------------------- ledgers of version 1

FIRST = (
    """CREATE TABLE dataset (
        name TEXT PRIMARY KEY, budget TEXT NOT NULL, created TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE spend (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL REFERENCES dataset (name),
        event TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'cancelled')),
        note TEXT NOT NULL,
        created TEXT NOT NULL
    ) STRICT""",
    "PRAGMA application_id = 1819244398",
    "PRAGMA user_version = 1",
)
MU, RHO = '{"kind": "gaussian", "mu": 0.1}', '{"kind": "zcdp", "rho": 0.005}'
PURE, BOTH = (
    '{"kind": "pure_dp", "epsilon": 0.5}',
    '{"kind": "approx_dp", "epsilon": 0.25, "delta": 1e-07}',
)
LITTLE = '{"kind": "pure_dp", "epsilon": 0.01}'
APPROX = '{"kind": "approx_dp", "epsilon": 1.0, "delta": 1e-06}'
# budget, events as version 1 wrote them, and the reading that they have from now on
OLD = {
    "rho": ('{"kind": "zcdp", "rho": 1.0}', [MU, RHO, PURE], "zcdp"),
    "mu": ('{"kind": "gaussian_dp", "mu": 2.0}', [MU, PURE], "gaussian"),
    "pure": ('{"kind": "pure_dp", "epsilon": 2.0}', [PURE], "basic"),
    "none": (APPROX, [], None),
    "gaussians": (APPROX, [MU, MU], "gaussian"),
    "rhos": (APPROX, [RHO, RHO], "zcdp"),
    "pairs": (APPROX, [PURE, BOTH], "basic"),
    "mixed": (APPROX, [MU, PURE], "mixed"),
    "mixed, though rho adds up": (APPROX, [MU, LITTLE], "mixed"),
    "unknown": (APPROX, ['{"kind": "laplace", "scale": 1}'], "mixed"),
}


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in FIRST:
            connection.execute(statement)
        for name, (budget, events, _) in OLD.items():
            connection.execute("INSERT INTO dataset VALUES (?, ?, 'then')", [name, budget])
            for event, state in [*((e, "settled") for e in events), (BOTH, "cancelled")]:
                connection.execute(
                    "INSERT INTO spend (dataset, event, state, note, created) "
                    "VALUES (?, ?, ?, 'a note', 'then')",
                    [name, event, state],
                )
    return path


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


@pytest.mark.parametrize("name", [name for name in OLD if name != "unknown"])
def test_an_old_account_keeps_its_spends_and_has_the_reading_that_adds_them_up(old, name):
    budget, events, reading = OLD[name]
    ledger = ln.Ledger(old, name)
    assert ledger.reading() == reading
    assert version(old) == 2
    assert ln.privacy.budget.budget_to_dict(ledger.budget()) == json.loads(budget)
    entries = ledger.entries()
    assert [e.state for e in entries] == ["settled"] * len(events) + ["cancelled"]
    assert {(e.note, e.created) for e in entries} == {("a note", "then")}
    if reading == "mixed":
        untouched(ledger, lambda: ledger.reserve(PureDPEvent(1e-6)), "pays for nothing more; open")
        assert ledger.remaining() == {}
        epsilon = ln.convert(ln.gaussian_dp(0.1), "approx_dp", delta=5e-7).epsilon
        pure = 0.5 if name == "mixed" else 0.01
        assert ledger.spent().epsilon == pytest.approx(pure + epsilon, rel=1e-12)
        assert ledger.spent().delta == 5e-7
    elif reading is not None:
        spend = PureDPEvent(0.01)
        ledger.reserve(spend)
        assert ledger.entries()[-1].state == "reserved"


def test_an_old_account_that_is_not_understood_leaves_the_others_in_peace(old):
    assert ln.Ledger(old, "rho").spent().rho > 0.01
    with pytest.raises(LedgerError, match="no kind that this version knows"):
        ln.Ledger(old, "unknown").reserve(PureDPEvent(0.1))


KILLED = """
import os, signal, sys
import lownoise as ln
from lownoise.privacy import ledger_account
whole = ledger_account._second
def half(connection):
    whole(connection)
    os.kill(os.getpid(), signal.SIGKILL)
ledger_account._second = half
ln.Ledger(sys.argv[1], "mixed").reading()
"""

READER = """
import sys
import lownoise as ln
ln.Ledger
print("ready", flush=True)
sys.stdin.readline()
print(ln.Ledger(sys.argv[1], "gaussians").identifier(), flush=True)
"""


def test_a_process_that_dies_while_it_renews_a_file_changes_nothing(old):
    before = old.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert version(old) == 1
    assert old.read_bytes()[:4096] == before[:4096]
    assert ln.Ledger(old, "mixed").reading() == "mixed"


def test_two_processes_that_renew_a_file_at_once_agree(old):
    found = together([[sys.executable, "-c", READER, str(old)]] * 3)
    assert set(found) == {ln.Ledger(old, "d").identifier()}
