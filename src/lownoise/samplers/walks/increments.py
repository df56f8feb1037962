# SPDX-License-Identifier: Apache-2.0
"""A stock of independent normal vectors and coins: floats within a proved error, and their bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import NormalVector, normals
from lownoise.samplers.lazy import WORD, UniformBits

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Vector, Words
    from lownoise.numbers.randomness import Randomness

LARGEST = 12.0  # a normal number beyond it, one in 2^107, is wild
ERROR = 2.0**-47  # how far a normal number's float can be off
_BLOCKS = (1 << 8, 1 << 12)  # rows drawn first, and later
_BITS = 192


@final
class Increments:
    """Rows of independent normal numbers, each with a coin; drawn in blocks, used in turn.

    Rows that are looked at and then left are as good as new: which row is used is decided by the
    rows before it.

    Args:
        dimension: d numbers a row.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> stock = Increments(3, SimulationRandomness(1))
        >>> first = stock.next(2)
        >>> first, stock.numbers[first : first + 2].shape
        (0, (2, 3))
    """

    def __init__(self, dimension: int, randomness: Randomness) -> None:
        self._dimension = dimension
        self._entropy = randomness
        self._made: dict[int, NormalVector] = {}
        self._words: Words = np.empty((0, dimension + 1), dtype=np.uint64)
        self.numbers: Vector = np.empty((0, dimension))
        self.coins: Vector = np.empty(0)  # the leading bits of uniform numbers, as floats
        self.wild: Chosen = np.empty(0, dtype=np.bool_)
        self.at = 0

    def next(self, count: int) -> int:
        """Return where the next rows stand, at least `count` of them."""
        if self.at + count > len(self.numbers):
            self._refill(max(_BLOCKS[len(self.numbers) > 0], count))
        return self.at

    def vector(self, index: int) -> NormalVector:
        """Return a row by its bits; ask once for a row."""
        made = self._made.get(index)
        return made if made is not None else NormalVector(self._words[index, :-1])

    def coin(self, index: int) -> UniformBits:
        """Return a row's coin by its bits."""
        return UniformBits(self._words[index, -1:])

    def _refill(self, rows: int) -> None:
        d = self._dimension
        self._words = self._entropy.words(rows * (d + 1)).reshape(rows, d + 1)
        z, error = normals(np.ascontiguousarray(self._words[:, :-1]).ravel())
        self.numbers, errors = z.reshape(rows, d), error.reshape(rows, d)
        self.coins = self._words[:, -1].astype(np.float64) * 2.0**-WORD
        self._made = {}
        for row in np.flatnonzero(errors.max(axis=1) > ERROR / 2).tolist():
            self._made[row] = self._close(row)
        self.wild = np.abs(self.numbers).max(axis=1) > LARGEST
        self.at = 0

    def _close(self, row: int) -> NormalVector:
        """Draw bits of a row until its floats are within the error: one row in 2^20/d."""
        exact = NormalVector(self._words[row, :-1])
        with precision(_BITS):
            while True:
                balls = exact.balls()
                if all(ball.is_finite() and ball.rad() < ERROR / 4 for ball in balls):
                    self.numbers[row] = [float(ball.mid()) for ball in balls]
                    return exact
                exact.refine(self._entropy)


@final
class Anchored:
    """anchor + scale·ξ for a row ξ of normal numbers.

    Args:
        anchor: exact floats, shape (d,).
        scale: an exact float.
        numbers: ξ.
    """

    def __init__(self, anchor: Vector, scale: float, numbers: NormalVector | UniformBits) -> None:
        self.anchor = anchor
        self._scale = scale
        self.numbers = numbers

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.anchor.size

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate."""
        scale = arb(self._scale)
        return [
            arb(a) + scale * z
            for a, z in zip(self.anchor.tolist(), self.numbers.balls(), strict=True)
        ]

    def refine(self, randomness: Randomness) -> None:
        """Draw more bits of each number."""
        self.numbers.refine(randomness)
