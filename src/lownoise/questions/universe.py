# SPDX-License-Identifier: Apache-2.0
"""The records that a linear workload counts: finitely many, and where other records go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import QuestionError, counted, quoted
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import Attribute, Categories, attributes

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers

Record = tuple[float | str, ...]
_MOST = 1 << 22  # records


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class Universe:
    """Finitely many records, in the order of a matrix's columns.

    Made by `universe_of`.

    Args:
        attributes: the columns of a table, and the values of each.
        rows: of each record, the cell of each attribute, shape (N, k); None where the records are
            all combinations of cells, the last attribute fastest.
        outside: the place of the listed record that stands in for all others; None where a row that
            is not listed is left out, and where the attributes say it.
    """

    attributes: tuple[Attribute, ...]
    rows: Integers | None = None
    outside: int | None = None

    @property
    def size(self) -> int:
        """The number of records N."""
        if self.rows is not None:
            return len(self.rows)
        return math.prod(a.size for a in self.attributes)

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        if self.rows is not None:
            return self.outside is None
        return any(a.outside is None for a in self.attributes)

    def record(self, place: int) -> tuple[str, ...]:
        """Return what the values of a record are called.

        Raises:
            QuestionError: where there is no such place.

        Examples:
            >>> universe_of({"age": 5, "sex": ["F", "M"]}).record(3)
            ('1', 'M')
        """
        if not 0 <= place < self.size:
            raise QuestionError(
                f"record={place} does not exist; give one from 0 to {self.size - 1}"
            )
        if self.rows is not None:
            cells = self.rows[place].tolist()
        else:
            cells = [int(c) for c in np.unravel_index(place, [a.size for a in self.attributes])]
        return tuple(a.label(cell) for a, cell in zip(self.attributes, cells, strict=True))

    def places(self, cells: Sequence[Integers]) -> Integers:
        """Return the place of each row among the records, −1 where it is left out, shape (n,).

        Args:
            cells: the cell of each row, one array of shape (n,) an attribute, −1 where there is
                none.

        Examples:
            >>> pairs = universe_of([[0, 0], [5, 1]], ["a", "b"], outside=[0, 0])
            >>> pairs.places([np.array([1, 1, -1]), np.array([1, 0, 0])]).tolist()
            [1, 0, 0]
        """
        found: Integers = np.zeros(len(cells[0]), dtype=np.int64)
        if self.rows is None:
            for attribute, own in zip(self.attributes, cells, strict=True):
                known = (found >= 0) & (own >= 0)
                found = np.where(known, found * attribute.size + own, -1)
            return found
        # the first columns name one of the different beginnings of listed records
        for attribute, keys, own in zip(self.attributes, self._beginnings, cells, strict=True):
            wanted = np.where((found >= 0) & (own >= 0), found * attribute.size + own, -1)
            near = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            found = np.where(keys[near] == wanted, near, -1)
        found = np.where(found >= 0, self._order[found], -1)
        return found if self.outside is None else np.where(found >= 0, found, self.outside)

    @cached_property
    def _beginnings(self) -> list[Integers]:
        """For each column, the sorted keys of (place of the beginning so far, next cell)."""
        assert self.rows is not None  # noqa: S101 (the caller looked)
        found, keys = np.zeros(len(self.rows), dtype=np.int64), []
        for attribute, own in zip(self.attributes, self.rows.T, strict=True):
            known, found = np.unique(found * attribute.size + own, return_inverse=True)
            keys.append(known)
        return keys

    @cached_property
    def _order(self) -> Integers:
        """The place of each record in the order of the last keys."""
        assert self.rows is not None  # noqa: S101 (the caller looked)
        return np.lexsort(self.rows.T[::-1]).astype(np.int64)


def universe_of(
    given: Mapping[str, Categories] | Sequence[Sequence[float | str]],
    columns: Sequence[str] | None = None,
    outside: object = "drop",
) -> Universe:
    """Return the records that a question declares.

    Args:
        given: a mapping as of `ln.Marginals`, from names to numbers of categories or lists of them:
            all combinations, the last name fastest. Or a list of N different records, each a row of
            values.
        columns: the names of a record's values; with a list of records only.
        outside: where other rows go. For a mapping as in `ln.Marginals`; for a list "drop", the row
            is left out, or a listed record that stands in.

    Raises:
        QuestionError: where records stand twice, a value is no finite number and no text, or the
            stand-in is not listed.

    Examples:
        >>> universe_of({"age": 5, "sex": ["F", "M"]}).size
        10
        >>> universe_of([[1, "a"], [2, "b"]], ["x", "y"]).drops
        True
    """
    if isinstance(given, Mapping):
        if columns is not None:
            raise QuestionError("columns goes with a list of records; the mapping has the names")
        if not (isinstance(outside, (str, Mapping))):
            raise QuestionError(
                f'outside={quoted(outside)} is no policy; give "extra", "drop" or by name'
            )
        found = Universe(attributes=attributes(given, outside))
        _check_size(found.size)
        return found
    return _of_records(given, columns, outside)


def _check_size(size: int) -> None:
    if size > _MOST:
        raise QuestionError(
            f"universe has {counted(size)} records; declare at most {_MOST:,} of them"
        )


def _of_records(given: object, columns: object, outside: object) -> Universe:
    rows = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Sequence) or not len(rows):
        raise QuestionError(
            "universe is neither a mapping from names to categories nor a list of records",
        )
    _check_size(len(rows))
    names = _names(columns)
    records = [_record(row, f"universe[{i}]", len(names)) for i, row in enumerate(rows)]
    labels: list[dict[float | str, int]] = [{} for _ in names]
    for record in records:
        for known, value in zip(labels, record, strict=True):
            known.setdefault(value, len(known))
    sizes: dict[str, Any] = {name: list(known) for name, known in zip(names, labels, strict=True)}
    found = np.array(
        [[known[v] for known, v in zip(labels, r, strict=True)] for r in records], dtype=np.int64
    )
    place = {record: i for i, record in enumerate(records)}
    if len(place) < len(records):
        twice = next(i for i, r in enumerate(records) if place[r] != i)
        raise QuestionError(f"universe[{twice}]={records[twice]} stands twice; list records once")
    stand_in = None
    if not (isinstance(outside, str) and outside == "drop"):
        row = outside.tolist() if isinstance(outside, np.ndarray) else outside
        if isinstance(row, str) or not isinstance(row, Sequence):
            raise QuestionError(
                f'outside={quoted(outside)} is no policy; give "drop" or a listed record'
            )
        stand_in = place.get(_record(row, "outside", len(names)))
        if stand_in is None:
            raise QuestionError(f"outside={quoted(outside)} is not listed; give one of the records")
    described = attributes(sizes)  # a column of two kinds is refused there
    return Universe(attributes=described, rows=found, outside=stand_in)


def _names(columns: object) -> list[str]:
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not len(columns):
        raise QuestionError('columns is no list of names; give ["age", …], one a value of a record')
    names = [name if isinstance(name, str) else quoted(name) for name in columns]
    if len(set(names)) < len(names):
        raise QuestionError(f"columns={quoted(names)} names one twice; name each column once")
    return names


def _record(row: object, field: str, width: int) -> Record:
    values = row.tolist() if isinstance(row, np.ndarray) else row
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or len(values) != width:
        raise QuestionError(f"{field}={quoted(row)} is no row of {width} values; give one a column")
    return tuple(_value(value, field) for value in values)


def _value(value: object, field: str) -> float | str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        try:
            number = float(value)
        except (OverflowError, TypeError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise QuestionError(f"{field} has the value {quoted(value)}; give finite numbers or texts")
