# SPDX-License-Identifier: Apache-2.0
"""A plan or a release as one page of HTML that needs nothing else."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError
from lownoise.release import Release
from lownoise.report import ellipses, figures, numbers, sentences
from lownoise.report.names import shown
from lownoise.report.ratios import norm_ratio, variance_ratio
from lownoise.terms import Terms

if TYPE_CHECKING:
    from lownoise.arrays import Vector

_LEVEL = 0.95
_MOST_ROWS = 1000


@singledispatch
def html(subject: object) -> str:
    """Return the page of a release, or of the terms of a plan; the same subject, the same page.

    Args:
        subject: a `Release`, or `plan.terms`.

    Raises:
        PlanError: for anything else.

    >>> import lownoise as ln
    >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
    ...                relation="substitute", size=1000)
    >>> html(plan.terms).startswith("<!doctype html>")
    True
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

    environment = Environment(
        loader=PackageLoader("lownoise.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(
        "page.html"
    ).render(
        kind="plan" if release is None else "release",
        headline=sentences.headline(terms, release),
        level=f"{100 * _LEVEL:g}%",
        facts=_facts(terms, release),
        answers=_answers(terms, release)[:_MOST_ROWS],
        hidden=max(len(terms.names) - _MOST_ROWS, 0),
        saving=sentences.saving(terms),
        ratio=sentences.ratio(),
        means=_means(release)[:_MOST_ROWS] if release and terms.size is None else None,
        figure=_figure(terms),
        panels=ellipses.panels(terms),
        comparison=_comparison(terms),
        laplace=sentences.laplace(terms),
        bounds_said=sentences.bounds(terms),
        bound=_bound(terms),
        bound_said=sentences.lower_bound(terms),
        certificate=_certificate(terms),
        certificate_said=sentences.certificate(terms),
        weight=sentences.weight(terms),
        measure=sentences.capital(sentences.measure(terms)),
        order_said="" if terms.order == 2 else f", in the order-{_order(terms)} norm",  # noqa: PLR2004
        cost=_cost(terms),
        ledger=release and sentences.ledger(release),
        recorded=release is not None and release.recorded,
        assumptions=terms.assumptions,
        making=_making(terms, release),
        bounds=_bounds(terms)[:_MOST_ROWS],
        centered=terms.size is None,
    )


def _facts(terms: Terms, release: Release | None) -> list[tuple[str, str]]:
    facts = [
        ("Budget", str(terms.budget)),
        ("Error of all answers", sentences.error(terms)),
        ("Gap to the least noise", sentences.gap(terms)),
    ]
    if release is not None:
        facts.append(("Ledger", f"entry {release.spend.number}" if release.spend else "none"))
    return facts


def _answers(terms: Terms, release: Release | None) -> list[tuple[str, ...]]:
    """Return rows: name, estimate, interval's ends where there is a release, then noise."""
    noises = [terms.standard_deviation, terms.isotropic, terms.laplace]
    said = [[numbers.significant(v) for v in noise.tolist()] for noise in noises]
    names = [shown(name) for name in terms.names]
    if release is None:
        return list(zip(names, *said, strict=True))
    found = _with_interval(release.estimate, release.interval(_LEVEL))
    return [(n, *row, *rest) for n, row, *rest in zip(names, found, *said, strict=True)]


def _means(release: Release) -> list[tuple[str, ...]]:
    found = _with_interval(release.mean, release.mean_interval(_LEVEL))
    names = release.terms.question.columns
    return [(shown(name), *row) for name, row in zip(names, found, strict=True)]


def _with_interval(values: Vector, interval: Vector) -> list[tuple[str, ...]]:
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


def _bound(terms: Terms) -> list[tuple[str, str]]:
    ratio = terms.error / terms.lower_bound if terms.lower_bound > 0 else float("nan")
    return [
        ("Error of this plan", sentences.error(terms)),
        ("Lower bound", numbers.at_least(terms.lower_bound)),
        ("Error over lower bound", numbers.significant(ratio)),
    ]


def _certificate(terms: Terms) -> list[tuple[str, str]]:
    found = terms.certificate
    return [
        ("This plan’s noise has", numbers.significant(found.upper, 6)),
        ("No Gaussian noise has less than", numbers.significant(found.lower, 6)),
        ("Gap (upper/lower − 1)", numbers.at_most(found.gap, 2)),
    ]


def _cost(terms: Terms) -> list[tuple[str, str, str]]:
    spent = terms.cost
    pair = f"({numbers.shortest(spent.epsilon)}, {numbers.at_most(spent.delta, 3)})"
    return [
        ("μ-GDP", numbers.at_most(spent.mu), "The whole trade-off of one Gaussian release."),
        ("ρ-zCDP", numbers.at_most(spent.rho), "Adds up over releases; ρ = μ²/2."),
        ("(ε, δ)-DP", pair, "The exact δ of this release at that ε."),
    ]


def _making(terms: Terms, release: Release | None) -> list[tuple[str, str]]:
    made = [
        ("Neighbours", "one row changes" if terms.size is not None else "one row comes or goes"),
        ("Relation", sentences.relation(terms)),
        ("Rows", f"{terms.size:,} (public)" if terms.size is not None else "private; counted"),
        ("Order of the error", _order(terms)),
        ("Noise", sentences.noise(terms)),
    ]
    if release is not None:
        made.append(("Created", release.created))
        made.append(("Versions", ", ".join(f"{k} {v}" for k, v in release.versions.items())))
    return made


def _order(terms: Terms) -> str:
    return numbers.shortest(terms.order)


def _bounds(terms: Terms) -> list[tuple[str, ...]]:
    question = terms.question
    points = (question.domain.lower, question.domain.upper, question.center, question.missing)
    said = [[numbers.shortest(v) for v in point.tolist()] for point in points]
    if question.drops_missing:
        said[-1] = ["row left out"] * len(question.columns)
    return list(zip(map(shown, question.columns), *said, strict=True))
