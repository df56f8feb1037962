# SPDX-License-Identifier: Apache-2.0
"""How far answers of a stream stray, from draws of its noise in floats: what comparisons print.

The noise is public, and so is the seed: nothing about values is in these numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform.abstract import uniforms

if TYPE_CHECKING:
    from lownoise.noise.abstract import AbstractNoise
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.streams.sums import AbstractSums

_DRAWS, _FEWEST = 20_000, 4_000
_MOST_NUMBERS = 2e7
_TOGETHER = 1 << 20  # numbers that are drawn at once
_SEED = 20_100_602


@final
@dataclass(frozen=True, eq=False)
class Strays:
    """What draws of a stream's noise say.

    Args:
        lengths: the mean of ‖error‖₂ of each answer, shape (n,).
        errors: of the answers of some rounds, shape (draws, rounds, d).
    """

    lengths: Vector
    errors: Vector


def strays(
    sums: AbstractSums, noises: list[AbstractNoise], answers: Vector, rounds: Integers
) -> Strays:
    """Return how far answers stray whose sums of rounds have noise.

    Args:
        sums: of rounds.
        noises: of each level's sums, in r coordinates.
        answers: the matrix from coordinates to the numbers of an answer, shape (d, r).
        rounds: whose errors are kept, from 0.

    Raises:
        PlanError: where they are too many to be drawn.
    """
    r = answers.shape[1]
    counts = [count for count, _ in sums.levels]
    draws = min(_DRAWS, int(_MOST_NUMBERS // max(sum(counts) * r, 1)))
    if draws < _FEWEST:
        raise PlanError("answers are too many to draw; ask for standard deviations")
    workload, randomness = sums.workload.matrix(), SimulationRandomness(_SEED)
    lengths, kept = np.zeros(sums.rounds), []
    together = max(_TOGETHER // (sum(counts) * r), 1)
    for start in range(0, draws, together):
        k = min(together, draws - start)
        own = [
            noise.simulate(count * k, randomness).reshape(count, k * r)
            for count, noise in zip(counts, noises, strict=True)
        ]
        errors = (workload @ sums.linear(own)).reshape(-1, k, r) @ answers.T
        lengths += np.linalg.norm(errors, axis=2).sum(axis=1)
        kept.append(errors[rounds].swapaxes(0, 1))
    return Strays(lengths / draws, np.concatenate(kept))


def normal_length(shape: AbstractShape, answers: Vector) -> float:
    """Return E‖x‖₂ over its root mean square, x the normal noise of an answer.

    Args:
        shape: of the noise of the coordinates.
        answers: as those of `strays`.

    Examples:
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> round(normal_length(DiagonalShape(np.ones(1)), np.ones((1, 1))), 6)  # √(2/π)
        0.797885
    """
    if len(answers) == 1:
        return math.sqrt(2 / math.pi)
    own = answers @ shape.dense() @ answers.T
    values = np.maximum(np.linalg.eigvalsh(own), 0.0)
    from scipy.special import ndtri

    drawn = ndtri(uniforms(SimulationRandomness(_SEED), _DRAWS, values.size))
    found = float(np.mean(np.sqrt(np.square(drawn) @ values)))
    return found / math.sqrt(float(np.sum(values)))
