# SPDX-License-Identifier: Apache-2.0
"""What is said of attributes: mistakes by the caller's names, and what becomes of other values."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from lownoise.errors import QuestionError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lownoise.questions.attributes import Attribute

_MOST_NAMED = 9  # categories, in what is left out


@contextmanager
def called(names: Mapping[str, str]) -> Iterator[None]:
    """Say of a mistake in attributes what the caller calls the argument that it is in.

    Args:
        names: what messages begin with, and what the caller calls that; the first that fits.

    Raises:
        QuestionError: what was raised, with that beginning.

    Examples:
        >>> from lownoise.questions.attributes import attributes
        >>> with called({"sizes": "by"}):
        ...     attributes({"sex": ["F", "F"]})
        Traceback (most recent call last):
        lownoise.errors.QuestionError: by['sex'] lists 'F' twice; list each category once
    """
    try:
        yield
    except QuestionError as error:
        said = str(error)
        for own, name in names.items():
            if said.startswith(own):
                raise QuestionError(name + said.removeprefix(own)) from None
        raise


def left_out(schema: Sequence[Attribute]) -> str:
    """Return which rows are left out for their categories, in words; "" where none is.

    It is of the declaration alone, the same whatever a table holds.

    Args:
        schema: the attributes that rows are counted or grouped by.

    Examples:
        >>> from lownoise.questions.attributes import attributes
        >>> left_out(attributes({"month": 12, "sex": ["F", "M"]}, {"sex": "extra"}))
        "A row is left out whose 'month' is missing or none of 0, 1, 2, …, 11; how many is \
not published."
    """
    said = []
    for own in schema:
        if own.outside is not None:
            continue
        if own.edges is not None:
            said.append(f"{quoted(own.name)} is no number")
            continue
        places: list[int | None] = list(range(own.categories))
        if own.categories > _MOST_NAMED:
            places = [0, 1, 2, None, own.categories - 1]
        listed = ("…" if k is None else _named(own, k) for k in places)
        said.append(f"{quoted(own.name)} is missing or none of {', '.join(listed)}")
    if not said:
        return ""
    return f"A row is left out whose {', or whose '.join(said)}; how many is not published."


def counted_as(schema: Sequence[Attribute]) -> str:
    """Return as what missing and undeclared values count, in words; "" where rows are left out.

    Args:
        schema: the attributes that rows are counted or grouped by.

    Examples:
        >>> from lownoise.questions.attributes import attributes
        >>> counted_as(attributes({"month": 12, "sex": ["F", "M"]}, {"sex": "extra", "month": 0}))
        "A value that is missing or not declared counts as 0 of 'month', '(other)' of 'sex'."
    """
    kept = ((own, own.outside) for own in schema if own.outside is not None)
    said = [f"{_named(own, cell)} of {quoted(own.name)}" for own, cell in islice(kept, _MOST_NAMED)]
    if any(True for _ in kept):
        said.append("and so on")
    return f"A value that is missing or not declared counts as {', '.join(said)}." if said else ""


def _named(attribute: Attribute, cell: int) -> str:
    label = attribute.label(cell)
    return quoted(label) if isinstance((attribute.labels or (0,))[0], str) else label
