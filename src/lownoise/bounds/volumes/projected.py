# SPDX-License-Identifier: Apache-2.0
"""The volume of a body seen through a linear map, from below: exact where its form is known.

The volume of a hull in many dimensions, from below, with a stated confidence.

For any matrix W, vol(S) = |det W|·v_k·E‖Wθ‖_S^{−k} over unit vectors θ, and by Jensen's inequality
the mean is at least (E ρ)^k, ρ = 1/‖Wθ‖_S. An upper bound on ‖Wθ‖_S is any Σ|cᵢ| with
Σ cᵢxᵢ = Wθ: a linear program suggests it, and what does not quite add up is paid for along k points
that span. Cutting ρ off at τ only lowers its mean μ, and a mean of n numbers in [0, τ] is so far
above μ that KL(mean/τ ‖ μ/τ) = t with a chance of at most e^{−nt} (Hoeffding 1963).
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds.volume import ball_log_volume
from lownoise.bounds.volumes.hulls import (
    best_columns,
    inverse_up,
    log_gram_down,
    log_hull_down,
    log_zonotope_down,
)
from lownoise.errors import PlanError
from lownoise.numbers.rounding import FEW, TINY, grown, growth, lowered, shrunk
from lownoise.sets.bodies import (
    ImageBody,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.unit_balls import MixedBall, NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_MOST_WORK = 1 << 24
_MOST_PAIRS = 4000
CHANCE = 1e-9  # that the bound is wrong
_PILOT = 40
_NEAR = 1.005
_ROUNDS = 12


@singledispatch
def log_volume_down(body: object, matrix: Vector) -> float:
    """Return at most ln vol_k(A·S), and that, up to rounding, wherever the volume has a form.

    Forms are known of boxes and sums of segments (few), balls of ℓ₂ and their images, balls of
    other norms and products of balls where A has as many rows as they have coordinates, and hulls
    of points in few dimensions. Elsewhere a part of the body gives the bound; −∞ where none is
    known.

    Args:
        body: S.
        matrix: A, shape (k, d).

    Examples:
        >>> round(math.exp(log_volume_down(SymmetricBox(np.array([1.0, 2.0])), np.eye(2))), 6)
        8.0
    """
    return -math.inf


@log_volume_down.register(SymmetricBox)
def _box_log_volume(body: SymmetricBox, matrix: Vector) -> float:
    used = body.half_width > 0
    if not np.any(used):
        return -math.inf
    return _segments(body.half_width[used], matrix[:, used])


@log_volume_down.register(SymmetricPoints)
def _points_log_volume(body: SymmetricPoints, matrix: Vector) -> float:
    return _hull(body.points, matrix)


@log_volume_down.register(PointDifferences)
def _differences_log_volume(body: PointDifferences, matrix: Vector) -> float:
    # all differences where they are few, else those from the point in the middle of them
    points, count = body.points, len(body.points)
    if count * (count - 1) // 2 <= _MOST_PAIRS:
        first, second = np.triu_indices(count, 1)
    else:
        far = np.linalg.norm(points - points.mean(axis=0), axis=1)
        first = np.delete(np.arange(count), int(np.argmin(far)))
        second = np.full(count - 1, int(np.argmin(far)))
    if not first.size:
        return -math.inf
    # a difference is off by a rounding, as one more operation of the product
    return _hull(points[first] - points[second], matrix)


@log_volume_down.register(ImageBody)
def _image_log_volume(body: ImageBody, matrix: Vector) -> float:
    used = (
        np.any(matrix, axis=0) if body.diagonal else np.any(np.abs(matrix) @ np.abs(body.dense), 0)
    )
    kept = np.flatnonzero(used & np.any(body.dense, axis=0))
    if kept.size < len(matrix):
        return -math.inf
    base: AbstractUnitBall | None = body.base
    factor = body.dense[:, kept]
    if kept.size < body.base.dimension:  # no more is seen than of this projection
        base = body.base.restricted(kept)
    if base is None:
        return _hull(_axes(body.base, body.dense), matrix)
    if isinstance(base, NormBall) and math.isinf(base.order):
        if body.diagonal:
            return _segments(np.abs(body.factor[kept]), matrix[:, kept])
        return log_zonotope_down(*_product(factor.T, matrix))
    found = _hull(_axes(base, factor), matrix)
    if matrix.size * kept.size > _MOST_WORK:
        return found
    k = len(matrix)
    known = base_log_volume(base) if k == kept.size else math.nan
    if math.isnan(known):
        radius = _round_part(base)
        known = k * math.log(radius) + ball_log_volume(k) if radius > 0 else -math.inf
    return max(found, lowered(log_gram_down(matrix, factor) + known, 1 + min(abs(known), 1e9)))


def _axes(base: AbstractUnitBall, factor: Vector) -> Vector:
    """Return points of F·B, one on each axis of B, shape (n, d)."""
    inside = shrunk(1.0, FEW) / base.norm_up(np.eye(base.dimension))
    return np.asarray((factor * inside).T)


def base_log_volume(base: AbstractUnitBall) -> float:
    """Return ln vol(B) of a unit body, to about 12 digits; nan where it has no known form.

    Parts of dimensions k_i joined by ℓ_r have Π vol(B_i)·Π Γ(k_i/r + 1)/Γ(Σk_i/r + 1) (Dirichlet).

    Examples:
        >>> disc_and_segment = MixedBall((NormBall(2, 2.0), NormBall(1, 2.0)), order=math.inf)
        >>> round(math.exp(base_log_volume(disc_and_segment)) / math.pi, 9)
        2.0
    """
    if isinstance(base, NormBall):
        return ball_log_volume(base.size, base.order)
    if not isinstance(base, MixedBall):
        return math.nan
    found = sum(base_log_volume(part) for part in base.parts)
    if math.isinf(base.order):
        return found
    sizes = [part.dimension / base.order for part in base.parts]
    return found + sum(math.lgamma(s + 1) for s in sizes) - math.lgamma(sum(sizes) + 1)


def _round_part(base: AbstractUnitBall) -> float:
    """Return the radius of a round ball in B; 0 where none is known."""
    if not isinstance(base, NormBall):
        return 0.0
    if base.order >= 2:  # noqa: PLR2004
        return 1.0
    return shrunk(math.exp((0.5 - 1 / base.order) * math.log(base.size)), TINY)


def _segments(half_width: Vector, matrix: Vector) -> float:
    """Return at most ln vol of the image of a box."""
    k = len(matrix)
    single = np.count_nonzero(matrix, axis=1) == 1
    columns = np.argmax(matrix != 0, axis=1)
    if np.all(single) and np.unique(columns).size == k:
        sides = np.abs(matrix[np.arange(k), columns])
        logs = np.log(2 * half_width[columns]) + np.log(sides)
        return lowered(math.fsum(logs), 1 + math.fsum(np.abs(logs)), TINY)
    product, off = _product(np.diag(half_width), matrix)
    return log_zonotope_down(product, off)


def _product(points: Vector, matrix: Vector) -> tuple[Vector, float]:
    """Return A·x for each point, in floats, and at least how far each is off."""
    d = points.shape[1]
    sizes = np.linalg.norm(np.abs(points) @ np.abs(matrix).T, axis=1)
    off = growth(d + 12) * float(np.max(sizes)) * (1 + growth(d + len(matrix) + 20))
    return points @ matrix.T, off


def _hull(points: Vector, matrix: Vector) -> float:
    return log_hull_down(*_product(points, matrix))


def sampled_log_volume(points: Vector, *, samples: int, seed: int) -> float:
    """Return at most ln vol of the hull of ±points, but for a chance of 10⁻⁹.

    It is for comparisons of public workloads in many dimensions; no plan uses it. The chance is
    over the seed; the generator's numbers count as normal.

    Args:
        points: shape (n, k).
        samples: n ≥ 100 directions; the mean that they prove is less by some 20/n of it.
        seed: of the directions.

    Raises:
        PlanError: where there are fewer than 100 samples.

    Examples:
        >>> corners = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]])
        >>> 2 < math.exp(sampled_log_volume(corners, samples=200, seed=1)) < 8
        True
    """
    if samples < 100:  # noqa: PLR2004
        raise PlanError(f"samples={samples} prove hardly anything; give at least 100")
    k = int(points.shape[1])
    chosen = best_columns(points)
    if chosen is None:
        return -math.inf
    span = grown(float(inverse_up(points[chosen])) * math.sqrt(k))
    if math.isinf(span):
        return -math.inf
    try:
        white = np.asarray(np.linalg.cholesky(points.T @ points / len(points)), np.float64)
    except np.linalg.LinAlgError:
        return -math.inf
    normal = np.random.default_rng(seed).normal(size=(_PILOT + samples, k))
    unit = normal / np.linalg.norm(normal, axis=1)[:, None]
    radii = np.array([1 / _gauge_up(points, chosen, white @ u, span) for u in unit])
    top = float(np.max(radii[:_PILOT]))  # of other directions than those below
    mean = shrunk(math.fsum(np.minimum(radii[_PILOT:] / top, 1.0)) / samples)
    least = _below(mean, -math.log(CHANCE) / samples)
    if not least > 0:
        return -math.inf
    found = log_gram_down(white) + ball_log_volume(k) + k * math.log(least * top)
    return lowered(found, k)


def _gauge_up(points: Vector, chosen: Integers, target: Vector, span: float) -> float:
    """Return at least the least Σ|c| with Σ cᵢxᵢ = target, by columns a few at a time."""
    from scipy.optimize import linprog

    k = len(target)
    along = np.argsort(-np.abs(points @ np.linalg.solve(points.T @ points, target)), kind="stable")
    used = np.union1d(chosen, along[: 2 * k])
    least = math.inf
    for _ in range(_ROUNDS):
        own = points[used].T
        solved = linprog(
            np.ones(2 * used.size), A_eq=np.hstack([own, -own]), b_eq=target, method="highs-ds"
        )
        if solved.status:
            break
        shares = solved.x[: used.size] - solved.x[used.size :]
        size = np.linalg.norm(np.abs(own) @ np.abs(shares)) + np.linalg.norm(target)
        rest = float(np.linalg.norm(target - own @ shares)) + growth(used.size + k + 9) * size
        value = math.fsum(np.abs(shares)) + grown(float(span * rest))
        least = min(least, grown(float(value), FEW))
        slack = np.abs(points @ solved.eqlin.marginals)
        if np.max(slack) <= _NEAR:
            break
        used = np.union1d(used, np.argsort(-slack, kind="stable")[:k])
    return least


def _below(mean: float, rate: float) -> float:
    """Return nearly the least μ with KL(mean‖μ) ≤ rate, a little below; the mean is in [0, 1].

    Examples:
        >>> round(_below(0.5, -0.5 * math.log(0.36)), 6)
        0.1
    """
    low, high = 0.0, mean
    for _ in range(60):
        middle = (low + high) / 2
        far = mean * math.log(mean / middle) if mean > 0 and middle > 0 else math.inf
        if mean < 1:
            far += (1 - mean) * math.log((1 - mean) / (1 - middle))
        low, high = (middle, high) if far > rate else (low, middle)
    return shrunk(low)
