# SPDX-License-Identifier: Apache-2.0
"""What can change in one round of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.bodies import SymmetricBox, SymmetricPoints
from lownoise.sets.domains import AbstractDomain, Box, Points, Polytope

if TYPE_CHECKING:
    from lownoise.questions import Mean
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates


def spanned(domain: AbstractDomain, relation: Relation) -> AbstractDomain:
    """Return a domain that spans the flat which values keep to, with 0 where a round becomes 0.

    Args:
        domain: the values of a round.
        relation: what a neighbour is.
    """
    if relation == "add_remove" and isinstance(domain, Points):
        # the span of all points with 0, not the flat through them
        return Points(np.vstack([np.zeros(domain.dimension), domain.points]))
    return domain


def round_changes(
    question: Mean, chosen: Coordinates, relation: Relation
) -> tuple[AbstractBody, bool]:
    """Return the changes of one round, and whether twice them is meant: K − K for ±K.

    Args:
        question: the columns of a round's value, their domain, center and stand-in.
        chosen: which coordinates are summed.
        relation: what a neighbour is.
    """
    domain, kept = question.domain, chosen.pivots
    if relation != "add_remove":
        return sensitivity_set(domain, relation, question.center, chosen), False
    if isinstance(domain, Box):
        return SymmetricBox(frozen(np.maximum(np.abs(domain.lower), np.abs(domain.upper)))), False
    if isinstance(domain, (Points, Polytope)):
        return SymmetricPoints(frozen(np.ascontiguousarray(domain.points[:, kept]))), False
    return sensitivity_set(domain, "substitute", question.center, chosen), True
