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
        question: what is asked, such as `ln.Mean(columns, domain)`, `ln.Marginals(sizes, way=k)`,
            `ln.Queries(matrix, universe)` or `ln.Parity(bits, degree)`. Or several questions that
            share the budget, by name or in a list. Then the arguments are those of `ln.together`,
            which has the arguments of one question in `options`.
        budget: `ln.zcdp(rho)`, `ln.gaussian_dp(mu)`, `ln.approx_dp(epsilon, delta)` or
            `ln.pure_dp(epsilon)`.
        relation: the neighbouring relation. "substitute": one record takes other values; `size` is
            public, and the answers are the means. "add_remove": the table has one record more or
            less; the answers are the sums about the question's center, and the count. Or a domain
            of changes, `ln.Ball(d, radius=0.5)`: one record, after clipping, changes by a point of
            this domain or its opposite; `size` is public, and the answers are the means.
        size: the public number of records; not under "add_remove", and not with `privacy_unit`.
        order: p in [2, ∞], the norm of the error that is minimised; `math.inf` for the largest.
        weights: for means, the weight of one unit of each column's error, shape (d,), above 0. The
            default is ones: the column with the widest range then dominates the total error.
            "range" is 1/(upper − lower): errors count relative to the columns' ranges.
        count_share: for means under "add_remove", the share of μ² that is spent on the count, in
            (0, 1). It multiplies the standard deviation of each sum by 1/√(1 − count_share)
            (approximately so for lists of points about another point than their middle, and for
            tensors of an even power of a ball). By default the share that minimises the error of
            the worst means, those at the edge of the domain, or 0.05 if that is better. With groups
            under "substitute" ½ by default, which costs sums nothing on a symmetric domain.
        rtol: the relative distance to the least noise at which the search ends. If it ends earlier,
            the guarantee is the same, the certificate is wider, and `status` says so.
        progress: called with a `Progress` (iteration, lower, upper, gap) during the search; an
            interrupt ends the search with the best noise found.
        mechanism: the name of one mechanism to use, as in `Plan.comparison`: "gaussian", "k_norm",
            "staircase", "ellipsoid", "recursive", "laplace", "laplace_histogram", "geometric",
            "randomized_response", under `approx_dp` "radial", and others. By default all that the
            budget allows are compared, and the one with the least ‖weights·(standard deviations)‖_p
            is used: Gaussian noise under `zcdp` and `gaussian_dp`, the others under `pure_dp`, all
            under `approx_dp`.
        uses: k, the number of releases of this plan that share the budget, 1 to 1,000,000. A ledger
            reserves the cost of all at the first, for this plan only. By default every release
            pays the full budget.
        privacy_unit: the column that identifies people, if a person may have several rows. A
            neighbour then has one person more or less, with all of their rows; under "substitute"
            any other rows of one person, or none. The number of rows is then private, and the
            answers are the sums and the count. By default each row is a person.
        rows_per_unit: m, the number of rows of each person that count: the first m. The noise grows
            with m, and the answers are about the rows that count.
        order_by: the columns that order the rows of a person, ascending. Ties are ordered by the
            columns that the question reads, the smallest values first, so with many ties the means
            are too small.
        null_unit: rows without an identifier: "drop" leaves them out, "one" makes them one person.
        unit_total: for `ln.Sum` with `privacy_unit`, a bound on what one person's rows add up to: a
            domain that contains 0, such as ln.Box([0], [500]), or the largest absolute total, one
            number for all columns or one for each. Totals are clipped to it. All rows count, unless
            `rows_per_unit` is given, too. The domain of the rows must be a box that contains 0.

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
