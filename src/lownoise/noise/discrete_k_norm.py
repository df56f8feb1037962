# SPDX-License-Identifier: Apache-2.0
"""K-norm noise on lattices: of tables that add up to a public number, and of independent records.

One record that becomes another moves two cells by 1 and −1. The hull of these moves is the unit
ball of ‖z‖ = ½Σ|zᵢ| over all n cells, z with the sum 0; so whole numbers of that sum with chances ∝
e^{−ε‖z‖} are the K-norm mechanism on the lattice that tables move in. They are independent
geometric numbers of scale 2/ε given that they add up to nothing, and are drawn as such: until they
do. They have less variance than these numbers have once what they add up to is shared out (ours).

Where records come and go, and what they add are independent vectors, the unit ball is a
cross-polytope with these for corners: a whole multiple of each, of the geometric law of scale 1/ε.
Of yes or no in several columns it is taken for a cube (`discrete_cube`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import POSITIVE, Field
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss, pure_loss
from lownoise.noise.discrete_cube import DiscreteCubeNoise, is_cube
from lownoise.noise.independent import GeometricNoise
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown
from lownoise.samplers.laplace import two_sided_geometric
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.domains.coordinates import OFF
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody

MOST_CELLS = 512
_FEW_CELLS = 128  # whose sums are kept, and looked at one by one for moments
LEAST_SCALE, MOST_SCALE = 1 / 256, 8.0
MOST_STEPS = 2.0**20  # that a record moves a number by
_FAR, _WIDE = 45.0, 14.0  # scales, and deviations, beyond which chances are nothing
_BATCH = 1 << 20  # numbers that are drawn at once
_OFF = 2.0**-36  # of sums of chances


@NOISES.kind(
    "discrete_k_norm",
    Field("scale", POSITIVE),
    make=lambda changes, _, scale: lattice_noise(changes, scale),
)
@final
@dataclass(frozen=True, eq=False)
class DiscreteKNormNoise(AbstractNoise):
    """Whole numbers z₁, …, zₙ₋₁ of chances ∝ e^{−Σ|zᵢ|/b}, the sum over all n, zₙ less all others.

    A change s of all n cells reveals Σ|sᵢ|/b.

    Args:
        cells: n, from 2 to 512.
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
    integer_valued = True

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= MOST_CELLS:  # noqa: PLR2004
            raise PlanError(f"discrete K-norm noise is for 2 to {MOST_CELLS} cells of one table")
        _check_scale(self.scale)

    @property
    def dimension(self) -> int:
        """The number of integers, n − 1."""
        return self.cells - 1

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
        """Return at least (E|X|^q)^{1/q}/σ of every X that counts some of the cells.

        Of many cells, that of geometric numbers of the same variances: chances of X are
        log-concave, so that they are above those of such a number between two sizes and below
        elsewhere, and |t|^q is above a parabola that meets it there where they are below (ours).
        """
        if self.cells > _FEW_CELLS:
            n, counts = self.cells, np.arange(1.0, self.cells // 2 + 1)
            squares = np.asarray(_variance(n, self.scale) / (n - 1) * counts * (n - counts))
            # 1/(cosh(1/b) − 1) of b
            return GeometricNoise.moment_of(np.asarray(1 / np.arccosh(1 + 1 / squares)), order)
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


@final
@dataclass(frozen=True, eq=False)
class DiscreteCrossNoise(AbstractNoise):
    """Whole multiples of independent vectors, of chances ∝ e^{−|w|/b} each: z = Σ wᵢvᵢ.

    A change s = Σ uᵢvᵢ reveals Σ|uᵢ|/b, if u are whole: of sums of the vectors, as `lattice_noise`
    takes them from what records change. Others would be seen through any noise of this kind.

    Args:
        corners: v, whole numbers of at most 2^20, shape (r, r).
        scale: b, from 1/256 to 8.

    Raises:
        PlanError: where the scale is out of range, or vectors are not independent.

    Examples:
        >>> noise = DiscreteCrossNoise(np.array([[0.0, 1.0], [1.0, 1.0]]), 0.25)
        >>> noise.covariance().round(4)  # a sum, and the count: twice the variance of one number
        array([[0.038, 0.038],
               [0.038, 0.076]])
    """

    corners: Vector
    scale: float
    integer_valued = True

    def __post_init__(self) -> None:
        _check_scale(self.scale)
        self._gauge.forms  # noqa: B018 (which refuses what has no inverse)

    @cached_property
    def _gauge(self) -> ImageNorm:
        factor = np.ascontiguousarray(self.corners.T) * self.scale
        return ImageNorm(frozen(factor), NormBall(self.dimension, 1.0))

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return len(self.corners)

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|uᵢ|/b, and what that implies."""
        epsilon = self._gauge.sensitivity_up(changes)
        return pure_loss(Fraction(epsilon)) if math.isfinite(epsilon) else Loss(math.inf)

    def scaled(self, factor: float) -> Self:
        """Return it with so many times the scale."""
        return replace(self, scale=self.scale * factor)

    @property
    def steady(self) -> bool:
        """As of the norm: of vectors that are none of the axes it is not."""
        return self._gauge.steady

    def covariance(self) -> Vector:
        """Return the covariance, shape (r, r)."""
        one = GeometricNoise.variances(np.array([self.scale]))[0]
        return frozen(one * (self.corners.T @ self.corners))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in the integers."""
        return GeometricNoise.moment_of(np.array([self.scale]), order)

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, shape (count, r)."""
        scales = np.full(count * self.dimension, self.scale)
        drawn = two_sided_geometric(scales, randomness=randomness)
        return drawn.reshape(count, -1) @ self.corners.astype(np.int64)


def lattice_noise(
    changes: AbstractBody, scale: float
) -> DiscreteKNormNoise | DiscreteCrossNoise | DiscreteCubeNoise:
    """Return K-norm noise of a body of changes on the lattice that these make.

    Args:
        changes: differences of the records of a table, or independent vectors and their opposites,
            or whole numbers that move by 1 at most.
        scale: b; ε = 2/b of a table, else 1/b.

    Raises:
        PlanError: where the body is neither, or the scale is out of range.
    """
    if is_table(changes):
        return DiscreteKNormNoise(changes.dimension + 1, scale)
    corners = _corners(changes)
    if corners is None and is_cube(changes):
        return DiscreteCubeNoise(changes.dimension, scale)
    if corners is None:
        raise PlanError(
            "it is for the cells of one table of a public number of rows, for records that come "
            "and go and are independent vectors of whole numbers, or for columns of yes and no"
        )
    return DiscreteCrossNoise(corners, scale)


def has_lattice(changes: AbstractBody) -> bool:
    """Return whether there is such noise for a body, at some scale, and it is no geometric one.

    Examples:
        >>> has_lattice(SymmetricPoints(np.array([[0.0, 1], [1, 1], [0, -1]])))
        True
        >>> has_lattice(SymmetricPoints(np.array([[0.0, 1], [1, 1], [2, 1]])))
        False
    """
    if is_table(changes):
        return 2 < changes.dimension + 1 <= MOST_CELLS  # noqa: PLR2004
    corners = _corners(changes)
    if corners is None:
        return is_cube(changes)
    if np.all(np.count_nonzero(corners, axis=1) == 1):
        return False
    return bool(np.linalg.matrix_rank(corners) == len(corners))


def _corners(changes: AbstractBody) -> Vector | None:
    """Return as many vectors of whole numbers as dimensions, with their opposites all changes."""
    if not isinstance(changes, SymmetricPoints):
        return None
    moved = changes.points[np.any(changes.points != 0, axis=1)]
    first = moved[np.arange(len(moved)), np.argmax(moved != 0, axis=1)]
    corners = np.unique(moved * np.sign(first)[:, None], axis=0)
    whole = np.all((corners == np.rint(corners)) & (np.abs(corners) <= MOST_STEPS))
    return frozen(corners) if whole and len(corners) == changes.dimension else None


def counts_cells(embed: Vector | None) -> bool:
    """Return whether answers are multiples of how many records some cells of a table have.

    Args:
        embed: from all cells but the last to the answers, shape (m, n − 1); None where they are
            the same.

    Examples:
        >>> counts_cells(np.array([[1.0, 0.0], [-1.0, -1.0]])), counts_cells(np.array([[1.0, 2.0]]))
        (True, False)
    """
    if embed is None:
        return True
    every = np.pad(embed, ((0, 0), (0, 1)))
    low, high = every.min(axis=1, keepdims=True), every.max(axis=1, keepdims=True)
    near = (high - low) * OFF
    return bool(np.all((every <= low + near) | (every >= high - near)))


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
    points = changes.points - changes.points.min(axis=0)
    one = np.all((points == 0) | (points == 1)) and np.all(points.sum(axis=1) <= 1)
    return bool(one) and len(points) == changes.dimension + 1


def _check_scale(scale: float) -> None:
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        raise PlanError(
            f"noise.scale of discrete K-norm noise is not from {LEAST_SCALE:g} to "
            f"{MOST_SCALE:g}; take another mechanism"
        )


def _farthest(cells: int, scale: float) -> int:
    q = math.exp(-1 / scale)
    return math.ceil(_FAR * scale + _WIDE * math.sqrt(cells * 2 * q) / (1 - q))


def _with_one_more(chances: Vector, scale: float) -> Vector:
    """Return the law of a sum with one geometric number more: all that is added is above 0."""
    from scipy.signal import lfilter  # which takes a second to load

    q = math.exp(-1 / scale)
    below = lfilter([1.0], [1.0, -q], chances)
    above = lfilter([0.0, q], [1.0, -q], chances[::-1])[::-1]
    return np.asarray((1 - q) / (1 + q) * (below + above))


def _none(cells: int, scale: float) -> Vector:
    far = _farthest(cells, scale)
    return np.where(np.arange(-far, far + 1) == 0, 1.0, 0.0)


@lru_cache(maxsize=64)
def _sums(cells: int, scale: float) -> list[Vector]:
    """Return the laws of sums of 0 to n geometric numbers, about the middle, all of one length.

    Convolved: files state errors that follow from these to the last bit.
    """
    q, far = math.exp(-1 / scale), _farthest(cells, scale)
    one = (1 - q) / (1 + q) * q ** np.abs(np.arange(-far, far + 1))
    found = [_none(cells, scale)]
    for _ in range(cells):
        found.append(np.convolve(found[-1], one, mode="same"))
    return found


@lru_cache(maxsize=1024)
def _sum_law(cells: int, scale: float, count: int) -> tuple[Vector, Vector]:
    """Return whole numbers and the chances that so many cells add up to them."""
    if cells <= _FEW_CELLS:
        sums = _sums(cells, scale)
        own, rest = sums[count], sums[cells - count]
    else:
        own = rest = _none(cells, scale)
        for k in range(max(count, cells - count)):
            own = _with_one_more(own, scale) if k < count else own
            rest = _with_one_more(rest, scale) if k < cells - count else rest
    chances = own * rest[::-1]
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
