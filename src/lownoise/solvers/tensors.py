# SPDX-License-Identifier: Apache-2.0
"""The least noise around moment tensors of the ball that treats all directions alike.

One variance for each harmonic part is the least of all ellipsoids at p = 2, because ‖·‖₂ of
deviations knows no directions (see docs/theory.md), at power 1 for every p, and at power 2, as its
certificates show, for every p that was tried.

Beyond p = 2 evidence gets better by its masses and query weights, in turn (ours): the nuclear norm
of diag(√c)·B·diag(√w) is at least its product with any P of spectral norm 1, and equal to it for
the polar factor. For a fixed P that is Σ √cⱼ·hⱼ, and Σ √w_g·A_g over the orbits that rows belong
to; the best c and the best w for it are known. So no step loses.

The least noise around changes of moment tensors of the ball that treats all directions alike.

Such a noise has one number for each harmonic part of the tensors, and with the count and an even
power one more, β: the multiple of the mean over the sphere that goes with the count (ours). For
given β all is a majorant of few coordinates: with r = |x|^ℓ the form y₀(r − β)² + y of the count is
diagonal in (r − β, 1). The sets of forms with the same β are slices of a convex set by M₁₂ = βM₂₂,
so the least is a quasi-convex function of β, and golden sections find it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import OrthantDual, RotationDual
from lownoise.certificate.tensors import orthant_counts, orthant_squares
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies.harmonics import kernels, monomials, multiplicities
from lownoise.sets.frames import Frame
from lownoise.sets.unit_balls.mixtures import best_mixture
from lownoise.solvers.majorant import Majorant, least_majorant
from lownoise.solvers.solution import INTERRUPTED, RTOL, Solution, honest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import TensorBall, TensorChanges
    from lownoise.solvers.majorant import Squares
    from lownoise.solvers.solution import Asked, Progress

_ROUNDS = 300
_HELD = 1e-9
_WORK = 2e9  # multiplications
_FEWEST, _MOST = 4, 400
_SHRUNK = (math.sqrt(5) - 1) / 2
_SEARCHES = 40
_MOST_MASS = 0.95  # where masses that are moved in proportion start
_ALIKE = 11  # digits in which answers of one kind agree
_EQUAL = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Rotated:
    """What was found.

    Args:
        deviations: one for each part, where the greatest length is 1, shape (c,).
        duals: evidence, any of which may prove the most.
        status: how it ended.
        rounds: how many rounds it took.
    """

    deviations: Vector
    duals: tuple[RotationDual | OrthantDual, ...]
    status: str
    rounds: int


def rotated(
    body: TensorBall,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None,
) -> Rotated:
    """Return the best variances of the parts, and evidence.

    Args:
        body: the tensors or their differences.
        order: p in [2, ∞].
        rtol: the relative gap to reach.
        progress: called now and then.
    """
    parts = body.parts
    # ‖variances‖_{p/2} over entries is that over kinds, each times count^{2/p}
    scaled = parts.counts[:, None] ** (2 / order) * parts.table * parts.shares
    found = least_majorant(scaled, body, order, rtol=rtol / 4, progress=progress)
    c = found.query_weights * parts.counts ** (2 / order - 1)
    duals: list[RotationDual | OrthantDual] = [_measure(body, parts.shares * (_by(body, c)), c)]
    if order > 2:  # noqa: PLR2004
        duals.append(_commuting(body, order, c))
        if body.power == 2:  # noqa: PLR2004
            duals.append(_orthant(body, order))
    deviations = np.sqrt(parts.shares / found.coefficients)
    return Rotated(frozen(deviations), tuple(duals), found.status, found.rounds)


def _by(body: TensorBall, c: Vector) -> Vector:
    return np.asarray((body.parts.counts * c) @ body.parts.table)


def _measure(body: TensorBall, gains: Vector, c: Vector) -> RotationDual:
    """Return the measure that is best for those gains, without what counts for nothing."""
    measure = body.mixture(gains)
    if body.odd or not body.differences:
        return RotationDual(float(measure[0]), np.zeros(0), np.zeros(0), frozen(c))
    kept = np.flatnonzero(measure[1:] > _HELD)
    return RotationDual(
        float(measure[0]),
        frozen(measure[1:][kept]),
        frozen(body.angles[kept]),
        frozen(c),
    )


def _commuting(body: TensorBall, order: float, c: Vector) -> RotationDual:
    """Return what makes Σ √c·√C over entries greatest, c and the measure in turn."""
    parts = body.parts
    root = parts.table * np.sqrt(parts.shares / parts.dimensions)
    before = 0.0
    for _ in range(_ROUNDS):
        gains = np.square((parts.counts * np.sqrt(c)) @ root)
        each = root @ np.sqrt(body.best_squares(gains))
        c = _best_weights(parts.counts, each, order)
        value = float((parts.counts * np.sqrt(c)) @ each)
        if value <= before * (1 + _HELD):  # c itself moves on by what the measure is off
            break
        before = value
    return _measure(body, np.square((parts.counts * np.sqrt(c)) @ root), c)


def _best_weights(counts: Vector, gains: Vector, order: float) -> Vector:
    """Return c that makes Σ count·gain·√c greatest under Σ count·c^q = 1."""
    q = conjugate(order)
    c = np.maximum(gains / np.max(gains), 1e-100) ** (1 / (q - 0.5))
    return np.asarray(c / np.sum(counts * c**q) ** (1 / q))


def _orthant(body: TensorBall, order: float) -> OrthantDual:
    """Return the best evidence on axes and diagonals, weights on entries and points in turn."""
    d, counts, often = body.size, body.parts.counts, orthant_counts(body.size)
    rows = np.array([orthant_squares(d, w) for w in np.eye(4)])
    c = counts ** (-1 / conjugate(order))
    weights = np.zeros(0)
    for _ in range(_ROUNDS):
        h = np.sqrt(c[[0, 0, 1]]) * often
        if body.differences:
            weights = best_mixture(rows, h)
        else:
            ends = np.array([h[0] ** 2 / d, h[2] ** 2 / d**2])
            rest, constant = math.sqrt(float(np.sum(ends))), h[1] / math.sqrt(d)
            s = (math.hypot(rest, math.sqrt(8) * constant) - rest) / (4 * constant)
            weights = (1 - s * s) * ends / np.sum(ends)
        parts = often * np.sqrt(orthant_squares(d, weights))
        gains = np.array([parts[0] + parts[1], parts[2]]) / counts
        before, c = c, _best_weights(counts, gains, order)
        if np.max(np.abs(c - before)) <= _HELD * np.max(c):
            break
    return OrthantDual(frozen(weights), frozen(c))


def improved(
    dual: RotationDual | OrthantDual, body: TensorChanges, asked: Vector, order: float
) -> RotationDual | OrthantDual:
    """Return evidence that proves at least as much.

    Args:
        dual: where to start; masses that are 0 stay so, and those of differences as they are.
        body: the changes.
        asked: ωL, shape (m, d).
        order: p in (2, ∞].
    """
    _, first, members = np.unique(asked, axis=0, return_index=True, return_inverse=True)
    q = conjugate(order)
    members = np.ravel(members)
    often = np.bincount(members).astype(np.float64)
    rows = asked[first]
    c = np.maximum(dual.query_weights, 1e-12 * float(np.max(dual.query_weights)))[first]
    most = int(np.clip(_WORK / len(first) ** 3, _FEWEST, _MOST))
    before = 0.0
    for _ in range(most):
        made, orbit = dual.moments(body).rows, _orbits(dual, body)
        seen = made @ rows.T
        left, _, right = np.linalg.svd(seen * np.sqrt(often * c), full_matrices=False)
        pairs = (left @ right) * seen
        h = np.maximum(np.sum(pairs, axis=0) / np.sqrt(often), 0.0)  # for one of the answers
        c = np.maximum(h / max(float(np.max(h)), 1e-300), 1e-12) ** (1 / (q - 0.5))
        c /= order_norm(c * often ** (1 / q if np.isfinite(q) else 0.0), q)
        had = orbit >= 0
        gained = np.bincount(orbit[had], weights=(pairs @ np.sqrt(often * c))[had]).astype(float)
        value = float(h @ (often * np.sqrt(c)))
        dual = _weighted(dual, gained, frozen(c[members]))
        if value <= before * (1 + _HELD):
            break
        before = value
    return dual


def _orbits(dual: RotationDual | OrthantDual, body: TensorChanges) -> Integers:
    """Return which mass each row of its moments has, −1 where it has none."""
    if isinstance(dual, OrthantDual):
        d, k = body.ball.size, body.size.size
        return np.array([0] * d + [1, 2] + [1] * (k - d))
    if body.ball.odd or not body.counted:
        return np.full(body.dimension, -1)
    found = np.zeros(body.dimension, dtype=np.int64)
    found[-2] = 1  # x = 0
    return found


def _weighted(
    dual: RotationDual | OrthantDual, gained: Vector, c: Vector
) -> RotationDual | OrthantDual:
    """Return the evidence with the best masses: they are as the squares of A, A = gained/√mass."""
    if isinstance(dual, OrthantDual):
        before = np.append(dual.weights, max(1 - float(np.sum(dual.weights)), 0.0))
        masses = np.square(np.maximum(gained, 0.0)) / np.maximum(before, 1e-300)
        return OrthantDual(frozen((masses / np.sum(masses))[:2]), c)
    if not gained.size:
        return RotationDual(dual.alone, dual.weights, dual.angles, c)
    before = np.array([dual.alone, 1 - dual.alone])
    masses = np.square(np.maximum(gained, 0.0)) / np.maximum(before, 1e-300)
    return RotationDual(float(masses[0] / np.sum(masses)), dual.weights, dual.angles, c)


@final
@dataclass(frozen=True)
class Counted:
    """Squares of (parts of a tensor, the count), as a search for majorants asks for them.

    The last is the count. Where the power is even the one before it is r − β.

    Args:
        odd: whether the power is.
        beta: β.
    """

    odd: bool
    beta: float

    def energy_up(self, coefficients: Vector) -> float:
        """Return the greatest value of the form: at x = 0, or on the sphere."""
        y, count = coefficients[:-1], float(coefficients[-1])
        if self.odd:
            return math.fsum(y) + count
        constant, rest = float(y[-1]), math.fsum(y[:-1])
        return max(constant * self.beta**2, rest + constant * (1 - self.beta) ** 2) + count

    def best_squares(self, gains: Vector) -> Vector:
        """Return the mean squares under the best mass of the sphere, the rest being at 0."""
        if self.odd:
            return np.ones(gains.size)
        w = self.mass(gains)
        z = np.full(gains.size, w)
        z[-2], z[-1] = self.beta**2 + w * (1 - 2 * self.beta), 1.0
        return z

    def mass(self, gains: Vector) -> float:
        """Return w ≤ 1 that makes Σ√(gains·squares) greatest.

        That is s√w + √(g₀(β² − w(2β − 1))), s the sum of the roots of all other parts' gains.
        """
        s, bent = float(np.sum(np.sqrt(gains[:-2]))), 2 * self.beta - 1
        if self.odd or not bent > 0:
            return 1.0
        return min(1.0, (s * self.beta) ** 2 / (bent * (float(gains[-2]) * bent + s * s)))


@final
class _Kinds:
    """What is asked of a body of changes, answers of one kind taken together.

    Args:
        body: the changes.
        asked: order, answers and the gap to reach.
    """

    def __init__(self, body: TensorChanges, asked: Asked) -> None:
        image, column = body.seen(asked.rows)
        parts = zip(body.ball.parts.shares, _kernels(body), strict=True)
        squared = np.stack([a * np.sum((image @ k) * image, axis=1) for a, k in parts], axis=1)
        self.unit = math.ldexp(1.0, math.frexp(math.sqrt(float(np.max(squared))))[1])
        along, column = image @ body.mean / self.unit, column / self.unit
        rows = np.column_stack([squared / self.unit**2, along, column])
        top = np.max(np.abs(rows), axis=0)
        scaled = np.round(rows / np.where(top > 0, top, 1.0), _ALIKE) + 0.0
        _, first, members = np.unique(scaled, axis=0, return_index=True, return_inverse=True)
        self.members = np.ravel(members)
        self.often = np.bincount(self.members).astype(np.float64)
        self._body, self._order, self._rows = body, asked.order, rows[first]
        self._rtol, self._heard = asked.rtol / 8, asked.heard(self.unit)

    def squared(self, beta: float) -> Vector:
        """Return what each part, and the count, does to the variance of each kind of answer."""
        if not self._body.counted:
            return self._rows[:, :-2]
        across = np.square(self._rows[:, -1] + beta * self._rows[:, -2])
        return np.column_stack([self._rows[:, :-2], across])

    def found(self, beta: float) -> Majorant:
        """Return the best coefficients for this β."""
        base: Squares = self._body.ball
        if self._body.counted:
            base = Counted(self._body.ball.odd, beta)
        rows = self.squared(beta) * self.often[:, None] ** (2 / self._order)
        return least_majorant(rows, base, self._order, rtol=self._rtol, progress=self._heard)

    def size(self, beta: float, majorant: Majorant) -> float:
        """Return what the noise costs."""
        variances = self.squared(beta) @ (1 / majorant.coefficients)
        return order_norm(np.sqrt(variances) * self.often ** (1 / self._order), self._order)

    def evidence(self, beta: float, majorant: Majorant) -> RotationDual:
        """Return the measure that belongs to the coefficients, with a weight for each answer."""
        c = majorant.query_weights * self.often ** (2 / self._order - 1)
        gains, ball = (c * self.often) @ self.squared(beta), self._body.ball
        none, each = frozen(np.zeros(0)), frozen(c[self.members])
        if self._body.counted:
            return RotationDual(Counted(ball.odd, beta).mass(gains), none, none, each)
        measure = ball.mixture(gains)
        if ball.odd:
            return RotationDual(float(measure[0]), none, none, each)
        kept = np.flatnonzero(measure[1:] > 0)
        angles = frozen(ball.angles[kept])
        return RotationDual(float(measure[0]), frozen(measure[1:][kept]), angles, each)


def tensor_solution(body: TensorChanges, asked: Asked) -> Solution:
    """Return the best noise of that kind."""
    kinds, order = _Kinds(body, asked), asked.order
    beta, best = 0.0, kinds.found(0.0)
    if body.counted and not body.ball.odd and best.status != INTERRUPTED:
        beta, best = _searched(kinds)
    duals: list[RotationDual | OrthantDual] = [kinds.evidence(beta, best)]
    if order > 2 and best.status != INTERRUPTED:  # noqa: PLR2004
        try:
            more = _better if body.counted else _alike
            duals += more(duals[0], body, asked.rows, order)
        except KeyboardInterrupt:
            best = replace(best, status=INTERRUPTED)
    every = np.arange(body.dimension)
    claim = asked.claim(
        body,
        Frame(dimension=every.size, pivots=every, embed=None, seeing=every, view=None),
        DenseShape(_factor(body, best.coefficients, beta)),
        max(duals, key=lambda dual: dual.least(body, order, asked.weights, asked.queries)),
    )
    return Solution(claim, honest(best.status, claim, asked.rtol), best.rounds)


def _searched(kinds: _Kinds) -> tuple[float, Majorant]:
    """Return the best β and what was found for it, by golden sections."""
    seen: list[tuple[float, float, Majorant]] = []

    def look(beta: float) -> float:
        majorant = kinds.found(beta)
        seen.append((kinds.size(beta, majorant), beta, majorant))
        return seen[-1][0]

    low, high = 0.0, 1.0
    left, right = 1 - _SHRUNK, _SHRUNK
    f, g = look(left), look(right)
    while len(seen) < _SEARCHES and seen[-1][2].status != INTERRUPTED:
        if f <= g:
            high, right, g = right, left, f
            left = high - _SHRUNK * (high - low)
            f = look(left)
        else:
            low, left, f = left, right, g
            right = low + _SHRUNK * (high - low)
            g = look(right)
    _, beta, best = min(seen, key=lambda each: each[0])
    return beta, replace(best, status=seen[-1][2].status)


def _better(
    dual: RotationDual | OrthantDual, body: TensorChanges, asked: Vector, order: float
) -> list[RotationDual | OrthantDual]:
    """Return better evidence where the count is released."""
    assert isinstance(dual, RotationDual)  # noqa: S101 (the caller made it)
    starts: list[RotationDual | OrthantDual] = [replace(dual, alone=min(dual.alone, _MOST_MASS))]
    if body.ball.power == 2:  # noqa: PLR2004
        half = dual.alone / 2 * _MOST_MASS
        both = ((half, half), (1.0, 0.0))  # a mass of 0 stays so
        starts += [OrthantDual(frozen(np.array(each)), dual.query_weights) for each in both]
    return [improved(start, body, asked, order) for start in starts]


def _alike(
    dual: RotationDual | OrthantDual, body: TensorChanges, asked: Vector, order: float
) -> list[RotationDual | OrthantDual]:
    """Return better evidence of differences; most is known where entries are asked about alike."""
    ball, parts = body.ball, body.ball.parts
    entry = np.argmax(np.abs(asked), axis=1)
    size = np.abs(asked[np.arange(len(asked)), entry]) * body.size[entry]
    single = bool(np.all(np.count_nonzero(asked, axis=1) == 1))
    every = np.array_equal(np.bincount(entry), multiplicities(ball.size, ball.power))
    if not (single and every and np.ptp(size) <= _EQUAL * size[0]):
        return [improved(dual, body, asked, order)]
    exponents = monomials(ball.size, ball.power).tolist()
    patterns = [tuple(sorted((a for a in row if a), reverse=True)) for row in exponents]
    kind = np.array([parts.patterns.index(pattern) for pattern in patterns])[entry]
    found = rotated(ball, order, RTOL, None).duals
    return [replace(each, query_weights=frozen(each.query_weights[kind])) for each in found]


def _factor(body: TensorChanges, coefficients: Vector, beta: float) -> Vector:
    """Return a lower triangle of the noise, shape (d, d)."""
    k = body.size.size
    covariance = np.zeros((body.dimension, body.dimension))
    parts = zip(body.ball.parts.shares, coefficients[: len(_kernels(body))], strict=True)
    for (a, y), kernel in zip(parts, _kernels(body), strict=True):
        covariance[:k, :k] += (a / y) * kernel.toarray()
    covariance[:k, :k] *= body.size[:, None] * body.size
    if body.last is not None:
        across = np.append(beta * body.mean * body.size - body.offset, body.last)
        covariance += np.outer(across, across / coefficients[-1])
    unit = np.sqrt(np.diag(covariance))
    return np.asarray(unit[:, None] * np.linalg.cholesky(covariance / unit / unit[:, None]))


def _kernels(body: TensorChanges) -> tuple[Any, ...]:
    return kernels(body.ball.size, body.ball.power)
