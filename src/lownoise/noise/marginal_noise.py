# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on residual spaces: a factor on each, and how much of it covers a neighbour.

Of noise that is round on each residual space it says how answers stray, ordered or not.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, gaussian_loss
from lownoise.noise.marginals import MarginalTotals, Piece
from lownoise.noise.mechanism import LEFT, AdditiveMechanism, covering
from lownoise.noise.totals import FINEST
from lownoise.noise.units import of_one_row, times_up
from lownoise.samplers import rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.noise.abstract import Loss
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.noise.lattice import Stairs
    from lownoise.noise.marginals import AbstractLayout, Space, Sums
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Attribute
    from lownoise.samplers.gaussian import Factor
    from lownoise.sensitivity.residuals import Blocks, Orbits
    from lownoise.sensitivity.residuals.orbits import Orbit

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room
_ROOM = 62  # bits of an integer
_FAR = 64.0  # deviations: farther no normal number of fewer than 2000 bits lies


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """A sum of independent numbers of a law.

    Args:
        law: of the numbers.
        weights: what each is multiplied by in the sum, above 0, shape (k,).
        scales: b of each, shape (k,).
        counts: how many are of each kind, shape (k,).
    """

    law: type[AbstractIndependentNoise | Stairs]
    weights: Vector
    scales: Vector
    counts: Vector


class AbstractMarginalNoise(AbstractNoise):
    """Noise on the integers of a layout of marginals, and how their answers stray."""

    layout: AbstractLayout

    @abstractmethod
    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""

    @property
    @abstractmethod
    def finest(self) -> Vector:
        """The least deviation of the numbers in each space, given others, in steps, shape (k,)."""

    def coarseness(self, totals: AbstractTotals) -> float:
        """Return how large steps are beside the noise, of whose sums all answers are."""
        own = self.finest[(self.finest > 0) & (self.layout.steps > totals.finest)]
        return 0.0 if self.integer_valued else float(np.max(1 / own, initial=0.0))

    @abstractmethod
    def sums_covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return the covariance of sums over ordered categories on one residual orbit, shape (k,).

        Args:
            place: which orbit.
            first: ordered attributes, and for each the cells of each sum, shape (·, n); k sums.
            second: the same, as many.
        """

    def parts(self, chosen: Sequence[int]) -> Parts | None:
        """Return which independent numbers the noise of one cell of a marginal is the sum of.

        Args:
            chosen: its attributes, rising.

        Returns:
            None where it is no such sum.
        """
        return None

    def strays(self, deviations: Vector, outside: float) -> Vector | None:
        """Return how far counts stray at most but with a chance, where their law is known.

        Args:
            deviations: of the counts, in records.
            outside: the chance.

        Returns:
            As many; None where the law is not known by them.
        """
        return None

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return the noise of `count` releases in steps; shape (count, r)."""
        found = np.zeros((count, self.layout.length))
        for space in self.layout.spaces:
            for start, sets in space.pieces:
                many = Piece(start, space, tuple(sets) * count)
                own = self.part(many, randomness).astype(np.float64).reshape(count, -1)
                found[:, start : start + own.shape[1]] = own
        return found

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.layout.length

    @property
    def log_concave(self) -> bool:
        """Whether it has a density: Gaussian and Laplace numbers', or a norm's."""
        return not self.integer_valued

    def between(self, inside: Sequence[int], first: Sums, second: Sums) -> Vector:
        """Return the covariance of sums of ordered categories on a residual space, shape (k,).

        Args:
            inside: its unordered attributes A; 0 where it has no noise.
            first: as of `sums_covariance`.
            second: the same, as many.
        """
        orbits = self.layout.orbits
        place = orbits.place.get(orbits.orbit(inside))
        return np.zeros(1) if place is None else self.sums_covariance(place, first, second)


class AbstractResidualNoise(AbstractMarginalNoise):
    """Gaussian noise on residual spaces, with a factor of its own on each.

    Raises:
        PlanError: where integers do not hold it.
    """

    def __post_init__(self) -> None:
        wide = list(self.widest())
        check_room(np.array([w for w, _ in wide]), [k for _, k in wide], self.layout.steps)

    @abstractmethod
    def radius_up(self, changes: Any) -> float:  # noqa: ANN401 (what the layout is of)
        """Return at least the length of the greatest change in this noise: μ."""

    @abstractmethod
    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield at least the deviation of each part's cells, and how many differences are taken."""

    @abstractmethod
    def factor(self, space: Space, copies: int) -> Factor:
        """Return the noise of some sets of attributes of a space, in grid steps."""

    def loss(self, changes: Any) -> Loss:  # noqa: ANN401 (what the layout is of)
        """Return μ of the greatest change, and the ρ = μ²/2 that follows, rounded up."""
        one, times = of_one_row(changes)
        return gaussian_loss(times_up(times, self.radius_up(one)))

    def part(self, piece: Piece, randomness: Randomness) -> Integers:
        """Return the rounding of one piece of a draw."""
        return rounded_gaussian(self.factor(piece.space, len(piece.sets)), randomness=randomness)


def marginal_mechanism(
    attributes: Sequence[Attribute], size: int | None, noise: AbstractMarginalNoise
) -> AdditiveMechanism:
    """Return the integers of a noise's layout, and that noise.

    Raises:
        PlanError: where the size does not fit.
    """
    layout = noise.layout
    totals = MarginalTotals(
        attributes=tuple(attributes), relation=layout.relation, size=size, layout=layout
    )
    return AdditiveMechanism(totals, noise)


def fitted(
    attributes: Sequence[Attribute],
    size: int | None,
    scaled: Callable[[float], AbstractResidualNoise],
    parameter: float,
) -> AdditiveMechanism:
    """Return the mechanism with as little noise as reveals at most μ, and hardly less.

    What is left of μ, a part in 2^40, is room for another machine's sums: it may round their last
    digits otherwise when it reads the file, and must not find more than the budget.

    Args:
        attributes: of the table.
        size: the public number of records, None under `add_remove`.
        scaled: returns so many times the noise.
        parameter: μ > 0.

    Raises:
        PlanError: where something that needs noise has none, or more than integers hold.
    """
    parameter *= 1 - LEFT

    def mechanism(factor: float) -> AdditiveMechanism:
        noise = scaled(factor)
        return marginal_mechanism(attributes, size, noise)

    return covering(mechanism, lambda found: found.loss.mu, parameter, 1 / parameter)


def check_room(deviations: Vector, inside: Sequence[int], steps: Vector) -> None:
    """Refuse noise that integers do not hold.

    Args:
        deviations: σ of the noise on the cells of each kind of space, shape (r,).
        inside: how many differences are taken of each.
        steps: the unit of the integers, shape (r,).

    Raises:
        PlanError: as said.
    """
    rows = 2.0 ** (np.array(inside, dtype=np.float64) / 2)
    if not np.all(deviations * rows / steps < 2.0**_ROOM / _FAR):
        raise PlanError(
            "noise of some marginal is beyond what integers hold; give a larger budget, or "
            "weights that are nearer to each other",
        )


def grid_step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    # a row adds 0, 1 or −1 to each integer
    return max(2.0 ** -max(_STEPS - math.frexp(deviation)[1], 0), FINEST)


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
