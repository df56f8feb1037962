# SPDX-License-Identifier: Apache-2.0
"""What every page says: its headline, what is promised, what it costs, how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.report import numbers, sentences

if TYPE_CHECKING:
    from jinja2 import Template

    from lownoise.report.sentences import AnyRelease, AnyTerms, GaussianTerms


def template(name: str) -> Template:
    """Return a template of a page.

    Args:
        name: of the file that extends `base.html`.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lownoise.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def framed(name: str, terms: AnyTerms, release: AnyRelease | None, **own: Any) -> str:  # noqa: ANN401
    """Return a page of HTML: what pages of every noise say, and what this one says beside.

    Args:
        name: of the file that extends `base.html`.
        terms: what is promised.
        release: what was released, None for a plan.
        own: what this template shows beside.
    """
    shared = {
        "kind": "plan" if release is None else "release",
        "headline": sentences.headline(terms, release),
        "ledger": release and sentences.ledger(release),
        "recorded": release is not None and release.recorded,
        "assumptions": terms.assumptions,
        "order_said": "" if terms.order == 2 else f", in the order-{_order(terms)} norm",  # noqa: PLR2004
    }
    return template(name).render(**{**shared, **own})


def rendered(name: str, terms: GaussianTerms, release: AnyRelease | None, **own: Any) -> str:  # noqa: ANN401
    """Return a page of HTML of Gaussian noise: the same, its certificate, its bound and its cost.

    Args:
        name: as in `framed`.
        terms: what is promised.
        release: what was released, None for a plan.
        own: what this template shows beside.
    """
    shared = {
        "facts": _facts(terms, release),
        "bound": _bound(terms),
        "bound_said": sentences.lower_bound(terms),
        "certificate": _certificate(terms),
        "certificate_said": sentences.certificate(terms),
        "weight": sentences.weight(terms),
        "measure": sentences.capital(sentences.measure(terms)),
        "cost": _cost(terms),
    }
    return framed(name, terms, release, **{**shared, **own})


def _facts(terms: GaussianTerms, release: AnyRelease | None) -> list[tuple[str, str]]:
    facts = [
        ("Budget", str(terms.budget)),
        ("Error of all answers", sentences.error(terms)),
        ("Gap to the least noise", sentences.gap(terms)),
    ]
    return [*facts, *paid(release)]


def paid(release: AnyRelease | None) -> list[tuple[str, str]]:
    """Return the fact of who paid for a release."""
    if release is None:
        return []
    return [("Ledger", f"entry {release.spend.number}" if release.spend else "none")]


def _bound(terms: GaussianTerms) -> list[tuple[str, str]]:
    ratio = terms.error / terms.lower_bound if terms.lower_bound > 0 else float("nan")
    return [
        ("Error of this plan", sentences.error(terms)),
        ("Lower bound", numbers.at_least(terms.lower_bound)),
        ("Error over lower bound", numbers.significant(ratio)),
    ]


def _certificate(terms: GaussianTerms) -> list[tuple[str, str]]:
    found = terms.certificate
    return [
        ("This plan’s noise has", numbers.significant(found.upper, 6)),
        ("No Gaussian noise has less than", numbers.significant(found.lower, 6)),
        ("Gap (upper/lower − 1)", numbers.at_most(found.gap, 2)),
    ]


def _cost(terms: GaussianTerms) -> list[tuple[str, str, str]]:
    spent = terms.cost
    pair = f"({sentences.epsilon(terms)}, {numbers.at_most(spent.delta, 3)})"
    return [
        ("μ-GDP", numbers.at_most(spent.mu), "The whole trade-off of one Gaussian release."),
        ("ρ-zCDP", numbers.at_most(spent.rho), "Adds up over releases; ρ = μ²/2."),
        ("(ε, δ)-DP", pair, "The exact δ of this release at that ε."),
    ]


def making(terms: AnyTerms) -> list[tuple[str, str]]:
    """Return what the terms hide, and from whom."""
    return [
        ("Neighbours", "one row changes" if terms.size is not None else "one row comes or goes"),
        ("Relation", sentences.relation(terms)),
        ("Rows", f"{terms.size:,} (public)" if terms.size is not None else "private; counted"),
        ("Order of the error", _order(terms)),
    ]


def made(release: AnyRelease | None) -> list[tuple[str, str]]:
    """Return when and with what a release was made."""
    if release is None:
        return []
    versions = ", ".join(f"{name} {number}" for name, number in release.versions.items())
    return [("Created", release.created), ("Versions", versions)]


def _order(terms: AnyTerms) -> str:
    return numbers.shortest(terms.order)
