# SPDX-License-Identifier: Apache-2.0
"""Means, sums and the count as one page of HTML that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.release.release import Release
from lownoise.report import ellipses, figures, numbers, sentences
from lownoise.report.frame import made, making, rendered
from lownoise.report.names import shown
from lownoise.report.ratios import norm_ratio, variance_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean
    from lownoise.release.pure import PureRelease
    from lownoise.release.terms import Terms

_LEVEL = 0.95
_MOST_ROWS = 1000


def page(subject: Terms | Release) -> str:
    """Return the page of means, sums and the count: of a release, or of the terms of a plan."""
    if isinstance(subject, Release):
        return _page(subject.terms, subject)
    return _page(subject, None)


def _page(terms: Terms, release: Release | None) -> str:
    figure = _figure(terms)
    columns = terms.question.columns
    following = means(release, columns)[:_MOST_ROWS] if release and terms.size is None else None
    return rendered(
        "page.html",
        terms,
        release,
        noisy=figure is not None,
        figure=figure,
        level=f"{100 * _LEVEL:g}%",
        answers=_answers(terms, release)[:_MOST_ROWS],
        hidden=max(len(terms.names) - _MOST_ROWS, 0),
        saving=sentences.saving(terms),
        ratio=sentences.ratio(),
        means=following,
        panels=ellipses.panels(terms),
        comparison=_comparison(terms),
        laplace=sentences.laplace(terms),
        bounds_said=sentences.bounds(terms.question),
        making=[*making(terms), ("Noise", sentences.noise(terms)), *made(release)],
        bounds=bounds(terms.question)[:_MOST_ROWS],
        centered=terms.size is None,
    )


def _answers(terms: Terms, release: Release | None) -> list[tuple[str, ...]]:
    """Return rows: name, estimate, interval's ends where there is a release, then noise."""
    noises = [terms.standard_deviation, terms.isotropic, terms.laplace]
    said = [[numbers.significant(v) for v in noise.tolist()] for noise in noises]
    names = [shown(name) for name in terms.names]
    if release is None:
        return list(zip(names, *said, strict=True))
    found = with_interval(release.estimate, release.interval(_LEVEL))
    return [(n, *row, *rest) for n, row, *rest in zip(names, found, *said, strict=True)]


def means(release: Release | PureRelease, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the means that follow from sums and count, with their intervals, in rows."""
    found = with_interval(release.mean, release.mean_interval(_LEVEL))
    return [(shown(name), *row) for name, row in zip(columns, found, strict=True)]


def with_interval(values: Vector, interval: Vector) -> list[tuple[str, ...]]:
    """Return each value with the ends of its interval, to the digits that it leaves."""
    half = np.asarray((interval[:, 1] - interval[:, 0]) / 2)
    return [
        tuple(numbers.with_uncertainty(v, reach) for v in (value, lower, upper))
        for value, (lower, upper), reach in zip(
            values.tolist(),
            interval.tolist(),
            half.tolist(),
            strict=True,
        )
    ]


def _figure(terms: Terms) -> dict[str, Any] | None:
    """Return the drawing in two widths, and how many answers it leaves out."""
    from markupsafe import Markup

    if not np.any(terms.standard_deviation > 0):
        return None
    # escaped where it is drawn: `svg.inline` writes names as XML text
    drawn = [Markup(figures.comparison(terms, narrow=narrow)) for narrow in (False, True)]  # noqa: S704
    total, count = len(terms.names), figures.shown_answers(terms).size
    return {"drawn": drawn, "count": f"{count:,}", "total": f"{total:,}", "cut": count < total}


def _comparison(terms: Terms) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings and rows of the totals."""
    by_order = terms.order != 2  # noqa: PLR2004
    headings = ["Total variance"] + [
        sentences.capital(sentences.measure(terms, plain=True))
    ] * by_order
    rows = []
    for name, noise in (
        ("This plan", terms.standard_deviation),
        ("i.i.d. Gaussian", terms.isotropic),
        ("Laplace, budget split", terms.laplace),
    ):
        ratios = [variance_ratio(terms, noise)]
        ratios += [norm_ratio(terms, noise, terms.order)] * by_order
        rows.append((name, *(f"{numbers.significant(r)}×" for r in ratios)))
    return headings, rows


def bounds(question: Mean) -> list[tuple[str, ...]]:
    """Return the public points of each column, in rows."""
    points = (question.domain.lower, question.domain.upper, question.center, question.missing)
    said = [[numbers.shortest(v) for v in point.tolist()] for point in points]
    if question.drops_missing:
        said[-1] = ["row left out"] * len(question.columns)
    return list(zip(map(shown, question.columns), *said, strict=True))
