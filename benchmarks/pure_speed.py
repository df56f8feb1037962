# SPDX-License-Identifier: Apache-2.0
"""How fast pure noise is drawn: by the kind of body, by its dimension, and by random walks."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.grid_walk import GridWalk
from benchmarks.hull_noise import distinct
from lownoise.errors import PlanError
from lownoise.noise import KNormNoise, LaplaceNoise
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SystemRandomness
from lownoise.samplers.walks import InAndOut, Preimage, RoundBody, walk
from lownoise.sets.bodies import ImageBody, SymmetricBox, SymmetricPoints
from lownoise.sets.norms import norm_of
from lownoise.sets.norms.product import ProductNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.sets.norms import AbstractNorm

SCALE = 2.0**32  # grid steps of noise, as plans have
SECONDS = 0.5
SIZES = (2, 4, 8, 16, 64)
WALKED = (2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 64, 128)
TIMED = 40_000  # steps up to which a draw is timed


def _box(d: int) -> AbstractNorm:
    return norm_of(SymmetricBox(np.ones(d)))


def _ball(order: float) -> Callable[[int], AbstractNorm]:
    return lambda d: norm_of(ImageBody(frozen(np.ones(d)), NormBall(d, order)))


def _normal(rows: int, d: int) -> np.ndarray:
    return frozen(np.random.default_rng(d).standard_normal((rows, d)))


def _ellipsoid(d: int) -> AbstractNorm:
    return norm_of(ImageBody(_normal(d, d), NormBall(d, 2.0)))


def _zonotope(d: int) -> AbstractNorm:
    return norm_of(ImageBody(frozen(_normal(2 * d, d).T.copy()), NormBall(2 * d, math.inf)))


def _hull(d: int) -> AbstractNorm:
    signs = np.random.default_rng(d).choice([-1.0, 1.0], size=(2 * d, d))
    return norm_of(SymmetricPoints(frozen(distinct(signs))))


def _product(d: int) -> AbstractNorm:
    return ProductNorm((_ball(2.0)(d // 2), _box(d - d // 2)))


BODIES: dict[str, Callable[[int], AbstractNorm]] = {
    "box": _box,
    "ball, ℓ₂": _ball(2.0),
    "cross-polytope, ℓ₁": _ball(1.0),
    "ball, ℓ₃": _ball(3.0),
    "ellipsoid": _ellipsoid,
    "product of a ball and a box": _product,
    "sum of 2d segments": _zonotope,
    "hull of 2d vectors of signs": _hull,
}
HEAD = ("body", *(f"d={d}" for d in SIZES))


def draws_a_second(noise: KNormNoise | LaplaceNoise) -> float:
    """Return how many vectors of integers a CPU second gives, from the system's random bits."""
    randomness = SystemRandomness()
    noise.integers(randomness)
    start, count = time.process_time(), 0
    while time.process_time() - start < SECONDS:
        noise.integers(randomness)
        count += 1
    return count / (time.process_time() - start)


def rate(number: float) -> str:
    """Return a number of draws a second as the table has it: of few two digits."""
    return f"{number:,.0f}" if number >= 1 else f"{number:.2g}"


def speed_rows() -> list[list[str]]:
    """Return draws a second, a row for each body."""
    laplace = [rate(draws_a_second(LaplaceNoise(np.full(d, SCALE)))) for d in SIZES]
    rows = [["Laplace, independent", *laplace]]
    for name, make in BODIES.items():
        row = [name]
        for d in SIZES:
            try:
                row.append(rate(draws_a_second(KNormNoise(make(d), SCALE))))
            except PlanError:
                row.append("refused")
        rows.append(row)
    return rows


WALK_HEAD = ("d", "proximal walk, steps", "s a draw", "grid walk, steps", "s a draw")


def _seconds(draw: Callable[[], object]) -> str:
    start = time.process_time()
    draw()
    return f"{time.process_time() - start:.2g}"


def _drawn(found: InAndOut | GridWalk, randomness: SystemRandomness) -> object:
    return found.draw(randomness).balls()


def walk_rows() -> list[list[str]]:
    """Return steps and seconds of both walks in the cube, which neither knows to be one."""
    randomness, rows = SystemRandomness(), []
    for d in WALKED:
        cube, outer = Preimage(np.eye(d)), math.sqrt(d) * (1 + 2.0**-50)
        row = [str(d)]
        try:
            found = walk(cube, np.eye(d), 1.0, outer)
            timed = found.steps <= TIMED
            took = _seconds(partial(_drawn, found, randomness)) if timed else "–"
            row += [f"{found.steps:,}", took]
        except PlanError:
            row += ["refused", ""]
        body = RoundBody(membership=cube, factor=np.eye(d), inner=1.0, outer=outer)
        try:
            grid = GridWalk(body=body)
            row += [f"{grid.steps:,}", _seconds(partial(_drawn, grid, randomness))]
        except PlanError:
            row += ["refused", ""]
        rows.append(row)
        if row[1::2] == ["refused", "refused"]:
            break
    return rows
