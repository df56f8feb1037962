# SPDX-License-Identifier: Apache-2.0
"""A question and a budget become what each person's device sends; no data are read.

The ellipsoid is fitted by Γ_p(K), wherever it may stand; every randomizer that takes points of the
ball, of the cube or labels is fitted to its encoder, and the one of the least error is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError, quoted
from lownoise.local_model import RANDOMIZERS
from lownoise.local_model.terms import LocalTerms, answer_weights
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.local_fit import compare, encoders_of, encoders_of_marginals
from lownoise.planning.local_plan import LocalPlan
from lownoise.planning.verb import plan
from lownoise.privacy import gaussian_dp
from lownoise.privacy.local_budget import checked_local
from lownoise.questions import Marginals, Mean
from lownoise.sets.domains import AbstractDomain
from lownoise.solvers import RTOL

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.local_model import AbstractEncoder
    from lownoise.planning.release_plan import Plan
    from lownoise.privacy.local_budget import LocalDP

_LONGEST_NAME = 100


def local(
    question: AbstractDomain | Mean | Marginals,
    budget: LocalDP,
    *,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    mechanism: str | None = None,
    name: str = "",
    rtol: float = RTOL,
) -> LocalPlan:
    """Fit what each person's device sends, so that nobody else sees a record.

    Args:
        question: what is estimated: the mean of a domain's records, `ln.Ball(10)`, or of named
            columns, `ln.Mean(columns, domain)`; or the shares of labels and of their combinations,
            `ln.Marginals({"city": [...]}, way=1)`.
        budget: `ln.local_dp(epsilon)`, or `ln.local_dp(epsilon, delta)`, of one report.
        order: p in [2, ∞], the norm of the error that is made small.
        weights: what one unit of each answer's error matters, above 0; ones by default.
        mechanism: the only randomizer to fit, by its name in `comparison`; by default all that fit
            are compared, and the one of the least error is taken.
        name: of the collection. Reports name their plan, and those of another collection (another
            month's, of the same question) are not counted in this one.
        rtol: how close to the least ellipsoid, relatively.

    Raises:
        PlanError, BudgetError: where an argument is out of range, or no randomizer fits.
        DomainError: where the domain is of a kind that has neither ellipsoid nor ranges.

    Examples:
        >>> import lownoise as ln
        >>> means = ln.local(ln.Ball(10), ln.local_dp(1.0))
        >>> means.error > means.lower_bound > 0
        True
        >>> reports = [means.randomize([0.5] + [0.0] * 9) for _ in range(100)]
        >>> means.aggregate(reports).estimate.shape
        (10,)
    """
    asked, encoders = _asked(question)
    allowed = checked_local(budget)
    p = checked_order(order)
    fitted = _curator(asked, p, weights, checked_rtol(rtol))
    omega = frozen(answer_weights(fitted.terms))
    if isinstance(asked, Mean):
        encoders = encoders_of(asked, p, omega, rtol)
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise PlanError(f"name={quoted(name)} is no text of at most {_LONGEST_NAME} characters")
    if mechanism is not None and mechanism not in RANDOMIZERS.names:
        known = ", ".join(RANDOMIZERS.names)
        raise PlanError(f"mechanism={quoted(mechanism)} is unknown; give one of {known}")
    best, rows = compare(encoders, allowed, p, omega, mechanism)
    terms = LocalTerms(
        encoder=best[0],
        randomizer=best[1],
        budget=allowed,
        order=p,
        weights=omega,
        name=name,
        alternatives=rows,
        curator=fitted.terms,
    )
    return LocalPlan(terms, asked)


def _asked(question: Any) -> tuple[Mean | Marginals, list[AbstractEncoder]]:  # noqa: ANN401
    """Return the question, and the encoders that it has whatever the domain's ellipsoid is."""
    if isinstance(question, AbstractDomain):
        question = Mean([f"x{i}" for i in range(question.dimension)], question)
    if isinstance(question, Marginals):
        return question, encoders_of_marginals(question)
    if not isinstance(question, Mean):
        raise PlanError(
            f"question={type(question).__name__} is nothing that devices report; give a domain, "
            "ln.Mean(columns, domain) or ln.Marginals(sizes, way=1)",
        )
    if question.domain.source is not question.domain:
        raise PlanError("ln.Moments are not reported by devices; give ln.Mean(columns, domain)")
    if question.drops_missing:
        raise PlanError('missing="drop" leaves reports out; use "center" or a point')
    return question, []


def _curator(question: Mean | Marginals, order: float, weights: Any, rtol: float) -> Plan:  # noqa: ANN401
    """Return the least Gaussian noise on one record: its certificate bounds Γ_p(K − K)."""
    return plan(
        question,
        budget=gaussian_dp(1.0),
        relation="substitute",
        size=1,
        order=order,
        weights=weights,
        rtol=rtol,
    )
