# SPDX-License-Identifier: Apache-2.0
"""Points of a convex body by the grid walk of 001 (section 8, Appendix A), in few dimensions.

Cells of side δ fill a cube that holds K. The walk goes from cell to cell, by Metropolis' rule for
the weights exp(−2d(‖c‖_K − 1 − a)⁺) at centers c (Applegate & Kannan 1991); a is so large that
every cell which meets K has the weight 1. At the end a uniform point of the cell is taken if it is
in K; if not, all starts again. So the law is uniform on K but for the mixing. How long that takes
is proved through the conductance (Dyer & Frieze 1991; Jerrum & Sinclair 1989), see docs/theory.md.

No plan draws from it: `python -m benchmarks.grid_walk` prints how many steps it and the proximal
walk, which plans use, need by dimension.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from benchmarks.arguments import Arguments
from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.samplers.lazy import WORD, Lazy, UniformBits
from lownoise.samplers.walks import steps_needed
from lownoise.samplers.walks.body import AbstractRound
from lownoise.samplers.walks.in_and_out import Anchored

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.walks.body import RoundBody

MOST_STEPS = 10_000_000  # about a minute, starts anew counted
_MOST_CELLS = 1 << 21
_BITS = 128
_BLOCK = 1 << 15
_COIN = 56  # bits of a word left for the coin
_CLOSE = 2.0**-30  # room for the floats of norms and weights


@final
@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of a grid walk, and how many steps are proved to be enough.

    Args:
        dimension: d.
        inner: r > 0 with r·B₂ ⊂ K.
        outer: R with K ⊂ R·B₂.
    """

    dimension: int
    inner: float
    outer: float

    @property
    def side(self) -> float:
        """δ, the power of two next to r/(2d^{3/2}), where the bound is best: cells are exact."""
        return 2.0 ** round(math.log2(self.inner / (2 * self.dimension**1.5)))

    @property
    def cells(self) -> int:
        """How many cells stand along a side of the cube: an odd number."""
        return 2 * math.ceil(self.outer / self.side) + 1

    @property
    def bits(self) -> int:
        """k: each of the 2d moves is proposed with the chance 2^−k ≤ 1/(4d)."""
        return math.ceil(math.log2(4 * self.dimension))

    def relative_up(self, steps: int) -> float:
        """Return η after so many steps: with N^d·(1 − Φ²/2)^t = ζ it is 2ζ/(1 − ζ).

        Φ ≥ δ·e^{−2b}/(2^k·L), b = d^{3/2}δ/r, L half the side of the cube (ours, from Dyer & Frieze
        1991, Theorem 2).
        """
        with precision(_BITS):
            left = arb(self.cells) ** self.dimension * (1 - self._conductance() ** 2 / 2) ** steps
            return up(float((2 * left / (1 - left)).upper())) if left < 1 else math.inf

    def _conductance(self) -> Any:  # noqa: ANN401 (flint carries no types)
        side, half = arb(self.side), arb(self.side) * self.cells / 2
        b = arb(self.dimension).sqrt() * self.dimension * side / arb(self.inner) + _CLOSE
        return side * (-2 * b).exp() / (2**self.bits * half)

    def steps_needed(self, relative: float) -> int:
        """Return the least number of steps whose `relative_up` is at most `relative`."""
        low, high = 0, 1
        while self.relative_up(high) > relative:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.relative_up(middle) > relative else (low, middle)
        return high


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GridWalk(AbstractRound):
    """Points of F·K by the grid walk.

    Args:
        body: K and F, with an exact membership.
        relative: η: the density is within 1 ± η of the uniform one.

    Raises:
        PlanError: where the membership is weak, or the walk would take more than about a minute.
    """

    body: RoundBody
    relative: float = 1e-9

    def __post_init__(self) -> None:
        """Count the steps before any is taken."""
        if not self.body.membership.exact:
            raise PlanError("the grid walk needs an exact membership; give one")
        if not 0 < self.relative < 1:
            raise PlanError(f"relative={self.relative} is not between 0 and 1; give such a number")
        if self.steps > MOST_STEPS or self.grid.cells**self.dimension > _MOST_CELLS:
            raise PlanError(
                f"the grid walk takes {self.steps} steps in {self.dimension} coordinates, more "
                f"than {MOST_STEPS}; use the proximal walk"
            )

    @cached_property
    def grid(self) -> Grid:
        """The cells."""
        return Grid(dimension=self.dimension, inner=self.body.inner, outer=self.body.outer)

    @cached_property
    def steps(self) -> int:
        """How many steps a walk takes."""
        return self.grid.steps_needed(self.relative)

    @cached_property
    def centers(self) -> Vector:
        """The centers of the cells, shape (cells^d, d), the last coordinate fastest."""
        n, d = self.grid.cells, self.dimension
        axis = (np.arange(n) - n // 2) * self.grid.side
        return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)

    @cached_property
    def weights(self) -> Vector:
        """The weights, shape (cells^d,): taken as exact floats, and exactly 1 where K may be."""
        d, extent = self.dimension, self.grid.side * math.sqrt(self.dimension) / 2 / self.body.inner
        beyond = self.body.norms(self.centers) - 1 - extent * (1 + _CLOSE) - _CLOSE
        return np.asarray(np.exp(-2 * d * np.maximum(beyond, 0.0)))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        side = self.grid.side
        while True:
            center = self.centers[self._walk(randomness)]
            corner = center - side / 2  # exact: a short multiple of a power of two
            point = Anchored(corner, side, UniformBits(randomness.words(self.dimension)))
            if self.body.settles(point, randomness, _BITS):
                return self.body.mapped(point)

    def _walk(self, randomness: Randomness) -> int:
        """Return the number of the cell after all steps."""
        n, d = self.grid.cells, self.dimension
        weights = self.weights.tolist()
        at = [n // 2] * d
        strides = [int(n ** (d - 1 - i)) for i in range(d)]
        cell = sum(i * stride for i, stride in zip(at, strides, strict=True))
        for start in range(0, self.steps, _BLOCK):
            words = randomness.words(min(_BLOCK, self.steps - start))
            moves = (words >> np.uint64(WORD - self.grid.bits)).tolist()
            coins = (words & np.uint64(2**_COIN - 1)).tolist()
            for move, coin in zip(moves, coins, strict=True):
                if move >= 2 * d:
                    continue
                axis, sign = move >> 1, 2 * (move & 1) - 1
                to = at[axis] + sign
                if not 0 <= to < n:
                    continue
                there = cell + sign * strides[axis]
                here, new = weights[cell], weights[there]
                if new >= here or _falls(coin, new, here, randomness):
                    at[axis], cell = to, there
        return cell

    def second_moment(self) -> Vector:
        """Return an estimate of E u·uᵀ, shape (d, d), by the centers in K."""
        inside = self.centers[self.body.norms(self.centers) <= 1]
        images = inside @ self.body.matrix.T
        return np.asarray(images.T @ images / len(images))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points that are uniform up to floats, shape (count, d)."""
        d, found = self.dimension, np.empty((0, self.dimension))
        while len(found) < count:
            words = randomness.words(count * d).reshape(count, d)
            cube = self.body.outer * (2 * words.astype(np.float64) * 2.0**-WORD - 1)
            found = np.concatenate([found, cube[self.body.norms(cube) <= 1]])
        return np.asarray(found[:count] @ self.body.matrix.T)


def _falls(coin: int, new: float, here: float, randomness: Randomness) -> bool:
    """Whether a uniform number that begins with these bits is below new/here, exactly."""
    ratio = new / here
    near = coin * 2.0**-_COIN
    if abs(near - ratio) > 2.0**-40:
        return near < ratio
    exact, bits = Fraction(new) / Fraction(here), _COIN
    while True:
        if Fraction(coin + 1, 1 << bits) <= exact:
            return True
        if Fraction(coin, 1 << bits) >= exact:
            return False
        coin = coin << WORD | int(randomness.words(1)[0])
        bits += WORD


def rows(dimensions: tuple[int, ...] = (1, 2, 3, 5, 8, 10, 15, 20)) -> list[tuple[int, int, int]]:
    """Return dimension, proximal steps with √h = 4/d, grid steps; r = 1, R = √d, η = 10⁻⁹."""
    return [
        (
            d,
            steps_needed(d, 1.0, d**0.5, deviation=4 / d),
            Grid(dimension=d, inner=1.0, outer=d**0.5).steps_needed(1e-9),
        )
        for d in dimensions
    ]


if __name__ == "__main__":
    Arguments(__doc__).parse_args()
    for row in rows():
        sys.stdout.write("  ".join(f"{number:>14,}" for number in row) + "\n")
