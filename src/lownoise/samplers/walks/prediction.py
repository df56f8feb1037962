# SPDX-License-Identifier: Apache-2.0
"""The proximal walk in floats, many points at once: for predictions, pilots and tests alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.lazy import WORD
from lownoise.samplers.normal_quantile import normals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.walks.body import RoundBody
    from lownoise.samplers.walks.mixing import Proximal

MOST_TRIES = 4096  # a step: where all are outside, the point stays
_SEED = 20260101
_TOGETHER = 512  # proposals in one go
_POINTS = 128
_MOMENTS = 24


def started(body: RoundBody, proof: Proximal, count: int, randomness: Randomness) -> Vector:
    """Return points of the walk's start, shape (count, d)."""
    words = randomness.words(count * body.dimension).astype(np.float64) * 2.0**-WORD
    return np.asarray(proof.start * (2 * words.reshape(count, -1) - 1))


def step(
    body: RoundBody, points: Vector, deviation: float, randomness: Randomness
) -> tuple[Vector, float]:
    """Return where the points are after a step, and how many proposals one of them tried."""
    count, d = points.shape
    y = points + deviation * normals(randomness.words(count * d))[0].reshape(count, d)
    found = points.copy()
    waiting = np.arange(count)
    shifts, limits = np.zeros_like(y), np.zeros(count)
    each, spent, tried = 1, 0, 0
    while waiting.size and spent < MOST_TRIES:
        z = normals(randomness.words(waiting.size * each * d))[0].reshape(-1, each, d)
        tries = (y - shifts)[waiting][:, None] + deviation * z
        height = (np.einsum("ijk,ik->ij", tries, shifts[waiting]) - limits[waiting, None]) / (
            deviation * deviation
        )
        coins = randomness.words(waiting.size * each).astype(np.float64) * 2.0**-WORD
        inside = (body.norms(tries.reshape(-1, d)) <= 1).reshape(-1, each)
        inside &= coins.reshape(-1, each) < np.exp(np.minimum(height, 0.0))
        at = inside.argmax(axis=1)
        done = inside[np.arange(len(at)), at]
        tried += int(np.where(done, at + 1, each).sum())
        found[waiting[done]] = tries[done, at[done]]
        waiting = waiting[~done]
        spent += each
        if spent == 1 and waiting.size:
            shifts[waiting], limits[waiting] = body.shifts(y[waiting])
        room = max(count, _TOGETHER) // max(waiting.size, 1)
        each = min(2 * each, max(room, 1), MOST_TRIES - spent + 1)
    return found, tried / count


def points_after(
    body: RoundBody, proof: Proximal, steps: int, count: int, randomness: Randomness
) -> Vector:
    """Return points after so many steps, shape (count, d), in the round coordinates."""
    points = started(body, proof, count, randomness)
    for _ in range(steps):
        points, _tried = step(body, points, proof.deviation, randomness)
    return points


def moment(body: RoundBody, proof: Proximal) -> Vector:
    """Return an estimate of E u·uᵀ over F·K, shape (d, d): always the same one.

    A few relaxation times of the walk, from the start and then between what is counted.
    """
    randomness = SimulationRandomness(_SEED)
    pause = max(math.ceil(0.5 / (1 - proof.contraction_up)), 1)
    points = points_after(body, proof, 4 * pause, _POINTS, randomness)
    total = np.zeros((body.dimension, body.dimension))
    for _ in range(_MOMENTS):
        for _ in range(pause):
            points, _tried = step(body, points, proof.deviation, randomness)
        total += points.T @ points
    factor = body.matrix
    return np.asarray(factor @ (total / (_MOMENTS * _POINTS)) @ factor.T)
