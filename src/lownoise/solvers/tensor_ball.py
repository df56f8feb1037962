# SPDX-License-Identifier: Apache-2.0
"""The least noise around moment tensors of the ball that treats all directions alike.

One variance for each harmonic part is the least of all ellipsoids at p = 2, because ‖·‖₂ of
deviations knows no directions (see docs/theory.md), at power 1 for every p, and at power 2, as its
certificates show, for every p that was tried.

Beyond p = 2 evidence gets better by its masses and query weights, in turn (ours): the nuclear norm
of diag(√c)·B·diag(√w) is at least its product with any P of spectral norm 1, and equal to it for
the polar factor. For a fixed P that is Σ √cⱼ·hⱼ, and Σ √w_g·A_g over the orbits that rows belong
to; the best c and the best w for it are known. So no step loses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import OrthantDual, RotationDual
from lownoise.certificate.tensors import orthant_counts, orthant_squares
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sets.unit_balls.mixtures import best_mixture
from lownoise.solvers.majorant import least_majorant

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import TensorBall, TensorChanges
    from lownoise.solvers.generation import Progress

_ROUNDS = 300
_HELD = 1e-9
_WORK = 2e9  # multiplications
_FEWEST, _MOST = 4, 400


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
            rest, still = math.sqrt(float(np.sum(ends))), h[1] / math.sqrt(d)
            s = (math.hypot(rest, math.sqrt(8) * still) - rest) / (4 * still)
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
