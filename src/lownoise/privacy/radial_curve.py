# SPDX-License-Identifier: Apache-2.0
"""The privacy curve of noise that is a mixture of uniform laws on balls about 0, rounded up (ours).

The density f of such noise is constant on shells and falls with |z|. What a shift s reveals,

    δ(ε) = ∫(f(z) − e^ε f(z − s))₊ dz,

grows with |s| (`docs/theory.md`), so the longest shift is the worst. Where f(z) = f_i the integrand
is above 0 where |z − s| is beyond a radius that rises with i; so δ is a sum of volumes of a ball
without another, two a shell, and each is two caps: incomplete beta functions, in ball arithmetic.

How far noise of a staircase is from itself once it is moved: the total variation (ours).

Let f be e^{−εk} times a constant on the shell γ + k − 1 < ‖z‖ ≤ γ + k. Where ‖s‖ ≤ 1, f(z) and
f(z − s) are equal or differ by the factor e^ε: the loss is ε, 0 or −ε, as that of randomised
response which is given with some chance, and their total variation says all (`aside_curve`). With f
the mixture of uniform laws on (γ + k)·B, it is at most the mixture of theirs. For a symmetric
convex body B, vol(B ∩ (B + x))^{1/d} is concave along a ray (Brunn & Minkowski), so

    1 − vol(B ∩ (B + x))/vol(B) ≤ 1 − (1 − ‖x‖/2)^d for ‖x‖ ≤ 2,

as a cube has along its diagonal; of a Euclidean ball it is I(1/2, (d + 1)/2) at ‖x‖²/4, a
regularized incomplete beta function.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.samplers.steps import BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.samplers.steps import StepRadius

_BITS = 128  # volumes are chances at most 1, and δ is hardly below 2^-60
_LOGS = 2.0**-90  # what is nearer to a tie counts as none: it changes δ by less than `_TIES`
_TIES = 2.0**-80
_SURE = 40.0  # a chance of e^−40, which is 1 less another, keeps most of the bits
_RARE = 2.0**-90
_MOST_EPSILON = 1000.0  # no budget's is above it


def delta_up(
    dimension: int,
    radii: Sequence[float],
    weights: Sequence[float],
    epsilon: float,
    shift: float = 1.0,
) -> float:
    """Return at least ∫(f(z) − e^ε f(z − s))₊ dz for every |s| ≤ shift; at most 1.

    Args:
        dimension: d, at least 1.
        radii: of the balls, rising, above 0.
        weights: in proportion to the chances of the balls, above 0, as many; exactly the floats.
        epsilon: ε ≥ 0.
        shift: the greatest length of a shift.

    Examples:
        >>> round(delta_up(1, [1.0], [1.0], 1.0, 0.5), 9)  # a quarter of the interval is left
        0.25
        >>> delta_up(3, [1.0, 2.0], [1.0, 1.0], 0.1, 0.0)
        0.0
    """
    return _delta_up(dimension, tuple(radii), tuple(weights), float(epsilon), float(shift))


@lru_cache(maxsize=256)
def _delta_up(
    dimension: int,
    radii: tuple[float, ...],
    weights: tuple[float, ...],
    epsilon: float,
    shift: float,
) -> float:
    if shift == 0:
        return 0.0
    if not shift < math.inf:
        return 1.0
    with precision(_BITS):
        found = _Curve(dimension, radii, weights, shift).delta(min(epsilon, _MOST_EPSILON))
        end = float((found + _TIES).upper())
    return min(up(max(end, 0.0)), 1.0) if math.isfinite(end) else 1.0


@final
class _Curve:
    """The curve of one mixture under one shift, in balls at the precision that is set."""

    def __init__(
        self, dimension: int, radii: Sequence[float], weights: Sequence[float], shift: float
    ) -> None:
        from flint import arb

        self._d, self._shift = dimension, arb(shift)
        self._radii = [arb(0), *(arb(r) for r in radii)]
        self._powers = [r**dimension for r in self._radii]
        self._a, self._half = (arb(dimension) + 1) / 2, arb(0.5)
        self._wide = min(0.5, _SURE / dimension)
        self._left: dict[tuple[int, int], Any] = {}
        whole = sum((arb(w) for w in weights), arb(0))
        density, falling = arb(0), []
        for weight, power in zip(reversed(weights), self._powers[:0:-1], strict=True):
            density += arb(weight) / (whole * power)
            falling.append(density)
        self._densities = falling[::-1]  # in units of one over the volume of the unit ball
        self._logs = [density.log() for density in self._densities]

    def delta(self, epsilon: float) -> Any:  # noqa: ANN401 (flint carries no types)
        """Return δ, but for less than `_TIES`.

        With J(i) the first shell whose density is below e^{−ε} times that of shell i, z in shell i
        counts where |z − s| > r_{J(i)−1}, the radius where shell J(i) begins.
        """
        from flint import arb

        n, grown = len(self._densities), arb(epsilon).exp()
        begins = self._begins(epsilon)
        found = arb(0)
        rare = self._rare()
        if rare:  # all of that may count: it is next to nothing, and takes as long as the rest
            found += self._inside(rare)
        for i, first in enumerate(begins[rare:], rare):  # between radii i and i + 1
            piece = self._beyond(i + 1, first) - self._beyond(i, first)
            found += self._densities[i] * piece
        inner = 0
        for j in range(n):  # z − s in shell j counts where z is in a shell whose J is at most j
            while inner < n and begins[inner] <= j:
                inner += 1
            if inner <= rare:
                continue
            piece = self._beyond(inner, j) - self._beyond(inner, j + 1)
            found -= grown * self._densities[j] * piece
        return found

    def _rare(self) -> int:
        """Return how many shells, the innermost, have next to no mass together."""
        low, high = 0, len(self._densities)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._inside(middle) < _RARE else (low, middle - 1)
        return low

    def _inside(self, shells: int) -> Any:  # noqa: ANN401
        """Return at least the chance of so many shells, of as much as the whole."""
        from flint import arb

        found = arb(0)
        for density, near, far in zip(
            self._densities[:shells], self._powers, self._powers[1:], strict=False
        ):
            found += density * (far - near)
        return found

    def _begins(self, epsilon: float) -> list[int]:
        """Return J(i) for each shell, as the number of the radius where it begins."""
        found, j, n = [], 0, len(self._logs)
        for own in self._logs:
            # where neither is sure, the two differ by less than `_LOGS` and nothing is at stake
            while j < n and not self._logs[j] + epsilon < own - _LOGS:
                j += 1
            found.append(j)
        return found

    def _beyond(self, a: int, b: int) -> Any:  # noqa: ANN401
        """Return the volume of {|z| < r_a, |z − s| > r_b}, the unit ball's being 1."""
        from flint import arb

        if a == 0:
            return arb(0)
        key = (a, b)
        if key not in self._left:
            self._left[key] = self._volume(a, b)
        return self._left[key]

    def _volume(self, a: int, b: int) -> Any:  # noqa: ANN401
        from flint import arb

        inner, outer, shift = self._radii[a], self._radii[b], self._shift
        if outer >= inner + shift:
            return arb(0)
        if inner >= outer + shift:
            return self._powers[a] - self._powers[b]
        if inner + outer <= shift:
            return self._powers[a]
        # the spheres meet where z has this coordinate along s
        plane = (inner * inner + shift * shift - outer * outer) / (2 * shift)
        near = self._powers[a] * self._cap(-plane / inner)
        return near - self._powers[b] * self._cap((shift - plane) / outer)

    def _cap(self, height: Any) -> Any:  # noqa: ANN401
        """Return P(t > height), t a coordinate of a uniform point of the unit ball."""
        from flint import arb

        if not (height >= 0 or height < 0):  # the density of t is below d + 2
            return arb(0.5, up(float((abs(height) * (self._d + 2)).upper())))
        square = height * height
        if square < self._wide:  # the same as below, which takes ten times as long there
            half = (1 - square.beta_lower(self._half, self._a, 1)) / 2
        else:
            half = (1 - square).beta_lower(self._a, self._half, 1) / 2
        return half if height >= 0 else 1 - half


@lru_cache(maxsize=1024)
def variation_up(steps: StepRadius, shift: float, *, euclidean: bool) -> float:
    """Return at least the total variation, for a shift of norm at most `shift` ≤ 1.

    Args:
        steps: the law of the radii.
        shift: the most that a norm of a change is.
        euclidean: whether the norm is the Euclidean length of d free linear forms.

    Examples:
        >>> from lownoise.samplers.steps import StepRadius
        >>> found = variation_up(StepRadius(1, 1.0, 0.5), 1.0, euclidean=True)  # P(|z| < 1/2)
        >>> round(found, 9)  # tanh(ε/2)
        0.462117157
    """
    from flint import arb

    weights, rest = steps.weights(BITS)
    with precision(BITS):
        apart, total = arb(0), arb(0)
        for k, weight in enumerate(weights):
            apart += weight * _apart(shift / (2 * (steps.start + k)), steps, euclidean)
            total += weight
        return min(up(float(((apart + rest) / total).upper())), 1.0)


def _apart(half: Any, steps: StepRadius, euclidean: bool) -> Any:  # noqa: ANN401, FBT001 (flint)
    """Return at least the total variation between uniform laws on B and on B + x, ‖x‖/2 given."""
    from flint import arb

    if not half < 1:
        return arb(1)
    if euclidean:
        return (half * half).beta_lower(arb(0.5), (arb(steps.dimension) + 1) / 2, 1)
    return 1 - (1 - half) ** steps.dimension
