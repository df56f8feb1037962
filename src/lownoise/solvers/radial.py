# SPDX-License-Identifier: Apache-2.0
"""The least additive noise under (ε, δ) for changes in a ball: a staircase of balls (ours).

Let the threshold τ(r) say that ‖z − s‖ > τ(‖z‖) is where noise of density f breaks e^ε: f(z) > e^ε
f(z − s). Where r² + A(r) = ν at every r (certificate/radial.py), τ satisfies

    λ·P(‖z − s‖ > τ(r)) = ν − r² + e^ε·λ·P(‖z + s‖ < v),   r = τ(v),

both chances given ‖z‖ = r. So τ(r) follows from r and the v before it: the orbit r₀, r₁ = τ(r₀), …
is a recursion of two terms. If ν is too large it runs into chances above 1/2; if too small, into
none. At the border of the two the density that falls by e^{−ε} at each rₖ, and nowhere else, is met
by the ψ of τ in every inequality (complementary slackness), so E‖z‖² = ν − λδ of that density: it
is least. λ is such that its δ is the one that is asked for.

Where few steps hold most of the mass, orbits that start elsewhere have other ν: which start is
best, and that none is better, follows from what shorter changes move (solvers/radial_flow.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from scipy.special import betainc, betaincinv, log_ndtr, ndtr

if TYPE_CHECKING:
    from lownoise.certificate.radial import RadialProof
    from lownoise.certificate.radial_line import LineProof
    from lownoise.numbers.arrays import Vector

_LANES = 48  # values of ν at once
_MOST_LOG = 690.0
_STEPS = 60_000  # of an orbit
_LARGE = 0.45  # a chance that only too large a ν leads to


@final
@dataclass(frozen=True, eq=False)
class Staircase:
    """A density that is constant between rising radii, and falls.

    Args:
        dimension: d.
        radii: where it falls, rising.
        logs: logarithms of the density up to each radius, falling; any common shift is the same.
    """

    dimension: int
    radii: Vector
    logs: Vector

    def weights(self) -> Vector:
        """Return the chances of the balls of which it is the mixture."""
        after = np.append(self.logs[1:], -np.inf)
        logs = (
            self.logs + np.log(-np.expm1(after - self.logs)) + self.dimension * np.log(self.radii)
        )
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def second_moment(self) -> float:
        """Return E‖z‖²."""
        d = self.dimension
        return float(self.weights() @ self.radii**2 * d / (d + 2))

    def scaled(self, factor: float) -> Staircase:
        """Return the same with all radii multiplied."""
        return Staircase(self.dimension, self.radii * factor, self.logs)

    def delta(self, epsilon: float) -> float:
        """Return ∫(f(z) − e^ε f(z − s))₊ dz, ‖s‖ = 1, in floats: for planning."""
        d, radii, logs = self.dimension, self.radii, self.logs
        near = 1e-9 * epsilon  # steps of ε itself are within it
        after = np.searchsorted(-logs, -(logs - epsilon) + near, side="right")
        before = np.searchsorted(-logs, -(logs + epsilon) - near, side="left")
        outer = np.where(after > 0, radii[np.maximum(after - 1, 0)], 0.0)
        inner = np.where(before > 0, radii[np.maximum(before - 1, 0)], 0.0)
        low, size = np.append(0.0, radii[:-1]), np.log(radii)
        weights = self.weights()
        shift = math.log(weights[-1]) - d * size[-1] - logs[-1]
        gained = _left(d, radii, outer, size) - _left(d, low, outer, size)
        lost = np.where(before > 0, _left(d, inner, low, size) - _left(d, inner, radii, size), 0.0)
        scales = np.exp(shift + logs + d * size)
        return float(scales @ gained - math.exp(epsilon) * (scales @ lost))


def _left(d: int, radius: Vector, other: Vector, size: Vector) -> Vector:
    """Volume of {‖z‖ < radius, ‖z − s‖ > other} in units of a ball whose log radius is `size`."""
    a, b = np.maximum(radius, 1e-300), np.maximum(other, 1e-300)
    plane = (a * a + 1 - b * b) / 2  # the spheres meet where the coordinate along s is this
    # Where a power would leave the floats, the ball in question is without weight.
    one = np.exp(np.minimum(d * (np.log(a) - size), _MOST_LOG))
    two = np.exp(np.minimum(d * (np.log(b) - size), _MOST_LOG))
    value = one * _cap(d + 2, -plane / a) - two * _cap(d + 2, (1 - plane) / b)
    value = np.where(b >= a + 1, 0.0, value)
    return np.asarray(np.where(b + 1 <= a, one - two, np.where(a + b <= 1, one, value)))


def _cap(d: int, height: Vector) -> Vector:
    """P(t > height) of one coordinate of a uniform point of the sphere in d dimensions."""
    inside = np.clip(height, -1.0, 1.0)
    half = 0.5 * betainc((d - 1) / 2, 0.5, 1 - inside * inside)
    return np.asarray(np.where(inside >= 0, half, 1 - half))


@final
@dataclass(frozen=True)
class Threshold:
    """The equation that τ satisfies at one λ.

    Args:
        dimension: d, at least 2.
        epsilon: ε.
        multiplier: λ.
    """

    dimension: int
    epsilon: float
    multiplier: float

    def orbits(self, starts: Vector, levels: Vector) -> tuple[list[Vector], Vector]:
        """Return radii along orbits (NaN after their end), and whether ν was too large.

        Args:
            starts: r₀ in (0, 1), shape (k,).
            levels: ν, shape (k,).
        """
        d = self.dimension
        radius = np.array(starts, dtype=float)
        before = np.full_like(radius, np.nan)
        path, large = [radius.copy()], np.zeros(radius.shape, dtype=bool)
        alive = np.arange(radius.size)
        for _ in range(_STEPS):
            r, v = radius[alive], before[alive]
            height = (1 + r * r - v * v) / (2 * r)
            counted = np.where(np.isnan(v), 0.0, _cap(d, np.nan_to_num(height, nan=1.0)))
            chance = (levels[alive] - r * r) / self.multiplier + math.exp(self.epsilon) * counted
            cosine = -np.sqrt(1 - betaincinv((d - 1) / 2, 0.5, 2 * np.clip(chance, 0, _LARGE)))
            after = np.sqrt(r * r + 1 - 2 * r * cosine)
            above = (chance >= _LARGE) | ~(after > r)
            large[alive[above]] = True
            keep = ~above & (chance > 0)
            alive, after, r = alive[keep], after[keep], r[keep]
            if not alive.size:
                break
            before[alive], radius[alive] = r, after
            row = np.full_like(radius, np.nan)
            row[alive] = after
            path.append(row)
        return path, large

    def level(self, start: float, low: float, high: float, rtol: float) -> float:
        """Return the largest ν in [low, high] that is not too large for the orbit of a start."""
        while high - low > rtol * high:
            levels = np.linspace(low, high, _LANES + 2)[1:-1]
            if not low < levels[0] < levels[-1] < high:
                break
            _, large = self.orbits(np.full(_LANES, start), levels)
            first = int(np.argmax(large)) if large.any() else _LANES
            low, high = (
                low if first == 0 else float(levels[first - 1]),
                high if first == _LANES else float(levels[first]),
            )
        return low

    def staircase(self, start: float, level: float) -> Staircase:
        """Return the density that falls by e^{−ε} along an orbit, and beyond it in equal steps."""
        path, _ = self.orbits(np.array([start]), np.array([level]))
        radii = np.array([row[0] for row in path if np.isfinite(row[0])])
        radii = radii[: max(1, math.ceil(0.9 * radii.size))]  # the end is not of the true orbit
        step = radii[-1] - radii[-2] if radii.size > 1 else 1.0
        more = math.ceil((45 + 3 * self.dimension) / self.epsilon)
        radii = np.append(radii, radii[-1] + step * np.arange(1, more))
        logs = -self.epsilon * np.arange(radii.size, dtype=float)
        masses = logs + self.dimension * np.log(radii)
        end = int(np.nonzero(masses > masses.max() - 42)[0][-1]) + 1
        return Staircase(self.dimension, radii[:end], logs[:end])


def covering(staircase: Staircase, epsilon: float, delta: float) -> Staircase:
    """Return the staircase scaled so that its δ is the one given, in floats."""
    from scipy.optimize import brentq

    def excess(log: float) -> float:
        return math.log(max(staircase.scaled(math.exp(log)).delta(epsilon), 1e-300) / delta)

    low = high = 0.0
    step = 1e-4
    while excess(low) < 0:
        low, step = low - step, 2 * step
    step = 1e-4
    while excess(high) > 0:
        high, step = high + step, 2 * step
    if low < high:
        high = float(brentq(excess, low, high, xtol=1e-13))
        while excess(high) > 0:
            high += 1e-13
    return staircase.scaled(math.exp(high))


@final
@dataclass(frozen=True, eq=False)
class RadialFit:
    """A mixture of uniform laws on balls about 0, for changes of length at most 1.

    Args:
        dimension: d.
        epsilon: ε.
        delta: δ, which the mixture has in floats: whoever adds it bounds its own.
        radii: of the balls, rising.
        weights: their chances.
        second_moment: E‖z‖² in floats.
        proof: why no additive noise has E‖z‖² below `proof.lower`; None where none is known.
    """

    dimension: int
    epsilon: float
    delta: float
    radii: Vector
    weights: Vector
    second_moment: float
    proof: RadialProof | LineProof | None

    def lower_bound(self) -> float:
        """Return what no additive noise's E‖z‖² is below, decided now from the proof; 0 if none."""
        return self.proof.lower if self.proof is not None and self.proof.holds() else 0.0


def usual_moment(dimension: int, epsilon: float, delta: float) -> float:
    """Return E‖z‖² of the better of K-norm and Gaussian noise, in floats: for planning."""
    return min(
        dimension * (dimension + 1) / epsilon**2, dimension * gaussian_scale(epsilon, delta) ** 2
    )


def gaussian_scale(epsilon: float, delta: float) -> float:
    """Return the least standard deviation of normal noise under (ε, δ) for changes of length 1."""
    low, high = 1e-3, 1e9

    def covers(scale: float) -> bool:
        first, second = 0.5 / scale - epsilon * scale, -0.5 / scale - epsilon * scale
        return float(ndtr(first) - math.exp(epsilon + log_ndtr(second))) <= delta

    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
