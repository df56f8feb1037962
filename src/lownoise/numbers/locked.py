# SPDX-License-Identifier: Apache-2.0
"""SQLite files that are read and written under a lock, and are on disk before anyone goes on.

What was spent, told or drawn stands in such a file: a ledger, a device's keeper, a stream. A file
that is there is opened by SQLite alone: where a process closes any handle of its own on a file,
POSIX drops every lock that it has on it, those of its other threads too, and then another process
could go on from the file at the same time.

A lock outlasts its block where a statement has rows left and something still holds its cursor, as
the traceback of an error does that an interactive session keeps. So no variable holds a cursor:
rows are fetched whole, or a loop has the only reference.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lownoise.errors import LownoiseError

_PATIENCE = 30.0  # seconds to wait for another process's transaction


@final
@dataclass(frozen=True)
class LockedKind:
    """A kind of such files, and how messages speak of it.

    Args:
        field: what an error calls the path.
        error: what is raised.
        application: SQLite's number of it, so that another program's database is never taken for
            one.
        foreign: what a file is that is none of these.
        restored: what to do with one that lost its end.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from lownoise.errors import LedgerError
        >>> kind = LockedKind("diary", LedgerError, 7, "is no diary", "write it again")
        >>> path = Path(tempfile.mkdtemp()) / "d"
        >>> def ready(connection):
        ...     if kind.empty(connection):
        ...         kind.make(connection, ["CREATE TABLE day (text TEXT)"], version=1)
        >>> with kind.transaction(path, ready, create=True) as connection:
        ...     _ = connection.execute("INSERT INTO day VALUES ('rain')")
        >>> with kind.transaction(path, lambda own: kind.expect(path, own, [1])) as connection:
        ...     connection.execute("SELECT * FROM day").fetchall()
        [('rain',)]
    """

    field: str
    error: type[LownoiseError]
    application: int
    foreign: str
    restored: str

    def connected(self, path: Path, *, create: bool = False) -> sqlite3.Connection:
        """Open a file so that what is committed is on disk."""
        import sqlite3

        # by its absolute path, for SQLite keeps what is named ":memory:" in no file
        where = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        connection = sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(
        self, path: Path, check: Callable[[sqlite3.Connection], None], *, create: bool = False
    ) -> Iterator[sqlite3.Connection]:
        """Hold the file's write lock for the block, and commit unless the block raises.

        Args:
            path: the file.
            check: what is asked of it first, under the lock.
            create: make it where it does not exist.

        Raises:
            LownoiseError: where it cannot be used, or `check` refuses it.
        """
        import sqlite3

        with self.usable(path):
            connection = self.connected(path, create=create)
            try:
                connection.execute("BEGIN IMMEDIATE")
                check(connection)
                yield connection
                connection.execute("COMMIT")
            finally:
                # rolls back what was not committed, and before an interrupt could come in between
                try:  # noqa: SIM105
                    connection.close()
                except sqlite3.Error:
                    pass

    @contextmanager
    def reading(self, path: Path) -> Iterator[sqlite3.Connection | None]:
        """Give a file as it stands, without a lock on its writers until they commit; or None.

        Nothing in the file or beside it is written, and what a crash left is not taken back.

        Args:
            path: a file that is there; None is given where it is no database.

        Raises:
            LownoiseError: where it cannot be used.
        """
        import sqlite3

        with self.usable(path):
            where = f"{path.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)
            try:
                connection.execute("BEGIN")
                try:
                    found = None if self.empty(connection) else connection
                except sqlite3.DatabaseError as error:
                    if getattr(error, "sqlite_errorname", "") != "SQLITE_NOTADB":
                        raise
                    found = None
                yield found
            finally:
                connection.close()

    @contextmanager
    def usable(self, path: Path) -> Iterator[None]:
        """Say of the file what SQLite and the system say."""
        import sqlite3

        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(path, error) from None
        except UnicodeEncodeError:  # of a text that is to be written, or looked for
            raise self.error(
                f"{self.field}={path} keeps no text with letters that UTF-8 has not; spell the "
                "name and the note in others"
            ) from None

    def empty(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file is nobody's, and has nothing in it."""
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return (*_numbers(connection), tables) == (0, 0, 0)

    def make(self, connection: sqlite3.Connection, schema: Sequence[str], version: int) -> None:
        """Make an empty file one of this kind."""
        for statement in schema:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {version}")

    def expect(self, path: Path, connection: sqlite3.Connection, versions: Sequence[int]) -> int:
        """Return the version of a file, all of which is there.

        Raises:
            LownoiseError: where it is of another kind, of no version that is known, or cut short.
        """
        application, version = _numbers(connection)
        if application != self.application:
            raise self._foreign(path)
        if version not in versions:
            raise self.error(
                f"{self.field}={path} has version {version} and this lownoise reads up to "
                f"version {max(versions)}; upgrade lownoise"
            )
        # SQLite fills a short last page with zeros, which would forget what was written last
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if path.stat().st_size < pages * page:
            raise self.error(f"{self.field}={path} is cut short; {self.restored}")
        return version

    def expect_one_name(self, path: Path) -> None:
        """Refuse a hard link: SQLite does not see under it what a crash leaves beside the name.

        It would be taken back later, when the file is opened by that name again.
        """
        if path.stat().st_nlink > 1:
            raise self.error(
                f"{self.field}={path} has another name (a hard link), under which a crash would "
                "not be seen; remove that one"
            )

    def _foreign(self, path: Path) -> LownoiseError:
        return self.error(f"{self.field}={path} {self.foreign}; give another path")

    def _unusable(self, path: Path, error: sqlite3.Error | OSError) -> LownoiseError:
        named = getattr(error, "strerror", None) or type(error).__name__
        reason = getattr(error, "sqlite_errorname", named)
        with suppress(OSError):  # a folder that may not be looked into may well be there
            if not path.parent.is_dir():
                return self.error(
                    f"{self.field}={path} is in no folder that exists; make {path.parent} first"
                )
        if reason == "SQLITE_NOTADB":
            return self._foreign(path)
        if reason == "SQLITE_CORRUPT":
            return self.error(  # as SQLite also says of a page that the disk does not read
                f"{self.field}={path} is damaged or cut short, or its disk fails; try again, and "
                f"if it stays so {self.restored}"
            )
        if reason == "SQLITE_READONLY_ROLLBACK":  # where it is only read
            return self.error(
                f"{self.field}={path} was being written when its program was killed; go on with it "
                "once, which takes that back, and try again"
            )
        return self.error(
            f"{self.field}={path} cannot be used ({reason}); check that its folder can be written, "
            "its disk has room and nobody else holds it, then try again"
        )


def _numbers(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return whose a file is, and its version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version
