# SPDX-License-Identifier: Apache-2.0
"""A public list of points in a CSV file: a header of names, then one point a row.

The file is public, so its values may be quoted in messages, as a table's never are.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from lownoise.errors import DomainError, FileError
from lownoise.sets.domains import Points

if TYPE_CHECKING:
    from pathlib import Path


def read_points(path: Path) -> tuple[tuple[str, ...], Points]:
    """Return the names of the columns and the points.

    Args:
        path: a CSV file in UTF-8, its first row the names.

    Raises:
        FileError: where it cannot be read, is no rectangle of numbers, or repeats a name.
        DomainError: where the points make no domain.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise FileError(
            f"points={path} cannot be read ({error.strerror}); give the path of a CSV file",
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise FileError(f"points={path} is not CSV in UTF-8; save it as such") from None
    if len(rows) < 2:  # noqa: PLR2004
        raise FileError(f"points={path} has no points; give a header and one point a row")
    names = tuple(name.strip() for name in rows[0])
    if len(set(names)) != len(names) or not all(names):
        raise FileError(f"points={path} has a header with a repeated or empty name; name each once")
    table = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise FileError(
                f"points={path} row {number} has {len(row)} values for {len(names)} names; "
                "give one a name",
            )
        try:
            table.append([float(value) for value in row])
        except ValueError:
            raise FileError(f"points={path} row {number} is not all numbers; mend it") from None
    try:
        return names, Points(table)
    except DomainError as error:
        raise DomainError(f"points={path}: {error}") from None
