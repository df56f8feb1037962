# SPDX-License-Identifier: Apache-2.0
"""The first and second moments of a record of a box or a ball: what is averaged for variances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import VECTOR, Field
from lownoise.numbers.arrays import vector
from lownoise.sets.bodies import AbstractMomentSet, BallMomentSet, MomentSet, OracleDifferences
from lownoise.sets.bodies.ball_moments import LEAST_COLUMNS
from lownoise.sets.domains.abstract import DOMAINS, PUBLIC, AbstractDomain
from lownoise.sets.domains.balls import Ball
from lownoise.sets.domains.box import Box

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.sets.domains.image import Image

MOST_COLUMNS = 200  # whose moments are 20,300
_LEAST, _MOST = 2.0**-200, 2.0**200
_FINE = 2.0**-44  # of the greatest value: half a width that some hundred floats are in


class AbstractMoments(AbstractDomain):
    """{(x, (xᵢ − cᵢ)(xⱼ − cⱼ) for i ≤ j) : x in a source}, c its middle.

    A record is read from d columns and has d + d(d + 1)/2 coordinates; see `ln.Moments`.
    """

    @property
    @abstractmethod
    def _moments(self) -> AbstractMomentSet:
        """The set of them."""

    @property
    def middle(self) -> Vector:
        """What products are taken about, shape (d,)."""
        return self._moments.middle

    @property
    def places(self) -> Integers:
        """Where the mean of each product of two columns stands, shape (d, d)."""
        of = self._moments
        d = of.width
        found = np.empty((d, d), dtype=np.int64)
        found[of.left, of.right] = found[of.right, of.left] = d + np.arange(of.left.size)
        return found

    def bounding_set(self) -> AbstractMomentSet:
        """Return what is known of how far moments reach."""
        return self._moments

    @property
    def full(self) -> bool:
        """True: no moment follows from others in all records."""
        return True

    def fits(self, chosen: Coordinates) -> bool:
        """Return whether every moment is summed: none follows from others."""
        return chosen.complete

    def sums(self, pivots: Integers, center: Vector) -> AbstractBody:
        """Return what the sums are compared with the count by: of many columns half of K − K."""
        if self._moments.searched:
            return self.translates(pivots, center)
        return OracleDifferences(self._moments, pivots, np.full(pivots.size, 2.0))

    def named(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, and "x·y" for the product of two about the middle."""
        own, of = tuple(columns), self._moments
        pairs = zip(of.left.tolist(), of.right.tolist(), strict=True)
        return (*own, *(f"{own[i]}·{own[j]}" for i, j in pairs))

    def records(self, rows: Vector) -> Vector:
        """Return the moments of rows, each clipped to the source; shapes (n, d), (n, D)."""
        return self._moments.moments(self.source.clip_rows(rows))

    def clip_rows(self, rows: Vector) -> Vector:
        """Return the moments of the first d coordinates, clipped to the source, (n, D)."""
        return self.records(rows[:, : self._moments.width])

    def extreme(self, directions: Vector) -> Vector:
        """Return moments that are extreme along each row, shapes (n, D)."""
        of = self._moments
        return of.place(np.array([of.extreme_up(row) for row in np.atleast_2d(directions)]))

    @cached_property
    def rounding(self) -> Vector:
        """How far products of a record can be off, shape (D,): three roundings."""
        return self._moments.doubt


@DOMAINS.kind(
    "moments",
    Field("lower", VECTOR, attribute=lambda own: own.box.lower),
    Field("upper", VECTOR, attribute=lambda own: own.box.upper),
)
@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class MomentBox(AbstractMoments):
    """{(x, (xᵢ − cᵢ)(xⱼ − cⱼ) for i ≤ j) : lower ≤ x ≤ upper}, c the middle of the box.

    A record is read from d columns and has d + d(d + 1)/2 coordinates; see `ln.Moments`.

    Args:
        lower: least value of each column, shape (d,).
        upper: greatest value, above the least, shape (d,).

    Raises:
        DomainError: where the bounds are not one pair a column, in order, of moderate size and with
            floats between them, or the columns are more than 200.

    Examples:
        >>> own = MomentBox([0, 0], [2, 4])
        >>> own.records(np.array([[2.0, 9.0]])).tolist()
        [[2.0, 4.0, 1.0, 2.0, 4.0]]
    """

    box: Box

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low = vector(lower, field="Moments.lower", error=DomainError)
        high = vector(upper, field="Moments.upper", error=DomainError)
        box = Box(low, high)
        if low.size > MOST_COLUMNS:
            raise DomainError(
                f"Moments.columns are {low.size}, of which there are too many products; give at "
                f"most {MOST_COLUMNS}, or ask of fewer at a time"
            )
        half = (high - low) / 2
        far = np.maximum(np.abs(low), np.abs(high))
        for i in np.flatnonzero(~((half >= _LEAST) & (far <= _MOST))):
            raise DomainError(
                f"Moments.upper[{i}]={high[i]:g} and lower[{i}]={low[i]:g} have no second moments "
                "in floats; leave columns of one value out, and use units of moderate size"
            )
        for i in np.flatnonzero(half < far * _FINE):
            raise DomainError(
                f"Moments.upper[{i}]={high[i]!r} and lower[{i}]={low[i]!r} have too few floats "
                "between them for squares; subtract a public number near them from the column"
            )
        object.__setattr__(self, "box", box)

    def __repr__(self) -> str:
        return f"MomentBox({self.box!r})"

    @cached_property
    def _moments(self) -> MomentSet:
        return MomentSet(self.box.lower, self.box.upper)

    @property
    def source(self) -> Box:
        """The box that rows live in."""
        return self.box

    def record_columns(self, columns: Sequence[Vector], chosen: Integers) -> Iterator[Vector]:
        """Yield moments of rows, each value clipped to its bounds: the numbers of `records`."""
        of, d = self._moments, self.box.dimension
        rows = [
            np.clip(column, low, high)
            for column, low, high in zip(columns, self.box.lower, self.box.upper, strict=True)
        ]
        about = [row - middle for row, middle in zip(rows, of.middle, strict=True)]
        product = np.empty(len(rows[0]))
        for j in chosen.tolist():
            if j < d:
                yield rows[j]
            else:
                yield np.multiply(about[of.left[j - d]], about[of.right[j - d]], out=product)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a value outside, one sentence each."""
        return (
            PUBLIC,
            "A value outside its bounds counts as the nearest bound; how many is not published.",
            "Products are of what columns differ from the middles of their bounds.",
        )


@DOMAINS.kind("ball_moments", Field("center", VECTOR, attribute="middle"), "radius")
@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class MomentBall(AbstractMoments):
    """{(x, (xᵢ − cᵢ)(xⱼ − cⱼ) for i ≤ j) : ‖x − c‖ ≤ radius}.

    Args:
        middle: c, shape (d,), d from 2 on.
        radius: above 0.

    Raises:
        DomainError: where the columns are less than 2 or more than 200, or the radius is of extreme
            size, or so small beside the center that hardly a float is in it.

    Examples:
        >>> own = MomentBall([0, 0], 2.0)
        >>> own.records(np.array([[0.0, 9.0]])).round(9).tolist()
        [[0.0, 2.0, 0.0, 0.0, 4.0]]
    """

    ball: Image
    radius: float

    def __init__(self, middle: ArrayLike, radius: float) -> None:
        center = vector(middle, field="Moments.center", error=DomainError)
        if not LEAST_COLUMNS <= center.size <= MOST_COLUMNS:
            raise DomainError(
                f"Moments.columns are {center.size}, and moments of a ball are of {LEAST_COLUMNS} "
                f"to {MOST_COLUMNS}; of one give ln.Box(lower, upper)"
            )
        far = float(np.max(np.abs(center)))
        if not (_LEAST <= radius <= _MOST and far <= _MOST and radius >= far * _FINE):
            raise DomainError(
                f"Moments.radius={radius:g} about {far:g} has no second moments in floats; "
                "subtract public numbers near the center, and use units of moderate size"
            )
        object.__setattr__(self, "ball", Ball(center.size, float(radius), center=center))
        object.__setattr__(self, "radius", float(radius))

    def __repr__(self) -> str:
        return f"MomentBall({self.ball!r})"

    @cached_property
    def _moments(self) -> BallMomentSet:
        return BallMomentSet(self.ball.center, self.radius, self.ball.rounding)

    @property
    def source(self) -> Image:
        """The ball that rows live in."""
        return self.ball

    def record_columns(self, columns: Sequence[Vector], chosen: Integers) -> Iterator[Vector]:
        """Yield moments of rows, each row clipped to the ball."""
        of = self._moments
        rows = self.ball.clip_rows(np.stack(columns, axis=1)).T
        about = rows - of.middle[:, None]
        for j in chosen.tolist():
            k = j - of.width
            yield rows[j] if k < 0 else about[of.left[k]] * about[of.right[k]]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a row outside, one sentence each."""
        return (
            *self.ball.assumptions,
            "Products are of what columns differ from the center of the ball.",
        )
