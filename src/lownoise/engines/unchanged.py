# SPDX-License-Identifier: Apache-2.0
"""Files that somebody writes to while they are read are refused: rows of two tables are no table.

A pass over a file opens it several times (its header, its row groups, in threads), and a question
may take several passes. Where the file is another in between, a person who is once in each of both
may count twice, and more noise than there is would hide that.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lownoise.engines.tables import Table, failed, found_files
from lownoise.errors import EngineError, LownoiseError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def unchanged(table: Any, read: Callable[[], T]) -> T:  # noqa: ANN401 (any frame)
    """Return what is read of a table whose files are the same before and after.

    Which files there are, and of each the place on its disk, its size and when it was last changed.
    A file of the same size that changes twice within a tick of the file system's clock, before the
    first look and after it, is not found out; nor is what an address serves.

    Args:
        table: as `source_of` takes it; what is open already is for its owner to keep as it is.
        read: reads it, in as many passes as it takes.

    Raises:
        TableError: as `read` does.
        EngineError: as `read` does; where a file changed, of the same text.
    """
    before = _seen(table)
    try:
        found = read()
    except TableError:
        if _seen(table) == before:
            raise
    else:
        if _seen(table) == before:
            return found
    raise EngineError(failed(table, "read"))


def _seen(table: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """Return what tells the files of a table from others; nothing where it is not of files."""
    return [(str(path), *_stamp(path)) for path in _paths(table)]


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        own = path.stat()
    except (OSError, ValueError):
        return ()
    return own.st_dev, own.st_ino, own.st_size, own.st_mtime_ns, own.st_ctime_ns


def _paths(table: Any) -> list[Path]:  # noqa: ANN401
    """Return the paths of a table's files; of a database's table, the database."""
    try:
        if isinstance(table, (str, PathLike, list, tuple)):
            table = Table(table)
        if not isinstance(table, Table):
            return []
        return [file.path for file in found_files(table) if file.address is None]
    except (LownoiseError, OSError):
        one = isinstance(table, Table) and not isinstance(table.path, tuple)
        return [Path(str(table.path).partition("::")[0])] if one else []
