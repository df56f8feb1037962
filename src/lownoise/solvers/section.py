# SPDX-License-Identifier: Apache-2.0
"""The least noise that the quadratics of a section prove, and points that no noise does without.

With N = Aᵀdiag(y)A and T the bound on Σ yᵢσᵢ² that (y, λ) proves, M = T·N⁻¹ covers the body (see
`bodies/section.py`). √(s·T) is to be least, s = ‖diag(ωLN⁻¹Lᵀω)‖_{p/2}; as s has degree −1 and T
degree 1, that is s + T up to scale: convex, under the linear Aᵀλ = 0. Newton's method follows the
central path; with a_i, v_j = l_jᵀN⁻¹l_j, D = AN⁻¹Aᵀ and Q = AN⁻¹Lᵀdiag(c)LN⁻¹Aᵀ the second
derivative of Σcⱼvⱼ in y is 2·D∘Q (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import SectionDual
from lownoise.numbers.arrays import frozen
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import PointVertices
from lownoise.solvers.solution import INTERRUPTED, SOLVED, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import SectionBody

_SHRINK = 0.2
_INNER = 30
_SETTLED = 1e-6
_MOST_EXPONENT = 1e5
_CLIMBS = 8
_BEYOND = 1e-6
_APART = 1e-5
_STARTS = 3  # in parts of the dimension
_ROUNDS = 6
_ENOUGH = 1e-5
_MOST_WORK = 4.0e10
_MOST_ROUGH = 2.0e12  # with few points, each within 1e-3 of extreme: some bound is better than none
_ROUGH, _THOROUGH = 1e3, 1e7  # the barrier's last weight
_MANY = 400


@final
@dataclass(frozen=True, eq=False)
class Multipliers:
    """What was found.

    Args:
        multipliers: (p, n) > 0, shape (2M,), as `SectionBody` takes it.
        precision: N over T: the ellipsoid is {s : sᵀ·precision·s ≤ 1}, shape (d, d).
        center: where it stands, shape (d,).
        query_weights: c, shape (m,).
        status: how it ended.
        steps: how many Newton steps it took.
    """

    multipliers: Vector
    precision: Vector
    center: Vector
    query_weights: Vector
    status: str
    steps: int


@final
class _Program:
    """Variables and their maps: row weights y = E·x, tilts λ = H·x, equations (AᵀH)x = 0."""

    def __init__(self, body: SectionBody) -> None:
        section = body.section
        self.rows, self.offsets = section.rows, section.offsets
        # in a coordinate's own unit, so that the equations are alike
        self.unit = 1 / np.max(np.abs(self.rows), axis=0)
        self.rows = self.rows * self.unit
        m = len(self.rows)
        weights: list[Vector] = []
        tilts: list[Vector] = []
        self.bent: list[tuple[int, list[int]]] = []  # λ²/(4y): which weight, which tilts
        free: list[Vector] = []
        cost: list[float] = []
        for own, slab in section.groups:
            singles = [[i] for i in range(own.start, own.stop)] if slab else [list(range(m))[own]]
            for part in singles:
                column = np.zeros(m)
                column[part] = 1.0
                if slab and body.kind == "differences":
                    # y = p + n, λ = p − n at the cost of y − λ·offset
                    at = float(self.offsets[part[0]])
                    weights += [column, column]
                    tilts += [column, -column]
                    cost += [1 - at, 1 + at]
                    continue
                weights.append(column)
                tilts.append(np.zeros(m))
                cost.append(1.0)
                if body.kind != "lifted":
                    self.bent.append((len(weights) - 1, part))
        self.positive = len(weights)
        for k, (weight, part) in enumerate(self.bent):
            indices = []
            for i in part:
                column = np.zeros(m)
                column[i] = 1.0
                free.append(column)
                cost.append(-float(self.offsets[i]))
                indices.append(self.positive + len(free) - 1)
            self.bent[k] = (weight, indices)
        zero = [np.zeros(m)] * len(free)
        self.weigh = np.array(weights + zero).T
        self.tilt = np.array(tilts + free).T
        self.cost = np.array(cost)
        self.size = len(cost)
        self.equations = self.rows.T @ self.tilt
        self.equations = self.equations[np.any(self.equations != 0, axis=1)]

    def start(self) -> Vector:
        found: Vector = np.zeros(self.size)
        found[: self.positive] = 1.0
        return found

    def energy(self, x: Vector) -> tuple[float, Vector, Vector]:
        """Return T, its gradient and its second derivative."""
        slope, second = self.cost.copy(), np.zeros((self.size, self.size))
        value = float(self.cost @ x)
        for weight, own in self.bent:
            h, tilt = x[weight], x[own]
            square = float(tilt @ tilt)
            value += square / (4 * h)
            slope[weight] -= square / (4 * h * h)
            slope[own] += tilt / (2 * h)
            second[weight, weight] += square / (2 * h**3)
            second[weight, own] -= tilt / (2 * h * h)
            second[own, weight] -= tilt / (2 * h * h)
            second[own, own] += 1 / (2 * h)
        return value, slope, second


@np.errstate(all="ignore")  # what is not finite is no step
def least_section(
    body: SectionBody,
    asked: Vector,
    order: float,
    *,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> Multipliers:
    """Return the multipliers that prove the least noise.

    Args:
        body: K − K, K or its lift.
        asked: ωL, shape (m, d); every direction is asked about.
        order: p in [2, ∞].
        rtol: the relative gap to reach.
        progress: called now and then.
    """
    program = _Program(body)
    queries = asked * program.unit
    queries = queries / np.max(np.abs(queries))
    x: Vector = program.start()
    state = _State(program, queries, x, order / 2)
    ratio = state.energy / state.value  # makes both summands one size
    mu = 0.5 * state.energy / program.positive
    steps, status = 0, SOLVED
    try:
        while True:
            level = mu * program.positive / state.energy
            exponent = min(order / 2, max(4.0, 2 * math.log(len(queries) + 1) / level))
            exponent = min(exponent, _MOST_EXPONENT)
            for _ in range(_INNER):
                moved = _step(program, queries, x, exponent, ratio, mu)
                steps += 1
                if moved is None:
                    break
                x, decrement = moved
                if decrement < _SETTLED * mu * program.positive:
                    break
            state = _State(program, queries, x, exponent)
            if progress is not None:
                size = math.sqrt(state.value * state.energy)
                progress(Progress(steps, 0.0, size))
            if mu * program.positive <= 0.05 * rtol * state.energy:
                break
            mu *= _SHRINK
    except KeyboardInterrupt:
        status = INTERRUPTED
    y, tilt = program.weigh @ x, program.tilt @ x
    scaled = np.sqrt(y)[:, None] * program.rows
    normal = scaled.T @ scaled
    center: Vector = np.zeros(len(program.unit))
    if body.moves:
        pulled = program.rows.T @ (y * program.offsets)
        center = np.asarray(-np.linalg.solve(normal, pulled))
    unit = program.unit
    # (p, n) of the body: y = p + n, λ = 2(p − n); a tilt beyond 2y would prove nothing more
    tilt = np.clip(tilt, -1.999 * y, 1.999 * y)
    energy = program.energy(x)[0] * (4 if body.kind == "differences" else 1)
    return Multipliers(
        frozen(np.concatenate([y / 2 + tilt / 4, y / 2 - tilt / 4])),
        normal / unit / unit[:, None] / energy,
        center * unit,
        frozen(state.weights),
        status,
        steps,
    )


@final
class _State:
    """s at x, with its gradient and second derivative in y."""

    def __init__(self, program: _Program, queries: Vector, x: Vector, exponent: float) -> None:
        y = program.weigh @ x
        a = program.rows
        self.energy = program.energy(x)[0]
        root = np.sqrt(y)[:, None] * a
        inverse = np.linalg.inv(root.T @ root)
        self._through = a @ inverse
        self._a = a
        self._pulled = self._through @ queries.T  # aᵢᵀN⁻¹lⱼ
        v = np.einsum("ji,ik,jk->j", queries, inverse, queries)
        top = float(np.max(v))
        power = (v / top) ** (exponent - 1)
        total = float(np.sum(power * v / top))
        self.value = top * total ** (1 / exponent)
        # ∂‖v‖/∂vⱼ
        self.weights = power * total ** (1 / exponent - 1)
        self._v, self._exponent = v, exponent

    def gradient(self) -> Vector:
        return np.asarray(-np.square(self._pulled) @ self.weights)

    def hessian(self) -> Vector:
        c = self.weights
        pulled = self._pulled
        found = 2 * (self._through @ self._a.T) * ((pulled * c) @ pulled.T)
        if self._exponent > 1:
            slope = np.square(pulled)
            mean = slope @ c
            bend = (slope * (c / self._v)) @ slope.T - np.outer(mean, mean) / self.value
            found = found + (self._exponent - 1) * bend
        return np.asarray(found)


def _step(
    program: _Program, queries: Vector, x: Vector, exponent: float, ratio: float, mu: float
) -> tuple[Vector, float] | None:
    """Return x after one damped Newton step and the decrement; None where nothing improves."""
    k = program.positive
    state = _State(program, queries, x, exponent)
    energy, slope, second = program.energy(x)
    w = program.weigh
    slope = slope + ratio * (w.T @ state.gradient())
    second = second + ratio * (w.T @ state.hessian() @ w)
    slope[:k] -= mu / x[:k]
    second[np.arange(k), np.arange(k)] += mu / np.square(x[:k])
    # in units of x the barrier is well conditioned
    unit = np.ones(program.size)
    unit[:k] = x[:k]
    for weight, own in program.bent:
        unit[own] = x[weight]
    equations = program.equations * unit
    e = len(equations)
    system = np.zeros((program.size + e, program.size + e))
    system[: program.size, : program.size] = second * unit * unit[:, None]
    system[: program.size, program.size :] = equations.T
    system[program.size :, : program.size] = equations
    right = np.append(-slope * unit, np.zeros(e))
    move = (
        np.linalg.lstsq(system, right, rcond=None)[0][: program.size]
        if e > _MANY
        else (_solved(system, right)[: program.size])
    )
    move = move * unit
    decrement = -float(slope @ move)
    if not decrement > 0 or not np.all(np.isfinite(move)):
        return None
    falling = move[:k] < 0
    length = min(1.0, 0.95 * float(np.min(-x[:k][falling] / move[:k][falling], initial=np.inf)))
    value = energy + ratio * state.value - mu * float(np.sum(np.log(x[:k])))
    for _ in range(40):
        trial = x + length * move
        after = _State(program, queries, trial, exponent)
        lowest = after.energy + ratio * after.value - mu * float(np.sum(np.log(trial[:k])))
        if lowest <= value - 0.1 * length * decrement + 1e-13 * abs(value):
            return np.asarray(trial), decrement
        length /= 2
    return None


def _solved(system: Vector, right: Vector) -> Vector:
    try:
        found = np.linalg.solve(system, right)
        if np.all(np.isfinite(found)):
            return np.asarray(found)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0])


def far_changes(
    body: SectionBody, asked: Vector, order: float, rtol: float, precision: Vector
) -> SectionDual | None:
    """Return changes of the body with the weights that prove the most; None where it takes long.

    Where a thorough search would take long, one look at few points that are nearly extreme.

    Args:
        body: K − K, K or its lift, in d coordinates.
        asked: ωL, shape (m, d).
        order: p in [2, ∞].
        rtol: the relative gap asked for.
        precision: of the ellipsoid that was found: where to look first, shape (d, d).
    """
    m, d = body.section.rows.shape
    work = float(m) * d**3 * 2000
    if work > _MOST_ROUGH:
        return None
    rough = work > _MOST_WORK
    search = _Search(body, precision, last=_ROUGH if rough else _THOROUGH)
    problem = Problem(queries=asked, order=order, moves=body.moves, floor=0.1 * rtol)
    starts, climbs = (d + 4, 1) if rough else (_STARTS * d + 4, _CLIMBS)
    search.climb(np.linalg.inv(np.linalg.cholesky(precision).T), None, starts, climbs)
    best: SectionDual | None = None
    lower = 0.0
    for _ in range(1 if rough else _ROUNDS):
        if not search.spans:
            return best
        found = generate(
            problem, PointVertices(search.atoms, moves=body.moves), rtol=max(rtol, _ENOUGH)
        )
        if found.lower > lower:
            gain, lower = found.lower / lower - 1 if lower else math.inf, found.lower
            best = SectionDual(
                frozen(search.points[found.indices]),
                frozen(found.weights),
                frozen(found.query_weights),
            )
            if gain < _ENOUGH:
                break
        mean = found.cover_weights @ search.atoms[found.cover_indices] if body.moves else None
        if rough or not search.climb(found.factor, mean, d + 4, _CLIMBS):
            break
    return best


@final
class _Search:
    """Points of a section body that are nearly extreme, as they are found.

    Args:
        body: K − K, K or its lift.
        precision: of an ellipsoid around it: what distances are measured in.
        last: how near to extreme points are to be, as `Section.far` takes it.
    """

    def __init__(self, body: SectionBody, precision: Vector, last: float) -> None:
        self._last = last
        self._body = body
        self._root = np.linalg.cholesky(precision).T
        self._random = np.random.default_rng(0)  # starts only: nothing that is released
        self.points = np.zeros((0, body.width_of_points))
        self.atoms = np.zeros((0, body.dimension))

    @property
    def spans(self) -> bool:
        """Whether the points found so far span the space."""
        rows = self.atoms @ self._root.T
        about = rows - rows[0] if self._body.moves else rows
        return bool(np.linalg.matrix_rank(about, tol=1e-6) == self._body.dimension)

    def climb(self, factor: Vector, mean: Vector | None, count: int, climbs: int) -> int:
        """Take in what is far out in the ellipsoid factor·factorᵀ about the mean; return how many.

        A convex function on a body is greatest at an extreme point, and going to the point that is
        extreme along its gradient never loses.
        """
        image = np.linalg.inv(factor).T  # s·image is s in the ellipsoid's own unit
        about = np.zeros(self._body.dimension) if mean is None else mean
        known = np.linalg.norm((self.atoms - about) @ image, axis=1)
        far = (self.atoms[np.argsort(-known)[:count]] - about) @ image
        starts = np.vstack([far, self._random.standard_normal((count, self._body.dimension))])
        points, atoms = self._extreme(starts @ image.T)
        best = np.linalg.norm((atoms - about) @ image, axis=1)
        added = 0
        if not len(self.atoms):  # what climbing leads to may lie in a plane
            added = self._add(points.copy(), atoms.copy())
        active = np.arange(len(starts))
        for _ in range(climbs):
            inner = (atoms[active] - about) @ image
            supports, found = self._extreme(inner @ image.T)
            value = np.linalg.norm((found - about) @ image, axis=1)
            better = value > best[active] * (1 + _BEYOND)
            active = active[better]
            if not active.size:
                break
            points[active], atoms[active] = supports[better], found[better]
            best[active] = value[better]
        return added + self._add(points, atoms)

    def _extreme(self, directions: Vector) -> tuple[Vector, Vector]:
        body = self._body
        n = len(directions)
        if body.inside is not None and body.shift is not None:
            both = body.inside.far(np.vstack([directions[:, :-1], -directions[:, :-1]]), self._last)
            own = np.sum(both * np.tile(directions[:, :-1], (2, 1)), axis=1)
            size = np.abs(own + np.tile(directions @ body.shift, 2))
            points = np.where((size[:n] >= size[n:])[:, None], both[:n], both[n:])
        elif body.kind == "differences":
            both = body.section.far(np.vstack([directions, -directions]), self._last)
            points = np.hstack([both[:n], both[n:]])
        else:
            points = body.section.far(directions, self._last)
        return points, body.changes(points)[0]

    def _add(self, points: Vector, atoms: Vector) -> int:
        """Take in points that are new; return how many."""
        start = len(self.atoms)
        for x, s in zip(points, atoms, strict=True):
            size = np.max(np.abs(s @ self._root.T), initial=0.0)
            old = (self.atoms - s) @ self._root.T
            if not np.any(np.abs(old).max(axis=1, initial=0.0) < _APART * size):
                self.points, self.atoms = np.vstack([self.points, x]), np.vstack([self.atoms, s])
        return len(self.atoms) - start
