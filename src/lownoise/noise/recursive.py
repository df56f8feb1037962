# SPDX-License-Identifier: Apache-2.0
"""K-norm noise level by level: the recursive mechanism.

It is of 001, section 7, which keeps the flattest coordinates first.

In coordinates y = T·q, T any invertible matrix, level 1 adds K-norm noise to all of q and keeps the
last of y; level 2 adds noise of its own to those of y that are left, for the body that is left; and
so on. Every level is a K-norm mechanism on a linear image of the integers and costs its share; what
is published, round(q + T⁻¹·(kept noise)), is a function of all levels' answers together.

T is made of whole numbers over 2^20, so that what is drawn and what is bounded are one matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import PACKED, Field, positive
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss, composed
from lownoise.noise.pure import FACTOR, KNormNoise, ellipsoid_norm
from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody

_WHOLE = 2.0**20
_FLOAT_BITS = 128
_MORE_BITS = (64, 512)  # than are asked of an inverse; those of plans lose 30, and a few for d


@lru_cache(maxsize=8)
def inverted(rows: bytes, bits: int) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return balls that hold T⁻¹, finer than numbers of so many bits: once for all scales.

    Args:
        rows: the bytes of T, floats.
        bits: at the precision of which the inverse is not what an error is of.

    Raises:
        PlanError: where T has no inverse, or none that many more bits tell from none.
    """
    from flint import arb_mat

    d = math.isqrt(len(rows) // 8)
    entries = np.frombuffer(rows).tolist()
    for more in _MORE_BITS:
        with precision(bits + more):
            try:
                return arb_mat(d, d, entries).inv()
            except ZeroDivisionError:
                continue
    raise PlanError("RecursiveNoise.rows have no inverse; plan again")


@lru_cache(maxsize=8)
def _rounded(rows: bytes) -> Vector:
    found = [float(ball.mid()) for ball in inverted(rows, _FLOAT_BITS).entries()]
    d = math.isqrt(len(found))
    return frozen(np.array(found).reshape(d, d))


@final
class _Turned:
    """T⁻¹ times the kept coordinates: the last of T·(first level), and those of the others."""

    def __init__(self, rows: Vector, levels: list[Lazy], firsts: list[int]) -> None:
        self._rows, self._bytes = rows.tolist(), rows.tobytes()
        self._levels, self._firsts = levels, firsts

    @property
    def dimension(self) -> int:
        return len(self._rows)

    def balls(self) -> list[Any]:
        from flint import arb, arb_mat, ctx

        d = self.dimension
        kept: list[Any] = []
        for level, first in zip(self._levels[:0:-1], self._firsts[:0:-1], strict=True):
            kept.extend(level.balls()[first:])  # the last level has the first coordinates
        column = arb_mat(d, 1, self._levels[0].balls())
        last = self._rows[self._firsts[0] :]
        turned = arb_mat(len(last), d, [arb(x) for row in last for x in row]) * column
        kept.extend(turned[i, 0] for i in range(len(last)))
        product = inverted(self._bytes, ctx.prec) * arb_mat(d, 1, kept)
        return [product[i, 0] for i in range(d)]

    def refine(self, randomness: Randomness) -> None:
        for level in self._levels:
            level.refine(randomness)


def _levels(noise: RecursiveNoise) -> list[dict[str, Any]]:
    found = []
    for i, level in enumerate(noise.levels):
        own = {"factor": FACTOR.write(level.gauge.ellipsoid)} if i in noise.around else {}
        found.append({"coordinates": level.dimension, "scale": level.scale, **own})
    return found


def _made(changes: AbstractBody, _: float, rows: Vector, levels: Any) -> RecursiveNoise:  # noqa: ANN401
    sizes = [level["coordinates"] for level in levels]
    scales = [positive(level["scale"], "noise.levels.scale") for level in levels]
    if any(type(n) is not int or not 1 <= n <= len(rows) for n in sizes):
        raise FileError("noise.levels do not fit noise.rows")
    around = {
        i: FACTOR.read(level["factor"], "noise.levels.factor")
        for i, level in enumerate(levels)
        if "factor" in level
    }
    if any(len(factor) != sizes[i] for i, factor in around.items()):
        raise FileError("noise.levels do not fit their factors")
    own = []
    for i, (n, scale) in enumerate(zip(sizes, scales, strict=True)):
        body = changes if i == 0 else changes.mapped(rows[:n])
        gauge = ellipsoid_norm(around[i]) if i in around else norm_of(body)
        own.append(KNormNoise(gauge, scale))
    return RecursiveNoise(rows, tuple(own), frozenset(around))


@NOISES.kind("recursive", Field("rows", PACKED), Field("levels", attribute=_levels), make=_made)
@final
@dataclass(frozen=True, eq=False)
class RecursiveNoise(AbstractNoise):
    """Noise of several levels, each K-norm noise of what the earlier ones left, or around it.

    Args:
        rows: T, shape (d, d), entries in [−1, 1], whole numbers over 2^20; level j > 1 works in its
            first nⱼ rows.
        levels: the noise of each level, two at least, on n₁ = d > n₂ > … coordinates.
        around: the levels, from 0, whose norm is an ellipsoid's around the body, not the body's.

    Raises:
        PlanError: where the levels do not fit, or T is not made so or has no inverse.
    """

    rows: Vector
    levels: tuple[KNormNoise, ...]
    around: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        sizes = [level.dimension for level in self.levels]
        falling = all(a > b for a, b in pairwise(sizes))
        if len(sizes) < 2 or sizes[0] != len(self.rows) or not falling:  # noqa: PLR2004
            raise PlanError("RecursiveNoise.levels do not fall from all coordinates; plan again")
        whole = self.rows * _WHOLE
        made = np.all(np.abs(self.rows) <= 1) and np.array_equal(np.floor(whole), whole)
        if not made or self.rows.shape != (sizes[0], sizes[0]):  # NaN is not at most 1
            raise PlanError("RecursiveNoise.rows are not whole numbers over 2^20; plan again")
        _ = self._inverse

    @property
    def dimension(self) -> int:
        """The number of integers d."""
        return len(self.rows)

    @property
    def estimated(self) -> bool:
        """Whether the covariance of a level was estimated by simulation."""
        return any(level.estimated for level in self.levels)

    @property
    def steady(self) -> bool:
        """It is not: changes are turned."""
        return False

    @property
    def log_concave(self) -> bool:
        """It is, as images and sums of such are."""
        return True

    @property
    def of_ball(self) -> bool:
        """Whether the noise of a level is."""
        return any(level.of_ball for level in self.levels)

    @cached_property
    def _inverse(self) -> Vector:
        return _rounded(self.rows.tobytes())

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
        return _Turned(self.rows, drawn, self._firsts())

    def scaled(self, factor: float) -> RecursiveNoise:
        """Return so many times this noise."""
        return replace(self, levels=tuple(own.scaled(factor) for own in self.levels))

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
