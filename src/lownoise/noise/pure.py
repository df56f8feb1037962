# SPDX-License-Identifier: Apache-2.0
"""Pure noises: independent Laplace numbers, noise of a norm, and such noise level by level.

Laplace noise is of 001, Theorem 2.6, the K-norm mechanism of 001, Definition 4.1, and the recursive
mechanism of 001, section 7, which keeps the flattest coordinates first.

In coordinates y = T·q, T any invertible matrix, level 1 adds K-norm noise to all of q and keeps the
last of y; level 2 adds noise of its own to those of y that are left, for the body that is left; and
so on. Every level is a K-norm mechanism on a linear image of the integers and costs its share; what
is published, round(q + T⁻¹·(kept noise)), is a function of all levels' answers together.

T is made of whole numbers over 2^20, so that what is drawn and what is bounded are one matrix.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import NONNEGATIVE, PACKED, POSITIVE, Field, Form, positive
from lownoise.noise.abstract import (
    NOISES,
    AbstractNoise,
    Loss,
    ball_loss,
    composed,
    independent_loss,
    quotient_up,
    sampling_loss,
)
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.samplers.ellipsoid import rounded_points
from lownoise.samplers.gamma import k_norm_noise, laplace, simulated_noise
from lownoise.samplers.laplace import MOST, rounded_laplace
from lownoise.samplers.lazy import rounded
from lownoise.samplers.uniform import UniformNormBall
from lownoise.sets.norms import ImageNorm, norm_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm


_written = NOISES.kind(
    "laplace", Field("scales", NONNEGATIVE), make=lambda _, __, scales: LaplaceNoise(scales)
)
_of_counts = NOISES.kind(
    "laplace_histogram",
    Field("scales", NONNEGATIVE),
    make=lambda _, __, scales: LaplaceNoise(scales),
)


@_of_counts
@_written
@final
@dataclass(frozen=True, eq=False)
class LaplaceNoise(AbstractNoise):
    """Independent numbers of density exp(−|z|/bᵢ)/2bᵢ.

    A change s of the integers reveals Σ|sᵢ|/bᵢ: the K-norm mechanism of the cross-polytope with
    corners ±bᵢeᵢ. The split of ε over the integers is in the scales.

    Args:
        scales: b, above 0, shape (r,).

    Raises:
        PlanError: where a scale is no number above 0.
    """

    scales: Vector

    def __post_init__(self) -> None:
        if not np.all((self.scales > 0) & np.isfinite(self.scales)):
            raise PlanError("LaplaceNoise.scales are not all above 0; plan again")

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return int(self.scales.size)

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    @property
    def independent_scales(self) -> Vector:
        """The scales, shape (r,)."""
        return self.scales

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|sᵢ|/bᵢ over `changes`, and ρ and μ of such changes, rounded up."""
        gauge = ImageNorm(self.scales, NormBall(self.dimension, 1.0))
        found = gauge.sensitivity_up(changes)
        if not math.isfinite(found):
            return Loss(math.inf)
        moves = map(quotient_up, changes.widths().tolist(), self.scales.tolist())
        return independent_loss(list(moves), found)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return laplace(self.scales, randomness=randomness)

    def scaled(self, factor: float) -> LaplaceNoise:
        """Return so many times this noise."""
        return LaplaceNoise(frozen(self.scales * factor))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return the rounding of so many draws, shape (count, r)."""
        scales = np.tile(self.scales, count)
        if np.all(scales <= MOST):
            return rounded_laplace(scales, randomness=randomness).reshape(count, -1)
        drawn = rounded(laplace(scales, randomness=randomness), randomness=randomness)
        return np.array(drawn, dtype=object).reshape(count, -1)

    def covariance(self) -> Vector:
        """Return the variances 2b², shape (r,)."""
        return frozen(2 * self.scales**2)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        cross = UniformNormBall(self.dimension, 1.0)  # whose noise is independent Laplace
        return simulated_noise(cross, 1.0, count, randomness) * self.scales


_WIDEST = 2.0**511  # whose square is a float


def _factor(value: Any, field: str) -> Vector:  # noqa: ANN401 (a file)
    found = unpacked(value, field, len(value["shape"]))
    if found.ndim not in (1, 2) or len(set(found.shape)) != 1:
        raise FileError(f"{field} is no diagonal and no square matrix")
    return found


FACTOR = Form(packed, _factor)  # of an ellipsoid: a diagonal or a square matrix


class AbstractNormNoise(AbstractNoise):
    """Noise that is scale·r·u: u uniform in the unit ball of a norm, r > 0 of a law of its own.

    Args:
        gauge: the norm.
        scale: above 0.

    Raises:
        PlanError: where the scale is no number above 0.
    """

    gauge: AbstractNorm
    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            said = f"{type(self).__name__}.scale={self.scale:g} is not above 0; plan again"
            raise PlanError(said)

    @property
    @abstractmethod
    def square(self) -> float:
        """E r², a float for predictions."""

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.gauge.dimension

    @property
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation."""
        return self.gauge.uniform.estimated

    @cached_property
    def _covariance(self) -> Vector:
        square = (
            self.scale**2 if self.scale < _WIDEST else math.inf
        )  # Python raises where C has inf
        return frozen(self.gauge.uniform.second_moment() * (self.square * square))

    def covariance(self) -> Vector:
        """Return E r²·scale²·E uuᵀ."""
        return self._covariance


def ellipsoid_norm(factor: Vector) -> ImageNorm:
    """Return the norm whose unit ball is F·B, B the Euclidean ball."""
    return ImageNorm(factor, NormBall(len(factor), 2.0))


def _ellipsoid(_: AbstractBody, __: float, scale: float, factor: Vector) -> KNormNoise:
    return KNormNoise(ellipsoid_norm(factor), scale)


_written = NOISES.kind(
    "k_norm",
    Field("scale", POSITIVE),
    make=lambda changes, distance, scale: KNormNoise(norm_of(changes, distance), scale),
)
_of_ellipsoid = NOISES.kind(
    "ellipsoid",
    Field("scale", POSITIVE),
    Field("factor", FACTOR, attribute=lambda noise: noise.gauge.ellipsoid),
    make=_ellipsoid,
)


@_of_ellipsoid
@_written
@final
@dataclass(frozen=True, eq=False)
class KNormNoise(AbstractNormNoise):
    """Noise of density ∝ exp(−‖z‖/scale), ‖·‖ the norm whose unit ball the gauge is.

    Where one neighbour moves the integers by s, densities differ by exp(‖s‖/scale) at most, by the
    triangle inequality (001, Theorem 4.3). It is drawn as scale·r·u, r ~ Gamma(d + 1, 1), u uniform
    in the unit ball (001, Remark 4.2).
    """

    gauge: AbstractNorm
    scale: float

    @property
    def log_concave(self) -> bool:
        """It is, as a norm is convex."""
        return True

    @property
    def square(self) -> float:
        """(d + 1)(d + 2), of Gamma(d + 1, 1)."""
        d = self.gauge.uniform.rank
        return float((d + 1) * (d + 2))

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""
        own = quotient_up(self.gauge.sensitivity_up(changes), self.scale)
        # where the norm is not Euclidean, along every change the density is Lipschitz as Laplace's
        return sampling_loss(ball_loss(self.gauge.euclidean, own), self.gauge.uniform)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return k_norm_noise(self.gauge.uniform, self.scale, randomness=randomness)

    def scaled(self, factor: float) -> KNormNoise:
        """Return so many times this noise."""
        return KNormNoise(self.gauge, self.scale * factor)

    def block(self, count: int, randomness: Randomness) -> Integers | None:
        """Return the rounding of so many draws of an ellipsoid's noise, shape (count, r)."""
        from flint import arb

        if (factor := self.gauge.ellipsoid) is None:
            return None
        lengths = np.full(count, self.scale)
        return rounded_points(
            factor, lengths, lambda _: arb(self.scale), randomness=randomness, gamma=True
        )

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return np.asarray(simulated_noise(self.gauge.uniform, self.scale, count, randomness))


_WHOLE = 2.0**20


@final
class _Turned:
    """T⁻¹ times the kept coordinates: the last of T·(first level), and those of the others."""

    def __init__(self, rows: Vector, inverse: Any, levels: list[Lazy], firsts: list[int]) -> None:  # noqa: ANN401
        self._rows, self._inverse = rows.tolist(), inverse
        self._levels, self._firsts = levels, firsts

    @property
    def dimension(self) -> int:
        return len(self._rows)

    def balls(self) -> list[Any]:
        from flint import arb, arb_mat

        d = self.dimension
        kept: list[Any] = []
        for level, first in zip(self._levels[:0:-1], self._firsts[:0:-1], strict=True):
            kept.extend(level.balls()[first:])  # the last level has the first coordinates
        column = arb_mat(d, 1, self._levels[0].balls())
        last = self._rows[self._firsts[0] :]
        turned = arb_mat(len(last), d, [arb(x) for row in last for x in row]) * column
        kept.extend(turned[i, 0] for i in range(len(last)))
        own = arb_mat(d, d, [arb(entry) for entry in self._inverse.entries()])
        product = own * arb_mat(d, 1, kept)
        return [product[i, 0] for i in range(d)]

    def refine(self, randomness: Randomness) -> None:
        for level in self._levels:
            level.refine(randomness)


def _levels(noise: RecursiveNoise) -> list[dict[str, Any]]:
    return [{"coordinates": level.dimension, "scale": level.scale} for level in noise.levels]


def _made(changes: AbstractBody, _: float, rows: Vector, levels: Any) -> RecursiveNoise:  # noqa: ANN401
    sizes = [level["coordinates"] for level in levels]
    scales = [positive(level["scale"], "noise.levels.scale") for level in levels]
    if any(type(n) is not int or not 1 <= n <= len(rows) for n in sizes):
        raise FileError("noise.levels do not fit noise.rows")
    bodies = [changes, *(changes.mapped(rows[:n]) for n in sizes[1:])]
    own = [KNormNoise(norm_of(b), scale) for b, scale in zip(bodies, scales, strict=True)]
    return RecursiveNoise(rows, tuple(own))


@NOISES.kind("recursive", Field("rows", PACKED), Field("levels", attribute=_levels), make=_made)
@final
@dataclass(frozen=True, eq=False)
class RecursiveNoise(AbstractNoise):
    """Noise of several levels, each K-norm noise of the body that the earlier ones left.

    Args:
        rows: T, shape (d, d), entries in [−1, 1], whole numbers over 2^20; level j > 1 works in its
            first nⱼ rows.
        levels: the noise of each level, two at least, on n₁ = d > n₂ > … coordinates.

    Raises:
        PlanError: where the levels do not fit, or T is not made so or has no inverse.
    """

    rows: Vector
    levels: tuple[KNormNoise, ...]

    def __post_init__(self) -> None:
        sizes = [level.dimension for level in self.levels]
        falling = all(a > b for a, b in pairwise(sizes))
        if len(sizes) < 2 or sizes[0] != len(self.rows) or not falling:  # noqa: PLR2004
            raise PlanError("RecursiveNoise.levels do not fall from all coordinates; plan again")
        whole = self.rows * _WHOLE
        made = np.all(np.abs(self.rows) <= 1) and np.array_equal(np.floor(whole), whole)
        if not made or self.rows.shape != (sizes[0], sizes[0]):  # NaN is not at most 1
            raise PlanError("RecursiveNoise.rows are not whole numbers over 2^20; plan again")
        _ = self._exact_inverse

    @property
    def dimension(self) -> int:
        """The number of integers d."""
        return len(self.rows)

    @property
    def estimated(self) -> bool:
        """Whether the covariance of a level was estimated by simulation."""
        return any(level.estimated for level in self.levels)

    @property
    def log_concave(self) -> bool:
        """It is, as images and sums of such are."""
        return True

    @cached_property
    def _exact_inverse(self) -> Any:  # noqa: ANN401 (flint carries no types)
        from flint import fmpq_mat

        d = self.dimension
        entries = [int(x) for x in (self.rows * _WHOLE).ravel().tolist()]
        try:
            return fmpq_mat(d, d, entries).inv() * int(_WHOLE)
        except ZeroDivisionError:
            raise PlanError("RecursiveNoise.rows have no inverse; plan again") from None

    @cached_property
    def _inverse(self) -> Vector:
        found = np.array(
            [float(entry.p) / float(entry.q) for entry in self._exact_inverse.entries()]
        )
        return frozen(found.reshape(self.rows.shape))

    def _firsts(self) -> list[int]:
        """Return where the kept coordinates of each level begin."""
        return [*(level.dimension for level in self.levels[1:]), 0]

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what the levels reveal together, rounded up (adaptive composition)."""
        own = [self.levels[0].loss(changes)]
        own += [
            level.loss(changes.mapped(self.rows[: level.dimension])) for level in self.levels[1:]
        ]
        return composed(own)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        drawn = [level.draw(randomness) for level in self.levels]
        return _Turned(self.rows, self._exact_inverse, drawn, self._firsts())

    def scaled(self, factor: float) -> RecursiveNoise:
        """Return so many times this noise."""
        return RecursiveNoise(self.rows, tuple(own.scaled(factor) for own in self.levels))

    @cached_property
    def kept(self) -> tuple[Vector, ...]:
        """The covariance of what each level keeps, in T's coordinates, (k, k) each."""
        found = []
        for level, first in zip(self.levels, self._firsts(), strict=True):
            own = level.covariance()
            dense = np.diag(own) if own.ndim == 1 else own
            if level is self.levels[0]:
                dense = self.rows @ dense @ self.rows.T
            found.append(frozen(dense[first:, first:]))
        return tuple(found)

    def covariance(self) -> Vector:
        """Return T⁻¹·(block diagonal of the kept covariances)·T⁻ᵀ."""
        d = self.dimension
        inner = np.zeros((d, d))
        for level, first, own in zip(self.levels, self._firsts(), self.kept, strict=True):
            inner[first : level.dimension, first : level.dimension] = own
        return frozen(self._inverse @ inner @ self._inverse.T)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        inner = np.zeros((count, self.dimension))
        for level, first in zip(self.levels, self._firsts(), strict=True):
            own = level.simulate(count, randomness)
            if level is self.levels[0]:
                own = own @ self.rows.T
            inner[:, first : level.dimension] = own[:, first:]
        return np.asarray(inner @ self._inverse.T)
