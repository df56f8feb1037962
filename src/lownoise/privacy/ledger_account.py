# SPDX-License-Identifier: Apache-2.0
"""What an account in a ledger's file says: its budget, its reading, its spends, what is left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from lownoise.errors import LedgerError, LownoiseError, path_of, quoted
from lownoise.errors.credentials import may_hold_a_secret
from lownoise.numbers.readable import readable
from lownoise.privacy.budget import budget_to_dict, checked_budget
from lownoise.privacy.choices import Numbered, chosen, named, reading_from_text
from lownoise.privacy.entries import Entry, entries_of
from lownoise.privacy.ledger_file import budget_from_text, transaction
from lownoise.privacy.readings import only_reading

if TYPE_CHECKING:
    import sqlite3
    from contextlib import AbstractContextManager
    from os import PathLike
    from pathlib import Path

    from lownoise.privacy.budget import Budget
    from lownoise.privacy.choices import ReadingName
    from lownoise.privacy.readings import AbstractReading, Spent

_MOST_NAMES = 20  # of accounts, in a message


@readable
@dataclass(frozen=True)
class Account:
    """One dataset's account in a ledger file, as it is read.

    Args:
        path: the ledger file.
        dataset: the dataset's name in it.
    """

    path: Path
    dataset: str

    def __init__(self, path: str | PathLike[str], dataset: str) -> None:
        object.__setattr__(self, "path", path_of(path, "ledger", LedgerError))
        object.__setattr__(self, "dataset", dataset)

    def __str__(self) -> str:
        """Say what is spent, what is left, and each spend, or the fields where no account is."""
        report = import_module("lownoise.report")  # which lies above, as of plans and releases
        try:
            return str(report.render_text(report.sections(self))).rstrip()
        except LownoiseError:
            return repr(self)

    @classmethod
    def datasets(cls, path: str | PathLike[str]) -> list[str]:
        """Return the names of the datasets with an account in the file.

        Raises:
            LedgerError: where the file is no ledger.
        """
        own = cls(path, "")
        with own._transaction() as connection:
            return own._held(connection)

    def budget(self) -> Budget:
        """Return the dataset's total budget.

        Raises:
            LedgerError: where the file is no ledger or the dataset has no account in it.
        """
        with self._transaction() as connection:
            return self._budget(connection)

    def entries(self) -> list[Entry]:
        """Return every spend, oldest first, cancelled ones too.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            self._budget(connection)
            return self._entries(connection)

    def reading(self) -> str | Numbered | None:
        """Return what adds up over the account's spends: its name, or the `ln.Caps` or `ln.Aside`.

        None where no spend has fixed it yet; "mixed" where an older version took spends of several
        kinds, so that nothing more is paid.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            found = self._reading(connection, self._budget(connection))
        if found is None or isinstance(found, Numbered):
            return found
        return found.kind

    def spent(self) -> Budget:
        """Return what is spent: ρ, μ, ε, or under approx_dp the (ε, δ) that its reading comes to.

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.spent(budget, spends)

    def remaining(self) -> dict[str, float]:
        """Return what is left of each sum of the reading, rounded down: a spend of it is taken.

        It is "rho", "mu", "epsilon", "epsilon" and "delta", or all but "rho" for `ln.Caps`, or
        "delta" and one of "rho" and "mu" for `ln.Aside`; the budget itself where the reading is
        open, and nothing where it is "mixed".

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.remaining(budget, spends)

    def taken(self) -> dict[str, float]:
        """Return what is spent of each sum of the reading, rounded up: beside `remaining`.

        Numbers of "mu" add up by their squares.

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.taken(budget, spends)

    def identifier(self) -> str:
        """Return what tells this ledger from every other, wherever its file is and by any name.

        Raises:
            LedgerError: where the file is no ledger.
        """
        with self._transaction() as connection:
            (found,) = connection.execute("SELECT identifier FROM ledger").fetchone()
        return str(found)

    def _standing(self) -> tuple[AbstractReading, Budget, list[Spent]]:
        """Return the reading, basic where none is fixed, the budget and what counts as spent."""
        with self._transaction() as connection:
            budget = self._budget(connection)
            spends = self._counted(connection)
            return self._reading(connection, budget) or named("basic"), budget, spends

    def _held(self, connection: sqlite3.Connection) -> list[str]:
        return [name for (name,) in connection.execute("SELECT name FROM dataset ORDER BY name")]

    def _budget(self, connection: sqlite3.Connection) -> Budget:
        row = connection.execute(
            "SELECT budget FROM dataset WHERE name = ?",
            [self.dataset],
        ).fetchone()
        if row is None:
            raise LedgerError(
                f"dataset={self.dataset!r} has no account in {self.path}; "
                "open one with Ledger.create or `lownoise ledger create`",
            )
        return budget_from_text(row[0])

    def _reading(self, connection: sqlite3.Connection, budget: Budget) -> AbstractReading | None:
        (text,) = connection.execute(
            "SELECT reading FROM dataset WHERE name = ?", [self.dataset]
        ).fetchone()
        return only_reading(budget) or (None if text is None else reading_from_text(text))

    def _counted(self, connection: sqlite3.Connection) -> list[Spent]:
        """Return what counts as spent: reserved or settled."""
        return [(e.event, e.pair) for e in self._entries(connection) if e.state != "cancelled"]

    def _entries(self, connection: sqlite3.Connection) -> list[Entry]:
        return entries_of(connection, self.dataset)

    def _transaction(self, *, create: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.path, create=create)

    def _asked(
        self, budget: Budget, reading: ReadingName | Numbered | None
    ) -> tuple[Budget, AbstractReading | None]:
        """Return what an account is to have, checked; nothing is opened."""
        total, dataset = checked_budget(budget), self.dataset
        if not isinstance(dataset, str) or not dataset.strip() or not dataset.isprintable():
            raise LedgerError(
                f"dataset={quoted(dataset)} is no name; give one of letters that print"
            )
        if may_hold_a_secret(dataset):
            raise LedgerError(
                "dataset may hold a password or a key, and a ledger keeps it; give a name"
            )
        found = only_reading(total) if reading is None else chosen(reading, total)
        if self.path.name == ":memory:" or (self.path.exists() and not self.path.is_file()):
            raise LedgerError(f"ledger={self.path} keeps nothing; give the path of a file")
        return total, found

    def _begin(
        self,
        connection: sqlite3.Connection,
        when: str,
        total: Budget,
        found: AbstractReading | None,
    ) -> None:
        connection.execute(
            "INSERT INTO dataset (name, budget, created, reading) VALUES (?, ?, ?, ?)",
            [self.dataset, json.dumps(budget_to_dict(total)), when, found and found.to_text()],
        )

    def _expect(
        self, connection: sqlite3.Connection, total: Budget, asked: AbstractReading | None
    ) -> None:
        """Refuse another budget than the account has, or another reading than it is asked with."""
        budget = self._budget(connection)
        reading = self._reading(connection, budget)
        if budget != total:
            raise LedgerError(
                f"dataset={self.dataset!r} in {self.path} has {budget!r}, and {total!r} is "
                "asked for; give the first, or another path",
            )
        if asked not in (None, reading):
            has = "no reading yet" if reading is None else f"the reading {reading.kind!r}"
            raise LedgerError(
                f"dataset={self.dataset!r} in {self.path} has {has}, and another is asked for; "
                "leave reading out",
            )


def accounts_text(names: list[str]) -> str:
    """Return which accounts a file has, not too many of them."""
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"accounts of {', '.join(map(repr, names[:_MOST_NAMES])) or 'nothing'}{more}"
