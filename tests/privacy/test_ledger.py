# SPDX-License-Identifier: Apache-2.0
"""The ledger: no spend is lost, none is granted twice, and no other file is ever touched."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from command_line import together
from lownoise.errors import BudgetError, LedgerError
from lownoise.privacy import (
    ApproxDPEvent,
    GaussianEvent,
    Ledger,
    ZcdpEvent,
    approx_dp,
    zcdp,
)
from refusals import refused

TENTH = ZcdpEvent(0.1)
OPERATIONS = {
    "budget": lambda ledger: ledger.budget(),
    "spent": lambda ledger: ledger.spent(),
    "entries": lambda ledger: ledger.entries(),
    "reserve": lambda ledger: ledger.reserve(TENTH),
    "settle": lambda ledger: ledger.settle(1),
    "cancel": lambda ledger: ledger.cancel(1),
    "charge": lambda ledger: ledger.charge(zcdp(0.1), "elsewhere"),
    "datasets": lambda ledger: Ledger.datasets(ledger.path),
    "create": lambda ledger: Ledger.create(ledger.path, "other", zcdp(1.0)),
}


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "privacy.ledger", "flights", zcdp(0.3))


def refused_untouched(folder, operate, *names):
    """Assert a refusal of one line after which no byte in `folder` has changed."""
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    refused(operate, *names)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def states(ledger):
    return [entry.state for entry in ledger.entries()]


def execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*statement)


# ---------------------------------------------------------------- the life of a spend


def test_a_new_account_has_its_budget_and_no_spend(ledger):
    assert ledger.budget() == zcdp(0.3)
    assert ledger.entries() == []
    assert ledger.spent().rho == 0.0


def test_a_spend_is_reserved_then_settled(ledger):
    number = ledger.reserve(GaussianEvent(0.1), "weekly table")
    (entry,) = ledger.entries()
    assert (entry.id, entry.event, entry.state) == (number, GaussianEvent(0.1), "reserved")
    assert entry.note == "weekly table"
    assert entry.created.endswith("+00:00")
    assert ledger.spent().rho == pytest.approx(0.005, rel=1e-15)
    ledger.settle(number)
    assert states(ledger) == ["settled"]
    assert ledger.spent().rho == pytest.approx(0.005, rel=1e-15)


def test_numbers_differ_and_entries_keep_their_order(ledger):
    numbers = [ledger.reserve(ZcdpEvent(0.01), str(i)) for i in range(5)]
    assert len(set(numbers)) == 5
    assert [e.id for e in ledger.entries()] == numbers
    assert [e.note for e in ledger.entries()] == list("01234")


def test_spends_read_back_exactly(ledger):
    events = [GaussianEvent(0.1 + 0.2), ZcdpEvent(1e-300), GaussianEvent(5e-324)]
    for event in events:
        ledger.reserve(event)
    assert [e.event for e in ledger.entries()] == events


def test_three_tenths_fill_three_tenths_and_not_a_bit_more(ledger):
    for _ in range(3):
        ledger.reserve(TENTH)
    assert ledger.spent() == zcdp(0.3)
    refused_untouched(
        ledger.path.parent,
        lambda: ledger.reserve(ZcdpEvent(1e-12)),
        "dataset='flights'",
        "0.3-zCDP",
    )
    assert len(ledger.entries()) == 3


def test_overspending_at_once_is_refused_and_takes_nothing(ledger):
    refused_untouched(ledger.path.parent, lambda: ledger.reserve(ZcdpEvent(0.31)), "flights")
    refused_untouched(ledger.path.parent, lambda: ledger.reserve(GaussianEvent(0.78)), "flights")
    refused_untouched(ledger.path.parent, lambda: ledger.charge(zcdp(0.31), ""), "flights")
    assert ledger.entries() == []


def test_what_is_cancelled_can_be_spent_again(ledger):
    number = ledger.reserve(ZcdpEvent(0.3))
    refused(lambda: ledger.reserve(TENTH))
    ledger.cancel(number)
    assert ledger.spent().rho == 0.0
    assert states(ledger) == ["cancelled"]
    assert ledger.reserve(ZcdpEvent(0.3)) != number
    assert states(ledger) == ["cancelled", "reserved"]


@pytest.mark.parametrize("first", ["settle", "cancel"])
@pytest.mark.parametrize("then", ["settle", "cancel"])
def test_a_spend_moves_once(ledger, first, then):
    number = ledger.reserve(TENTH)
    getattr(ledger, first)(number)
    before = states(ledger)
    refused_untouched(
        ledger.path.parent,
        lambda: getattr(ledger, then)(number),
        f"spend={number}",
        "not reserved",
    )
    assert states(ledger) == before


@pytest.mark.parametrize("move", ["settle", "cancel"])
def test_only_one_s_own_reservations_can_be_moved(ledger, move):
    other = Ledger.create(ledger.path, "other", zcdp(1.0))
    number = other.reserve(TENTH)
    refused(lambda: getattr(ledger, move)(number), f"spend={number}", "flights")
    refused(lambda: getattr(ledger, move)(999), "spend=999")
    assert states(other) == ["reserved"]


def test_a_charge_is_settled_and_counts(ledger):
    ledger.charge(zcdp(0.2), "census bureau, 2020")
    (entry,) = ledger.entries()
    assert (entry.event, entry.state) == (ZcdpEvent(0.2), "settled")
    assert entry.note == "census bureau, 2020"
    ledger.reserve(TENTH)
    refused(lambda: ledger.reserve(ZcdpEvent(1e-9)))
    refused(lambda: ledger.cancel(entry.id))


def test_an_approximate_budget_is_filled_by_one_release(tmp_path):
    budget = approx_dp(1.0, 1e-6)
    ledger = Ledger.create(tmp_path / "l", "flights", budget, reading="gaussian")
    ledger.reserve(GaussianEvent(budget.gaussian_parameter()))
    spent = ledger.spent()
    assert spent.epsilon == 1.0
    assert 0.999e-6 < spent.delta <= 1e-6
    refused(lambda: ledger.reserve(GaussianEvent(1e-3)), "(1, 1e-06)-DP")


def test_an_approximate_budget_takes_charges_of_its_kind(tmp_path):
    ledger = Ledger.create(tmp_path / "l", "flights", approx_dp(1.0, 1e-6), reading="basic")
    ledger.charge(approx_dp(0.5, 1e-7), "elsewhere")
    refused(lambda: ledger.charge(approx_dp(0.6, 1e-7), "elsewhere"))
    refused(lambda: ledger.charge(approx_dp(0.1, 9.5e-7), "elsewhere"))
    assert [e.event for e in ledger.entries()] == [ApproxDPEvent(0.5, 1e-7)]


def test_a_zcdp_budget_refuses_what_has_no_rho(ledger):
    for spend in (
        lambda: ledger.charge(approx_dp(0.1, 1e-9), ""),
        lambda: ledger.reserve(ApproxDPEvent(0.1, 1e-9)),
    ):
        with pytest.raises(BudgetError, match="alone cannot be paid where rho adds up"):
            spend()
    assert ledger.entries() == []


def test_datasets_have_accounts_of_their_own(ledger):
    other = Ledger.create(ledger.path, "aircraft", zcdp(0.1))
    other.reserve(TENTH)
    assert ledger.entries() == []
    ledger.reserve(TENTH)
    assert Ledger.datasets(ledger.path) == ["aircraft", "flights"]
    assert other.budget() == zcdp(0.1)


def test_the_path_may_be_text(ledger):
    assert Ledger(str(ledger.path), "flights") == ledger
    assert Ledger(str(ledger.path), "flights").budget() == zcdp(0.3)


# ---------------------------------------------------------------- names

NAMES = [
    "o'brien",
    'say "yes"',
    "'; DROP TABLE spend; --",
    "flights' OR '1'='1",
    "данные 数据 🛫",
    "%_\\",
    " padded ",
    "x" * 10_000,
]


@pytest.mark.parametrize("name", NAMES)
def test_any_text_is_a_dataset_s_name(ledger, name):
    other = Ledger.create(ledger.path, name, zcdp(1.0))
    ledger.reserve(TENTH, note=name)
    other.reserve(ZcdpEvent(0.5), note=name)
    assert set(Ledger.datasets(ledger.path)) == {"flights", name}
    assert [e.event for e in ledger.entries()] == [TENTH]
    assert [(e.event, e.note) for e in other.entries()] == [(ZcdpEvent(0.5), name)]
    refused(lambda: other.reserve(ZcdpEvent(0.6)), "dataset=")


@pytest.mark.parametrize(
    "name", ["", " ", "\n", "two\nlines", "nul\0", "\ud800", "\x1b[31m", 5, None, b"d"]
)
def test_a_name_that_does_not_print_is_refused(tmp_path, name):
    refused_untouched(
        tmp_path,
        lambda: Ledger.create(tmp_path / "l", name, zcdp(1.0)),
        "is no name",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_has_one_account(ledger):
    ledger.reserve(TENTH)
    refused_untouched(
        ledger.path.parent,
        lambda: Ledger.create(ledger.path, "flights", zcdp(100.0)),
        "dataset='flights' already has an account",
    )
    assert ledger.budget() == zcdp(0.3)
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("name", ["budget", "spent", "entries", "reserve", "charge"])
def test_an_unknown_dataset_is_refused(ledger, name):
    stranger = Ledger(ledger.path, "Flights")
    refused_untouched(
        ledger.path.parent,
        lambda: OPERATIONS[name](stranger),
        "dataset='Flights' has no account",
    )


@pytest.mark.parametrize(
    "operate",
    [
        lambda own: own.charge(zcdp(0.1), "x\udcff"),  # as a terminal's Latin-1 arrives
        lambda own: own.reserve(TENTH, relation="add_remove per x\udcff"),
        lambda own: Ledger(own.path, "x\udcff").budget(),
    ],
)
def test_text_that_utf_8_has_not_is_refused(ledger, operate):
    refused_untouched(ledger.path.parent, lambda: operate(ledger), "letters that UTF-8 has not")


# ---------------------------------------------------------------- files that are no ledger


def test_a_cut_through_the_last_page_never_forgets_a_spend(ledger):
    for _ in range(60):
        ledger.reserve(ZcdpEvent(0.004), "n" * 50)
    whole, spent = ledger.path.read_bytes(), ledger.spent()
    forgotten = []
    for cut in range(1, 4096, 97):
        ledger.path.write_bytes(whole[:-cut])
        try:
            if ledger.spent() != spent:
                forgotten.append(cut)
        except LedgerError:
            continue
    assert forgotten == []


def test_a_symbolic_link_is_the_ledger_itself(ledger):
    """SQLite has the journal beside the file, whichever name a spend is made under."""
    other = ledger.path.with_name("other.ledger")
    other.symlink_to(ledger.path)
    ledger.reserve(TENTH)
    assert states(Ledger(other, ledger.dataset)) == ["reserved"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    for path in (file / "l", tmp_path / "missing" / "l"):
        refused_untouched(
            tmp_path,
            lambda path=path: Ledger.create(path, "flights", zcdp(1.0)),
            str(path),
            "in no folder that exists; make",
        )
        refused_untouched(tmp_path, lambda path=path: Ledger(path, "flights").budget(), str(path))
    assert list(tmp_path.iterdir()) == [file]


UNKNOWN_EVENTS = [
    '{"kind": "laplace", "scale": 1.0}',
    '{"kind": "gaussian"}',
    '{"kind": "gaussian", "mu": 0.1, "clipped": true}',
    '{"kind": "gaussian", "mu": -0.1}',
    '{"kind": "gaussian", "mu": NaN}',
    '{"kind": ["gaussian"], "mu": 0.1}',
    '{"mu": 0.1}',
    "[]",
    "1",
    "gaussian",
    "",
    "[" * 100_000,
]


@pytest.mark.parametrize("name", ["spent", "entries", "reserve", "charge"])
@pytest.mark.parametrize("event", UNKNOWN_EVENTS)
def test_an_entry_of_unknown_kind_stops_all_spending(ledger, event, name):
    insert = "INSERT INTO spend (dataset, event, state, note, created) VALUES (?, ?, ?, '', '')"
    execute(ledger.path, [insert, ["flights", event, "settled"]])
    refused_untouched(
        ledger.path.parent,
        lambda: OPERATIONS[name](ledger),
        "no kind that this version knows",
    )


@pytest.mark.parametrize(
    "change", ["UPDATE dataset SET budget = ?", "UPDATE dataset SET reading = ?"]
)
def test_an_account_that_is_nested_without_end_is_refused_in_one_line(tmp_path, change):
    ledger = Ledger.create(tmp_path / "l", "flights", approx_dp(1.0, 1e-6), reading="basic")
    execute(ledger.path, [change, ["[" * 100_000]])
    refused_untouched(tmp_path, ledger.spent, "no kind that this version knows")


def test_an_entry_with_a_number_beyond_the_floats_is_refused(ledger):
    insert = "INSERT INTO spend (dataset, event, state, note, created) VALUES (?, ?, ?, '', '')"
    event = json.dumps({"kind": "gaussian", "mu": 10**400})
    execute(ledger.path, [insert, ["flights", event, "settled"]])
    refused(ledger.entries)


@pytest.mark.parametrize("text", ["nonsense", '{"kind": "renyi", "alpha": 2}', '{"rho": 1}'])
def test_a_budget_of_unknown_kind_is_refused(ledger, text):
    execute(ledger.path, ["UPDATE dataset SET budget = ?", [text]])
    refused(ledger.budget)


@pytest.mark.parametrize(
    "event",
    [ZcdpEvent(-5.0), GaussianEvent(-0.1), GaussianEvent(float("nan")), ZcdpEvent(float("inf"))],
)
def test_an_event_that_is_no_cost_is_refused(ledger, event):
    with pytest.raises((LedgerError, BudgetError)):
        ledger.reserve(event)
    assert ledger.entries() == []


def test_a_table_with_a_state_of_another_hand_cannot_be_written(ledger):
    insert = "INSERT INTO spend (dataset, event, state, note, created) VALUES (?, '', ?, '', '')"
    with pytest.raises(sqlite3.IntegrityError):
        execute(ledger.path, [insert, ["flights", "refunded"]])


# ---------------------------------------------------------------- many processes, and dying ones

RACER = """
import sys
from lownoise.errors import LedgerError
from lownoise.privacy import Ledger, ZcdpEvent
from lownoise.numbers import locked as module
module._PATIENCE = 1e6  # s, so that no load decides who is refused
ledger = Ledger(sys.argv[1], "flights")
ledger.budget()
print("ready", flush=True)
sys.stdin.readline()
try:
    print(ledger.reserve(ZcdpEvent(0.2)), flush=True)
except LedgerError as error:
    print("refused", "too little" in str(error), flush=True)
"""

KILLED_AFTER = """
import os, signal, sys
from lownoise.privacy import Ledger, ZcdpEvent
Ledger(sys.argv[1], "flights").reserve(ZcdpEvent(0.2), "killed")
os.kill(os.getpid(), signal.SIGKILL)
"""

KILLED_WITHIN = """
import os, signal, sys
from lownoise.privacy import Ledger, ZcdpEvent
ledger = Ledger(sys.argv[1], "flights")
with ledger._transaction() as connection:
    ledger._take(connection, ZcdpEvent(0.2), "reserved", "never")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_of_eight_processes_exactly_five_get_the_five_fifths(tmp_path):
    path = tmp_path / "l"
    ledger = Ledger.create(path, "flights", zcdp(1.0))
    answers = together([[sys.executable, "-c", RACER, str(path)]] * 8)
    numbers = [answer for answer in answers if not answer.startswith("refused")]
    assert sorted(answers)[5:] == ["refused True"] * 3
    assert len(set(numbers)) == 5
    assert sorted(e.id for e in ledger.entries()) == sorted(map(int, numbers))
    assert ledger.spent() == zcdp(1.0)


def test_a_reservation_outlives_the_process_that_made_it(ledger):
    done = subprocess.run([sys.executable, "-c", KILLED_AFTER, str(ledger.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (entry,) = ledger.entries()
    assert (entry.event, entry.state, entry.note) == (ZcdpEvent(0.2), "reserved", "killed")
    assert ledger.spent() == zcdp(0.2)
    refused(lambda: ledger.reserve(ZcdpEvent(0.11)))
    ledger.reserve(TENTH)


def test_a_process_that_dies_within_a_decision_takes_nothing(ledger):
    done = subprocess.run([sys.executable, "-c", KILLED_WITHIN, str(ledger.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert ledger.entries() == []
    ledger.reserve(ZcdpEvent(0.3))
    assert ledger.spent() == zcdp(0.3)
