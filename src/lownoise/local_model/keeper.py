# SPDX-License-Identifier: Apache-2.0
"""A device's memory: one answer a plan and person, kept before it is told, and what all cost.

A report hides one record; a second one, of the same record or of another, reveals as much again. So
the first is told every time, whatever the record has become since: that is what keeps ε the cost of
a plan, however often it asks. Who wants a new answer says so, and is charged.

One SQLite file, opened anew for each decision under its write lock. The transaction that looks for
an answer draws it and stores it, so of two processes one draws; and what is not on disk is told to
nobody. Names of persons do not stand there, only their SHA-256 under a key of the file's own.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, final

from lownoise.errors import FileError, LedgerError, path_of, quoted
from lownoise.local_model.report import Report
from lownoise.numbers.arrays import number
from lownoise.numbers.locked import LockedKind
from lownoise.numbers.readable import readable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from fractions import Fraction
    from os import PathLike
    from pathlib import Path

_KEEPER = LockedKind(
    "keeper", LedgerError, 0x6C6F776B, "is not a device's keeper", "restore it from a backup"
)  # "lowk"
_VERSION = 1
_SCHEMA = (
    # `file` is the number that the file system gave the file; then the limit, NULL for none
    """CREATE TABLE keeper (
        key BLOB NOT NULL,
        file TEXT NOT NULL,
        epsilon REAL,
        delta REAL NOT NULL
    ) STRICT""",
    """CREATE TABLE answer (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        plan TEXT NOT NULL,
        person BLOB NOT NULL,
        report TEXT NOT NULL,
        epsilon REAL NOT NULL,
        delta REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX persons ON answer (person, plan)",
)


class Plan(Protocol):
    """What a keeper needs of a device's plan."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the plan's terms."""

    @property
    def epsilon(self) -> float:
        """What one report costs."""

    @property
    def delta(self) -> float:
        """And its δ."""

    def verify(self) -> object:
        """Refuse a plan whose report costs more than it states."""

    def randomize(self, record: Any) -> Report:  # noqa: ANN401
        """Return a new report."""


@final
@readable
@dataclass(frozen=True)
class Spent:
    """What all answers of one person cost together: the sums of ε and δ, rounded up.

    Numbers add up as the decimals that they print as: three times 0.1 is 0.3.
    """

    epsilon: float
    delta: float


@final
class Keeper:
    """The answers of a device's persons, in a file.

    Args:
        path: of a file that `create` made.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> keeper = Keeper.create(Path(tempfile.mkdtemp()) / "answers", epsilon=2.0)
        >>> keeper.spent("Ada")
        Spent(epsilon=0.0, delta=0.0)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of(path, "keeper", LedgerError)

    def __repr__(self) -> str:
        return f"Keeper({str(self.path)!r})"

    @classmethod
    def create(
        cls, path: str | PathLike[str], *, epsilon: float | None = None, delta: float = 0.0
    ) -> Keeper:
        """Make the file of a new keeper.

        Args:
            path: of a file that does not exist.
            epsilon: the most that all answers of a person may cost; None for no limit.
            delta: the most of their δ, where ε has a limit.

        Raises:
            LedgerError: where the file exists or cannot be made, or a limit is out of range.
        """
        keeper = cls(path)
        limit: tuple[float | None, float] = (None, 0.0)
        if epsilon is not None:
            limit = _checked("epsilon", epsilon, math.inf), _checked("delta", delta, 1.0)
        with keeper._transaction(create=True) as connection:
            held = [os.urandom(32), _file(keeper.path), *limit]
            connection.execute("INSERT INTO keeper VALUES (?, ?, ?, ?)", held)
        return keeper

    def randomize(self, plan: Plan, record: Any, *, person: str, again: bool = False) -> Report:  # noqa: ANN401
        """Return the person's answer to a plan: the stored one, or a first one.

        Args:
            plan: from `lownoise.device.read`.
            record: as for `plan.randomize`; not used if an answer is stored.
            person: the person's name; each name has its own answers.
            again: draw a new answer, which costs as much as the first and replaces it.

        Raises:
            TableError: where the record has not the plan's values.
            PlanError: where a report reveals more than the plan states, so that no cost is known.
            LedgerError: where the file cannot be used, or the cost would be above the limit. Then
                nothing is spent.
        """
        with self._transaction() as connection:
            (key, _, *limit) = _held(self.path, connection)
            name = _named(key, person)
            kept = connection.execute(
                "SELECT report FROM answer WHERE person = ? AND plan = ? ORDER BY number DESC",
                [name, plan.digest],
            ).fetchone()
            if kept is not None and not again:
                return _report(self.path, kept[0])
            # what is charged must be what is revealed: who writes plans could state next to nothing
            plan.verify()
            cost = (plan.epsilon, plan.delta)
            _expect_within(limit, _costs(self.path, connection, name), cost)
            report = plan.randomize(record)
            connection.execute(
                "INSERT INTO answer (plan, person, report, epsilon, delta) VALUES (?, ?, ?, ?, ?)",
                [plan.digest, name, report.to_json(), *cost],
            )
        return report

    def spent(self, person: str) -> Spent:
        """Return what all answers of a person cost together, over all plans.

        Raises:
            LedgerError: where the file cannot be used.
        """
        from lownoise.numbers.rounding import float_up

        with self._transaction() as connection:
            (key, *_) = _held(self.path, connection)
            epsilon, delta = _costs(self.path, connection, _named(key, person))
        return Spent(float_up(epsilon), float_up(delta))

    def adopt(self) -> None:
        """Accept a file that was moved to another disk, or restored.

        A copy beside its original, or an older one, lacks some answers and would draw them anew.
        Call this only if the copy is the newest and the only one in use.

        Raises:
            LedgerError: where the file cannot be used.
        """
        with self._transaction(copied=True) as connection:
            connection.execute("UPDATE keeper SET file = ?", [_file(self.path)])

    @contextmanager
    def _transaction(
        self, *, create: bool = False, copied: bool = False
    ) -> Iterator[sqlite3.Connection]:
        """Hold the file's write lock for the block, and commit unless the block raises."""
        path = self.path
        with _KEEPER.usable(path):
            size = _size(path)
            # with a journal it may be what was left of one whose making was killed
            if create and size and not path.with_name(f"{path.name}-journal").exists():
                raise _existing(path)
            if not create and size is None:
                raise LedgerError(f"keeper={path} does not exist; make it with Keeper.create(path)")
        check = partial(_check, path, create=create, copied=copied)
        with _KEEPER.transaction(path, check, create=create) as connection:
            yield connection


def _check(path: Path, connection: sqlite3.Connection, *, create: bool, copied: bool) -> None:
    if create:
        if not _KEEPER.empty(connection):
            raise _existing(path)
        _KEEPER.make(connection, _SCHEMA, _VERSION)
        return
    _KEEPER.expect(path, connection, [_VERSION])
    _KEEPER.expect_one_name(path)
    if not copied and _held(path, connection)[1] != _file(path):
        raise LedgerError(
            f"keeper={path} is a copy, and may lack answers that were told; use the original, or "
            "where this is the newest and only one call adopt()"
        )


def _existing(path: Path) -> LedgerError:
    return LedgerError(f"keeper={path} exists already; open it with Keeper(path)")


def _held(path: Path, connection: sqlite3.Connection) -> Any:  # noqa: ANN401
    """Return the key, the file's number and the two limits."""
    rows = connection.execute("SELECT key, file, epsilon, delta FROM keeper").fetchall()
    if len(rows) != 1:
        raise LedgerError(f"keeper={path} is damaged; restore it from a backup")
    return rows[0]


def _size(path: Path) -> int | None:
    """Return how many bytes a file has, None where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _file(path: Path) -> str:
    """Return the number of a file in its file system, which a copy has not."""
    return str(path.stat().st_ino)


def _named(key: bytes, person: str) -> bytes:
    """Return what stands for a person in the file."""
    try:
        return hmac.digest(key, person.encode("utf-8"), hashlib.sha256)
    except (AttributeError, UnicodeEncodeError):
        raise LedgerError(f"person={quoted(person)} is no text; give a name") from None


def _report(path: Path, text: str) -> Report:
    try:
        return Report.from_json(text)
    except FileError:
        raise LedgerError(f"keeper={path} is damaged; restore it from a backup") from None


def _costs(path: Path, connection: sqlite3.Connection, person: bytes) -> tuple[Fraction, Fraction]:
    """Return what a person's answers cost, the sums of ε and of δ, exactly."""
    from lownoise.numbers.rounding import exact

    asked = "SELECT epsilon, delta FROM answer WHERE person = ?"
    sums = exact(0.0), exact(0.0)
    for epsilon, delta in connection.execute(asked, [person]):
        if not (0 < epsilon < math.inf and 0 <= delta < 1):
            raise LedgerError(f"keeper={path} is damaged; restore it from a backup")
        sums = sums[0] + exact(epsilon), sums[1] + exact(delta)
    return sums


def _expect_within(
    limit: tuple[float | None, float],
    sums: tuple[Fraction, Fraction],
    cost: tuple[float, float],
) -> None:
    """Refuse a cost that is too much beside what was spent."""
    from lownoise.numbers.rounding import exact

    most, most_delta = limit
    if most is None:
        return
    epsilon, delta = (own + exact(more) for own, more in zip(sums, cost, strict=True))
    if epsilon > exact(most) or delta > exact(most_delta):
        raise LedgerError(
            f"answers of this person would cost epsilon {float(epsilon):.6g} and delta "
            f"{float(delta):.6g}, above the limit of {most:g} and {most_delta:g}; send no report"
        )


def _checked(field: str, value: float, most: float) -> float:
    found = number(value, field=f"keeper.{field}", error=LedgerError)
    if not 0 <= found < most:
        raise LedgerError(
            f"keeper.{field}={found:g} is out of range; give one of at least 0 and below {most:g}"
        )
    return found
