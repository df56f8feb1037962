# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the unit balls of ℓ_r, 1 ≤ r ≤ ∞.

Barthe, Guédon, Mendelson & Naor 2005 (Theorem 1): let the xᵢ have densities ∝ exp(−|x|^r), let E
be exponential, and R^r = Σ|xᵢ|^r + E. Then x/R is uniform in the ball. For, given E, the density of
x is a function f of ‖x‖ alone, and so the joint one of (y, R) for y = x/R, where E = R^r(1 − ‖y‖^r)
and dx dE = r·R^{d+r−1} dy dR, is ∝ exp(−R^r)·R^{d+r−1} on ‖y‖ ≤ 1: a function of R alone.

R^r has the law Gamma(d/r + 1), then, and is independent of y; so E yᵢ² = E xᵢ²/E R²:

    E yᵢ² = Γ(3/r)·Γ(1 + d/r) / (Γ(1/r)·Γ(1 + (d+2)/r)).

Uniform points of the unit ball of a norm of sorted sizes, in any number of dimensions.

Where x₁ ≥ x₂ ≥ … ≥ x_d ≥ 0, {x : Σ wᵢxᵢ ≤ 1} is a simplex: x = Σ tⱼvⱼ with tⱼ = Wⱼ(xⱼ − xⱼ₊₁) ≥ 0,
Σ tⱼ = Σ wᵢxᵢ ≤ 1 and vⱼ = (e₁ + … + eⱼ)/Wⱼ, Wⱼ = w₁ + … + wⱼ. The other orders and signs are its
mirror images. So a uniform point has Dirichlet numbers tⱼ, an order and signs at random (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, vector
from lownoise.samplers.lazy import WORD, Composed, UniformBits, above_zero
from lownoise.samplers.uniform.abstract import AbstractUniform, uniforms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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


@final
@dataclass(frozen=True, eq=False)
class UniformSorted(AbstractUniform):
    """Uniform points of {x : Σ wᵢ·|x|₍ᵢ₎ ≤ 1}, |x|₍₁₎ the largest.

    Args:
        weights: w, shape (d,), falling, the first above 0, none below; exactly the stored floats.

    Raises:
        PlanError: where they are not.

    Examples:
        >>> UniformSorted(np.array([1.0, 1.0])).second_moment()  # as of a cross-polytope
        array([0.16666667, 0.16666667])
        >>> UniformSorted(np.array([1.0, 0.0])).second_moment()  # as of a cube
        array([0.33333333, 0.33333333])
    """

    weights: ArrayLike

    def __post_init__(self) -> None:
        given = vector(self.weights, field="UniformSorted.weights", error=PlanError)
        if not given.size or np.any(np.diff(given) > 0) or not (given[0] > 0 and given[-1] >= 0):
            raise PlanError(
                "UniformSorted.weights do not fall from above 0 to 0 or more; sort them"
            )
        object.__setattr__(self, "weights", given)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(np.size(self.weights))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        d = self.dimension
        order = _shuffled(d, randomness)
        signs = (randomness.words(d) >> np.uint64(WORD - 1)).tolist()

        def place(balls: list[Any]) -> list[Any]:
            logs = [u.log() for u in balls]
            total = sum(logs, arb(0))
            found: list[Any] = [None] * d
            size, whole = arb(0), self._totals()
            for j in range(d - 1, -1, -1):
                size = size + logs[j] / whole[j]
                found[order[j]] = (size if signs[j] else -size) / total
            return found

        return Composed(d, (UniformBits(randomness.words(d + 1)),), place)

    def _totals(self) -> list[Any]:
        """Return Wⱼ in balls, at the precision that is set."""
        sums, found = arb(0), []
        for weight in np.asarray(self.weights).tolist():
            sums += arb(weight)
            found.append(sums)
        return found

    @cached_property
    def _shares(self) -> Vector:
        return 1 / np.cumsum(self.weights)

    def second_moment(self) -> Vector:
        """Return the diagonal of E u·uᵀ, shape (d,).

        E tⱼtₖ = (1 + [j = k])/((d + 1)(d + 2)) for such numbers, and every order is as likely.
        """
        d = self.dimension
        sums = np.cumsum(self._shares[::-1])
        squares = np.cumsum(np.square(self._shares[::-1]))
        each = float(np.mean(np.square(sums) + squares)) / ((d + 1) * (d + 2))
        return frozen(np.full(d, each))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        d = self.dimension
        logs = np.log(uniforms(randomness, count, d + 1))
        parts = logs[:, :d] / logs.sum(axis=1, keepdims=True) * self._shares
        sizes = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        signs = np.where(uniforms(randomness, count, d) < 0.5, -1.0, 1.0)  # noqa: PLR2004
        order = np.argsort(uniforms(randomness, count, d), axis=1)
        return np.take_along_axis(sizes * signs, order, axis=1)


def _shuffled(size: int, randomness: Randomness) -> list[int]:
    """Return an order of 0 … size − 1, each with the same chance exactly (Fisher & Yates 1938)."""
    found = list(range(size))
    for i in range(size - 1, 0, -1):
        j = _below(i + 1, randomness)
        found[i], found[j] = found[j], found[i]
    return found


def _below(size: int, randomness: Randomness) -> int:
    """Return one of 0 … size − 1, each with the same chance exactly.

    Words past the last multiple of `size` are drawn again.
    """
    room = (1 << WORD) // size * size
    while True:
        word = int(randomness.words(1)[0])
        if word < room:
            return word % size
