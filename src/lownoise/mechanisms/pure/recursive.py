# SPDX-License-Identifier: Apache-2.0
"""The recursive mechanism (001, section 7): K-norm noise level by level, the flattest kept first.

In coordinates y = T·q, T any invertible matrix, level 1 adds K-norm noise to all of y and keeps the
last of them; level 2 adds noise of its own to those that are left, for the body that is left; and
so on. Every level is a K-norm mechanism on a linear image of the integers and costs its share; what
is published, round(q + T⁻¹·(kept noise)), is a function of all levels' answers together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.errors import PlanError
from lownoise.gauges import mapped
from lownoise.mechanisms.pure.abstract import AbstractPureNoise, Loss, sum_up

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy
    from lownoise.mechanisms.pure.k_norm import KNormNoise
    from lownoise.samplers.lazy import Lazy
    from lownoise.sensitivity import Reach


@final
class _Turned:
    """T⁻¹ times the kept coordinates of the levels, last level first."""

    def __init__(self, inverse: Any, levels: list[tuple[Lazy, int]]) -> None:  # noqa: ANN401
        self._inverse, self._levels = inverse, levels

    @property
    def dimension(self) -> int:
        return int(self._inverse.nrows())

    def balls(self) -> list[Any]:
        from flint import arb, arb_mat

        kept: list[Any] = []
        for level, first in reversed(self._levels):  # the last level has the first coordinates
            kept.extend(level.balls()[first:])
        column = arb_mat(len(kept), 1, kept)
        own = arb_mat(
            self._inverse.nrows(),
            self._inverse.ncols(),
            [arb(entry) for entry in self._inverse.entries()],
        )
        product = own * column
        return [product[i, 0] for i in range(self.dimension)]

    def refine(self, entropy: Entropy) -> None:
        for level, _ in self._levels:
            level.refine(entropy)


@final
@dataclass(frozen=True, eq=False)
class RecursiveNoise(AbstractPureNoise):
    """Noise of several levels, each K-norm noise of the body that the earlier ones left.

    Args:
        rows: T, shape (d, d), entries whole numbers over a small power of two; level j works in its
            first nⱼ rows.
        levels: the noise of each level, on n₁ = d > n₂ > … coordinates.

    Raises:
        PlanError: where the levels do not fit, or T has no inverse.
    """

    rows: Vector
    levels: tuple[KNormNoise, ...]

    def __post_init__(self) -> None:
        sizes = [level.dimension for level in self.levels]
        falling = all(a > b for a, b in pairwise(sizes))
        if not sizes or sizes[0] != len(self.rows) or not falling:
            raise PlanError("RecursiveNoise.levels do not fall from all coordinates; plan again")
        _ = self._exact_inverse

    @property
    def dimension(self) -> int:
        """The number of integers d."""
        return len(self.rows)

    @property
    def estimated(self) -> bool:
        """Whether the covariance of a level was estimated by simulation."""
        return any(level.estimated for level in self.levels)

    @cached_property
    def _exact_inverse(self) -> Any:  # noqa: ANN401 (flint carries no types)
        from flint import fmpq_mat

        d = self.dimension
        scale = 1
        while scale < 2**60 and not np.array_equal(np.floor(self.rows * scale), self.rows * scale):
            scale *= 2
        entries = [int(x) for x in (self.rows * scale).ravel().tolist()]
        try:
            return fmpq_mat(d, d, entries).inv() * scale
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

    def loss(self, reach: Reach) -> Loss:
        """Return the sum of what the levels reveal, rounded up (basic composition)."""
        own = [level.loss(mapped(reach, self.rows[: level.dimension])) for level in self.levels]
        delta = sum_up(loss.delta for loss in own)
        return Loss(sum_up(loss.epsilon for loss in own), min(delta, 1.0))

    def draw(self, entropy: Entropy) -> Lazy:
        """Return the noise, known by its bits so far."""
        drawn = [level.draw(entropy) for level in self.levels]
        return _Turned(self._exact_inverse, list(zip(drawn, self._firsts(), strict=True)))

    @cached_property
    def kept(self) -> tuple[Vector, ...]:
        """The covariance of what each level keeps, in T's coordinates, (k, k) each."""
        found = []
        for level, first in zip(self.levels, self._firsts(), strict=True):
            own = level.covariance()
            dense = np.diag(own) if own.ndim == 1 else own
            found.append(frozen(dense[first:, first:]))
        return tuple(found)

    def covariance(self) -> Vector:
        """Return T⁻¹·(block diagonal of the kept covariances)·T⁻ᵀ."""
        d = self.dimension
        inner = np.zeros((d, d))
        for level, first, own in zip(self.levels, self._firsts(), self.kept, strict=True):
            inner[first : level.dimension, first : level.dimension] = own
        return frozen(self._inverse @ inner @ self._inverse.T)

    def simulate(self, count: int, entropy: Entropy) -> Vector:
        """Return `count` draws in floats."""
        inner = np.zeros((count, self.dimension))
        for level, first in zip(self.levels, self._firsts(), strict=True):
            inner[:, first : level.dimension] = level.simulate(count, entropy)[:, first:]
        return np.asarray(inner @ self._inverse.T)
