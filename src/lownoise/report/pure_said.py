# SPDX-License-Identifier: Apache-2.0
"""What a plan or a release under a pure budget says of itself, in words text and page share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.privacy import ApproxDP
from lownoise.questions import Mean
from lownoise.report import numbers, sentences
from lownoise.report.linear_noise import about
from lownoise.report.names import shown

if TYPE_CHECKING:
    from lownoise.release.pure import Alternative, PureTerms

_NEVER = "not available"


def name(terms: PureTerms, place: int) -> str:
    """Return what an answer is called."""
    return shown(terms.names[place])


def counts(terms: PureTerms, place: int) -> str:
    """Return what an answer of linear queries counts, "" for means."""
    return "" if isinstance(terms.question, Mean) else about(terms.question, place)


def guarantee(terms: PureTerms) -> str:
    """Return what is promised to one person."""
    spent = terms.cost
    epsilon = numbers.brief_at_most(spent.epsilon)
    neighbour = "takes another value" if terms.size is not None else "comes or goes"
    said = f"Whatever is seen is at most e^{epsilon} times likelier when one row {neighbour}"
    if spent.delta == 0:
        return f"{epsilon}-DP, pure. {said}; no chance is left out. {sentences.payers(terms)}"
    delta = numbers.brief_at_most(spent.delta, 3)
    return (
        f"({epsilon}, {delta})-DP. {said}, but for a chance of {delta}: the points of the noise "
        f"are drawn by a walk whose law is known that closely. {sentences.payers(terms)}"
    )


def mechanism(terms: PureTerms) -> str:
    """Return which mechanism it is, in words."""
    return f"{terms.name}: {shown(_own(terms).note)}"


def _own(terms: PureTerms) -> Alternative:
    return next(a for a in terms.alternatives if a.mechanism == terms.name)


def compared(terms: PureTerms) -> list[tuple[str, str, str]]:
    """Return each mechanism that was compared: its name, its error, what it is or why it is not."""
    return [
        (
            own.mechanism,
            _NEVER if own.error is None else numbers.significant(own.error, 4),
            shown(own.note),
        )
        for own in terms.alternatives
    ]


def choice(terms: PureTerms) -> str:
    """Return whether the mechanism is the best of those that were compared."""
    best = terms.alternatives[0]
    others = sum(own.error is not None for own in terms.alternatives) - 1
    if best.mechanism == terms.name:
        if not others:
            return f"Only {terms.name} is available."
        return f"No mechanism that was compared has a smaller error than {terms.name}."
    return f"{terms.name} was asked for; {best.mechanism} has the smallest error."


def times(terms: PureTerms) -> str:
    """Return how far the error is from the lower bound."""
    if terms.error == 0:
        return "none"
    return _times(terms) if terms.lower_bound > 0 else "no bound"


def _times(terms: PureTerms) -> str:
    return f"{numbers.at_most(terms.error / terms.lower_bound, 3)}×"


def lower_bound(terms: PureTerms) -> str:
    """Return what no mechanism can beat, and how far this one is from it."""
    if terms.error == 0:
        return "The answers have no error, so there is nothing to compare."
    if isinstance(terms.budget, ApproxDP):
        return "Nothing is proved of mechanisms that may leave a chance delta out."
    if terms.lower_bound == 0:
        return "No bound was found for this question at this budget: it is 0."
    return (
        f"No mechanism that is {terms.budget}, biased or not, has an error below "
        f"{numbers.at_least(terms.lower_bound)} on every table; this one's is "
        f"{sentences.error(terms)}, at most {_times(terms)} the bound."
    )


def error(terms: PureTerms) -> str:
    """Return the error of all answers together."""
    how = "" if terms.order == 2 else f" in the order-{numbers.shortest(terms.order)} norm"  # noqa: PLR2004
    how += ", weighted" if any(weight != 1 for weight in terms.weights.tolist()) else ""
    return f"{sentences.capital(sentences.error(terms))} for {whose(terms)}{how}."


def whose(terms: PureTerms) -> str:
    """Return what the error is of."""
    if isinstance(terms.question, Mean) and terms.size is None:
        return "the worst means, times the number of rows"
    return "all answers together"


def promises(terms: PureTerms) -> list[tuple[str, str]]:
    """Return what is promised, each with its name."""
    return [
        ("mechanism", mechanism(terms)),
        ("", choice(terms)),
        ("guarantee", guarantee(terms)),
        ("error", error(terms)),
        ("lower bound", lower_bound(terms)),
    ]
