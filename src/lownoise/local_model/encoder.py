# SPDX-License-Identifier: Apache-2.0
"""What makes integers of a record on a device, and answers of what reports estimate.

Privacy does not rest on it: whatever integers it makes are ones that the randomizer takes. Answers
are unbiased for the record that it encodes, which is the user's own within the domain, but for
rounding to the grid of `randomizer.FULL`.

Records are as people's devices give them, read by their values' names or in order. What a value is
worth follows from it alone; a record is refused for its shape and for nothing else, and no message
says a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lownoise.errors import TableError
from lownoise.kinds import Kinds
from lownoise.numbers.values import number

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import AbstractRandomizer, Takes
    from lownoise.numbers.arrays import Integers, Vector


def numbers_of(records: Any, columns: Sequence[str], missing: Vector) -> Vector:  # noqa: ANN401
    """Return records as finite numbers, shape (n, d): what is none counts as the stand-in.

    Args:
        records: an array of shape (n, d), or n records: each a mapping from the columns' names, or
            their d values in order, or the value itself where d = 1.
        columns: d names.
        missing: the stand-in of each column, shape (d,).

    Raises:
        TableError: where a record has not d values, or lacks a column; of its values nothing is
            said.

    Examples:
        >>> numbers_of([{"age": "31"}, {"age": None}, {"age": np.inf}], ["age"], np.array([40.0]))
        array([[31.],
               [40.],
               [40.]])
    """
    found = table_of(records, columns)
    if found is None:
        rows = [list(map(number, values_of(record, columns))) for record in records]
        found = np.array(rows, dtype=np.float64)
        found = found.reshape(-1, missing.size)
    return np.where(np.isfinite(found), found, missing)


def table_of(records: Any, columns: Sequence[str]) -> Vector | None:  # noqa: ANN401
    """Return an array of plain numbers as floats, shape (n, d); None of records one by one.

    Raises:
        TableError: where it is an array of another shape.
    """
    masked = isinstance(records, np.ma.MaskedArray)
    if masked or not isinstance(records, np.ndarray) or records.dtype.kind not in "iufb":
        return None
    if records.shape[1:] != (len(columns),):
        raise another_shape(columns)
    with np.errstate(over="ignore"):  # of longer floats
        return np.array(records, dtype=np.float64)


def values_of(record: Any, columns: Sequence[str]) -> list[Any]:  # noqa: ANN401
    """Return the values of one record, in the columns' order.

    Args:
        record: a mapping from the columns' names, or a sequence of their values, or the only value.
        columns: d names.

    Raises:
        TableError: where it has not d values, or lacks a column; of its values nothing is said.
    """
    if isinstance(record, Mapping):
        if any(name not in record for name in columns):
            raise another_shape(columns)
        values = [record[name] for name in columns]
    elif isinstance(record, np.ndarray):
        # without axes it is one value, as what is masked in a column is
        values = record.tolist() if record.ndim == 1 else [record[()]] if not record.ndim else []
    elif isinstance(record, Sequence) and not isinstance(record, (str, bytes)):
        values = list(record)
    else:
        values = [record]
    if len(values) != len(columns):
        raise another_shape(columns)
    return values


def another_shape(columns: Sequence[str]) -> TableError:
    """Return the error of a record that is of another shape than the plan's."""
    shown = ", ".join(map(repr, columns[:5])) + (", …" if len(columns) > 5 else "")  # noqa: PLR2004
    return TableError(
        f"record has not the plan's {len(columns)} values; give {shown}, by name or in order"
    )


class AbstractEncoder(ABC):
    """From records to integers, and from estimates to answers."""

    makes: ClassVar[Takes]
    columns: tuple[str, ...]  # the names of a record's values, in their order

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number r of coordinates, or of labels."""

    @property
    @abstractmethod
    def length(self) -> int:
        """The number m of answers."""

    @abstractmethod
    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return the integers of records, shape (n, r), or (n, 1) of labels.

        A value that is no number, missing or not finite counts as the public stand-in.

        Args:
            records: n of them: an array of shape (n, d), or a sequence of what `randomize` takes.

        Raises:
            TableError: where a record is of another shape than the plan's; nothing of its values is
                said.
        """

    @abstractmethod
    def decode(self, mean: Vector) -> Vector:
        """Return the answers, shape (m,), of estimated coordinates or shares, shape (r,)."""

    @property
    @abstractmethod
    def answers(self) -> Vector:
        """The matrix from estimates to answers, shape (m, r), or its diagonal, shape (r,)."""

    @abstractmethod
    def apart(self, question: Any) -> float:  # noqa: ANN401 (whatever was asked)
        """Return how far answers of records can be from a question's, in parts of its ranges.

        Rounding to the grid aside it is 0 where the encoder is the question's, and infinite where
        it is another's: the sets of records are compared by their extreme points.
        """

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """The least and the greatest that each answer can be, both of shape (m,), or beyond."""
        A = self.answers
        if self.makes == "label":  # shares of the columns of A, or of its diagonal
            ends = (A, np.zeros_like(A)) if A.ndim == 1 else (A.min(axis=1), A.max(axis=1))
            return np.minimum(*ends), np.maximum(*ends)
        far = np.abs(A) if A.ndim == 1 else np.abs(A).sum(axis=1)
        middle = self.decode(np.zeros(self.dimension))
        return middle - far, middle + far

    def fitted(
        self, kind: type[AbstractRandomizer], epsilon: float, delta: float
    ) -> AbstractRandomizer:
        """Return the randomizer of a kind, which takes what this makes, of the least error.

        Raises:
            PlanError: where there is none, and why.
        """
        return kind.fitted(self.dimension, epsilon, delta)

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What each answer is called, m of them."""


ENCODERS: Kinds[AbstractEncoder] = Kinds("encoder")
