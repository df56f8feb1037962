# SPDX-License-Identifier: Apache-2.0
"""Linear queries and parities as one page of HTML that needs nothing else."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError, QuestionError, told
from lownoise.questions import Parity, Queries
from lownoise.report import linear_said, numbers, said, sentences
from lownoise.report.curve import curve
from lownoise.report.declared import attribute_row
from lownoise.report.frame import made, making, paid, rendered
from lownoise.report.linear_noise import about, largest_first, name, totals
from lownoise.report.names import shown
from lownoise.report.spread import variance_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.release.linear import LinearRelease, LinearTerms
    from lownoise.report.spread import Totals

_LEVEL = 0.95
_MOST_KINDS = 40
_FIRST = 50  # answers that are shown where none are chosen
_MOST_CHOSEN = 1000


def page(terms: LinearTerms, release: LinearRelease | None, answers: Sequence[int] | None) -> str:
    """Return the page of linear queries.

    Args:
        terms: what is promised.
        release: what was released, None for a plan.
        answers: the places of the answers that are shown, of a release.

    Raises:
        QuestionError: where there is no such answer.
    """
    found, hidden = largest_first(terms, _MOST_KINDS)
    over = totals(terms)
    return rendered(
        "linear.html",
        terms,
        release,
        facts=_facts(terms, release, over),
        noisy=over["plan"].largest > 0,
        level=f"{100 * _LEVEL:g}%",
        chosen=None if release is None else _chosen(release, answers),
        error_said=said.error(terms, over, "answer"),
        kinds=[
            (
                own.name,
                own.about if own.count == 1 else said.like(own.count),
                *map(numbers.significant, (own.own, own.isotropic, own.histogram)),
            )
            for own in found
        ],
        grouped=any(own.count > 1 for own in found),
        hidden=hidden,
        curve=curve(terms.standard_deviation, terms.isotropic),
        saving=linear_said.round_noise(over),
        full=linear_said.all_records(over),
        comparison=_comparison(over),
        making=[*making(terms), *_question(terms.question), *made(release)],
        declared=declared(terms.question),
    )


def _facts(
    terms: LinearTerms, release: LinearRelease | None, over: dict[str, Totals]
) -> list[tuple[str, str]]:
    facts = [
        ("Budget", str(terms.budget)),
        ("Error of all answers", sentences.error(terms)),
        ("An answer, root mean square", numbers.significant(over["plan"].typical)),
        ("An answer, largest deviation", numbers.significant(over["plan"].largest)),
        ("Gap to the least noise", sentences.gap(terms)),
    ]
    return [*facts, *paid(release)]


def places_of(count: int, answers: Sequence[int] | None) -> list[int]:
    """Return the places of answers that are shown: those chosen, or the first ones.

    Raises:
        QuestionError: where there is no such answer.
    """
    places = list(range(min(count, _FIRST))) if answers is None else list(answers)
    for place in places:
        whole = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
        if not whole or not 0 <= place < count:
            raise QuestionError(
                f"answers has {told(place)}, which is no place of an answer; give numbers from 0 "
                f"to {count - 1}",
            )
    return places[:_MOST_CHOSEN]


def _chosen(release: LinearRelease, answers: Sequence[int] | None) -> dict[str, Any]:
    """Return rows of answers with their intervals, and how many answers are not shown."""
    question = release.terms.question
    shown_places = places_of(question.count, answers)
    interval = release.interval(_LEVEL)
    rows = []
    for place in shown_places:
        low, high = interval[place].tolist()
        half = (high - low) / 2
        values = [
            numbers.with_uncertainty(v, half) for v in (float(release.estimate[place]), low, high)
        ]
        deviation = numbers.significant(float(release.standard_deviation[place]))
        rows.append((name(question, place), about(question, place), *values, deviation))
    return {"rows": rows, "hidden": question.count - len(shown_places)}


def _comparison(over: dict[str, Totals]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for noise, kind in (
        ("This plan", "plan"),
        ("i.i.d. on these answers", "isotropic"),
        ("i.i.d. on the count of every record", "histogram"),
    ):
        own = over[kind]
        cells = (numbers.significant(own.typical), numbers.significant(own.largest))
        rows.append((noise, f"{numbers.significant(variance_ratio(over, kind))}×", *cells))
    return rows


@singledispatch
def _question(question: object) -> list[tuple[str, str]]:
    """Return what was asked."""
    raise PlanError(f"question={type(question).__name__} has no report; give ln.Queries(…)")


@_question.register(Queries)
def _(question: Queries) -> list[tuple[str, str]]:
    return [
        ("Queries", f"{question.count:,}, numbered as the rows of the matrix, from 0"),
        ("Records", f"{question.universe.size:,} kinds"),
        ("Noise", "Gaussian, correlated between answers, rounded to a grid"),
    ]


@_question.register(Parity)
def _(question: Parity) -> list[tuple[str, str]]:
    degrees = ", ".join(map(str, question.degrees))
    return [
        ("Parities", f"{question.count:,}, of {degrees} of {len(question.attributes):,} bits"),
        ("Noise", "Gaussian, independent, one variance a degree, rounded to a grid"),
    ]


@singledispatch
def declared(question: object) -> dict[str, Any]:
    """Return what the records can be: how it is called, a caption, a row each."""
    raise PlanError(f"question={type(question).__name__} has no report; give ln.Queries(…)")


@declared.register(Queries)
def _(question: Queries) -> dict[str, Any]:
    universe = question.universe
    rows = [attribute_row(a) for a in universe.attributes]
    if universe.listed is None:
        return {"title": "Columns and their categories", "rows": rows, "note": ""}
    if universe.outside is None:
        note = "A row that is not among them is left out."
    else:
        labels = ", ".join(map(shown, universe.record(universe.outside)))
        note = f"A row that is not among them counts as ({labels})."
    listed = f"The {universe.size:,} records are listed one by one in the file beside this page. "
    # a record as a whole is listed or not
    rows = [(*row[:3], "see below") for row in rows]
    return {"title": "Columns of the records", "rows": rows, "note": listed + note}


@declared.register(Parity)
def _(question: Parity) -> dict[str, Any]:
    rows = [attribute_row(a) for a in question.attributes]
    return {"title": "Bits", "rows": rows, "note": ""}
