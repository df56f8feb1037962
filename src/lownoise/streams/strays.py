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
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.regions import covering_rank, enough
from lownoise.samplers.uniform.abstract import uniforms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape

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


@final
@dataclass(frozen=True, eq=False)
class Quantiles:
    """How far answers stray but for a chance, from draws: above each quantile but once in 10⁶.

    Args:
        each: of each answer alone, shape (n, d).
        joint: of all answers up to each round, in their deviations, shape (n,).
    """

    each: Vector
    joint: Vector


def drawing(numbers: int, outside: float) -> Iterator[tuple[int, SimulationRandomness]]:
    """Yield how many draws are made at once, until there are enough, and where they come from.

    Args:
        numbers: that one draw takes.
        outside: the least chance that draws are asked about.

    Raises:
        PlanError: where they are too many for as many draws as tell of that chance; before
            anything is drawn.
    """
    draws = min(_DRAWS, int(_MOST_NUMBERS // max(numbers, 1)))
    if draws < _FEWEST or not enough(draws, outside):
        raise PlanError("answers are too many for intervals from draws; use standard_deviation")
    randomness, together = SimulationRandomness(_SEED), max(_TOGETHER // max(numbers, 1), 1)
    return ((min(together, draws - start), randomness) for start in range(0, draws, together))


def strays(errors: Iterable[Vector], rounds: Integers) -> Strays:
    """Return how far answers stray.

    Args:
        errors: draws of those of all answers, shape (n, k, d) each.
        rounds: whose errors are kept, from 0.
    """
    lengths, kept = [], []
    for own in errors:
        lengths.append(np.linalg.norm(own, axis=2).sum(axis=1))
        kept.append(own[rounds].swapaxes(0, 1))
    together = np.concatenate(kept)
    return Strays(np.sum(lengths, axis=0) / len(together), together)


def quantiles(errors: Iterable[Vector], deviations: Vector, level: float) -> Quantiles:
    """Return how far answers stray with chance 1 − `level`, each alone and all up to a round.

    Args:
        errors: as those of `strays`.
        deviations: of all answers, shape (n, d).
        level: the chance with which they stray no farther.
    """
    every = np.abs(np.concatenate(list(errors), axis=1))
    rank = covering_rank(every.shape[1], 1 - level)
    each, joint, most = np.empty(deviations.shape), [], np.zeros(every.shape[1])
    for t, (own, scale) in enumerate(zip(every, deviations, strict=True)):
        each[t] = np.partition(own, rank, axis=0)[rank]
        np.maximum(most, (own / np.where(scale > 0, scale, 1.0)).max(axis=1), out=most)
        joint.append(np.partition(most, rank)[rank])
    return Quantiles(frozen(each), frozen(np.array(joint)))


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
    drawn = normals(SimulationRandomness(_SEED), _DRAWS, values.size)
    found = float(np.mean(np.sqrt(np.square(drawn) @ values)))
    return found / math.sqrt(float(np.sum(values)))


def normals(randomness: SimulationRandomness, *shape: int) -> Vector:
    """Return normal numbers in floats, for simulation alone."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniforms(randomness, *shape)))
