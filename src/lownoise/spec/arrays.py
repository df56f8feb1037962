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
    from collections.abc import Callable
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
    names, rows = _named_rows(path, "record", mistake_text)
    columns: list[list[float] | list[str]] = []
    for own in zip(*rows, strict=True):
        try:
            columns.append([float(value) for value in own])
        except ValueError:
            columns.append(list(own))
    return names, [list(record) for record in zip(*columns, strict=True)]


def _rows(path: Path, mistake: Callable[[str], Exception] = mistake_text) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file) if row]
    except OSError as error:
        raise mistake(
            f"{path} cannot be read ({error.strerror}); give the path of a CSV file"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise mistake(f"{path} is not CSV in UTF-8; save it as such") from None


def _named_rows(
    path: Path, one: str, mistake: Callable[[str], Exception]
) -> tuple[list[str], list[list[str]]]:
    """Return the names in the header of a CSV file, and the rows below it, which all have as many.

    Args:
        path: the file.
        one: what a row is.
        mistake: what refuses the file, for its text.
    """
    header, *rows = _rows(path, mistake) or [[]]
    if not rows:
        raise mistake(f"{path} has no {one}s; give a header of names and one {one} a row")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise mistake(
                f"{path} row {number} has {len(row)} values for {len(header)} names; give one a "
                "name",
            )
    return [name.strip() for name in header], rows


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
    names, rows = _named_rows(path, "point", lambda text: FileError(f"points={text}"))
    if len(set(names)) != len(names) or not all(names):
        raise FileError(f"points={path} has a header with a repeated or empty name; name each once")
    table = []
    for number, row in enumerate(rows, start=2):
        try:
            table.append([float(value) for value in row])
        except ValueError:
            raise FileError(f"points={path} row {number} is not all numbers; mend it") from None
    try:
        return tuple(names), Points(table)
    except DomainError as error:
        raise DomainError(f"points={path}: {error}") from None
