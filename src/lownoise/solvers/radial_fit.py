# SPDX-License-Identifier: Apache-2.0
"""The least radial noise for a dimension and a budget, with a proof that none adds less."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.solvers.radial import RadialFit, Staircase, Threshold, covering, usual_moment
from lownoise.solvers.radial_flow import Spare
from lownoise.solvers.radial_kept import NEAR, recalled, remember
from lownoise.solvers.radial_line import fitted_line
from lownoise.solvers.radial_proof import curve_of, proof_of

if TYPE_CHECKING:
    from lownoise.certificate.radial import RadialProof
    from lownoise.certificate.radial_line import LineProof

DIMENSIONS = (1, 4096)
EPSILONS = (0.01, 20.0)
DELTAS = (1e-15, 0.01)
_SECANTS = 12
_LEAST_WEIGHT = 1e-280  # smaller ones leave the range of floats
_WORTH = 0.7  # parts of E‖z‖² below which no bound is stated
_LEVEL = 1e-7  # parts of ν to which it is found
_COARSE = 3e-5  # while λ moves
_MOVED = 0.01  # parts of ν by which it is off where λ moved, at most as a rule
_CLOSE = 2e-2  # of log δ: λ moves no more
_STARTS = 50  # first radii that are compared where δ is 0


def least_profile(dimension: int, epsilon: float, delta: float, *, near: float = NEAR) -> RadialFit:
    """Return the least radial noise under (ε, δ) for changes of length at most 1.

    A fit that was found once is kept in the user's cache folder, and checked when it is read.

    Args:
        dimension: d, from 1 to 4096.
        epsilon: ε, from 0.01 to 20.
        delta: δ, from 1e-15 to 0.01.
        near: parts of E‖z‖² that a fit from there may have above the least; 0 where none will do.

    Raises:
        PlanError: if one is out of range.

    Examples:
        >>> fit = least_profile(16, 1.0, 1e-6)
        >>> round(fit.second_moment / (16 * 17), 3)  # over the K-norm's
        0.677
        >>> 1 < fit.second_moment / fit.proof.lower < 1.0005
        True
    """
    _checked(dimension, epsilon, delta)
    found = recalled(dimension, epsilon, delta, near) if near > 0 or dimension == 1 else None
    if found is None:
        found = fitted(dimension, epsilon, delta)
        remember(found)
    return found


def fitted(dimension: int, epsilon: float, delta: float) -> RadialFit:
    """Find what `least_profile` returns, with no cache."""
    if dimension == 1:
        staircase, shown = fitted_line(epsilon, delta)
        return _made(staircase, epsilon, delta, shown)
    usual = usual_moment(dimension, epsilon, delta)
    start, curve, proof = _pure_start(dimension, epsilon), None, None
    while True:
        threshold, level = _multiplied(dimension, epsilon, delta, usual, start)
        best = covering(threshold.staircase(start, level), epsilon, delta)
        again = curve is not None
        guess = best.second_moment() + threshold.multiplier * delta
        spare = Spare(best, epsilon, guess)
        curve = curve_of(threshold, guess, spare, best.radii.size)
        if again or curve is None or not 0 < curve.first < 1:
            break
        start = curve.first  # where no change moves anything: there the first radius is least
    if curve is not None:
        proof = proof_of(threshold, curve, spare, delta)
        if not proof.lower > _WORTH * best.second_moment():
            proof = None
    return _made(best, epsilon, delta, proof)


def _pure_start(dimension: int, epsilon: float) -> float:
    """Return the first radius that is best where δ is 0 and each step is as wide as a change."""
    steps = np.arange(math.ceil((45 + 3 * dimension) / epsilon), dtype=np.float64)
    starts = np.linspace(0.01, 0.99, _STARTS)
    moments = [
        Staircase(dimension, start + steps, -epsilon * steps).second_moment() for start in starts
    ]
    return float(starts[int(np.argmin(moments))])


def _made(
    staircase: Staircase, epsilon: float, delta: float, proof: RadialProof | LineProof | None
) -> RadialFit:
    weights = staircase.weights()
    held = weights > _LEAST_WEIGHT
    return RadialFit(
        staircase.dimension,
        epsilon,
        delta,
        staircase.radii[held],
        weights[held],
        staircase.second_moment(),
        proof,
    )


def _multiplied(
    dimension: int, epsilon: float, delta: float, usual: float, start: float
) -> tuple[Threshold, float]:
    """Return λ whose staircase has this δ, and ν there: log δ is followed by secants."""
    logs: list[tuple[float, float]] = []
    at, level = math.log(0.05 * usual / delta), 0.0
    while True:
        threshold = Threshold(dimension, epsilon, math.exp(at))
        if logs:  # dν = δ dλ, as E‖z‖² = ν − λδ is least
            last, gone = logs[-1]
            level += delta * math.exp(gone / 2) * (math.exp(at) - math.exp(last))
        level = _level(threshold, start, level, 2 * usual)
        excess = math.log(max(threshold.staircase(start, level).delta(epsilon), 1e-300) / delta)
        logs.append((at, excess))
        if abs(excess) < _CLOSE or len(logs) > _SECANTS:
            near = (level * (1 - 2 * _COARSE), level * (1 + 2 * _COARSE))
            return threshold, threshold.level(start, *near, _LEVEL)
        step = 0.8 * excess
        if len(logs) > 1:
            (a, f), (b, g) = logs[-2:]
            step = -g * (b - a) / (g - f) if f != g else step
        at += min(max(step, -3.0), 3.0)


def _level(threshold: Threshold, start: float, guess: float, high: float) -> float:
    """Return ν to some digits, from around a guess if it is there."""
    if guess > 0:
        low, most = guess * (1 - _MOVED), guess * (1 + _MOVED)
        found = threshold.level(start, low, most, _COARSE)
        if low < found < most * (1 - 2 * _COARSE):
            return found
    return threshold.level(start, 0.0, high, _COARSE)


def _checked(dimension: int, epsilon: float, delta: float) -> None:
    for field, value, (low, high) in (
        ("dimension", dimension, DIMENSIONS),
        ("epsilon", epsilon, EPSILONS),
        ("delta", delta, DELTAS),
    ):
        if not low <= value <= high:
            raise PlanError(
                f"{field}={value} is out of range for radial noise; give {low} to {high}, or take "
                "another mechanism"
            )
