# SPDX-License-Identifier: Apache-2.0
"""From a table to exact counts: each value becomes the number of its cell, and cells are counted.

Where all attributes together have few cells, one table of all of them is kept, however many rows
there are; else the codes of all rows are kept, a byte or two each. Which of the two follows from
the declared sizes alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.quiet import alike
from lownoise.engines.reading import source_of
from lownoise.engines.tables import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute

    Codes = NDArray[np.integer]

_WHOLE = 1 << 22  # cells of a table that is kept instead of its rows
_MOST_AXES = 32
_FEW_ROWS = 1 << 13  # so few are counted for many sets at once
_AT_ONCE = 1 << 16  # codes that stay in the cache


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Records:
    """The rows of a table as cells of its attributes.

    Args:
        count: the number of rows, less those that were left out.
        sizes: the number of cells of each attribute, shape (D,).
        codes: the cell of each row, one array of shape (count,) an attribute; or None.
        table: the count of each cell of all attributes together, shape `sizes`; or None.
    """

    count: int
    sizes: tuple[int, ...]
    codes: tuple[Codes, ...] | None
    table: Integers | None

    def marginal(self, chosen: Sequence[int]) -> Integers:
        """Return the exact counts over the attributes `chosen`, rising, shape (n, …).

        Examples:
            >>> rows = records_of([np.array([0, 1, 1]), np.array([2, 0, 0])], (2, 3))
            >>> rows.marginal((0, 1)).tolist(), rows.marginal(()).tolist()
            ([[0, 0, 1], [2, 0, 0]], 3)
        """
        shape = [self.sizes[i] for i in chosen]
        if self.table is not None:
            others = tuple(i for i in range(len(self.sizes)) if i not in chosen)
            whole: Integers = np.asarray(self.table.sum(axis=others))
            return whole
        assert self.codes is not None  # noqa: S101 (one of the two is kept)
        if not shape:
            return np.array(self.count)
        flat = self.codes[chosen[0]].astype(np.int64)
        for i in chosen[1:]:
            flat *= self.sizes[i]
            flat += self.codes[i]
        return np.bincount(flat, minlength=math.prod(shape)).reshape(shape)

    def marginals(self, sets: Sequence[Sequence[int]]) -> Integers:
        """Return the counts over several sets of attributes of the same sizes, shape (k, n, …).

        Few rows are counted for many sets at once.

        Examples:
            >>> rows = records_of([np.array([0, 1, 1])] * 2, (2, 2))
            >>> rows.marginals([(0,), (1,)]).tolist()
            [[1, 2], [1, 2]]
        """
        shape = [self.sizes[i] for i in sets[0]]
        if self.codes is None or not shape or self.count > _FEW_ROWS:
            return np.stack([self.marginal(chosen) for chosen in sets])
        codes = np.stack(self.codes)
        many = max(_AT_ONCE // max(self.count, 1), 1)
        found = [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(sets), many):
            columns = np.array(sets[start : start + many]).T
            flat = np.repeat(np.arange(columns.shape[1])[:, None], self.count, axis=1)
            for column, size in zip(columns, shape, strict=True):
                flat *= size
                flat += codes[column]
            cells = columns.shape[1] * math.prod(shape)
            found.append(np.bincount(flat.reshape(-1), minlength=cells))
        return np.concatenate(found).reshape(len(sets), *shape)


def records_of(codes: Sequence[Codes], sizes: Sequence[int]) -> Records:
    """Return rows given by their cells: the meaning that `read_records` matches.

    Args:
        codes: one array of shape (n,) an attribute.
        sizes: the number of cells of each attribute.
    """
    return Records(count=len(codes[0]), sizes=tuple(sizes), codes=tuple(codes), table=None)


def read_records(attributes: Sequence[Attribute], table: Any) -> Records:  # noqa: ANN401 (any frame)
    """Return the rows of `table` as cells of its attributes.

    Args:
        attributes: the columns and their categories.
        table: as `lownoise.engines.reading.source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    sizes = tuple(a.size for a in attributes)
    whole = math.prod(sizes) <= _WHOLE and len(sizes) <= _MOST_AXES
    counts = np.zeros(math.prod(sizes), dtype=np.int64) if whole else None
    parts: list[list[Codes]] = []
    count = 0

    def add(cells: list[Integers]) -> None:
        nonlocal count, counts
        kept = np.all([c >= 0 for c in cells], axis=0)
        codes = [c[kept].astype(_kind(n)) for c, n in zip(cells, sizes, strict=True)]
        count += len(codes[0])
        if counts is None:
            parts.append(codes)
        else:
            counts += records_of(codes, sizes).marginal(range(len(sizes))).reshape(-1)

    each_batch(attributes, table, add)
    if counts is not None:
        return Records(count=count, sizes=sizes, codes=None, table=counts.reshape(sizes))
    empty = [[np.zeros(0, dtype=_kind(n)) for n in sizes]]
    columns = tuple(np.concatenate(c) for c in zip(*(parts or empty), strict=True))
    return Records(count=count, sizes=sizes, codes=columns, table=None)


def each_batch(
    attributes: Sequence[Attribute],
    table: Any,  # noqa: ANN401 (any frame)
    add: Callable[[list[Integers]], None],
) -> None:
    """Give the rows of `table` to `add`, batch by batch: their cells, one array an attribute.

    Args:
        attributes: the columns and their categories.
        table: as `lownoise.engines.reading.source_of` takes it.
        add: called with arrays of shape (n,), −1 where an attribute has no cell for a value.

    Raises:
        TableError, EngineError: as `read_records`.
    """
    source = source_of(table, [a.name for a in attributes])
    with alike(failed(table, "counted")):
        kinds = zip(attributes, source.kinds([a.name for a in attributes]), strict=True)
        texts = {a.name for a, kind in kinds if kind == "texts"}
        spelled = [a.name for a in attributes if a.name in texts and a.words]
        numbered = [
            a.name for a in attributes if a.name not in texts or len(a.words) < a.categories
        ]
        for batch in source.batches(numbered, spelled):
            numbers = dict(zip(numbered, batch.numbers, strict=True))
            words = dict(zip(spelled, batch.texts, strict=True))
            add([cells_of(a, numbers.get(a.name), words.get(a.name)) for a in attributes])


def _kind(size: int) -> type[np.integer]:
    for kind in (np.uint8, np.uint16):
        if size <= np.iinfo(kind).max + 1:
            return kind
    return np.uint32


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
    """
    parts = []
    if numbers is not None:
        parts.append(_numbered(attribute, numbers))
    if texts is not None:
        parts.append(_spelled(attribute, texts))
    cells: Integers = np.maximum.reduce(parts)  # a label is a number or a word, never both
    if attribute.outside is not None:
        cells[cells < 0] = attribute.outside
    return cells


def _spelled(attribute: Attribute, texts: Any) -> Integers:  # noqa: ANN401
    """Return the place of each text among the declared words, −1 where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = np.array(list(attribute.words.values()), dtype=np.int64)
    found = pc.index_in(texts.cast(pa.string()), value_set=pa.array(list(attribute.words)))
    place: Integers = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(place >= 0, places[place], -1)


def _numbered(attribute: Attribute, values: Vector) -> Integers:
    """Return the place of each number among the declared ones, −1 where it is none of them."""
    with np.errstate(invalid="ignore"):
        if attribute.labels is None:
            known = (values >= 0) & (values < attribute.categories) & (values == np.floor(values))
            return np.where(known, values, -1.0).astype(np.int64)
        labels = attribute.numbers
        order = np.argsort(labels, kind="stable")
        place = np.minimum(np.searchsorted(labels[order], values), labels.size - 1)
        found: Integers = np.where(labels[order][place] == values, order[place], -1)
        return found
