# SPDX-License-Identifier: Apache-2.0
"""The volume of a hull in many dimensions, from below, with a stated confidence.

For any matrix W, vol(S) = |det W|·v_k·E‖Wθ‖_S^{−k} over unit vectors θ, and by Jensen's inequality
the mean is at least (E ρ)^k, ρ = 1/‖Wθ‖_S. An upper bound on ‖Wθ‖_S is any Σ|cᵢ| with
Σ cᵢxᵢ = Wθ: a linear program suggests it, and what does not quite add up is paid for along k points
that span. Cutting ρ off at τ only lowers its mean μ, and a mean of n numbers in [0, τ] is so far
above μ that KL(mean/τ ‖ μ/τ) = t with a chance of at most e^{−nt} (Hoeffding 1963).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import ball_log_volume
from lownoise.bounds.volumes.hulls import best_columns, inverse_up, log_gram_down
from lownoise.errors import PlanError
from lownoise.numbers.rounding import FEW, grown, growth, lowered, shrunk

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

CHANCE = 1e-9  # that the bound is wrong
_PILOT = 40
_NEAR = 1.005
_ROUNDS = 12


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
    """
    if samples < 100:
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
    """Return nearly the least μ with KL(mean‖μ) ≤ rate, a little below; the mean is in [0, 1]."""
    low, high = 0.0, mean
    for _ in range(60):
        middle = (low + high) / 2
        far = mean * math.log(mean / middle) if mean > 0 and middle > 0 else math.inf
        if mean < 1:
            far += (1 - mean) * math.log((1 - mean) / (1 - middle))
        low, high = (middle, high) if far > rate else (low, middle)
    return shrunk(low)
