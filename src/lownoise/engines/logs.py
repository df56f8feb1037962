# SPDX-License-Identifier: Apache-2.0
"""Files of tables whose log says which of them count: of such, no file alone is rows of a table.

What was deleted or changed stays in the files of a Delta, Iceberg, Hudi, Paimon or DuckLake table
until somebody cleans it, and what a failed task of Spark's streams wrote lies beside what counts.
Read as files, people who were removed would be summed, and others twice.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Find = Callable[[str], list[str]]

PARQUET = (".parquet", ".pq")
_SPARK = "a DataFrame of Spark"
# of each kind: a folder beside or above its files, what names in it look like, and what reads it
_LOGS = (
    ("Delta", "_delta_log", r"", "deltalake.DeltaTable(PATH).to_pyarrow_table()"),
    (
        "Iceberg",
        "metadata",  # https://iceberg.apache.org/spec, "Naming"; older ones end in .json.gz
        r"(v\d+|\d+-.*)(\.gz)?\.metadata\.json(\.gz)?$|version-hint\.text$",
        "its pyiceberg table's scan().to_arrow()",
    ),
    ("Hudi", ".hoodie", r"", _SPARK),
    ("Paimon", "snapshot", r"snapshot-\d+$", _SPARK),
    ("Spark streaming", "_spark_metadata", r"", _SPARK),
)
_DUCKLAKE = re.compile(r"ducklake-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def require_no_log(shown: str, paths: Iterable[str], found_by: Find | None = None) -> None:
    """Refuse Parquet files that are of a table with a log, which lies beside or above them.

    Args:
        shown: how messages call them: as the user did.
        paths: of files of any kind on this machine; or addresses of Parquet files, or patterns.
        found_by: returns the addresses that a pattern finds; None of paths.

    Raises:
        TableError: which says the kind of table and how it is read, and names nothing found.
    """
    above: dict[str, None] = {}
    for path in paths:
        if found_by is None and not path.lower().endswith(PARQUET):
            continue
        for own in [path] if found_by else _names(path):
            if _DUCKLAKE.match(own.rpartition("/")[2]):
                raise _logged(shown, "DuckLake", "duckdb's connection.table(NAME).to_arrow_table()")
            above |= dict.fromkeys(_folders(own))
    for folder in above:
        for kind, inner, names, remedy in _LOGS:
            found = _inside(f"{folder}/{inner}", found_by)
            if any(re.match(names, name) for name in found):
                raise _logged(shown, kind, remedy)


def _names(path: str) -> tuple[str, str]:
    """Return where a file is named, and where links take that to."""
    near = Path(path).absolute()
    return near.as_posix(), near.resolve().as_posix()


def _folders(path: str) -> list[str]:
    """Return all folders above a file or an address: of a pattern patterns, one for each.

    Examples:
        >>> _folders("s3://b/2026-*/**/*.parquet")
        ['s3://b/2026-*/**', 's3://b/2026-*', 's3://b']
    """
    parts = path.split("/")
    return ["/".join(parts[:k]) for k in range(len(parts) - 1, 2 if "://" in path else 0, -1)]


def _inside(folder: str, found_by: Find | None) -> list[str]:
    """Return the names of what is in a folder; of one that is not there, or hidden, none."""
    if found_by is None:
        with suppress(OSError):
            return [own.name for own in Path(folder).iterdir()]
        return []
    with suppress(Exception):  # an address may be read where no folder may be listed
        return [own.rpartition("/")[2] for own in found_by(f"{folder}/*")]
    return []


def _logged(shown: str, kind: str, remedy: str) -> TableError:
    return TableError(
        f"table={shown} has Parquet files of {kind}, whose log says which of their rows count; "
        f"give what its own reader has: {remedy}"
    )
