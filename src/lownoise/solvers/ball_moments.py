# SPDX-License-Identifier: Apache-2.0
"""The least noise of moments of a ball: of columns, of products without their trace, and of that.

Rotations leave the ball as it is. Of weights that differ in columns, in products and in squares the
best noise is left by flips and by orders of columns alone; but what records change costs the
greater of a and m/2 (`sets.bodies.ball_moments`), so that m = 2a loses nothing: rotations leave the
least noise as it is. Three numbers are left, and in radii:

* differences cost 1 at most where h(n, a) ≤ 1 and g(u) ≤ 1: for a given n these bound a and κ, and
  what is left is convex in n and in a;
* records and their count cost 1 at most at the center and at the surface, so that evidence is one
  mass, and noise follows from the best (the mean of two matrices that fidelity is of).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import TurnedDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sensitivity.factors import BlockShape, DenseShape
from lownoise.sets.bodies.ball_moments import lesser_root, long_way
from lownoise.solvers.solution import NEAR, SOLVED, Solution, lower_triangle

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.solution import Asked

_SEARCH = 60
_ROUGHLY = 34  # where what is off counts by its square
_HALVINGS = 60
_REPEATS = 40  # of weights on the answers
_FAINT = 1e-12
_LITTLE = 1e-7
_WIDE = 50.0
_GOLDEN = (math.sqrt(5) - 1) / 2


def ball_solution(body: Any, asked: Asked) -> Solution:  # noqa: ANN401 (an oracle body)
    """Return noise that rotations leave as it is, the least of all where weights are of kinds."""
    known = _Kinds(body, asked)
    found, dual = known.lifted() if body.count else known.apart()
    shape = known.shape(*found)
    shape = shape.scaled(body.radius_up(shape))
    claim = asked.claim(body, None, shape, dual)
    done = claim.proved.gap <= asked.rtol
    return Solution(claim, SOLVED if done else NEAR, 1)


def _least(
    function: Callable[[float], float], low: float, high: float, rounds: int = _SEARCH
) -> float:
    """Return where a convex function of one number is least, by golden sections."""
    one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    first, second = function(one), function(two)
    for _ in range(rounds):
        if first <= second:
            high, two, second = two, one, first
            one = high - _GOLDEN * (high - low)
            first = function(one)
        else:
            low, one, first = one, two, second
            two = low + _GOLDEN * (high - low)
            second = function(two)
    return (low + high) / 2


def _most_kappa(n: float) -> float:
    """Return the greatest κ with g(u) ≤ 1 everywhere."""
    low, high = 0.0, 1 - n  # g(0) = n + κ
    for _ in range(_HALVINGS):
        kappa = (low + high) / 2
        fits = long_way(n, kappa, lesser_root(n, kappa)) <= 1
        low, high = (kappa, high) if fits else (low, kappa)
    return low


def _most_apart(n: float) -> float:
    """Return the greatest a with h(n, a) ≤ 1."""
    return (1 - 2 * n + math.sqrt(max(1 - 4 * n, 0.0))) / 4


def _root(form: Vector) -> Vector:
    """Return the root of a form of two numbers, whose sizes may be as unlike as weights are."""
    whole = math.sqrt(max(form[0, 0] * form[1, 1] - form[0, 1] ** 2, 0.0))
    return np.asarray((form + whole * np.eye(2)) / math.sqrt(np.trace(form) + 2 * whole))


class _Kinds:
    """The problem in radii: columns, products, squares, and the count.

    Args:
        body: what changes.
        asked: weights and order.
    """

    def __init__(self, body: Any, asked: Asked) -> None:  # noqa: ANN401
        of = body.program
        self.of, self.d, self.order = of, of.width, asked.order
        unit = of.scale / body.step
        self.kept, self.places = np.append(np.arange(self.d), of.products), of.squares
        if body.count:
            self.places = np.append(self.places, of.dimension)
            unit = np.append(unit, body.count)
            self.away = float(np.mean((body.origin / of.scale)[of.squares]))
        self.unit, self.body = unit, body
        omega = asked.weights * unit
        self.omega = omega / np.max(omega)
        pick = (np.arange(self.d), of.products, of.squares)
        self.groups = [np.asarray(own) for own in pick]
        # as many equal weights as have the same norm
        self.sizes = [order_norm(self.omega[own], self.order) for own in self.groups]
        self.last = float(self.omega[-1]) if body.count else 0.0
        q = conjugate(self.order)  # what evidence proves is ‖ω·roots‖_r, with the best weights
        self.proving = 1.0 if math.isinf(q) else 2 * q / (2 * q - 1)
        self.proved = np.array([order_norm(self.omega[own], self.proving) for own in self.groups])

    def _objective(self, deviations: list[float]) -> float:
        sizes = [*self.sizes, self.last]
        own = [size * one for size, one in zip(sizes, deviations, strict=False)]
        return order_norm(np.array(own), self.order)

    def apart(self) -> tuple[tuple[float, float, Vector], TurnedDual]:
        """Return the least noise for differences, and evidence."""
        d = self.d

        def noise(n: float, a: float, kappa: float) -> list[float]:
            b = max(kappa - a * (1 - 1 / d), _FAINT)
            return [n**-0.5, (2 * a) ** -0.5, math.sqrt((1 - 1 / d) / a + 1 / (d * d * b))]

        def inner(n: float) -> tuple[float, float]:
            kappa = _most_kappa(n)
            most = min(_most_apart(n), kappa / (1 - 1 / d))
            a = _least(lambda x: self._objective(noise(n, x, kappa)), _FAINT * most, most)
            return a, kappa

        n = _least(lambda x: self._objective(noise(x, *inner(x))), 1e-9, 0.25 - 1e-12)
        a, kappa = inner(n)
        b = max(kappa - a * (1 - 1 / d), _FAINT)
        root = lesser_root(n, kappa)
        away = min(n / (2 * a), 1.0)
        points = np.array([[1.0, root, -1.0], [1.0, 1.0, -away], [1.0, 1.0, -1.0]])
        first, second = np.square(points[:, 0]), np.square(points[:, 1])
        along = points[:, 0] * points[:, 1] * points[:, 2]
        trace = np.square(first - second)
        split = first**2 + second**2 - 2 * along**2 - trace / d
        costs = np.stack([first + second - 2 * along, split, trace])

        def found(masses: Vector) -> float:
            roots = self._of_costs(*(costs @ masses))[0]
            return float(np.sum((self.proved * roots) ** self.proving))

        def masses_of(one: float, two: float) -> Vector:
            return np.array([one * (1 - two), (1 - one) * (1 - two), two])

        def best(two: float) -> float:
            return _least(lambda one: -found(masses_of(one, two)), 0.0, 1.0, _ROUGHLY)

        two = _least(lambda x: -found(masses_of(best(x), x)), 0.0, 1.0, _ROUGHLY)
        masses = masses_of(best(two), two)
        roots, share = self._of_costs(*(costs @ masses))
        kinds = np.concatenate(
            [self.omega[at] * one for at, one in zip(self.groups, roots, strict=True)]
        )
        c = np.empty(self.omega.size)
        c[np.concatenate(self.groups)] = (kinds / np.max(kinds)) ** (2 * self.proving - 2)
        b = max(kappa - a * (1 - 1 / d), _FAINT)
        return (n, a, np.array([[b]])), self._evidence(points, share, masses, c)

    def _of_costs(self, first_size: float, split: float, trace: float) -> tuple[Vector, float]:
        """Return roots of the second moments of each kind, and the share of products.

        That is the best share where weights on the answers are even; for others by halves of logs.
        """
        d, r = self.d, self.proving
        first = math.sqrt(max(first_size, 0.0) / d)
        level = math.sqrt(max(trace, 0.0) / d)

        def of_share(share: float) -> Vector:
            products = math.sqrt(max(split, 0.0) * share / (d * (d - 1)))
            squares = math.sqrt(max(split, 0.0) * (1 - share) / (d - 1))
            return np.array([first, products, ((d - 1) * squares + level) / d])

        def size(share: float) -> float:
            return -float(np.sum((self.proved * of_share(share)) ** r))

        if r == 1:
            two, three = self.proved[1] ** 2 / d, self.proved[2] ** 2 * (d - 1) ** 2 / d / d
            share = two / (two + three)
        else:
            share = _least(size, 0.0, 1.0, _ROUGHLY)
        return of_share(share), share

    def lifted(self) -> tuple[tuple[float, float, Vector], TurnedDual]:
        """Return the least noise for records and their count, and evidence."""
        points = np.array([[0.0], [1.0]])
        mass = _least(lambda x: -self._of_mass(x)[0], 1e-9, 1 - 1e-9)
        _, c, roots, share = self._of_mass(mass)
        asked = [math.sqrt(c[i]) * self._mean(i) for i in range(3)]
        n, a = asked[0] / max(roots[0], _FAINT), asked[1] / max(roots[1], _FAINT) / 2
        # the trace and the count: G⁻¹ # C of the form whose root fidelity is of
        unit = np.array([asked[2] / math.sqrt(self.d), math.sqrt(c[3]) * self.last])
        root = _root(np.outer(unit, unit) * self._block(mass))
        form = np.linalg.inv(root / np.outer(unit, unit))
        last = np.array([self.omega.size - 1])
        each = np.empty(self.omega.size)
        for at, weight in zip((*self.groups, last), c.tolist(), strict=True):
            each[at] = weight
        masses = np.array([1 - mass, mass])
        found = (n, a, np.asarray(form, dtype=np.float64))
        if math.isinf(self.order):  # where evidence may leave some noise open
            found = self._largest()
        return found, self._evidence(points, share, masses, each)

    def _largest(self) -> tuple[float, float, Vector]:
        """Return the noise whose weighted deviations are all 1 and that costs the least."""
        d, (first, products, squares) = self.d, self.sizes
        n, part = first**2, 1 - 1 / self.d
        trace = np.array([[-d * self.away, 1.0], [1 - d * self.away, 1.0]])

        def form(a: float, along: float) -> Vector:
            v, w = d * d * (squares**-2 - part / a), self.last**-2
            beside = along * math.sqrt(v * w)
            found = np.array([[w, -beside], [-beside, v]]) / (v * w * (1 - along**2))
            return np.asarray(found)

        def cost(a: float, along: float) -> float:
            center, surface = np.sum((trace @ form(a, along)) * trace, axis=1).tolist()
            return float(max(center, surface + n + a * part))

        def best(a: float) -> float:
            return _least(lambda own: cost(a, own), -1 + _LITTLE, 1 - _LITTLE)

        low = max(products**2 / 2, part * squares**2) * (1 + _LITTLE)
        a = _least(lambda own: cost(own, best(own)), low, low * _WIDE)
        return n, a, form(a, best(a))

    def _mean(self, kind: int) -> float:
        return float(np.mean(self.omega[self.groups[kind]]))

    def _block(self, mass: float) -> Vector:
        """Return the second moment of the trace and the count."""
        trace = np.array([-self.d * self.away, 1 - self.d * self.away])
        rows = np.stack([trace, np.ones(2)], axis=1) * np.sqrt([[1 - mass], [mass]])
        return np.asarray(rows.T @ rows)

    def _of_mass(self, mass: float) -> tuple[float, Vector, list[float], float]:
        """Return what a mass at the surface proves, and with which weights on kinds.

        Returns:
            What it proves, the weights, roots of the moments of columns and products, and the share
            of these.
        """
        d, q, block = self.d, conjugate(self.order), self._block(mass)
        counts = np.array([d, self.of.products.size, d, 1.0])
        omega = np.array([*(self._mean(kind) for kind in range(3)), self.last])
        split, c = mass * (1 - 1 / d), np.ones(4)
        for _ in range(_REPEATS if math.isfinite(q) else 1):
            c = c / (float(counts @ c**q) ** (1 / q) if math.isfinite(q) else 1.0)
            asked = np.sqrt(c) * omega
            two, three = asked[1] ** 2 * d / 4, asked[2] ** 2
            share = float(two / (two + three))
            products = math.sqrt(split * share / (d * (d - 1)))
            squares = math.sqrt(split * (1 - share) / (d - 1))
            unit = np.array([asked[2] / math.sqrt(d), asked[3]])
            root = _root(np.outer(unit, unit) * block)
            first = math.sqrt(mass / d)
            shares = np.array(
                [
                    asked[0] * d * first,
                    asked[1] * counts[1] * products,
                    asked[2] * (d - 1) * squares + root[0, 0],
                    root[1, 1],
                ]
            )
            if math.isfinite(q):
                one = shares / counts
                # a kind whose greatest deviation is less has a little, so that it has noise
                c = np.maximum(one / (counts @ one), _LITTLE / counts.sum()) ** (1 / q)
        return float(np.sum(shares)), asked**2 / omega**2, [first, products], share

    def _evidence(self, points: Vector, share: float, masses: Vector, c: Vector) -> TurnedDual:
        own = np.column_stack([points, np.full(len(points), min(max(share, 0.0), 1.0))])
        placed = c / order_norm(c, conjugate(self.order))
        return TurnedDual(frozen(own), frozen(masses / np.sum(masses)), frozen(placed))

    def shape(self, n: float, a: float, form: Vector) -> BlockShape:
        """Return the noise in the body's own coordinates.

        Args:
            n: of columns.
            a: of what has no trace.
            form: of the trace, and the count, shape (1, 1) or (2, 2).
        """
        d = self.d
        alone = np.append(np.full(d, n), np.full(self.of.products.size, 2 * a)) ** -0.5
        alone = alone * self.unit[self.kept]
        covariance = np.linalg.inv(form)
        block = np.eye(self.places.size)
        even = float(covariance[0, 0]) / d / d
        # where one of both hardly matters, the other has enough beside it to be seen
        block[:d, :d] = (np.eye(d) - 1 / d) * max(1 / a, _FAINT * d * even)
        block[:d, :d] += max(even, _FAINT / d / a)
        if len(form) > 1:
            block[:d, d] = block[d, :d] = covariance[0, 1] / d
            block[d, d] = covariance[1, 1]
        unit = self.unit[self.places]
        scale = np.sqrt(np.diag(block))
        root = np.linalg.cholesky(block / np.outer(scale, scale))
        factor = lower_triangle((unit * scale)[:, None] * root)
        back = np.argsort(self.kept)
        return BlockShape(frozen(alone[back]), self.places, DenseShape(factor))
