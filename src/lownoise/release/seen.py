# SPDX-License-Identifier: Apache-2.0
"""Which view terms have: one row a kind of question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.questions import Marginals, Mean, Parity, Queries
from lownoise.release.marginals import MarginalView
from lownoise.release.views import AbstractView, MeanView, ParityView, QueryView

if TYPE_CHECKING:
    from lownoise.release.terms import Terms

VIEWS: dict[type, type[AbstractView]] = {
    Mean: MeanView,
    Queries: QueryView,
    Parity: ParityView,
    Marginals: MarginalView,
}


def view_of(terms: Terms) -> AbstractView:
    """Return what is particular to the question of some terms.

    Raises:
        PlanError: where no view is known for it.
    """
    kind = type(terms.question)
    if kind not in VIEWS:
        raise PlanError(f"question={kind.__name__} is of no known kind; plan again")
    return VIEWS[kind](terms)
