# SPDX-License-Identifier: Apache-2.0
"""Noise under a pure budget: `python -m benchmarks.pure [part …]`.

Parts are random (queries of random signs; minutes), flat (a hull far from round), domains
(questions that users have), categories, corners, margins, hulls, speed and walks; without one all
of them run. Errors are root mean squares of the Euclidean length at ε = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.hull_noise import Estimate, distinct, pure_errors
from benchmarks.sampled_volume import sampled_log_volume
from lownoise.bounds import (
    averaging_bound,
    directional_bound,
    log_volume_down,
)
from lownoise.noise import KNormNoise
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricBox, SymmetricPoints
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DELTA = 1e-6  # of the Gaussian
SIZES = (4, 8, 16, 32, 64)
MOST = 4096
EXACT = 6  # dimensions in which the volume bound is of the volume itself
SAMPLES, FLAT_SAMPLES, VOLUME_SAMPLES = 300, 600, 400


def main() -> None:
    for part in Arguments(__doc__).words(*PARTS) or PARTS:
        PARTS[part]()
        print(flush=True)


# queries of random signs


@dataclass(frozen=True)
class Row:
    """What d queries of N kinds of records cost at ε = 1, mechanism by mechanism.

    Args:
        d: how many queries.
        kinds: N, the columns of their matrix.
        k_norm: the K-norm mechanism's error.
        sampled: whether its noise can be drawn exactly.
        recursive: the recursive mechanism's.
        ellipsoid: that of K-norm noise of the least ellipsoid.
        answers: Laplace noise's on the answers.
        counts: Laplace noise's on the counts.
        gaussian: the least Gaussian's at (1, 10⁻⁶), certified.
        volume: what no 1-DP mechanism is below, by the hull's volume.
        directions: the same, by what changes along all directions at once.
    """

    d: int
    kinds: float
    k_norm: Estimate
    sampled: bool
    recursive: Estimate
    ellipsoid: float
    answers: float
    counts: float
    gaussian: float
    volume: float
    directions: float

    @property
    def bound(self) -> float:
        """The better of the two bounds."""
        return max(self.volume, self.directions)

    @property
    def growth(self) -> float:
        """The theory's growth of pure noise, (d/ε)·min(√ln(N/d), √d) (001, Theorem 5.2)."""
        return self.d * min(math.sqrt(math.log(self.kinds / self.d)), math.sqrt(self.d))


def kinds_of(d: int) -> tuple[int, ...]:
    return tuple(sorted({2 * d, 16 * d, MOST}))


def signs(d: int, kinds: int) -> np.ndarray:
    """Return the first columns of one random matrix, so that hulls are in one another."""
    return np.random.default_rng(d).choice([-1.0, 1.0], size=(MOST, d))[:kinds].T


@cache
def gaussian_scale() -> float:
    """Return σ of (1, 10⁻⁶)-private noise, by the exact curve, for a change of length 1."""
    return 1 / ln.approx_dp(1, DELTA).gaussian_parameter()


def laplace_on_answers(matrix: np.ndarray) -> float:
    """Return the error of noise of one scale on all answers; the best where entries are ±1."""
    return math.sqrt(2 * len(matrix)) * float(np.abs(matrix).sum(axis=0).max())


def laplace_on_counts(matrix: np.ndarray) -> float:
    return math.sqrt(2) * float(np.linalg.norm(matrix))


def ellipsoid_error(gamma: float, d: int) -> float:
    """Return the error of K-norm noise of the least ellipsoid, whose covariance is (d + 1)·M."""
    return math.sqrt(d + 1) * gamma


def exact_k_norm(points: np.ndarray) -> Estimate | None:
    """Return the K-norm mechanism's error where its noise can be drawn, and so is known."""
    try:
        gauge = norm_of(SymmetricPoints(frozen(points)))
    except ln.errors.PlanError:
        return None
    own = KNormNoise(gauge, 1.0).covariance()
    return Estimate(math.sqrt(float(np.sum(own if own.ndim == 1 else np.diag(own)))))


def volume_bound(points: np.ndarray, samples: int = VOLUME_SAMPLES) -> float:
    """Return what no 1-DP mechanism's error is below, where counts are real numbers as in 001.

    In few dimensions it is proved; beyond, but for a chance of 10⁻⁹ over the directions that the
    volume is measured along.
    """
    d = points.shape[1]
    volume = log_volume_down(SymmetricPoints(frozen(points)), np.eye(d))
    if d > EXACT:
        volume = max(volume, sampled_log_volume(points, samples=samples, seed=d))
    return averaging_bound(volume, d, epsilon=1.0)


def random_row(d: int, kinds: int) -> Row:
    matrix = signs(d, kinds)
    points = distinct(matrix.T)
    exact = exact_k_norm(points)
    estimated, recursive = pure_errors(points, SAMPLES, seed=d)
    least = ln.theory.factorize(matrix, order=2, rtol=1e-4).certificate
    return Row(
        d=d,
        kinds=kinds,
        k_norm=exact or estimated,
        sampled=exact is not None,
        recursive=recursive,
        ellipsoid=ellipsoid_error(least.upper, d),
        answers=laplace_on_answers(matrix),
        counts=laplace_on_counts(matrix),
        gaussian=gaussian_scale() * least.upper,
        volume=volume_bound(points),
        directions=directional_bound(least.lower, epsilon=1.0),
    )


def cube_square(d: int) -> float:
    """Return the variance of one coordinate of the K-norm mechanism's noise for a cube."""
    return float(KNormNoise(norm_of(SymmetricBox(np.ones(d))), 1.0).covariance()[0])


def cube_row(d: int) -> Row:
    """Return the same of all 2^d columns of signs, whose hull is a cube."""
    least = ln.theory.enclose(ln.Box([-1.0] * d, [1.0] * d)).certificate
    # every turn of the coordinates is as good as another: none
    one = {n: cube_square(n) for n in range(1, d + 1)}
    ways = [[d >> i for i in range(d.bit_length())], *([d, k] for k in range(1, d))]
    kept = [[(n - m) * one[n] for n, m in zip(way, [*way[1:], 0], strict=True)] for way in ways]
    return Row(
        d=d,
        kinds=2.0**d,
        k_norm=Estimate(math.sqrt(d * one[d])),
        sampled=True,
        recursive=Estimate(min(float(np.sum(np.cbrt(own))) for own in kept) ** 1.5),
        ellipsoid=ellipsoid_error(least.upper, d),
        answers=math.sqrt(2 * d) * d,
        counts=math.sqrt(2 * d * 2.0**d),
        gaussian=gaussian_scale() * least.upper,
        volume=averaging_bound(d * math.log(2), d, epsilon=1.0),
        directions=directional_bound(least.lower, epsilon=1.0),
    )


def random_rows() -> Iterator[Row]:
    """Return the rows of the table one by one: minutes."""
    for d in SIZES:
        least = 0.0
        for kinds in kinds_of(d):
            row = random_row(d, kinds)
            least = max(least, row.volume)  # what holds for a hull holds for those around it
            yield replace(row, volume=least)
        if 2**d > MOST:
            yield cube_row(d)


def cells(row: Row) -> list[str]:
    """Return what the page says of a row."""
    kinds = f"{row.kinds:,.0f}" if row.kinds <= MOST else f"2^{row.d}"
    numbers = (row.ellipsoid, row.answers, row.counts, row.gaussian, row.volume, row.directions)
    return [
        str(row.d),
        kinds,
        str(row.k_norm),
        "yes" if row.sampled else "no",
        str(row.recursive),
        *(f"{x:.4g}" for x in numbers),
        f"{row.k_norm.value / row.bound:.2f}",
        f"{row.k_norm.value / row.growth:.2f}",
        f"{row.volume / row.growth:.2f}",
        f"{row.gaussian / row.d:.2f}",
    ]


HEAD = (
    "d",
    "N",
    "K-norm",
    "drawn",
    "recursive",
    "ellipsoid",
    "Laplace, answers",
    "Laplace, counts",
    "Gaussian",
    "volume bound",
    "direction bound",
    "K-norm/bound",
    "K-norm/g",
    "volume/g",
    "Gaussian/d",
)


# a hull far from round: one row of signs, and others of signs over d, turned at random


FLAT = (8, 16, 32)
FLAT_HEAD = (
    "d",
    "N",
    "K-norm",
    "recursive",
    "ellipsoid",
    "Laplace, answers",
    "Laplace, counts",
    "Gaussian",
    "direction bound",
)


def flat(d: int, kinds: int) -> np.ndarray:
    """Return the example of 001, section 7, and of the remark before it."""
    generator = np.random.default_rng(d)
    matrix = generator.choice([-1.0, 1.0], size=(d, kinds))
    matrix[1:] /= d
    turn, upper = np.linalg.qr(generator.standard_normal((d, d)))
    return np.asarray(turn * np.sign(np.diag(upper)) @ matrix)


def flat_cells(d: int) -> list[str]:
    """Return what the page says of the example in d dimensions."""
    matrix = flat(d, 16 * d)
    k_norm, recursive = pure_errors(distinct(matrix.T), FLAT_SAMPLES, seed=d)
    least = ln.theory.factorize(matrix, order=2, rtol=1e-4).certificate
    numbers = (
        ellipsoid_error(least.upper, d),
        laplace_on_answers(matrix),
        laplace_on_counts(matrix),
        gaussian_scale() * least.upper,
        directional_bound(least.lower, epsilon=1.0),
    )
    return [str(d), str(16 * d), str(k_norm), str(recursive), *(f"{x:.4g}" for x in numbers)]


def random() -> None:
    """Print the errors of queries of random signs."""
    print("d queries of random signs on N kinds of records; g = d·min(√ln(N/d), √d)")
    _print([list(HEAD), *map(cells, random_rows())])


def far_from_round() -> None:
    """Print the errors of a hull that is far from round."""
    print("One row of signs, the others of signs over d, turned at random")
    _print([list(FLAT_HEAD), *map(flat_cells, FLAT)])


def domains() -> None:
    """Print what plans compare."""
    from benchmarks.pure_domains import HEAD as HEAD_OF_DOMAINS
    from benchmarks.pure_domains import domain_rows

    print(f"Errors at eps = 1; sums of {1000:,} records where their number is public")
    _print([list(HEAD_OF_DOMAINS), *domain_rows()])


def categories() -> None:
    """Print the least noises of means of categories in real and in whole numbers."""
    from benchmarks.pure_categories import HEAD as HEAD_OF_CATEGORIES
    from benchmarks.pure_categories import category_rows

    print("Errors of sums: of a million rows one of which changes, and of rows that come and go")
    _print([list(HEAD_OF_CATEGORIES), *category_rows()])


def corners() -> None:
    """Print the least noises of columns of yes and no with and without that of a cube."""
    from benchmarks.pure_categories import CORNERS_HEAD, corner_rows

    print("Errors of sums of columns of yes and no: a million rows, or rows that come and go")
    _print([list(CORNERS_HEAD), *corner_rows()])


def margins() -> None:
    """Print the least noises of margins with and without that of one table."""
    from benchmarks.pure_margins import HEAD as HEAD_OF_MARGINS
    from benchmarks.pure_margins import margin_rows

    print("Errors of all marginals of up to so many attributes, of 1,000 rows one of which changes")
    _print([list(HEAD_OF_MARGINS), *margin_rows()])


def hulls() -> None:
    """Print errors of bodies that levels or tries are for, and what a draw takes."""
    from benchmarks.pure_hulls import FEW_HEAD, few_rows, hull_rows
    from benchmarks.pure_hulls import HEAD as HEAD_OF_HULLS

    print("Errors at eps = 1 of sums of 1,000 records; the least over the best of the others")
    _print([list(HEAD_OF_HULLS), *hull_rows()])
    print("Milliseconds a point of the hull of d + k vectors of random signs, one core")
    _print([list(FEW_HEAD), *few_rows()])


def speed() -> None:
    """Print draws a second, rounded to integers, from the system's random bits."""
    from benchmarks.pure_speed import HEAD as HEAD_OF_SPEED
    from benchmarks.pure_speed import speed_rows

    print("Vectors of integers a second, one core")
    _print([list(HEAD_OF_SPEED), *speed_rows()])


def walks() -> None:
    """Print what a point of a cube takes by random walks."""
    from benchmarks.pure_speed import WALK_HEAD, walk_rows

    print("Uniform points of a cube by walks that are proved within 1e-9 of its density")
    _print([list(WALK_HEAD), *walk_rows()])


def _print(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)))


PARTS: dict[str, Callable[[], None]] = {
    "random": random,
    "flat": far_from_round,
    "domains": domains,
    "categories": categories,
    "corners": corners,
    "margins": margins,
    "hulls": hulls,
    "speed": speed,
    "walks": walks,
}


if __name__ == "__main__":
    main()
