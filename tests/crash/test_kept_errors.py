# SPDX-License-Identifier: Apache-2.0
"""An error that somebody keeps, as an interactive session does the last, locks no file."""

import sqlite3
from contextlib import closing

import pytest

import lownoise as ln
from local_model.plans import document
from lownoise.device import Keeper, read
from lownoise.errors import FileError, LedgerError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy import entries
from lownoise.streams import start, store


def assert_free(path):
    with closing(sqlite3.connect(path, 0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def ledger(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "ledger", "d", ln.zcdp(1.0))
    for rho in (0.25, 0.125, 0.0625):
        ledger.charge(ln.zcdp(rho), "of May")
    return ledger


USES = {
    "entries": lambda ledger: ledger.entries(),
    "remaining": lambda ledger: ledger.remaining(),
    "charge": lambda ledger: ledger.charge(ln.zcdp(0.25), "of June"),
}


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_an_entry_that_is_not_understood_leaves_the_ledger_to_others(ledger, use):
    change(ledger.path, """UPDATE spend SET event = '{"kind": "new"}' WHERE id = 1""")
    with pytest.raises(LedgerError, match="upgrade lownoise") as kept:
        use(ledger)
    assert_free(ledger.path)
    assert kept.tb is not None


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_an_interrupt_leaves_the_ledger_to_others(ledger, use, monkeypatch):
    def interrupted(_text):
        raise KeyboardInterrupt

    monkeypatch.setattr(entries, "event_from_text", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        use(ledger)
    assert_free(ledger.path)
    assert kept.tb is not None


def test_a_damaged_cost_leaves_a_keeper_to_others(tmp_path):
    keeper, plan = Keeper.create(tmp_path / "answers"), read(document("laplace"))
    for _ in range(3):
        keeper.randomize(plan, [0.5, 0.5, 0.5], person="Ada", again=True)
    change(keeper.path, "UPDATE answer SET epsilon = -1.0 WHERE number = 1")
    with pytest.raises(LedgerError, match="damaged") as kept:
        keeper.spent("Ada")
    assert_free(keeper.path)
    assert kept.tb is not None


def test_altered_noise_leaves_a_stream_to_others(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_BLOCK", 16)  # rounds of noise in a row of the file
    terms = ln.stream(ln.Prefix(40), budget=ln.zcdp(0.5), strategy="square_root").terms
    start(terms, randomness=SimulationRandomness(1), path=tmp_path / "s")
    change(tmp_path / "s", "UPDATE noise SET digest = x'00' WHERE first = 0")
    with pytest.raises(FileError, match="was altered") as kept:
        ln.Stream.open(tmp_path / "s")
    assert_free(tmp_path / "s")
    assert kept.tb is not None
