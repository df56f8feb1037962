# SPDX-License-Identifier: Apache-2.0
"""What every domain can say of itself.

A new kind says what is known of how far it reaches in quadratic forms (`bounding_set`), what it
clips records to (`clip_rows`) and how far rounding takes those off it. All else follows: its center
and extent, its support function and extreme points, whether it contains a point, and all that noise
must cover. Where a closed form says more, or is faster, a method of that kind returns it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import Kinds
from lownoise.numbers.arrays import by_blocks, frozen
from lownoise.numbers.readable import html_table, number_of
from lownoise.sets.bodies import (
    AbstractBody,
    LiftedOracle,
    OracleBody,
    OracleDifferences,
    SymmetricPoints,
)
from lownoise.sets.domains.coordinates import Coordinates, every_coordinate, pivot_coordinates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.reach import AbstractSet
    from lownoise.sets.domains.image import Image
    from lownoise.sets.domains.oracle import Oracle
    from lownoise.sets.unit_balls import AbstractUnitBall

Piece = tuple["Vector", "Vector", "AbstractUnitBall"]  # G, c, and the unit ball of G(x − c)
_FLAT = 1e-12
_SHOWN = 6  # columns of a table in a notebook
_BLOCK = 1024  # rows
PUBLIC = "The domain, center and stand-in are public; none of them was taken from this table."


class AbstractDomain(ABC):
    """A bounded, non-empty set K ⊂ R^d, the same whatever the data are."""

    of_records: ClassVar[bool] = True  # not of what is unbounded, nor of changes
    in_blocks: ClassVar[bool] = False  # fill short blocks up: then arithmetic is the same for all
    exact_corners: ClassVar[bool] = False  # whether `corners` are those of the set to the last bit
    intersects: ClassVar[bool] = False  # whether `ln.intersection` takes it

    def __repr__(self) -> str:
        ends = f"from {np.min(self.lower):.6g} to {np.max(self.upper):.6g}"
        return f"{type(self).__name__}({self._size}, {ends})"

    def _repr_html_(self) -> str:
        ends = zip(self.lower[:_SHOWN], self.upper[:_SHOWN], strict=True)
        rows = [(f"{i}", f"from {a:.6g}", f"to {b:.6g}") for i, (a, b) in enumerate(ends)]
        more = [("…",)] if self.dimension > _SHOWN else []
        return html_table(repr(self), [*rows, *more])

    @property
    def _size(self) -> str:
        return number_of(self.dimension, "column")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.center.size)

    @property
    def center(self) -> Vector:
        """A public point in the middle of K, or of the flat that it fills, shape (d,)."""
        return self._bounding_set.center

    def support(self, direction: Vector) -> float:
        """Return max of ⟨direction, x⟩ over K, or hardly more; `direction` has shape (d,).

        Of Kronecker products, whose maximum is hard to find, a bound.
        """
        theta = np.asarray(direction, dtype=np.float64)
        return float(self._bounding_set.support_up(theta, self.center) + theta @ self.center)

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of K that is extreme along each row, shapes (n, d).

        Raises:
            DomainError: where no such point is known how to find.
        """
        return self._bounding_set.place(self._bounding_set.extremes(np.asarray(directions)))

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, as nearly as K can tell."""
        given = np.asarray(point, dtype=np.float64)
        return bool(np.all(np.abs(self.clamp(given) - given) <= self._room))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to a point of K, within `rounding`.

        No row's answer depends on the other rows.
        """
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        filler = self.center if self.in_blocks else None
        return by_blocks(self.clip_rows, rows, _BLOCK, filler).reshape(np.shape(points))

    @abstractmethod
    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to a point of K, shapes (n, d).

        Raises:
            DomainError: where no record lies in such a set.
        """

    def width(self, direction: Vector) -> float:
        """Return w_K(θ) = h_K(θ) + h_K(−θ) for direction θ, shape (d,) (002, section 3)."""
        return self.support(direction) + self.support(-direction)

    @cached_property
    def _bounding_set(self) -> AbstractSet:
        return self.bounding_set()

    @property
    def extent(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        return self._bounding_set.extent

    @property
    def reach(self) -> Vector:
        """The extent, by its name of 0.1."""
        text = "domain.reach is domain.extent since 0.2, and 0.3 knows it by that name only"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.extent

    @property
    def nearness(self) -> float:
        """How near clipping leaves points of K to where they are, beside their half ranges."""
        return 1e-9

    @property
    def _room(self) -> Vector:
        """How far clipping can move a point of K, shape (d,)."""
        last = 2.0**-50 * (np.abs(self.center) + self.extent)
        # where the center is far, a last digit of one coordinate moves the nearest point in others
        share = np.max(last / np.where(self.extent > 0, self.extent, np.inf), initial=0.0)
        return np.asarray((self.nearness + 4 * share) * self.extent + last + self.rounding)

    @property
    def rounding(self) -> Vector:
        """How far a clipped record can be off a point of K, shape (d,); 0 where nothing moves."""
        return frozen(np.zeros(self.dimension))

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,), within rounding."""
        return frozen(self.center - self.extent)

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,), within rounding."""
        return frozen(self.center + self.extent)

    @property
    def whole(self) -> bool:
        """Whether a record that lacks any of its values counts as the stand-in in all of them."""
        return False

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a record outside, one sentence each."""
        return (PUBLIC, "A row outside the domain is moved into it; how many is not published.")

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """The programs that know it or parts of it, in order: no file holds them."""
        return ()

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """What moves records, or parts of them, to the nearest of finitely many, in order."""
        return ()

    @property
    def searchable(self) -> bool:
        """Whether extreme points are found without asking a user's program about a record."""
        return True

    @property
    def source(self) -> AbstractDomain:
        """Where rows of the table live that records are made of: by default K itself."""
        return self

    def named(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return what each coordinate is called, by the names of the columns in the table."""
        return tuple(columns)

    def records(self, rows: Vector) -> Vector:
        """Return the records of rows of the table, shapes (n, columns) and (n, d): clipped."""
        return self.clamp(rows)

    def record_columns(self, columns: Sequence[Vector], chosen: Integers) -> Iterator[Vector]:
        """Yield coordinates of the records of rows, both by columns of shape (n,)."""
        yield from self.records(np.stack(columns, axis=1))[:, chosen].T

    @cached_property
    def spanning(self) -> Vector:
        """Rows that span what K spans about its center, shape (n, d)."""
        return frozen(self._bounding_set.place(self._bounding_set.spanning) - self.center)

    @cached_property
    def full(self) -> bool:
        """Whether no coordinate of its points follows from others, as far as is known."""
        if not np.all(self.extent > 0):
            return False
        rows = self.spanning / self.extent
        rank = np.linalg.matrix_rank(rows, tol=_FLAT * float(np.linalg.norm(rows)))
        return int(rank) == self.dimension

    def coordinates(self) -> Coordinates:
        """Return the coordinates that need to be summed."""
        if self.full:
            return every_coordinate(self.center)
        return pivot_coordinates(SymmetricPoints(self.spanning), self.center)

    def exact_coordinates(self) -> Coordinates:
        """Return those of which the others are copies, to the last bit: by default all."""
        return every_coordinate(self.center)

    @property
    def start(self) -> Vector:
        """The point that `coordinates` are taken from, shape (d,)."""
        return self.center

    def fits(self, chosen: Coordinates) -> bool:
        """Return whether every point of K is what its summed coordinates say."""
        return chosen.fits(self.spanning, np.abs(self.spanning).sum(axis=0))

    # what noise must cover

    def bounding_set(self) -> AbstractSet:
        """Return what bounds quadratic forms over K.

        Raises:
            DomainError: where the domain is of a kind that does not combine.
        """
        raise DomainError(
            f"domain={type(self).__name__} does not combine with others; list its points, or plan "
            "for it alone",
        )

    def differences(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return K − K, all that one record can change by, in some coordinates and in steps.

        Args:
            pivots: the coordinates, rising, shape (r,).
            step: the unit of each, powers of two, shape (r,).

        Raises:
            DomainError: where the body of such a domain is not known.
        """
        return OracleDifferences(self._bounding_set, pivots, step)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> AbstractBody:
        """Return the hull of ±((x − center)/step, 1), x in K: a record and its count, r + 1 long.

        Args:
            pivots: the coordinates, rising, shape (r,).
            step: the unit of each, powers of two, shape (r,).
            center: the public point, shape (d,).

        Raises:
            DomainError: where the body of such a domain is not known.
        """
        return LiftedOracle(self._bounding_set, pivots, step, center)

    def translates(self, pivots: Integers, center: Vector) -> AbstractBody:
        """Return where some coordinates of a record can be, shape (r,), wherever that may stand.

        Args:
            pivots: the coordinates, rising, shape (r,).
            center: the public point that a body about it may be given for, shape (d,).
        """
        return OracleBody(self._bounding_set, pivots, np.ones(pivots.size))

    def sums(self, pivots: Integers, center: Vector) -> AbstractBody:
        """Return what noise on sums alone is fitted to, as by `translates`."""
        return self.translates(pivots, center)

    def symmetrized(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return the hull of K and −K in some coordinates and in steps: K holds the changes.

        Raises:
            DomainError: where the hull of such a domain is not known.
        """
        raise DomainError(
            f"relation={type(self).__name__} has no known hull with its opposite; "
            "give ln.Ball(…), ln.Ellipsoid(…), ln.Box(…), ln.Points(…) or an image of one",
        )

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Return K as a body that an ellipsoid may be put around, and the point it is about.

        Args:
            mixed: whether answers are made of several coordinates.
        """
        body = self.translates(np.arange(self.dimension), self.center)
        return body, np.zeros(self.dimension) if body.moves else self.center

    def as_part(self) -> AbstractDomain:
        """Return what has the bodies of it that are known beside other parts of a product."""
        return self

    def difference(self) -> AbstractDomain:
        """Return K − K as a set of its own."""
        return Difference(self)

    def contains_difference(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is x − y with x, y in K.

        Raises:
            DomainError: where that is not known.
        """
        raise DomainError(
            f"difference of {type(self).__name__} does not know what it holds; ask for its support",
        )

    def may_have_room(self, changes: AbstractBody, *, both: bool = False) -> bool:
        """Return whether the center or a mean of extreme points surely has room for a body."""
        if changes.fits(self.contains, self.center, both=both):
            return True
        try:
            ends = self.extreme(np.vstack([np.eye(self.dimension), -np.eye(self.dimension)]))
        except DomainError:
            return False
        return changes.fits(self.contains, np.mean(ends, axis=0), both=both)

    def as_image(self) -> Image | None:
        """Return the domain as an image of a unit ball; None where it has no such form."""
        return None

    def inscribed(self, weights: Vector) -> Vector:
        """Return half axes of an ellipsoid that K times some weights holds, falling; (0,) unknown.

        Args:
            weights: ω > 0, shape (d,).
        """
        return frozen(np.zeros(0))

    def along_axes(self) -> Image | None:
        """Return the domain as an image along the coordinates; None where it is none."""
        return None

    def corners(self) -> Vector | None:
        """Return points whose hull the domain has, shape (N, d); None where they are too many."""
        return None

    def hulled(self) -> AbstractDomain:
        """Return what a combination holds of it: the hull of a list and of tensors of signs."""
        return self

    def pieces(self) -> list[Piece]:
        """Return the quadratics that a bounded part of an intersection is made of.

        Raises:
            DomainError: where the domain is of a kind that has no such form.
        """
        raise DomainError(
            f"intersection of {type(self).__name__} is not known; give boxes or balls",
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Difference(AbstractDomain):
    """{x − y : x, y in `base`}; made by `difference_body`. What is listed is never listed in pairs.

    Args:
        base: K.
    """

    of_records: ClassVar[bool] = False

    base: AbstractDomain

    def __repr__(self) -> str:
        return f"difference_body({self.base!r})"

    @property
    def center(self) -> Vector:
        """Zero, shape (d,)."""
        return frozen(np.zeros(self.base.dimension))

    @property
    def extent(self) -> Vector:
        """At least the greatest change of each coordinate, shape (d,)."""
        return frozen(np.nextafter(self.base.upper - self.base.lower, np.inf))

    def support(self, direction: Vector) -> float:
        """Return the width of the domain along `direction`, shape (d,), or what it has for it."""
        return self.base.width(np.asarray(direction, dtype=np.float64))

    def extreme(self, directions: Vector) -> Vector:
        """Return the difference that is extreme along each row, shapes (n, d)."""
        return self.base.extreme(directions) - self.base.extreme(-directions)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is the difference of two records.

        Raises:
            DomainError: where that is not known.
        """
        return self.base.contains_difference(point)

    def clip_rows(self, rows: Vector) -> Vector:
        """Refuse by a `DomainError`: no record lies in a difference body."""
        raise DomainError("Difference holds changes, not records; clamp into the domain itself")

    def bounding_set(self) -> AbstractSet:
        """Refuse: only lists of differences are images or parts of others.

        Raises:
            DomainError: always.
        """
        raise DomainError(
            f"difference of {type(self.base).__name__} does not combine with others; combine the "
            "domains first",
        )

    def symmetrized(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return it: K − K is its own opposite.

        Raises:
            DomainError: where a program knows K, which no file could name, or its entries are
                copies of each other.
        """
        if self.base.oracles or self.base.exact_coordinates().implied:
            return self.base.symmetrized(pivots, step)
        return self.base.differences(pivots, step)

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Return it, about zero."""
        d = self.dimension
        return self.base.differences(np.arange(d), np.ones(d)), np.zeros(d)


DOMAINS: Kinds[AbstractDomain] = Kinds("domain")
