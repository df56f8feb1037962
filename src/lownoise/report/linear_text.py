# SPDX-License-Identifier: Apache-2.0
"""Linear queries and parities for a terminal: of a plan their noise, of a release the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.report import linear_said, numbers, sentences
from lownoise.report.linear_noise import about, largest_first, name
from lownoise.report.said import like
from lownoise.report.text import grouped

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lownoise.release.linear import LinearRelease, LinearTerms

_MOST_KINDS = 20
_MOST_ANSWERS = 30


def plan_table(terms: LinearTerms) -> RenderableType:
    """Return the answers with the largest noise beside other noise, then what is promised."""
    found, hidden = largest_first(terms, _MOST_KINDS)
    rows = [
        (
            own.name,
            own.about if own.count == 1 else like(own.count),
            numbers.significant(own.own),
            numbers.significant(own.isotropic),
            numbers.significant(own.histogram),
        )
        for own in found
    ]
    notes = linear_said.promises(terms)
    if hidden:
        notes.insert(0, ("not shown", f"{hidden:,} more answers have no more noise."))
    headings = ("answer", "counts", "standard deviation", "i.i.d.", "all records")
    return grouped(sentences.headline(terms, None), headings, rows, notes)


def release_table(release: LinearRelease, level: float = 0.95) -> RenderableType:
    """Return the first answers with their intervals, then what was promised and who paid."""
    question = release.terms.question
    ends = release.interval(level)[:_MOST_ANSWERS]
    rows = [
        (
            name(question, place),
            about(question, place),
            numbers.beside(value, (high - low) / 2),
            numbers.significant(deviation),
        )
        for place, (value, (low, high), deviation) in enumerate(
            zip(
                release.estimate[:_MOST_ANSWERS].tolist(),
                ends.tolist(),
                release.standard_deviation[:_MOST_ANSWERS].tolist(),
                strict=True,
            )
        )
    ]
    notes = [*linear_said.promises(release.terms), ("ledger", sentences.ledger(release))]
    hidden = question.count - len(rows)
    if hidden:
        more = f"{hidden:,} more answers; the release file holds every one."
        notes.insert(0, ("not shown", more))
    headings = ("answer", "counts", f"estimate ± {100 * level:g}%", "standard deviation")
    return grouped(sentences.headline(release.terms, release), headings, rows, notes)
