# SPDX-License-Identifier: Apache-2.0
"""The attributes of a table of counts: their categories, and where other values go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError, counted, quoted
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.numbers.values import distinguishable, number_of
from lownoise.sensitivity.orders import ORDERS, Order

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

OTHER = "(other)"
_MOST_CATEGORIES = 2**31
_MOST_LISTED = 1 << 24  # a list of labels: a range of 10^12 would be written out
_MOST_SHOWN = 20  # categories in a message
POLICIES = ("drop", "extra")
Categories = int | Sequence[float] | Sequence[str] | Mapping[str, Sequence[float]]


@final
@readable
@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute of a table of counts.

    Args:
        name: the column's name.
        categories: how many categories are declared, at least 1.
        labels: the declared categories in the order of their cells, all numbers or all texts; None
            where they are the integers from 0.
        outside: the cell of missing values and of those outside the declared categories: one of
            theirs, or an extra one after them; None where a row that has one is left out.
        ordered: "prefix" or "range" where answers are counts along the attribute's cells in their
            order, None where they are those of its cells.
        edges: where the declared categories are ranges of numbers, e₀ < … < eₙ: category i has
            those from eᵢ to below eᵢ₊₁, the first also all below and the last all above; None where
            they are values.
    """

    name: str
    categories: int
    labels: tuple[float, ...] | tuple[str, ...] | None = None
    outside: int | None = None
    ordered: Order | None = None
    edges: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        """The number of cells: the declared categories, and the extra one where there is one."""
        return self.categories + (self.outside == self.categories)

    @cached_property
    def numbers(self) -> Vector:
        """What each label is or spells as a number, shape (categories,), or (0,) without labels.

        Not a number where it is a word, or so large that its neighbours are the same float.
        """
        spelled = [_number(c) for c in self.labels or ()]
        return frozen(np.array([math.nan if x is None else distinguishable(x) for x in spelled]))

    @cached_property
    def words(self) -> dict[str, int]:
        """The declared categories that spell no number, and the cell of each."""
        listed = enumerate(self.labels or ())
        return {c: i for i, c in listed if isinstance(c, str) and number_of(c) is None}

    def cell(self, value: object) -> int:
        """Return the cell of a declared category, which its label names, too.

        Raises:
            QuestionError: where it is none.

        Examples:
            >>> (sex,) = attributes({"sex": ["F", "M"]}, "extra")
            >>> sex.cell("M"), sex.cell("(other)")
            (1, 2)
        """
        if value == OTHER and self.outside == self.categories:
            return self.categories
        labels: Sequence[object] = self.labels or ()
        if self.edges is not None:
            labels = [self.label(k) for k in range(self.categories)]
        elif self.labels is None:
            labels = range(self.categories)
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
        if isinstance(value, bool) or value not in labels:
            raise _unknown(self, value)
        return labels.index(value)

    def label(self, cell: int) -> str:
        """Return what cell `cell` is called.

        Examples:
            >>> (sex,) = attributes({"sex": ["F", "M"]}, "extra")
            >>> [sex.label(cell) for cell in range(sex.size)]
            ['F', 'M', '(other)']
        """
        if not 0 <= cell < self.size:
            raise QuestionError(
                f"cell={cell} of {quoted(self.name)} does not exist; "
                f"give one from 0 to {self.size - 1}",
            )
        if cell == self.categories:
            return OTHER
        if self.edges is not None:
            end = "]" if cell == self.categories - 1 else ")"
            return f"[{_plain(self.edges[cell])}, {_plain(self.edges[cell + 1])}{end}"
        if self.labels is None:
            return str(cell)
        label = self.labels[cell]
        return label if isinstance(label, str) else _plain(label)


def _unknown(attribute: Attribute, value: object) -> QuestionError:
    return QuestionError(
        f"{quoted(attribute.name)}={quoted(value)} is no declared category; give one of "
        f"{', '.join(repr(attribute.label(k)) for k in range(min(attribute.size, _MOST_SHOWN)))}"
    )


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def attributes(
    sizes: Mapping[str, Categories],
    outside: str | Mapping[str, object] = "drop",
    ordered: Mapping[str, str] | None = None,
) -> tuple[Attribute, ...]:
    """Return the attributes that a question declares.

    Args:
        sizes: maps each column's name to its number n of categories, whose values are the integers
            0 … n − 1, to the list of its categories, numbers or texts, or to {"edges": […]}, the
            ends of ranges of numbers.
        outside: where missing values go and those outside the declared categories: "extra", an
            extra cell of their attribute; "drop", the row is left out; or a mapping from names to
            "extra", "drop" or the category that stands in, with "drop" for names it lacks.
        ordered: maps names to "prefix" or "range".

    Raises:
        QuestionError: where a size is below 1, a category stands twice, a name is unknown, or an
            order is neither.

    Examples:
        >>> age, sex = attributes({"age": 85, "sex": ["F", "M"]}, {"sex": "extra"})
        >>> age.size, age.outside, sex.size, sex.outside
        (85, None, 3, 2)
    """
    if not isinstance(sizes, Mapping) or not sizes:
        raise QuestionError(
            "sizes is no mapping from names to categories; give each name its labels, or how many "
            "there are: {'sex': ['F', 'M'], 'age': 85}",
        )
    for name in sizes:
        if not isinstance(name, str) or not _printable(name):
            raise QuestionError(
                f"sizes has the name {quoted(name)}; give the name of a column, a text"
            )
    folded: dict[str, str] = {}
    for name in sizes:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            raise QuestionError(
                f"sizes has names {quoted(other)} and {quoted(name)} that differ only in case; "
                "rename one",
            )
    policies, orders = _policies(outside, sizes), _orders(ordered, sizes)
    return tuple(
        _attribute(name, given, policies[name], orders.get(name)) for name, given in sizes.items()
    )


def check_labels(schema: Sequence[Attribute]) -> None:
    """Refuse categories that a table could not tell apart, whatever type its columns have.

    Files of version 0.1 may hold such categories, and are read; no plan is made of them.

    Args:
        schema: the attributes of a question.

    Raises:
        QuestionError: where two categories of one attribute are or spell one number, or one is not
            finite or not below 2^53 in size.

    Examples:
        >>> check_labels(attributes({"area": ["007", "7"]}))
        Traceback (most recent call last):
        lownoise.errors.QuestionError: sizes['area'] lists '007' and '7', both 7 in a column of \
numbers; list one of them
    """
    for attribute in schema:
        seen: dict[float, float | str] = {}
        for label in attribute.labels or ():
            number = _number(label)
            if number is None:
                continue
            if math.isnan(distinguishable(number)):
                raise QuestionError(
                    f"sizes[{quoted(attribute.name)}] lists {quoted(label)}, which counts as "
                    "missing: numbers from 2^53 on are not told apart; give it another name",
                )
            if number in seen:
                raise QuestionError(
                    f"sizes[{quoted(attribute.name)}] lists {quoted(seen[number])} and "
                    f"{quoted(label)}, both {number:.17g} in a column of numbers; list one of them",
                )
            seen[number] = label


def _number(label: float | str) -> float | None:
    return number_of(label) if isinstance(label, str) else label


def _printable(name: str) -> bool:
    return bool(name) and _storable(name)


def _storable(text: str) -> bool:
    # neither a lone surrogate nor a NUL can stand in a file
    return "\0" not in text and text.encode("utf-8", "replace").decode() == text


def _float(item: float | np.integer | np.floating | np.bool_) -> float:
    try:
        return float(item)
    except OverflowError:
        return math.inf


def _policies(outside: object, sizes: Mapping[str, object]) -> dict[str, object]:
    if isinstance(outside, str):
        if outside not in POLICIES:
            raise QuestionError(
                f'outside={quoted(outside)} is no policy; give "extra", "drop" '
                "or a mapping by name",
            )
        return dict.fromkeys(sizes, outside)
    if not isinstance(outside, Mapping):
        raise QuestionError(
            f'outside={type(outside).__name__} is no policy; give "extra", "drop" or a mapping',
        )
    for name in outside:
        if name not in sizes:
            raise _unnamed("outside", name, sizes)
    return {name: outside.get(name, "drop") for name in sizes}


def _unnamed(field: str, name: object, sizes: Mapping[str, object]) -> QuestionError:
    # which argument lists the attributes differs by question: they are named themselves
    known = ", ".join(quoted(own) for own in list(sizes)[:_MOST_SHOWN])
    more = ", …" * (len(sizes) > _MOST_SHOWN)
    return QuestionError(f"{field} names {quoted(name)}, no attribute; name some of {known}{more}")


def _orders(ordered: object, sizes: Mapping[str, object]) -> dict[str, Order]:
    if ordered is None:
        return {}
    if not isinstance(ordered, Mapping):
        raise QuestionError(
            f"ordered={type(ordered).__name__} is no mapping from names; "
            'give {"age": "prefix"} or {"age": "range"}',
        )
    found: dict[str, Order] = {}
    for name, kind in ordered.items():
        if name not in sizes:
            raise _unnamed("ordered", name, sizes)
        allowed = [k for k in ORDERS if isinstance(kind, str) and k == kind]
        if not allowed:
            raise QuestionError(
                f'ordered[{quoted(name)}]={quoted(kind)} is unknown; give "prefix" or "range"'
            )
        found[name] = allowed[0]
    return found


def _attribute(name: str, given: object, policy: object, order: Order | None) -> Attribute:
    labels = edges = None
    if isinstance(given, Mapping):
        edges = _edges(name, given)
        categories = len(edges) - 1
    elif is_integer(given):
        categories = int(given)
        if not 1 <= categories <= _MOST_CATEGORIES:
            raise QuestionError(
                f"sizes[{quoted(name)}]={quoted(categories)} is no number of categories; "
                "give 1 to 2^31",
            )
    else:
        labels = _labels(name, given)
        categories = len(labels)
    return Attribute(
        name=name,
        categories=categories,
        labels=labels,
        outside=_cell(name, policy, categories, labels),
        ordered=order,
        edges=edges,
    )


def _edges(name: str, given: Mapping[object, object]) -> tuple[float, ...]:
    listed = given.get("edges") if set(given) == {"edges"} else None
    listed = listed.tolist() if isinstance(listed, np.ndarray) else listed
    if not isinstance(listed, Sequence) or isinstance(listed, (str, bytes)):
        raise QuestionError(
            f'sizes[{quoted(name)}] is no table of edges; give {{"edges": [0, 10, 20]}} for the '
            "ranges from 0 to 10 and from 10 to 20"
        )
    if not 2 <= len(listed) <= _MOST_LISTED:  # noqa: PLR2004 (a range has two ends)
        raise QuestionError(
            f"sizes[{quoted(name)}] has {counted(len(listed))} edges; give 2 to 2^24, one more "
            "than ranges"
        )
    kinds = (int, float, np.integer, np.floating)
    numbers = [_float(x) for x in listed if isinstance(x, kinds) and not isinstance(x, bool)]
    if len(numbers) != len(listed) or not all(map(math.isfinite, numbers)):
        raise QuestionError(
            f"sizes[{quoted(name)}] has edges that are no finite numbers; what is beyond the first "
            "and the last counts in the first and the last range"
        )
    falling = next((i for i, (a, b) in enumerate(pairwise(numbers)) if not a < b), None)
    if falling is not None:
        raise QuestionError(
            f"sizes[{quoted(name)}] has the edge {numbers[falling + 1]:g} after "
            f"{numbers[falling]:g}; give them rising"
        )
    return tuple(numbers)


def _labels(name: str, given: object) -> tuple[float, ...] | tuple[str, ...]:
    listed = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, (str, bytes, Mapping)) or not isinstance(listed, (Sequence, range)):
        raise QuestionError(
            f"sizes[{quoted(name)}]={quoted(given)} is neither a number of categories nor a list "
            "of them; give one of both",
        )
    if not len(listed):
        raise QuestionError(f"sizes[{quoted(name)}] lists no category; give one or more")
    if len(listed) > _MOST_LISTED:
        raise QuestionError(
            f"sizes[{quoted(name)}] lists {counted(len(listed))} categories; list at most 2^24, "
            "or give their number",
        )
    texts = [item for item in listed if isinstance(item, str)]
    if texts and len(texts) == len(listed):
        if not all(map(_storable, texts)):
            raise QuestionError(
                f"sizes[{quoted(name)}] lists a text that no file can hold; give texts of letters",
            )
        found: tuple[str, ...] | tuple[float, ...] = tuple(texts)
    else:
        numbers = [
            _float(item)
            for item in listed
            if isinstance(item, (bool, int, float, np.integer, np.floating, np.bool_))
        ]
        if len(numbers) != len(listed) or not all(map(math.isfinite, numbers)):
            raise QuestionError(
                f"sizes[{quoted(name)}] lists categories that are not all finite numbers or "
                "all texts; give one kind",
            )
        found = tuple(numbers)
    spelled = [c.removesuffix(".0") if isinstance(c, str) else c for c in found]
    if len(set(spelled)) < len(found):
        twice = next(c for i, c in enumerate(found) if spelled[i] in spelled[:i])
        raise QuestionError(
            f"sizes[{quoted(name)}] lists {quoted(twice)} twice; list each category once"
        )
    return found


def _cell(
    name: str,
    policy: object,
    categories: int,
    labels: tuple[float, ...] | tuple[str, ...] | None,
) -> int | None:
    if isinstance(policy, str) and policy in POLICIES:
        return categories if policy == "extra" else None
    allowed: Sequence[object] = range(categories) if labels is None else labels
    plain = isinstance(policy, (str, int, float, np.integer, np.floating))
    if not plain or isinstance(policy, bool) or policy not in allowed:
        raise QuestionError(
            f"outside[{quoted(name)}]={quoted(policy)} is no policy and no category; "
            'give "extra", "drop" or one of the declared categories',
        )
    return allowed.index(policy)
