# SPDX-License-Identifier: Apache-2.0
"""A run of increments, and its journal: which sums each round's noise has been used for.

Noise comes from a key and the round. Two sums under one noise would tell their difference, so the
file holds the key and, for each round that has begun, a keyed digest of its sums: it is on disk,
and the ledger has followed, before the round's noise is made. Whoever repeats a round after a crash
repeats it with the same sums, and sees the same answer, or is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np

from lownoise.errors import FileError, PlanError, StreamError, path_of
from lownoise.privacy import GaussianEvent, StreamPosition, checked_ledger
from lownoise.release import codec
from lownoise.release.codec import Spend
from lownoise.sensitivity.relations import relation_name
from lownoise.streams.accounts import StreamAccount, begun
from lownoise.streams.files import appear, held, stream_kind
from lownoise.streams.increments import IncrementMechanism, IncrementNoise
from lownoise.streams.progress import spend_from_dict, spend_to_dict, text_of
from lownoise.streams.store import Place

if TYPE_CHECKING:
    import sqlite3
    from os import PathLike
    from pathlib import Path

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, Payer
    from lownoise.privacy.events import Event

_FILE = stream_kind(0x6C6F7769)  # "lowi"
_VERSION = 1
_KEY = 32
_OTHER_MACHINE = 2.0**-30
_SCHEMA = (
    "CREATE TABLE part (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT",
    """CREATE TABLE round (
        number INTEGER PRIMARY KEY,
        sums BLOB NOT NULL,
        mark BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT""",
)


@final
@dataclass(frozen=True, eq=False)
class _Journal:
    """What a file holds; an `accounts.Followed`."""

    path: Path
    key: bytes
    mechanism: IncrementMechanism
    asked: dict[str, Any]
    mu: float  # as it was paid: another machine may round the last digits of sums otherwise
    note: str
    spend: Spend | None
    ledger: dict[str, Any] | None
    place: Place

    @property
    def paid(self) -> tuple[Event, str]:
        """What was paid for it, and what the ledger says of it."""
        return GaussianEvent(self.mu), self.note


@final
class IncrementRun:
    """A run of increments, as far as it is: `begin` starts it, `resume` goes on.

    Examples:
        >>> from lownoise.streams.carried import BandedCarried
        >>> mechanism = IncrementMechanism(
        ...     carried=BandedCarried(np.array([1.0, 0.5])), rounds=3, dimension=2, clip=1.0,
        ...     exponent=-20, deviation=2.0**20, people=10)
        >>> run = IncrementRun.begin(mechanism)
        >>> sums = np.zeros(2)
        >>> run.add_noise(sums)
        >>> run.done, bool(sums.any())
        (1, True)
    """

    def __init__(
        self,
        noise: IncrementNoise,
        key: bytes,
        spend: Spend | None,
        path: Path | None = None,
        account: StreamAccount | None = None,
    ) -> None:
        self._noise, self._key, self.spend = noise, key, spend
        self.path, self._account = path, account
        self._lock, self._process = threading.Lock(), os.getpid()

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied.

        Raises:
            StreamError: always.
        """
        raise StreamError("run is not copied: its noise is used once; use state, with a journal")

    @classmethod
    def begin(
        cls,
        mechanism: IncrementMechanism,
        *,
        budget: Budget | None = None,
        ledger: Payer | None = None,
        path: str | PathLike[str] | None = None,
        asked: dict[str, Any] | None = None,
        note: str = "increments",
        threads: int | None = None,
    ) -> IncrementRun:
        """Pay for all rounds, write the journal, and return the run before its first round.

        Args:
            mechanism: what is published.
            budget: what it was asked with, which it must not exceed; None where nobody asked.
            ledger: the account that pays.
            path: a new file for the journal. Without one the run ends with its process.
            asked: what it is for, as JSON values: `resume` refuses another.
            note: what the ledger says of it.
            threads: how many make noise at once.

        Raises:
            PlanError: where it reveals more than the budget.
            LedgerError: where the account cannot pay; then nothing has started.
            FileError: where the file exists or cannot be written; then nothing is spent.
        """
        mu = mechanism.loss.mu
        if budget is not None and mu > budget.gaussian_parameter():
            raise PlanError("run reveals more than its budget; plan again")
        place = None if path is None else path_of(path).absolute()
        event = GaussianEvent(mu)
        ledger = checked_ledger(ledger)
        relation = relation_name(mechanism.relation)
        number = ledger.reserve(event, note, asked=budget, relation=relation) if ledger else 0
        spend = Spend(ledger.dataset, number) if ledger else None
        key = os.urandom(_KEY)

        def made() -> tuple[tuple[IncrementNoise, StreamAccount | None], StreamPosition | None]:
            noise = IncrementNoise(mechanism, key, threads=threads)
            if place is None:
                return (noise, None), None
            account = StreamAccount.of(ledger) if ledger else None
            at = _write(place, key, mechanism, asked or {}, note, spend, account)
            return (noise, account), at

        noise, account = begun(ledger, number, made)
        return cls(noise, key, spend, place, account)

    @classmethod
    def resume(
        cls,
        path: str | PathLike[str],
        state: dict[str, Any] | None = None,
        *,
        asked: dict[str, Any] | None = None,
        ledger: Payer | None = None,
        threads: int | None = None,
    ) -> IncrementRun:
        """Return the run of a journal, at a checkpoint or before its first round.

        Args:
            path: the journal.
            state: what `state` returned; None before the first round.
            asked: what it must be for.
            ledger: the account that paid, where its ledger has been moved.
            threads: how many make noise at once.

        Raises:
            FileError: where the file is no journal or is damaged, or is of another run.
            LedgerError: where the account is not the one that paid, or says that the run went on
                elsewhere: the journal is an old copy.
            StreamError: where the checkpoint is of another run, or was altered.
        """
        place = path_of(path).absolute()
        ledger = checked_ledger(ledger)
        with held(_FILE, place, (_VERSION,)) as connection:
            found = _read(connection, place)
            if asked is not None and found.asked != json.loads(json.dumps(asked)):
                raise FileError(
                    f"file={place} is the journal of another model or plan; give the same, or a "
                    "new path, which is a release of its own"
                )
            account = None
            if found.ledger is not None:
                account = StreamAccount.from_dict(found.ledger, found.spend, ledger)
                account.follow(place, found)
        done, kept = _restored(found, state)
        noise = IncrementNoise(found.mechanism, found.key, done=done, kept=kept, threads=threads)
        return cls(noise, found.key, found.spend, place, account)

    @property
    def mechanism(self) -> IncrementMechanism:
        """What is published."""
        return self._noise.mechanism

    @property
    def done(self) -> int:
        """How many rounds there were."""
        return self._noise.done

    def add_noise(self, values: Vector) -> None:
        """Publish a round: add noise to its sums.

        Args:
            values: doubles, shape (d,), changed in place; each is rounded to an integer first.

        Raises:
            StreamError: where no round is left, the sums are of another shape, or the round was
                begun with other sums; where the run is a copy in a forked process and has no
                journal. Then no noise has been made.
            FileError, LedgerError: where the journal or its ledger cannot be written, or it is an
                old copy.
        """
        own = self.mechanism
        with self._lock:
            if self.done >= own.rounds:
                raise StreamError(f"all {own.rounds:,} rounds are over; plan a run with more")
            if values.shape != (own.dimension,) or values.dtype != np.float64:
                raise StreamError(f"sums are no {own.dimension:,} doubles; give those of the plan")
            np.rint(values, out=values)  # noise is of integers: a fraction would be seen through it
            if self.path is not None:
                self._begin(self.path, values)
            elif self._process != os.getpid():
                raise StreamError(
                    "run is a copy in a forked process, and its noise is used once; go on where it "
                    "was made, or give it a path"
                )
            self._noise.add(values)

    def _begin(self, path: Path, values: Vector) -> None:
        sums = _keyed(self._key, f"sums {self.done}", np.ascontiguousarray(values, "<f8"))
        with held(_FILE, path, (_VERSION,)) as connection:
            if not hmac.compare_digest(_part(connection, path, "key"), self._key):
                raise StreamError(f"file={path} holds another run now; give the path of this one")
            last, at = _last(connection, self._key)
            before = _before(connection, self._key, last)
            if self.done > last:
                raise StreamError(
                    f"file={path} is behind this run: it is an old copy; restore the file that was "
                    "left last"
                )
            if self.done < last:
                _expect(connection, self.done + 1, sums)
            else:
                mark, before, last = os.urandom(16), at, last + 1
                at = _chain(self._key, before, mark, sums)
                connection.execute("INSERT INTO round VALUES (?, ?, ?, ?)", [last, sums, mark, at])
            place = Place(_position(self._key, last, at), before.hex())
        if self._account is not None:
            self._account.move(path, place)

    def state(self) -> dict[str, Any]:
        """Return what `resume` goes on from: as secret as the data, for it holds past noise.

        Raises:
            StreamError: where there is no journal: two could go on from it with one noise.
        """
        if self.path is None:
            raise StreamError(
                "run has no journal, without which it cannot be gone on with safely; start it with "
                "path="
            )
        with self._lock:
            kept, done = self._noise.state(), self.done
        return {"round": done, "kept": kept, "mac": _state_mac(self._key, done, kept)}


def _restored(found: _Journal, state: dict[str, Any] | None) -> tuple[int, Vector | None]:
    if state is None:
        return 0, None
    try:
        done, kept, mac = int(state["round"]), np.asarray(state["kept"]), bytes(state["mac"])
    except (KeyError, TypeError, ValueError):
        raise StreamError("checkpoint is none of a run; give what state_dict returned") from None
    if not hmac.compare_digest(mac, _state_mac(found.key, done, kept)):
        raise StreamError(
            f"checkpoint is not of the run in file={found.path}, or was altered; give that run's"
        )
    if done > found.place.at.round:
        raise StreamError(
            f"file={found.path} is behind the checkpoint, which is at round {done:,}: it is an old "
            "copy; restore the file that was left last"
        )
    return done, kept.copy()


def _state_mac(key: bytes, done: int, kept: Vector) -> bytes:
    name = f"kept {done} {kept.dtype.str} {kept.shape}"
    return _keyed(key, name, np.ascontiguousarray(kept))


def _keyed(key: bytes, name: str, content: Vector) -> bytes:
    own = hashlib.blake2b(name.encode() + b"\0", key=key, digest_size=32, person=b"lownoise run")
    own.update(content.data)
    return own.digest()


def _chain(key: bytes, before: bytes, mark: bytes, sums: bytes) -> bytes:
    content = before + mark + sums
    return hashlib.blake2b(content, key=key, digest_size=32, person=b"lownoise chain").digest()


def _position(key: bytes, done: int, digest: bytes) -> StreamPosition:
    """Return where the file stands; the key stays in it."""
    name = hashlib.blake2b(b"run", key=key, digest_size=32, person=b"lownoise name")
    return StreamPosition(name.hexdigest(), done, digest.hex())


def _write(
    path: Path,
    key: bytes,
    mechanism: IncrementMechanism,
    asked: dict[str, Any],
    note: str,
    spend: Spend | None,
    account: StreamAccount | None,
) -> StreamPosition:
    parts = {
        "key": key,
        "mechanism": text_of(mechanism.to_dict()),
        "asked": text_of(asked),
        "mu": text_of(mechanism.loss.mu),
        "note": text_of(note),
        "spend": text_of(spend_to_dict(spend)),
        "ledger": text_of(account and account.to_dict()),
    }
    parts["mac"] = _parts_mac(parts)

    def fill(connection: sqlite3.Connection) -> None:
        _FILE.make(connection, _SCHEMA, _VERSION)
        for name, content in parts.items():
            connection.execute("INSERT INTO part VALUES (?, ?)", [name, content])

    appear(_FILE, path, os.urandom(16), fill)
    return _position(key, 0, _chain(key, b"", b"", b""))


def _parts_mac(parts: dict[str, bytes]) -> bytes:
    own = hashlib.blake2b(key=parts["key"], digest_size=32, person=b"lownoise parts")
    for name in ("mechanism", "asked", "mu", "note", "spend", "ledger"):
        own.update(len(parts[name]).to_bytes(8, "big") + parts[name])
    return own.digest()


def _part(connection: sqlite3.Connection, path: Path, name: str) -> bytes:
    row = connection.execute("SELECT content FROM part WHERE name = ?", [name]).fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise FileError(f"file={path} is damaged; restore the file that was left last")
    return row[0]


def _last(connection: sqlite3.Connection, key: bytes) -> tuple[int, bytes]:
    """Return how many rounds have begun, and the digest of the last one."""
    row = connection.execute(
        "SELECT number, digest FROM round ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return (0, _chain(key, b"", b"", b"")) if row is None else (int(row[0]), bytes(row[1]))


def _before(connection: sqlite3.Connection, key: bytes, last: int) -> bytes:
    """Return the digest of the round before the last one that has begun."""
    row = connection.execute("SELECT digest FROM round WHERE number = ?", [last - 1]).fetchone()
    return _chain(key, b"", b"", b"") if row is None else bytes(row[0])


def _expect(connection: sqlite3.Connection, number: int, sums: bytes) -> None:
    """Refuse a round that has begun with other sums."""
    (known,) = connection.execute("SELECT sums FROM round WHERE number = ?", [number]).fetchone()
    if not hmac.compare_digest(known, sums):
        raise StreamError(
            f"round={number:,} was begun before with other sums; go on from the last checkpoint, "
            "with the same data in the same order"
        )


def _read(connection: sqlite3.Connection, path: Path) -> _Journal:
    names = ("key", "mechanism", "asked", "mu", "note", "spend", "ledger", "mac")
    parts = {name: _part(connection, path, name) for name in names}
    damaged = FileError(f"file={path} is damaged; restore the file that was left last")
    if len(parts["key"]) != _KEY or not hmac.compare_digest(parts["mac"], _parts_mac(parts)):
        raise damaged
    key, done, before = parts["key"], 0, None
    at = _chain(key, b"", b"", b"")
    for number, sums, mark, digest in connection.execute("SELECT * FROM round ORDER BY number"):
        done, before, at = done + 1, at, _chain(key, at, mark, sums)
        if number != done or digest != at:
            raise damaged
    text = {name: json.loads(parts[name]) for name in names if name not in ("key", "mac")}
    mechanism = codec.guarded(lambda: IncrementMechanism.from_dict(text["mechanism"]))
    if not mechanism.loss.mu <= text["mu"] * (1 + _OTHER_MACHINE):
        raise damaged
    return _Journal(
        path=path,
        key=key,
        mechanism=mechanism,
        asked=text["asked"],
        mu=text["mu"],
        note=text["note"],
        spend=spend_from_dict(text["spend"]),
        ledger=text["ledger"],
        place=Place(_position(key, done, at), None if before is None else before.hex()),
    )
