# SPDX-License-Identifier: Apache-2.0
"""Streams' files, which appear whole or not at all, and are held while one goes on from them."""

from __future__ import annotations

import os
from contextlib import closing
from glob import escape
from typing import TYPE_CHECKING

from lownoise.errors import FileError
from lownoise.numbers.locked import LockedKind
from lownoise.release.codec import durable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    Transaction = AbstractContextManager[sqlite3.Connection]


def stream_kind(application: int) -> LockedKind:
    """Return a kind of stream's file, known by SQLite's number of it."""
    foreign = "is no stream of lownoise, or is cut short"
    return LockedKind(
        "file", FileError, application, foreign, "restore the file that was left last"
    )


def appear(
    kind: LockedKind, path: Path, identity: bytes, fill: Callable[[sqlite3.Connection], None]
) -> None:
    """Write a new file: all that `fill` writes, or nothing.

    Args:
        kind: of the file.
        path: where it is to be.
        identity: what tells it from every other.
        fill: writes it, given an empty database in a transaction.

    Raises:
        FileError: where the file exists or cannot be written; then it has not been.
    """
    if not path.name:
        raise FileError(f"file={path} is no name of a file; give a new path")
    draft = path.with_name(f".{path.name}.{identity.hex()}")
    with kind.usable(path):
        try:
            if any(path.with_name(path.name + end).exists() for end in ("-journal", "-wal")):
                raise FileError(
                    f"file={path} has a journal of another beside it; remove it, or give another "
                    "path",
                )
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                with closing(kind.connected(draft)) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    fill(connection)
                    connection.execute("COMMIT")
                publish(draft, path)
            finally:
                draft.unlink(missing_ok=True)
                draft.with_name(draft.name + "-journal").unlink(missing_ok=True)
        except FileExistsError:
            raise FileError(f"file={path} exists; give a new path") from None


def publish(draft: Path, path: Path) -> None:
    """Give a whole file its name, which must be new, and make that durable."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # of a disk without links
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            draft.replace(path)
        except BaseException:
            path.unlink()
            raise
    try:
        durable(path.parent)
    except OSError:
        path.unlink()
        raise


def held(kind: LockedKind, path: Path, versions: tuple[int, ...]) -> Transaction:
    """Hold the write lock of a file that is there for the block, and commit unless that raises.

    Args:
        kind: whose it is to be.
        path: the file.
        versions: those that are known.

    Raises:
        FileError: where the file is none of these, cannot be used, or is cut short.
    """

    def check(connection: sqlite3.Connection) -> None:
        kind.expect(path, connection, versions)
        _expect_one_name(kind, path)

    with kind.usable(path):
        if not path.is_file():
            raise FileError(f"file={path} cannot be read; give the path of a stream's file")
    return kind.transaction(path, check)


def _expect_one_name(kind: LockedKind, path: Path) -> None:
    """Refuse hard links but a draft, which a crash in `appear` leaves, and which is removed."""
    if path.stat().st_nlink > 1:
        for draft in path.parent.glob(f".{escape(path.name)}.*"):
            if draft.samefile(path):
                draft.unlink()
    kind.expect_one_name(path)
