# SPDX-License-Identifier: Apache-2.0
"""Noise on marginals that is round on each residual space: how answers stray, ordered or not."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise.marginal_noise import AbstractMarginalNoise

if TYPE_CHECKING:
    from lownoise.noise.marginals import Sums
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.residuals import Blocks, Orbits
    from lownoise.sensitivity.residuals.orbits import Orbit


class AbstractRoundNoise(AbstractMarginalNoise):
    """Noise that is round on each residual space of all attributes, and independent of the others'.

    Or uncorrelated and of one variance in all directions, which is all that deviations ask.
    """

    @property
    @abstractmethod
    def full(self) -> Orbits:
        """The residual spaces of all attributes, ordered or not."""

    @property
    @abstractmethod
    def variances(self) -> Vector:
        """σ² of each of them, in records, shape (r,)."""

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return answer_variances(self.layout.blocks, self.full, self.variances)

    def sums_covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return the covariance of sums over ordered categories on one residual orbit, shape (k,).

        See `AbstractMarginalNoise.sums_covariance`.
        """
        inside = self.layout.orbits.residuals[place]
        return _covariance(self.full, self.variances, inside, first, second)


def answer_variances(blocks: Blocks, orbits: Orbits, variances: Vector) -> list[Vector]:
    """Return the variances of the answers of each orbit of marginals in one unordered cell.

    Args:
        blocks: the ordered and the unordered parts of the marginals.
        orbits: of all their attributes, ordered or not.
        variances: σ² of each residual orbit of those, shape (r,).
    """
    if not blocks.axes:
        return list(orbits.cell_variances(variances)[:, None])
    found = [np.zeros(count) for count in blocks.counts]
    for row, place, entry in zip(
        *(own.tolist() for own in blocks.plain.variance_terms), strict=True
    ):
        span, inside = blocks.spans[row], blocks.plain.residuals[place]
        sums = ([blocks.axes[t] for t in span], blocks.answer_parts(span))
        found[row] += entry * _covariance(orbits, variances, inside, sums, sums)
    return found


def _covariance(
    orbits: Orbits, variances: Vector, inside: Orbit, first: Sums, second: Sums
) -> Vector:
    """Return the covariance of sums over ordered categories on one residual space, shape (k,).

    Over sets O of ordered attributes: σ² of A ∪ O, times the product of the sums' cells less their
    means along O, and of the means along the others.
    """
    mine, other = (dict(zip(*own, strict=True)) for own in (first, second))
    total: Vector = np.zeros(1)
    shared = [i for i in mine if i in other]
    for k in range(len(shared) + 1):
        for within in itertools.combinations(shared, k):
            orbit = tuple(sorted((*inside, *orbits.orbit(within))))
            if orbit not in orbits.place:
                continue  # no marginal that is asked sees it
            factor: Vector = np.array([float(variances[orbits.place[orbit]])])
            for i in sorted({*mine, *other}):
                part = _along(mine.get(i), other.get(i), centred=i in within)
                factor = np.asarray(np.kron(factor, part), dtype=np.float64)
            total = total + factor
    return total


def _along(mine: Vector | None, other: Vector | None, *, centred: bool) -> Vector:
    """Return what sums along one attribute contribute to their covariance, shape (k,)."""
    means = np.ones(1)
    if mine is not None and other is not None and centred:
        n = mine.shape[1]
        shared = np.sum(mine, axis=1) * np.sum(other, axis=1) / n
        return np.asarray(np.sum(mine * other, axis=1) - shared)
    for own in (mine, other):
        if own is not None:
            means = means * np.mean(own, axis=1)
    return means
