# SPDX-License-Identifier: Apache-2.0
"""Every theorem that bounds a plan's error from below: whom it binds, on which tables, how far.

What a theorem needs of a question is one number, the least error of Gaussian noise at μ = 1: a
constant of the budget times that is the bound. Beside it: whether a table has one neighbour for
each change or two that are each other's, and how often each change can be made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from lownoise.bounds import (
    HARDT_TALWAR,
    NIKOLOV_TANG,
    Bound,
    approximate,
    every,
    geometric_down,
    may_have_room,
    unbiased_add_remove,
    unbiased_local,
    unbiased_substitute,
)
from lownoise.numbers.rounding import shrunk, square_up
from lownoise.privacy import ApproxDP, PureDP
from lownoise.release.guarantees import brief_up
from lownoise.sensitivity.relations import Change

if TYPE_CHECKING:
    from lownoise.noise.abstract import Loss
    from lownoise.privacy import Budget
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

_ERROR = "(E‖error‖_p²)^{1/2}"
_SOME = "some table"


class AbstractBounded(ABC):
    """What theorems ask of the answers of some terms, and what they say of them."""

    _terms: Terms

    @property
    @abstractmethod
    def binding_least(self) -> float:
        """At most the least error of Gaussian noise at μ = 1 on the answers; 0 where none binds."""

    @property
    @abstractmethod
    def dimension(self) -> float:
        """How many answers there are."""

    @property
    def where(self) -> str:
        """On which datasets bounds hold, in words."""
        if isinstance(self._terms.relation, Change):
            return "a table with a row that has room in its domain for every change"
        return "any dataset"

    @property
    def alone(self) -> bool:
        """Whether a table has one neighbour for each change, not two that are each other's too."""
        if self._terms.exchanged:  # a unit has these rows, or those; evidence is about both
            return False
        return self._terms.size is None or isinstance(self._terms.relation, Change)

    @property
    def most(self) -> float:
        """How often each change that proves `binding_least` can be made; 0 where unknown."""
        return math.inf if self._terms.size is None else 0.0

    @property
    def pure_least(self) -> float:
        """As `binding_least`, of the answers' error as pure noise has it."""
        return self.binding_least

    def unbeaten(self, epsilon: float) -> float:
        """Return what every ε-DP mechanism's error is at least on some table; 0 where unknown."""
        return 0.0

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """What binds Gaussian noise on the answers, the bound that is told first, first."""
        return unbiased_bounds(
            self.binding_least,
            self._terms.budget,
            dimension=self.dimension,
            alone=self.alone,
            where=self.where,
            most=self.most,
        )

    def pure_bounds(self, budget: PureDP | ApproxDP, loss: Loss) -> tuple[Bound, ...]:
        """Return what binds pure noise on the answers, the greatest first; none that is 0.

        Where the noise is pure, what holds of every ε-DP mechanism; under (ε, δ) also what holds of
        every mechanism within that.

        Args:
            budget: the budget.
            loss: what the noise reveals.
        """
        least, alone, where, most = self.pure_least, self.alone, self.where, self.most
        found: tuple[Bound, ...] = ()
        if isinstance(budget, ApproxDP):
            found = approximate_bounds(
                least, budget, dimension=self.dimension, alone=alone, where=where, most=most
            )
        if loss.epsilon > 0 and not loss.delta:
            pure = isinstance(budget, PureDP)
            epsilon, name = (budget.epsilon, str(budget)) if pure else (loss.epsilon, "")
            found += pure_bounds(
                least,
                epsilon,
                alone=alone,
                where=where,
                most=most,
                unbeaten=self.unbeaten(epsilon),
                name=name,
            )
        return _greatest_first(found)


def unbiased_bounds(
    least: float,
    budget: Budget,
    *,
    dimension: float,
    alone: bool,
    where: str,
    most: float = 0.0,
) -> tuple[Bound, ...]:
    """Return what no unbiased mechanism's error is below, the bound that is told first, first.

    That one binds every mechanism that is ρ-zCDP for the ρ = μ²/2 that the budget allows a
    Gaussian. Under (ε, δ) there are more, see `approximate_bounds`.

    Args:
        least: at most the least error of Gaussian noise at μ = 1, of the answers; 0 where nothing
            is known.
        budget: the budget.
        dimension: how many answers there are, at least the dimension of their changes.
        alone: whether a dataset has one neighbour for each change, and not two that are each
            other's as well: under `add_remove`, and for a body of changes.
        where: on which datasets.
        most: as that of `approximate_bounds`.
    """
    rho = square_up(budget.gaussian_parameter()) / 2
    # the least noise is that of all differences already
    value = unbiased_add_remove(least, rho) if alone else unbiased_substitute(least, 1, rho)
    own = _unbiased(value, least, f"{brief_up(rho)}-zCDP", where, "Theorem 43")
    if not isinstance(budget, ApproxDP):
        return (own,)
    others = approximate_bounds(
        least, budget, dimension=dimension, alone=alone, where=where, most=most
    )
    return (own, *others)


def pure_bounds(
    least: float,
    epsilon: float,
    *,
    alone: bool,
    where: str,
    most: float = 0.0,
    unbeaten: float = 0.0,
    name: str = "",
) -> tuple[Bound, ...]:
    """Return what binds an unbiased ε-DP mechanism, the greatest first; none that is 0.

    One is of every ε-DP mechanism, biased or not, on some table (see `bounds.every`); one of the
    unbiased ones, on every table.

    Args:
        least: at most the least error of Gaussian noise at μ = 1, of the answers; 0 where nothing
            is known.
        epsilon: ε, at least the mechanism's.
        alone: as that of `unbiased_bounds`.
        where: on which datasets, of unbiased mechanisms.
        most: as that of `approximate_bounds`.
        unbeaten: at most the greatest error over all tables of every ε-DP mechanism, if there is a
            proof of that beside this one.
        name: what mechanisms are; by default ε-DP.

    Examples:
        >>> for bound in pure_bounds(1.0, 0.5, alone=True, where="any dataset", most=math.inf):
        ...     print(bound.binds, "on", bound.over, round(bound.value, 4))
        every mechanism that is 0.5-DP, biased or not, on some table 2.7992
        every unbiased mechanism that is 0.5-DP on any dataset 1.9793
    """
    named = name or f"{brief_up(epsilon)}-DP"
    if alone:
        value = approximate.unbiased_add_remove(least, epsilon, 0.0, 1).here
    else:
        value = unbiased_local(least, 1, epsilon)
    constant = 0.0
    if most >= 1:
        endless = math.isinf(most)
        constant = (
            geometric_down(epsilon) if endless else every.finite_down(int(most), epsilon=epsilon)
        )
    all_of_them = Bound(
        value=max(unbeaten, shrunk(constant * least)),
        side="lower",
        quantity=_ERROR,
        constant=constant,
        binds=f"every mechanism that is {named}, biased or not,",
        over=_SOME,
        theorem=f"{HARDT_TALWAR}, Theorem 3.3",
        ours="averaged or along directions, and the constant",
    )
    return _greatest_first((all_of_them, _unbiased(value, least, named, where, "Theorem 42")))


def approximate_bounds(
    least: float,
    budget: ApproxDP,
    *,
    dimension: float,
    alone: bool,
    where: str,
    most: float = 0.0,
) -> tuple[Bound, ...]:
    """Return what binds an unbiased mechanism within (ε, δ), the greatest first; none that is 0.

    One is of unbiased mechanisms, on a dataset or beside it (see `bounds.approximate`); one of all
    mechanisms, on some table (see `bounds.every`).

    Args:
        least: at most the least error of Gaussian noise at μ = 1, of the answers; 0 where nothing
            is known.
        budget: (ε, δ).
        dimension: how many answers there are, at least the dimension of their changes.
        alone: as that of `unbiased_bounds`.
        where: on which datasets.
        most: how often each change that proves `least` can be made, all of them beside each other;
            ∞ where records come and go.
    """
    epsilon, delta = budget.epsilon, budget.delta
    if alone:
        both = approximate.unbiased_add_remove(least, epsilon, delta, max(dimension, 1))
    else:
        both = approximate.unbiased_substitute(least, 1, epsilon, delta, max(dimension, 1))
    beside = f"{where} or a neighbour of it"
    found = [_unbiased(both.least, least, str(budget), beside, "Theorem 4")]
    if most >= 1:
        constant = every.every_approx(epsilon, delta)
        if not math.isinf(most):
            constant = every.finite_down(int(most), epsilon=epsilon, delta=delta)
        found.append(
            Bound(
                value=shrunk(constant * least),
                side="lower",
                quantity=_ERROR,
                constant=constant,
                binds=f"every mechanism that is {budget}, biased or not,",
                over=_SOME,
                theorem="ours",
            )
        )
    return _greatest_first(tuple(found))


def least_with_room(
    terms: Terms, domain: AbstractDomain, least: float, *, several: bool = False
) -> float:
    """Return `least`; 0 where the relation is a body of changes that no record has room for.

    Args:
        terms: whose relation.
        domain: of a record.
        least: at most the least error of Gaussian noise at μ = 1.
        several: whether a neighbour changes several records; each then needs room for both.
    """
    changes = terms.relation
    fits = not isinstance(changes, Change) or may_have_room(domain, changes, both=several)
    return least if fits else 0.0


def _unbiased(value: float, least: float, named: str, over: str, theorem: str) -> Bound:
    return Bound(
        value=value,
        side="lower",
        quantity=_ERROR,
        constant=value / least if least else 0.0,
        binds=f"every unbiased mechanism that is {named}",
        over=over,
        theorem=f"{NIKOLOV_TANG}, {theorem}",
        ours="the constant",
    )


def _greatest_first(found: tuple[Bound, ...]) -> tuple[Bound, ...]:
    return tuple(sorted((own for own in found if own.value > 0), key=lambda own: -own.value))
