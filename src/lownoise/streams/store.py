# SPDX-License-Identifier: Apache-2.0
"""A stream in a file: its terms and all kept noise from the start, then a transaction a batch.

One SQLite file a stream. It appears with everything in it or not at all, before a round is
answered; later each batch is on disk before its answers are returned. Whoever goes on from the file
does so in the transaction that saw it as far as they are: of two, one is refused. A file that a
ledger paid for (version 2) keeps the digest of its batch before too, so that the ledger can follow.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, StreamError
from lownoise.privacy import StreamPosition
from lownoise.release import codec
from lownoise.streams import files
from lownoise.streams.codec import document, terms_from_dict, terms_to_dict
from lownoise.streams.progress import Progress, spend_from_dict, spend_to_dict, text_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lownoise.numbers.arrays import Integers
    from lownoise.privacy.events import Event
    from lownoise.release.codec import Spend
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

_FILE = files.stream_kind(0x6C6F7773)  # "lows"
_VERSION, _COUNTED = 1, 2  # without and with a ledger that follows
_BLOCK = 1 << 16  # rounds of noise in a row
_SCHEMA = (
    """CREATE TABLE part (
        name TEXT PRIMARY KEY,
        content BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE noise (
        first INTEGER PRIMARY KEY,
        content BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE progress (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        round INTEGER NOT NULL,
        content BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT""",
)


@final
@dataclass(frozen=True, eq=False)
class Contents:
    """What a stream's file holds; of kept noise, that of the rounds that are left."""

    terms: Terms
    asked: dict[str, Any]
    spend: Spend | None
    progress: Progress
    kept: Integers | None
    ledger: dict[str, Any] | None
    place: Place

    @property
    def paid(self) -> tuple[Event, str]:
        """What was paid for it, and what the ledger says of it."""
        return self.terms.cost.event, self.terms.view.note


@final
@dataclass(frozen=True)
class Place:
    """Where a file stands, and the digest of where it stood before, None if that is not known."""

    at: StreamPosition
    before: str | None


@final
@dataclass(frozen=True)
class StreamFile:
    """One stream's file; each use opens it anew.

    Args:
        path: where it is.
        identity: 16 random bytes of the stream, so that no other can take its place.
        counted: whether a ledger follows it.
    """

    path: Path
    identity: bytes
    counted: bool = False

    @classmethod
    def create(
        cls,
        path: Path,
        terms: Terms,
        asked: dict[str, Any],
        spend: Spend | None,
        progress: Progress,
        kept: Integers | None,
        ledger: dict[str, Any] | None = None,
    ) -> StreamFile:
        """Write a stream before its first round: all of it, or nothing.

        Args:
            path: a new file.
            terms: what is guaranteed.
            asked: what it was asked for, as JSON values.
            spend: where it is paid.
            progress: before the first round.
            kept: the noise of all rounds, where it is kept.
            ledger: how the ledger is found that follows it, as JSON values.

        Raises:
            FileError: where the file exists or cannot be written; then it has not been.
        """
        made = cls(path, os.urandom(16), ledger is not None)
        parts = {
            "terms": text_of(terms_to_dict(terms)),
            "asked": text_of(asked),
            "spend": text_of(spend_to_dict(spend)),
            **({} if ledger is None else {"ledger": text_of(ledger)}),
        }
        files.appear(_FILE, path, made.identity, lambda own: made._fill(own, parts, progress, kept))
        return made

    def _fill(
        self,
        connection: sqlite3.Connection,
        parts: dict[str, bytes],
        progress: Progress,
        kept: Integers | None,
    ) -> None:
        _FILE.make(connection, _SCHEMA, _VERSION)
        for name, content in {"identity": self.identity, **parts}.items():
            self._write_part(connection, name, content)
        for start in range(0, 0 if kept is None else len(kept), _BLOCK):
            assert kept is not None  # noqa: S101 (else there is no block)
            content = np.ascontiguousarray(kept[start : start + _BLOCK], dtype="<i8").tobytes()
            block = (start, content, self._digest(f"noise {start}", content))
            connection.execute("INSERT INTO noise VALUES (?, ?, ?)", block)
        content = text_of(progress.to_dict())
        digest = self._digest(f"round {progress.round}", content)
        row = [progress.round, content, digest]
        connection.execute("INSERT INTO progress VALUES (1, ?, ?, ?)", row)
        if self.counted:
            _count(connection)

    def _write_part(self, connection: sqlite3.Connection, name: str, content: bytes) -> None:
        row = [name, content, self._digest(name, content)]
        connection.execute("INSERT INTO part VALUES (?, ?, ?)", row)

    @classmethod
    @contextmanager
    def opening(
        cls, path: Path, domain: AbstractDomain | None = None
    ) -> Iterator[tuple[StreamFile, Contents, Callable[[dict[str, Any]], StreamFile]]]:
        """Hold a stream's file; give it, all that it holds, and what lets a ledger follow it.

        Args:
            path: where it is.
            domain: the set, where the terms only name it.

        Raises:
            FileError: where it is no stream of this version, or is damaged; it is left as it is.
        """
        with _held(path) as connection:
            found = cls(path, _identity(connection, path), _is_counted(connection))
            try:
                contents = codec.guarded(lambda: found._contents(connection, domain))
            except FileError as error:
                raise FileError(f"file={path}: {error}") from None

            def follow(ledger: dict[str, Any]) -> StreamFile:
                found._write_part(connection, "ledger", text_of(ledger))
                _count(connection)
                return replace(found, counted=True)

            yield found, contents, follow

    @classmethod
    def stated(
        cls, path: Path, domain: AbstractDomain | None, check: Callable[[dict[str, Any]], None]
    ) -> str | None:
        """Return the document of what a stream's file guarantees; None where it is no database.

        All of the file is read and must be whole, as `opening` has it; nothing is written.

        Args:
            path: where it is.
            domain: as of `opening`.
            check: is given a document of the terms before anything is made of them.

        Raises:
            FileError: as `opening`.
        """
        with _FILE.reading(path) as connection:
            if connection is None:
                return None
            _FILE.expect(path, connection, (_VERSION, _COUNTED))
            _FILE.expect_one_name(path)
            found = cls(path, _identity(connection, path), _is_counted(connection))

            def read() -> str:
                return document(found._contents(connection, domain, check).terms)

            try:
                return codec.guarded(read)
            except FileError as error:
                raise FileError(f"file={path}: {error}") from None

    def _contents(
        self,
        connection: sqlite3.Connection,
        domain: AbstractDomain | None,
        check: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> Contents:
        (intact,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if intact != "ok":
            raise FileError("it is damaged; restore the file that was left last")
        parts = {}
        for name, content, digest in connection.execute("SELECT * FROM part"):
            self._expect(name, content, digest)
            parts[name] = content
        stated = json.loads(parts["terms"])
        check({"terms": stated})
        terms = terms_from_dict(stated, domain)
        _, done, content, digest, *more = connection.execute(
            "SELECT * FROM progress WHERE id = 1"
        ).fetchone()
        before, mark = more if self.counted else (None, None)
        self._expect(f"round {done}", (before or b"") + (mark or b"") + content, digest)
        progress = Progress.from_dict(json.loads(content), terms)
        if progress.round != done:
            raise FileError("its rounds do not agree")
        return Contents(
            terms=terms,
            asked=json.loads(parts["asked"]),
            spend=spend_from_dict(json.loads(parts["spend"])),
            progress=progress,
            kept=self._kept(connection, terms, done) if progress.noise is None else None,
            ledger=json.loads(parts["ledger"]) if self.counted else None,
            place=Place(self._position(done, digest), before and before.hex()),
        )

    def position(self) -> StreamPosition:
        """Return where the file stands.

        Raises:
            FileError: where it is not the file that it was.
        """
        with _held(self.path) as connection:
            return self._position(*self._stand(connection))

    def _kept(self, connection: sqlite3.Connection, terms: Terms, done: int) -> Integers:
        rounds, r = terms.question.workload.rounds, terms.mechanism.coding.step.size
        (blocks,) = connection.execute("SELECT count(*) FROM noise").fetchone()
        if blocks != -(-rounds // _BLOCK):  # before there is room for so many
            raise FileError("its noise is not whole")
        kept = np.zeros((rounds - done, r), dtype=np.int64)
        start = done - done % _BLOCK
        asked = "SELECT * FROM noise WHERE first >= ? ORDER BY first"
        for (first, content, digest), expected in zip(
            connection.execute(asked, [start]), range(start, rounds, _BLOCK), strict=True
        ):
            self._expect(f"noise {first}", content, digest)
            own = np.frombuffer(content, dtype="<i8").reshape(-1, r)
            if first != expected or len(own) != min(_BLOCK, rounds - first):
                raise FileError("its noise is not whole")
            skip = max(done - first, 0)
            kept[first + skip - done : first - done + len(own)] = own[skip:]
        kept.setflags(write=False)
        return kept

    @contextmanager
    def turn(self, done: int) -> Iterator[Callable[[Progress], Place]]:
        """Hold the file while the next batch is answered, and give what writes its end.

        The batch is on disk when the block is left, and not at all where that fails; where a ledger
        follows it is to move to the place that writing returns before anybody sees the answers.

        Args:
            done: how many rounds the caller has answered.

        Raises:
            StreamError: where the file is at another round: somebody else went on from it.
            FileError: where it is not the file that it was, or cannot be written.
        """
        with _held(self.path) as connection:
            if _identity(connection, self.path) != self.identity:
                raise StreamError(
                    f"file={self.path} holds another stream now; open it with ln.Stream.open",
                )
            if _is_counted(connection) != self.counted:
                raise StreamError(
                    f"file={self.path} is counted in a ledger now; open it again with "
                    "ln.Stream.open",
                )
            stood, digest = self._stand(connection)
            if stood != done:
                raise StreamError(
                    f"file={self.path} is at another round than this stream, which stands after "
                    f"{done:,}: somebody else went on from it; open it again with ln.Stream.open",
                )
            yield lambda progress: self._write(connection, progress, digest)

    def _stand(self, connection: sqlite3.Connection) -> tuple[int, bytes]:
        row = connection.execute("SELECT round, digest FROM progress WHERE id = 1").fetchone()
        if row is None:
            raise FileError(f"file={self.path} is damaged; restore the file that was left last")
        return int(row[0]), bytes(row[1])

    def _write(self, connection: sqlite3.Connection, progress: Progress, before: bytes) -> Place:
        # a mark of its own, so that no two copies agree or not by what their values are
        before, mark = (before, os.urandom(16)) if self.counted else (b"", b"")
        content = text_of(progress.to_dict())
        digest = self._digest(f"round {progress.round}", before + mark + content)
        row: list[object] = [progress.round, content, digest]
        connection.execute("UPDATE progress SET round = ?, content = ?, digest = ?", row)
        if self.counted:
            connection.execute("UPDATE progress SET before = ?, mark = ?", [before, mark])
        return Place(self._position(progress.round, digest), before.hex())

    def _position(self, done: int, digest: bytes) -> StreamPosition:
        """Return where the file stands; the identity, which is the digests' key, stays in it."""
        name = hashlib.sha256(b"stream\0" + self.identity).hexdigest()
        return StreamPosition(name, done, digest.hex())

    def _digest(self, name: str, content: bytes) -> bytes:
        return hashlib.sha256(self.identity + name.encode() + b"\0" + content).digest()

    def _expect(self, name: str, content: bytes, digest: bytes) -> None:
        if self._digest(name, content) != digest:
            raise FileError(f"its part {name!r} was altered; restore the file that was left last")


def _held(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    return files.held(_FILE, path, (_VERSION, _COUNTED))


def _count(connection: sqlite3.Connection) -> None:
    """Make a file one that a ledger follows."""
    for column in ("before", "mark"):
        connection.execute(f"ALTER TABLE progress ADD COLUMN {column} BLOB")
    connection.execute(f"PRAGMA user_version = {_COUNTED}")


def _is_counted(connection: sqlite3.Connection) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return bool(version == _COUNTED)


def _identity(connection: sqlite3.Connection, path: Path) -> bytes:
    row = connection.execute("SELECT content FROM part WHERE name = 'identity'").fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise FileError(f"file={path} is damaged; restore the file that was left last")
    return row[0]
