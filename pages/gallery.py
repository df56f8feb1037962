# SPDX-License-Identifier: Apache-2.0
"""Domains in two dimensions, each by the line that makes it; tests run them too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import lownoise as ln

ANGLES = 720


@dataclass(frozen=True)
class Member:
    """A domain that is drawn.

    Args:
        name: what stands above it.
        code: the expression that makes it, of two dimensions.
    """

    name: str
    code: str

    @cached_property
    def domain(self) -> ln.Box:
        return eval(self.code, {"ln": ln, "np": np, "math": math})  # noqa: S307 (lines below)

    @cached_property
    def outline(self) -> np.ndarray:
        """Points around the hull, each extreme along its own direction, shape (n, 2)."""
        angles = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
        return self.domain.extreme(np.column_stack([np.cos(angles), np.sin(angles)]))

    def ellipse(self, order: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the center of the least ellipse and a matrix that maps the unit disc to it."""
        found = ln.theory.enclose(self.domain, order=order)
        sizes, axes = np.linalg.eigh(found.shape.dense())
        return found.center, axes * np.sqrt(np.maximum(sizes, 0))

    @cached_property
    def circle(self) -> tuple[np.ndarray, float]:
        """Return the center and the radius of the least circle around the domain."""
        points, center = self.outline, np.mean(self.outline, axis=0)
        for step in range(1, 3000):
            far = points[np.argmax(np.square(points - center).sum(axis=1))]
            center = center + (far - center) / (step + 1)
        return center, float(np.max(np.linalg.norm(points - center, axis=1)))


LINES = """
Points                 | ln.Points([[0, 0], [3, 0], [3, 1], [1, 2]])
Box                    | ln.Box([0, 0], [4, 1])
Ball, order 2          | ln.Ball(2)
Ball, order 1, sheared | ln.image([[1, 1], [0, 1]], ln.Ball(2, order=1))
Ball, order 3, scaled  | ln.image([2.0, 1.0], ln.Ball(2, order=3))
Ellipsoid              | ln.Ellipsoid([[2.0, 0.0], [1.0, 0.5]])
Zonotope               | ln.Zonotope([[2, 0], [1, 1], [0, 0.5]])
OrderedBall            | ln.OrderedBall([1.0, 0.4])
intersection, clipped  | ln.intersection(ln.Ball(2), ln.Box([-1, -0.4], [1, 0.4]))
intersection, shifted  | ln.intersection(ln.Ball(2), ln.Slab([1, 1], -0.2, 2))
hull                   | ln.hull(ln.Ball(2), ln.Ellipsoid([2.5, 0.4]))
minkowski_sum          | ln.minkowski_sum(ln.Box([0, 0], [3, 0]), ln.Ball(2))
product                | ln.product(ln.Points([[0], [1], [3]]), ln.Box([0], [1]))
kronecker              | ln.kronecker(ln.Ball(2, order=3), ln.Box([-2], [2]))
OperatorNormBall, seen | ln.projection(ln.image([1, 1, 1, 2.0], ln.OperatorNormBall(2, 2)), [1, 3])
difference_body        | ln.difference_body(ln.Points([[0, 0], [2, 0], [0, 1]]))
"""

MEMBERS = tuple(
    Member(*(cell.strip() for cell in line.split(" | ", 1))) for line in LINES.strip().splitlines()
)
