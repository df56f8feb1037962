# SPDX-License-Identifier: Apache-2.0
"""Totals of columns without their count: the integers of a mean, of which none is divided.

A record that comes or goes adds x to Σ x or takes it away: what noise must cover is the hull of K
and −K, as of a table in which one record changes by a point of K. Where the number of records is
public Σ x is n times the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines import Coding, TotalsQuery
from lownoise.noise.mechanism import AdditiveMechanism
from lownoise.noise.totals import AbstractTotals, check_public
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.relations import ADD_REMOVE
from lownoise.sets.domains import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.engines import Totals
    from lownoise.engines.queries import TableQuery
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.sums import Sum
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody

_BITS = 50  # of the greatest value of a column: codes of rows before units add them up
_FINEST = 1000  # their step is no less than 2^-1000


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SumTotals(AbstractTotals):
    """The integers of totals.

    Args:
        question: what is asked.
        inner: those of the mean that it is, of `size` records; of one whose codes are about zero
            where records come and go.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    question: Sum
    inner: MeanTotals
    size: int | None

    def __post_init__(self) -> None:
        check_public(self.size, self.relation, drops=self.question.mean.drops_missing)

    @property
    def relation(self) -> Relation:  # type: ignore[override]  # a field of others
        """What a neighbour is."""
        return ADD_REMOVE if self.size is None else self.inner.relation

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.inner.length

    @property
    def changes(self) -> AbstractBody:
        """The set of all changes that one neighbour makes to the integers."""
        return self.inner.changes

    @property
    def becoming(self) -> AbstractBody:
        """What a record changes that becomes another: by a difference of two."""
        return self.inner.becoming

    @property
    def each(self) -> TotalsQuery | None:
        """What a row of a box adds to a unit's total: integers so fine that none is off by more.

        They are read before totals are clipped and coded, so that nothing of privacy is in them.
        """
        mean = self.question.mean
        own = mean.domain
        if self.size is not None or not isinstance(own, Box):
            return None
        _, powers = np.frexp(np.maximum(np.abs(own.lower), np.abs(own.upper)))
        coding = Coding(
            columns=mean.sources,
            lower=own.lower,
            upper=own.upper,
            center=frozen(np.zeros(own.dimension)),
            missing=mean.missing,
            step=frozen(np.ldexp(1.0, np.maximum(powers - _BITS, -_FINEST))),
        )
        return TotalsQuery(coding, drops_missing=mean.drops_missing)

    @property
    def reading(self) -> TableQuery[Totals]:
        """What is asked of a table."""
        from lownoise.engines.queries import totals_query

        return totals_query(self.inner.query)

    def exact(self, records: Totals) -> tuple[int, ...]:
        """Return the integers without noise: never to be shown."""
        return records.sums

    @property
    def stated(self) -> dict[str, Any]:
        """As of the mean."""
        return self.inner.stated

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each total, shape (r,)."""
        return self.inner.query.coding.step

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed totals to all; None where all are summed."""
        return self.inner.embed

    @property
    def rounding(self) -> Vector:
        """Half a step of each."""
        return self.inner.rounding

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the totals, shape (d,)."""
        return frozen(self.inner.totals(integers))


def sum_mechanism(question: Sum, values: AdditiveMechanism, size: int | None) -> AdditiveMechanism:
    """Return the mechanism of totals with the noise of a mean.

    Args:
        question: what is asked.
        values: of the mean that totals are.
        size: the public number of records, None under `add_remove`.
    """
    inner: Any = values.totals
    return AdditiveMechanism(SumTotals(question=question, inner=inner, size=size), values.noise)
