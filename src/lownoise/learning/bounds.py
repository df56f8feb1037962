# SPDX-License-Identifier: Apache-2.0
"""The regret of follow the regularised leader under noise, with its constants (003, Theorem 6).

Let g_t be the mean clipped gradient of round t, |g_t| ≤ κ, z_t the noise of the answer after it, r
the regularizer, b-strongly convex and of Lipschitz constant ρ on the ball, and λ_t = λ + (t−1)b.
With θ̃_t the model that has no noise, θ_t and θ̃_t minimise λ_t-strongly convex functions that differ
by ⟨z_{t−1}, θ⟩, so |θ_t − θ̃_t| ≤ |z_{t−1}|/λ_t, and for every u in the ball (ours in this form)

    Σ ⟨g_t, θ_t − u⟩ + r(θ_t) − r(u)
        ≤ λ/2·|u − θ_1|² + r(θ_1) + Σ κ²/(2λ_t) + Σ (κ + ρ)·|z_{t−1}|/λ_t.

The terms are the diameter's, the width's and the noise's. The theory page has the proof, and what
momentum adds: (1 − γ) times an answer is the prefix sum but for at most κγ/(1 − γ), which joins the
width. Noise is independent of gradients or not: only |g_t| ≤ κ is used, so every bound holds for an
adversary who sees all models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_HALVINGS = 200


@final
@readable
@dataclass(frozen=True, kw_only=True)
class RegretBound:
    """An upper bound on the expected regret: the mean excess loss over the best fixed model.

    Args:
        diameter: the term of the distance of the best model from the start.
        width: the term of following the leader without noise.
        noise: the term of the noise.
        rounding: the term of rounding gradients to a grid.
        of: the loss that the regret refers to, in words.
    """

    diameter: float
    width: float
    noise: float
    rounding: float
    of: str

    @property
    def value(self) -> float:
        """The sum of the four."""
        return grown(self.diameter + self.width + self.noise + self.rounding)

    @property
    def without_noise(self) -> float:
        """What would be left without noise, at the same learning rate."""
        return grown(self.diameter + self.width + self.rounding)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """What the bound is a function of, beside the learning rate.

    Args:
        records: how many records' losses are summed, in full batches.
        lipschitz: κ, at least every |g_t|.
        lengths: at least E|z_{t−1}| for t = 1 … n, the first being 0, after momentum; shape (n,).
        momentum: γ.
        distance: at least |u − θ_1| for every u in the ball.
        width: the ball's, 2R.
        offset: r(θ_1).
        slope: ρ, r's Lipschitz constant.
        convexity: b.
        truncation: at least how far truncation moves a mean gradient.
    """

    records: float
    lipschitz: float
    lengths: Vector
    momentum: float
    distance: float
    width: float
    offset: float
    slope: float
    convexity: float
    truncation: float

    def bound(self, strength: float, of: str) -> RegretBound:
        """Return the bound at a strength λ of the regularization, after momentum."""
        each = 1 / self._strengths(strength)
        width, noise = self._weights
        return RegretBound(
            diameter=(strength / 2 * self.distance**2 + self.offset) / self.records,
            width=float(width @ each) / self.records,
            noise=float(noise @ each) / self.records,
            rounding=len(each) * self.truncation * self.width / self.records,
            of=of,
        )

    @property
    def best(self) -> float:
        """The λ of the least bound: where its derivative is 0, which rises."""
        weights = sum(self._weights)
        half = self.distance**2 / 2
        found = math.sqrt(float(np.sum(weights)) / half)
        if not self.convexity:
            return found
        low, high = found * 2.0**-100, found  # strong convexity asks for less
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            if float(np.sum(weights / self._strengths(middle) ** 2)) > half:
                low = middle
            else:
                high = middle
            if high <= low * (1 + 2.0**-40):
                break
        return high

    def _strengths(self, strength: float) -> Vector:
        return np.asarray(strength + self.convexity * np.arange(len(self.lengths)))

    @property
    def _weights(self) -> tuple[Vector, Vector]:
        """What each round has of the width and of the noise, times λ_t."""
        lag = self.lipschitz * self.momentum / (1 - self.momentum)
        full = self.lipschitz + self.slope
        width = np.full(len(self.lengths), self.lipschitz**2 / 2 + full * lag)
        width[0] = self.lipschitz**2 / 2
        return width, full * self.lengths


def least_of(setting: Setting, strength: float | None, of: str) -> tuple[float, RegretBound]:
    """Return λ, the best by default, and the bound there."""
    own = setting.best if strength is None else strength
    return own, setting.bound(own, of)
