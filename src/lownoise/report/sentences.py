# SPDX-License-Identifier: Apache-2.0
"""What a plan or a release says of itself, in words that text and page share."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.pure import ResponseMechanism
from lownoise.privacy import ApproxDP
from lownoise.privacy.choices import paying
from lownoise.questions import Mean, Parity
from lownoise.release.linear import LinearTerms
from lownoise.release.pure import PureTerms
from lownoise.release.tables import TableTerms
from lownoise.release.terms import Terms
from lownoise.report import numbers
from lownoise.report.names import shown
from lownoise.report.ratios import variance_ratio
from lownoise.report.said import SAME
from lownoise.sensitivity.relations import Change
from lownoise.sets.domains import Points, Polytope

if TYPE_CHECKING:
    from lownoise.questions import Queries
    from lownoise.release.linear import LinearRelease
    from lownoise.release.pure import PureRelease
    from lownoise.release.release import Release
    from lownoise.release.tables import TableRelease
    from lownoise.streams import StreamTerms

    AnyRelease = Release | TableRelease | LinearRelease | PureRelease

GaussianTerms = Terms | TableTerms | LinearTerms
AnyTerms = GaussianTerms | PureTerms

INTERVALS = (
    "Each interval covers the table’s exact answer with chance {level} over the noise. It says "
    "nothing of how the table was sampled."
)
_ROUNDING = 1e-9  # gaps below this are float rounding, not noise
_FEW = 4  # columns that are named
_SMALL = 1e-6  # gaps below this, 0.0001%, are of no interest to anybody


@singledispatch
def asked(terms: object) -> str:
    """Return what the answers are: "4 means"."""
    raise PlanError(f"terms={type(terms).__name__} have no report; give those of another question")


@asked.register
def _(terms: Terms) -> str:
    return _means(terms.question, terms.size)


@asked.register
def _(terms: PureTerms) -> str:
    question = terms.question
    return _means(question, terms.size) if isinstance(question, Mean) else _queries(question)


def _means(question: Mean, size: int | None) -> str:
    columns = len(question.columns)
    if size is None:
        return f"{columns:,} sum{'s' * (columns != 1)} and the count"
    return f"{columns:,} mean{'s' * (columns != 1)}"


def _queries(question: Queries) -> str:
    count, records = question.count, question.universe.size
    return (
        f"{count:,} linear quer{'ies' if count != 1 else 'y'} over {records:,} kind"
        f"{'s' * (records != 1)} of record"
    )


@asked.register
def _(terms: TableTerms) -> str:
    count, attributes = terms.question.count, len(terms.question.attributes)
    return (
        f"{count:,} marginal{'s' * (count != 1)} of {attributes:,} attribute"
        f"{'s' * (attributes != 1)}"
    )


@asked.register
def _(terms: LinearTerms) -> str:
    question, count = terms.question, terms.question.count
    if isinstance(question, Parity):
        bits = len(question.attributes)
        return f"{count:,} parit{'ies' if count != 1 else 'y'} of {bits:,} bit{'s' * (bits != 1)}"
    return _queries(question)


def headline(terms: AnyTerms, release: AnyRelease | None) -> str:
    """Return the one sentence of a plan or a release."""
    rows = "" if terms.size is None else f"{terms.size:,} row{'s' * (terms.size != 1)}"
    if release is None:
        return f"{asked(terms)}{rows and f' of {rows}'}, planned under {terms.budget}."
    if release.spend is None:
        return f"{asked(terms)}{rows and f' of {rows}'}, released under {terms.budget}."
    source = shown(release.spend.dataset) + (rows and f" ({rows})")
    return f"{asked(terms)} of {source}, released under {terms.budget}."


@singledispatch
def measure(terms: GaussianTerms, *, plain: bool = False) -> str:
    """Return what the plan makes small, or the same with all weights one where `plain`."""
    raise PlanError(f"terms={type(terms).__name__} have no report; give those of another question")


@measure.register
def _(terms: Terms, *, plain: bool = False) -> str:
    weighted = "" if plain or terms.size is not None else "weighted "
    if terms.order == 2:  # noqa: PLR2004
        return f"root of the total {weighted}variance"
    if math.isinf(terms.order):
        return f"largest {weighted}standard deviation"
    return f"order-{terms.order:g} norm of the {weighted}standard deviations"


@measure.register
def _(terms: TableTerms, *, plain: bool = False) -> str:
    even = bool(np.all(terms.question.weights == 1))
    weighted = "" if plain or even else "weighted "
    if terms.order == 2:  # noqa: PLR2004
        return f"root of the total {weighted}variance of all {one(terms)}s"
    if math.isinf(terms.order):
        return f"largest {weighted}standard deviation of a {one(terms)}"
    return f"order-{terms.order:g} norm of the {weighted}standard deviations of all {one(terms)}s"


def one(terms: TableTerms) -> str:
    """Return what the answers of marginals are: cells, or counts, along an order."""
    return "count" if terms.question.ordered else "cell"


@measure.register
def _(terms: LinearTerms, *, plain: bool = False) -> str:
    even = bool(np.all(terms.question.weights == 1))
    weighted = "" if plain or even else "weighted "
    if terms.order == 2:  # noqa: PLR2004
        return f"root of the total {weighted}variance of all answers"
    if math.isinf(terms.order):
        return f"largest {weighted}standard deviation of an answer"
    return f"order-{terms.order:g} norm of the {weighted}standard deviations of all answers"


@singledispatch
def weight(terms: GaussianTerms) -> str:
    """Return how weights count in `measure`, "" where nothing is weighted."""
    raise PlanError(f"terms={type(terms).__name__} have no report; give those of another question")


@weight.register
def _(terms: Terms) -> str:
    if terms.size is not None:
        return ""
    return (
        f"The count's standard deviation enters {numbers.significant(float(terms.weights[-1]))} "
        "times, so that a set share of the privacy is spent on the count."
    )


@weight.register
def _(terms: TableTerms) -> str:
    given = terms.question.weights
    if np.all(given == 1):
        return ""
    low, high = (numbers.significant(float(w)) for w in (given.min(), given.max()))
    spread = low if low == high else f"{low} to {high}"
    return f"A unit of variance in a {one(terms)} counts {spread} times, by its marginal."


@weight.register
def _(terms: LinearTerms) -> str:
    given = np.square(terms.question.weights)
    if np.all(given == 1):
        return ""
    low, high = (numbers.significant(float(w)) for w in (given.min(), given.max()))
    spread = low if low == high else f"{low} to {high}"
    return f"A unit of variance in an answer counts {spread} times, by its degree."


def relation(terms: AnyTerms) -> str:
    """Return what a neighbour is: a word, or how far a body of changes reaches in each column."""
    question = terms.question
    if not isinstance(question, Mean) or not isinstance(terms.relation, Change):
        return str(terms.relation)
    columns = question.columns
    every = np.arange(len(columns))
    widths = terms.relation.changes(every, np.ones(every.size)).widths().tolist()
    few = [
        f"{numbers.significant(width)} in {shown(name)}"
        for name, width in list(zip(columns, widths, strict=True))[:_FEW]
    ]
    rest = f" and so on in {len(columns) - _FEW:,} more" if len(columns) > _FEW else ""
    return f"a given body of changes, up to {', '.join(few)}{rest}"


def gap(terms: GaussianTerms) -> str:
    """Return the certificate's gap as a word or a number."""
    found = terms.certificate.gap
    if found == 0:
        return "none"
    if found < _SMALL:
        return "below 0.0001%"
    return f"at most {numbers.at_most(100 * found, 2)}%"


def error(terms: AnyTerms) -> str:
    """Return the error, with "at most" where it is a bound."""
    exact = terms.order == 2 or _answers(terms) == 1  # noqa: PLR2004
    if isinstance(terms, PureTerms) and isinstance(terms.mechanism, ResponseMechanism):
        exact = False  # it depends on the table
    return numbers.significant(terms.error) if exact else f"at most {numbers.at_most(terms.error)}"


@singledispatch
def _answers(terms: object) -> int:
    """Return how many answers there are."""
    raise PlanError(f"terms={type(terms).__name__} have no report; give those of another question")


@_answers.register
def _(terms: Terms) -> int:
    return len(terms.names)


@_answers.register
def _(terms: TableTerms) -> int:
    return terms.question.cells


@_answers.register
def _(terms: LinearTerms) -> int:
    return terms.question.count


@_answers.register
def _(terms: PureTerms) -> int:
    return len(terms.names)


def certificate(terms: GaussianTerms) -> str:
    """Return how close to least the noise is."""
    found = terms.certificate
    if found.upper == 0:
        return "No noise is needed, so there is nothing to gain."
    if math.isinf(found.gap):
        return "No proof was found of how close to least the noise is."
    if found.gap < _ROUNDING:
        return (
            f"No Gaussian noise within the budget does better in the {measure(terms)}: the gap, "
            f"{numbers.at_most(found.gap, 2)}, is rounding."
        )
    return (
        f"No Gaussian noise within the budget does better in the {measure(terms)} by more than "
        f"{numbers.at_most(100 * found.gap, 2)}%."
    )


def lower_bound(terms: GaussianTerms) -> str:
    """Return what no unbiased mechanism can beat, and how far this one is from it."""
    if terms.error == 0:
        return "The answers have no error, so there is nothing to compare."
    least = terms.lower_bound
    if least == 0:
        return "At this cost the bound says nothing: it is 0."
    where = "any dataset"
    if isinstance(terms.relation, Change):
        where = "a table with a row that has room in its domain for every change"
    return (
        "No unbiased mechanism with this zCDP cost has an error below "
        f"{numbers.at_least(least)} on {where}; this one's is {error(terms)}, "
        f"{numbers.significant(terms.error / least)} times the bound."
    )


def cost(terms: GaussianTerms) -> str:
    """Return the cost in its three currencies, each rounded up."""
    spent = terms.cost
    return (
        f"{numbers.at_most(spent.mu)}-GDP; {numbers.at_most(spent.rho)}-zCDP; "
        f"({epsilon(terms)}, {numbers.at_most(spent.delta, 3)})-DP. {payers(terms)}"
    )


def payers(terms: GaussianTerms | PureTerms | StreamTerms) -> str:
    """Return which accounts can pay for it, by their readings."""
    *most, last = paying(terms.cost.event, terms.budget)
    return f"Paid by accounts with reading {', '.join(most)} or {last}."


def ledger(release: AnyRelease) -> str:
    """Return where the cost was booked, or the warning that it was not."""
    if release.spend is None:
        return (
            "Nothing was recorded: no ledger was given, so nothing counts this release against a "
            "total. Add its cost to that of every other release from the same people."
        )
    name = shown(release.spend.dataset)
    return f"Entry {release.spend.number} in the account of “{name}”."


def laplace(terms: Terms) -> str:
    """Return what the comparison with Laplace noise compares."""
    less = ""
    if variance_ratio(terms, terms.laplace) < 1:
        less = "Laplace noise has the smaller total variance here. "
    if not isinstance(terms.budget, ApproxDP):
        return f"{less}Laplace noise is set to the same rho, an even part for each answer."
    return (
        f"{less}Laplace noise is set to the same epsilon, an even part for each answer, with "
        "delta 0; its rho, which is what adds up over releases, is not this plan's, so neither "
        "the certificate nor the lower bound speaks of it."
    )


def ratio() -> str:
    """Return what a mean under add_remove is."""
    return (
        "Sums and count are unbiased. Each mean is their ratio: not exactly unbiased, but its "
        "interval covers at its level."
    )


def saving(terms: Terms) -> str:
    """Return how much round noise would cost more."""
    found = variance_ratio(terms, terms.isotropic)
    if math.isnan(found):
        return "No noise is needed."
    than = f"{numbers.significant(found, 4)} times smaller than"
    if abs(found - 1) < SAME:
        than = "the same as"
    return (
        f"The total variance is {than} with i.i.d. Gaussian noise on the same domain at the same "
        "budget."
    )


def capital(sentence: str) -> str:
    """Return `sentence` with its first letter a capital and the others as they are."""
    return sentence[:1].upper() + sentence[1:]


def epsilon(terms: GaussianTerms) -> str:
    """Return ε of the cost: as the budget has it, or four digits, rounded up."""
    asked = isinstance(terms.budget, ApproxDP)
    return numbers.shortest(terms.cost.epsilon) if asked else numbers.at_most(terms.cost.epsilon)


def noise(terms: Terms) -> str:
    """Return what kind of noise it is."""
    longest = terms.mechanism.noise.longest_row
    mixed = longest > 1 or terms.mechanism.embed is not None
    between = "correlated" if mixed else "independent"
    return f"Gaussian, {between} between answers, rounded to a grid"


def bounds(question: Mean) -> str:
    """Return what the table of bounds is called."""
    domain = question.domain
    if isinstance(domain, Points):
        return f"Ranges of the columns in the list of {len(domain.points):,} points"
    if isinstance(domain, Polytope):
        return f"Ranges of the columns in the hull of {len(domain.points):,} points"
    return "Bounds of the columns"
