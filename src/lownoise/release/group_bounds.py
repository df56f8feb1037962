# SPDX-License-Identifier: Apache-2.0
"""What no noise of means and totals by groups beats, from what is known of a mean and of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.exchange import TotalsBound
from lownoise.certificate.groups import SubstituteBound, single_of
from lownoise.sensitivity.relations import SUBSTITUTE, sensitivity_set

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.release.mean_view import MeanView
    from lownoise.release.terms import Terms

_TINY = 2.0**-50


@final
@dataclass(frozen=True, eq=False)
class GroupBounds:
    """Lower bounds of groups.

    Args:
        terms: of the groups.
        inner: of a mean.
        tables: the view of the marginals of groups.
        errors: how far the answers of each kind of margin stray, weighted, in a row.
    """

    terms: Terms
    inner: MeanView
    tables: Any
    errors: Vector

    def least(self, own: float, dual: AbstractDual | None, weights: Vector) -> float:
        """Return what is proved of the groups, from what is of a mean and with what evidence.

        Args:
            own: of a mean.
            dual: the evidence on it; None where nothing is to be made of it for all rows.
            weights: ω of sums and the count, as the evidence has it.
        """
        terms, view = self.terms, self.tables
        coming = own * view.least * terms.rows * (1 - _TINY) if terms.size is None else 0.0
        if terms.exchanged:  # which hides what a public number of rows does, and more
            return max(coming, self._of_exchange(own, dual, weights) * terms.rows * (1 - _TINY))
        return coming if terms.size is None else self._of_exchange(own, dual, weights)

    def _of_exchange(self, own: float, dual: AbstractDual | None, weights: Vector) -> float:
        """Return the same where one record becomes another of any group."""
        terms, view, inner = self.terms, self.tables, self.inner
        bound = SubstituteBound(
            tables=terms.evidence.tables,
            changes=view.body,
            order=terms.order,
            weights=view.matters,
        )
        question: Any = terms.question
        if not question.counted:
            return max(bound.least(own), self._of_totals(own, dual, weights))
        if dual is None or dual.query_weights.size != question.length:
            return bound.least(own)
        mean = question.mean
        image = mean.domain.as_image()
        middle = None if image is None else (image.center - mean.center)[inner.chosen.pivots]
        found = bound.of_values(own, dual, weights, inner.body, inner.embed, middle)
        return max(found, self._mixed(dual, weights))

    def _of_totals(self, own: float, dual: AbstractDual | None, weights: Vector) -> float:
        """Return what changes within a group, and between groups, prove of totals."""
        terms, view = self.terms, self.tables
        question: Any = terms.question
        mean = question.mean
        image = mean.domain.as_image()
        symmetric = image is not None and not np.any(image.center)
        # a record keeps its group and takes the opposite values
        opposite = 2 * own * view.least * symmetric * (1 - _TINY)
        return float(max(opposite, self._mixed(dual, weights)))

    def _mixed(self, dual: AbstractDual | None, weights: Vector) -> float:
        """Return what evidence on differences proves, and that on what a record adds."""
        terms, view, inner = self.terms, self.tables, self.inner
        question: Any = terms.question
        mean, apart = question.mean, terms.evidence.apart
        if apart is None or dual is None:
            return 0.0
        differences = sensitivity_set(mean.domain, SUBSTITUTE, mean.center, inner.chosen)
        found = TotalsBound(
            tables=terms.evidence.tables,
            orbits=view.body.orbits,
            order=terms.order,
            weights=view.matters,
            values=(dual, inner.body),
            apart=(apart, differences),
            single=single_of(dual, inner.body) if question.counted else None,
        )
        errors = self.errors.reshape(len(view.matters), -1)
        return found.least(weights, inner.embed, errors)
