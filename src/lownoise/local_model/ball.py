# SPDX-License-Identifier: Apache-2.0
"""Randomizers of the unit ball: a spherical cap, and half of a normal law.

Both draw V of a law about a unit vector u (`normal_rows.lifted`) and report ⌊sV + U⌋
(`vector_reports`). With chance λ (`uniform`) the law knows nothing of u: a uniform point of the
sphere, or a normal vector. Else V is uniform in the cap ⟨v, u⟩ ≥ γ of the sphere, or its component
along u is made positive. So the greatest ratio of densities, in units of the law that knows
nothing, is 1 + (1−λ)/(λq), q the share of that law in the cap, or 1/2.

*The cap, exactly* (ours). G is normal, p = ⟨G, u⟩, H = G − pu, Z₁ and Z₂ two more normal numbers,
N = |H|² + Z₁² + Z₂². Then |H|²/N has the law Beta((r−1)/2, 1), the direction of H is uniform and
independent of it, and t = √(1 − (1−γ²)|H|²/N) has a density ∝ t(1−t²)^{(r−3)/2} on [γ, 1]. Accepted
with chance γ/t, it is that of the height of the cap's uniform points: V = t·u + √(1−γ²)·H/√N. The
share accepted is γq/h, h = E[⟨V, u⟩; cap]. Where γ < 2h that is less than 2q, and V is rather
(|p|u + H)/|G|, accepted where |p| ≥ γ|G|. What is accepted depends on normal numbers alone, whose
law is the same about every u, so the number of trials tells nothing of u; and trials are made
whether or not their outcome is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import COUNT, POSITIVE, Field
from lownoise.local_model.directed import (
    MOST_DIMENSIONS,
    UNIT,
    AbstractBallRandomizer,
    along_and_across,
    checked,
    vector_error,
)
from lownoise.local_model.randomizer import RANDOMIZERS, LocalLoss

if TYPE_CHECKING:
    from typing import Self

    from lownoise.numbers.arrays import Vector

_COUNT = Field("dimension", COUNT, "coordinates")
_UNIFORM = Field("uniform", POSITIVE)
_SCALE = Field("scale", COUNT)
_FINE = 50  # rounding to the grid adds 1e-4 to the variance at most
_TAIL = 9  # e^(−81/2) of normal vectors are that much longer than √r


@RANDOMIZERS.kind("cap", _COUNT, Field("threshold", POSITIVE), _UNIFORM, _SCALE)
@final
@dataclass(frozen=True)
class SphereCap(AbstractBallRandomizer):
    """A uniform point of the sphere, or of a cap of it about what is reported.

    Args:
        coordinates: r.
        threshold: γ in (0, 1): the cap is ⟨v, u⟩ ≥ γ.
        uniform: λ in (0, 1), a multiple of 2^-52: the chance of the complete sphere.
        scale: s, the grid steps in a radius.

    Raises:
        FileError: where a number is out of range.

    Examples:
        >>> from lownoise.local_model.randomizer import FULL
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> cap = SphereCap.fitted(2, 1.0)
        >>> cap.loss.epsilon <= 1.0, cap.scale
        (True, 71)
        >>> cap.reports(np.array([[FULL, 0]]), randomness=SimulationRandomness(1)).shape
        (1, 2)
    """

    coordinates: int
    threshold: float
    uniform: float
    scale: int
    shares: ClassVar[bool] = False  # what is accepted is no normal vector any more

    def __post_init__(self) -> None:
        checked(self, "cap")
        if not 0 < self.threshold < 1:
            raise FileError(f"cap.threshold={self.threshold} is not in (0, 1); plan again")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Self:  # noqa: ARG003
        """Return the one whose estimates have the least variance under ε.

        Raises:
            PlanError: where ε or the dimension is out of range.
        """
        from lownoise.local_model.cap_law import best

        threshold, uniform = best(dimension, epsilon)
        if uniform >= 1:
            raise PlanError(f"epsilon={epsilon:g} is too small for a cap; raise it")
        return cls(dimension, threshold, uniform, math.ceil(_FINE * math.sqrt(dimension)))

    @cached_property
    def loss(self) -> LocalLoss:
        """ε = ln(1 + (1−λ)/(λq)), rounded up."""
        from lownoise.local_model.cap_law import loss_up

        return LocalLoss(loss_up(self.dimension, self.threshold, self.uniform))

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """The numbers m, a and b."""
        from lownoise.local_model.cap_law import moments

        return moments(self.dimension, self.threshold, self.uniform)

    @property
    def longest(self) -> int:
        """1."""
        return 1

    @cached_property
    def _folds(self) -> bool:
        """Whether more trials are accepted by folding the sphere in half, γ < 2h; roughly."""
        r = self.dimension
        if r == 1:
            return True
        log = math.lgamma(r / 2) - math.lgamma((r - 1) / 2) - math.log(math.pi) / 2
        log += (r - 1) / 2 * math.log1p(-(self.threshold**2)) - math.log(r - 1)
        return self.threshold < 2 * math.exp(log)

    @property
    def width(self) -> int:
        """The number of normal numbers of a trial."""
        return self.dimension + (0 if self._folds else 2)

    def _parts(self, about: Vector, values: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the coefficient of u before it is divided, H, D and ε."""
        r = self.dimension
        first = values[:, :r]
        along = np.einsum("ij,ij->i", first, about)
        across = first - along[:, None] * about
        squares = np.sum(values**2, axis=1)
        if self._folds:
            height, size = np.abs(along), np.sqrt(squares)
        else:
            square, rest = np.sum(across**2, axis=1), np.sum(values[:, r:] ** 2, axis=1)
            height = np.sqrt(rest + self.threshold**2 * square)
            size = np.sqrt(square + rest)
        return height, across, size, self._off(squares, size)

    def _off(self, squares: Vector, size: Vector) -> Vector:
        """Return ε = η/D + (r + 10)u₀."""
        return (
            vector_error(squares, self.width, self.dimension) / size + (self.dimension + 10) * UNIT
        )

    def margins(self, about: Vector, values: Vector, coins: Vector) -> tuple[Vector, Vector]:
        """Return |p|/D − γ, or γ − t·coin, and ε."""
        height, _, size, off = self._parts(about, values)
        if self._folds:
            return height / size - self.threshold, off
        return self.threshold - coins * height / size, off

    def exact_margin(self, about: list[Any], values: list[Any], coin: list[Any]) -> list[Any]:
        """Return p² − γ²|G|², or γ²N − coin²(Z₁² + Z₂² + γ²|H|²)."""
        from flint import arb

        r, bound = self.dimension, arb(self.threshold) ** 2
        along, _, square = along_and_across(about, values[:r])
        if self._folds:
            return [along**2 * (1 - bound) - bound * square]
        rest = values[r] ** 2 + values[r + 1] ** 2
        return [bound * (square + rest) - coin[0] ** 2 * (rest + bound * square)]

    @property
    def _width_of_cap(self) -> float:
        """The radius √(1−γ²) of the cap's rim, to three roundings."""
        return math.sqrt((1 - self.threshold) * (1 + self.threshold))

    def tilted(self, about: Vector, values: Vector) -> tuple[Vector, Vector]:
        """Return V in the cap, shape (n, r), and ε."""
        height, across, size, off = self._parts(about, values)
        part = 1.0 if self._folds else self._width_of_cap
        return (height[:, None] * about + part * across) / size[:, None], off

    def exact_tilted(self, about: list[Any], values: list[Any]) -> list[Any]:
        """Return balls of V in the cap."""
        from flint import arb

        r, bound = self.dimension, arb(self.threshold) ** 2
        along, across, square = along_and_across(about, values[:r])
        if self._folds:
            size, height, part = (along**2 + square).sqrt(), abs(along), arb(1)
        else:
            rest = values[r] ** 2 + values[r + 1] ** 2
            size, height = (square + rest).sqrt(), (rest + bound * square).sqrt()
            part = (1 - bound).sqrt()
        return [(height * u + part * h) / size for u, h in zip(about, across, strict=True)]

    def plain(self, values: Vector) -> tuple[Vector, Vector]:
        """Return G/|G|, shape (n, r), and ε."""
        squares = np.sum(values**2, axis=1)
        size = np.sqrt(squares)
        return values / size[:, None], self._off(squares, size)

    def exact_plain(self, values: list[Any]) -> list[Any]:
        """Return balls of G/|G|."""
        size = sum(own * own for own in values).sqrt()
        return [own / size for own in values]


@RANDOMIZERS.kind("half_space", _COUNT, _UNIFORM, Field("longest", COUNT, "cut"), _SCALE)
@final
@dataclass(frozen=True)
class HalfSpace(AbstractBallRandomizer):
    """A normal vector, or one of the half space about what is reported: it is subgaussian.

    The law is cut where it is longer than a whole number, which is so for every u alike: m and the
    second moments are those of what is left.

    Args:
        coordinates: r.
        uniform: λ in (0, 1), a multiple of 2^-52: the chance of the complete normal law.
        cut: the greatest length of V.
        scale: s, the grid steps in a standard deviation.

    Raises:
        FileError: where a number is out of range.

    Examples:
        >>> half = HalfSpace.fitted(3, 1.0)
        >>> half.loss.epsilon <= 1.0, half.longest
        (True, 11)
    """

    coordinates: int
    uniform: float
    cut: int
    scale: int
    shares: ClassVar[bool] = True  # the sign of p is independent of what is accepted

    def __post_init__(self) -> None:
        checked(self, "half_space")
        if self.longest**2 < self.dimension:
            raise FileError(f"half_space.longest={self.longest} is below √dimension; plan again")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Self:  # noqa: ARG003
        """Return the one for ε: λ is 2/(e^ε + 1), rounded up.

        Raises:
            PlanError: where ε or the dimension is out of range.
        """
        from lownoise.local_model.cap_law import best

        _, uniform = best(1, epsilon)  # half of the law, as of a sphere of two points
        if not 1 <= dimension <= MOST_DIMENSIONS or uniform >= 1:
            raise PlanError(
                f"dimension={dimension}, epsilon={epsilon:g} are out of range for half_space; give "
                f"at most {MOST_DIMENSIONS} coordinates and a larger epsilon"
            )
        return cls(dimension, uniform, math.ceil(math.sqrt(dimension)) + _TAIL, _FINE)

    @cached_property
    def loss(self) -> LocalLoss:
        """ε = ln((2 − λ)/λ), rounded up."""
        from lownoise.local_model.cap_law import loss_up

        return LocalLoss(loss_up(1, 0.5, self.uniform))

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """The numbers m, a and b; P(c) the regularized lower gamma function at longest²/2.

        m = (1−λ)√(2/π)·P((r+1)/2)/P(r/2) and a = b = P(r/2 + 1)/P(r/2).
        """
        from flint import arb

        from lownoise.numbers.intervals import precision

        with precision(128):
            most = arb(self.longest) ** 2 / 2
            low, middle, high = (
                most.gamma_lower(arb(self.dimension + more) / 2, 1) for more in (0, 1, 2)
            )
            mean = (1 - arb(self.uniform)) * (2 / arb.pi()).sqrt() * middle / low
            return float(mean), float(high / low), float(high / low)

    @property
    def longest(self) -> int:
        """The greatest length of V."""
        return self.cut

    @property
    def width(self) -> int:
        """The number of normal numbers of a trial."""
        return self.dimension

    def margins(self, about: Vector, values: Vector, coins: Vector) -> tuple[Vector, Vector]:
        """Return longest − |G|, and how far that is off."""
        squares = np.sum(values**2, axis=1)
        return self.longest - np.sqrt(squares), vector_error(squares, self.width, self.dimension)

    def exact_margin(self, about: list[Any], values: list[Any], coin: list[Any]) -> list[Any]:
        """Return longest² − |G|²."""
        return [self.longest**2 - sum(own * own for own in values)]

    def tilted(self, about: Vector, values: Vector) -> tuple[Vector, Vector]:
        """Return |p|u + H, shape (n, r), and how far that is off."""
        along = np.einsum("ij,ij->i", values, about)
        across = values - along[:, None] * about
        found = np.abs(along)[:, None] * about + across
        return found, vector_error(np.sum(values**2, axis=1), self.width, self.dimension)

    def exact_tilted(self, about: list[Any], values: list[Any]) -> list[Any]:
        """Return balls of |p|u + H."""
        along, across, _ = along_and_across(about, values)
        return [abs(along) * u + h for u, h in zip(about, across, strict=True)]

    def plain(self, values: Vector) -> tuple[Vector, Vector]:
        """Return G, shape (n, r), and how far that is off."""
        return values, vector_error(np.sum(values**2, axis=1), self.width, self.dimension)

    def exact_plain(self, values: list[Any]) -> list[Any]:
        """Return balls of G."""
        return values
