# SPDX-License-Identifier: Apache-2.0
"""What no noise that is added under (ε, δ) can beat, where changes are a ball (ours).

Let Z be any noise in Rᵈ with P(Z ∈ B) ≤ e^ε P(Z + s ∈ B) + δ for all sets B and all ‖s‖ ≤ 1. Let
0 ≤ ψ(‖z‖, ‖z − s‖) ≤ λ, and let A(r) be the mean over ‖z‖ = r, with ‖s‖ = 1, of ψ(‖z‖, ‖z − s‖) −
e^ε ψ(‖z + s‖, ‖z‖). Where r² + A(r) ≥ ν at every r ≥ 0,

    E‖Z‖² ≥ ν − λδ,

whether Z is symmetric, has a density, or neither: see docs/theory.md, "Radial noise".

A proof here has ψ(r, u) = λ where u exceeds a threshold, u² > r² + 1 − 2r·c(r), else 0: the cosine
c is linear between nodes, and constant beyond the last of them. Then A is the difference of two
caps, and the condition is decided in intervals, without the programme that found c, λ and ν.

Shorter changes may be tested too. Let s be uniform in the unit ball, p(r, u) the chance that a
uniform point of the sphere of radius u is within 1 of a point at distance r from 0, t a function of
r, linear between nodes, N = d∫t⁻(u)u^{d−1}du and P = d∫t⁺(r)r^{d−1}dr. Where e^ε·P ≤ N, the test
t⁺(r)·t⁻(u)/(N·p(r, u)) at ‖z‖ = r, ‖z − s‖ = u adds t or more to A and costs Λδ, Λ its greatest
value: E‖Z‖² ≥ ν − (λ + Λ)δ.

This is what several numbers need, `radial_line` what one does; of both, files have the fields.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from lownoise.certificate.radial_line import LineProof
from lownoise.certificate.radial_transfer import Caps, Transfer, over_lines
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import mul_up, up

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
        transfer: t at the first of the radii, the last of these 0; or nothing.

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
    transfer: tuple[float, ...] = ()

    @cached_property
    def lower(self) -> float:
        """ν − (λ + Λ)δ rounded down: what E‖Z‖² is at least, if `holds`."""
        if not self._is_sound():
            return -math.inf
        with precision(_BITS):
            most = up(self.multiplier + (Transfer(self).greatest() if self.transfer else 0.0))
        if math.isinf(most):
            return -math.inf
        return math.nextafter(self.level - mul_up(most, self.delta), -math.inf)

    def holds(self, most: float = math.inf) -> bool:
        """Whether r² + A(r) ≥ ν at every r ≥ 0, decided in intervals.

        Args:
            most: how many intervals are looked at before it is taken not to hold.
        """
        if not self._is_sound():
            return False
        with precision(_BITS):
            return _Check(self, most).holds()

    def is_formed(self) -> bool:
        """Whether all holds that takes milliseconds to decide: but r² + A(r) ≥ ν up to the end."""
        if not self._is_sound():
            return False
        with precision(_BITS):
            return _Check(self, 0).is_formed()

    def fields(self) -> dict[str, Any]:
        """Return what is kept of it in a file, beside d, ε and δ."""
        return {
            "radii": list(self.radii),
            "cosines": list(self.cosines),
            "multiplier": self.multiplier,
            "level": self.level,
            **({"transfer": list(self.transfer)} if self.transfer else {}),
        }

    def _is_sound(self) -> bool:
        numbers = (self.epsilon, self.multiplier, self.level, *self.radii, *self.cosines)
        numbers += self.transfer
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
            and len(self.transfer) < len(self.radii)
            and len(self.transfer) != 1
            and (not self.transfer or self.transfer[-1] == 0)
            and all(min(s, t) >= 0 or max(s, t) <= 0 for s, t in itertools.pairwise(self.transfer))
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
        self.transfer = Transfer(proof)
        self.caps = Caps(proof.dimension)
        self.multiplier = arb(proof.multiplier)
        self.growth = arb(proof.epsilon).exp()
        self.level = arb(proof.level)

    def holds(self) -> bool:
        """Whether the condition holds at every r."""
        return self.is_formed() and self._holds_near() and self._holds_along()

    def is_formed(self) -> bool:
        """Whether it holds beyond the last node, of what has the form of a proof."""
        return self.transfer.is_balanced() and self._rises() and self._holds_beyond()

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
        """Beyond τ of the last node the cap counted off is no more than the one of cosine c."""
        last, cosine = self.radii[-1], self.cosines[-1]
        square = last * last + 1 - 2 * last * cosine
        cap = self.caps.share(cosine)
        return bool(square - (self.growth - 1) * self.multiplier * cap >= self.level)

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
        value = middle * middle + self.multiplier * self.caps.share(self._line(k, middle))
        value += self.transfer.at(middle)[0]
        cosine, (added, rising) = self._line(k, across), self.transfer.at(across)
        slope = (
            2 * across
            + self.multiplier * self.caps.height((1 - cosine) * (1 + cosine)) * self.slopes[k]
            + rising
        )
        first = (value - abs(slope) * half).lower()
        floor = (
            across * across + self.multiplier * self.caps.share(cosine.lower()) + added
        ).lower()
        return first if first.is_finite() and bool(first > floor) else floor

    def _below_along(self, k: int, low: float, high: float) -> Any:  # noqa: ANN401
        """Return what r² + A(r) is at least, for r = τ(v), v in [low, high]."""
        middle, across, half = self._interval(low, high)
        at, wide = self._state(k, middle), self._state(k, across)
        radius, cosine = wide[0], wide[1]
        onward = (across - cosine - across * self.slopes[k]) / radius
        outer, outer_slope = self._outer(wide[0])
        added, rising = self.transfer.at(wide[0])
        value = at[0] ** 2 - self.multiplier * self.growth * self.caps.cap(at[2])
        slope = 2 * radius * onward - self.multiplier * self.growth * self._counted(k, across, wide)
        value += (
            self.multiplier * self.caps.share(self._outer(at[0])[0]) + self.transfer.at(at[0])[0]
        )
        slope += (
            self.multiplier * self.caps.height((1 - outer) * (1 + outer)) * outer_slope + rising
        ) * onward
        first = (value - abs(slope) * half).lower()
        if first.is_finite() and bool(first >= self.level):
            return first
        least = radius * radius - self.multiplier * self.growth * self.caps.cap(wide[2].upper())
        least += self.multiplier * self.caps.share(outer.lower()) + added
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

    def _state(self, k: int, v: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Return τ(v), c(v), and 1 − b² of the cosine b of the cap that counts off at τ(v).

        In the triangle of sides v, 1 and τ sines are in proportion to sides: that keeps caps of
        cosines near −1 sharp over an interval. b is below 0, as c is.
        """
        cosine = self._line(k, v)
        radius = ((v - cosine) ** 2 + 1 - cosine * cosine).sqrt()
        return radius, cosine, (1 - cosine) * (1 + cosine) * (v / radius) ** 2

    def _counted(self, k: int, v: Any, state: tuple[Any, Any, Any]) -> Any:  # noqa: ANN401
        """Return the slope of the cap that counts off: s^{d−2}·s'/(B·√(1 − s²)), s² = 1 − b².

        s = (v/τ)·√(1 − c²): in the plane s is nearly linear in v, where the density is unbounded.
        """
        radius, cosine, inside = state
        sine = ((1 - cosine) * (1 + cosine)).sqrt()
        own, slope = v / radius * sine, self.slopes[k]
        change = sine * (1 - v * cosine + v * v * slope) / radius**3
        change -= v / radius * cosine * slope / sine
        power = own ** (self.proof.dimension - 2)
        return power * change / ((1 - inside).sqrt() * self.caps.scale)

    def _outer(self, radius: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return c over the interval and its slopes there."""
        return over_lines(self.proof.radii, self.radii, self.cosines, self.slopes, radius)


AdditiveProof = RadialProof | LineProof


def proof_from_fields(
    fields: dict[str, Any], dimension: int, epsilon: float, delta: float
) -> AdditiveProof:
    """Return the proof whose `fields` these are; whether it holds, it decides itself.

    Args:
        fields: as its method of that name returned them.
        dimension: d, of the noise.
        epsilon: ε.
        delta: δ.

    Raises:
        KeyError, TypeError, ValueError: where they are no such fields.
    """
    if dimension == 1:
        names = ("end", "level", "below", "above")
        return LineProof(epsilon, delta, *(float(fields[name]) for name in names))
    radii, cosines, transfer = (
        tuple(map(float, fields.get(name, ()))) for name in ("radii", "cosines", "transfer")
    )
    multiplier, level = (float(fields[name]) for name in ("multiplier", "level"))
    return RadialProof(dimension, epsilon, delta, radii, cosines, multiplier, level, transfer)
