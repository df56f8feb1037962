# SPDX-License-Identifier: Apache-2.0
"""K-norm noise on the lattice of tables of counts that add up to a public number.

One record that becomes another moves two cells by 1 and −1. The hull of these moves is the unit
ball of ‖z‖ = ½Σ|zᵢ| over all n cells, z with the sum 0; so whole numbers of that sum with chances ∝
e^{−ε‖z‖} are the K-norm mechanism on the lattice that tables move in. They are independent
geometric numbers of scale 2/ε given that they add up to nothing, and are drawn as such: until they
do. They have less variance than these numbers have once what they add up to is shared out (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import POSITIVE, Field
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss, pure_loss
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown
from lownoise.samplers.laplace import two_sided_geometric
from lownoise.sets.bodies import PointDifferences
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody

MOST_CELLS = 128
LEAST_SCALE, MOST_SCALE = 1 / 256, 8.0
_FAR, _WIDE = 45.0, 14.0  # scales, and deviations, beyond which chances are nothing
_BATCH = 1 << 20  # numbers that are drawn at once
_OFF = 2.0**-36  # of sums of chances


@NOISES.kind(
    "discrete_k_norm",
    Field("scale", POSITIVE),
    make=lambda changes, _, scale: DiscreteKNormNoise(changes.dimension + 1, scale),
)
@final
@dataclass(frozen=True, eq=False)
class DiscreteKNormNoise(AbstractNoise):
    """Whole numbers z₁, …, zₙ₋₁ of chances ∝ e^{−Σ|zᵢ|/b}, the sum over all n, zₙ less all others.

    A change s of all n cells reveals Σ|sᵢ|/b.

    Args:
        cells: n, from 2 to 128.
        scale: b, from 1/256 to 8.

    Raises:
        PlanError: where they are out of range.

    Examples:
        >>> noise = DiscreteKNormNoise(5, 0.5)  # ε = 4
        >>> noise.covariance()[0, 0].round(4)  # shared out, five numbers of ε = 2 have 0.2896
        np.float64(0.1386)
    """

    cells: int
    scale: float

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= MOST_CELLS:  # noqa: PLR2004
            raise PlanError(f"discrete K-norm noise is for 2 to {MOST_CELLS} cells of one table")
        if not LEAST_SCALE <= self.scale <= MOST_SCALE:
            raise PlanError(
                f"noise.scale of discrete K-norm noise is not from {LEAST_SCALE:g} to "
                f"{MOST_SCALE:g}; take another mechanism"
            )

    @property
    def dimension(self) -> int:
        """The number of integers, n − 1."""
        return self.cells - 1

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|sᵢ|/b, the last cell with them, and what that implies."""
        every = np.vstack([np.eye(self.dimension), -np.ones(self.dimension)])
        gauge = ImageNorm(frozen(np.full(self.cells, self.scale)), NormBall(self.cells, 1.0))
        epsilon = gauge.sensitivity_up(changes.mapped(every))
        return pure_loss(Fraction(epsilon)) if math.isfinite(epsilon) else Loss(math.inf)

    def scaled(self, factor: float) -> Self:
        """Return it with so many times the scale."""
        return replace(self, scale=self.scale * factor)

    def covariance(self) -> Vector:
        """Return the covariance: all cells have one variance, and together none; (n − 1, n − 1)."""
        r, square = self.dimension, _variance(self.cells, self.scale)
        return frozen(square * (np.eye(r) * self.cells - 1) / r)

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that counts some of the cells."""
        found = 1.0
        for k in range(1, self.cells // 2 + 1):
            z, chances = _sum_law(self.cells, self.scale, k)
            square = float(chances @ np.square(z))
            z, chances = _carried_on(z, chances, order)
            moment = float(chances @ np.abs(z / z[-1]) ** order) if square else 0.0
            own = math.pow(moment, 1 / order) * float(z[-1]) / math.sqrt(square) if square else 1.0
            found = max(found, own)
        return grown(found, _OFF)

    def strays(self, deviations: Vector, outside: float) -> Vector:
        """Return the least whole numbers that counts of some cells stray beyond, shape as given.

        Args:
            deviations: of the counts, which say how many cells they count.
            outside: the chance to stray farther, at most.
        """
        n, square = self.cells, _variance(self.cells, self.scale)
        # k cells have k(n − k)/(n − 1) of one's variance
        share = np.square(deviations) * (n - 1) / square
        kinds = np.array([k * (n - k) for k in range(n // 2 + 1)])
        counted = np.argmin(np.abs(share[..., None] - kinds), axis=-1)
        far = {k: self._far(k, outside) for k in np.unique(counted).tolist()}
        return np.array([far[k] for k in counted.ravel().tolist()]).reshape(counted.shape)

    def _far(self, count: int, outside: float) -> float:
        if count == 0:
            return 0.0
        chances = _sum_law(self.cells, self.scale, count)[1]
        beyond = chances.size // 2 - np.arange(chances.size // 2 + 1)
        tails = np.cumsum(chances)[beyond - 1] * (beyond > 0)  # of those below −t
        return float(np.argmax(grown(2 * tails, _OFF) <= outside))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, shape (count, n − 1): geometric numbers that add up to nothing."""
        kept: list[Integers] = []
        left, n = count, self.cells
        while left:
            rows = min(4 * left + 8, max(_BATCH // n, 1))
            drawn = two_sided_geometric(np.full(rows * n, self.scale), randomness=randomness)
            table = drawn.reshape(rows, n)
            kept.append(table[table.sum(axis=1) == 0][:left, :-1])
            left -= len(kept[-1])
        return np.concatenate(kept) if kept else np.zeros((0, self.dimension), dtype=np.int64)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return self.block(count, randomness).astype(np.float64)


def is_table(changes: AbstractBody) -> bool:
    """Return whether integers are all cells of a table but one, of a public number of records.

    Examples:
        >>> is_table(PointDifferences(np.array([[0.0, 0], [0, 1], [1, 0]])))
        True
        >>> is_table(PointDifferences(np.array([[0.0, 0], [1, 1], [1, 0]])))
        False
    """
    if not isinstance(changes, PointDifferences):
        return False
    points = changes.points
    one = np.all((points == 0) | (points == 1)) and np.all(points.sum(axis=1) <= 1)
    return bool(one) and len(points) == changes.dimension + 1


@lru_cache(maxsize=64)
def _sums(cells: int, scale: float) -> list[Vector]:
    """Return the laws of sums of 0 to n geometric numbers, about the middle, all of one length."""
    q = math.exp(-1 / scale)
    wide = _WIDE * math.sqrt(cells * 2 * q) / (1 - q)
    z = np.arange(-math.ceil(_FAR * scale + wide), math.ceil(_FAR * scale + wide) + 1)
    one = (1 - q) / (1 + q) * q ** np.abs(z)
    found = [np.where(z == 0, 1.0, 0.0)]
    for _ in range(cells):
        found.append(np.convolve(found[-1], one, mode="same"))
    return found


@lru_cache(maxsize=1024)
def _sum_law(cells: int, scale: float, count: int) -> tuple[Vector, Vector]:
    """Return whole numbers and the chances that so many cells add up to them."""
    sums = _sums(cells, scale)
    chances = sums[count] * sums[cells - count][::-1]
    half = chances.size // 2
    return frozen(np.arange(-half, half + 1, dtype=np.float64)), frozen(chances / chances.sum())


def _carried_on(z: Vector, chances: Vector, order: float) -> tuple[Vector, Vector]:
    """Return |z| and at least their chances, as far as moments of an order need.

    Sums of geometric numbers are log-concave, also given that all add up to nothing: from any t
    chances fall at least as fast as they did there.
    """
    middle = z.size // 2
    t = max(middle // 2, 1)
    before, last = chances[middle + t - 1], chances[middle + t]
    if not last > 0:
        return np.abs(z), chances
    fall = math.log(before / last)
    further = np.arange(1.0, math.ceil((order + 12 * math.sqrt(order) + 60) / fall) + 8)
    inside = np.arange(1.0, t + 1)
    found = np.append(chances[middle + 1 : middle + t + 1], last * np.exp(-fall * further))
    return np.append(inside, t + further), 2 * found


def _variance(cells: int, scale: float) -> float:
    z, chances = _sum_law(cells, scale, 1)
    return float(chances @ np.square(z))
