# SPDX-License-Identifier: Apache-2.0
"""One question and a budget become a plan; no data are read."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError, quoted
from lownoise.kinds import resolved
from lownoise.planning.comparing import apart, compared
from lownoise.planning.release_plan import Request
from lownoise.planning.sums import unit_total as totals_within
from lownoise.privacy import ApproxDP, PureDP, Shared
from lownoise.privacy.budget import checked_budget
from lownoise.privacy.shared import checked_uses
from lownoise.privacy.units import checked_unit
from lownoise.questions.encoding import AbstractQuestion
from lownoise.release.comparison import GAUSSIAN, names
from lownoise.sensitivity.relations import ADD_REMOVE, Change, checked_relation
from lownoise.solvers import RTOL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Plan
    from lownoise.privacy import Budget
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress


def plan(  # noqa: PLR0913
    question: AbstractQuestion,
    *,
    budget: Budget,
    relation: Relation | AbstractDomain,
    size: int | None = None,
    order: float = 2.0,
    weights: ArrayLike | str | None = None,
    count_share: float | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    mechanism: str | None = None,
    uses: int | None = None,
    privacy_unit: str | None = None,
    rows_per_unit: int | None = None,
    order_by: Sequence[str] | str | None = None,
    null_unit: str = "drop",
    unit_total: AbstractDomain | ArrayLike | None = None,
) -> Plan:
    """Fit the least noise to one question; arguments are those of the public verb.

    Raises:
        PlanError, BudgetError: where an argument is out of range.
        DomainError: where the relation is a domain of a kind that no noise is known for.
    """
    total = None if unit_total is None else totals_within(question, unit_total)
    own = checked_unit(privacy_unit, rows_per_unit, order_by, null_unit, total)
    unit = _unit(own, relation, size)
    request = Request(
        budget=checked_budget(budget),
        relation=relation if unit is None else ADD_REMOVE,
        size=size,
        order=order,
        weights=weights,
        count_share=count_share,
        rtol=rtol,
        progress=progress,
        mechanism=mechanism,
        unit=unit,
    )
    shared = None if uses is None else Shared(request.budget, checked_uses(uses))
    found = _least(question, request, shared)
    if unit is None or unit.total is None or unit.rows is None:
        return found
    alone = replace(request, unit=replace(unit, total=None), weights=found.terms.weights)
    return replace(found, by_rows=_least(question, alone, shared).error)


def _least(question: object, request: Request, shared: Shared | None) -> Plan:
    """Return the plan of least error, as it would be if no fit had been kept in a file."""
    noises: Builders = {
        name: cache(build) for name, build in _noises(question, request, shared).items()
    }
    found = compared(noises, request)
    part = apart(found.terms.alternatives, "radial")
    if part > _CLOSE:
        return found
    # errors are as the roots of E‖z‖²: so what may change them by half of what decides
    nearer = replace(request, near=part if part > _LEAST_CLOSE else 0.0)
    noises["radial"] = _noises(question, nearer, shared)["radial"]
    return compared(noises, request)


def _noises(question: object, request: Request, shared: Shared | None) -> Builders:
    """Return what makes a plan of each noise that the budget allows, by the mechanism's name.

    Args:
        question: what is asked.
        request: with the budget that was given.
        shared: that budget where releases share it.

    Raises:
        BudgetError: where there is none within the budget.
        PlanError: where the question is none, or the mechanism that is named is not known or not
            within the budget.
    """
    if not isinstance(question, AbstractQuestion) or question.parts.gaussian is None:
        raise PlanError(
            f"question={type(question).__name__} is no question; give ln.Mean(…), "
            "ln.Sum(…), ln.Moments(…), ln.Marginals(…), ln.Queries(…), ln.Parity(…) or another, or "
            "several in a list; a stream's is given to ln.stream(…)",
        )
    _check_mechanism(request)
    gaussian: Callable[[Any, Request], Plan] = resolved(question.parts.gaussian)
    pure: Callable[[Any, Request], Builders] = resolved(question.parts.pure)
    found: Builders = {}
    if not isinstance(request.budget, PureDP):
        one = (
            request
            if shared is None
            else replace(request, budget=shared.of_gaussian(), shared=shared)
        )
        found[GAUSSIAN] = partial(_finished, partial(gaussian, question), one)
    if request.mechanism == GAUSSIAN or not isinstance(request.budget, (PureDP, ApproxDP)):
        return found
    one = request
    if shared is not None:
        one = replace(request, budget=shared.of_pure(), shared=shared)
    try:
        others = pure(question, one)

        def build(name: str, asked: Request) -> Plan:
            return (others if asked is one else pure(question, asked))[name]()

        return found | {name: partial(_finished, partial(build, name), one) for name in others}
    except PlanError as error:
        if request.mechanism is not None or not found:
            raise
        reason = str(error)  # Gaussian noise is left, and the comparison says why it is alone

    def refuse() -> Plan:
        raise PlanError(reason)

    return {**found, **dict.fromkeys(names(of_means=True), refuse)}


_CLOSE = 1e-3  # of errors: what `solvers.radial_kept.NEAR` leaves open of kept noise, and no less
_LEAST_CLOSE = 1e-7  # of errors, below which no kept noise will do
_DEARER = 2.0  # a row that becomes another is one that goes and one that comes
_SPARE = 1 + 2.0**-40  # for rounding


def _finished(build: Callable[[Request], Plan], request: Request) -> Plan:
    """Return a plan that was made for one release and for what one row costs, as it was asked.

    Where units take other rows, noise that does not hide that yet is made anew, as many times
    larger as it itself shows that it needs to be.
    """
    own = _asked(build(request), request)
    if not request.exchanged:
        return own
    for dearer in (_used(own.terms), _DEARER):
        if own.terms.within_budget:
            break
        own = _asked(build(replace(request, dearer=dearer * _SPARE)), request)
    return own


def _used(terms: Terms) -> float:
    """Return how many times its budget a release reveals."""
    loss = terms.mechanism.loss
    found: float = loss.mu if terms.gaussian else loss.epsilon
    return found / terms.parameter


def _asked(own: Plan, request: Request) -> Plan:
    unit, shared = request.unit, request.shared
    if unit is not None:
        mechanism = replace(own.terms.mechanism, unit=unit)
        own = replace(own, terms=replace(own.terms, mechanism=mechanism))
    return own if shared is None else replace(own, terms=replace(own.terms, shared=shared))


def _unit(unit: PrivacyUnit | None, relation: object, size: int | None) -> PrivacyUnit | None:
    """Return the unit, of which a neighbour has any other rows where the relation says so.

    Raises:
        PlanError: where the relation is a body of changes, or a number is given.
    """
    if unit is None:
        return None
    known = checked_relation(relation)
    if isinstance(known, Change):
        raise PlanError(
            "relation is a body of changes of a row, and a unit has several; give 'add_remove'"
        )
    if known.counted:
        return unit
    if size is not None:
        raise PlanError(
            f"size={quoted(size)} would be a number of rows, which is private with privacy_unit; "
            "leave it out, as the number of units is not needed"
        )
    return replace(unit, exchanged=True)


def _check_mechanism(request: Request) -> None:
    """Refuse the name of a mechanism that is unknown, or that the budget does not allow.

    Raises:
        PlanError: as said.
    """
    budget, named = request.budget, request.mechanism
    if named is None:
        return
    known = (GAUSSIAN, *names())
    if not (isinstance(named, str) and named in known):
        raise PlanError(f"mechanism={quoted(named)} is unknown; give one of {', '.join(known)}")
    if named == GAUSSIAN and isinstance(budget, PureDP):
        raise PlanError(f"mechanism='gaussian' is not pure, and budget={budget} is; leave it out")
    if named != GAUSSIAN and not isinstance(budget, (PureDP, ApproxDP)):
        raise PlanError(
            f"mechanism={quoted(named)} needs an epsilon, which budget={budget} has not; give "
            "ln.pure_dp(epsilon) or ln.approx_dp(epsilon, delta), or leave the mechanism out",
        )
