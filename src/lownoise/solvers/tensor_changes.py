# SPDX-License-Identifier: Apache-2.0
"""The least noise, of those that treat all directions alike, for what one record changes in tensors.

Such a noise has one number for each harmonic part of the tensors, and with the count and an even
power one more, β: the multiple of the mean over the sphere that goes with the count (ours). For
given β all is a majorant of few coordinates: with r = |x|^ℓ the form y₀(r − β)² + y of the count is
diagonal in (r − β, 1). The sets of forms with the same β are slices of a convex set by M₁₂ = βM₂₂,
so the least is a quasi-convex function of β, and a search by thirds finds it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.bodies.kernels import kernels, monomials
from lownoise.certificate import Claim, OrthantDual, RotationDual, order_norm
from lownoise.frames import Frame
from lownoise.shapes import DenseShape
from lownoise.solvers.generation import INTERRUPTED
from lownoise.solvers.image import Majorant, least_majorant
from lownoise.solvers.solution import RTOL, Solution, honest, in_unit
from lownoise.solvers.tensor_ball import rotated
from lownoise.solvers.tensor_evidence import improved

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.arrays import Vector
    from lownoise.bodies import TensorChanges
    from lownoise.solvers.generation import Progress

_SHRUNK = (math.sqrt(5) - 1) / 2
_SEARCHES = 40
_MOST_MASS = 0.95  # where masses that are moved in proportion start
_ALIKE = 11  # digits in which answers of one kind agree


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

    def spread(self, gains: Vector) -> Vector:
        """Return the mean squares under the best mass of the sphere, the rest being at 0."""
        if self.odd:
            return np.ones(gains.size)
        w = self.mass(gains)
        z = np.full(gains.size, w)
        z[-2], z[-1] = self.beta**2 + w * (1 - 2 * self.beta), 1.0
        return z

    def mass(self, gains: Vector) -> float:
        """Return w ≤ 1 that makes Σ√(gains·squares) greatest.

        With s the sum of the roots of the gains of all other parts that is s√w + √(g₀(β² − w(2β − 1))).
        """
        if self.odd:
            return 1.0
        s, bent = float(np.sum(np.sqrt(gains[:-2]))), 2 * self.beta - 1
        if not bent > 0:
            return 1.0
        return min(1.0, (s * self.beta) ** 2 / (bent * (gains[-2] * bent + s * s)))


def tensor_solution(
    body: TensorChanges,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    """Return the best noise of that kind; see `solve`."""
    asked = np.diag(weights) if queries is None else weights[:, None] * queries
    image, column = body.seen(asked)
    along = image @ body.mean
    own = kernels(body.ball.size, body.ball.power)
    shares = body.ball.parts.shares
    squared = np.stack(
        [a * np.sum((image @ kernel) * image, axis=1) for a, kernel in zip(shares, own, strict=True)],
        axis=1,
    )
    unit = math.ldexp(1.0, math.frexp(math.sqrt(float(np.max(squared))))[1])
    squared, along, column = squared / unit**2, along / unit, column / unit
    kinds, first, members = _kinds(np.column_stack([squared, along, column]))
    often = np.bincount(members).astype(np.float64)
    squared, along, column = squared[first], along[first], column[first]

    def found(beta: float) -> Majorant:
        rows = squared
        base: Counted | TensorChanges = Counted(body.ball.odd, beta)
        if body.counted:
            rows = np.column_stack([squared, np.square(column + beta * along)])
        rows = rows * often[:, None] ** (2 / order)
        heard = in_unit(progress, unit)
        inner = base if body.counted else body.ball
        return least_majorant(rows, inner, order, rtol=rtol / 8, progress=heard)

    def size(beta: float, majorant: Majorant) -> float:
        rows = squared
        if body.counted:
            rows = np.column_stack([squared, np.square(column + beta * along)])
        variances = rows @ (1 / majorant.coefficients)
        return order_norm(np.sqrt(variances) * often ** (1 / order), order)

    beta, best = 0.0, found(0.0)
    if body.counted and not body.ball.odd:
        beta, best = _searched(found, size)
    c = best.query_weights * often ** (2 / order - 1)
    duals = [_rotation(body, best, squared, along, column, beta, c, often, members)]
    if order > 2 and body.last is None:  # noqa: PLR2004
        duals += _others(body, asked, order, rtol)
    elif order > 2:  # noqa: PLR2004
        duals += _better(duals[0], body, asked, order)
    claims = [
        Claim(
            body=body,
            order=order,
            queries=queries,
            weights=weights,
            frame=_everything(body.dimension),
            shape=DenseShape(_factor(body, best.coefficients, beta)),
            center=frozen(np.zeros(body.dimension)),
            dual=dual,
        )
        for dual in duals
    ]
    claim = max(claims, key=lambda each: each.certificate().lower)
    return Solution(claim, honest(best.status, claim, rtol), best.rounds)


def _searched(
    found: Callable[[float], Majorant], size: Callable[[float, Majorant], float]
) -> tuple[float, Majorant]:
    """Return the best β and what was found for it."""
    low, high = 0.0, 1.0
    best = (math.inf, 0.5, None)

    def look(beta: float) -> float:
        nonlocal best
        majorant = found(beta)
        value = size(beta, majorant)
        if value < best[0]:
            best = (value, beta, majorant)
        return value if majorant.status != INTERRUPTED else math.nan

    left, right = high - _SHRUNK * (high - low), low + _SHRUNK * (high - low)
    f, g = look(left), look(right)
    for _ in range(_SEARCHES):
        if math.isnan(f) or math.isnan(g):
            break
        if f <= g:
            high, right, g = right, left, f
            left = high - _SHRUNK * (high - low)
            f = look(left)
        else:
            low, left, f = left, right, g
            right = low + _SHRUNK * (high - low)
            g = look(right)
    assert best[2] is not None  # noqa: S101 (it looked at least twice)
    return best[1], best[2]


def _kinds(rows: Vector) -> tuple[Vector, Vector, Vector]:
    """Return different rows, the first of each, and which each row is like."""
    top = np.max(np.abs(rows), axis=0)
    scaled = np.round(rows / np.where(top > 0, top, 1.0), _ALIKE) + 0.0
    return np.unique(scaled, axis=0, return_index=True, return_inverse=True)


def _rotation(
    body: TensorChanges,
    best: Majorant,
    squared: Vector,
    along: Vector,
    column: Vector,
    beta: float,
    c: Vector,
    often: Vector,
    members: Vector,
) -> RotationDual:
    gains = (c * often) @ squared
    none, each = np.zeros(0), frozen(c[members])
    if body.counted:
        across = float((c * often) @ np.square(column + beta * along))
        mass = Counted(body.ball.odd, beta).mass(np.append(gains, across))
        return RotationDual(mass, none, none, each)
    measure = body.ball.mixture(gains)
    if body.ball.odd:
        return RotationDual(float(measure[0]), none, none, each)
    kept = np.flatnonzero(measure[1:] > 0)
    return RotationDual(
        float(measure[0]), frozen(measure[1:][kept]), frozen(body.ball.angles[kept]), each
    )


def _others(
    body: TensorChanges, asked: Vector, order: float, rtol: float
) -> list[RotationDual | OrthantDual]:
    """Return what is known where all entries of tensors are asked about alike."""
    ball, parts = body.ball, body.ball.parts
    entry = np.argmax(np.abs(asked), axis=1)
    alone = np.count_nonzero(asked, axis=1) == 1
    size = np.abs(asked[np.arange(len(asked)), entry]) * body.size[entry]
    if not (len(asked) == ball.dimension and np.all(alone) and np.ptp(size) <= 1e-9 * size[0]):
        return []
    patterns = [tuple(sorted((a for a in row if a), reverse=True)) for row in monomials(ball.size, ball.power).tolist()]
    kind = np.array([parts.patterns.index(pattern) for pattern in patterns])[entry]
    found: list[RotationDual | OrthantDual] = []
    for dual in rotated(ball, order, rtol, None).duals:
        c = frozen(dual.query_weights[kind])
        if isinstance(dual, OrthantDual):
            found.append(OrthantDual(dual.weights, c))
        else:
            found.append(RotationDual(dual.alone, dual.weights, dual.angles, c))
    return found


def _better(
    dual: RotationDual, body: TensorChanges, asked: Vector, order: float
) -> list[RotationDual | OrthantDual]:
    """Return better evidence where the count is released."""
    inner = RotationDual(min(dual.alone, _MOST_MASS), *(dual.weights, dual.angles, dual.query_weights))
    found: list[RotationDual | OrthantDual] = [improved(inner, body, asked, order)]
    if body.ball.power == 2:  # noqa: PLR2004
        half = dual.alone / 2 * _MOST_MASS
        for masses in ((half, half), (1.0, 0.0)):  # a mass of 0 stays so
            start = OrthantDual(frozen(np.array(masses)), dual.query_weights)
            found.append(improved(start, body, asked, order))
    return found


def _factor(body: TensorChanges, coefficients: Vector, beta: float) -> Vector:
    """Return a lower triangle of the noise."""
    ball, k = body.ball, body.size.size
    parts = zip(ball.parts.shares, coefficients, kernels(ball.size, ball.power), strict=False)
    covariance = np.zeros((body.dimension, body.dimension))
    for a, y, kernel in parts:
        covariance[:k, :k] += (a / y) * kernel.toarray()
    covariance[:k, :k] *= body.size[:, None] * body.size
    if body.last is not None:
        across = np.append(beta * body.mean * body.size - body.offset, body.last)
        if ball.odd:
            across = np.append(-body.offset, body.last)
        covariance += np.outer(across, across / coefficients[-1])
    unit = np.sqrt(np.diag(covariance))
    return np.asarray(unit[:, None] * np.linalg.cholesky(covariance / unit / unit[:, None]))


def _everything(dimension: int) -> Frame:
    every = np.arange(dimension)
    return Frame(dimension=dimension, pivots=every, embed=None, seeing=every, view=None)
