# SPDX-License-Identifier: Apache-2.0
"""A question and a budget become a plan; no data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError
from lownoise.kinds import row_of
from lownoise.planning.gaussian import plan_marginals, plan_mean, plan_parity, plan_queries
from lownoise.planning.pure import plan_pure
from lownoise.planning.request import Request
from lownoise.privacy.budget import checked_budget
from lownoise.questions import AbstractQueries, Marginals, Mean, Parity
from lownoise.solvers import RTOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.planning.release_plan import Plan
    from lownoise.privacy import Budget
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress


def plan(  # noqa: PLR0913
    question: Mean | Marginals | AbstractQueries | Parity,
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
) -> Plan:
    """Fit the least noise to a question, without reading any data.

    Args:
        question: what is asked, `ln.Mean(columns, domain)`, `ln.Marginals(sizes, way=k)`,
            `ln.Queries(matrix, universe)` or `ln.Parity(bits, degree)`.
        budget: `ln.zcdp(rho)`, `ln.approx_dp(epsilon, delta)`, `ln.gaussian_dp(mu)`; or
            `ln.pure_dp(epsilon)`, under which pure mechanisms are compared and the best is taken.
        relation: "substitute": a neighbour changes one record, `size` is public, the answers are
            the means. "add_remove": a neighbour has one record more or less, the answers are the
            sums about the question's center and the count; means follow from them. Or a domain that
            holds every change one neighbour can make, `ln.Ball(d, radius=0.5)`: a neighbour changes
            one record, and that record, once clipped to its own domain, changes by a point of it or
            its opposite; `size` is public, the answers are the means. Clipping records to a domain
            can lengthen a change: what counts is the change of what has been clipped.
        size: the number of records; not under "add_remove".
        order: p in [2, ∞], the norm of the error that is made small; `math.inf` for the largest.
        weights: for means, how much one unit of each column's error matters, shape (d,), above 0;
            by default ones, so that the column with the widest range dictates the noise of all.
            "range" takes 1/(upper − lower): errors matter as shares of their ranges.
        count_share: for means under "add_remove", the part of μ² that is spent on the count, in
            (0, 1), 0.05 by default; the standard deviation of each sum is 1/√(1 − count_share)
            times what it would be alone (about that where the center is not the middle of a list
            of points, and for tensors of an even power of a ball).
        rtol: how close to the least noise, relatively; where the search ends earlier, the plan is
            as private, its certificate wider, and its `status` says so.
        progress: called with a `Progress` (iteration, lower, upper, gap) while solving; an
            interrupt ends the search with the best noise found.
        mechanism: under `pure_dp`, and under `approx_dp` instead of a Gaussian: "k_norm",
            "ellipsoid", "recursive", "laplace", "laplace_histogram" or "randomized_response". By
            default the best of them under `pure_dp`, and Gaussian noise, compared with none of
            them, under `approx_dp`.

    Raises:
        PlanError, BudgetError: where an argument is out of range.
        DomainError: where the relation is a domain of a kind that no noise is known for.

    Examples:
        >>> import lownoise as ln
        >>> p = ln.plan(ln.Mean(["age", "height"], ln.Box([0, 0.5], [120, 2.5])),
        ...             budget=ln.zcdp(0.5), relation="substitute", size=1000)
        >>> [round(float(s), 4) for s in p.standard_deviation]
        [0.121, 0.0156]
        >>> p.certificate.gap < 1e-6
        True
        >>> tables = ln.plan(ln.Marginals({"age": 85, "sex": 2}, way=2), budget=ln.zcdp(0.5),
        ...                  relation="add_remove")
        >>> round(tables.standard_deviation("age", "sex"), 4)
        1.0816
        >>> nudged = ln.plan(ln.Mean(["x", "y"], ln.Box([0, 0], [9, 9])), budget=ln.zcdp(0.5),
        ...                  relation=ln.Ball(2, radius=0.5), size=1000)
        >>> round(nudged.error, 9)  # 0.5·√2/1000
        0.000707107
        >>> pure = ln.plan(ln.Mean(["x"], ln.Box([0], [9])), budget=ln.pure_dp(1.0),
        ...                relation="substitute", size=1000)
        >>> pure.mechanism, round(pure.error, 6)  # √2·9/1000
        ('laplace', 0.012728)
    """
    request = Request(
        budget=checked_budget(budget),
        relation=relation,
        size=size,
        order=order,
        weights=weights,
        count_share=count_share,
        rtol=rtol,
        progress=progress,
        mechanism=mechanism,
    )
    if request.pure:
        return plan_pure(question, request)
    planner = row_of(_PLANNERS, question)
    if planner is None:
        raise PlanError(
            f"question={type(question).__name__} is no question; give ln.Mean(…), "
            "ln.Marginals(…), ln.Queries(…) or ln.Parity(…)",
        )
    return planner(question, request)


# how Gaussian noise is fitted, one row a kind of question
_PLANNERS: dict[type, Callable[[Any, Request], Plan]] = {
    Mean: plan_mean,
    AbstractQueries: plan_queries,
    Parity: plan_parity,
    Marginals: plan_marginals,
}
