# SPDX-License-Identifier: Apache-2.0
"""Kinds from outside the package, as a user's program would declare them: one class each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.bodies.pieces import PointSet
from lownoise.sets.domains import DOMAINS, AbstractDomain

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@DOMAINS.kind("wedge", "size", declared=True)
@final
@dataclass(frozen=True)
class Wedge(AbstractDomain):
    """{x ≥ 0 : x₁ + x₂ ≤ size}."""

    size: float

    @property
    def rounding(self) -> Vector:
        return np.full(2, self.size * 2.0**-40)

    def clip_rows(self, rows: Vector) -> Vector:
        inside = np.clip(rows, 0.0, self.size)  # a row may hold an infinity
        total = np.sum(inside, axis=-1, keepdims=True)
        return inside / np.maximum(total / self.size, 1.0)

    def bounding_set(self) -> PointSet:
        return PointSet(np.array([[0.0, 0.0], [self.size, 0.0], [0.0, self.size]]))
