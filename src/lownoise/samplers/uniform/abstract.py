# SPDX-License-Identifier: Apache-2.0
"""What every sampler of a convex body can do and say of itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import fmpz_mat

from lownoise.numbers.rounding import grown, shrunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy

_KEPT = 52  # bits of a word, so that a half more still fits a float


class AbstractUniform(ABC):
    """Points of a bounded convex body about 0, exactly uniform unless it says otherwise."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    def rank(self) -> int:
        """The dimension of the body: below d where some coordinates are always 0."""
        return self.dimension

    @property
    def relative(self) -> float:
        """η: the density of a point is within 1 ± η of the uniform one everywhere."""
        return 0.0

    @property
    def distance(self) -> float:
        """The total variation between the law of a point and the uniform one, at most."""
        return 0.0

    @property
    def estimated(self) -> bool:
        """Whether `second_moment` is a simulation's estimate: then no claim may rest on it."""
        return False

    @property
    def work(self) -> float:
        """How many microseconds a point's tries take, roughly, on a usual core; 0 where few."""
        return 0.0

    @abstractmethod
    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""

    @abstractmethod
    def second_moment(self) -> Vector:
        """Return E u·uᵀ of a uniform point u, shape (d, d); or shape (d,), its diagonal.

        Only a diagonal where all other entries are 0.
        """

    @abstractmethod
    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""


class AbstractDerived(AbstractUniform):
    """Points that are made one by one of those of another body: no surer and no less sure."""

    inner: AbstractUniform

    @property
    def rank(self) -> int:
        """That of the body whose points they are made of."""
        return self.inner.rank

    @property
    def relative(self) -> float:
        """That of the body whose points they are made of."""
        return self.inner.relative

    @property
    def distance(self) -> float:
        """That of the body whose points they are made of."""
        return self.inner.distance

    @property
    def estimated(self) -> bool:
        """That of the body whose points they are made of."""
        return self.inner.estimated

    @property
    def work(self) -> float:
        """That of the body whose points they are made of."""
        return self.inner.work


class AbstractTiled(AbstractUniform):
    """Points of a body that pieces tile: one is chosen by its exact volume, then a point of it."""

    @property
    @abstractmethod
    def weights(self) -> list[int]:
        """The pieces' volumes in a common unit."""

    @cached_property
    def cumulative(self) -> list[int]:
        """The sums of the first weights."""
        return list(accumulate(self.weights))

    @cached_property
    def shares(self) -> Vector:
        """The pieces' shares of the volume, in floats."""
        total = self.cumulative[-1]
        return np.array([weight / total for weight in self.weights])

    def picks(self, count: int, randomness: Randomness) -> Integers:
        """Return the numbers of `count` pieces in floats, for predictions and tests alone."""
        levels = np.cumsum(self.shares)
        return np.asarray(np.searchsorted(levels, uniforms(randomness, count) * levels[-1]))


def uniforms(randomness: Randomness, *shape: int) -> Vector:
    """Return floats in the open interval (0, 1), of the given shape.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> u = uniforms(SimulationRandomness(1), 1000)
        >>> bool(np.all((u > 0) & (u < 1)))
        True
    """
    words = randomness.words(math.prod(shape)) >> np.uint64(64 - _KEPT)
    return np.asarray((words + 0.5) * 2.0**-_KEPT).reshape(shape)


@final
@dataclass(frozen=True, eq=False)
class Dyadic:
    """Rows of floats as integers, each column with a power of two of its own.

    Args:
        rows: integers n, N rows of d.
        exponents: e, d of them: the floats are n·2^e.
    """

    rows: list[list[int]]
    exponents: list[int]

    def unit(self) -> Fraction:
        """Return Π 2^e: the volume of the unit cell."""
        return Fraction(2) ** sum(self.exponents)

    def square(self, indices: Sequence[int]) -> Any:  # noqa: ANN401 (flint carries no types)
        """Return some rows as an integer matrix."""
        return fmpz_mat([self.rows[i] for i in indices])


def dyadic(rows: Vector) -> Dyadic:
    """Return the floats, shape (N, d), as integers.

    Examples:
        >>> import numpy as np
        >>> found = dyadic(np.array([[0.5, 8.0], [1.25, 24.0]]))
        >>> found.rows, found.exponents
        ([[2, 1], [5, 3]], [-2, 3])
    """
    columns, exponents = [], []
    for column in rows.T.tolist():
        pairs = [a.as_integer_ratio() for a in column]
        common = max(below for _, below in pairs)  # each is a power of two
        integers = [above * (common // below) for above, below in pairs]
        shared = math.gcd(*integers) or 1
        shared &= -shared
        columns.append([n // shared for n in integers])
        exponents.append(shared.bit_length() - common.bit_length())
    return Dyadic([list(row) for row in zip(*columns, strict=True)], exponents)


def distance_within(epsilon: float, delta: float) -> float:
    """Return the total variation τ whose cost (1 + e^ε)τ is within δ, rounded down.

    Args:
        epsilon: what is revealed at most.
        delta: δ ≥ 0.

    Examples:
        >>> distance_within(1.0, 0.0)
        0.0
        >>> round(distance_within(0.0, 1e-6), 12)
        5e-07
    """
    if not (delta > 0 and epsilon < 700):  # noqa: PLR2004 (where floats end)
        return 0.0
    return shrunk(delta / (grown(math.exp(epsilon)) + 1), 2.0**-39)
