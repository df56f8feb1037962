# SPDX-License-Identifier: Apache-2.0
"""How sums by groups stray: the part that counts have no share in, and of several margins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.residual import ResidualNoise
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Marginals


def sums_embed(mechanism: AdditiveMechanism, embed: Vector | None) -> Vector:
    """Return the answers of a mean from what is summed as if the count had no noise, (m, r).

    Args:
        mechanism: of a mean, whose count is summed last.
        embed: the answers from what is summed; None where they are the same.
    """
    found = np.eye(mechanism.length) if embed is None else np.array(embed)
    found[:, -1] = 0.0
    return found


def sums_scales(mechanism: AdditiveMechanism, embed: Vector | None) -> Vector:
    """Return how the answers of a mean stray as if the count had no noise, shape (m,).

    Args:
        mechanism: with Gaussian noise.
        embed: as of `sums_embed`.
    """
    unit, noise = mechanism.totals.unit, mechanism.noise
    if embed is None:
        own = noise.deviations(unit, None)
        return np.append(own[:-1], 0.0)
    return noise.deviations(unit, sums_embed(mechanism, embed))


def tables_covariance(groups: Marginals, noise: ResidualNoise) -> Vector:
    """Return the covariance of the counts in all groups of all margins, shape (g, g).

    Args:
        groups: the margins.
        noise: on their residual spaces.
    """
    spaces = list(groups.sets())
    rows = [np.hstack([_between(groups, noise, b, c) for c in spaces]) for b in spaces]
    return np.asarray(np.vstack(rows), dtype=np.float64)


def _between(
    groups: Marginals, noise: ResidualNoise, first: Sequence[int], second: Sequence[int]
) -> Vector:
    """Return the covariance of the groups of two margins."""
    sizes, orbits = [a.size for a in groups.attributes], noise.layout.orbits
    both = sorted({*first, *second})
    cells = [math.prod(sizes[i] for i in own) for own in (first, second)]
    total: Any = np.zeros(cells)
    common = [i for i in first if i in second and sizes[i] > 1]
    for choice in np.ndindex(*(2,) * len(common)):
        inside = [i for i, own in zip(common, choice, strict=True) if own]
        place = orbits.place.get(orbits.orbit(inside))
        if place is None:
            continue
        found = np.ones((1, 1))
        for i in both:
            n = sizes[i]
            rows, columns = (n if i in own else 1 for own in (first, second))
            part = np.full((rows, columns), 1.0)
            if i in inside:
                part = np.eye(n) - 1 / n
            else:
                part /= (n if i in first else 1) * (n if i in second else 1)
            found = np.kron(found, part)
        total += float(noise.variances[place]) * found
    return np.asarray(total)
