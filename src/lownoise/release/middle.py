# SPDX-License-Identifier: Apache-2.0
"""Where a mean can be: the middle of its columns' bounds, and how far from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.domains import AbstractDomain

_NEAR = 1e-9  # of a column's range: a center as near as that to the middle is the middle


def middle(domain: AbstractDomain) -> Vector:
    """Return the middle of each column's bounds, shape (d,): the domain's center where it is."""
    found = domain.lower / 2 + domain.upper / 2
    near = np.abs(found - domain.center) <= _NEAR * (domain.upper - domain.lower)
    return domain.center if np.all(near) else found


def farthest_mean(domain: AbstractDomain) -> Vector:
    """Return how far a mean is from the `middle` at most, in each column, shape (d,)."""
    about = middle(domain)
    return np.maximum(domain.upper - about, about - domain.lower)
