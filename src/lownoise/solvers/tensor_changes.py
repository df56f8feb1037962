# SPDX-License-Identifier: Apache-2.0
"""The least noise around changes of moment tensors of the ball that treats all directions alike.

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

from lownoise.certificate import OrthantDual, RotationDual, order_norm
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies.harmonics import kernels, monomials, multiplicities
from lownoise.sets.frames import Frame
from lownoise.solvers.majorant import INTERRUPTED, Majorant, least_majorant
from lownoise.solvers.solution import RTOL, Solution, honest
from lownoise.solvers.tensor_ball import improved, rotated

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import TensorChanges
    from lownoise.solvers.majorant import Squares
    from lownoise.solvers.solution import Asked

_SHRUNK = (math.sqrt(5) - 1) / 2
_SEARCHES = 40
_MOST_MASS = 0.95  # where masses that are moved in proportion start
_ALIKE = 11  # digits in which answers of one kind agree
_EQUAL = 1e-9


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
        still, rest = float(y[-1]), math.fsum(y[:-1])
        return max(still * self.beta**2, rest + still * (1 - self.beta) ** 2) + count

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
