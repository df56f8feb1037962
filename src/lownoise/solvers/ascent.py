# SPDX-License-Identifier: Apache-2.0
"""Points of an image F·B that prove that no ellipsoid around it is much smaller.

A convex function on B is greatest at an extreme point, and going to the point that is extreme along
its gradient never loses. From many starts that finds points far out in the metric of an ellipsoid;
the best weights on such points are a lower bound, whether or not farther ones were missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import ImageDual
from lownoise.numbers.arrays import frozen
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import AbstractVertices, Priced

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_ENDLESS = 2**62
_CLIMBS = 30
_STARTS = 4  # in parts of the dimension
_BEYOND = 1e-9
_ROUNDS = 60
_LARGEST = 2.0e8  # products a climb takes


def far_points(
    columns: Vector,
    base: AbstractUnitBall,
    asked: Vector,
    order: float,
    rtol: float,
    query_weights: Vector,
) -> tuple[ImageDual, Vector | None] | None:
    """Return points of F·B with the weights that prove the most, and a factor that covers them.

    None where it would take too long; no factor where none is better than what is known.

    Args:
        columns: the columns of F as rows, shape (k, r).
        base: B, k coordinates.
        asked: ωL, shape (m, r).
        order: p in [2, ∞].
        rtol: the relative gap asked for.
        query_weights: c where the best ones are known from elsewhere, shape (m,).
    """
    k, r = columns.shape
    if isinstance(base, NormBall) and base.order == 2:  # noqa: PLR2004
        # every second moment of trace 1 is one of the ball; FᵀGF is in proportion to the best
        seen = (np.sqrt(query_weights)[:, None] * asked) @ columns.T
        _, lengths, axes = np.linalg.svd(seen, full_matrices=False)
        return ImageDual(frozen(axes.copy()), frozen(np.square(lengths)), query_weights), None
    if float(k) * r * _STARTS * (r + 8) > _LARGEST:
        return None
    problem = Problem(queries=asked, order=order, moves=False, floor=0.1 * rtol)
    vertices = ImageVertices(columns, base)
    found = generate(problem, vertices, rtol=rtol, most=_ROUNDS)
    points = vertices.atoms[found.indices]
    dual = ImageDual(frozen(points), frozen(found.weights), frozen(found.query_weights))
    return dual, found.factor


@final
class ImageVertices(AbstractVertices):
    """Extreme points of F·B, as they are found.

    Args:
        columns: the columns of F as rows, shape (k, r).
        base: B.
    """

    def __init__(self, columns: Vector, base: AbstractUnitBall) -> None:
        self._columns = columns
        self._base = base
        self._random = np.random.default_rng(0)  # starts only: nothing that is released
        self.atoms = np.zeros((0, len(columns)))

    @property
    def moves(self) -> bool:
        """An image of a unit body is symmetric."""
        return False

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return int(self._columns.shape[1])

    @property
    def count(self) -> int:
        """Never all of them are known."""
        return _ENDLESS

    def new(self, known: Integers, found: Integers) -> Integers:
        """Return those of `found` that are not in `known`."""
        return found[~np.isin(found, known)]

    def first(self, wanted: int) -> Integers:
        """Return points that are extreme along random directions, until they span R^r."""
        size = np.linalg.norm(self._columns, axis=0)
        while True:
            directions = self._random.standard_normal((wanted, self.dimension)) / size
            self._add(self._base.extreme(directions @ self._columns.T))
            rows = (self.atoms @ self._columns) / size
            if np.linalg.matrix_rank(rows) == self.dimension:
                return np.arange(len(self.atoms))

    def gather(self, indices: Integers) -> Vector:
        """Return those points' images."""
        return np.asarray(self.atoms[indices] @ self._columns)

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return points that stick out, climbing from the known ones, the axes and at random."""
        image = self._columns @ inverse.T
        axes = np.linalg.svd(image, full_matrices=False)[0].T
        known = np.linalg.norm(self.atoms @ image, axis=1)
        far = self.atoms[np.argsort(-known)[: 2 * self.dimension]]
        random = self._random.standard_normal((2 * self.dimension, self.dimension)) @ image.T
        x = np.vstack([far, self._base.extreme(axes), self._base.extreme(random)])
        value = np.linalg.norm(x @ image, axis=1)
        for _ in range(_CLIMBS):
            higher = self._base.extreme((x @ image) @ image.T)
            reached = np.linalg.norm(higher @ image, axis=1)
            if not np.any(reached > value * (1 + _BEYOND)):
                break
            x, value = higher, reached
        out = np.flatnonzero(value > beyond * (1 + _BEYOND))
        out = out[np.argsort(-value[out])][:wanted]
        added = self._add(x[out])
        return Priced(float(max(np.max(value), np.max(known))), added)

    def _add(self, points: Vector) -> Integers:
        """Take points in that are new, up to a change of all signs, and return their indices."""
        start = len(self.atoms)
        for x in points:
            same = np.abs(self.atoms - x).max(axis=1, initial=0.0) < _BEYOND
            opposite = np.abs(self.atoms + x).max(axis=1, initial=0.0) < _BEYOND
            if not np.any(same | opposite):
                self.atoms = np.vstack([self.atoms, x])
        return np.arange(start, len(self.atoms))
