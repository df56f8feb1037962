# SPDX-License-Identifier: Apache-2.0
"""A primal-dual Newton method for the fidelity program on a given list of vertices.

With e = (p−2)/p = 1/q and c = v^e the program has linear prices and no other constraint than signs,

    maximise 2·log F(v^e, w) − Σw − e·Σv   over w ≥ 0, v ≥ 0,

concave because c is concave in v and F is concave and rising in c. One code path serves every p:
e = 0 at p = 2, where v is of no use, and 1 at p = ∞. At the optimum Σw = Σv = 1 of itself. A floor
η/n under each v costs at most a factor 1 − η of the lower bound, keeps the bound valid, and keeps M
unique where p = ∞ would not (a coordinate of little width would get needless noise).

Each step solves (−H + diag(z/y))·δy = gradient + target/y, with slacks z ≥ 0 and y·z driven to 0
(Mehrotra's predictor and corrector).

The linear system of one Newton step, solved in the smaller of two spaces.

The matrix is D + BᵀB with D diagonal: one column of B a variable, one row a pair of axes (what the
second derivative of F squares), one for the gradient and, where the body moves, one an axis. With
few variables the matrix is formed, its squares by quadrature; with many more variables than pairs
of axes (a tall workload) the identity of Woodbury leaves a system of the size of B's rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar, final

import numpy as np

from lownoise.solvers.fidelity import Fidelity, fidelity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.fidelity import Fidelity

_TO_BOUNDARY = 0.98
_SHORT = 0.5
_FAR = 0.005  # a gap above which steps are limited by more than the quadrature
_LEAST_CENTRING = 0.01
_RECENTRING = 0.5
_SETTLED = 1e-2
_SMALLEST_SLACK = 1e-300
_FEW = 500  # variables: below, forming the matrix is always quick
_JITTER = 1e-13
_BLOCK = 1 << 22  # numbers
_REFINEMENTS = 2


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The fidelity program without its vertices.

    Args:
        queries: L, shape (n, r); or shape (r,), its diagonal.
        order: p in [2, ∞].
        moves: whether the body may be translated.
        floor: η, at least 0.
        quick: as `fidelity`'s.
    """

    queries: Vector
    order: float
    moves: bool
    floor: float
    quick: bool = False

    @property
    def exponent(self) -> float:
        """E = 1/q = (p − 2)/p."""
        return 1.0 if math.isinf(self.order) else (self.order - 2) / self.order

    @property
    def count(self) -> int:
        """The number of queries n."""
        return len(self.queries)


class State(Protocol):
    """F at one pair of weights."""

    @property
    def value(self) -> float:
        """F."""

    @property
    def mass(self) -> float:
        """Σw."""

    def stretches(self) -> Vector:
        """Return 2·∂F/∂w, shape (k,)."""

    def variances(self) -> Vector:
        """Return 2·∂F/∂c, shape (n,)."""


S = TypeVar("S", bound=State)


class Linear(NamedTuple):
    """The linear system of one step: (−∇²(2·log F) + diag(extra))·x = right.

    Args:
        pull: as `Fidelity.curvature` takes it; None where queries have no weights of their own.
        gradient: of 2·log F, shape (n,).
        extra: above 0, shape (n,).
        coarse: whether within 12% will do.
    """

    pull: Vector | None
    gradient: Vector
    extra: Vector
    coarse: bool = False


class Program(Protocol[S]):
    """F as a function of its weights, and the linear system of one step."""

    @property
    def problem(self) -> Problem:
        """The order, the floor and how many queries there are."""

    def at(self, weights: Vector, query_weights: Vector) -> S:
        """Return F at w > 0, shape (k,), and c > 0, shape (n,)."""

    def system(self, state: S, linear: Linear) -> Callable[[Vector], Vector]:
        """Return the function that solves it for a right side, within 2%."""


@final
@dataclass(frozen=True, eq=False)
class ListedVertices:
    """The program on given vertices s_i, shape (k, r)."""

    problem: Problem
    vertices: Vector

    def at(self, weights: Vector, query_weights: Vector) -> Fidelity:
        """Return F and its optimal ellipsoid."""
        problem = self.problem
        return fidelity(
            self.vertices,
            weights,
            problem.queries,
            query_weights,
            moves=problem.moves,
            quick=problem.quick,
        )

    def system(self, state: Fidelity, linear: Linear) -> Callable[[Vector], Vector]:
        """Return the function that solves one step."""
        return newton_system(state, linear)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Iterate(Generic[S]):
    """Weights, the ellipsoid that follows from them, and both bounds on these vertices alone.

    Args:
        weights: w, shape (k,).
        roots: v, shape (n,); the query weights are v^e.
        slacks: of w, shape (k,): 1 where a vertex is far inside, 0 where it is active.
        state: F and M.
        objective: √tr_{p/2}(LML\u200bᵀ) of M as it is.
        lower: F/√(‖c‖_q Σw).
        radius: max √((s − x̄)ᵀM⁻¹(s − x̄)) over these vertices.
        settled: whether weight times slack is small beside what each query has to say.
    """

    weights: Vector
    roots: Vector
    slacks: Vector
    state: S
    objective: float
    lower: float
    radius: float
    settled: bool

    @property
    def gap(self) -> float:
        """How far the bounds on these vertices are apart, relatively."""
        return self.objective * self.radius / self.lower - 1


def objective(variances: Vector, order: float) -> float:
    """Return √‖variances‖_{p/2}; shape (n,).

    Examples:
        >>> objective(np.array([9.0, 16.0]), 2.0), objective(np.array([9.0, 16.0]), math.inf)
        (5.0, 4.0)
    """
    largest = float(np.max(variances))
    if math.isinf(order) or largest == 0:
        return math.sqrt(largest)
    return math.sqrt(largest * float(np.sum((variances / largest) ** (order / 2))) ** (2 / order))


def newton(
    program: Program[S],
    weights: Vector,
    roots: Vector,
    product: float | None = None,
) -> Iterator[Iterate[S]]:
    """Yield better and better weights, without end: the caller stops.

    Args:
        program: F.
        weights: where w starts, above 0, shape (k,).
        roots: where v starts, above its floor, shape (n,).
        product: weight times slack where they start near an optimum; found where None.
    """
    problem = program.problem
    e, n = problem.exponent, problem.count if problem.order > 2 else 0  # noqa: PLR2004
    k, floor = weights.size, problem.floor / problem.count
    # a root at its floor has no room that floats can tell: its slack is then about its price
    room = np.maximum(roots[:n] - floor, 0.0 if product is None else product)
    y = np.concatenate([room, weights])
    price = np.concatenate([np.full(n, e), np.ones(k)])
    z: Vector | None = None
    while True:
        v, w = (y[:n] + floor if n else roots), y[n:]
        c = v**e if n else np.ones(problem.count)
        state = program.at(w, c)
        F, stretches, variances = state.value, state.stretches(), state.variances()
        share = (c / v) * variances / F if n else variances[:0]
        gradient = np.concatenate([e * share, stretches / F])
        if z is None:
            least = 0.1 * price if product is None else product / y
            z = np.maximum(price - gradient, least)
        iterate = Iterate(
            weights=w,
            roots=v,
            slacks=z[n:],
            state=state,
            objective=objective(variances, problem.order),
            lower=F / math.sqrt(state.mass * (float(np.sum(v)) ** e if n else 1.0)),
            radius=math.sqrt(float(np.max(stretches))),
            settled=float(y @ z) <= len(y) * _SETTLED * float(np.min(v[:n] * share, initial=1.0)),
        )
        yield iterate
        extra = z / y
        extra[:n] += e * (1 - e) * share / v[:n]
        pull = np.sqrt(e * c / v) if n else None
        solve = program.system(state, Linear(pull, gradient, extra, coarse=iterate.gap > _FAR))
        y, z = _step(solve, gradient - price, y, z)


def _step(
    solve: Callable[[Vector], Vector],
    slope: Vector,
    y: Vector,
    z: Vector,
) -> tuple[Vector, Vector]:
    """Return the next y and z."""

    def direction(target: Vector) -> tuple[Vector, Vector]:
        dy = solve(slope + z + (target - y * z) / y)
        return dy, (target - y * z - z * dy) / y

    mean = float(y @ z) / len(y)
    dy, dz = direction(np.zeros(len(y)))
    ahead = float(
        (y + min(1.0, _longest_step(y, dy)) * dy) @ (z + min(1.0, _longest_step(z, dz)) * dz)
    )
    centring = max((ahead / len(y) / mean) ** 3, _LEAST_CENTRING)
    dy, dz = direction(centring * mean - dy * dz)
    steps = _steps(y, dy, z, dz)
    if min(steps) < _SHORT:
        # near a corner the corrector misleads: go back towards the path instead
        dy, dz = direction(np.full(len(y), max(centring, _RECENTRING) * mean))
        steps = _steps(y, dy, z, dz)
    return y + steps[0] * dy, np.maximum(z + steps[1] * dz, _SMALLEST_SLACK)


def _steps(y: Vector, dy: Vector, z: Vector, dz: Vector) -> tuple[float, float]:
    return min(1.0, _TO_BOUNDARY * _longest_step(y, dy)), min(
        1.0, _TO_BOUNDARY * _longest_step(z, dz)
    )


def _longest_step(x: Vector, dx: Vector) -> float:
    """Return the longest step along dx that keeps x ≥ 0."""
    down = dx < 0
    return float(np.min(-x[down] / dx[down], initial=math.inf))


class Step(NamedTuple, Generic[S]):
    """Weights w and roots v, F and M there, and the gap on these vertices."""

    weights: Vector
    roots: Vector
    state: S
    gap: float


def steps(program: Program[S], weights: Vector, roots: Vector, *, dense: bool) -> Iterator[Step[S]]:
    """Yield better and better weights, without end: the caller stops.

    Args:
        program: F.
        weights: where w starts, above 0, shape (k,).
        roots: where v starts, shape (n,); the query weights are v^e.
        dense: whether Newton's system fits; else each weight is multiplied by what it would gain:
            slow near the end, and a step costs little.
    """
    if dense:
        for iterate in newton(program, weights, roots):
            yield Step(iterate.weights, iterate.roots, iterate.state, iterate.gap)
    e, order = program.problem.exponent, program.problem.order
    w, v = weights, roots
    while True:
        state = program.at(w, v**e)
        F, X, stretches = state.value, state.variances(), state.stretches()
        lower = F / math.sqrt(state.mass * float(np.sum(v)) ** e)
        upper = objective(X, order) * math.sqrt(float(np.max(stretches)))
        yield Step(w, v, state, upper / lower - 1)
        w = w * stretches / F
        if e:
            v = np.maximum(v**e * X / F, program.problem.floor / v.size)


def newton_system(state: Fidelity, linear: Linear) -> Callable[[Vector], Vector]:
    """Return the function that solves the system of F at the current weights, within 2%."""
    r = state.lengths.size
    pairs = r * (r + 1) // 2 + 1 + r * state.moves
    if linear.gradient.size <= max(_FEW, pairs):
        return _formed(state, linear)
    return _reduced(state, linear)


def _formed(state: Fidelity, linear: Linear) -> Callable[[Vector], Vector]:
    matrix = state.curvature(linear.pull, coarse=linear.coarse)
    return bent_system(matrix, state.value, linear)


def bent_system(matrix: Vector, value: float, linear: Linear) -> Callable[[Vector], Vector]:
    """Return the function that solves matrix/value + ½·gradient·gradientᵀ + diag(extra).

    Args:
        matrix: positive semidefinite, shape (n, n); it is overwritten.
        value: above 0.
        linear: whose gradient and extra are meant.

    Raises:
        LinAlgError: where it is not positive definite in floats.
    """
    from scipy.linalg import lapack

    _, gradient, extra, _ = linear
    diagonal = matrix.reshape(-1)[:: gradient.size + 1]
    whole = diagonal / value + 0.5 * gradient**2 + extra
    scale = 1 / np.sqrt(whole)
    matrix *= scale / value
    matrix *= scale[:, None]
    matrix += np.outer(0.5 * scale * gradient, scale * gradient)
    diagonal[:] = 1 + _JITTER
    # its transpose is in the order that LAPACK works in, and symmetric
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError

    def solve(right: Vector) -> Vector:
        found: Vector = scale * lapack.dpotrs(factor, scale * right, lower=1)[0]
        return found

    return solve


def _reduced(state: Fidelity, linear: Linear) -> Callable[[Vector], Vector]:
    from scipy.linalg import cho_factor, cho_solve

    pull, gradient, extra, _ = linear
    blocks = list(_columns(state, pull, gradient))
    small = np.eye(blocks[0][1].shape[1])
    for part, columns in blocks:
        scaled = columns / np.sqrt(extra[part])[:, None]
        small += scaled.T @ scaled
    factor = cho_factor(small, lower=True, overwrite_a=True, check_finite=False)

    def times(x: Vector) -> Vector:  # B·x
        total: Vector = np.sum([x[part] @ columns for part, columns in blocks], axis=0)
        return total

    def back(y: Vector) -> Vector:  # Bᵀ·y
        return np.concatenate([columns @ y for _, columns in blocks])

    def once(right: Vector) -> Vector:
        plain = right / extra
        inner: Vector = cho_solve(factor, times(plain), check_finite=False)
        return plain - back(inner) / extra

    def solve(right: Vector) -> Vector:
        found = once(right)
        for _ in range(_REFINEMENTS):  # small entries of `extra` cost digits
            found = found + once(right - extra * found - back(times(found)))
        return found

    return solve


def _columns(
    state: Fidelity,
    pull: Vector | None,
    gradient: Vector,
) -> Iterator[tuple[slice, Vector]]:
    """Yield Bᵀ in blocks of rows, each with the variables that they belong to."""
    m = state.lengths
    r = m.size
    a, b = np.triu_indices(r)
    # both halves of a symmetric matrix count
    twice = np.where(a == b, 1.0, 2.0) / state.value
    on_queries = np.sqrt(twice * m[a] * m[b] / (m[a] + m[b]))
    on_vertices = -np.sqrt(twice / (m[a] * m[b] * (m[a] + m[b])))
    n = 0 if pull is None else pull.size
    moving = np.sqrt(2 / (state.mass * state.value * m))
    step = max(_BLOCK // a.size, 1)
    for start in range(0, gradient.size, step):
        for low, high in ((start, min(start + step, n)), (max(start, n), start + step)):
            part = slice(low, min(high, gradient.size))
            if part.stop <= part.start:
                continue
            if part.start < n:
                assert pull is not None  # noqa: S101 (n counts its entries)
                rows = state.queries[part] * pull[part, None]
                pairs, moved = on_queries * rows[:, a] * rows[:, b], np.zeros_like(rows)
            else:
                rows = state.vertices[part.start - n : part.stop - n]
                pairs, moved = on_vertices * rows[:, a] * rows[:, b], rows * moving
            slope = gradient[part, None] / np.sqrt(2)
            yield part, np.hstack([pairs, slope, moved] if state.moves else [pairs, slope])
