# SPDX-License-Identifier: Apache-2.0
"""Domains made of several that no single form holds: side by side, hulls of unions, images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.kinds import Field
from lownoise.numbers.arrays import frozen, vector
from lownoise.sets.bodies import (
    JointBody,
    LiftedOracle,
    OracleBody,
    OracleDifferences,
    SymmetricPoints,
)
from lownoise.sets.bodies.compound import HullSet, MappedSet
from lownoise.sets.bodies.product import ProductSet
from lownoise.sets.domains.abstract import DOMAINS, PUBLIC, AbstractDomain
from lownoise.sets.domains.coordinates import coordinates_beside
from lownoise.sets.domains.encoding import MEMBER, SEVERAL
from lownoise.sets.domains.image import LARGEST, check_size, checked_center, checked_factor
from lownoise.sets.domains.nearest import left_inverse, nearest_point
from lownoise.sets.domains.points import Polytope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.bodies import AbstractBody, AbstractOracleBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.sets.domains.oracle import Oracle

_NEAR = 1e-9  # of the reach: how near a point is in K
_SEARCHED = 1e-4  # where that takes a search
_HELD = 2.0**-36  # of the reach: a record that a part moves by less is in that part
_ROUNDING = 2.0**-40
_FEW = 2.0**8  # corners of a product that are listed where its parts are not about one center
_MOST_CORNERS = 2.0**12  # of a product whose image is taken


def corners_of(parts: Sequence[AbstractDomain], most: float = math.inf) -> list[Vector] | None:
    """Return the corners of each, shapes (N, d); None where one of each makes more than `most`."""
    found = [part.corners() for part in parts]
    own = [each for each in found if each is not None]
    many = len(own) < len(found) or math.prod(float(len(each)) for each in own) > most
    return None if many else own


class AbstractCompound(AbstractDomain):
    """What all of them have in common: what their sets know."""

    parts: tuple[AbstractDomain, ...]  # what it is made of

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """The programs that know its parts, in order."""
        return tuple(own for part in self.parts for own in part.oracles)

    @property
    def searchable(self) -> bool:
        """Whether extreme points are found without asking a user's program about a record."""
        return all(part.searchable for part in self.parts)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a row outside, one sentence each."""
        said = tuple(
            f"The program {own.name!r} knows a part; its bounds and clamp are taken to be right."
            for own in self.oracles
        )
        if self.lists:
            said += ("A part of a row counts as the nearest of the points listed for it.",)
        outside = "A row outside the domain is moved into it; how many is not published."
        return (*said, PUBLIC, outside)

    @cached_property
    def _home(self) -> Vector:
        """A point of K, whatever the record."""
        return self._bounding_set.place(self._bounding_set.spanning[0])


def checked_hull(parts: Sequence[AbstractDomain]) -> Hull:
    """Return the hull of the parts' union, those of hulls one by one.

    Raises:
        DomainError: where one is of a kind that does not combine.
    """
    own = [each for part in parts for each in (part.parts if isinstance(part, Hull) else [part])]
    if not own or len({part.dimension for part in own}) > 1:
        raise DomainError("Hull.parts are not all of one dimension; give at least one of like")
    found = Hull(tuple(own))
    check_size(found.center, "hull.center")
    return found


@DOMAINS.kind(
    "hull",
    Field("hull", SEVERAL, attribute="parts"),
    make=checked_hull,
)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Hull(AbstractCompound):
    """The hull of a union; made by `ln.hull`.

    A record in one of the parts stays; another is moved to the nearest point, each coordinate in
    parts of its reach and cut at twice that.

    Args:
        parts: one or more, of one dimension.
    """

    parts: tuple[AbstractDomain, ...]

    def bounding_set(self) -> HullSet:
        """Return the hull of the parts' sets."""
        own = tuple(part.bounding_set() for part in self.parts)
        return HullSet(own, frozen(np.mean([part.center for part in own], axis=0)))

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        A record in a part is where that part moves it; another is a mixture of points of parts.
        """
        own = np.max([part.rounding for part in self.parts], axis=0) + self._bounding_set.doubt
        more = _ROUNDING * self.extent + 2.0**-48 * np.abs(self.center)
        return frozen(np.where(self.extent > 0, own + more, 0.0))

    @property
    def nearness(self) -> float:
        """How near, in parts of the reach, a search outside its parts ends."""
        return _SEARCHED

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to a point of K, shapes (n, d).

        Raises:
            PlanError: where a part is an oracle: a program must not be asked about records.
        """
        _check_searchable(self)
        rows = np.clip(rows, -LARGEST, LARGEST)
        found = np.empty_like(rows)
        left = np.ones(len(rows), dtype=np.bool_)
        for part in self.parts:
            if not np.any(left):
                break
            clipped = part.clamp(rows[left])
            held = np.all(np.abs(clipped - rows[left]) <= _HELD * self.extent, axis=1)
            at = np.flatnonzero(left)[held]
            found[at] = clipped[held]
            left[at] = False
        for i in np.flatnonzero(left):
            found[i] = nearest_point(self.extreme, self._home, rows[i], self.extent)
        return found


def checked_mapped(factor: ArrayLike, domain: AbstractDomain, shift: ArrayLike) -> Mapped:
    """Return the image, every argument checked.

    Raises:
        DomainError: where the domain is of a kind that does not combine, shapes do not match, or a
            number cannot be computed with.
    """
    f = checked_factor(factor, "Mapped.factor")
    f = np.diag(f) if f.ndim == 1 else f
    if f.shape[1] != domain.dimension:
        raise DomainError(
            f"Mapped.factor has shape {f.shape} for a domain of {domain.dimension} coordinates; "
            "give one column each",
        )
    moved = vector(shift, field="Mapped.shift", error=DomainError)
    moved = checked_center(moved, len(f), "Mapped.shift")
    if isinstance(domain, Mapped):  # one product of matrices instead of two
        return checked_mapped(f @ domain.factor, domain.domain, f @ domain.shift + moved)
    found = Mapped(frozen(f.copy()), domain, frozen(moved.copy()))
    check_size(found.center, "Mapped.factor × center")
    return found


@DOMAINS.kind(
    "mapped",
    "factor",
    Field("domain", MEMBER),
    "shift",
    make=checked_mapped,
)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Mapped(AbstractCompound):
    """{shift + F·x : x in a domain}; made by `ln.image`, `ln.minkowski_sum` and so on.

    A record is moved in where F is injective by what moves records into the domain, otherwise to
    the nearest point, each coordinate in parts of its reach and cut at twice that.

    Args:
        factor: F, shape (m, d).
        domain: in d coordinates.
        shift: shape (m,).
    """

    factor: Vector
    domain: AbstractDomain
    shift: Vector

    def bounding_set(self) -> MappedSet:
        """Return the image of the domain's set."""
        return MappedSet(self.factor, self.domain.bounding_set(), self.shift)

    @property
    def direct(self) -> bool:
        """Whether records are moved in by what moves them into the domain: F is injective."""
        return self._inverse is not None

    @property
    def searchable(self) -> bool:
        """Where the domain is, or needs no search."""
        return self.direct or self.domain.searchable

    @property
    def parts(self) -> tuple[AbstractDomain, ...]:  # type: ignore[override]
        """The domain."""
        return (self.domain,)

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """Those of the domain, where records are moved in by what moves them into it."""
        return self.domain.lists if self.direct else ()

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (m,)."""
        part = self.domain.bounding_set()
        size = np.abs(self.factor) @ (np.abs(part.center) + part.extent) + np.abs(self.shift)
        own = np.abs(self.factor) @ self.domain.rounding + self._bounding_set.doubt
        more = _ROUNDING * self.extent + part.dimension * 2.0**-50 * size
        return frozen(np.where(self.extent > 0, own + more, 0.0))

    @cached_property
    def _inverse(self) -> Vector | None:
        return left_inverse(self.factor)

    @property
    def nearness(self) -> float:
        """How near clipping leaves points of K to where they are, beside their half ranges."""
        return _NEAR if self.direct else _SEARCHED

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to a point of K, shapes (n, m).

        Raises:
            PlanError: where the domain is an oracle, and F not injective.
        """
        _check_searchable(self)
        rows = np.clip(rows, -LARGEST, LARGEST)
        found = np.empty_like(rows)
        for i, row in enumerate(rows):  # one by one: sums must not depend on the rows beside
            if self._inverse is None:
                found[i] = nearest_point(self.extreme, self._home, row, self.extent)
            else:
                x = self.domain.clamp((row - self.shift) @ self._inverse.T)
                found[i] = self.shift + x @ self.factor.T
        return found


def _check_searchable(domain: AbstractCompound) -> None:
    if not domain.searchable:
        raise PlanError(
            f"domain={type(domain).__name__} holds an ln.Oracle, and moving a record in would ask "
            "its program about the record; describe the whole set with ln.Oracle and a clamp",
        )


def checked_product(parts: Sequence[AbstractDomain]) -> Product:
    """Return the parts side by side, those of products one by one.

    Raises:
        DomainError: where one is of a kind that does not combine.
    """
    own = [each for part in parts for each in (part.parts if isinstance(part, Product) else [part])]
    if not own:
        raise DomainError("Product.parts is empty; give at least one domain")
    found = Product(tuple(own))
    check_size(found.center, "product.center")
    return found


@DOMAINS.kind(
    "product",
    Field("product", SEVERAL, attribute="parts"),
    make=checked_product,
)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Product(AbstractCompound):
    """All (x, y, …), each from its own domain; made by `ln.product`.

    Args:
        parts: one or more.
    """

    parts: tuple[AbstractDomain, ...]

    def bounding_set(self) -> ProductSet:
        """Return the parts' sets side by side."""
        return ProductSet(tuple(part.bounding_set() for part in self.parts))

    @cached_property
    def blocks(self) -> list[slice]:
        """The coordinates of each part."""
        ends = np.cumsum([0, *(part.dimension for part in self.parts)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,)."""
        return frozen(np.concatenate([part.rounding for part in self.parts]))

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,), within rounding."""
        return frozen(np.concatenate([part.lower for part in self.parts]))

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,), within rounding."""
        return frozen(np.concatenate([part.upper for part in self.parts]))

    @cached_property
    def few_corners(self) -> Vector | None:
        """All its corners, shape (N, d), where they are few and known exactly, else None."""
        exact = all(part.exact_corners for part in self.parts)
        return self._combined(_FEW) if exact else None

    def corners(self) -> Vector | None:
        """Return all combinations of the parts' corners, shape (N, d); None where they are many."""
        return self._combined(_MOST_CORNERS)

    def _combined(self, most: float) -> Vector | None:
        own = corners_of(self.parts, most)
        if own is None:
            return None
        every = own[0]
        for each in own[1:]:
            every = np.hstack([np.repeat(every, len(each), axis=0), np.tile(each, (len(every), 1))])
        return frozen(every)

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """Those of the parts: in files of version 0.1, which moved records as they did."""
        return tuple(own for part in self.parts for own in part.lists)

    @property
    def _placed(self) -> list[tuple[AbstractDomain, slice]]:
        """Each part, and the coordinates that are its own."""
        return list(zip(self.parts, self.blocks, strict=True))

    def coordinates(self) -> Coordinates:
        """Return those of the parts; what never moves is left out."""
        own = [part.coordinates().moving(self.extent[at] > 0) for part, at in self._placed]
        return coordinates_beside(own, self.center)

    def _shares(self, pivots: Integers) -> list[tuple[AbstractDomain, slice, Integers, Chosen]]:
        """Return each part that some coordinates are of, its place, which of its own they are."""
        found = []
        for part, at in self._placed:
            kept = (pivots >= at.start) & (pivots < at.stop)
            if np.any(kept):  # a single point changes nothing
                found.append((part.as_part(), at, pivots[kept] - at.start, kept))
        return found

    def differences(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return the differences of the parts side by side."""
        combined = OracleDifferences(self._bounding_set, pivots, step)
        own = [part.differences(of, step[kept]) for part, _, of, kept in self._shares(pivots)]
        return _joint(combined, pivots, own)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> AbstractBody:
        """Return a record with its count: the parts' side by side, or the corners of few.

        The count joins parts that are not about their centers: there the corners prove more.
        """
        if self.few_corners is not None:
            return Polytope(self.few_corners).lifted(pivots, step, center)
        combined = LiftedOracle(self._bounding_set, pivots, step, center)
        own = [
            part.lifted(of, step[kept], center[at]) for part, at, of, kept in self._shares(pivots)
        ]
        return _joint(combined, pivots, own)

    def translates(self, pivots: Integers, center: Vector) -> AbstractBody:
        """Return where the parts can be, side by side."""
        combined = OracleBody(self._bounding_set, pivots, np.ones(pivots.size))
        shares = self._shares(pivots)
        if len(shares) < len(self.parts):
            return combined
        own = [part.translates(of, center[at]) for part, at, of, _ in shares]
        at = [
            np.zeros(of.size) if body.moves else part.center[of]
            for body, (part, _, of, _) in zip(own, shares, strict=True)
        ]
        return JointBody(combined, tuple(own), frozen(np.concatenate(at)))

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Return the parts side by side, each about its own point."""
        d = self.dimension
        combined = OracleBody(self._bounding_set, np.arange(d), np.ones(d))
        own = [part.as_part().enclosed() for part in self.parts]
        at = frozen(np.concatenate([about for _, about in own]))
        return JointBody(combined, tuple(body for body, _ in own), at), np.zeros(d)

    def symmetrized(self, pivots: Integers, step: Vector) -> SymmetricPoints:
        """Return its corners and their opposites.

        Raises:
            DomainError: where they are too many to be listed.
        """
        listed = self.corners()
        if listed is None:
            raise DomainError(
                "relation=Product has more corners than are listed; give ln.Box(…), ln.Ball(…) or "
                "fewer points",
            )
        return SymmetricPoints(frozen(listed[:, pivots] / step))

    def contains(self, point: Vector) -> bool:
        """Return whether each part holds its share of `point`, shape (d,)."""
        return all(part.contains(np.asarray(point)[at]) for part, at in self._placed)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each part's share clipped to that part, shapes (n, d)."""
        return np.concatenate([part.clamp(rows[:, at]) for part, at in self._placed], axis=-1)


def _joint(combined: AbstractOracleBody, pivots: Integers, own: list[AbstractBody]) -> AbstractBody:
    in_turn = bool(np.all(np.diff(pivots) > 0))
    return JointBody(combined, tuple(own)) if in_turn and own else combined
