# SPDX-License-Identifier: Apache-2.0
"""Answers under a pure budget as one page of HTML that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.questions import Mean
from lownoise.report import numbers, pure_said, sentences
from lownoise.report.frame import framed, made, making, paid
from lownoise.report.linear_page import declared, places_of
from lownoise.report.page import bounds, means, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.release.pure import PureRelease, PureTerms

_LEVEL = 0.95
_MOST_ROWS = 1000
_MOST_PLANNED = 40  # queries of a plan, the largest noise first


def page(terms: PureTerms, release: PureRelease | None, answers: Sequence[int] | None) -> str:
    """Return the page of answers under a pure budget.

    Args:
        terms: what is promised.
        release: what was released, None for a plan.
        answers: the places of the answers that are shown, of a release of linear queries.

    Raises:
        QuestionError: where there is no such answer.
    """
    rows = _planned(terms) if release is None else _released(release, answers)
    return framed(
        "pure.html",
        terms,
        release,
        facts=_facts(terms, release),
        level=f"{100 * _LEVEL:g}%",
        counted=not isinstance(terms.question, Mean),
        answers=rows,
        hidden=len(terms.names) - len(rows),
        mechanism=terms.name,
        choice=pure_said.choice(terms),
        compared=pure_said.compared(terms),
        bound_said=pure_said.lower_bound(terms),
        bound=_bound(terms),
        whose=pure_said.whose(terms),
        guarantee=pure_said.guarantee(terms),
        ratio=sentences.ratio(),
        means=_means(release),
        making=[*making(terms), ("Noise", pure_said.mechanism(terms)), *made(release)],
        **_public(terms),
    )


def _facts(terms: PureTerms, release: PureRelease | None) -> list[tuple[str, str]]:
    return [
        ("Budget", str(terms.budget)),
        ("Mechanism", terms.name.replace("_", " ")),
        (f"Error of {pure_said.whose(terms)}", sentences.error(terms)),
        ("Error over lower bound", pure_said.times(terms)),
        *paid(release),
    ]


def _planned(terms: PureTerms) -> list[tuple[str, ...]]:
    """Return rows: what an answer is, what it counts, its deviation."""
    deviations = terms.standard_deviation
    places = np.arange(deviations.size)[:_MOST_ROWS]
    if not isinstance(terms.question, Mean):
        places = np.argsort(-deviations, kind="stable")[:_MOST_PLANNED]
    return [
        (
            pure_said.name(terms, place),
            pure_said.counts(terms, place),
            numbers.significant(float(deviations[place])),
        )
        for place in places.tolist()
    ]


def _released(release: PureRelease, answers: Sequence[int] | None) -> list[tuple[str, ...]]:
    """Return rows: what an answer is, what it counts, its estimate, interval and deviation."""
    terms = release.terms
    count = len(terms.names)
    means_asked = isinstance(terms.question, Mean)
    places = list(range(count))[:_MOST_ROWS] if means_asked else places_of(count, answers)
    found = with_interval(release.estimate[places], release.interval(_LEVEL)[places])
    return [
        (
            pure_said.name(terms, place),
            pure_said.counts(terms, place),
            *row,
            numbers.significant(float(release.standard_deviation[place])),
        )
        for place, row in zip(places, found, strict=True)
    ]


def _means(release: PureRelease | None) -> list[tuple[str, ...]]:
    """Return the means that follow from sums and the count."""
    if release is None or release.terms.size is not None:
        return []
    question = release.terms.question
    return means(release, question.columns)[:_MOST_ROWS] if isinstance(question, Mean) else []


def _bound(terms: PureTerms) -> list[tuple[str, str]]:
    if not terms.lower_bound > 0:
        return []
    return [
        ("Error of this plan", sentences.error(terms)),
        ("Lower bound", numbers.at_least(terms.lower_bound)),
        ("Error over lower bound", pure_said.times(terms)),
    ]


def _public(terms: PureTerms) -> dict[str, Any]:
    """Return what is public about records: bounds of columns, or categories."""
    question = terms.question
    if not isinstance(question, Mean):
        return {"bounds": [], "declared": declared(question)}
    return {
        "bounds": bounds(question)[:_MOST_ROWS],
        "bounds_said": sentences.bounds(question),
        "centered": terms.size is None,
    }
