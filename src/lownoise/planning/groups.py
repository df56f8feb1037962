# SPDX-License-Identifier: Apache-2.0
"""Means by groups become a plan: the noise of a mean times that of marginals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.certificate.groups import GroupDual
from lownoise.errors import PlanError
from lownoise.noise.groups import gaussian_groups
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.planning.gaussian import plan_mean
from lownoise.planning.release_plan import Plan
from lownoise.questions.attributes import check_labels
from lownoise.release.terms import Terms
from lownoise.sensitivity.relations import checked_relation
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.solvers import SOLVED
from lownoise.solvers.independent import solve_residual

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning.request import Request
    from lownoise.questions.groups import GroupedMean


def plan_groups(question: GroupedMean, request: Request) -> Plan:
    """Return the plan for means by groups.

    Raises:
        PlanError: where the relation is not `add_remove`.
    """
    check_labels(question.groups.attributes)
    relation = checked_relation(request.relation)
    if not relation.counted:
        raise PlanError(
            "by groups a record that changes may change its group, so that counts are private: use "
            'relation="add_remove", where that is one record less and one more: twice mu or '
            "epsilon, four times rho"
        )
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


def pure_groups(question: GroupedMean, request: Request) -> dict[str, Callable[[], Plan]]:
    """Refuse: pure noise on groups is not planned.

    Raises:
        PlanError: as said.
    """
    del question, request
    raise PlanError(
        "by groups there is Gaussian noise alone; give a budget that allows it, as ln.approx_dp, "
        "and no other mechanism"
    )
