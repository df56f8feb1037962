# SPDX-License-Identifier: Apache-2.0
"""What a report can be: a page, a table for a terminal; one registration a kind of answer."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.questions import Mean
from lownoise.release.linear import LinearRelease, LinearTerms
from lownoise.release.pure import PureRelease, PureTerms
from lownoise.release.release import Release
from lownoise.release.tables import TableRelease, TableTerms
from lownoise.release.terms import Terms
from lownoise.report import (
    linear_page,
    linear_text,
    marginal_page,
    marginal_text,
    page,
    pure_page,
    pure_text,
    streams,
    text,
)
from lownoise.streams import StreamTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType


@singledispatch
def html(
    subject: object,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    """Return the page of a release or a plan; the same subject, the same page.

    Args:
        subject: a release, a plan, or the terms of either, `plan.terms`.
        marginal: of a `TableRelease`, the names of the attributes whose marginal is shown with its
            intervals; the first one-way marginal by default.
        answers: of linear queries that were released, the places of those that are shown with their
            intervals, as in `release.estimate`; the first ones by default.

    Raises:
        PlanError: for anything else.
        QuestionError: where the marginal does not follow from what was released, or there is no
            such answer.

    >>> import lownoise as ln
    >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
    ...                relation="substitute", size=1000)
    >>> html(plan).startswith("<!doctype html>")
    True
    """
    terms = getattr(subject, "terms", None)  # a plan has the page of its terms
    if html.dispatch(type(terms)) is html.dispatch(object):
        raise PlanError(f"subject={type(subject).__name__} has no page; give a release or a plan")
    return html(terms, marginal=marginal, answers=answers)


@html.register(Release)
@html.register(Terms)
def _(
    subject: Release | Terms,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, answers)
    return page.page(subject)


@html.register(TableTerms)
def _(
    subject: TableTerms,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, answers)
    return marginal_page.page(subject, None, None)


@html.register(TableRelease)
def _(
    subject: TableRelease,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(None, answers)
    return marginal_page.page(subject.terms, subject, marginal)


@html.register(StreamTerms)
def _(subject: StreamTerms, **chosen: object) -> str:
    if any(choice is not None for choice in chosen.values()):
        raise PlanError(f"{next(iter(chosen))} is for a release; leave it out")
    return streams.page(subject)


@html.register(LinearTerms)
def _(
    subject: LinearTerms,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, answers)
    return linear_page.page(subject, None, None)


@html.register(LinearRelease)
def _(
    subject: LinearRelease,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, None)
    return linear_page.page(subject.terms, subject, answers)


@html.register(PureTerms)
def _(
    subject: PureTerms,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, answers)
    return pure_page.page(subject, None, None)


@html.register(PureRelease)
def _(
    subject: PureRelease,
    *,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> str:
    _no_choice(marginal, answers if isinstance(subject.terms.question, Mean) else None)
    return pure_page.page(subject.terms, subject, answers)


def _no_choice(marginal: Sequence[str] | None, answers: Sequence[int] | None) -> None:
    if marginal is not None:
        raise PlanError(f"marginal={tuple(marginal)} is for a release of marginals; leave it out")
    if answers is not None:
        raise PlanError(f"answers={list(answers)} is for a release of linear queries; leave it out")


@singledispatch
def plan_table(terms: object) -> RenderableType:
    """Return the noise beside round noise, then what the plan promises.

    Args:
        terms: of a plan, `plan.terms`.

    Raises:
        PlanError: for anything else.
    """
    raise PlanError(f"terms={type(terms).__name__} are no terms; give plan.terms")


@singledispatch
def release_table(release: object, level: float = 0.95) -> RenderableType:
    """Return the answers with their intervals, then what was promised and who paid.

    Args:
        release: of any plan.
        level: the chance with which each interval covers.

    Raises:
        PlanError: for anything else.
    """
    raise PlanError(f"release={type(release).__name__} is no release; give a release")


plan_table.register(Terms, text.plan_table)
plan_table.register(TableTerms, marginal_text.plan_table)
plan_table.register(StreamTerms, streams.plan_table)
release_table.register(Release, text.release_table)
release_table.register(TableRelease, marginal_text.release_table)
plan_table.register(LinearTerms, linear_text.plan_table)
release_table.register(LinearRelease, linear_text.release_table)
plan_table.register(PureTerms, pure_text.plan_table)
release_table.register(PureRelease, pure_text.release_table)
