# SPDX-License-Identifier: Apache-2.0
"""Uniform points of linear images, of products, and with zeros in all other coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb, arb_mat

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.rounding import grown, up
from lownoise.samplers.lazy import Composed
from lownoise.samplers.uniform.abstract import AbstractDerived, AbstractUniform

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy


@final
@dataclass(frozen=True, eq=False)
class UniformImage(AbstractDerived):
    """Uniform points of F·B: images of those of B, for F stretches all volumes alike.

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal. Exactly the stored floats. That it is
            regular is the caller's to know, for whoever bounds a norm of F·B needs its inverse;
            only a diagonal is looked at.
        inner: uniform points of B, d coordinates.

    Raises:
        PlanError: where F is not of that shape, or a number of its diagonal is 0.

    Examples:
        >>> from lownoise.samplers.uniform import UniformNormBall
        >>> UniformImage(np.array([2.0, 3.0]), UniformNormBall(2, math.inf)).second_moment()
        array([1.33333333, 3.        ])
    """

    factor: Vector
    inner: AbstractUniform

    def __post_init__(self) -> None:
        given = np.asarray(self.factor)
        read = vector if given.ndim == 1 else matrix
        factor = read(given, field="UniformImage.factor", error=PlanError)
        if set(factor.shape) != {self.inner.dimension}:
            d = self.inner.dimension
            raise PlanError(f"UniformImage.factor has shape {factor.shape}; give ({d},) or {d, d}")
        if factor.ndim == 1 and not np.all(factor):
            i = int(np.flatnonzero(factor == 0)[0])
            raise PlanError(f"UniformImage.factor[{i}]=0 makes the body flat; leave out what is 0")
        object.__setattr__(self, "factor", factor)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.inner.dimension

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        return Composed(self.dimension, (self.inner.draw(randomness),), self._image)

    def second_moment(self) -> Vector:
        """Return F·E u·uᵀ·Fᵀ, shape (d, d); or shape (d,), its diagonal."""
        inner, F = self.inner.second_moment(), self.factor
        if F.ndim == 1:
            return frozen(F * F * inner if inner.ndim == 1 else F[:, None] * inner * F)
        return frozen((F * inner if inner.ndim == 1 else F @ inner) @ F.T)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        points = self.inner.simulate(count, randomness)
        return points * self.factor if self.factor.ndim == 1 else points @ self.factor.T

    @cached_property
    def _exact(self) -> Any:  # noqa: ANN401 (flint carries no types)
        if self.factor.ndim == 1:
            return [arb(a) for a in self.factor.tolist()]
        return arb_mat(*self.factor.shape, self.factor.ravel().tolist())

    def _image(self, balls: list[Any]) -> list[Any]:
        if self.factor.ndim == 1:
            return [a * u for a, u in zip(self._exact, balls, strict=True)]
        found: list[Any] = (self._exact * arb_mat(len(balls), 1, balls)).entries()
        return found


@final
@dataclass(frozen=True, eq=False)
class UniformProduct(AbstractUniform):
    """Uniform points of B₁ × B₂ × …: independent points of each, side by side.

    Args:
        parts: uniform points of each body, one or more.

    Raises:
        PlanError: where there is none.

    Examples:
        >>> from lownoise.samplers.uniform import UniformNormBall
        >>> disc, line = UniformNormBall(2, 2.0), UniformNormBall(1, 2.0)
        >>> UniformProduct((disc, line)).second_moment()
        array([0.25      , 0.25      , 0.33333333])
    """

    parts: tuple[AbstractUniform, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise PlanError("UniformProduct.parts is empty; give one body or more")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return sum(part.dimension for part in self.parts)

    @property
    def rank(self) -> int:
        """The sum of the parts' ranks."""
        return sum(part.rank for part in self.parts)

    @property
    def relative(self) -> float:
        """η = Π(1 + ηᵢ) − 1, which is at least 1 − Π(1 − ηᵢ)."""
        own = [part.relative for part in self.parts if part.relative]
        return up(grown(math.expm1(math.fsum(map(math.log1p, own))))) if own else 0.0

    @property
    def distance(self) -> float:
        """The sum of the parts' distances."""
        own = [part.distance for part in self.parts if part.distance]
        return up(math.fsum(own)) if own else 0.0

    @property
    def estimated(self) -> bool:
        """Whether that of a part is."""
        return any(part.estimated for part in self.parts)

    @property
    def work(self) -> float:
        """The sum of the parts'."""
        return sum(part.work for part in self.parts)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        own = tuple(part.draw(randomness) for part in self.parts)
        return Composed(self.dimension, own, lambda *balls: [u for part in balls for u in part])

    def second_moment(self) -> Vector:
        """Return the parts' second moments as blocks, shape (d, d); or shape (d,), its diagonal."""
        own = [part.second_moment() for part in self.parts]
        if all(moment.ndim == 1 for moment in own):
            return frozen(np.concatenate(own))
        found = np.zeros((self.dimension, self.dimension))
        start = 0
        for moment in own:
            block = slice(start, start + len(moment))
            found[block, block] = np.diag(moment) if moment.ndim == 1 else moment
            start += len(moment)
        return frozen(found)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        return np.hstack([part.simulate(count, randomness) for part in self.parts])


@final
@dataclass(frozen=True, eq=False)
class UniformPlaced(AbstractDerived):
    """Uniform points of {u : (u_kept) ∈ B, all others exactly 0}.

    Args:
        inner: uniform points of B.
        kept: where its coordinates stand, rising, shape (r,).
        size: the number of coordinates d.

    Raises:
        PlanError: where `kept` does not rise within 0 … d − 1, one for each coordinate of B.

    Examples:
        >>> from lownoise.samplers.uniform import UniformNormBall
        >>> UniformPlaced(UniformNormBall(1, 1.0), np.array([1]), 2).second_moment()
        array([0.        , 0.33333333])
    """

    inner: AbstractUniform
    kept: Integers
    size: int

    def __post_init__(self) -> None:
        whole = np.concatenate([[-1], self.kept, [self.size]])
        if self.kept.size != self.inner.dimension or not np.all(np.diff(whole) > 0):
            raise PlanError("UniformPlaced.kept does not rise within the coordinates; order them")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        return Composed(self.size, (self.inner.draw(randomness),), self._placed)

    def _placed(self, balls: list[Any]) -> list[Any]:
        found = [arb(0)] * self.size
        for i, ball in zip(self.kept.tolist(), balls, strict=True):
            found[i] = ball
        return found

    def second_moment(self) -> Vector:
        """Return that of B with zeros around it."""
        own, kept = self.inner.second_moment(), self.kept
        found = np.zeros((self.size,) * own.ndim)
        found[kept if own.ndim == 1 else np.ix_(kept, kept)] = own
        return frozen(found)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        found = np.zeros((count, self.size))
        found[:, self.kept] = self.inner.simulate(count, randomness)
        return found
