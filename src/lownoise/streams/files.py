# SPDX-License-Identifier: Apache-2.0
"""SQLite files that appear whole or not at all, and are held while one goes on from them.

A file that is there is opened by SQLite alone: where a process closes any handle of its own on a
file, POSIX drops every lock that it has on it, those of its other threads too, and then another
process could go on from the file at the same time.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from glob import escape
from typing import TYPE_CHECKING

from lownoise.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PATIENCE = 30.0  # seconds to wait for another process's transaction


def appear(path: Path, identity: bytes, fill: Callable[[Path], None]) -> None:
    """Write a new file: all that `fill` writes, or nothing.

    Args:
        path: where it is to be.
        identity: what tells it from every other.
        fill: writes it, given an empty file.

    Raises:
        FileError: where the file exists or cannot be written; then it has not been.
    """
    if not path.name:
        raise FileError(f"file={path} is no name of a file; give a new path")
    draft = path.with_name(f".{path.name}.{identity.hex()}")
    try:
        if any(path.with_name(path.name + end).exists() for end in ("-journal", "-wal")):
            raise FileError(
                f"file={path} has a journal of another beside it; remove it, or give another path",
            )
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            fill(draft)
            publish(draft, path)
        finally:
            draft.unlink(missing_ok=True)
            draft.with_name(draft.name + "-journal").unlink(missing_ok=True)
    except FileExistsError:
        raise FileError(f"file={path} exists; give a new path") from None
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from None


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
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError:
        path.unlink()
        raise


def connected(path: Path) -> sqlite3.Connection:
    """Open a file that is there so that what is committed is on disk."""
    where = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(
    path: Path, application: int, versions: tuple[int, ...]
) -> Iterator[sqlite3.Connection]:
    """Hold the file's write lock for the block, and commit unless the block raises.

    Args:
        path: the file.
        application: whose it is to be.
        versions: those that are known.

    Raises:
        FileError: where the file is none of these, cannot be used, or is cut short.
    """
    try:
        if not path.is_file():
            raise FileError(f"file={path} cannot be read; give the path of a stream's file")
        connection = connected(path)
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from None
    try:
        connection.execute("BEGIN IMMEDIATE")
        _check_kind(path, connection, application, versions)
        # SQLite fills a short last page with zeros
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if path.stat().st_size < pages * page:
            raise FileError(f"file={path} is cut short; restore the file that was left last")
        _expect_one_name(path)
        yield connection
        connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from None
    finally:
        with suppress(sqlite3.Error):
            connection.close()  # rolls back what was not committed


def _expect_one_name(path: Path) -> None:
    """Refuse hard links: what a crash leaves beside one name is not seen under another.

    A crash in `appear` leaves a draft, which is removed.
    """
    if path.stat().st_nlink > 1:
        for draft in path.parent.glob(f".{escape(path.name)}.*"):
            if draft.samefile(path):
                draft.unlink()
    if path.stat().st_nlink > 1:
        raise FileError(f"file={path} has another name (a hard link); remove that one")


def _check_kind(
    path: Path, connection: sqlite3.Connection, application: int, versions: tuple[int, ...]
) -> None:
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    if found != application:
        raise _foreign(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in versions:
        raise FileError(
            f"file={path} has version {version} and this lownoise reads up to version "
            f"{max(versions)}; upgrade lownoise",
        )


def _foreign(path: Path) -> FileError:
    return FileError(f"file={path} is no stream of lownoise, or is cut short; give another path")


def _unusable(path: Path, error: sqlite3.Error | OSError) -> FileError:
    named = getattr(error, "strerror", None) or type(error).__name__
    reason = getattr(error, "sqlite_errorname", named)
    if reason == "SQLITE_NOTADB":
        return _foreign(path)
    return FileError(
        f"file={path} cannot be used ({reason}); check that its folder can be written, its disk "
        "has room and nobody else holds it, then try again",
    )
