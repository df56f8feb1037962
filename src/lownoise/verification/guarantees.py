# SPDX-License-Identifier: Apache-2.0
"""What terms guarantee, checked anew: what is covered, what it costs, and both bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.certificate.witness import NEAR
from lownoise.noise.mechanism import SHOWN, AdditiveMechanism
from lownoise.privacy import ApproxDP
from lownoise.privacy.readings import spent, within
from lownoise.release import encoding
from lownoise.sets.domains import AbstractCompound, Points
from lownoise.streams.rounds import SHOWN as SHOWN_IN_STREAMS
from lownoise.streams.rounds import AbstractStreamMechanism
from lownoise.verification.checks import Check

if TYPE_CHECKING:
    from lownoise.privacy import Budget, Event
    from lownoise.release.comparison import Alternative
    from lownoise.release.terms import Terms

_COVERED = "noise covers what one record can change"
_COVERED_UNITS = "noise covers what the rows of one unit can change"


def guarantees(terms: Terms) -> list[Check]:
    """Return a check for each thing that the terms guarantee."""
    found = _gaussian(terms) if terms.gaussian else _pure(terms)
    if terms.shared is not None:
        said = f"cost of {terms.shared.uses:,} releases within {terms.asked}"
        found.append(Check(said, within(terms.asked, terms.charged), f"{terms.charged}"))
    found += [_compared(terms, own) for own in terms.alternatives if own.mechanism == terms.name]
    if isinstance(terms.mechanism, AbstractStreamMechanism):
        found.append(_rounding(terms.mechanism.rounding, SHOWN_IN_STREAMS))
    elif isinstance(terms.mechanism, AdditiveMechanism):  # of others nothing is rounded
        found.append(_rounding(terms.mechanism.rounding, SHOWN))
    return found


def _rounding(found: float, shown: float) -> Check:
    """Return whether the error that is stated, of noise alone, is that of the answers."""
    said = f"{found!r} deviations at most, of {shown!r}"
    return Check("records are rounded finely beside the noise", found <= shown, said)


def _compared(terms: Terms, own: Alternative) -> Check:
    """Return whether what is said of the mechanism beside others is what its terms say."""
    # before 0.2.0 files compared what at p > 2 is a bound, and said nothing of prices
    holds = own.error in (terms.compared, terms.error)
    if own.readings:
        cost = terms.cost
        aside = 0.0 if terms.gaussian else cost.delta
        stated = (own.rho, own.mu, own.delta, own.readings)
        holds &= stated == (cost.rho, cost.mu, aside, terms.readings)
    return Check("mechanism as compared", holds, f"{terms.name}: error {terms.compared!r}")


def _covered(terms: Terms) -> str:
    """Return the name of what matters the most."""
    return _COVERED if getattr(terms, "privacy_unit", None) is None else _COVERED_UNITS


def _pure(terms: Terms) -> list[Check]:
    budget = terms.budget
    cost, delta = terms.cost, budget.delta if isinstance(budget, ApproxDP) else 0.0
    return [
        Check(
            _covered(terms),
            cost.epsilon <= terms.parameter and cost.delta <= delta,
            f"epsilon {cost.epsilon!r}, rounded up, of {terms.parameter!r} allowed; "
            f"delta {cost.delta!r} of {delta!r}",
        ),
        _paid(terms.budget, cost.event),
        _above(terms.error, terms.lower_bound),
    ]


def _gaussian(terms: Terms) -> list[Check]:
    allowed, mu = terms.parameter, terms.mechanism.loss.mu
    lower, upper = terms.certificate.lower, terms.certificate.upper
    return [
        Check(_covered(terms), mu <= allowed, f"radius {mu!r}, rounded up, of {allowed!r} allowed"),
        _paid(terms.budget, terms.cost.event),
        Check(
            "certificate brackets the least noise", 0 <= lower <= upper, f"{lower!r} to {upper!r}"
        ),
        _above(terms.error, terms.lower_bound),
    ]


def exactly(terms: Terms, fields: dict[str, Any]) -> list[Check]:
    """Return what is checked in whole numbers and fractions, where a file lets it be."""
    if not terms.gaussian:
        return []
    found, mu = [], terms.mechanism.loss.mu
    covered = terms.view.covers_exactly
    if covered is not None:
        said = f"the sum of (change/deviation)² of a box is at most {mu!r}²"
        found.append(Check("noise covers it in exact fractions", covered, said))
    given = encoding.witness_from_dict(fields["evidence"])
    if given is not None:
        own, least = terms.witnessed(given)
        said = f"{own!r} by the witness, {least!r} by the evidence, at μ = 1"
        enough = own > 0 and own >= least * (1 - NEAR)
        found.append(Check("lower bound in exact whole numbers", enough, said))
    return found


def clipped(terms: Terms) -> list[Check]:
    """Return what becomes of records between listed points, which files cannot tell from a hull's.

    Version 0.1 wrote combinations of lists as lists, and moved records to the nearest point.
    """
    domain = getattr(getattr(terms, "question", None), "domain", None)
    if isinstance(domain, Points):
        said = f"each counts as the nearest of {len(domain.points):,} listed points"
    elif isinstance(domain, AbstractCompound) and domain.lists:
        said = "a part of each counts as the nearest of the points listed for it"
    else:
        return []
    return [Check("records moved as written", holds=True, found=f"{said}, also between them")]


def _paid(budget: Budget, event: Event) -> Check:
    return Check(f"cost within {budget}", within(budget, event), f"{spent(budget, event)}")


def _above(error: float, bound: float) -> Check:
    return Check("error is above the lower bound", bound <= error, f"{error!r} above {bound!r}")
