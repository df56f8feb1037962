# SPDX-License-Identifier: Apache-2.0
"""Several unit bodies side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bases.abstract import AbstractBase
from lownoise.bases.norm import NormBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.arrays import Vector

_SLACK = 2.0**-44


@final
@dataclass(frozen=True)
class ProductBase(AbstractBase):
    """B₁ × B₂ × …: every part on its own; made by `product_base`."""

    parts: tuple[AbstractBase, ...]

    @property
    def dimension(self) -> int:
        """The number of coordinates of all parts."""
        return int(self._ends[-1])

    @cached_property
    def _ends(self) -> Vector:
        return np.cumsum([0, *(part.dimension for part in self.parts)])

    @cached_property
    def _slices(self) -> list[slice]:
        return [slice(int(a), int(b)) for a, b in pairwise(self._ends)]

    def norm_up(self, points: Vector) -> Vector:
        """Return the greatest norm of a part."""
        found = np.zeros(len(points))
        for part, own in zip(self.parts, self._slices, strict=True):
            np.maximum(found, part.norm_up(points[:, own]), out=found)
        return found

    def support_up(self, directions: Vector) -> Vector:
        """Return the sum over parts."""
        total = np.zeros(len(directions))
        for part, own in zip(self.parts, self._slices, strict=True):
            total += part.support_up(directions[:, own])
        return total * (1 + _SLACK)

    def extreme(self, directions: Vector) -> Vector:
        """Return the extreme points of the parts, side by side."""
        return np.hstack(
            [p.extreme(directions[:, own]) for p, own in zip(self.parts, self._slices, strict=True)]
        )

    def energy_up(self, coefficients: Vector) -> float:
        """Return the sum over parts."""
        pairs = zip(self.parts, self._slices, strict=True)
        return math.fsum(p.energy_up(coefficients[own]) for p, own in pairs) * (1 + _SLACK)

    def moment_up(self, squares: Vector) -> float:
        """Return the greatest over parts."""
        return max(
            p.moment_up(squares[own]) for p, own in zip(self.parts, self._slices, strict=True)
        )

    def spread(self, gains: Vector) -> Vector:
        """Return each part's own best."""
        return np.concatenate(
            [p.spread(gains[own]) for p, own in zip(self.parts, self._slices, strict=True)]
        )

    def widths(self) -> Vector:
        """Return each part's own."""
        return np.concatenate([part.widths() for part in self.parts])

    @property
    def unconditional(self) -> bool:
        """Whether all parts are."""
        return all(part.unconditional for part in self.parts)


def product_base(parts: Sequence[AbstractBase]) -> AbstractBase:
    """Return the product, in its simplest form: cubes side by side are one cube.

    Examples:
        >>> cube = NormBase(2, math.inf)
        >>> product_base([cube, product_base([cube, cube])])
        NormBase(size=6, order=inf)
    """
    flat: list[AbstractBase] = []
    for part in parts:
        for own in part.parts if isinstance(part, ProductBase) else (part,):
            last = flat[-1] if flat else None
            if _is_cube(own) and last is not None and _is_cube(last):
                flat[-1] = NormBase(last.dimension + own.dimension, math.inf)
            else:
                flat.append(own)
    return flat[0] if len(flat) == 1 else ProductBase(tuple(flat))


def _is_cube(base: AbstractBase) -> bool:
    return isinstance(base, NormBase) and (math.isinf(base.order) or base.size == 1)
