# SPDX-License-Identifier: Apache-2.0
"""A spend is on the disk, and not in a cache of it, before anything relies on it."""

import sqlite3

import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import LedgerError

EXTRA = 3  # SQLite's number for it: the file and its folder are synced at every commit


class Watched(sqlite3.Connection):
    """A connection that notes how it would write, right before each commit."""

    levels: list[int]

    def execute(self, statement, *more):
        if statement.strip().upper().startswith("COMMIT"):
            self.levels.append(super().execute("PRAGMA synchronous").fetchone()[0])
        return super().execute(statement, *more)


@pytest.fixture
def levels(monkeypatch):
    found = []
    connect = sqlite3.connect

    def watched(*where, **how):
        connection = connect(*where, **{**how, "factory": Watched})
        connection.levels = found
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    return found


def test_every_commit_of_a_ledger_waits_for_the_disk(tmp_path, levels):
    ledger = ln.Ledger.create(tmp_path / "l.db", "survey", ln.zcdp(1.0))
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.25), relation="add_remove")
    before = len(levels)
    assert before
    plan.release(pd.DataFrame({"a": [0.5]}), ledger)
    assert len(levels) >= before + 2  # reserved, and settled
    assert set(levels) == {EXTRA}


class Failing(sqlite3.Connection):
    """A connection whose commit is on the disk, and is said to have failed: as of its folder."""

    def execute(self, statement, *more):
        found = super().execute(statement, *more)
        if statement.strip().upper().startswith("COMMIT"):
            raise sqlite3.OperationalError("disk I/O error")
        return found


def test_a_spend_whose_commit_fails_when_it_is_written_counts(tmp_path, monkeypatch):
    """As the words of `reserve` have it: no answer is given, and what may stand does."""
    ledger = ln.Ledger.create(tmp_path / "l.db", "survey", ln.zcdp(1.0))
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.25), relation="add_remove")
    connect = sqlite3.connect
    with monkeypatch.context() as patched:
        patched.setattr(
            sqlite3, "connect", lambda *w, **h: connect(*w, **{**h, "factory": Failing})
        )
        with pytest.raises(LedgerError, match="cannot be used"):
            plan.release(pd.DataFrame({"a": [0.5]}), ledger)
    assert [entry.state for entry in ledger.entries()] == ["reserved"]
    assert ledger.remaining() == {"rho": 0.75}
