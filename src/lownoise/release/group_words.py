# SPDX-License-Identifier: Apache-2.0
"""What groups are called, and what means and totals by groups rest on, in words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.questions.wording import counted_as, left_out

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lownoise.questions import Marginals
    from lownoise.questions.mean import AbstractGrouped

_MOST_GROUPS = 10  # in a message
Value = TypeVar("Value")


def group_of(given: object, among: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of one group of a margin; where that is by one attribute, a text will do.

    Args:
        given: the labels, in the question's order.
        among: those of each group.

    Raises:
        QuestionError: where there is no such group.
    """
    found = (given,) if isinstance(given, str) else given
    texts = isinstance(found, tuple) and all(isinstance(own, str) for own in found)
    if not texts or found not in among:
        some = [quoted(own[0] if len(own) == 1 else own) for own in islice(among, _MOST_GROUPS)]
        more = ", …" * (len(among) > _MOST_GROUPS)
        raise QuestionError(
            f"group={quoted(given)} is none of this margin; give one of {', '.join(some)}{more}"
        )
    return cast("tuple[str, ...]", found)


def labels_of(groups: Marginals, chosen: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each group of a margin, of its attributes in their order."""
    own = [groups.attributes[i] for i in chosen]
    return tuple(
        tuple(a.label(k) for a, k in zip(own, place, strict=True))
        for place in np.ndindex(*(a.size for a in own))
    )


@final
class ByGroup(dict[tuple[str, ...], Value]):
    """What there is of each group, by its labels: `found["F", "north"]`, or `found["F"]`."""

    def __getitem__(self, group: str | tuple[str, ...]) -> Value:
        return super().__getitem__(group_of(group, self))


def missing_values(*, drops: bool) -> str:
    """Return what becomes of missing values of totals."""
    if drops:
        return "A row that lacks a value in any of the columns is left out."
    return "A missing value counts as the stand-in, by default the domain's center."


def group_assumptions(
    question: AbstractGrouped, neighbour: str, inner: tuple[str, ...], size: int | None
) -> tuple[str, ...]:
    """Return what every release by groups rests on, one sentence each.

    Args:
        question: what was asked.
        neighbour: what a neighbouring table is.
        inner: what a mean of one group rests on.
        size: the public number of rows, None where it is private.
    """
    said = [neighbour, *inner[1:]]
    if not question.counted:
        mean = question.mean
        said = [neighbour, *mean.domain.assumptions, missing_values(drops=mean.drops_missing)]
        said.append("The totals are unbiased; no number of rows is released.")
    if size is not None:
        said.append(f"The number of rows, {size:,}, is public.")
    said.append("The groups are public; none of them was taken from this table.")
    groups = question.groups
    said += filter(None, [counted_as(groups.attributes)])
    if groups.drops:
        said.append(left_out(groups.attributes))
    agree = "All groups agree on what they share"
    said.append(f"{agree}; a count may be negative." if question.counted else f"{agree}.")
    return tuple(said)


def group_left_out(question: AbstractGrouped) -> str:
    """Return which rows are left out, for their categories or for what they lack; "" for none."""
    own = missing_values(drops=True) if question.mean.drops_missing else ""
    return " ".join(filter(None, (left_out(question.groups.attributes), own)))


def group_derived(
    question: AbstractGrouped, names: Sequence[str], deviations: Sequence[list[float]]
) -> dict[str, Any]:
    """Return what a file says of the deviations, for its readers, as JSON values.

    Args:
        question: what was asked.
        names: of the numbers of one group.
        deviations: of these in each margin's groups.
    """
    groups = question.groups
    spaces = zip(groups.sets(), deviations, strict=True)
    listed = [{"by": list(groups.names(s)), "standard_deviation": own} for s, own in spaces]
    return {"names": list(names), "groups": listed}
