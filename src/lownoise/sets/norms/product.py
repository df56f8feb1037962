# SPDX-License-Identifier: Apache-2.0
"""Norms of some coordinates: the greatest of several blocks', and one where no others move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.samplers.uniform import UniformPlaced, UniformProduct
from lownoise.sets.norms.abstract import AbstractNorm, Form

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import AbstractBody


@final
@dataclass(frozen=True, eq=False)
class ProductNorm(AbstractNorm):
    """‖s‖ = max ‖sᵢ‖ᵢ: the unit ball is the product of those of the parts.

    Args:
        parts: norms of consecutive blocks of coordinates, one or more.

    Raises:
        PlanError: where there is none.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
        >>> ProductNorm((line, line.scaled(2.0))).norm_up(np.array([[1.0, 6.0]]))
        array([1.5])
    """

    parts: tuple[AbstractNorm, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise PlanError("ProductNorm.parts is empty; give one or more")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return sum(part.dimension for part in self.parts)

    @cached_property
    def blocks(self) -> list[slice]:
        """The coordinates of each part."""
        ends = np.cumsum([0, *(part.dimension for part in self.parts)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Independent uniform points, side by side."""
        return UniformProduct(tuple(part.uniform for part in self.parts))

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """Those of the parts, if all have some."""
        own = [part.forms for part in self.parts]
        if not all(own):
            return ()
        found = []
        for at, forms in zip(self.blocks, own, strict=True):
            for form in forms:
                matrix = np.zeros((len(form.matrix), self.dimension))
                matrix[:, at] = form.matrix
                found.append(Form(matrix, form.order, form.stretch))
        return tuple(found)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the greatest of the parts' norms."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return np.asarray(np.max([part.norm_up(points[:, at]) for part, at in pairs], axis=0))

    def scaled(self, factor: float) -> ProductNorm:
        """Return the product of the parts, all scaled."""
        return ProductNorm(tuple(part.scaled(factor) for part in self.parts))

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least the greatest norm of the body's projections to the blocks."""
        pairs = zip(self.parts, body.projections(self.blocks), strict=True)
        found = [math.inf if own is None else part.sensitivity_up(own) for part, own in pairs]
        return max(found)

    def akin_box_up(self, half_width: Vector) -> float:
        """Return the greatest of the parts'."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return max(part.box_up(half_width[at]) for part, at in pairs)


@final
@dataclass(frozen=True, eq=False)
class PlacedNorm(AbstractNorm):
    """A norm of some coordinates, infinite where any other moves: those get no noise at all.

    Args:
        inner: the norm.
        kept: which coordinates it is of, rising, shape (r,).
        size: the number of coordinates d.

    Raises:
        PlanError: where `kept` does not rise within 0 … d − 1, one for each coordinate of `inner`.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
        >>> PlacedNorm(line, np.array([1]), 2).norm_up(np.array([[0.0, 1.0], [1.0, 0.0]]))
        array([0.5, inf])
    """

    inner: AbstractNorm
    kept: Integers
    size: int

    def __post_init__(self) -> None:
        UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball, with zeros."""
        return UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def euclidean(self) -> int:
        """As of the coordinates that move."""
        return self.inner.euclidean

    @cached_property
    def _constant(self) -> Integers:
        return np.setdiff1d(np.arange(self.size), self.kept)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm of the coordinates that move."""
        found = self.inner.norm_up(np.ascontiguousarray(points[:, self.kept]))
        return np.where(np.any(points[:, self._constant], axis=1), np.inf, found)

    def scaled(self, factor: float) -> PlacedNorm:
        """Return the same of factor·(unit ball)."""
        return PlacedNorm(self.inner.scaled(factor), self.kept, self.size)

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least the norm of the body's projection, if nothing else moves."""
        if np.any(body.widths()[self._constant]):
            return math.inf
        own = body.projected(self.kept)
        return math.inf if own is None else self.inner.sensitivity_up(own)

    def akin_box_up(self, half_width: Vector) -> float:
        """Return that of the coordinates that move, if no others do."""
        moved = np.any(half_width[self._constant])
        return math.inf if moved else self.inner.box_up(half_width[self.kept])
