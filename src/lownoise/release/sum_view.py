# SPDX-License-Identifier: Apache-2.0
"""What is particular to totals: they are means, times the number of records."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.bounds.means import directional_bound
from lownoise.noise import AdditiveMechanism
from lownoise.numbers.arrays import frozen
from lownoise.release.group_words import missing_values
from lownoise.release.mean_view import MeanView
from lownoise.release.pure_bound import least_of
from lownoise.release.views import AbstractRowView
from lownoise.sensitivity.relations import checked_relation

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Sum  # noqa: F401 (in quotes, below)
    from lownoise.release.terms import Terms
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates


@final
class SumView(AbstractRowView["Sum"]):
    """Totals of columns."""

    @cached_property
    def mean_terms(self) -> Terms:
        """The terms of the mean that totals are: of one record where these come and go."""
        own, totals, unit = self._terms, self._terms.mechanism.totals, self._terms.privacy_unit
        coming = self.question.coming
        if unit is not None:
            coming, unit = self.question.of_units(unit.total, unit.rows), unit.of_totals
        return type(own)(
            question=coming if own.size is None else self.question.mean,
            budget=own.budget,
            order=own.order,
            name=own.name,
            weights=own.weights,
            evidence=own.evidence,
            plain_evidence=own.plain_evidence,
            mechanism=AdditiveMechanism(totals.inner, own.mechanism.noise, unit),
        )

    @property
    def _inner(self) -> MeanView:
        found = self.mean_terms.view
        assert isinstance(found, MeanView)  # noqa: S101 (the question is a mean)
        return found

    @property
    def _times(self) -> int:
        return self._terms.size or 1

    @property
    def names(self) -> tuple[str, ...]:
        """The totals of the columns."""
        return tuple(f"sum({name})" for name in self.question.columns)

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        return self._inner.note.replace("mean", "sum", 1)

    @property
    def weights(self) -> Vector:
        """What one unit of each total's error matters, shape (d,)."""
        return self._inner.weights

    @property
    def weighted(self) -> tuple[Vector, None]:
        """The deviations; with pure noise times the weights."""
        return frozen(self._inner.weighted[0] * self._times), None

    @property
    def compared(self) -> tuple[Vector, None]:
        """The deviations, times the weights."""
        return frozen(self._inner.compared[0] * self._times), None

    def unit(self, *, plain: bool = False) -> str:
        """Return "the answers": columns have units of their own."""
        return self._inner.unit(plain=plain)

    @property
    def upper(self) -> float:
        """At least the objective of the noise."""
        return float(np.nextafter(self._inner.upper * self._times, math.inf))

    @property
    def body(self) -> AbstractBody:
        """All changes that one neighbour makes to the summed coordinates."""
        return self._inner.body

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed coordinates to all answers; None where all are summed."""
        return self._inner.embed

    @property
    def chosen(self) -> Coordinates:
        """The coordinates that are summed, and how all follow."""
        return self._inner.chosen

    @cached_property
    def least(self) -> float:
        """At most the least objective of Gaussian noise at μ = 1."""
        return self._inner.least * self._times

    @cached_property
    def plain_least(self) -> float:
        """As `least`, for weights of one."""
        return self._inner.plain_least * self._times

    @property
    def binding_least(self) -> float:
        """Where records come and go every table has room for each of them."""
        own = self._inner
        return own.plain_least if self._terms.size is None else own.binding_least * self._times

    @cached_property
    def pure_least(self) -> float:
        """As `binding_least`, with the user's weights."""
        if self._terms.size is None:
            return least_of(self.mean_terms)
        return self._inner.pure_least * self._times

    def unbeaten(self, epsilon: float) -> float:
        """Return what no ε-DP mechanism's error is below on every table."""
        if self._terms.size is None:
            return directional_bound(self.pure_least, epsilon=epsilon)
        return self._inner.unbeaten(epsilon) * self._times

    @property
    def most(self) -> float:
        """How often each change that proves `least` can be made."""
        return math.inf if self._terms.size is None else self._inner.most

    @property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (d,)."""
        return frozen(self._inner.isotropic * self._times)

    @property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (d,)."""
        return frozen(self._inner.laplace * self._times)

    @property
    def left_out(self) -> str:
        """Those that lack a value, where these are dropped."""
        return self._inner.left_out

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release of totals rests on, whatever its noise, one sentence each."""
        terms, question = self._terms, self.question
        return (
            self.neighbour(checked_relation(terms.relation).sentence),
            *question.mean.domain.assumptions,
            missing_values(drops=question.mean.drops_missing),
            "The totals are unbiased; their number of rows is not released."
            if terms.size is None
            else f"The number of rows, {terms.size:,}, is public.",
        )

    @property
    def program(self) -> AbstractDomain | None:
        """The domain that a file of the terms only names, None where it holds all of it."""
        return self._inner.program

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        return {"names": list(self.names), **super().derived}
