# SPDX-License-Identifier: Apache-2.0
"""What no noise that is added under (ε, δ) can beat, where changes are a ball (ours).

Let Z be any noise in Rᵈ with P(Z ∈ B) ≤ e^ε P(Z + s ∈ B) + δ for all sets B and all ‖s‖ ≤ 1. Let
0 ≤ ψ(‖z‖, ‖z − s‖) ≤ λ, and let A(r) be the mean over ‖z‖ = r, with ‖s‖ = 1, of ψ(‖z‖, ‖z − s‖) −
e^ε ψ(‖z + s‖, ‖z‖). Where r² + A(r) ≥ ν at every r ≥ 0,

    E‖Z‖² ≥ ν − λδ,

whether Z is symmetric, has a density, or neither: see docs/theory.md, "Radial noise".

A proof here has ψ(r, u) = λ where u exceeds a threshold, u² > r² + 1 − 2r·c(r), else 0: the cosine
c is linear between nodes, and ψ = 0 beyond the last of them. Then A is the difference of two caps,
and the condition is decided in intervals, without the programme that found c, λ and ν.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import mul_up

if TYPE_CHECKING:
    from collections.abc import Iterator

_BITS = 96
_LEAST_DIMENSION = 2
_LEAST = 2.0**-24  # parts of a node's interval that are halved no more


@final
@dataclass(frozen=True)
class RadialProof:
    """Data from which E‖Z‖² ≥ `lower` follows for all additive noise, by `holds` alone.

    Args:
        dimension: d, at least 2.
        epsilon: ε > 0.
        delta: δ.
        radii: 0 and rising numbers, the last above 1: where the cosine is given.
        cosines: in [−1, 0), one for each radius.
        multiplier: λ, the greatest value of ψ.
        level: ν, below r² + A(r) at every r.

    Examples:
        >>> proof = RadialProof(2, 1.0, 1e-6, (0.0, 2.0), (-1.0, -1.0), 1.0, -1.0)
        >>> proof.holds(), proof.lower < 0
        (True, True)
    """

    dimension: int
    epsilon: float
    delta: float
    radii: tuple[float, ...]
    cosines: tuple[float, ...]
    multiplier: float
    level: float

    @property
    def lower(self) -> float:
        """ν − λδ rounded down: what E‖Z‖² is at least, if `holds`."""
        cost = mul_up(self.multiplier, self.delta)
        return math.nextafter(self.level - cost, -math.inf)

    def holds(self, most: float = math.inf) -> bool:
        """Whether r² + A(r) ≥ ν at every r ≥ 0, decided in intervals.

        Args:
            most: how many intervals are looked at before it is taken not to hold.
        """
        if not self._is_sound():
            return False
        with precision(_BITS):
            return _Check(self, most).holds()

    def fields(self) -> dict[str, Any]:
        """Return what is kept of it in a file, beside d, ε and δ."""
        return {
            "radii": list(self.radii),
            "cosines": list(self.cosines),
            "multiplier": self.multiplier,
            "level": self.level,
        }

    def _is_sound(self) -> bool:
        numbers = (self.epsilon, self.multiplier, self.level, *self.radii, *self.cosines)
        return (
            self.dimension >= _LEAST_DIMENSION
            and len(self.radii) == len(self.cosines) > 1
            and all(math.isfinite(x) for x in (*numbers, self.delta))
            and self.epsilon > 0
            and self.delta >= 0
            and self.multiplier >= 0
            and self.radii[0] == 0
            and self.radii[-1] > 1
            and all(a < b for a, b in itertools.pairwise(self.radii))
            and all(-1 <= c < 0 for c in self.cosines)
        )


class _Check:
    """Bounds of r² + A(r), from below, over intervals of r.

    For r > 1, r = τ(v) with τ(v)² = v² + 1 − 2v·c(v): of ‖z‖ = r those z count off e^ε for which
    ‖z + s‖ < v, a cap whose cosine is (v·c(v) − 1)/r. So r runs through [0, 1], where there is no
    such cap, and v through [0, last node]. Over an interval the value at its middle less the
    greatest slope times half its length is below every value (the mean value theorem).
    """

    def __init__(self, proof: RadialProof, most: float) -> None:
        from flint import arb

        self.left = most

        self.proof = proof
        self.radii = [arb(r) for r in proof.radii]
        self.cosines = [arb(c) for c in proof.cosines]
        pairs = list(zip(self.radii, self.cosines, strict=True))
        self.slopes = [(d - c) / (s - r) for (r, c), (s, d) in itertools.pairwise(pairs)]
        self.power = arb(proof.dimension - 1) / 2
        self.multiplier = arb(proof.multiplier)
        self.growth = arb(proof.epsilon).exp()
        self.level = arb(proof.level)

    @cached_property
    def scale(self) -> Any:  # noqa: ANN401 (flint carries no types)
        """B((d − 1)/2, 1/2): the density of the cosine is (1 − c²)^{(d − 3)/2}/B."""
        from flint import arb

        return self.power.gamma() * arb.pi().sqrt() / (self.power + arb("0.5")).gamma()

    def holds(self) -> bool:
        """Whether the condition holds at every r."""
        return self._rises() and self._holds_near() and self._holds_along() and self._holds_beyond()

    def _rises(self) -> bool:
        """Whether τ rises: half of (τ²)' = v − c − v·c' is linear between nodes."""
        return all(
            bool(
                v - self.cosines[k] - self.slopes[k] * (v - self.radii[k]) - v * self.slopes[k] > 0
            )
            for k in range(len(self.slopes))
            for v in (self.radii[k], self.radii[k + 1])
        )

    def _holds_near(self) -> bool:
        pieces = self._pieces(1.0)
        return all(self._covered(k, a, b, self._below_near) for k, a, b in pieces)

    def _holds_along(self) -> bool:
        pieces = self._pieces(self.proof.radii[-1])
        return all(self._covered(k, a, b, self._below_along) for k, a, b in pieces)

    def _holds_beyond(self) -> bool:
        """Beyond τ of the last node the cap with v = last node only shrinks, and r² grows."""
        last, cosine = self.radii[-1], self.cosines[-1]
        square = last * last + 1 - 2 * last * cosine
        cap = self._share((last * cosine - 1) / square.sqrt())
        return bool(square - self.growth * self.multiplier * cap >= self.level)

    def _pieces(self, end: float) -> Iterator[tuple[int, float, float]]:
        radii = self.proof.radii
        for k, (a, b) in enumerate(itertools.pairwise(radii)):
            if a < end:
                yield k, a, min(b, end)

    def _covered(self, k: int, a: float, b: float, below: Any) -> bool:  # noqa: ANN401
        """Whether the condition holds over [a, b], between nodes k and k + 1; halve until it is."""
        least = (b - a) * _LEAST
        todo = [(a, b)]
        while todo:
            low, high = todo.pop()
            self.left -= 1
            if self.left < 0:
                return False
            if bool(below(k, low, high) >= self.level):
                continue
            middle = (low + high) / 2
            if high - low <= least or not low < middle < high:
                return False
            todo += [(middle, high), (low, middle)]
        return True

    def _below_near(self, k: int, low: float, high: float) -> Any:  # noqa: ANN401
        """Return what r² + λ·cap(c(r)) is at least, for r in [low, high] and at most 1."""
        middle, across, half = self._interval(low, high)
        value = middle * middle + self.multiplier * self._share(self._line(k, middle))
        cosine = self._line(k, across)
        slope = 2 * across + self.multiplier * self._density(cosine) * self.slopes[k]
        first = (value - abs(slope) * half).lower()
        floor = (across * across + self.multiplier * self._share(cosine.lower())).lower()
        return first if first.is_finite() and bool(first > floor) else floor

    def _below_along(self, k: int, low: float, high: float) -> Any:  # noqa: ANN401
        """Return what r² + A(r) is at least, for r = τ(v), v in [low, high]."""
        middle, across, half = self._interval(low, high)
        at, wide = self._state(k, middle), self._state(k, across)
        radius, cosine = wide[0], wide[1]
        moved = (across - cosine - across * self.slopes[k]) / radius
        inward = wide[2]
        turned = (cosine + across * self.slopes[k] - inward * moved) / radius
        outer, outer_slope = self._outer(wide[0])
        value = at[0] ** 2 - self.multiplier * self.growth * self._cap(at[3])
        slope = 2 * radius * moved - self.multiplier * self.growth * self._height(wide[3]) * turned
        if outer is not None:
            value += self.multiplier * self._share(self._outer(at[0])[0])
            slope += self.multiplier * self._density(outer) * outer_slope * moved
        first = (value - abs(slope) * half).lower()
        if first.is_finite() and bool(first >= self.level):
            return first
        least = radius * radius - self.multiplier * self.growth * self._cap(wide[3].upper())
        if outer is not None:
            least += self.multiplier * self._share(outer.lower())
        return least.lower()

    def _interval(self, low: float, high: float) -> tuple[Any, Any, Any]:
        from flint import arb

        middle = (low + high) / 2
        across = arb(low).union(arb(high))
        half = (arb(high) - arb(low)) / 2
        # The middle is rounded: its distance to either end is at most `half` and that rounding.
        return arb(middle), across, half + abs(arb(middle) - arb(low) - half)

    def _line(self, k: int, radius: Any) -> Any:  # noqa: ANN401
        return self.cosines[k] + self.slopes[k] * (radius - self.radii[k])

    def _state(self, k: int, v: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401
        """Return τ(v), c(v), the cosine b of the cap that counts off at τ(v), and 1 − b².

        In the triangle of sides v, 1 and τ sines are in proportion to sides: that keeps caps of
        cosines near −1 sharp over an interval. b is below 0, as c is.
        """
        cosine = self._line(k, v)
        radius = ((v - cosine) ** 2 + 1 - cosine * cosine).sqrt()
        inside = (1 - cosine) * (1 + cosine) * (v / radius) ** 2
        return radius, cosine, (v * cosine - 1) / radius, inside

    def _outer(self, radius: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return c over the interval and its slopes there; (None, None) if it ends beyond."""
        radii = self.proof.radii
        low, high = float(radius.lower()), float(radius.upper())
        first = max(bisect_right(radii, math.nextafter(low, 0.0)) - 1, 0)
        last = bisect_right(radii, math.nextafter(high, math.inf)) - 1
        if last >= len(radii) - 1:
            return None, None
        cosine, slope = self._line(first, radius), self.slopes[first]
        for k in range(first, last + 1):
            # Between nodes the line, over the part of the interval that is there.
            slope = slope.union(self.slopes[k])
        if last > first:
            cosine = self._line(first, radius.lower()).union(self._line(last, radius.upper()))
            for k in range(first + 1, last + 1):
                cosine = cosine.union(self.cosines[k])
        return cosine, slope

    def _share(self, cosine: Any) -> Any:  # noqa: ANN401
        """P(t < c) of the cosine t of a uniform direction with a fixed one; c is a number."""
        from flint import arb

        cosine = cosine.max(arb(-1)).min(arb(1))
        half = self._cap((1 - cosine) * (1 + cosine))
        if bool(cosine <= 0) or not half.is_finite():
            return half
        return 1 - half if bool(cosine >= 0) else half.union(1 - half)

    def _cap(self, inside: Any) -> Any:  # noqa: ANN401
        """P(t < c) for c ≤ 0 with 1 − c² = `inside`."""
        from flint import arb

        inside = inside.max(arb(0)).min(arb(1))
        most = inside.upper()
        half = (most if bool(most <= 0) else most.beta_lower(self.power, arb("0.5"), 1)) / 2
        if bool(inside > 0) and not inside.is_exact():
            half = half.union(inside.lower().beta_lower(self.power, arb("0.5"), 1) / 2)
        elif not bool(inside > 0):
            half = half.union(arb(0))
        return half if half.is_finite() else arb(0).union(arb(1))

    def _density(self, cosine: Any) -> Any:  # noqa: ANN401
        return self._height((1 - cosine) * (1 + cosine))

    def _height(self, inside: Any) -> Any:  # noqa: ANN401
        """The density of that cosine c over an interval of 1 − c²; no number if it is unbounded."""
        from flint import arb

        inside = inside.max(arb(0))
        exponent = self.power - 1
        low, high = inside.lower(), inside.upper()
        if bool(exponent < 0):
            low, high = high, low
        if bool(exponent < 0) and not bool(low > 0 and high > 0):
            return arb("nan")
        power = arb(0) if bool(low <= 0) and bool(exponent > 0) else low**exponent
        return power.union(high**exponent if bool(high > 0) else arb(0)) / self.scale
