# SPDX-License-Identifier: Apache-2.0
"""Marginals: the counts of a table by every choice of a few attributes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import QuestionError, counted, quoted
from lownoise.kinds import Field, Form
from lownoise.numbers.arguments import expect_weights, is_integer
from lownoise.numbers.arrays import floats, frozen
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import Attribute, Categories, attributes
from lownoise.questions.encoding import (
    QUESTIONS,
    AbstractQuestion,
    Parts,
    attribute_to_dict,
    schema_from,
)
from lownoise.sensitivity.orders import answer_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Vector

_MOST_MARGINALS = 10**7
_MOST_CELLS = 3 * 10**7  # of one marginal, which is counted and noised in memory
_MOST_ATTRIBUTES = 16  # of one marginal: it has 2^16 residual spaces


def _written(
    attributes: Any,  # noqa: ANN401 (a file)
    weights: Any,  # noqa: ANN401
    sets: Any = None,  # noqa: ANN401
    way: Any = None,  # noqa: ANN401
) -> Marginals:
    sizes, outside = schema_from(attributes)
    ordered = {own["name"]: own["ordered"] for own in attributes if "ordered" in own}
    names = list(sizes)
    named = None if sets is None else [[names[i] for i in places] for places in sets]
    return Marginals(sizes, way=way, sets=named, weights=weights, outside=outside, ordered=ordered)


@QUESTIONS.kind(
    "marginals",
    Field("attributes", Form(lambda items: [attribute_to_dict(own) for own in items])),
    Field(
        "sets",
        Form(lambda chosen: [list(own) for own in chosen]),
        attribute=lambda own: own.chosen if own.way is None else None,
        optional=True,
    ),
    Field("way", optional=True),
    "weights",
    make=_written,
)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Marginals(AbstractQuestion):
    """Marginals of a table: for each set of attributes, the number of rows in each cell.

    A cell of a marginal has one category of each of its attributes. The marginal of no attribute is
    the number of rows.

    Args:
        sizes: maps each column's name to its number n of categories, whose values are the integers
            0 … n − 1; to a list of its categories, numbers or texts; or to
            {"edges": [e₀, …, eₙ]}: category i has the numbers from eᵢ to below eᵢ₊₁, the first also
            all smaller ones, the last all larger ones.
        way: k: all marginals of 0 to k attributes. Give this or `sets`.
        sets: the marginals, each a list of names; () for the number of rows.
        weights: the weight of one unit of variance in a cell, above 0, 1 by default: with `sets`
            one for each set, with `way` one for each number of attributes, 0 to k.
        outside: missing values, and values outside the given categories: "drop" leaves the row out
            (`add_remove` only); "extra" counts it in an extra category; or a mapping from names to
            "drop", "extra" or the given category that replaces them.
        ordered: maps the names of ordered attributes (in the order of `sizes`, an extra category
            last) to the counts wanted along them: "prefix", the count up to each category;
            "range", the count of every range of categories. The noise is then fitted to these
            counts, not to the cells.

    Raises:
        QuestionError: where a size is below 1, `way` exceeds the number of attributes, a name is
            unknown, a set stands twice, weights do not fit, or an order is neither.

    Examples:
        >>> question = Marginals({"age": 85, "sex": ["F", "M"]}, way=2)
        >>> [question.names(s) for s in question.sets()]
        [(), ('age',), ('sex',), ('age', 'sex')]
        >>> question.cells
        258
        >>> Marginals({"age": 4, "sex": 2}, way=2, ordered={"age": "range"}).answers  # 1 + 10·3 + 2
        33
    """

    parts: ClassVar[Parts] = Parts(
        view="release.marginals:MarginalView",
        read="release.stored:read_marginals",
        gaussian="planning.gaussian:plan_marginals",
        pure="planning.pure_tables:pure_marginals",
        page="report.marginals:MarginalsView",
    )

    attributes: tuple[Attribute, ...]
    way: int | None
    chosen: tuple[tuple[int, ...], ...]
    weights: Vector

    def __init__(
        self,
        sizes: Mapping[str, Categories],
        *,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
        ordered: Mapping[str, str] | None = None,
    ) -> None:
        schema = attributes(sizes, outside, ordered)
        if (way is None) == (sets is None):
            raise QuestionError(
                "Marginals needs either way=k, for all marginals of up to k attributes, or "
                "sets=[…]; give one of them",
            )
        chosen: tuple[tuple[int, ...], ...] = ()
        if way is not None:
            count = _checked_way(way, len(schema)) + 1
        else:
            assert sets is not None  # noqa: S101 (one of the two was given)
            chosen = _checked_sets(sets, [a.name for a in schema])
            count = len(chosen)
        _check_cells(schema, way, chosen)
        object.__setattr__(self, "attributes", schema)
        object.__setattr__(self, "way", None if way is None else int(way))
        object.__setattr__(self, "chosen", chosen)
        object.__setattr__(self, "weights", _checked_weights(weights, count))

    @classmethod
    def of(
        cls, attributes: Sequence[Attribute], weights: Mapping[tuple[str, ...], float]
    ) -> Marginals:
        """Return the question of these marginals, of attributes of other questions.

        Args:
            attributes: all of them.
            weights: of each marginal, by the names of its attributes.

        Raises:
            QuestionError: as of a new one.
        """
        places = {a.name: i for i, a in enumerate(attributes)}
        sets = [[places[name] for name in names] for names in weights]
        return _written([attribute_to_dict(a) for a in attributes], list(weights.values()), sets)

    def sets(self) -> Iterator[tuple[int, ...]]:
        """Yield each marginal's attributes, as rising indices into `attributes`."""
        if self.way is None:
            yield from self.chosen
            return
        for count in range(self.way + 1):
            yield from itertools.combinations(range(len(self.attributes)), count)

    @property
    def count(self) -> int:
        """The number of marginals."""
        if self.way is None:
            return len(self.chosen)
        return sum(math.comb(len(self.attributes), k) for k in range(self.way + 1))

    @property
    def cells(self) -> int:
        """The number of cells of all marginals together."""
        return self._together([a.size for a in self.attributes])

    @property
    def answers(self) -> int:
        """The number of answers: cells, or counts along the ordered attributes of a marginal."""
        return self._together([answer_count(a.ordered, a.size) for a in self.attributes])

    def _together(self, sizes: Sequence[int]) -> int:
        if self.way is None:
            return sum(math.prod(sizes[i] for i in chosen) for chosen in self.chosen)
        # the elementary symmetric polynomials of the sizes, degrees 0 to k
        sums = [1] + [0] * self.way
        for size in sizes:
            for k in range(self.way, 0, -1):
                sums[k] += sums[k - 1] * size
        return sum(sums)

    @property
    def table(self) -> Marginals:
        """The one of all attributes that are asked for: the marginals are sums of its cells."""
        asked = sorted({i for chosen in self.sets() for i in chosen})
        return Marginals.of(self.attributes, {self.names(asked): 1.0})

    def names(self, chosen: Sequence[int]) -> tuple[str, ...]:
        """Return the names of the attributes at the indices `chosen`."""
        return tuple(self.attributes[i].name for i in chosen)

    def index(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the rising indices of the attributes called `names`.

        Raises:
            QuestionError: where a name is unknown or stands twice.
        """
        return _indices(names, [a.name for a in self.attributes], "names")

    def order(self, names: Sequence[str]) -> list[int]:
        """Return the places of `names` in their rising order."""
        chosen = self.index(names)
        return [chosen.index(self.index([name])[0]) for name in names]

    def asked(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes is one of the question's."""
        return len(chosen) <= self.way if self.way is not None else tuple(chosen) in self.chosen

    @property
    def ordered(self) -> bool:
        """Whether an attribute is ordered."""
        return any(a.ordered for a in self.attributes)

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return any(a.outside is None for a in self.attributes)


def _checked_way(way: object, count: int) -> int:
    found = int(way) if is_integer(way) else -1
    if not 0 <= found <= count:
        raise QuestionError(
            f"Marginals.way={quoted(way)} with {count} attributes; give a whole number from 0 to "
            f"{count}",
        )
    marginals = sets = 1
    for k in range(found):  # ends before the numbers are long
        sets = sets * (count - k) // (k + 1)
        marginals += sets
        if marginals > _MOST_MARGINALS:
            raise QuestionError(
                f"Marginals.way={found} of {count} attributes asks for more than 10^7 marginals; "
                "give a lower way, or sets=[…]",
            )
    return found


def _check_cells(
    schema: Sequence[Attribute], way: int | None, chosen: Sequence[tuple[int, ...]]
) -> None:
    """Refuse a marginal that would not fit the memory while it is counted."""
    if way is not None:
        largest = sorted(range(len(schema)), key=lambda i: -schema[i].size)
        chosen = [tuple(largest[:way])]
    for places in chosen:
        cells = math.prod(schema[i].size for i in places)
        if cells > _MOST_CELLS:
            names = tuple(schema[i].name for i in sorted(places))
            raise QuestionError(
                f"Marginals asks for {names}, of {counted(cells)} cells; ask for at most 3·10^7 "
                "in one marginal, by fewer attributes or wider categories",
            )
        if sum(schema[i].size > 1 for i in places) > _MOST_ATTRIBUTES:
            raise QuestionError(
                f"Marginals asks for a marginal of {len(places)} attributes; ask for at most "
                f"{_MOST_ATTRIBUTES} in one",
            )


def _checked_sets(sets: object, names: list[str]) -> tuple[tuple[int, ...], ...]:
    if isinstance(sets, str) or not isinstance(sets, Sequence) or not sets:
        raise QuestionError('Marginals.sets is no list of lists of names; give [["age", "sex"], …]')
    found = [_indices(chosen, names, f"Marginals.sets[{k}]") for k, chosen in enumerate(sets)]
    if len(set(found)) < len(found):
        twice = next(k for k, chosen in enumerate(found) if chosen in found[:k])
        raise QuestionError(
            f"Marginals.sets[{twice}] asks for a marginal twice; give it once, with a weight",
        )
    return tuple(found)


_MOST_NAMES = 20  # in a message


def _indices(chosen: object, names: list[str], field: str) -> tuple[int, ...]:
    if isinstance(chosen, str) or not isinstance(chosen, Sequence):
        raise QuestionError(f'{field}={quoted(chosen)} is no list of names; give ["name", …]')
    known = {name: i for i, name in enumerate(names)}
    for name in chosen:
        if not isinstance(name, str) or name not in known:
            some = ", ".join(map(repr, names[:_MOST_NAMES])) + ", …" * (len(names) > _MOST_NAMES)
            raise QuestionError(f"{field}: {quoted(name)} is no attribute; name some of {some}")
    found = sorted(known[name] for name in chosen)
    if len(set(found)) < len(found):
        raise QuestionError(f"{field}={tuple(chosen)} names an attribute twice; name it once")
    return tuple(found)


def _checked_weights(weights: object, count: int) -> Vector:
    if weights is None:
        return frozen(np.ones(count))
    try:
        found = floats(weights)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise QuestionError(
            "Marginals.weights is no list of numbers; give one a marginal",
        ) from None
    if found.shape != (count,):
        raise QuestionError(
            f"Marginals.weights has shape {found.shape}; give {count} numbers, one for each set, "
            "or with way=k one for each number of attributes from 0 to k",
        )
    expect_weights(found, "Marginals.weights", QuestionError)
    return frozen(found)
