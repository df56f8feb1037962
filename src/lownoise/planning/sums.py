# SPDX-License-Identifier: Apache-2.0
"""Totals of columns become a plan: that of a mean, of which one record changes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import DomainError, PlanError, quoted
from lownoise.noise.sums import sum_mechanism
from lownoise.numbers.arrays import vector
from lownoise.planning.exchange import plan_means
from lownoise.planning.pure import pure_means
from lownoise.planning.release_plan import checked_size
from lownoise.questions import Sum
from lownoise.sensitivity.relations import Change, checked_relation
from lownoise.sets.domains import AbstractDomain, Box

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Plan, Request
    from lownoise.questions import Mean


def plan_sum(question: Sum, request: Request) -> Plan:
    """Return the plan for totals.

    Raises:
        PlanError: where an argument does not fit.
        DomainError: where records come and go, and the hull of the domain and its opposite is not
            known.
    """
    mean, own = _asked(question, request)
    return _planned(question, request, partial(plan_means, mean, own))


def pure_sums(question: Sum, request: Request) -> Builders:
    """Return what makes a plan of totals with each pure noise.

    Raises:
        PlanError: where an argument does not fit, or is one of Gaussian noise.
        DomainError: as `plan_sum`.
    """
    mean, own = _asked(question, request)
    inner = pure_means(mean, own)
    return {name: partial(_planned, question, request, build) for name, build in inner.items()}


def unit_total(question: object, given: Any) -> AbstractDomain:  # noqa: ANN401
    """Return what a unit's rows add up to is clipped to.

    Args:
        question: what is asked.
        given: a domain; or the greatest size of each column's total, one for all or one each.

    Raises:
        PlanError: where the question releases no totals of units, or it is none of these.
    """
    if not isinstance(question, Sum):
        raise PlanError(
            f"unit_total is of ln.Sum without by; ln.{type(question).__name__} counts rows, or "
            "has groups that each see a part of a unit: leave it out"
        )
    if isinstance(given, AbstractDomain):
        return given
    wide = np.full(len(question.columns), given) if np.ndim(given) == 0 else given
    ends = vector(wide, field="unit_total", error=PlanError)
    if ends.size != len(question.columns) or np.any(ends <= 0):
        raise PlanError(
            f"unit_total={quoted(given)} is not one size above 0 for each of "
            f"{len(question.columns)} columns, nor a domain; give those, or ln.Box(lower, upper)"
        )
    return Box(-ends, ends)


def _asked(question: Sum, request: Request) -> tuple[Mean, Request]:
    """Return the mean that totals are, and what is asked of it."""
    if request.count_share is not None:
        raise PlanError("count_share is for means; ln.Sum releases no count: leave it out")
    relation = checked_relation(request.relation)
    if checked_size(request.size, relation) is not None:
        return question.mean, request
    unit = request.unit
    mean = question.coming if unit is None else question.of_units(unit.total, unit.rows)
    check_coming(mean)
    own = replace(request, unit=None if unit is None else unit.of_totals)
    return mean, replace(own, relation=Change(mean.domain), size=1)


def check_coming(mean: Mean) -> None:
    """Refuse the mean that totals are where the hull of its domain and the opposite is not known.

    Raises:
        DomainError: as said.
    """
    try:
        pivots = mean.coordinates().pivots[:1]  # known of one coordinate, known of all
        mean.domain.symmetrized(pivots, np.ones(pivots.size))
    except DomainError as error:
        raise DomainError(str(error).replace("relation=", "Sum.domain=")) from None


def _planned(question: Sum, request: Request, build: Callable[[], Plan]) -> Plan:
    made = build()
    size = checked_size(request.size, checked_relation(request.relation))
    mechanism = sum_mechanism(question, made.terms.mechanism, size)
    terms = replace(made.terms, question=question, mechanism=mechanism, additive=None)
    return replace(made, terms=terms)
