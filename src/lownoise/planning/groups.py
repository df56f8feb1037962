# SPDX-License-Identifier: Apache-2.0
"""Means by groups become a plan: the noise of a mean times that of marginals, or in each group."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from lownoise.certificate.groups import GroupDual
from lownoise.errors import PlanError
from lownoise.noise.groups import gaussian_groups
from lownoise.noise.joint_groups import joint_mechanism
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.planning.gaussian import plan_mean
from lownoise.planning.pure import pure_means
from lownoise.planning.release_plan import Plan
from lownoise.questions.attributes import check_labels
from lownoise.release.terms import Terms
from lownoise.sensitivity.relations import checked_relation
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.solvers import SOLVED
from lownoise.solvers.independent import solve_residual

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning.comparing import Builders
    from lownoise.planning.request import Request
    from lownoise.questions.groups import GroupedMean
    from lownoise.sensitivity.relations import CheckedRelation


def plan_groups(question: GroupedMean, request: Request) -> Plan:
    """Return the plan for means by groups.

    Raises:
        PlanError: where the relation is not `add_remove`.
    """
    relation = _checked(question, request)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    values = plan_mean(question.mean, request)
    tables = solve_residual(
        split_marginals(question.groups, public=False).plain,
        order,
        str(relation),
        rtol,
        request.progress,
    )
    own = values.terms
    mechanism = gaussian_groups(
        question, own.mechanism, tables.noise, request.budget.gaussian_parameter()
    )
    assert own.plain_evidence is not None  # noqa: S101 (what all plans of means have)
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        weights=own.weights,
        evidence=GroupDual(values=own.evidence, plain=own.plain_evidence, tables=tables.dual),
        mechanism=mechanism,
    )
    status = tables.status if values.status == SOLVED else values.status
    return Plan(terms, status=status)


def pure_groups(question: GroupedMean, request: Request) -> Builders:
    """Return what makes a plan with each pure noise: that of a mean, in each joint group.

    Raises:
        PlanError: where an argument does not fit, or is one of Gaussian noise.
    """
    relation = _checked(question, request)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    inner = pure_means(question.mean, request)
    tables = cache(
        lambda: solve_residual(
            split_marginals(question.groups, public=False).plain,
            order,
            str(relation),
            rtol,
            request.progress,
        )
    )

    def planned(build: Callable[[], Plan]) -> Plan:
        made = build()
        own, dual = made.terms, None
        if own.evidence is not None:
            dual = GroupDual(values=own.evidence, plain=None, tables=tables().dual)
        mechanism = joint_mechanism(question, own.mechanism)
        terms = replace(own, question=question, mechanism=mechanism, evidence=dual, additive=None)
        return replace(made, terms=terms)

    # a mixture of balls is no log-concave law: of its sums no tail is known
    return {name: partial(planned, own) for name, own in inner.items() if name != "radial"}


def _checked(question: GroupedMean, request: Request) -> CheckedRelation:
    """Return the relation, which has to be `add_remove`.

    Raises:
        PlanError: where it is another.
    """
    check_labels(question.groups.attributes)
    relation = checked_relation(request.relation)
    if not relation.counted:
        raise PlanError(
            "by groups a record that changes may change its group, so that counts are private: use "
            'relation="add_remove", where that is one record less and one more: twice mu or '
            "epsilon, four times rho"
        )
    return relation
