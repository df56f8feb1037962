# SPDX-License-Identifier: Apache-2.0
"""Moment tensors, and those of the Euclidean ball."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, TINY, grown, shrunk
from lownoise.sets.bodies import TensorBall, TensorChanges
from lownoise.sets.bodies.harmonics import copies, monomials, sphere_moments
from lownoise.sets.domains.abstract import PUBLIC, AbstractDomain
from lownoise.sets.domains.coordinates import Coordinates

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody

_ROUNDS = 30
_NEWTON = 8
_INSIDE = shrunk(1.0, TINY)  # so that rounded lengths stay in the ball
_MOST_COPIES = 10**7  # numbers in the table of what each entry copies


class AbstractPower(AbstractDomain):
    """{x ⊗ … ⊗ x : x in a body of `size` coordinates}, `power` times: entries copy each other."""

    of: ClassVar[str]  # which body

    size: int
    power: int
    radius: float

    def __repr__(self) -> str:
        return f"TensorPower({self.size}, {self.power}, {self.of!r}, radius={self.radius:.6g})"

    @property
    def dimension(self) -> int:
        """The number of entries d^ℓ."""
        return int(self.size**self.power)

    @property
    def value(self) -> float:
        """radius^power, multiplied from left to right in floats."""
        return math.prod([self.radius] * self.power)

    @property
    def odd(self) -> bool:
        """Whether the power is odd: then −K is K."""
        return self.power % 2 == 1

    @property
    @abstractmethod
    def copies(self) -> Integers:
        """Which of the different entries each entry is, −1 where it is constant, shape (d^ℓ,)."""

    @cached_property
    def pivots(self) -> Integers:
        """The first of each of the different entries, rising, shape (k,)."""
        different, first = np.unique(self.copies, return_index=True)
        return np.asarray(first[different >= 0], dtype=np.int64)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a row outside, one sentence each."""
        body = {"ball": "a ball", "cube": "signs"}[self.of]
        said = (
            PUBLIC,
            f"A row that is no tensor of {body} counts as one near it; how many is not published.",
        )
        lacks = "A row that lacks any of its values counts as the stand-in as a whole."
        return (*said, lacks) if self.whole else said

    def coordinates(self) -> Coordinates:
        """Return the first of each of the different entries."""
        return self.exact_coordinates()

    def exact_coordinates(self) -> Coordinates:
        """Return them, and of which each entry is a copy.

        Raises:
            DomainError: where the table of what each entry copies would not fit the memory.
        """
        k = self.pivots.size
        if self.dimension * k > _MOST_COPIES:
            raise DomainError(
                f"TensorPower.power={self.power} has {self.dimension:,} entries of {k:,} different "
                "ones, a table beyond 10^7 numbers; give fewer dimensions or a lower power",
            )
        embed = None if self.power == 1 else frozen(self.embedded())
        return Coordinates(pivots=self.pivots, embed=embed, start=self.center, implied=True)

    def embedded(self) -> Vector:
        """Return 1 where an entry is a copy of a different one, shape (d^ℓ, k)."""
        embed = np.zeros((self.dimension, self.pivots.size))
        used = np.flatnonzero(self.copies >= 0)
        embed[used, self.copies[used]] = 1.0
        return embed

    def fits(self, chosen: Coordinates) -> bool:
        """Return whether they are its own."""
        return chosen.implied

    def may_have_room(self, changes: AbstractBody, *, both: bool = False) -> bool:
        """Return False: a tensor and most changes make no tensor."""
        return False


@final
@dataclass(frozen=True, repr=False)
class BallPower(AbstractPower):
    """{x ⊗ … ⊗ x : |x| ≤ radius}; made by `TensorPower`, size ≥ 2, radius > 0.

    Args:
        size: d.
        power: ℓ.
        radius: of the Euclidean ball.
    """

    of: ClassVar[str] = "ball"

    size: int
    power: int
    radius: float

    @property
    def monomials(self) -> Integers:
        """The exponents of the different entries, shape (k, size): C(d + ℓ − 1, ℓ) of them."""
        return monomials(self.size, self.power)

    @property
    def copies(self) -> Integers:
        """Which monomial each entry is, shape (d^ℓ,)."""
        return copies(self.size, self.power)

    @property
    def whole(self) -> bool:
        """A tensor that lacks an entry says little of its others."""
        return self.power > 1

    @property
    def full(self) -> bool:
        """Whether no entry is a copy of another."""
        return self.power == 1

    @property
    def spanning(self) -> Vector:
        """One row for each monomial, 1 where an entry is a copy of it, shape (k, d^ℓ)."""
        return np.eye(len(self.monomials))[:, self.copies]

    @cached_property
    def extent(self) -> Vector:
        """At least the greatest change of each entry from the center, shape (d^ℓ,)."""
        far = np.maximum(self.upper - self.center, self.center - self.lower)
        return frozen(grown(far, LAST))

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a tensor of K, shape (d^ℓ,).

        It is multiplied from floats x. Their length is at most the radius up to d + 9 roundings of
        it, whatever was left for that: sums of d squares, two divisions, two roots, three products.
        So x over 1 + (d + 9)·2^-53 is in the ball, which moves an entry by ℓ times as much, and
        2ℓ roundings, of the products and of `value`, come to it.
        """
        off = self.power * (self.size + 16) * 2.0**-51
        return frozen(self.upper * off)

    @cached_property
    def center(self) -> Vector:
        """The center of the least ellipsoid at p = 2, shape (d^ℓ,); of even powers it is not in K.

        It is the mean under the measure that proves that it is the least: of the sphere, and of 0.
        """
        if self.odd:
            return frozen(np.zeros(self.dimension))
        body = TensorBall(self.size, self.power, 1.0, differences=False)
        mass = float(body.mixture(body.parts.shares * body.parts.dimensions)[0])
        return frozen(self.value * mass * sphere_moments(self.monomials)[self.copies])

    @cached_property
    def lower(self) -> Vector:
        """At most the least value of each entry, shape (d^ℓ,)."""
        even = np.all(self.monomials % 2 == 0, axis=1)[self.copies]
        return frozen(np.where(even, 0.0, -self.upper))

    @cached_property
    def upper(self) -> Vector:
        """At least the greatest value of each entry, R^ℓ·Π (αᵢ/ℓ)^{αᵢ/2}, shape (d^ℓ,)."""
        share = self.monomials / self.power
        size = np.exp(np.sum(self.monomials / 2 * np.log(np.where(share > 0, share, 1.0)), axis=1))
        return frozen((grown(self.value * size))[self.copies])

    def support(self, direction: Vector) -> float:
        """Return at least max of ⟨direction, x⟩ over K, shape (d^ℓ,).

        Exact up to rounding for powers 1 and 2; beyond, the greatest eigenvalue or singular value
        of the symmetric part folded to a matrix (the exact one is NP-hard from power 3 on).
        """
        counts = np.bincount(self.copies)
        means = np.bincount(self.copies, weights=direction) / counts
        half = self.power // 2
        matrix = means[self.copies].reshape(self.size**half, -1)
        if self.odd:
            return self.value * float(np.linalg.norm(matrix, 2))
        return self.value * max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)

    def extreme(self, directions: Vector) -> Vector:
        """Return x ⊗ x that is extreme along each row, of powers 1 and 2, shapes (n, d^ℓ).

        Raises:
            DomainError: beyond, where it is NP-hard to find.
        """
        if self.power > 2:  # noqa: PLR2004
            raise DomainError(
                f"TensorPower.power={self.power} has no extreme tensor that is known how to find; "
                "give 1 or 2",
            )
        if self.power == 1:
            size = np.linalg.norm(directions, axis=1, keepdims=True)
            return np.asarray(self.radius * directions / np.where(size > 0, size, 1.0))
        matrices = directions.reshape(-1, self.size, self.size)
        values, axes = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
        x = self.radius * np.where(values[:, -1:] > 0, axes[:, :, -1], 0.0)
        return np.asarray((x[:, :, None] * x[:, None, :]).reshape(len(x), -1))

    def clip_rows(self, rows: Vector) -> Vector:
        """Return the best multiple of a tensor power that power iterations end at, (n, d^ℓ).

        They start from the fibre through the greatest entry, which for a tensor of K is x already.
        Sums go entry by entry, the same for every row.
        """
        n, d = len(rows), self.size
        t = np.clip(rows, -self.value, self.value) / self.value
        at = np.argmax(np.abs(t), axis=1) // d
        x = t.reshape(n, -1, d)[np.arange(n), at]
        for _ in range(_ROUNDS if self.power > 1 else 0):
            x = _unit(x)
            x = _contracted(t, x, self.power - 1)
        x = x if self.power == 1 else _unit(x)
        size = _length(x) if self.power == 1 else _contracted(t, x, self.power)[:, 0]
        x = _unit(x)
        low = -1.0 if self.odd and self.power > 1 else 0.0
        size = np.clip(size, low, 1.0)
        root = np.minimum(_root(np.abs(size), self.power), _INSIDE)
        x = x * (root * np.where(size < 0, -1.0, 1.0) * self.radius)[:, None]
        found = np.ones((n, 1))
        for _ in range(self.power):
            found = (found[:, :, None] * x[:, None, :]).reshape(n, -1)
        return found

    def _changes(
        self, pivots: Integers, step: Vector, offset: Vector, count: float | None
    ) -> TensorChanges:
        if not np.array_equal(pivots, self.pivots):
            raise DomainError(
                "TensorPower of a ball is summed by its different entries; plan again"
            )
        ball = TensorBall(self.size, self.power, 1.0, count is None)
        # the greatest length is a product of `power` roundings, all of which may have gone down
        size = frozen(self.value * (1 + self.power * 2.0**-52) / step)
        if count is None:
            return TensorChanges(ball, size, frozen(offset))
        return TensorChanges(ball, size, frozen(offset), count)

    def differences(self, pivots: Integers, step: Vector) -> TensorChanges:
        """Return the differences of two tensors, each monomial once.

        Raises:
            DomainError: where other entries are asked about.
        """
        return self._changes(pivots, step, np.zeros(step.size), None)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> TensorChanges:
        """Return the hull of ±((x − center)/step, 1), each monomial once.

        Raises:
            DomainError: where other entries are asked about.
        """
        return self._changes(pivots, step, center[pivots] / step, 1.0)

    def translates(self, pivots: Integers, center: Vector) -> TensorChanges:
        """Return half its differences: what lies about its center reaches as far, at least."""
        return self.differences(pivots, np.full(pivots.size, 2.0))


def _contracted(tensors: Vector, x: Vector, times: int) -> Vector:
    """Return each row's tensor with x in its last places, shapes (n, d^ℓ), (n, d), (n, d^…)."""
    n, d = x.shape
    for _ in range(times):
        fibres = tensors.reshape(n, -1, d)
        tensors = np.zeros(fibres.shape[:2])
        for i in range(d):
            tensors += fibres[:, :, i] * x[:, i, None]
    return tensors


def _length(x: Vector) -> Vector:
    total = np.zeros(len(x))
    for column in x.T:
        total += column * column
    return np.sqrt(total)


def _unit(x: Vector) -> Vector:
    """Return x over its length, zero where that vanishes."""
    top = np.max(np.abs(x), axis=1, keepdims=True)
    x = x / np.where(top > 0, top, 1.0)
    size = _length(x)[:, None]
    return np.asarray(x / np.where(size > 0, size, 1.0))


def _root(sizes: Vector, power: int) -> Vector:
    """Return the roots of numbers in [0, 1], by operations that do not depend on their company.

    What runs over many numbers at once may round a power otherwise at the end of a row of them, and
    then one record would change what others count for.
    """
    if power == 1:
        return sizes
    part, exponent = np.frexp(np.where(sizes > 0, sizes, 1.0))
    steps = -(-exponent // power)  # the exponent of the root, so that what is left is in (2^-ℓ, 1]
    left = np.ldexp(part, exponent - steps * power)
    root = np.ones_like(left)
    for _ in range(_NEWTON * power):
        below = np.ones_like(root)
        for _ in range(power - 1):
            below *= root
        root = ((power - 1) * root + left / below) / power
    return np.where(sizes > 0, np.ldexp(root, steps), 0.0)
