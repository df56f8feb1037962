# SPDX-License-Identifier: Apache-2.0
"""What shorter changes add to a proof about radial noise, in intervals (ours).

`certificate/radial.py` says what t, N, P, p and Λ are.
"""

from __future__ import annotations

import functools
import itertools
import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from lownoise.certificate.radial import RadialProof

Cell = tuple[Any, Any, Any]  # where a line begins and ends, and its greatest value

_BLOCK = 16
_HARDLY = 0.01


@final
class Caps:
    """Chances of the cosine t of a uniform direction with a fixed one in d dimensions.

    Its density is (1 − c²)^{(d − 3)/2}/B, B = B((d − 1)/2, 1/2).

    Args:
        dimension: d, at least 2.
    """

    def __init__(self, dimension: int) -> None:
        from flint import arb

        self._dimension = dimension
        self._power = arb(dimension - 1) / 2
        self._zero, self._one, self._half = arb(0), arb(1), arb("0.5")
        self._pi, self._nan = arb.pi(), arb("nan")
        self._all = self._zero.union(self._one)
        self.scale = self._power.gamma() * self._pi.sqrt() / (self._power + self._half).gamma()

    def share(self, cosine: Any) -> Any:  # noqa: ANN401 (flint carries no types)
        """P(t < c)."""
        cosine = cosine.max(-self._one).min(self._one)
        half = self.cap((1 - cosine) * (1 + cosine))
        if bool(cosine <= 0) or not half.is_finite():
            return half
        return 1 - half if bool(cosine >= 0) else half.union(1 - half)

    def cap(self, inside: Any) -> Any:  # noqa: ANN401
        """P(t < c) for c ≤ 0 with 1 − c² = `inside`."""
        inside = inside.max(self._zero).min(self._one)
        most = inside.upper()
        half = self._cap(most)
        if bool(inside > 0) and not inside.is_exact():
            half = half.union(self._cap(inside.lower()))
        elif not bool(inside > 0):
            half = half.union(self._zero)
        return half if half.is_finite() else self._all

    def _cap(self, inside: Any) -> Any:  # noqa: ANN401
        if bool(inside <= 0):
            return self._zero
        if self._dimension == 2:  # noqa: PLR2004 (arcs)
            return inside.min(self._one).sqrt().asin() / self._pi
        if self._dimension == 3:  # noqa: PLR2004 (Archimedes)
            return inside / (1 + (1 - inside).max(self._zero).sqrt()) / 2
        return inside.beta_lower(self._power, self._half, 1) / 2

    def height(self, inside: Any) -> Any:  # noqa: ANN401
        """The density of t at c over an interval of 1 − c²; no number if it is unbounded."""
        inside = inside.max(self._zero)
        exponent = self._power - 1
        low, high = inside.lower(), inside.upper()
        if bool(exponent < 0):
            low, high = high, low
        if bool(exponent < 0) and not bool(low > 0 and high > 0):
            return self._nan
        power = self._zero if bool(low <= 0) and bool(exponent > 0) else low**exponent
        return power.union(high**exponent if bool(high > 0) else self._zero) / self.scale


def over_lines(
    radii: tuple[float, ...],
    nodes: list[Any],
    values: list[Any],
    slopes: list[Any],
    radius: Any,  # noqa: ANN401
) -> tuple[Any, Any]:
    """Return a function that is linear between nodes, over an interval, and its slopes there.

    Beyond the last node it is constant.
    """
    low, high = float(radius.lower()), float(radius.upper())
    end = len(radii) - 1
    first = max(bisect_right(radii, math.nextafter(low, 0.0)) - 1, 0)
    last = bisect_right(radii, math.nextafter(high, math.inf)) - 1

    def line(k: int, at: Any) -> Any:  # noqa: ANN401
        return values[k] + slopes[k] * (at - nodes[k]) if k < end else values[end]

    def slope(k: int) -> Any:  # noqa: ANN401
        return slopes[k] if k < end else 0 * slopes[0]

    value, found = line(first, radius), slope(first)
    if last > first:
        value = line(first, radius.lower()).union(line(last, radius.upper()))
        for k in range(first + 1, last + 1):
            value, found = value.union(values[k]), found.union(slope(k))
    return value, found


def _blocks(cells: list[Cell]) -> list[list[Cell]]:
    return [cells[k : k + _BLOCK] for k in range(0, len(cells), _BLOCK)]


def _hull(cells: list[Cell]) -> Cell:
    most = functools.reduce(lambda a, own: a.max(own[2]), cells, cells[0][2])
    return cells[0][0], cells[-1][1], most


@final
class Transfer:
    """t, N, P and Λ of a proof; all 0 where none is given.

    Args:
        proof: a sound one.
    """

    def __init__(self, proof: RadialProof) -> None:
        from flint import arb

        self._caps = Caps(proof.dimension)
        self._dimension = proof.dimension
        self._growth = arb(proof.epsilon).exp()
        self._radii = proof.radii[: len(proof.transfer)]
        self._nodes = [arb(r) for r in self._radii]
        self._values = [arb(t) for t in proof.transfer]
        pairs = list(zip(self._nodes, self._values, strict=True))
        self._slopes = [(t - s) / (b - a) for (a, s), (b, t) in itertools.pairwise(pairs)]
        self._none = arb(0), arb(0)
        self._multiplier = arb(proof.multiplier)
        self._lost = self._mass(-1)
        self._gained = self._mass(1)

    def _mass(self, sign: int) -> Any:  # noqa: ANN401
        """Return d∫t^±(r)r^{d−1}dr: each line is of one sign."""
        from flint import arb

        d, total = self._dimension, arb(0)
        for k, slope in enumerate(self._slopes):
            s, t = self._values[k], self._values[k + 1]
            if bool(sign * s > 0) or bool(sign * t > 0):
                a, b = self._nodes[k], self._nodes[k + 1]
                constant = s - slope * a
                total += constant * (b**d - a**d)
                total += slope * (b ** (d + 1) - a ** (d + 1)) * d / (d + 1)
        return sign * total

    def is_balanced(self) -> bool:
        """Whether e^ε·P ≤ N."""
        return bool(self._growth * self._gained <= self._lost)

    def at(self, radius: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return t over an interval, and its slopes there."""
        if not self._values:
            return self._none
        return over_lines(self._radii, self._nodes, self._values, self._slopes, radius)

    def greatest(self) -> float:
        """Return Λ rounded up, infinite where no bound is found.

        Blocks of nodes are taken together where what they say is hardly a part of λ.
        """
        from flint import arb

        enough = self._multiplier * _HARDLY * self._lost
        lines = list(itertools.pairwise(zip(self._nodes, self._values, strict=True)))
        gains, losses = (
            [(a, b, (sign * s).max(sign * t)) for (a, s), (b, t) in lines if sign * (s + t) > 0]
            for sign in (1, -1)
        )
        most = arb(0)
        pairs = [
            (self._cost(_hull(near), _hull(far)), near, far)
            for near, far in itertools.product(_blocks(gains), _blocks(losses))
        ]
        for found, near, far in sorted(pairs, key=lambda pair: -float(pair[0].upper())):
            if bool(found <= most):
                continue  # nor is what it says of any cell above that
            if not bool(found <= enough):
                cells = itertools.product(near, far)
                found = functools.reduce(lambda a, own: a.max(self._cost(*own)), cells, arb(0))  # noqa: PLW2901
            most = most.max(found)
        if bool(most <= 0):
            return 0.0
        found = (most / self._lost).upper() if bool(self._lost > 0) else arb(math.inf)
        return math.nextafter(float(found), math.inf) if found.is_finite() else math.inf

    def _cost(self, near: Cell, far: Cell) -> Any:  # noqa: ANN401
        """Return N times the test at most, for r in one interval and u in another."""
        from flint import arb

        chance = self._least_chance(near[:2], far[:2])
        return near[2] * far[2] / chance if bool(chance > 0) else arb(math.inf)

    def _least_chance(self, near: tuple[Any, ...], far: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return what p(r, u) is at least for r in one interval and u in another, 0 if not known.

        p = P(cosine ≥ (r² + u² − 1)/(2ru)). As a function of r, and of u, that first falls and then
        rises, or only rises: the greatest is at a corner. From r = 0 it rises where u ≤ 1.
        """
        from flint import arb

        if not bool(near[0] > 0):
            if not bool(far[1] <= 1):
                return arb(0)
            near = near[1:]
        if not bool(far[0] > 0):
            return arb(0)
        cosines = [(r * r + u * u - 1) / (2 * r * u) for r in near for u in far]
        most = max((own.upper() for own in cosines), key=float)
        return self._caps.share(-most).lower()
