# SPDX-License-Identifier: Apache-2.0
"""The change between two releases of one question, at no cost of privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError, QuestionError, quoted
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.questions import AbstractGrouped, Marginals, Mean
from lownoise.questions.encoding import QUESTIONS
from lownoise.release import differences
from lownoise.release.groups import Answers
from lownoise.release.readable import Exported, in_brackets
from lownoise.release.stored import plan_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms

_OTHERWISE = ("weights", "way", "sets")  # of a question: change no answer, but its noise or place


@final
@dataclass(frozen=True, eq=False, repr=False)
class Change(Exported):
    """What answers changed by from one release to another: `later - earlier`.

    Both noises are independent, so variances add. Each interval covers the exact change with its
    chance over both noises, whoever was asked; that these were a sample is not in it.

    Args:
        later: a release.
        earlier: another of the same question.

    Raises:
        QuestionError: where they are of different questions, or are one release.
        PlanError: where one is no release.

    Examples:
        >>> import pandas as pd
        >>> import lownoise as ln
        >>> plan = ln.plan(ln.Count({"sex": ["F", "M"]}), budget=ln.zcdp(1e6),
        ...                relation="add_remove")
        >>> first, second = (pd.DataFrame({"sex": [*own]}) for own in ("FFM", "FMM"))
        >>> change = plan.release(second) - plan.release(first)
        >>> change.to_pandas("sex")["change"].round(1).tolist()
        [-1.0, 1.0]
    """

    later: Release
    earlier: Release

    def __post_init__(self) -> None:
        if type(self.earlier) is not type(self.later):
            given = type(self.earlier).__name__
            raise PlanError(f"earlier={given} is no release; give another of the same question")
        check(self.later, self.earlier)

    def __getitem__(self, names: str | tuple[str, ...]) -> Any:  # noqa: ANN401 (a pandas table)
        """Return the change by these attributes, a row an answer: `to_pandas`."""
        return self.to_pandas(*in_brackets(names))

    @property
    def terms(self) -> Terms:
        """What the later release guarantees, which names the answers."""
        return self.later.terms

    @property
    def gaussian(self) -> bool:
        """Whether both noises are Gaussian."""
        return self.later.terms.gaussian and self.earlier.terms.gaussian

    def answers(self, names: Sequence[str], level: float) -> list[Answers]:
        """Return what answers changed by, each kind of them.

        Args:
            names: of margins, the attributes of one.
            level: the chance with which each interval covers.

        Raises:
            QuestionError: where the margin does not follow from both releases.
            PlanError: where `level` is not between 0 and 1.
        """
        now, then, question = self.later.terms, self.earlier.terms, self.terms.question
        if isinstance(question, Marginals):
            counts = self.later.marginal(*names) - self.earlier.marginal(*names)
            half = differences.cell_half_widths(now, then, names, level)
            strays = np.hypot(now.standard_deviation(*names), then.standard_deviation(*names))
            return [_around("count", None, *np.broadcast_arrays(counts, half, strays))]
        if isinstance(question, AbstractGrouped):
            return list(self._groups(names, level))
        return [
            _around(
                "answer",
                None,
                self.later.estimate - self.earlier.estimate,
                differences.half_widths(now, then, level),
                np.hypot(now.standard_deviation, then.standard_deviation),
            )
        ]

    def means(self, level: float) -> Answers | None:
        """Return what means changed by that are sums over a private count; None where none are.

        Args:
            level: as of `answers`.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        if not isinstance(self.terms.question, Mean) or self.terms.size is not None:
            return None
        each, both = math.sqrt(checked_level(level)), (self.later, self.earlier)
        ends, box = [own.mean_interval(each) for own in both], self.terms.question.domain
        unknown = [
            (own[:, 0] == box.lower) & (own[:, 1] == box.upper) & (box.lower < box.upper)
            for own in ends
        ]
        changed = self.later.mean - self.earlier.mean
        changed = np.where(unknown[0] | unknown[1], np.nan, changed)
        ratios = (self.later.ratios, self.earlier.ratios)
        within = self._means(ratios, ends, self.terms.question, level)
        strays = np.hypot(*(own.deviations for own in ratios)) + 0 * changed
        found = (changed, within, strays)
        # of moments the means of columns, not of products
        read = len(self.terms.question.sources)
        return Answers("mean", None, *(own[:read] for own in found))

    def _groups(self, names: Sequence[str], level: float) -> Iterator[Answers]:
        """Yield what each count, mean and sum of a margin changed by."""
        each, question = math.sqrt(checked_level(level)), self.terms.question
        now, then = (own.groups(*names, level=each) for own in (self.later, self.earlier))
        counted = question.counted
        own = [np.append(t.sum_deviations, [t.count_deviation] * counted) for t in (now, then)]
        half = differences.group_half_widths(
            self.later.terms,
            self.earlier.terms,
            question.groups.index(names),
            level,
            own[0],
            own[1],
        )
        ratios = (now.ratios, then.ratios)
        means = None
        if now.mean_intervals is not None and then.mean_intervals is not None:
            ends = [now.mean_intervals, then.mean_intervals]
            means = self._means(ratios, ends, question.mean, level)
        for one, two in zip(now.answers(), then.answers(), strict=True):
            changed, strays = (
                one.estimates - two.estimates,
                np.hypot(one.deviations, two.deviations),
            )
            place = -1 if one.column is None else question.columns.index(one.column)
            if one.kind == "mean":
                assert means is not None  # noqa: S101 (means have intervals)
                yield Answers(one.kind, one.column, changed, means[:, place], strays)
                continue
            wide = sum(np.diff(each.intervals)[:, 0] / 2 for each in (one, two))
            width = wide if half is None else np.minimum(wide, half[place])
            yield _around(one.kind, one.column, changed, width, strays)

    def _means(self, ratios: Any, ends: Any, question: Mean, level: float) -> Vector:  # noqa: ANN401
        """Return intervals of changes of means, within what the columns' bounds leave.

        Args:
            ratios: of both releases.
            ends: of both, intervals of means that hold together with chance `level`.
            question: of means.
            level: the chance.
        """
        if not all(_log_concave(own.terms) for own in (self.later, self.earlier)):
            low, high = (ends[0][..., k] - ends[1][..., 1 - k] for k in (0, 1))
            return frozen(np.stack([low, high], axis=-1))
        box = question.domain
        bounds = np.stack([box.lower, box.upper], axis=1)
        about, normal = bounds - question.center[:, None], self.gaussian
        found = differences.ratio_change(ratios[0], ratios[1], level, about, normal=normal)
        whole = np.stack([box.lower - box.upper, box.upper - box.lower], axis=1)
        return frozen(np.where(np.isnan(found), whole, found))


def _log_concave(terms: Terms) -> bool:
    """Return whether its noise is, of deviations that are known."""
    noise = terms.mechanism.noise
    return terms.gaussian or (noise.log_concave and not noise.estimated)


def _around(kind: str, column: str | None, values: Any, half: Any, strays: Any) -> Answers:  # noqa: ANN401
    values, half, strays = (np.ravel(own) for own in np.broadcast_arrays(values, half, strays))
    return Answers(kind, column, values, np.stack([values - half, values + half], axis=1), strays)


def check(later: Release, earlier: Release) -> None:
    """Refuse releases that have no change.

    Raises:
        QuestionError: where their answers are of other numbers, or they are one release.
    """
    one, two = (QUESTIONS.write(own.terms.question) for own in (later, earlier))
    if (found := _unlike(one, two)) is not None:
        if found[0].endswith(".float64"):  # packed
            raise QuestionError(
                f"question{found[0].removesuffix('.float64')} has other numbers in the later "
                "release than in the earlier one; a change is of one question"
            )
        raise QuestionError(
            f"question{found[0]} is {quoted(found[1])} in the later release and "
            f"{quoted(found[2])} in the earlier one; a change is of one question"
        )
    if (later.terms.size is None) != (earlier.terms.size is None):
        raise QuestionError(
            "the number of rows is public in one release and private in the other, which answer in "
            "other numbers; release both in one way"
        )
    units = [own.terms.privacy_unit for own in (later, earlier)]
    counted = [None if own is None else own.to_dict() for own in units]
    if counted[0] != counted[1]:
        raise QuestionError(
            "privacy_unit is not the same in both releases, which count other rows; release both "
            "with one"
        )
    if _one(later, earlier):
        apart = "" if later.spend else "; entries of a ledger tell apart what one second made"
        raise QuestionError(
            f"later and earlier are one release, made {later.created}: all of it is the same, and "
            f"so is its noise; give two{apart}"
        )


def _unlike(one: Any, two: Any, place: str = "") -> tuple[str, Any, Any] | None:  # noqa: ANN401
    """Return where two documents differ first, and what each has there; None where nowhere."""
    if isinstance(one, dict) and isinstance(two, dict):
        aside = _OTHERWISE if place in ("", ".groups") else ()
        every = ((n, one.get(n), two.get(n)) for n in {**one, **two} if n not in aside)
        found = (_unlike(a, b, f"{place}.{n}") for n, a, b in every)
        return next(filter(None, found), None)
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        found = (_unlike(a, b, f"{place}[{k}]") for k, (a, b) in pairs)
        return next(filter(None, found), None)
    return None if one == two else (place, one, two)


def _one(later: Release, earlier: Release) -> bool:
    """Return whether two are the same: made in one second, paid in one entry, equal in all.

    Where nothing has noise any two may be, and what one has changed by to itself is 0, as is said.
    """
    origins = [(own.created, own.spend) for own in (later, earlier)]
    if later is earlier:
        return True
    if origins[0] != origins[1] or not np.array_equal(later.integers, earlier.integers):
        return False
    return later.terms.error > 0 and plan_digest(later.terms) == plan_digest(earlier.terms)
