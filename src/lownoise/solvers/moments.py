# SPDX-License-Identifier: Apache-2.0
"""The least noise of moments: independent but for one block of the squares, and the count.

In half widths the noise has precisions nᵢ of zᵢ, nᵢⱼ of zᵢzⱼ and a block M of squares, and what it
costs is linear in them. M is diag(κ) + Σ gᵢⱼ(eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ, the more of g the less the noise:

* of differences g is at most n/4, by which no sign of what squares change by costs more than
  another. Of few columns differences are found one by one, and nothing is lost. Of many the worst
  is bounded by the relaxation of a cut (`moment_forms`), for a part 1/(d + 1)² at most: with
  vectors x, |x₀| = 1 and |xᵢ|² = 1 − σᵢ, it follows from the greatest Σ ω|xᵢ − xⱼ|; g = n/4;
* of records and their count, g = n/2: the cost is linear in t then, and its worst corner known.

Masses on a few of what is worst prove how near the least of all noise is.

The noise of moments of many columns, by what bounds how far they reach.

The noise of moments of few columns: differences that stick out are found one by one.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, cast, final

import numpy as np

from lownoise.solvers.moment_problem import Precisions, Weighed, cuts, ends, far_apart, swapped
from lownoise.solvers.solution import INTERRUPTED, SOLVED, Solution

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractOracleBody, MomentSet
    from lownoise.solvers.solution import Asked

_ROUNDS = 40
_AGAIN = 4
_NEAR = 1e-7
_LEAST = 1e-7  # of where a search starts
_TRIES = 400


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
            options={"ftol": 1e-13, "maxiter": _TRIES},
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


_STEPS = 1500
_WIDE = 40.0  # of a logarithm, about where a search begins
_COUNT = 0.1  # of what is revealed, for the count, where a search begins
_WORK = 4e9  # numbers looked at by a search
_SHARES = (0.85, 0.1, 0.3, 0.5, 0.7, 1.0)  # of κ, that are tried
_APART = (1e-14, 1e-3, 0.02, 0.1, 0.4, 1.0, 2.0)  # squares of lengths of differences of vectors
_FAINT = 1e-14
_SLIGHT = 1e-11
_FEW = 24  # columns, of whose differences inner ones prove much
_LOOKS = 3
_STARTS = 32


def lifted(of: Weighed) -> Precisions:
    """Return the best noise whose cost of a record and its count is linear in its squares."""
    from scipy.optimize import minimize

    d, (left, right) = of.d, of.pairs
    k, start = left.size, of.start

    def parts(v: Vector) -> tuple[Vector, Vector, Vector, Vector, float]:
        e = np.exp(v[: 2 * d + k])
        return e[:d], e[d : d + k], e[d + k :], v[2 * d + k : 3 * d + k], math.exp(v[-1])

    def block(v: Vector) -> tuple[Vector, Vector, Vector, float]:
        """Return M⁻¹, M⁻¹m and m: the form is tᵀMt + 2mᵀt + mᵀM⁻¹m + s."""
        n, nn, kappa, level, s = parts(v)
        table = of.table(nn)
        degree = np.sum(table, axis=1)
        # columns of very unlike widths leave no digits of κ beside a row's sum
        inverse = np.linalg.inv(np.diag(kappa + degree * (0.5 + _SLIGHT)) - table / 2)
        m = (level - n - kappa - degree / 2) / 2
        return np.asarray(inverse, float), np.asarray(inverse @ m, float), m, s

    def value(v: Vector) -> tuple[float, Vector]:
        n, nn, kappa, level, s = parts(v)
        w, a, m, _ = block(v)
        cost = s + float(m @ a) + float(np.sum(level))
        b = a + of.away
        log, slope = of.objective(np.concatenate([1 / n, 1 / nn, np.diag(w) + b * b / s, [1 / s]]))
        on, onn, osq, oc = np.split(slope, [d, d + k, 2 * d + k])
        ga = 2 * osq * b / s  # along a
        gs = -float(osq @ (b * b)) / s**2 - float(oc[0]) / s**2 + 0.5 / cost
        gw = np.diag(osq) + (np.outer(ga, m) + np.outer(m, ga)) / 2
        gm_matrix = -w @ gw @ w - np.outer(a, a) * 0.5 / cost
        gm = w @ ga + a / cost
        gl = gm / 2 + 0.5 / cost
        gk = np.diag(gm_matrix) - gm / 2
        degree = np.diag(gm_matrix) / 2 - gm / 4
        gnn = -onn / nn**2 + degree[left] + degree[right] - gm_matrix[left, right]
        gn = -on / n**2 - gm / 2
        grad = np.concatenate([gn * n, gnn * nn, gk * kappa, gl, [gs * s]])
        return log + math.log(cost) / 2, grad

    power = 2 * of.smooth / (of.smooth + 2)
    squares = of.block[:d] ** power / np.sum(of.alone**power)
    first = np.concatenate(
        [np.log(start), np.log(squares), np.full(d, 0.5 / d), [math.log(_COUNT)]]
    )
    bounds: list[tuple[float | None, float | None]]
    bounds = [(own - _WIDE, own + _WIDE) for own in first.tolist()]
    bounds[2 * d + k : -1] = [(0.0, None)] * d
    most = int(np.clip(_WORK / d**3 / 20, 100, _STEPS))
    options = {"maxiter": most, "maxfun": 2 * most, "ftol": 1e-13, "gtol": 1e-9}
    found = minimize(value, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    n, nn, _, _, _ = parts(found.x)
    w, a, _, s = block(found.x)
    b = a + of.away
    covariance = np.zeros((d + 1, d + 1))
    covariance[:d, :d] = w + np.outer(b, b) / s
    covariance[:d, d] = covariance[d, :d] = -b / s
    covariance[d, d] = 1 / s
    return Precisions(n, nn, covariance)


def relaxed(of: Weighed) -> tuple[Precisions, Vector, int]:
    """Return the noise that follows from the relaxation, pairs that are far apart, and 1.

    What counts for little may be found roughly only: how far apart its vectors are at the least,
    and how much of κ is taken, are tried, and the noise is what needs to be enlarged least.
    """
    d = of.d
    vectors, omega, z, power = _vectors(of)

    def made(least: float, share: float) -> Precisions:
        wide = np.maximum(z, np.append(np.full(omega.size - d, least), np.full(d, least / d)))
        n = (omega * omega * wide) ** power / wide
        table = of.table(n[d:-d])
        laplacian = (np.diag(np.sum(table, axis=1)) - table) / 4
        inverse = np.linalg.inv(np.diag(n[-d:] * share) + laplacian)
        return Precisions(n[:d], n[d:-d], np.asarray(inverse, float))

    some = _SHARES if d <= _FEW else _SHARES[:1]
    least, share = min(product(_APART, some), key=lambda each: of.size_up(made(*each)))
    if d > _FEW:
        share = min(_SHARES, key=lambda each: of.size_up(made(least, each)))
    own = made(least, share)
    graph = np.zeros((d + 1, d + 1))
    graph[0, 1:] = graph[1:, 0] = own.singles
    graph[1:, 1:] = of.table(own.products)
    points = cuts(vectors, graph)
    if d > _FEW:
        return own, points, 1
    noise, random = own, np.random.default_rng(0)  # where to look: nothing that is released
    for _ in range(_LOOKS):
        block = np.asarray(np.linalg.inv(noise.covariance), dtype=np.float64)
        starts = random.uniform(-1, 1, (_STARTS, d))
        u = far_apart(noise.singles, noise.products, block, starts)[1]
        points = np.unique(np.vstack([points, swapped(u)]), axis=0)
        noise = of.dual_noise(points, own.variances)
    return own, points, 1


def _vectors(of: Weighed) -> tuple[Vector, Vector, Vector, float]:
    """Return x, ω of all, what each is worth, and the power by which noise follows from both."""
    from scipy.optimize import minimize
    from scipy.special import expit

    d, p = of.d, of.smooth
    r = d + 1
    left, right = np.triu_indices(r, 1)
    table = np.zeros((r, r))
    table[0, 1:], table[1:, 1:] = of.alone[:d], np.triu(of.table(of.alone[d:]))
    omega = np.append(of.alone, of.block)  # pairs with 0 come first, as singles do
    power = p / (p + 2)  # the greatest Σ (ω²z)^power
    size = np.sqrt(np.sum(table + table.T, axis=1))
    first = np.eye(r) - 1 / r
    first *= (size / np.max(size) / np.linalg.norm(first, axis=1))[:, None]

    def parts(v: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        y = v[: r * r].reshape(r, r)
        sigma = np.append(0.0, expit(v[r * r :]))
        length = np.linalg.norm(y, axis=1)
        x = y / length[:, None] * np.sqrt(1 - sigma)[:, None]
        z = 2 - (sigma[:, None] + sigma) / 2 - 2 * (x @ x.T)
        z[0] = z[:, 0] = z[0] - sigma / 2
        return x, sigma, length, np.append(z[left, right], sigma[1:])

    def value(v: Vector) -> tuple[float, Vector]:
        x, sigma, length, z = parts(v)
        z = np.maximum(z, _FAINT)
        each = (omega * omega * z) ** power
        total = float(np.sum(each))
        slope = power * each / z / total
        h = np.zeros((r, r))
        h[left, right] = slope[: left.size]
        h += h.T
        dx = -2 * h @ x
        rest = np.sqrt(np.maximum(1 - sigma, _FAINT))
        own = -np.sum(h, axis=1)[1:] / 2 - h[0, 1:] / 2 + slope[left.size :]
        unit = x / rest[:, None]
        along = np.sum(dx * unit, axis=1)
        own = own - along[1:] / 2 / rest[1:]
        dy = (dx - along[:, None] * unit) * (rest / length)[:, None]
        grad = np.append(dy.ravel(), own * sigma[1:] * (1 - sigma[1:]))
        return -math.log(total), -grad

    start = np.append(first.ravel(), np.full(d, -math.log(r)))
    most = int(np.clip(_WORK / r**3 / 2, 60, _STEPS))
    options = {"maxiter": most, "maxfun": 2 * most, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    x, _, _, z = parts(found.x)
    return x, omega, np.maximum(z, _FAINT), power


_COARSE = "solved: the least that is proved to cover; the gap says the rest"


def moment_solution(body: AbstractOracleBody, asked: Asked) -> Solution:
    """Return noise that is nearly the least, and what proves how near all noise is."""
    known = cast("MomentSet", body.program)
    weighed = Weighed(known, body, asked)
    status, rounds = SOLVED, 1
    if body.count:
        found, points = lifted(weighed), ends(known.width)
    else:
        found, points, rounds = (searched if known.searched else relaxed)(weighed)
    shape = weighed.shape(found)
    shape = shape.scaled(body.radius_up(shape))
    variances = np.square(weighed.ordered(shape.deviations() / weighed.unit))
    try:
        dual = weighed.evidence(points, variances)
    except KeyboardInterrupt:
        status, dual = INTERRUPTED, weighed.some_evidence(points)
    claim = asked.claim(body, None, shape, dual)
    done = claim.proved.gap <= asked.rtol
    return Solution(claim, status if done or status == INTERRUPTED else _COARSE, rounds)
