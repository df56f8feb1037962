# SPDX-License-Identifier: Apache-2.0
"""What others call of domains, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.domains.coordinates import Coordinates as Coordinates  # noqa: PLC0414, TC001

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.changes import Body
    from lownoise.sensitivity.relations import Change, Relation
    from lownoise.sets.domains import AbstractDomain


def coordinates(domain: AbstractDomain) -> Coordinates:
    """Return `domain.coordinates()`."""
    return domain.coordinates()


def summed_body(
    domain: AbstractDomain, relation: Relation | str, center: Vector, chosen: Coordinates
) -> Body:
    """Return `sensitivity_set`."""
    return sensitivity_set(domain, relation, center, chosen)


def check_change(change: Change, domain: AbstractDomain, chosen: Coordinates) -> None:
    """Check the change; see `Change.check`."""
    change.check(domain, chosen)


def still_body(domain: AbstractDomain, center: Vector, chosen: Coordinates) -> Body:
    """Return `domain.closed_translates`."""
    return domain.closed_translates(chosen.pivots, center)


def fits(domain: AbstractDomain, chosen: Coordinates) -> bool:
    """Return `domain.fits`."""
    return domain.fits(chosen)
