# SPDX-License-Identifier: Apache-2.0
"""Moment tensors: all x ⊗ x ⊗ … ⊗ x with x a choice of signs, or in a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import DomainError, FileError, quoted
from lownoise.kinds import Field, Form
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import ImageBody, LiftedOracle, OracleBody, OracleDifferences
from lownoise.sets.bodies.pieces import ImageSet
from lownoise.sets.domains.abstract import DOMAINS
from lownoise.sets.domains.balls import checked_dimension, checked_positive
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.image import check_size
from lownoise.sets.domains.points import Points, hull_of
from lownoise.sets.domains.tensor_ball import AbstractPower, BallPower
from lownoise.sets.unit_balls import MixedBall, NormBall, ParityBall, ParityDifferenceBall
from lownoise.sets.unit_balls.parity import LISTED, choices

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.abstract import AbstractDomain
    from lownoise.sets.domains.points import Polytope

MOST = 1 << 22  # entries of a tensor
_MOST_FACTORS = 1000
_SWEEPS = 8
_MOST_NUMBERS = 2**26  # of a list of all tensors
_MOST_KNOWN = 2**24  # of the factor of a part
_COMPARED = 10  # dimensions in which all pairs are compared


@DOMAINS.constructor
def TensorPower(  # noqa: N802 (a domain is named like one)
    dimension: int,
    power: int,
    of: str = "cube",
    radius: float = 1.0,
) -> CubePower | BallPower | Box | Points:
    """Return all x ⊗ … ⊗ x, `power` times, x in {−radius, radius}^dimension or |x| ≤ radius.

    A record is such a tensor, flattened row by row: dimension^power coordinates. The mean is then
    the empirical moment tensor. Published bounds bracket its least noise (002, Theorem 64). For the
    cube it is known (ours): with N_S the number of entries whose indices occur an odd number of
    times exactly on S ≠ ∅, Γ_p = radius^ℓ·(Σ_S N_S^{2/(p+2)})^{(p+2)/(2p)}, and √#S at p = ∞.

    Where nothing but a number or a point is left it is a `Box` or a `Points` of one.

    Args:
        dimension: d ≥ 1, the coordinates of x.
        power: ℓ ≥ 1, how many factors; d^ℓ is at most 2^22.
        of: "cube", where x is a choice of signs times the radius (002: K_{d,∞}^ℓ), or "ball", the
            Euclidean one (K_{d,2}^ℓ).
        radius: of x, in its unit, at least 0.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> pairs = TensorPower(3, 2)
        >>> pairs.dimension
        9
        >>> pairs.clamp(np.array([2, -3, 1, -3, 1, 1, 1, 1, 0.0]))
        array([ 1., -1.,  1., -1.,  1., -1.,  1., -1.,  1.])
    """
    d = checked_dimension(dimension, "TensorPower.dimension")
    if not is_integer(power) or power < 1:
        raise DomainError(
            f"TensorPower.power={quoted(power)} is no number of factors; give at least 1"
        )
    if power > _MOST_FACTORS:
        raise DomainError(
            f"TensorPower.power={quoted(power)} is out of range; give at most {_MOST_FACTORS}"
        )
    ell = int(power)
    if not isinstance(of, str) or of not in ("cube", "ball"):
        raise DomainError(f'TensorPower.of={quoted(of)} is unknown; give "cube" or "ball"')
    if d > 1 and ell * math.log2(d) > math.log2(MOST) + 1e-9:
        raise DomainError(
            f"TensorPower.power={ell} gives {d}^{ell} coordinates, more than 2^22; "
            "give a lower power or fewer dimensions",
        )
    size = checked_positive(radius, "TensorPower.radius", least=0.0)
    value = math.prod([size] * ell)
    check_size(np.array([value]), "TensorPower.radius**power")
    if size and not value:
        raise DomainError("TensorPower.radius**power vanishes; use a smaller unit")
    if not size:
        return Points(np.zeros((1, d**ell)))
    if d == 1:
        if ell % 2 and of == "cube":
            return Points([[-value], [value]])
        if of == "cube":
            return Points([[value]])
        return Box([-value if ell % 2 else 0.0], [value])
    return CubePower(d, ell, size) if of == "cube" else BallPower(d, ell, size)


def _tensor(**fields: Any) -> AbstractDomain:  # noqa: ANN401
    """Return the tensor power of those fields of a document.

    Raises:
        FileError: where it is none, but a list or a box.
    """
    found = TensorPower(**fields)
    if not isinstance(found, (BallPower, CubePower)):
        raise FileError(f"question.tensor={fields!r} is no tensor power, but a list or a box")
    return found


def _unless_cube(of: str) -> str | None:
    return None if of == "cube" else of  # version 0.1 has no word for it


_written = DOMAINS.kind(
    "tensor",
    Field("dimension", attribute="size"),
    "power",
    "radius",
    Field("of", Form(_unless_cube), optional=True),
    make=_tensor,
)
_written(BallPower)


@_written
@final
@dataclass(frozen=True, repr=False)
class CubePower(AbstractPower):
    """{x ⊗ … ⊗ x : x ∈ {−radius, radius}^size}; made by `TensorPower`, size ≥ 2, radius > 0.

    Every entry is radius^power times the product of the signs whose index occurs an odd number of
    times: entries of one such set S are copies of each other, and the empty set's is a constant.

    Args:
        size: d.
        power: ℓ.
        radius: of each coordinate of x.
    """

    of: ClassVar[str] = "cube"

    size: int
    power: int
    radius: float

    @property
    def degrees(self) -> tuple[int, ...]:
        """The sizes of the sets S that entries belong to, without the empty one, rising."""
        return tuple(range(1 if self.odd else 2, min(self.power, self.size) + 1, 2))

    @property
    def base(self) -> ParityBall:
        """The parities that entries are copies of."""
        return ParityBall(self.size, self.degrees)

    @property
    def difference_base(self) -> ParityBall | ParityDifferenceBall:
        """What differences of records are `difference_scale` times an image of."""
        return self.base if self.odd else ParityDifferenceBall(self.size, self.degrees)

    @property
    def counted_base(self) -> ParityBall | MixedBall:
        """The hull of ±(parities, 1)."""
        if self.odd:  # the parities alone have both signs
            return MixedBall((self.base, NormBall(1, math.inf)), math.inf)
        return ParityBall(self.size, (*self.degrees, 0))

    @property
    def difference_scale(self) -> float:
        """2 where K is symmetric, else 1."""
        return 2.0 if self.odd else 1.0

    @cached_property
    def copies(self) -> Integers:
        """The set of each entry, in the order of `base`; −1 for the empty set; shape (d^ℓ,)."""
        return _copies(self)

    @cached_property
    def center(self) -> Vector:
        """The mean over all choices of signs, shape (d^ℓ,); it is not in K."""
        return frozen(np.where(self.copies < 0, self.value, 0.0))

    @cached_property
    def lower(self) -> Vector:
        """The least value of each entry, shape (d^ℓ,)."""
        return frozen(np.where(self.copies < 0, self.value, -self.value))

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each entry, shape (d^ℓ,)."""
        return frozen(np.full(self.dimension, self.value))

    def folded(self, direction: Vector) -> Vector:
        """Return the sums of a direction over the entries of each set, shapes (d^ℓ,) and (k,)."""
        used = np.flatnonzero(self.copies >= 0)
        found = np.zeros(self.base.dimension)
        np.add.at(found, self.copies[used], direction[used])
        return found

    def support(self, direction: Vector) -> float:
        """Return max of ⟨direction, x⟩ over K, shape (d^ℓ,): within rounding up to 16 dimensions.

        Beyond that it is an upper bound, Σ|θ_S| (the exact one is a maximum cut and worse).
        """
        theta = self.folded(direction)
        constant = float(np.sum(direction[self.copies < 0]))
        if self.size > LISTED:
            return self.value * (constant + float(np.sum(np.abs(theta))))
        return self.value * (constant + float(np.max(self.base.values(theta[None]))))

    def extreme(self, directions: Vector) -> Vector:
        """Return the tensor that is extreme along each row, shapes (n, d^ℓ).

        Beyond 16 dimensions it is one that no single sign betters: the best is a maximum cut.
        """
        return np.array([self._extreme(self.folded(row)) for row in directions])

    def _extreme(self, theta: Vector) -> Vector:
        """Return the tensor that is extreme along the sums of its copies' directions, (d^ℓ,)."""
        if self.size > LISTED:
            climbed = self.value * self.base.climb(theta)
            return np.where(self.copies < 0, self.value, climbed[self.copies])
        best = int(np.argmax(self.base.values(theta[None])))
        signs = np.where((best >> np.arange(self.size)) & 1, -1.0, 1.0)
        return np.asarray(self.tensors(signs[None])[0], dtype=np.float64)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d^ℓ,), is one of the tensors, to the last bit."""
        return bool(np.all(self.clamp(point) == point))

    def clip_rows(self, rows: Vector) -> Vector:
        """Return a tensor near each row, shapes (n, d^ℓ); tensors stay."""
        return self.tensors(self.signs(rows))

    def tensors(self, signs: Vector) -> Vector:
        """Return the tensors of rows of signs, shapes (n, size) and (n, d^ℓ)."""
        found = np.full((len(signs), 1), self.value)
        for _ in range(self.power):
            found = (found[:, :, None] * signs[:, None, :]).reshape(len(signs), -1)
        return found

    def signs(self, rows: Vector) -> Vector:
        """Return the signs of a tensor near each row, shapes (n, d^ℓ) and (n, size).

        Odd powers: the sign of what the entries of {i} sum to. Even ones: with G_ij the sum of the
        entries of {i, j}, first the signs of row 0 of G, then each sign in turn set to that of
        Σⱼ G_ij xⱼ, eight times over; a tensor of K is left as it is. Sums go entry by entry, the
        same for every row; entries beyond radius^power count as that.
        """
        limited = np.clip(rows, -self.value, self.value) / self.value
        if self.odd:
            return np.where(self._sums(limited, self.size) < 0, -1.0, 1.0)
        d = self.size
        sums = self._sums(limited, d * (d - 1) // 2)
        pairs = np.zeros((d, d, len(rows)))
        left, right = np.triu_indices(d, 1)
        pairs[left, right] = pairs[right, left] = sums.T
        x = np.where(pairs[0] < 0, -1.0, 1.0)
        for _ in range(_SWEEPS):
            for i in range(d):
                pull = np.zeros(len(rows))
                for j in range(d):
                    if j != i:
                        pull += pairs[i, j] * x[j]
                x[i] = np.where(pull == 0, x[i], np.where(pull < 0, -1.0, 1.0))
        x *= x[0]  # x and −x are one tensor
        return np.ascontiguousarray(x.T)

    def _sums(self, rows: Vector, sets: int) -> Vector:
        """Return the sums of the entries of the first sets, one entry at a time, (n, sets)."""
        found = np.zeros((sets, len(rows)))
        columns = np.ascontiguousarray(rows.T)
        for entry in np.flatnonzero((self.copies >= 0) & (self.copies < sets)):
            found[self.copies[entry]] += columns[entry]
        return np.ascontiguousarray(found.T)

    @property
    def extent(self) -> Vector:
        """The greatest change of each entry from the center, shape (d^ℓ,)."""
        return frozen(np.where(self.copies < 0, 0.0, self.value))

    @property
    def whole(self) -> bool:
        """A tensor that lacks an entry says little of its others."""
        return True

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """Itself: records go to the nearest of finitely many tensors."""
        return (self,)

    def bounding_set(self) -> ImageSet:
        """Return what is known of the image of the parities, beside others.

        Raises:
            DomainError: where its factor would not fit the memory.
        """
        k = self.base.dimension
        if self.dimension * k > _MOST_KNOWN:
            raise DomainError(
                f"TensorPower.power={self.power} has {self.dimension:,} entries of {k:,} different "
                "ones, too many to combine; give fewer dimensions or a lower power",
            )
        return ImageSet(frozen(self.value * self.embedded()), self.base, self.center)

    def parity_differences(self, size: Vector) -> ImageBody:
        """Return all changes to size·x_S over the parities, shape (k,)."""
        return ImageBody(frozen(self.difference_scale * size), self.difference_base)

    def parity_lifted(self, size: Vector, offset: Vector) -> ImageBody:
        """Return the hull of ±(offset + size·x_S, 1) over the parities, shapes (k,)."""
        if not np.any(offset):
            return ImageBody(frozen(np.append(size, 1.0)), self.counted_base)
        matrix = np.diag(np.append(size, 1.0))
        matrix[:-1, -1] = offset
        return ImageBody(frozen(matrix), self.counted_base)

    def differences(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return the parities, or their differences; of other entries, what is known of all."""
        if not np.array_equal(pivots, self.pivots):
            return OracleDifferences(self.bounding_set(), pivots, step)
        return self.parity_differences(self.value / step)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> AbstractBody:
        """Return the parities beside the count; of other entries, what is known of all."""
        if not np.array_equal(pivots, self.pivots):
            return LiftedOracle(self.bounding_set(), pivots, step, center)
        return self.parity_lifted(self.value / step, (self.center - center)[pivots] / step)

    def translates(self, pivots: Integers, center: Vector) -> ImageBody:
        """Return the parities."""
        return ImageBody(frozen(np.full(pivots.size, self.value)), self.base)

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Return what is known of all entries, as a part of others."""
        d = self.dimension
        return OracleBody(self.bounding_set(), np.arange(d), np.ones(d)), np.zeros(d)

    def contains_difference(self, point: Vector) -> bool:
        """Return whether `point`, shape (d^ℓ,), is the difference of two records.

        Raises:
            DomainError: beyond 10 dimensions, where too many pairs would have to be compared.
        """
        if self.size > _COMPARED:
            raise DomainError("CubePower.contains_difference compares pairs up to 10 dimensions")
        every = self.tensors(choices(np.arange(1 << self.size), self.size))
        return any(bool(np.any(np.all(x - every == point, axis=1))) for x in every)

    def corners(self) -> Vector | None:
        """Return all tensors, shape (N, d^ℓ); None where they are more than 2^26 numbers."""
        if 2.0**self.size * self.dimension > _MOST_NUMBERS:
            return None
        return np.unique(self.tensors(choices(np.arange(2**self.size), self.size)), axis=0)

    def hulled(self) -> Points | Polytope:
        """Return the hull of all tensors.

        Raises:
            DomainError: where they are too many to be listed.
        """
        listed = self.corners()
        if listed is None:
            raise DomainError(
                f"TensorPower.dimension={self.size} has tensors beyond 2^26 numbers, too many to "
                "list for their hull; give fewer dimensions or a lower power",
            )
        return hull_of(listed)


def _copies(domain: CubePower) -> Integers:
    """Return which set of `base` each entry belongs to: of its indices those of odd multiplicity.

    An index is sorted, pairs are taken out, and what is left is looked up as a number of base d.
    """
    d, ell = domain.size, domain.power
    entries = np.arange(domain.dimension)
    indices = np.sort(np.stack([entries // d**i % d for i in range(ell)], axis=1), axis=1)
    key = np.zeros(domain.dimension, dtype=np.int64)
    degree = np.zeros(domain.dimension, dtype=np.int64)
    i = np.zeros(domain.dimension, dtype=np.int64)
    padded = np.hstack([indices, np.full((len(indices), 2), -1)])
    for _ in range(ell):
        here, after = padded[entries, np.minimum(i, ell)], padded[entries, np.minimum(i + 1, ell)]
        live = i < ell
        pair = live & (here == after)
        single = live & ~pair
        key = np.where(single, key * d + here, key)
        degree += single
        i += np.where(pair, 2, 1)
    found = np.full(domain.dimension, -1, dtype=np.int64)
    first = 0
    for own, j in zip(domain.base.sets, domain.degrees, strict=True):
        keys = np.zeros(len(own), dtype=np.int64)
        for column in own.T:
            keys = keys * d + column
        mine = np.flatnonzero(degree == j)
        found[mine] = first + np.searchsorted(keys, key[mine])  # lexicographic order is rising
        first += len(own)
    return found
