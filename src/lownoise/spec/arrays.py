# SPDX-License-Identifier: Apache-2.0
"""Public files beside a specification: matrices, records, and lists of points.

They are public, so their values may be quoted in messages, as a table's never are.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import DomainError, FileError
from lownoise.sets.domains import Points
from lownoise.spec.model import mistake_text, mistaken

if TYPE_CHECKING:
    from pathlib import Path

    from lownoise.numbers.arrays import Vector


def read_matrix(path: Path) -> Vector:
    """Return a matrix from a .npy file, or from a CSV file of numbers without a header.

    Raises a mistake where it cannot be read or is no rectangle of numbers.
    """
    if path.suffix.lower() == ".npy":
        try:
            found = np.load(path, allow_pickle=False)
        except OSError as error:
            raise mistake_text(
                f"{path} cannot be read ({error.strerror or 'no .npy file'}); give the path of a "
                ".npy or CSV file",
            ) from None
        except (ValueError, EOFError):
            raise mistake_text(
                f"{path} is no .npy file of numbers; write it with numpy.save"
            ) from None
        if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "biuf":  # noqa: PLR2004
            raise mistake_text(
                f"{path} holds no matrix of numbers; save an array of two dimensions"
            )
        return found.astype(np.float64)
    rows = _rows(path)
    if not rows:
        raise mistake_text(f"{path} has no rows; give one row of numbers a query")
    table = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise mistake_text(
                f"{path} row {number} has {len(row)} numbers, row 1 has {len(rows[0])}; give one "
                "a record",
            )
        try:
            table.append([float(value) for value in row])
        except ValueError:
            raise mistake_text(
                f"{path} row {number} is not all numbers; give numbers alone, without a header",
            ) from None
    return np.array(table)


def read_records(path: Path) -> tuple[list[str], list[list[float | str]]]:
    """Return the names and the records of a CSV file: a header, then one record a row.

    A column whose every value is spelled as a number holds numbers, every other one texts.

    Raises a mistake where it cannot be read or is no rectangle.
    """
    rows = _rows(path)
    if len(rows) < 2:  # noqa: PLR2004
        raise mistake_text(f"{path} has no records; give a header of names and one record a row")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise mistake_text(
                f"{path} row {number} has {len(row)} values for {len(names)} names; give one a "
                "name",
            )
    columns: list[list[float] | list[str]] = []
    for own in zip(*rows[1:], strict=True):
        try:
            columns.append([float(value) for value in own])
        except ValueError:
            columns.append(list(own))
    return names, [list(record) for record in zip(*columns, strict=True)]


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file) if row]
    except OSError as error:
        raise mistake_text(
            f"{path} cannot be read ({error.strerror}); give the path of a file"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise mistake_text(f"{path} is not CSV in UTF-8; save it as such") from None


def numbers_of(rows: list[list[Any]]) -> list[list[float]]:
    """Return rows of numbers that are written out.

    Raises:
        ValidationError: with every entry that is no number, each with its place.
    """
    wrong = [
        ((i, j), "is not a number; write it without quotes", value)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if isinstance(value, bool) or not isinstance(value, (int, float))
    ]
    if wrong:
        raise mistaken(wrong)
    return rows


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
