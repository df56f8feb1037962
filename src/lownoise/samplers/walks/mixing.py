# SPDX-License-Identifier: Apache-2.0
"""How many steps of a random walk in a convex body are proved to be enough, in relative error.

K is convex with r·B₂ ⊂ K ⊂ R·B₂, π is uniform on it. Proofs: docs/theory.md, "Random walks in a
convex body". Every number here is computed in ball arithmetic and rounded to the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import down, shrunk, up
from lownoise.samplers.lazy import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.walks.body import RoundBody

_BITS = 128
_RADII = 48  # how many radii are tried in the bound on the last step
MOST_TRIES = 4096  # a step: where all are outside, the point stays
_SEED = 20260101
_TOGETHER = 512  # proposals in one go
_POINTS = 128
_MOMENTS = 24


@final
@dataclass(frozen=True, kw_only=True)
class Proximal:
    """What is known of a proximal walk ("In-and-Out") of variance h in a convex body.

    A step goes from x to y = x + √h·ξ and on to a draw of N(y, hI) restricted to K. The walk starts
    uniformly in the cube of half side `start`.

    Args:
        dimension: d.
        inner: r > 0 with r·B₂ ⊂ K.
        outer: R with K ⊂ R·B₂.
        deviation: √h.
        volume: at least vol(K), where better is known than the volume of R·B₂.

    Raises:
        PlanError: where a number is not positive and finite, or r exceeds R.

    Examples:
        >>> walk = Proximal(dimension=5, inner=1.0, outer=5.0**0.5, deviation=0.4)
        >>> walk.steps_needed(1e-9)
        400
        >>> walk.relative_up(400) <= 1e-9 < walk.relative_up(399)
        True
    """

    dimension: int
    inner: float
    outer: float
    deviation: float
    volume: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("dimension", "inner", "outer", "deviation", "volume"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise PlanError(f"{name}={value} is not positive and finite; give such a number")
        if self.inner > self.outer:
            raise PlanError(f"inner={self.inner} exceeds outer={self.outer}; swap them")

    @property
    def start(self) -> float:
        """Half the side of a cube about 0 in r·B₂."""
        return down(down(self.inner / up(math.sqrt(self.dimension))))

    @property
    def contraction_up(self) -> float:
        """λ: how much of a function of mean 0 a step leaves at most, in L₂(π)."""
        with precision(_BITS):
            return _upper(self._contraction())

    @property
    def warmth_up(self) -> float:
        """How far the density of the start exceeds the uniform one at most, as a ratio."""
        with precision(_BITS):
            return _upper(self._start_norm())

    def relative_up(self, steps: int) -> float:
        """Return η: after so many steps the density is within 1 ± η of the uniform one.

        |pₙ/π − 1| ≤ λ^{n−1/2} √(M₀ − 1) √(M₁ − 1), M₀ the squared norm of the density of the start
        and M₁ that of the likelihood of a point of K after one step (ours).
        """
        with precision(_BITS):
            root = (self._start_norm() * self._end_norm()).sqrt()
            return _upper(root * self._contraction() ** (steps - arb(0.5)))

    def steps_needed(self, relative: float) -> int:
        """Return the least n ≥ 1 whose `relative_up` is at most `relative`.

        Raises:
            PlanError: where `relative` is not in (0, 1).
        """
        if not 0 < relative < 1:
            raise PlanError(f"relative={relative} is not between 0 and 1; give such a number")
        with precision(_BITS):
            root = (self._start_norm() * self._end_norm()).sqrt()
            exact = (root / arb(relative)).log() / -self._contraction().log() + arb(0.5)
            steps = max(math.ceil(_upper(exact)), 1)
        while self.relative_up(steps) > relative:
            steps += 1
        return steps

    def distance_up(self, steps: int, shell: float) -> float:
        """Return the total variation of the walk from one that forgets a shell of K.

        The two walks part at step k only if the point accepted there is in the shell
        {1 − β < ‖x‖_K ≤ 1}, whose share of K is at most dβ. The density there is at most M₀ times
        the uniform one, and at most 1 + η of k steps: Σ min(M₀, 1 + λ^{k−1/2}·√…)·dβ, the smaller
        one from some k on (ours).

        Args:
            steps: n.
            shell: β.
        """
        with precision(_BITS):
            start, contraction = self._start_norm(), self._contraction()
            root = (start * self._end_norm()).sqrt()
            # any step will do to change the bound at; from this one on the second is the smaller
            turn = math.ceil(_upper((root / start).log() / -contraction.log() + arb(0.5)))
            turn = min(max(turn, 0), steps)
            late = root * contraction ** (turn + arb(0.5)) / (1 - contraction)
            total = turn * start + (steps - turn) + late
            return min(_upper(total * self.dimension * arb(shell)), 1.0)

    def _contraction(self) -> Any:  # noqa: ANN401 (flint carries no types)
        """λ = C/(C + h), C = (2R/π)² (Payne & Weinberger 1960, Bebendorf 2003)."""
        poincare = (2 * arb(self.outer) / arb.pi()) ** 2
        return poincare / (poincare + arb(self.deviation) ** 2)

    def _volume(self) -> Any:  # noqa: ANN401
        if self.volume is not None:
            return arb(self.volume)
        half = arb(self.dimension) / 2
        return (arb.pi().sqrt() * arb(self.outer)) ** self.dimension / (half + 1).gamma()

    def _start_norm(self) -> Any:  # noqa: ANN401
        """M₀ = vol(K)/vol(start)."""
        return self._volume() / (2 * arb(self.start)) ** self.dimension

    def _end_norm(self) -> Any:  # noqa: ANN401
        """M₁ = vol(K)(2πh)^{−d/2} e^{ρ²R²/r²}/P(‖ξ‖ ≤ ρ); any ρ ≤ r/√h will do."""
        d, ratio = self.dimension, arb(self.outer) / arb(self.inner)
        flat = self._volume() / ((2 * arb.pi()).sqrt() * arb(self.deviation)) ** d
        most = shrunk(down(self.inner / self.deviation))
        best = min(self.inner / self.outer * math.sqrt(d / 2), most)
        radii = {min(best * 2 ** ((i - _RADII // 2) / 16), most) for i in range(_RADII)}
        return flat * _least(
            (arb(rho) * ratio) ** 2 - (arb(rho) ** 2 / 2).gamma_lower(arb(d) / 2, 1).log()
            for rho in radii
        )


def _least(logarithms: Iterable[Any]) -> Any:  # noqa: ANN401
    """Return the exponential of the least of them, by its upper end."""
    return min(arb(x.upper()) for x in logarithms).exp()


def _upper(ball: Any) -> float:  # noqa: ANN401
    """Return a float that is at least the ball."""
    return up(float(ball.upper()))


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
