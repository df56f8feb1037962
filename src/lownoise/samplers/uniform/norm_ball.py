# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the unit balls of ℓ_r, 1 ≤ r ≤ ∞.

Barthe, Guédon, Mendelson & Naor 2005 (Theorem 1): let the xᵢ have densities ∝ exp(−|x|^r), let E
be exponential, and R^r = Σ|xᵢ|^r + E. Then x/R is uniform in the ball. For, given E, the density of
x is a function f of ‖x‖ alone, and so the joint one of (y, R) for y = x/R, where E = R^r(1 − ‖y‖^r)
and dx dE = r·R^{d+r−1} dy dR, is ∝ exp(−R^r)·R^{d+r−1} on ‖y‖ ≤ 1: a function of R alone.

R^r has the law Gamma(d/r + 1), then, and is independent of y; so E yᵢ² = E xᵢ²/E R²:

    E yᵢ² = Γ(3/r)·Γ(1 + d/r) / (Γ(1/r)·Γ(1 + (d+2)/r)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import Composed, UniformBits, above_zero
from lownoise.samplers.uniform.abstract import AbstractUniform, uniforms

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy

_EUCLID = 2.0
_LARGEST_POWER = 2.0**30  # that is computed by multiplication


@final
@dataclass(frozen=True)
class UniformNormBall(AbstractUniform):
    """Uniform points of {x : ‖x‖_r ≤ 1}.

    Args:
        size: the number of coordinates d.
        order: r, at least 1; may be infinite. Taken as the exact float.

    Raises:
        PlanError: where d < 1 or r < 1.

    Examples:
        >>> UniformNormBall(2, math.inf).second_moment()
        array([0.33333333, 0.33333333])
        >>> UniformNormBall(3, 2.0).second_moment()
        array([0.2, 0.2, 0.2])
    """

    size: int
    order: float

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PlanError(f"UniformNormBall.size={self.size} is below 1; give 1 or more")
        if not self.order >= 1:
            raise PlanError(f"UniformNormBall.order={self.order} is no norm; give 1 or more")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        d = self.size
        if math.isinf(self.order):
            return Composed(d, (UniformBits(randomness.words(d)),), _cube)
        last = UniformBits(randomness.words(1))
        if self.order == 1:
            return Composed(d, (UniformBits(randomness.words(d)), last), _cross_polytope)
        if self.order == _EUCLID:
            pairs = (d + 1) // 2
            radii, angles = (UniformBits(randomness.words(pairs)) for _ in range(2))
            return Composed(d, (radii, angles, last), self._euclidean)
        indices, accepted = self._accepted(randomness)
        return Composed(d, (*accepted, last), lambda *balls: self._normed(indices, *balls))

    def second_moment(self) -> Vector:
        """Return the diagonal of E u·uᵀ, shape (d,)."""
        if math.isinf(self.order):
            return frozen(np.full(self.size, 1 / 3))
        d, r = self.size, self.order
        terms = (3 / r, 1 / r, 1 + d / r, 1 + (d + 2) / r)
        a, b, c, e = map(math.lgamma, terms)
        return frozen(np.full(d, math.exp(a - b + c - e)))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        d, r = self.size, self.order
        if math.isinf(r):
            return 2 * uniforms(randomness, count, d) - 1
        x = _simulated(r, count * d, randomness).reshape(count, d)
        total = np.sum(np.abs(x) ** r, axis=1) - np.log(uniforms(randomness, count))
        return np.asarray(x / total[:, None] ** (1 / r))

    def _most(self) -> Any:  # noqa: ANN401 (flint carries no types)
        """Return c = max over x ≥ 0 of x − x^r = (1 − 1/r)·r^{−1/(r−1)}."""
        r = arb(self.order)
        return (1 - 1 / r) * (-r.log() / (r - 1)).exp()

    def _accepted(self, randomness: Randomness) -> tuple[list[list[int]], list[UniformBits]]:
        """Return d numbers v uniform on (−1, 1) such that −log|v| has a density ∝ exp(−x^r).

        Laplace proposals: x = −log|v| is kept where x^r − x + c ≤ −log w, w uniform, which happens
        with probability Γ(1 + 1/r)·e^{−c} > 0.36, for E exp(−(x^r − x)) = ∫ exp(−x^r) = Γ(1 + 1/r).

        Returns:
            For each round of proposals, which coordinates it gave, and their bits.
        """
        left = list(range(self.size))
        indices, found = [], []
        while left:
            proposals, tests = (UniformBits(randomness.words(len(left))) for _ in range(2))
            room = Composed(len(left), (proposals, tests), self._room)
            taken = above_zero(room, randomness=randomness)
            indices.append([i for i, yes in zip(left, taken, strict=True) if yes])
            found.append(proposals.kept([k for k, yes in enumerate(taken) if yes]))
            left = [i for i, yes in zip(left, taken, strict=True) if not yes]
        return indices, found

    def _room(self, proposals: list[Any], tests: list[Any]) -> list[Any]:
        rooms, most = [], self._most()
        for u, w in zip(proposals, tests, strict=True):
            x = -abs(2 * u - 1).log()
            rooms.append(x - self._power(x) - most - w.log())
        return rooms

    def _power(self, x: Any) -> Any:  # noqa: ANN401
        """x^r for a ball x of numbers above 0."""
        if self.order < _LARGEST_POWER and self.order.is_integer():
            return x ** int(self.order)
        return x ** arb(self.order)

    def _normed(self, indices: list[list[int]], *balls: list[Any]) -> list[Any]:
        *accepted, last = balls
        x: list[Any] = [None] * self.size
        total = -last[0].log()
        for own, numbers in zip(indices, accepted, strict=True):
            for i, u in zip(own, numbers, strict=True):
                v = 2 * u - 1
                magnitude = -abs(v).log()
                total += self._power(magnitude)
                x[i] = v.sgn() * magnitude
        shrink = (-total.log() / arb(self.order)).exp()
        return [own * shrink for own in x]

    def _euclidean(self, radii: list[Any], angles: list[Any], last: list[Any]) -> list[Any]:
        """exp(−x² − y²) is the density of √E·(cos, sin)(2πv): a pair's x² + y² is exponential."""
        x = []
        for u, v in zip(radii, angles, strict=True):
            sine, cosine = (2 * v).sin_cos_pi()
            length = (-u.log()).sqrt()
            x += [length * cosine, length * sine]
        product = last[0]
        for u in radii[: self.size // 2]:
            product *= u
        total = -product.log()
        if self.size % 2:
            x.pop()
            total += x[-1] * x[-1]
        shrink = total.rsqrt()
        return [own * shrink for own in x]


def _cube(balls: list[Any]) -> list[Any]:
    return [2 * u - 1 for u in balls]


def _cross_polytope(balls: list[Any], last: list[Any]) -> list[Any]:
    """|x| is exponential for a density ∝ exp(−|x|); a product of uniforms has one logarithm."""
    signed = [2 * u - 1 for u in balls]
    sizes = [abs(v) for v in signed]
    product = last[0]
    for size in sizes:
        product *= size
    total = product.log()
    return [v.sgn() * size.log() / total for v, size in zip(signed, sizes, strict=True)]


def _simulated(order: float, count: int, randomness: Randomness) -> Vector:
    """Return `count` numbers of density ∝ exp(−|x|^r) in floats."""
    most = 0.0 if order == 1 else (1 - 1 / order) * order ** (-1 / (order - 1))
    found = np.empty(count)
    left = np.arange(count)
    while left.size:
        v = 2 * uniforms(randomness, left.size) - 1
        x = -np.log(np.abs(v))
        with np.errstate(over="ignore"):
            taken = x**order - x + most <= -np.log(uniforms(randomness, left.size))
        found[left[taken]] = np.copysign(x, v)[taken]
        left = left[~taken]
    return found
