# SPDX-License-Identifier: Apache-2.0
"""Questions on counts of one table become one question, which has less noise than a split between.

Marginals of subsets of some attributes share their residual spaces: the number of rows, what an
attribute says alone, and so on. Released apart each of them is measured once a question; released
as one question each is measured once, with the noise that is least for all of them together
(`docs/theory.md`). One question's answers to two are also the same.

An error of √Σᵢ(aᵢ·errorᵢ)², the errors by Σ w·variance over a question's answers, is that of the
question that has all sets, each with the weight Σᵢ aᵢ²·wᵢ over the questions that ask for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import QuestionError
from lownoise.questions import Marginals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lownoise.questions import Attribute

_MOST_SETS = 1 << 10  # of one question that is put together: each is a kind of its own
_SHARED = ("mechanism", "rtol", "order")  # options, where they are the same


@final
@dataclass(frozen=True)
class Merged:
    """Several questions as one.

    Args:
        names: of these, in their order.
        question: that has all of their tables.
        importance: how much one unit of its error matters.
    """

    names: tuple[str, ...]
    question: Any
    importance: float


def merged(
    questions: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    importance: Mapping[str, float],
) -> list[Merged]:
    """Return the questions that may be one, two or more each.

    They count rows by attributes that are the same where they have one name, along at most one that
    is ordered; they leave out the same rows; and errors are those of order 2.

    Args:
        questions: by name.
        options: of each, as `together` takes them.
        importance: how much one unit of each question's error matters.

    Examples:
        >>> from lownoise.questions import Histogram
        >>> asked = {"sex": Histogram("sex", 2, outside="extra"),
        ...          "age": Histogram("age", 9, outside="extra")}
        >>> (one,) = merged(asked, {"sex": {}, "age": {}}, {"sex": 2.0, "age": 1.0})
        >>> one.question.weights.tolist(), one.importance
        ([1.0, 0.25], 2.0)
    """
    groups: list[list[str]] = []
    for name, question in questions.items():
        if not _may(question, options[name]):
            continue
        for group in groups:
            if options[name] == options[group[0]] and _fits(question, group, questions):
                group.append(name)
                break
        else:
            groups.append([name])
    made = [_one(tuple(g), questions, importance) for g in groups if len(g) > 1]
    return [own for own in made if own is not None]


def _may(question: object, options: Mapping[str, Any]) -> bool:
    """Return whether a question may be part of another, by what is asked of it alone."""
    if not isinstance(question, Marginals) or not {*options} <= {*_SHARED}:
        return False
    return options.get("order", 2) == 2 and question.count <= _MOST_SETS  # noqa: PLR2004


def _fits(question: Marginals, group: list[str], questions: Mapping[str, Any]) -> bool:
    """Return whether a question may be one with those of a group."""
    others: list[Marginals] = [questions[name] for name in group]
    every = {a.name: a for other in others for a in other.attributes}
    alike = all(every.get(a.name, a) == a for a in question.attributes)
    ordered = {a.name for a in (*every.values(), *question.attributes) if a.ordered}
    few = question.count + sum(other.count for other in others) <= _MOST_SETS
    return alike and few and len(ordered) <= 1 and _left_out(question) == _left_out(others[0])


def _left_out(question: Marginals) -> set[str]:
    """Return the attributes for whose sake rows are left out."""
    return {a.name for a in question.attributes if a.outside is None}


def _one(
    names: tuple[str, ...], questions: Mapping[str, Any], importance: Mapping[str, float]
) -> Merged | None:
    """Return the questions as one; None where its weights or its cells are out of range."""
    most = max(importance[name] for name in names)
    every: dict[str, Attribute] = {}
    weights: dict[tuple[str, ...], float] = {}
    for name in names:
        question: Marginals = questions[name]
        every |= {a.name: a for a in question.attributes}
    places = {name: i for i, name in enumerate(every)}
    for name in names:
        question = questions[name]
        for k, chosen in enumerate(question.sets()):
            own = question.weights[k if question.way is None else len(chosen)]
            asked = tuple(sorted(question.names(chosen), key=places.__getitem__))
            matters = (importance[name] / most) ** 2 * float(own)
            weights[asked] = weights.get(asked, 0.0) + matters
    try:
        question = Marginals.of(tuple(every.values()), weights)
    except QuestionError:
        return None
    return Merged(names, question, most)
