# SPDX-License-Identifier: Apache-2.0
"""The problem of the least noise of moments in half widths, for what solves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import FlipDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sensitivity.factors import BlockShape, DenseShape
from lownoise.solvers.moment_masses import best_masses
from lownoise.solvers.solution import lower_triangle

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import MomentSet
    from lownoise.solvers.solution import Asked

_LARGE = 256.0  # an order as good as infinite, whose gradient is known
_REPEATS = 6  # of masses and weights in turn
_LARGEST = 500_000  # entries of a list, beyond which weights are those of the noise
_FAINT = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Precisions:
    """Noise in half widths, by what it reveals.

    Args:
        singles: nᵢ, shape (d,).
        products: nᵢⱼ, i < j in order, shape (d(d − 1)/2,).
        covariance: M⁻¹ of the squares, and the count, shape (k, k).
    """

    singles: Vector
    products: Vector
    covariance: Vector

    @property
    def variances(self) -> Vector:
        """Of all: singles, products, and the block."""
        own = np.append(self.singles, self.products)
        return np.append(1 / own, np.diag(self.covariance))


@final
class Weighed:
    """The problem in half widths.

    Args:
        moments: their set.
        body: what changes.
        asked: weights and order.
    """

    def __init__(self, moments: MomentSet, body: Any, asked: Asked) -> None:  # noqa: ANN401
        known = moments
        d = known.width
        self.body, self.order = body, asked.order
        self.smooth = min(asked.order, _LARGE)
        self.d, self.pairs = d, known.pairs
        self.places: Integers = known.squares
        unit = known.scale / body.step
        if body.count:
            self.places = np.append(self.places, known.dimension)
            unit = np.append(unit, body.count)
            self.away = body.origin[known.squares] / known.scale[known.squares]
        self.unit = unit
        self.kept = np.append(np.arange(d), known.products)
        self.weights = asked.weights
        omega = asked.weights * unit
        self.size = float(np.max(omega))
        self.omega = self.ordered(omega) / self.size
        self.alone, self.block = self.omega[: self.kept.size], self.omega[self.kept.size :]

    def ordered(self, values: Vector) -> Vector:
        """Return values of all coordinates as singles, products and the block."""
        return np.append(values[self.kept], values[self.places])

    @property
    def start(self) -> Vector:
        """Precisions that would be best if all cost alike, of sum 1, of all but the block."""
        own = self.alone ** (2 * self.smooth / (self.smooth + 2))
        return np.asarray(own / np.sum(own))

    def table(self, products: Vector) -> Vector:
        """Return nᵢⱼ as a symmetric matrix."""
        found = np.zeros((self.d, self.d))
        left, right = self.pairs
        found[left, right] = found[right, left] = products
        return found

    def objective(self, variances: Vector) -> tuple[float, Vector]:
        """Return log ‖ω·deviations‖_p, and its gradient along the variances."""
        p = self.smooth
        logs = np.log(np.square(self.omega) * variances) * p / 2
        top = float(np.max(logs))
        parts = np.exp(logs - top)
        total = float(np.sum(parts))
        return (top + math.log(total)) / p, parts / total / 2 / variances

    def shape(self, found: Precisions) -> BlockShape:
        """Return the noise in the body's own coordinates."""
        alone = self.unit[self.kept] / np.sqrt(np.append(found.singles, found.products))
        unit = self.unit[self.places]
        scale = np.sqrt(np.diag(found.covariance))
        root = np.linalg.cholesky(found.covariance / np.outer(scale, scale))
        factor = lower_triangle((unit * scale)[:, None] * root)
        back = np.argsort(self.kept)  # singles, and products in their order
        return BlockShape(frozen(alone[back]), self.places, DenseShape(factor))

    def size_up(self, found: Precisions) -> float:
        """Return the logarithm of what the noise has, enlarged until it covers."""
        return self.objective(found.variances)[0] + math.log(self.body.radius_up(self.shape(found)))

    def _masses(self, points: Vector, variances: Vector) -> tuple[Vector, Vector]:
        """Return the best masses on some records or pairs, and weights on the answers."""
        q = conjugate(self.order)
        c = np.ones(variances.size)
        if math.isfinite(q):
            logs = (self.smooth - 2) * np.log(self.omega * np.sqrt(variances))
            c = np.exp(np.maximum(logs - np.max(logs), math.log(_FAINT)))
        squares, block = self._features(points)
        masses = None
        again = math.isfinite(q) and squares.size < _LARGEST
        for _ in range(_REPEATS if again else 1):
            c = c / order_norm(c, q)
            masses, shares = best_masses(squares, block, self.omega, c, masses)
            if again:
                c = np.maximum(shares / np.max(shares), _FAINT) ** (1 / q)
        assert masses is not None  # noqa: S101 (there is a round)
        return masses, c / order_norm(c, q)

    def dual_noise(self, points: Vector, variances: Vector) -> Precisions:
        """Return the noise that belongs to the best masses on some pairs."""
        masses, c = self._masses(points, variances)
        squares, block = self._features(points)
        asked = self.omega * np.sqrt(c)
        n = asked[: squares.shape[1]] / np.sqrt(np.maximum(masses @ squares, _FAINT))
        unit = asked[squares.shape[1] :]
        form = (block.T * masses) @ block * np.outer(unit, unit)
        values, axes = np.linalg.eigh(form)
        root = (axes * np.sqrt(np.maximum(values, _FAINT * values[-1]))) @ axes.T
        return Precisions(n[: self.d], n[self.d :], root / np.outer(unit, unit))

    def evidence(self, points: Vector, variances: Vector) -> FlipDual:
        """Return what proves how near the least of all noise some is."""
        return self._dual(points, *self._masses(points, variances))

    def some_evidence(self, points: Vector) -> FlipDual:
        """Return equal masses and weights, where no time is left."""
        return self._dual(points, np.full(len(points), 1 / len(points)), np.ones(self.omega.size))

    def _dual(self, points: Vector, masses: Vector, c: Vector) -> FlipDual:
        placed = np.empty(c.size)
        placed[self.kept], placed[self.places] = c[: self.kept.size], c[self.kept.size :]
        used = masses > _FAINT * np.max(masses)
        share = masses[used] / np.sum(masses[used])
        return FlipDual(frozen(points[used]), frozen(share), frozen(placed))

    def _features(self, points: Vector) -> tuple[Vector, Vector]:
        """Return the squares of what all but the block change by, and what the block does."""
        left, right = self.pairs
        first, second = points[:, : self.d], points[:, self.d :]
        moved = np.hstack([first, first[:, left] * first[:, right]])
        if self.body.count:
            own = np.hstack([np.square(first) - self.away, np.ones((len(first), 1))])
            return np.square(moved), own
        moved -= np.hstack([second, second[:, left] * second[:, right]])
        return np.square(moved), np.square(first) - np.square(second)
