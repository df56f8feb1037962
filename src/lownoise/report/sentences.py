# SPDX-License-Identifier: Apache-2.0
"""What any plan or release says of itself, in words that a terminal and a page share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lownoise.privacy import ApproxDP
from lownoise.privacy.choices import paying
from lownoise.report import spelling
from lownoise.report.spelling import shown
from lownoise.sensitivity.relations import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.report.view import AbstractView

NO_PROOF = "No proof was found of how close to least the noise is."
NO_NOISE = "No noise is needed, so there is nothing to gain."
NO_ERROR = "The answers have no error, so there is nothing to compare."
NO_BOUND = "At this cost the bound says nothing: it is 0."
_ROUNDING = 1e-9  # gaps below this are float rounding, not noise
_SMALL = 1e-6  # gaps below this, 0.0001%, are of no interest to anybody
_SAME = 1e-4  # a ratio of variances that nobody sees
_FEW = 4  # columns that are named


def count(number: int, one: str, many: str | None = None) -> str:
    """Return "1 mean", "2 means".

    >>> count(1, "query", "queries"), count(2000, "row")
    ('1 query', '2,000 rows')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def capital(sentence: str) -> str:
    """Return `sentence` with its first letter a capital and the others as they are."""
    return sentence[:1].upper() + sentence[1:]


def headline(view: AbstractView) -> str:
    """Return the one sentence of a plan or a release."""
    terms, release = view.terms, view.release
    rows = "" if view.size is None else count(view.size, "row")
    if release is None or release.spend is None:
        verb = "planned" if release is None else "released"
        return f"{view.asked()}{rows and f' of {rows}'}, {verb} under {terms.budget}."
    source = shown(release.spend.dataset) + (rows and f" ({rows})")
    return f"{view.asked()} of {source}, released under {terms.budget}."


def measure(order: float, weighted: str, one: str, of: str) -> str:
    """Return what a plan makes small.

    Args:
        order: p, of the norm.
        weighted: "weighted " or "".
        one: what the largest is of: " of an answer", or "".
        of: what all of them are: " of all answers", or "".
    """
    if order == 2:  # noqa: PLR2004
        return f"root of the total {weighted}variance{of}"
    if math.isinf(order):
        return f"largest {weighted}standard deviation{one}"
    return f"order-{order:g} norm of the {weighted}standard deviations{of}"


def in_order(order: float) -> str:
    """Return in which norm an error is, "" for the usual one."""
    return "" if order == 2 else f" in the order-{spelling.shortest(order)} norm"  # noqa: PLR2004


def error(found: float, *, exact: bool) -> str:
    """Return an error, with "at most" where it is a bound."""
    return spelling.significant(found) if exact else f"at most {spelling.at_most(found)}"


def gap(found: float) -> str:
    """Return a certificate's gap as a word or a number."""
    if found == 0:
        return "none"
    if found < _SMALL:
        return "below 0.0001%"
    return f"at most {spelling.at_most(100 * found, 2)}%"


def better(found: float, what: str, least: str) -> str:
    """Return how close to least an objective is, by the gap of its certificate.

    Args:
        found: the gap.
        what: of which no other does better.
        least: what is small.
    """
    if math.isinf(found):
        return NO_PROOF
    if found < _ROUNDING:
        small = spelling.at_most(found, 2)
        return (
            f"No {what} within the budget does better in the {least}: the gap, {small}, is "
            "rounding."
        )
    return (
        f"No {what} within the budget does better in the {least} by more than "
        f"{spelling.at_most(100 * found, 2)}%."
    )


def cost(terms: Any, together: str = "") -> str:  # noqa: ANN401
    """Return the cost of Gaussian noise in its three currencies, each rounded up."""
    spent = terms.cost
    return (
        f"{spelling.at_most(spent.mu)}-GDP; {spelling.at_most(spent.rho)}-zCDP; "
        f"{pair(terms)}-DP{together and f', {together}'}. {payers(terms)}"
    )


def pair(terms: Any) -> str:  # noqa: ANN401
    """Return (ε, δ) of the cost: ε as the budget has it, or four digits, rounded up."""
    spent, asked = terms.cost, isinstance(terms.budget, ApproxDP)
    epsilon = spelling.shortest(spent.epsilon) if asked else spelling.at_most(spent.epsilon)
    return f"({epsilon}, {spelling.at_most(spent.delta, 3)})"


def payers(terms: Any) -> str:  # noqa: ANN401
    """Return which accounts can pay for it, by their readings."""
    *most, last = paying(terms.cost.event, terms.budget)
    return f"Paid by accounts with reading {', '.join(most)} or {last}."


def ledger(release: Any) -> str:  # noqa: ANN401
    """Return where the cost was booked, or the warning that it was not."""
    if release.spend is None:
        return (
            "Nothing was recorded: no ledger was given, so nothing counts this release against a "
            "total. Add its cost to that of every other release from the same people."
        )
    name = shown(release.spend.dataset)
    return f"Entry {release.spend.number} in the account of “{name}”."


def covers(level: str, what: str = "answer", least: str = "") -> str:
    """Return what an interval is."""
    return (
        f"Each interval covers the table’s exact {what} with chance {level}{least} over the noise. "
        "It says nothing of how the table was sampled."
    )


def relation(changed: Any, columns: Sequence[str]) -> str:  # noqa: ANN401
    """Return what a neighbour is: a word, or how far a body of changes reaches in each column."""
    import numpy as np

    if not isinstance(changed, Change):
        return str(changed)
    every = np.arange(len(columns))
    widths = changed.changes(every, np.ones(every.size)).widths().tolist()
    few = [
        f"{spelling.significant(width)} in {shown(name)}"
        for name, width in list(zip(columns, widths, strict=True))[:_FEW]
    ]
    rest = f" and so on in {len(columns) - _FEW:,} more" if len(columns) > _FEW else ""
    return f"a given body of changes, up to {', '.join(few)}{rest}"


def same(ratio: float) -> bool:
    """Return whether a ratio of variances is one that nobody tells from 1."""
    return abs(ratio - 1) < _SAME


def times(ratio: float, words: str) -> str:
    """Return how much another noise would cost more, or less.

    Args:
        ratio: its total variance over this plan's; NaN where this plan has none.
        words: what it is.
    """
    if math.isnan(ratio):
        return "No noise is needed."
    if same(ratio):
        than = "the same as with"
    elif ratio > 1:
        than = f"{spelling.significant(ratio, 4)} times smaller than with"
    else:
        than = f"{spelling.significant(1 / ratio, 4)} times that of"
    return f"The total variance is {than} {words}."
