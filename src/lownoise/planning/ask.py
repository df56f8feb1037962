# SPDX-License-Identifier: Apache-2.0
"""One question, or several on one budget, and that budget become a plan; no data are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from lownoise.planning import verb
from lownoise.planning.several import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.planning.joint import JointPlan
    from lownoise.planning.release_plan import Plan
    from lownoise.privacy import Budget
    from lownoise.questions import AbstractGrouped, AbstractQueries, Marginals, Mean, Parity, Sum
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress

    Question: TypeAlias = Mean | Sum | AbstractGrouped | Marginals | AbstractQueries | Parity


@overload
def plan(
    question: Question,
    *,
    budget: Budget,
    relation: Relation | AbstractDomain,
    size: int | None = ...,
    order: float = ...,
    weights: ArrayLike | str | None = ...,
    count_share: float | None = ...,
    rtol: float = ...,
    progress: Callable[[Progress], None] | None = ...,
    mechanism: str | None = ...,
    uses: int | None = ...,
    privacy_unit: str | None = ...,
    rows_per_unit: int | None = ...,
    order_by: Sequence[str] | str | None = ...,
    null_unit: str = ...,
    unit_total: AbstractDomain | ArrayLike | None = ...,
) -> Plan: ...


@overload
def plan(
    question: Mapping[str, Any] | Sequence[Any],
    *,
    budget: Budget,
    relation: Relation,
    size: int | None = ...,
    importance: Mapping[str, float] | None = ...,
    shares: Mapping[str, float] | None = ...,
    options: Mapping[str, Mapping[str, Any]] | None = ...,
    merge: bool = ...,
    privacy_unit: str | None = ...,
    rows_per_unit: int | None = ...,
    order_by: Sequence[str] | str | None = ...,
    null_unit: str = ...,
) -> JointPlan: ...


def plan(question: Any, **asked: Any) -> Plan | JointPlan:  # noqa: D417 (`asked`, one by one)
    """Fit the least noise to a question, without reading any data.

    Args:
        question: what is asked, `ln.Mean(columns, domain)`, `ln.Marginals(sizes, way=k)`,
            `ln.Queries(matrix, universe)` or `ln.Parity(bits, degree)`. Or several that share the
            budget, by name or in a list: then all is as of `ln.together`, which takes `importance`,
            `shares`, `options` and `merge`, and has what is below of one question in `options`.
        budget: `ln.zcdp(rho)`, `ln.gaussian_dp(mu)`, `ln.approx_dp(epsilon, delta)` or
            `ln.pure_dp(epsilon)`.
        relation: "substitute": a neighbour changes one record, `size` is public, the answers are
            the means. "add_remove": a neighbour has one record more or less, the answers are the
            sums about the question's center and the count; means follow from them. Or a domain that
            holds every change one neighbour can make, `ln.Ball(d, radius=0.5)`: a neighbour changes
            one record, and that record, once clipped to its own domain, changes by a point of it or
            its opposite; `size` is public, the answers are the means. Clipping records to a domain
            can lengthen a change: what counts is the change of what has been clipped.
        size: the number of records; not under "add_remove", and not of units.
        order: p in [2, ∞], the norm of the error that is made small; `math.inf` for the largest.
        weights: for means, how much one unit of each column's error matters, shape (d,), above 0;
            by default ones, so that the column with the widest range dictates the noise of all.
            "range" takes 1/(upper − lower): errors matter as shares of their ranges.
        count_share: for means under "add_remove", the part of μ² that is spent on the count, in
            (0, 1); by default what the worst means err least with, those of records at the edge
            of the domain, or 0.05 where they err less with that; the deviation of each sum is
            1/√(1 − count_share) times what it would be alone (about that where the center is not
            the middle of a list
            of points, and for tensors of an even power of a ball). By groups under "substitute" it
            is ½ by default, which costs sums nothing where the domain is symmetric.
        rtol: how close to the least noise, relatively; where the search ends earlier, the plan is
            as private, its certificate wider, and its `status` says so.
        progress: called with a `Progress` (iteration, lower, upper, gap) while solving; an
            interrupt ends the search with the best noise found.
        mechanism: "gaussian", "k_norm", "staircase", "ellipsoid", "recursive", "laplace",
            "laplace_histogram", "randomized_response" or, under `approx_dp`, "radial"; then that
            one alone is built. By default all are that the budget allows, and the one with the
            least ‖weights·(standard deviations)‖_p is taken: under `zcdp` and `gaussian_dp`
            Gaussian noise, under `pure_dp` all others, under `approx_dp` all. `Plan.comparison`
            shows them.
        uses: k, how many releases of this plan share the budget, from 1 to 1,000,000: each has the
            noise that is least then. A ledger reserves all at the first and gives them to this plan
            alone. By default every release pays all of the budget.
        privacy_unit: the column that tells people apart where one may have several rows: then a
            neighbour has one person more or less, with all of their rows; under "substitute" any
            other rows of one person, or none, and answers are the sums and the count, for how many
            rows there are is private. By default a row.
        rows_per_unit: m, how many rows of each count: the first, the others are left out. Noise
            grows with it, and answers are about the rows that count.
        order_by: the columns that order a unit's rows, numbers rising; None for none. Rows alike in
            these go by the columns that the question reads, the smallest values first: without
            columns that tell rows apart means are too small.
        null_unit: what rows that lack a unit are: "drop" leaves them out, "one" makes them one unit
            together.
        unit_total: for `ln.Sum` of units, what the rows of each that count add up to is clipped to:
            a domain that holds 0, as ln.Box([0], [500]), or the greatest size of each column's
            total, one number for all or one each. Noise hides that instead of `rows_per_unit` rows,
            which may then be left out: all rows count. With both, box by box, totals that so many
            rows do not add up to need no noise either. Rows live in a box that holds 0.

    Returns:
        The plan of a question, or the `JointPlan` of several.

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
        >>> pure.mechanism, round(pure.error, 6)  # Laplace noise has √2·9/1000
        ('staircase', 0.012465)
        >>> both = ln.plan([ln.Mean(["x"], ln.Box([0], [9])), ln.Histogram("sex", ["F", "M"])],
        ...                budget=ln.zcdp(0.5), relation="add_remove")
        >>> list(both), round(both["mean"].error, 2)
        (['mean', 'marginals'], 7.01)
    """
    alone = isinstance(question, (str, bytes)) or not isinstance(question, (Mapping, Sequence))
    return verb.plan(question, **asked) if alone else together(question, **asked)


update_wrapper(plan, verb.plan, assigned=())  # help shows the arguments of one question
