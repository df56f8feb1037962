# SPDX-License-Identifier: Apache-2.0
"""How sums by groups stray: the part that counts have no share in, and of several margins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.noise import baselines
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.group_noise import group_tables
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.residual import ResidualNoise
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.questions import Marginals
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sensitivity.factors import AbstractShape


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
        mechanism: of a mean.
        embed: as of `sums_embed`.
    """
    if embed is None:
        own = mechanism.answer_scales(None)[0]
        return np.append(own[:-1], 0.0)
    return mechanism.answer_scales(sums_embed(mechanism, embed))[0]


def sums_factor(mechanism: AdditiveMechanism, embed: Vector | None) -> AbstractShape:
    """Return a factor of the covariance of a mean's answers as if the count had no noise.

    Args:
        mechanism: of a mean.
        embed: as of `sums_embed`.
    """
    unit, noise = mechanism.totals.unit, mechanism.noise
    if not isinstance(noise, GaussianNoise):
        values, axes = np.linalg.eigh(sums_covariance(mechanism, embed))
        return DenseShape(axes * np.sqrt(np.maximum(values, 0.0)))
    if embed is None:
        return noise.answer_factor(np.append(unit[:-1], 0.0), None)
    return noise.answer_factor(unit, sums_embed(mechanism, embed))


def sums_covariance(mechanism: AdditiveMechanism, embed: Vector | None) -> Vector:
    """Return that covariance; arguments as of `sums_factor`."""
    return mechanism.noise.answer_covariance(mechanism.totals.unit, sums_embed(mechanism, embed))


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


def without_all_rows(question: AbstractGrouped, noise: ResidualNoise) -> ResidualNoise:
    """Return the noise on tables of counts but for that of all rows."""
    deviations = noise.orbit_deviations.copy()
    deviations[0] = 0.0
    return group_tables(question, deviations)[1]


def laplace_scales(question: AbstractGrouped, budget: Budget, widths: Vector) -> Vector:
    """Return standard deviations of Laplace noise, the budget split evenly, shape (m,).

    Args:
        question: what is asked.
        budget: of all answers.
        widths: how far a neighbour moves each number of one margin.
    """
    margins = list(question.groups.sets())
    own = baselines.split_laplace(budget, np.tile(widths, len(margins)))
    sizes = [a.size for a in question.groups.attributes]
    parts = zip(margins, own.reshape(len(margins), -1), strict=True)
    return frozen(
        np.concatenate([np.tile(part, math.prod(sizes[i] for i in s)) for s, part in parts])
    )
