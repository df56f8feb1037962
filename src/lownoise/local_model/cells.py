# SPDX-License-Identifier: Apache-2.0
"""Records as cells of a table: the label of a record is its cell in all attributes together.

A value means what it means in a table that engines count (`lownoise.engines.counts`): a number, or
a text that spells one, is the declared category of that number; another text is the declared text
that it equals; whatever is neither has the cell that the question's policy names.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, PlanError, counted, quoted
from lownoise.kinds import Field, Form
from lownoise.local_model.encoder import ENCODERS, AbstractEncoder, table_of, values_of
from lownoise.numbers.arrays import frozen
from lownoise.numbers.values import distinguishable, number, number_of, number_of_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals

MOST_CELLS = 10**6
MOST_NUMBERS = 1 << 26  # of the matrix of answers
_ORDERS = (None, "prefix", "range")


@final
@dataclass(frozen=True)
class Category:
    """What the values of one attribute mean.

    Args:
        name: the attribute's.
        labels: its declared categories in order, all numbers or all texts; or the number of them,
            where they are the integers from 0.
        outside: the cell of every other value: one of theirs, or one after them.
        ordered: "prefix" or "range" where counts along the cells are asked, None where cells are.

    Raises:
        FileError: where a field is of no meaning.

    Examples:
        >>> sex = Category("sex", ("X", "M", 3.0), 3)
        >>> sex.size, sex.cells(["M", "X", "3.00", 3, None, "m"]).tolist()
        (4, [1, 0, 2, 2, 3, 3])
    """

    name: str
    labels: int | tuple[float | str, ...]
    outside: int
    ordered: str | None = None

    def __post_init__(self) -> None:
        named = isinstance(self.name, str) and self.name
        labels, places = self.labels, (self.outside, self.count)
        texts = isinstance(labels, int) or all(isinstance(own, (float, str)) for own in labels)
        integers = all(isinstance(own, int) and not isinstance(own, bool) for own in places)
        if not named or not texts or not integers or not 0 <= self.outside <= self.count:
            raise FileError(f"encoder.attributes: {quoted(self.name)} is no attribute; plan again")
        if not 1 <= self.size <= MOST_CELLS or self.ordered not in _ORDERS:
            raise FileError(f"encoder.attributes: {quoted(self.name)} is out of range; plan again")

    @property
    def count(self) -> int:
        """The number of declared categories."""
        return self.labels if isinstance(self.labels, int) else len(self.labels)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.count + (self.outside == self.count)

    @cached_property
    def _numbers(self) -> tuple[Vector, Integers]:
        """What labels are or spell as numbers, rising, and their cells."""
        labels = () if isinstance(self.labels, int) else self.labels
        spelled = [number_of(own) if isinstance(own, str) else own for own in labels]
        found = np.array([math.nan if x is None else distinguishable(x) for x in spelled])
        order = np.argsort(found, kind="stable")[: int(np.sum(~np.isnan(found)))]
        return found[order], order

    @cached_property
    def _words(self) -> dict[str, int]:
        """The labels that spell no number, and their cells."""
        listed = enumerate(() if isinstance(self.labels, int) else self.labels)
        return {own: i for i, own in listed if isinstance(own, str) and number_of(own) is None}

    def numbered(self, values: Vector) -> Integers:
        """Return the cells of numbers, shape (n,); not a number has the one of other values."""
        with np.errstate(invalid="ignore"):
            if isinstance(self.labels, int):
                known = (values >= 0) & (values < self.count) & (values == np.floor(values))
                return np.where(known, values, self.outside).astype(np.int64)
            labels, cells = self._numbers
            if not labels.size:
                return np.full(values.shape, self.outside)
            place = np.minimum(np.searchsorted(labels, values), labels.size - 1)
            return np.where(labels[place] == values, cells[place], self.outside)

    def cells(self, values: Sequence[Any]) -> Integers:
        """Return the cells of values of any type, shape (n,)."""
        texts = [str.__str__(own) if isinstance(own, str) else None for own in values]
        distinct = list({text for text in texts if text is not None})
        spelled = np.array([number_of_text(text) for text in distinct], dtype=np.float64)
        of_text = dict(zip(distinct, self.numbered(spelled).tolist(), strict=True))
        of_text |= {text: cell for text, cell in self._words.items() if text in of_text}
        others = np.array([math.nan if isinstance(own, str) else number(own) for own in values])
        found = self.numbered(others.astype(np.float64))
        for i, text in enumerate(texts):
            if text is not None:
                found[i] = of_text[text]
        return found

    def answer_names(self) -> list[str]:
        """Return what each answer along it is called."""
        cells = [self._label(cell) for cell in range(self.size)]
        if self.ordered == "prefix":
            return [f"{self.name}<={own}" for own in cells]
        if self.ordered == "range":
            ends = ((i, j) for i in range(self.size) for j in range(i, self.size))
            return [f"{self.name}={cells[i]}..{cells[j]}" for i, j in ends]
        return [f"{self.name}={own}" for own in cells]

    def _label(self, cell: int) -> str:
        if cell == self.count:
            return "(other)"
        own = cell if isinstance(self.labels, int) else self.labels[cell]
        return own if isinstance(own, str) else repr(own).removesuffix(".0")

    def rows(self) -> Vector:
        """Return which cells each answer along it adds up, 0 or 1; shape (answers, size)."""
        from lownoise.sensitivity.orders import answer_rows

        return answer_rows(self.ordered, self.size).astype(np.float64)  # type: ignore[arg-type]


def _attributes_to_json(attributes: Sequence[Category]) -> list[dict[str, Any]]:
    return [
        {
            "name": own.name,
            "categories": own.labels if isinstance(own.labels, int) else list(own.labels),
            "outside": own.outside,
            **({"ordered": own.ordered} if own.ordered else {}),
        }
        for own in attributes
    ]


def _attributes(values: Any, field: str) -> tuple[Category, ...]:  # noqa: ANN401
    if not isinstance(values, list) or not all(isinstance(own, dict) for own in values):
        raise FileError(f"{field} is no list of attributes")
    found = []
    for own in values:
        if not {"name", "categories", "outside"} <= own.keys() or len(own) > 3 + ("ordered" in own):
            raise FileError(f"{field} has an attribute of other fields")
        labels = own["categories"]
        found.append(
            Category(
                own["name"],
                tuple(labels) if isinstance(labels, list) else labels,
                own["outside"],
                own.get("ordered"),
            )
        )
    return tuple(found)


def _sets(values: Any, field: str) -> tuple[tuple[int, ...], ...]:  # noqa: ANN401
    if not isinstance(values, list) or not all(isinstance(own, list) for own in values):
        raise FileError(f"{field} is no list of lists of places")
    return tuple(tuple(own) for own in values)


ATTRIBUTES = Form(_attributes_to_json, _attributes)
SETS = Form(lambda sets: [list(own) for own in sets], _sets)


def cells_of(records: Any, attributes: Sequence[Category]) -> Integers:  # noqa: ANN401
    """Return the cell of each record in each attribute, shape (n, D).

    Args:
        records: an array of shape (n, D), or n records: each a mapping from the attributes' names,
            or their values in order, or the value itself where D = 1.
        attributes: D of them.

    Raises:
        TableError: where a record is of another shape; of its values nothing is said.
    """
    names = [own.name for own in attributes]
    table = table_of(records, names)
    if table is not None:
        columns = [own.numbered(c) for own, c in zip(attributes, table.T, strict=True)]
        return np.stack(columns, axis=1)
    rows = [values_of(record, names) for record in records]
    columns = [own.cells([row[j] for row in rows]) for j, own in enumerate(attributes)]
    return np.stack(columns, axis=1)


def asked_of(question: Marginals) -> tuple[tuple[Category, ...], tuple[tuple[int, ...], ...]]:
    """Return the attributes that marginals ask for, and their sets as places among those.

    Raises:
        PlanError: where a policy leaves records out, or no attribute is asked for.
        QuestionError: where two categories mean the same.
    """
    from lownoise.questions.attributes import check_labels

    check_labels(question.attributes)
    if question.drops:
        raise PlanError(
            'outside="drop" would leave people out, and whether one reports is public; '
            'use "extra" or a category that stands in'
        )
    sets = list(question.sets())
    used = sorted(set().union(*sets))
    if not used:
        raise PlanError("question asks for no attribute; give at least one")
    place = {i: j for j, i in enumerate(used)}
    attributes = []
    for i in used:
        own = question.attributes[i]
        assert own.outside is not None  # noqa: S101 (none is left out)
        if own.edges is not None:
            raise PlanError(
                f"attribute {quoted(own.name)} is of ranges of numbers, which devices do not sort; "
                "give its number of categories, and have each device send which one is its own"
            )
        labels = own.categories if own.labels is None else own.labels
        attributes.append(Category(own.name, labels, own.outside, own.ordered))
    return tuple(attributes), tuple(tuple(place[i] for i in chosen) for chosen in sets)


def expect_sets(kind: str, attributes: Sequence[Category], sets: Sequence[tuple[int, ...]]) -> None:
    """Refuse sets that are no rising places among attributes, or stand twice.

    Raises:
        FileError: as said, and where attributes have one name.
    """
    places = range(len(attributes))
    for own in sets:
        if not all(type(i) is int and i in places for i in own) or list(own) != sorted(set(own)):
            raise FileError(f"{kind}.sets has {quoted(own)}, which are no rising places")
    if not sets or len(set(sets)) != len(sets):
        raise FileError(f"{kind}.sets has one twice, or none")
    if not attributes or len({own.name for own in attributes}) != len(attributes):
        raise FileError(f"{kind}.attributes names one twice, or none")


def answers_of(attributes: Sequence[Category], sets: Sequence[tuple[int, ...]]) -> int:
    """Return how many answers sets of attributes have together."""
    sizes = [own.size for own in attributes]
    count = [
        size * (size + 1) // 2 if own.ordered == "range" else size
        for own, size in zip(attributes, sizes, strict=True)
    ]
    return sum(math.prod(count[i] for i in chosen) for chosen in sets)


FIELDS = (Field("attributes", ATTRIBUTES), Field("sets", SETS))


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractMarginalEncoder(AbstractEncoder):
    """Marginals of attributes: answers are sums of cells' shares, and that of everybody is 1.

    Args:
        attributes: D of them.
        sets: which marginals are answered, each of them rising places among the attributes.

    Raises:
        FileError: where a field is of no meaning.
    """

    attributes: tuple[Category, ...]
    sets: tuple[tuple[int, ...], ...]
    columns: tuple[str, ...] = field(init=False)  # the attributes' names

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(own.name for own in self.attributes))
        expect_sets(ENCODERS.of(self).name, self.attributes, self.sets)

    @cached_property
    def length(self) -> int:
        """The number m of answers."""
        return answers_of(self.attributes, self.sets)

    @property
    def names(self) -> list[str]:
        """What each answer is called: "age=3, sex=F"."""
        found = []
        for chosen in self.sets:
            along = [self.attributes[i].answer_names() for i in chosen]
            found += [", ".join(own) if own else "everybody" for own in product(*along)]
        return found

    @cached_property
    def _added(self) -> Vector:
        """Which cells each answer adds up, in parts of 1; shape (m, r)."""
        return np.concatenate([self._marginal(chosen) for chosen in self.sets])

    @abstractmethod
    def _marginal(self, chosen: tuple[int, ...]) -> Vector:
        """Return the rows of one marginal."""

    @property
    @abstractmethod
    def _constant(self) -> Vector:
        """1 for answers that add up all cells, shape (m,)."""

    @cached_property
    def answers(self) -> Vector:
        """What each answer adds up of cells' shares, shape (m, r); 0 for that of everybody.

        The diagonal, shape (r,), where the cells themselves are asked for.
        """
        return frozen(self._added * (1 - self._constant)[:, None])

    def apart(self, question: Any) -> float:  # noqa: ANN401
        """Return 0 where the question is the one of these marginals, else infinity."""
        from lownoise.questions import Marginals

        if not isinstance(question, Marginals) or question.drops:
            return math.inf
        return 0.0 if asked_of(question) == (self.attributes, self.sets) else math.inf

    def decode(self, mean: Vector) -> Vector:
        """Return the shares that are asked for, shape (m,), set by set."""
        return frozen(self.answers @ mean + self._constant)


@ENCODERS.kind("cells", *FIELDS)
@final
@dataclass(frozen=True, eq=False, kw_only=True)
class CellEncoder(AbstractMarginalEncoder):
    """The cell of each record in the table of all attributes; answers are sums of cells' shares.

    The share of everybody is 1, and no report is asked about it.

    Args:
        attributes: D of them, of at most 10^6 cells together.
        sets: which marginals are answered, each of them rising places among the attributes.

    Raises:
        FileError: where a field is of no meaning.
    """

    makes: ClassVar[Takes] = "label"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.dimension <= MOST_CELLS:  # noqa: PLR2004
            raise FileError(
                f"cells.attributes have {counted(self.dimension)} cells; have 2 to 10^6"
            )
        if not self._plain and self.length * self.dimension > MOST_NUMBERS:
            raise FileError(f"cells.sets ask for {counted(self.length)} answers, too many at once")

    @classmethod
    def of(cls, question: Marginals) -> CellEncoder:
        """Return the encoder of a question.

        Raises:
            PlanError: where a policy leaves records out, or all attributes together have fewer than
                2 cells or more than 10^6.
            QuestionError: where two categories mean the same.
        """
        attributes, sets = asked_of(question)
        try:
            return cls(attributes=attributes, sets=sets)
        except FileError:
            cells = counted(math.prod(own.size for own in attributes))
            raise PlanError(
                f"question has {cells} cells of all attributes together, too few or too many for "
                "one label; ask for fewer attributes, wider categories or fewer marginals"
            ) from None

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(own.size for own in self.attributes)

    @property
    def _plain(self) -> bool:
        """Whether the cells themselves are what is asked for."""
        unordered = all(own.ordered is None for own in self.attributes)
        return unordered and self.sets == (tuple(range(len(self.attributes))),)

    @property
    def dimension(self) -> int:
        """The number k of cells."""
        return math.prod(self._sizes)

    def _marginal(self, chosen: tuple[int, ...]) -> Vector:
        factors = [
            own.rows() if i in chosen else np.ones((1, own.size))
            for i, own in enumerate(self.attributes)
        ]
        found = np.ones((1, 1))
        for own in factors:
            found = np.asarray(np.kron(found, own))
        return found

    @cached_property
    def _constant(self) -> Vector:
        """1 for answers that add up all cells, shape (m,)."""
        return np.asarray(self._added.all(axis=1).astype(np.float64))

    @cached_property
    def answers(self) -> Vector:
        """What each answer adds up, shape (m, k); the diagonal where cells are asked for."""
        return frozen(np.ones(self.dimension)) if self._plain else super().answers

    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return each record's cell, shape (n, 1).

        Raises:
            TableError: where a record is of another shape.
        """
        cells = cells_of(records, self.attributes)
        places = np.ravel_multi_index(tuple(cells.T), self._sizes)
        return np.asarray(places, dtype=np.int64)[:, None]

    def decode(self, mean: Vector) -> Vector:
        """Return the shares that are asked for, shape (m,), set by set."""
        return frozen(np.array(mean)) if self._plain else super().decode(mean)
