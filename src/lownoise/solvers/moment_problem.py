# SPDX-License-Identifier: Apache-2.0
"""The problem of the least noise of moments in half widths, and the masses that prove most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import FlipDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sensitivity.factors import BlockShape, DenseShape
from lownoise.solvers.solution import lower_triangle

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import MomentSet
    from lownoise.solvers.solution import Asked


_MOST_SWAPS = 5  # inner columns, each of which either record may have
_SWEEPS = 20
_STEPS = 600
_LEAST_STEPS = 100
_WORK = 1.2e9  # entries looked at
_FAINT_MASS = 1e-14
_MANY = 60  # columns, beyond which fewer pairs prove nearly as much
_FEWER = 160
_MIXED = 60


def best_masses(
    squares: Vector, block: Vector, omega: Vector, c: Vector, start: Vector | None = None
) -> tuple[Vector, Vector]:
    """Return masses λ that make Σ √(cω²Σλs²) + tr √(what the block has) great, and its shares.

    Args:
        squares: s² of all but the block, shape (n, a).
        block: what the block changes by, shape (n, b).
        omega: ω of both, shape (a + b,).
        c: weights on the answers, shape (a + b,).
        start: masses to begin with; the first counts for much by default.

    Returns:
        λ, shape (n,), and how much of the sum each answer has, shape (a + b,).
    """
    from scipy.optimize import minimize

    n, a = squares.shape
    asked = np.square(omega) * c
    rows = block * np.sqrt(asked[a:])
    size = float(np.max(asked[:a]))
    root = math.sqrt(size)
    rows = rows / root

    def parts(masses: Vector) -> tuple[Vector, Vector, Vector]:
        z = (masses @ squares) * asked[:a] / size
        form = (rows.T * masses) @ rows
        values, axes = np.linalg.eigh(form + _FAINT_MASS * (1 + np.trace(form)) * np.eye(len(form)))
        return np.maximum(z, _FAINT_MASS * _FAINT), np.maximum(values, _FAINT * _FAINT), axes

    def short(v: Vector) -> tuple[float, Vector]:
        masses = np.exp(v - np.max(v))
        masses /= np.sum(masses)
        z, values, axes = parts(masses)
        total = float(np.sum(np.sqrt(z)) + np.sum(np.sqrt(values)))
        slope = squares @ (asked[:a] / size / np.sqrt(z))
        slope += np.sum(np.square(rows @ axes) / np.sqrt(values), axis=1)
        slope /= 2 * total
        return -math.log(total), -masses * (slope - masses @ slope)

    first = np.zeros(n) if start is None else np.log(np.maximum(start, _FAINT_MASS))
    most = int(np.clip(_WORK / squares.size, _LEAST_STEPS, _STEPS))
    options = {"maxiter": most, "maxfun": 2 * most, "ftol": 1e-13, "gtol": 1e-10}
    found = minimize(short, first, jac=True, method="L-BFGS-B", options=options)
    masses = np.exp(found.x - np.max(found.x))
    masses /= np.sum(masses)
    z, values, axes = parts(masses)
    shares = np.append(np.sqrt(z), np.square(axes) @ np.sqrt(values))
    return masses, shares


def ends(width: int) -> Vector:
    """Return some corners of t: all ones, none, all but one, and single ones; shape (n, d)."""
    one = np.eye(width)
    single = one if width <= _MANY else one[:0]
    return np.vstack([np.ones((1, width)), np.zeros((1, width)), 1 - one, single])


def far_apart(
    singles: Vector, products: Vector, block: Vector, starts: Vector
) -> tuple[Vector, Vector]:
    """Return how great the form of differences is where it is greatest nearby, and there u.

    Args:
        singles: nᵢ, shape (d,).
        products: nᵢⱼ, i < j in order, shape (d(d − 1)/2,).
        block: M of the squares, shape (d, d).
        starts: u to start from, shape (n, d).
    """
    from scipy.optimize import minimize

    left, right = np.triu_indices(singles.size, 1)

    def less(u: Vector) -> tuple[float, Vector]:
        q, w = 1 - u * u, 1 - u[left] * u[right]
        seen = block @ q
        found = singles @ np.square(1 - u) + products @ (w * w) + q @ seen
        slope = -2 * singles * (1 - u) - 4 * u * seen
        np.add.at(slope, left, -2 * products * w * u[right])
        np.add.at(slope, right, -2 * products * w * u[left])
        return -float(found), -slope

    sides = [(-1, 1)] * singles.size
    ends = [minimize(less, at, jac=True, method="L-BFGS-B", bounds=sides) for at in starts]
    return np.array([-each.fun for each in ends]), np.round([each.x for each in ends], 5)


def swapped(u: Vector) -> Vector:
    """Return pairs of a corner and u times it, and others in which inner columns are exchanged.

    That leaves z and products, or hardly, and takes squares to all signs; shape (n, 2d).
    """
    found = []
    for own in u:
        inner = np.flatnonzero(np.abs(own) < 1)[1 : 1 + _MOST_SWAPS]
        for signs in np.ndindex(*(2,) * inner.size):
            pair = np.stack([np.ones(own.size), own])
            some = inner[np.array(signs, dtype=bool)]
            pair[:, some] = pair[::-1, some]
            found.append(pair.ravel())
    return np.unique(np.array(found), axis=0)


def cuts(vectors: Vector, graph: Vector) -> Vector:
    """Return pairs whose second is ±1 times the first, by the signs of vectors seen from somewhere.

    Each is improved, a sign at a time, until no other is farther; and pairs of which one is in the
    middle of some columns.

    Args:
        vectors: x, shape (d + 1, r).
        graph: N, what products reveal, shape (d + 1, d + 1).
    """
    r = len(vectors)
    random = np.random.default_rng(0)  # where to look: nothing that is released
    many = 3 * r + 40 if r <= _MANY else _FEWER
    signs = np.where(random.standard_normal((many, vectors.shape[1])) @ vectors.T < 0, -1.0, 1.0)
    for _ in range(_SWEEPS * r):
        # how much farther a pair gets by one other sign
        gain = signs * (signs @ graph)
        best = np.argmax(gain, axis=1)
        rows = np.arange(many)
        better = gain[rows, best] > 1e-12 * np.max(graph)
        if not np.any(better):
            break
        signs[rows[better], best[better]] *= -1
    signs = np.unique(signs * signs[:, :1], axis=0)[:, 1:]
    d = r - 1
    far = np.hstack([np.ones_like(signs), signs])
    middle = np.hstack([np.ones((1, d)), np.zeros((1, d))])
    half = random.random((min(d, _MIXED), d)) < 0.5  # noqa: PLR2004 (one of two)
    mixed = np.hstack([np.where(half, 1.0, 0.0), np.where(half, 0.0, 1.0)])
    return np.vstack([middle, mixed, far])


_LARGE = 256.0  # an order as good as infinite, whose gradient is known
_REPEATS = 6  # of masses and weights in turn
_LARGEST = 500_000  # entries of a list, beyond which weights are those of the noise
_FAINT = 1e-12
_SAME = 1e-12  # of a variance: what it has in another unit


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
        self._found: tuple[Vector, Vector, Vector, Vector] | None = None  # the last masses
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
        """Return the best masses on some records or pairs, and weights on the answers.

        Enlarged noise has the same, which are not sought again.
        """
        shape = variances / np.max(variances)
        if self._found is not None:
            known, alike, *found = self._found
            if known is points and np.allclose(shape, alike, rtol=_SAME, atol=0.0):
                return found[0], found[1]
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
        self._found = points, shape, masses, c / order_norm(c, q)
        return self._found[2:]

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
