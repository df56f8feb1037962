# SPDX-License-Identifier: Apache-2.0
"""Answers under a pure budget for a terminal: of a plan their noise, of a release the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.questions import Mean
from lownoise.report import numbers, pure_said, sentences
from lownoise.report.text import grouped, listed, means

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lownoise.release.pure import PureRelease, PureTerms

_MOST_ANSWERS = 30
_COMPARED = ("mechanism", "error", "what it is, or why it is not")


def plan_table(terms: PureTerms) -> RenderableType:
    """Return the answers with the largest noise, the mechanisms compared, and what is promised."""
    order = np.argsort(-terms.standard_deviation, kind="stable")
    queries = not isinstance(terms.question, Mean)
    places = order[:_MOST_ANSWERS].tolist() if queries else range(len(terms.names))
    deviations = terms.standard_deviation.tolist()
    rows = [(*_named(terms, place), numbers.significant(deviations[place])) for place in places]
    notes = pure_said.promises(terms)
    hidden = len(terms.names) - len(rows)
    if hidden:
        notes.insert(0, ("not shown", f"{hidden:,} more answers have no more noise."))
    headings = (*_headings(terms), "standard deviation")
    title = sentences.headline(terms, None)
    return grouped(title, headings, rows, notes, [_comparison(terms)])


def release_table(release: PureRelease, level: float = 0.95) -> RenderableType:
    """Return the first answers with their intervals, then what was promised and who paid."""
    terms = release.terms
    queries = not isinstance(terms.question, Mean)
    count = len(terms.names)
    shown_count = min(count, _MOST_ANSWERS) if queries else count
    ends = release.interval(level)[:shown_count].tolist()
    estimates = release.estimate[:shown_count].tolist()
    deviations = release.standard_deviation[:shown_count].tolist()
    rows = [
        (
            *_named(terms, place),
            numbers.beside(estimates[place], (high - low) / 2),
            numbers.significant(deviations[place]),
        )
        for place, (low, high) in enumerate(ends)
    ]
    notes = pure_said.promises(terms)
    if count > shown_count:
        more = f"{count - shown_count:,} more answers; the release file holds every one."
        notes.insert(0, ("not shown", more))
    if isinstance(terms.question, Mean) and terms.size is None:
        notes.append(("means", means(release, terms.question.columns, level)))
        notes.append(("", sentences.ratio()))
    headings = (*_headings(terms), f"estimate ± {100 * level:g}%", "standard deviation")
    title = sentences.headline(terms, release)
    return grouped(title, headings, rows, [*notes, ("ledger", sentences.ledger(release))])


def _named(terms: PureTerms, place: int) -> tuple[str, ...]:
    if isinstance(terms.question, Mean):
        return (pure_said.name(terms, place),)
    return pure_said.name(terms, place), pure_said.counts(terms, place)


def _headings(terms: PureTerms) -> tuple[str, ...]:
    return ("answer",) if isinstance(terms.question, Mean) else ("answer", "counts")


def _comparison(terms: PureTerms) -> RenderableType:
    return listed(_COMPARED, pure_said.compared(terms), _COMPARED[2:])
