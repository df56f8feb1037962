# SPDX-License-Identifier: Apache-2.0
"""What a bound is asked of and begins with: Γ_p of a domain, or of its differences, from below.

And of bounds on means: what is asked, checked, and the bound that comes of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lownoise.bounds import HARDT_TALWAR, HENZINGER, NIKOLOV_TANG, Bound, approximate
from lownoise.errors import BudgetError, PlanError, quoted
from lownoise.numbers.arguments import checked_level, checked_order, is_integer
from lownoise.numbers.rounding import shrunk
from lownoise.sets.domains import AbstractDomain, Difference, difference_body
from lownoise.theory.enclosure import Enclosure, enclose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


__all__ = ["HARDT_TALWAR", "HENZINGER", "NIKOLOV_TANG", "Bound", "gamma_down"]


def gamma_down(
    asked: AbstractDomain | Enclosure,
    *,
    differences: bool,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
) -> float:
    """Return at most Γ_p(LK), or with `differences` at most Γ_p(LK − LK), as proved.

    An enclosure of K proves Γ_p(K − K) ≥ √(2(d+1)/d)·Γ_p(K), because a set of diameter D lies in a
    ball of radius D·√(d/(2(d+1))) (Jung), in the norm of the ellipsoid around K − K (ours); the
    domain itself proves more where it is symmetric.

    Args:
        asked: K, the domain of the records, or an `Enclosure` of it.
        differences: which of the two is wanted.
        order: p in [2, ∞]; that of the enclosure, where one is given.
        weights: ω > 0 on the m answers; ones by default; not beside an enclosure, which
            has its own.
        workload: L, shape (m, d); the identity by default. Likewise.

    Raises:
        PlanError: where an argument is out of range, or an enclosure is given with weights, with a
            workload or with an order other than its own.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> simplex = ln.Points([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        >>> [round(gamma_down(simplex, differences=wide), 6) for wide in (False, True)]
        [1.154701, 2.0]
        >>> found = ln.theory.enclose(simplex)
        >>> round(gamma_down(found, differences=True), 6)  # by Jung's theorem, in 3 dimensions
        1.885618
    """
    if not isinstance(asked, Enclosure):
        body = difference_body(asked) if differences else asked
        return enclose(body, order=order, weights=weights, workload=workload).certificate.lower
    if isinstance(asked.domain, Difference):
        raise PlanError(
            f"an enclosure of {asked.domain!r} is one of changes; enclose the domain of the records"
        )
    if weights is not None or workload is not None or asked.order != checked_order(order):
        raise PlanError(
            f"an enclosure has an order ({asked.order:g}), weights and a workload of its own; give "
            "its order and no weights or workload, or give the domain",
        )
    gamma, d = asked.certificate.lower, asked.domain.dimension
    return shrunk(gamma * math.sqrt(2 * (d + 1) / d)) if differences else gamma


Form = Literal["best", "published"]
Relation = Literal["substitute", "add_remove"]
Asked = AbstractDomain | Enclosure

EVERY = "every dataset"
_MOST_RECORDS = 2**53


def checked_records(size: object) -> int:
    """Return n, a public number of records.

    Raises:
        PlanError: where it is none.
    """
    if is_integer(size) and 1 <= size <= _MOST_RECORDS:
        return int(size)
    raise PlanError(f"size={quoted(size)} is no number of records; give one from 1 to 2^53")


class MeanAsked:
    """What is asked of a bound, checked."""

    def __init__(
        self,
        domain: Asked,
        size: int | None,
        relation: Relation,
        order: float,
        weights: ArrayLike | None,
        workload: ArrayLike | None,
        form: Form = "best",
    ) -> None:
        if form not in ("best", "published"):
            raise PlanError(f"form={form!r} is unknown; give best or published")
        if relation not in ("substitute", "add_remove"):
            raise PlanError(f"relation={relation!r} is unknown; give substitute or add_remove")
        if relation == "substitute":
            checked_records(size)
        elif size is not None:
            raise PlanError(
                f"size={quoted(size)} is not public where records come and go; leave it out, or "
                "give relation='substitute'",
            )
        self.size = int(size) if size is not None else 1
        self.relation, self.form, self.order = relation, form, checked_order(order)
        self.domain = domain
        self._given = {"order": order, "weights": weights, "workload": workload}

    @property
    def body(self) -> AbstractDomain:
        """K."""
        return self.domain.domain if isinstance(self.domain, Enclosure) else self.domain

    @property
    def answers(self) -> int:
        """M, at least the dimension of the answers' changes."""
        workload = self._given["workload"]
        return self.body.dimension if workload is None else len(np.atleast_2d(workload))

    @property
    def quantity(self) -> str:
        """What is bounded."""
        power = "∞" if math.isinf(self.order) else f"{self.order:g}"
        what = "mean" if self.relation == "substitute" else "sum"
        return f"(E‖error of the {what}‖_{power}²)^{{1/2}}"

    def gamma(self, *, differences: bool) -> float:
        """Return at most Γ_p of what is asked of K, or of K − K."""
        return gamma_down(self.domain, differences=differences, **self._given)  # type: ignore[arg-type]

    def either(self, epsilon: float, delta: float) -> approximate.Either:
        """Return what is known under (ε, δ), on Γ_p = 1 times the domain's own."""
        counted = self.relation == "add_remove"
        gamma = self.gamma(differences=not counted)  # which refuses what is no domain or workload
        d = min(self.body.dimension, self.answers)
        if counted:
            return approximate.unbiased_add_remove(gamma, epsilon, delta, d)
        return approximate.unbiased_substitute(gamma, self.size, epsilon, delta, d)

    def bound(self, factor: float, binds: str, theorem: str, ours: str, over: str = EVERY) -> Bound:
        """Return factor·Γ_p/n, Γ_p of K − K, or of K: published, or records come and go."""
        wide = self.relation == "substitute" and self.form == "best"
        value = shrunk(factor / self.size * self.gamma(differences=wide))
        return self.stated(value, binds, theorem, ours, over)

    def stated(
        self,
        value: float,
        binds: str,
        theorem: str,
        ours: str,
        over: str,
        alternative: Bound | None = None,
    ) -> Bound:
        """Return a lower bound; its constant is on Γ_p of what the bound is proved with."""
        wide = self.relation == "substitute" and self.form == "best"
        gamma = self.gamma(differences=wide)
        return Bound(
            value=value,
            side="lower",
            quantity=self.quantity,
            constant=value / gamma if gamma else 0.0,
            alternative=alternative,
            binds=binds,
            over=over,
            theorem=f"{NIKOLOV_TANG}, {theorem}",
            ours=ours,
        )


def clauses(
    asked: MeanAsked,
    found: approximate.Either,
    share: float | None,
    binds: str,
    theorem: str,
    where: tuple[str, str],
) -> Bound:
    """Return a bound of two clauses: both together, or each on its own where a share is given."""
    ours = "every constant"
    if share is None:
        return asked.stated(found.least, binds, theorem, ours, " or ".join(where))
    number = checked_level(share, "share")
    here, beside = found.split(number)
    other = asked.stated(beside, binds, theorem, ours, where[1])
    return asked.stated(here, binds, theorem, ours, where[0], other)


def budget_of(budget: object, kinds: type[Any] | tuple[type[Any], ...], wanted: str) -> Any:  # noqa: ANN401
    """Return the budget.

    Raises:
        BudgetError: where it is of another kind.
    """
    if not isinstance(budget, kinds):
        raise BudgetError(f"budget={quoted(budget)} is not what this bound is of; give {wanted}")
    return budget
