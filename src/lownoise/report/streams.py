# SPDX-License-Identifier: Apache-2.0
"""What a stream will be, for a terminal and as a page: noise by round, and what is promised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.report import numbers, sentences
from lownoise.report.frame import template
from lownoise.report.names import shown
from lownoise.report.text import grouped
from lownoise.sensitivity.relations import Change
from lownoise.streams.codec import shown_rounds

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lownoise.streams import StreamTerms

_FEW = 8  # columns of a table
_NAMES = {
    "prefix": "running sums",
    "sliding_window": "sums over a window",
    "decayed": "sums that forget",
    "lower_triangular": "answers by a matrix",
}


def plan_table(terms: StreamTerms) -> RenderableType:
    """Return the deviations of a few rounds, then what is promised."""
    headings, rows = _rounds(terms)
    notes = [
        ("strategy", _strategy(terms)),
        ("error", _error(terms)),
        ("certificate", _certificate(terms)),
        ("lower bound", _lower_bound(terms)),
        ("cost", _cost(terms)),
    ]
    hidden = terms.question.domain.dimension - _FEW
    if hidden > 0:
        notes.insert(0, ("not shown", f"{hidden:,} more coordinates."))
    return grouped(_headline(terms), headings, rows, notes)


def page(terms: StreamTerms) -> str:
    """Return the page of a stream that has not started."""
    headings, rows = _rounds(terms)
    found, cost = terms.certificate, terms.cost
    ratio = terms.error_reached / terms.lower_bound if terms.lower_bound > 0 else math.nan
    n = terms.workload.rounds
    context = {
        "kind": "plan",
        "headline": _headline(terms),
        "facts": [
            ("Budget", str(terms.budget)),
            ("Error of an answer", numbers.significant(terms.error_reached)),
            ("Rounds", f"{n:,}"),
            ("Strategy", terms.strategy),
        ],
        "headings": headings,
        "rows": rows,
        "noisy": terms.error_reached > 0,
        "certificate_said": _certificate(terms),
        "certificate": [
            ("This stream’s noise has", numbers.significant(found.upper, 6)),
            ("No factorization has less than", numbers.significant(found.lower, 6)),
            ("Gap (upper/lower − 1)", _gap(found.gap)),
        ],
        "measure": _measure(terms)[:1].upper() + _measure(terms)[1:],
        "weight": "",
        "bound_said": _lower_bound(terms),
        "bound": [
            ("Error of this stream", numbers.significant(terms.error_reached)),
            ("Lower bound", numbers.at_least(terms.lower_bound)),
            ("Error over lower bound", numbers.significant(ratio)),
        ],
        "order_said": f": the {_measure(terms)}",
        "cost": [
            ("μ-GDP", numbers.at_most(cost.mu), "The whole trade-off of all rounds together."),
            ("ρ-zCDP", numbers.at_most(cost.rho), "Adds up over releases; ρ = μ²/2."),
            (
                "(ε, δ)-DP",
                f"({numbers.at_most(cost.epsilon)}, {numbers.at_most(cost.delta, 3)})",
                "The exact δ of all rounds together at that ε.",
            ),
        ],
        "ledger": None,
        "recorded": False,
        "assumptions": terms.assumptions,
        "making": [
            ("Strategy", _strategy(terms)),
            ("Relation", _relation(terms)),
            ("Error that is made small", _measure(terms)),
            ("Columns", ", ".join(shown(name) for name in terms.question.columns[:_FEW])),
        ],
    }
    return template("stream.html").render(**context)


def _rounds(terms: StreamTerms) -> tuple[list[str], list[list[str]]]:
    names = [shown(name) for name in terms.question.columns]
    one = len(names) == 1
    headings = ["round", *(["standard deviation"] if one else names[:_FEW])]
    rows = [
        [
            f"{t:,}",
            *(numbers.significant(s) for s in terms.deviations(t - 1, 1)[0][:_FEW].tolist()),
        ]
        for t in shown_rounds(terms.workload.rounds)
    ]
    return headings, rows


def _headline(terms: StreamTerms) -> str:
    n = terms.workload.rounds
    what = _NAMES[terms.workload.kind]
    return f"{n:,} {what}, one a round, planned under {terms.budget}."


def _strategy(terms: StreamTerms) -> str:
    return f"{terms.strategy}: {terms.reason}."


def _measure(terms: StreamTerms) -> str:
    which = "mean" if terms.error == "mean" else "largest"
    return f"root of the {which} variance of an answer over the rounds"


def _error(terms: StreamTerms) -> str:
    return f"{numbers.significant(terms.error_reached)}, {_measure(terms)}."


def _gap(gap: float) -> str:
    return numbers.at_most(gap, 2)


def _certificate(terms: StreamTerms) -> str:
    gap = terms.certificate.gap
    if terms.error_reached == 0:
        return "No noise is needed, so there is nothing to gain."
    if not math.isfinite(gap):
        return "No proof was found of how close to least the noise is."
    return (
        "No factorization mechanism within the budget does better in the "
        f"{_measure(terms)} by more than {numbers.at_most(100 * gap, 2)}%."
    )


def _lower_bound(terms: StreamTerms) -> str:
    least = terms.lower_bound
    if least == 0:
        return "At this cost the bound says nothing: it is 0."
    return (
        f"No unbiased mechanism with this zCDP cost has an error below {numbers.at_least(least)}; "
        f"this one's is {numbers.significant(terms.error_reached / least)} times the bound."
    )


def _cost(terms: StreamTerms) -> str:
    spent = terms.cost
    return (
        f"{numbers.at_most(spent.mu)}-GDP; {numbers.at_most(spent.rho)}-zCDP; "
        f"({numbers.at_most(spent.epsilon)}, {numbers.at_most(spent.delta, 3)})-DP, for all rounds "
        f"together. {sentences.payers(terms)}"
    )


def _relation(terms: StreamTerms) -> str:
    relation = terms.relation
    if not isinstance(relation, Change):
        return relation
    every = np.arange(terms.question.domain.dimension)
    widths = relation.changes(every, np.ones(every.size)).widths()[:_FEW].tolist()
    return f"a given body of changes, up to {', '.join(numbers.significant(w) for w in widths)}"
