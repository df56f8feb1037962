# SPDX-License-Identifier: Apache-2.0
"""A plan or a release as one HTML page that asks for nothing from elsewhere."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.release import Release
from lownoise.report import numbers, sentences
from lownoise.report.names import shown
from lownoise.report.ratios import variance_ratio
from lownoise.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEVEL = 0.95
_MOST_ROWS = 1000


@singledispatch
def html(subject: object) -> str:
    """Return the page of a release, or of the terms of a plan.

    Args:
        subject: a `Release`, or `plan.terms`.

    Raises:
        PlanError: for anything else.
    """
    raise PlanError(f"subject={type(subject).__name__} has no page; give a release or plan.terms")


@html.register(Release)
def _(subject: Release) -> str:
    return _page(subject.terms, subject)


@html.register(Terms)
def _(subject: Terms) -> str:
    return _page(subject, None)


def _page(terms: Terms, release: Release | None) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from lownoise.report.figures import comparison, shown_answers

    loader = PackageLoader("lownoise.report", package_path="")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    noisy = int((terms.standard_deviation > 0).sum())
    return environment.get_template("page.html").render(
        headline=sentences.headline(terms, release),
        kind="Plan" if release is None else "Release",
        level=f"{100 * _LEVEL:g}%",
        answers=_answers(terms, release),
        hidden=max(len(terms.names) - _MOST_ROWS, 0),
        means=_means(release) if release is not None and terms.size is None else (),
        ratio=sentences.ratio(),
        saving=sentences.saving(terms),
        # the drawing is made here, and escapes its own words
        figure=Markup(comparison(terms)),  # noqa: S704
        drawn=(len(shown_answers(terms)), noisy),
        totals=_totals(terms),
        laplace=sentences.laplace(terms),
        error=sentences.error(terms),
        bound=sentences.lower_bound(terms),
        certificate=sentences.certificate(terms),
        cost=sentences.cost(terms),
        ledger=None if release is None else sentences.ledger(release),
        recorded=release is not None and release.recorded,
        assumptions=terms.assumptions,
        facts=_facts(terms, release),
        bounds=_bounds(terms),
    )


def _answers(terms: Terms, release: Release | None) -> list[Sequence[str]]:
    deviations = terms.standard_deviation.tolist()[:_MOST_ROWS]
    if release is None:
        return [
            (shown(n), numbers.significant(s))
            for n, s in zip(terms.names, deviations, strict=False)
        ]
    rows = zip(
        terms.names, release.estimate.tolist(), release.interval(_LEVEL).tolist(), deviations,
        strict=False,
    )  # fmt: skip
    return [(*_estimate(n, e, i), numbers.significant(s)) for n, e, i, s in rows]


def _means(release: Release) -> list[Sequence[str]]:
    columns = release.terms.question.columns
    intervals = release.mean_interval(_LEVEL).tolist()
    return [_estimate(*row) for row in zip(columns, release.mean.tolist(), intervals, strict=True)]


def _estimate(name: str, value: float, ends: Sequence[float]) -> tuple[str, ...]:
    half = (ends[1] - ends[0]) / 2
    low, high = (numbers.with_uncertainty(e, half) for e in ends)
    return (shown(name), numbers.with_uncertainty(value, half), f"{low} to {high}")


def _totals(terms: Terms) -> list[tuple[str, ...]]:
    own = float((terms.standard_deviation**2).sum())
    rows: list[tuple[str, ...]] = [("this plan", numbers.significant(own), "1")]
    for name, other in (("i.i.d. Gaussian", terms.isotropic), ("Laplace, split", terms.laplace)):
        times = numbers.significant(variance_ratio(terms, other), 4)
        rows.append((name, numbers.significant(float((other**2).sum())), times))
    return rows


def _bounds(terms: Terms) -> list[tuple[str, ...]]:
    question = terms.question
    columns = zip(
        question.columns,
        question.domain.lower.tolist(),
        question.domain.upper.tolist(),
        question.missing.tolist(),
        strict=True,
    )
    shortest = numbers.shortest
    gone = "row left out"
    return [
        (shown(c), shortest(lo), shortest(up), gone if question.drops_missing else shortest(m))
        for c, lo, up, m in list(columns)[:_MOST_ROWS]
    ]


def _facts(terms: Terms, release: Release | None) -> list[tuple[str, str]]:
    facts = [
        ("Budget", str(terms.budget)),
        (
            "Neighbouring tables",
            "one row more or less" if terms.size is None else "one row changed",
        ),
        ("Rows", "private" if terms.size is None else f"{terms.size:,} (public)"),
        ("Made small", sentences.measure(terms)),
    ]
    if release is not None:
        facts.append(("Released", release.created))
        facts.extend((f"Version of {k}", v) for k, v in sorted(release.versions.items()))
    return facts
