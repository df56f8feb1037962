# SPDX-License-Identifier: Apache-2.0
"""The noise of moments of few columns: differences that stick out are found one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.solvers.moment_masses import far_apart, swapped
from lownoise.solvers.moment_problem import Precisions

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.moment_problem import Weighed

_ROUNDS = 40
_STARTS = 32
_AGAIN = 4
_NEAR = 1e-7
_LEAST = 1e-7  # of where a search starts
_STEPS = 400


def searched(of: Weighed) -> tuple[Precisions, Vector, int]:
    """Return the best noise of differences, pairs that are far apart in it, and how many rounds."""
    search = _Search(of)
    rounds = 0
    while rounds < _ROUNDS:
        rounds += 1
        search.improve()
        out = search.beyond()
        if not len(out):
            break
        search.u = np.unique(np.vstack([search.u, out]), axis=0)
    own, points = search.found(), swapped(search.u)
    try:
        other = of.dual_noise(points, own.variances)
    except KeyboardInterrupt:
        return own, points, rounds
    return min(own, other, key=of.size_up), points, rounds


@final
class _Search:
    """Precisions nᵢ, nᵢⱼ, κ and g ≤ n/4 whose cost is at most 1 for some u; see `MomentSet`.

    Args:
        of: the problem.
    """

    def __init__(self, of: Weighed) -> None:
        self._of, d = of, of.d
        self._d, (self._left, self._right) = d, of.pairs
        self._k = k = self._left.size
        power = 2 * of.smooth / (of.smooth + 2)
        squares = of.block**power / np.sum(of.alone**power)
        start = np.concatenate([of.start, squares])
        self._unit = np.append(start, start[d : d + k] / 4)
        self._limit = np.hstack([np.zeros((k, d)), np.eye(k), np.zeros((k, d)), -np.eye(k)])
        self._least = np.append(np.full(2 * d + k, _LEAST), np.zeros(k))
        self._x = np.append(np.ones(2 * d + k), np.full(k, 0.5))
        self._random = np.random.default_rng(0)  # where to look: nothing that is released
        signs = 1.0 - 2.0 * np.indices((2,) * d).reshape(d, -1).T
        self.u = np.vstack([signs[1:], np.zeros((1, d))])

    def found(self) -> Precisions:
        """Return the noise."""
        d, k, v = self._d, self._k, self._x * self._unit
        return Precisions(v[:d], v[d : d + k], np.asarray(np.linalg.inv(self._block(v)), float))

    def _block(self, v: Vector) -> Vector:
        d, k = self._d, self._k
        table = self._of.table(v[2 * d + k :])
        return np.asarray(np.diag(v[d + k : 2 * d + k] + np.sum(table, axis=1)) - table)

    def _rows(self, u: Vector) -> Vector:
        left, right = self._left, self._right
        q = 1 - np.square(u)
        own = np.square(1 - u[:, left] * u[:, right])
        parts = [np.square(1 - u), own, q * q, np.square(q[:, left] - q[:, right])]
        return np.asarray(np.hstack(parts) * self._unit)

    def _value(self, x: Vector) -> tuple[float, Vector]:
        """Return the logarithm of the objective, and its gradient."""
        d, k, left, right, v = self._d, self._k, self._left, self._right, x * self._unit
        inverse = np.linalg.inv(self._block(v))
        log, slope = self._of.objective(np.append(1 / v[: d + k], np.diag(inverse)))
        along = -(inverse * slope[d + k :]) @ inverse
        own = np.diag(along)
        more = own[left] + own[right] - 2 * along[left, right]
        grad = np.concatenate([-slope[: d + k] / v[: d + k] ** 2, own, more])
        return log, grad * self._unit

    def improve(self) -> None:
        """Take the best for all u so far."""
        seen = self._rows(self.u)
        for _ in range(_AGAIN):
            before = self._x
            self._x = self._improved(before, seen)
            if np.array_equal(before, self._x):
                break

    def _improved(self, x: Vector, seen: Vector) -> Vector:
        from scipy.optimize import minimize

        d, k, limit = self._d, self._k, self._limit
        before = x / np.max(seen @ x)
        found = minimize(
            self._value,
            before * 0.999,
            jac=True,
            method="SLSQP",
            bounds=[(low, None) for low in self._least],
            constraints=[
                {"type": "ineq", "fun": lambda z: 1 - seen @ z, "jac": lambda _: -seen},
                {"type": "ineq", "fun": lambda z: limit @ z, "jac": lambda _: limit},
            ],
            options={"ftol": 1e-13, "maxiter": _STEPS},
        ).x
        found = np.maximum(found, self._least)
        found[2 * d + k :] = np.minimum(found[2 * d + k :], found[d : d + k])
        found = found / np.max(seen @ found)
        return np.asarray(found if self._value(found)[0] < self._value(before)[0] else before)

    def beyond(self) -> Vector:
        """Return u of what sticks out, shape (n, d)."""
        d, k, v = self._d, self._k, self._x * self._unit
        noise = (v[:d], v[d : d + k], self._block(v))
        values, u = far_apart(*noise, self._random.uniform(-1, 1, (_STARTS, d)))
        return np.unique(u[values > 1 + _NEAR], axis=0)
