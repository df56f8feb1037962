# SPDX-License-Identifier: Apache-2.0
"""How many steps of a random walk in a convex body are proved to be enough, in relative error.

K is convex with r·B₂ ⊂ K ⊂ R·B₂, π is uniform on it. Proofs: docs/theory.md, "Random walks in a
convex body". Every number here is computed in ball arithmetic and rounded to the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import down, up

if TYPE_CHECKING:
    from collections.abc import Iterable

_BITS = 128
_RADII = 48  # how many radii are tried in the bound on the last step


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
        most = down(self.inner / self.deviation) * (1 - 2.0**-40)
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
