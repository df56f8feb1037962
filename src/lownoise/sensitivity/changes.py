# SPDX-License-Identifier: Apache-2.0
"""What one neighbour can change.

How far a body reaches in noise, rounded up, it says itself: `AbstractBody.radius_up`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.sensitivity.relations import sensitivity_set, word_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.relations import Word
    from lownoise.sets.bodies import AbstractBody, ImageBody
    from lownoise.sets.domains import AbstractDomain, CubePower

    Body = AbstractBody
    Reach = AbstractBody


def sensitivity_body(domain: AbstractDomain, relation: Word | str, center: Vector) -> Body:
    """Return `sensitivity_set`."""
    return sensitivity_set(domain, relation, center)


def changes(
    domain: AbstractDomain, relation: Word | str, center: Vector, pivots: Integers, step: Vector
) -> AbstractBody:
    """Return `domain.lifted` or `domain.differences`."""
    if word_of(relation).counted:
        return domain.lifted(pivots, step, center)
    return domain.differences(pivots, step)


def parity_changes(
    size: Vector, domain: CubePower, relation: Word | str, offset: Vector
) -> ImageBody:
    """Return `domain.parity_lifted` or `domain.parity_differences`."""
    if word_of(relation).counted:
        return domain.parity_lifted(size, offset)
    return domain.parity_differences(size)
