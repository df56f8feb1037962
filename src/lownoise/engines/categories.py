# SPDX-License-Identifier: Apache-2.0
"""Values become cells: the place of each among the categories that its column was declared to have.

A category is a number or a word, never both; what is none of them goes where the attribute says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.engines.folds import AbstractFold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lownoise.engines.folds import Batch
    from lownoise.engines.source import AbstractSource
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]


GROUPED = 1 << 12  # cells of words so few that an engine's own groups are faster


@final
@dataclass(frozen=True, eq=False)
class Reader:
    """Which columns of a table are read as numbers and which as texts, and the cells of both.

    Args:
        attributes: the columns and their categories.
        numbers: names of columns in which a category is a number.
        texts: names of columns of texts in which a category is a word.
        worded: whether rows are grouped by an engine sooner than they are handed over.
    """

    attributes: tuple[Attribute, ...]
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    worded: bool

    @classmethod
    def of(cls, attributes: Sequence[Attribute], source: AbstractSource) -> Reader:
        """Return how the cells of a table's rows are read, by its schema alone."""
        names = [a.name for a in attributes]
        kinds = dict(zip(names, source.kinds(names), strict=True))
        held = set(kinds.values())
        # few values, slow to hand over; of ranges there are many values in each
        ranged = any(a.edges is not None for a in attributes)
        texts = [a.name for a in attributes if kinds[a.name] == "texts" and a.words]
        numbers = [
            a.name for a in attributes if kinds[a.name] != "texts" or len(a.words) < a.categories
        ]
        worded = "texts" in held and "numbers" not in held and not ranged
        return cls(tuple(attributes), tuple(numbers), tuple(texts), worded)

    def cells(self, batch: Batch) -> list[Integers]:
        """Return the cells of some rows, one array an attribute, −1 where it has none.

        Columns of numbers beyond the reader's own are nobody's category.
        """
        numbers = dict(zip(self.numbers, batch.numbers, strict=False))
        words = dict(zip(self.texts, batch.texts, strict=True))
        return [cells_of(a, numbers.get(a.name), words.get(a.name)) for a in self.attributes]


@final
@dataclass(frozen=True, eq=False)
class RowCells(AbstractFold):
    """The cells of all rows that have them, which are kept a byte or two each; no integers.

    Args:
        reader: of the rows' cells.
    """

    keeps: ClassVar[bool] = True
    reader: Reader
    parts: list[list[Codes]] = field(default_factory=list)

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those in which a category is a number, and those in which one is a word."""
        return self.reader.numbers, self.reader.texts

    def zeros(self) -> Integers:
        """Return no integers."""
        return np.zeros(0, dtype=np.int64)

    def add(self, found: Integers, batch: Batch) -> None:
        """Keep rows."""
        del found
        self.keep(batch)

    def keep(self, batch: Batch) -> Mask:
        """Keep the rows that have a cell of each attribute, and return which these are."""
        cells, attributes = self.reader.cells(batch), self.reader.attributes
        kept: Mask = np.all([c >= 0 for c in cells], axis=0)
        own = [c[kept].astype(_kind(a.size)) for c, a in zip(cells, attributes, strict=True)]
        self.parts.append(own)
        return kept

    def codes(self) -> tuple[Codes, ...]:
        """Return the cell of each row that was kept, one array an attribute."""
        none: list[Codes] = [np.zeros(0, dtype=_kind(a.size)) for a in self.reader.attributes]
        columns = zip(none, *self.parts, strict=True)
        return tuple(np.concatenate(column) for column in columns)


def _kind(size: int) -> type[np.integer]:
    for kind in (np.uint8, np.uint16):
        if size <= np.iinfo(kind).max + 1:
            return kind
    return np.uint32


def places_of(cells: list[Integers], sizes: Sequence[int]) -> Integers:
    """Return the place of each row in a table of all cells, shape (n,); −1 where it has none."""
    flat = cells[0].astype(np.int64)
    for own, size in zip(cells[1:], sizes[1:], strict=True):
        flat *= size
        flat += own
    for own in cells:
        flat[own < 0] = -1
    return flat


def cells_of(attribute: Attribute, numbers: Vector | None, texts: Any = None) -> Integers:  # noqa: ANN401 (pyarrow has no types)
    """Return the cell of each value, shape (n,): −1 where the row is to be left out.

    Args:
        attribute: its categories.
        numbers: what each value is or spells as a number, NaN where it is none; None where no
            category is one.
        texts: an Arrow array of the values as texts; None where they are none, or no category is a
            word.

    Examples:
        >>> import pyarrow as pa
        >>> from lownoise.questions.attributes import attributes
        >>> age, sex = attributes({"age": 3, "sex": ["X", "M"]}, {"age": "extra"})
        >>> cells_of(age, np.array([0.0, 2.0, 3.0, 0.5, np.nan, -1.0])).tolist()
        [0, 2, 3, 3, 3, 3]
        >>> cells_of(sex, None, pa.array(["M", "X", "?", None])).tolist()
        [1, 0, -1, -1]
        >>> (pay,) = attributes({"pay": {"edges": [0, 10, 20]}})
        >>> cells_of(pay, np.array([-5.0, 9.9, 10.0, 20.0, np.inf, np.nan])).tolist()
        [0, 0, 1, 1, 1, -1]
    """
    parts = []
    if numbers is not None:
        parts.append(_numbered(attribute, numbers))
    if texts is not None:
        parts.append(_spelled(attribute, texts))
    cells: Integers = parts[0]
    for own in parts[1:]:
        cells = np.maximum(cells, own)  # a label is a number or a word, never both
    if attribute.outside is not None:
        cells[cells < 0] = attribute.outside
    return cells


def _spelled(attribute: Attribute, texts: Any) -> Integers:  # noqa: ANN401
    """Return the place of each text among the declared words, −1 where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array(list(attribute.words))
    places = np.array([*attribute.words.values(), -1], dtype=np.int64)  # the last of what is none

    def placed(own: Any) -> Integers:  # noqa: ANN401
        found = pc.index_in(own.cast(pa.string()), value_set=words).fill_null(len(words))
        return np.asarray(places[found.to_numpy(zero_copy_only=False)])

    if not pa.types.is_dictionary(texts.type):
        return placed(texts)
    # each word once, and the missing one last
    each = np.append(placed(texts.dictionary), -1)
    return np.asarray(each[texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)])


def _numbered(attribute: Attribute, values: Vector) -> Integers:
    """Return the place of each number among the declared ones, −1 where it is none of them."""
    with np.errstate(invalid="ignore"):
        if attribute.edges is not None:
            inner = np.array(attribute.edges[1:-1])
            cells = np.searchsorted(inner, values, side="right")
            return np.where(np.isnan(values), -1, cells).astype(np.int64)
        if attribute.labels is None:
            known = (values >= 0) & (values < attribute.categories) & (values == np.floor(values))
            return np.where(known, values, -1.0).astype(np.int64)
        labels = attribute.numbers
        order = np.argsort(labels, kind="stable")
        place = np.minimum(np.searchsorted(labels[order], values), labels.size - 1)
        found: Integers = np.where(labels[order][place] == values, order[place], -1)
        return found
