# SPDX-License-Identifier: Apache-2.0
"""Domains made of several that no single form holds: hulls of unions, and images of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.kinds import Field
from lownoise.numbers.arrays import frozen, vector
from lownoise.sets.bodies.compound import HullSet, MappedSet
from lownoise.sets.domains.abstract import DOMAINS, PUBLIC, AbstractDomain
from lownoise.sets.domains.encoding import MEMBER, SEVERAL
from lownoise.sets.domains.image import LARGEST, check_size, checked_center, checked_factor
from lownoise.sets.domains.nearest import nearest_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.abstract import AbstractSet
    from lownoise.sets.domains.oracle import Oracle

_NEAR = 1e-9  # of the reach: how near a point is in K
_SEARCHED = 1e-4  # where that takes a search
_HELD = 2.0**-36  # of the reach: a record that a part moves by less is in that part
_ROUNDING = 2.0**-40
_REGULAR = 1e-10


class AbstractCompound(AbstractDomain):
    """What all of them have in common: what their sets know."""

    @property
    @abstractmethod
    def program(self) -> AbstractSet:
        """What knows it."""

    @property
    @abstractmethod
    def inner(self) -> tuple[AbstractDomain, ...]:
        """The domains that it is made of."""

    def known_set(self) -> AbstractSet:
        """Return what knows it."""
        return self.program

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.program.dimension

    @property
    def center(self) -> Vector:
        """A point of the flat that K fills, shape (d,)."""
        return self.program.center

    @property
    def reach(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        return self.program.reach

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """The programs that know its parts, in order."""
        return tuple(own for part in self.inner for own in part.oracles)

    @property
    def searchable(self) -> bool:
        """Whether extreme points are found without asking a user's program about a record."""
        return all(part.searchable for part in self.inner)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a row outside, one sentence each."""
        said = tuple(
            f"The program {own.name!r} knows a part; its bounds and clamp are taken to be right."
            for own in self.oracles
        )
        if self.lists:
            said += ("A part of a row counts as the nearest of the points listed for it.",)
        outside = "A row outside the domain is moved into it; nothing says how many were."
        return (*said, PUBLIC, outside)

    @cached_property
    def _home(self) -> Vector:
        """A point of K, whatever the record."""
        return self.program.place(self.program.spanning[0])

    def support(self, direction: Vector) -> float:
        """Return at least max ⟨θ, x⟩ over K, hardly more; `direction` θ has shape (d,)."""
        theta = np.asarray(direction, dtype=np.float64)
        about = self.program.support_up(theta, self.center)
        return float(about + theta @ self.center)

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of K that is extreme along each row, shapes (n, d)."""
        return self.program.place(np.array([self.program.extreme(row) for row in directions]))


def checked_hull(parts: Sequence[AbstractDomain]) -> Hull:
    """Return the hull of the parts' union, those of hulls one by one.

    Raises:
        DomainError: where one is of a kind that does not combine.
    """
    own: list[AbstractDomain] = []
    for part in parts:
        own += part.parts if isinstance(part, Hull) else [part]
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
@dataclass(frozen=True, eq=False)
class Hull(AbstractCompound):
    """The hull of a union; made by `ln.hull`.

    A record in one of the parts stays; another is moved to the nearest point, each coordinate in
    parts of its reach and cut at twice that.

    Args:
        parts: one or more, of one dimension.
    """

    parts: tuple[AbstractDomain, ...]

    @cached_property
    def program(self) -> HullSet:
        """The hull of the parts' sets."""
        own = tuple(part.known_set() for part in self.parts)
        return HullSet(own, frozen(np.mean([part.center for part in own], axis=0)))

    @property
    def inner(self) -> tuple[AbstractDomain, ...]:
        """The parts."""
        return self.parts

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        A record in a part is where that part moves it; another is a mixture of points of parts.
        """
        own = np.max([part.rounding for part in self.parts], axis=0) + self.program.doubt
        more = _ROUNDING * self.reach + 2.0**-48 * np.abs(self.center)
        return frozen(np.where(self.reach > 0, own + more, 0.0))

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K; outside its parts within 1e-4."""
        near = self.clamp(np.asarray(point, dtype=np.float64))
        return bool(np.all(np.abs(near - point) <= _SEARCHED * self.reach))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to a point of K, within `rounding`.

        Raises:
            PlanError: where a part is an oracle: a program must not be asked about records.
        """
        _check_searchable(self)
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        rows = np.clip(rows, -LARGEST, LARGEST)
        found = np.empty_like(rows)
        left = np.ones(len(rows), dtype=np.bool_)
        for part in self.parts:
            if not np.any(left):
                break
            moved = part.clamp(rows[left])
            held = np.all(np.abs(moved - rows[left]) <= _HELD * self.reach, axis=1)
            at = np.flatnonzero(left)[held]
            found[at] = moved[held]
            left[at] = False
        for i in np.flatnonzero(left):
            found[i] = nearest_point(self.extreme, self._home, rows[i], self.reach)
        return found.reshape(np.shape(points))


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
@dataclass(frozen=True, eq=False)
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

    @cached_property
    def program(self) -> MappedSet:
        """The image of the domain's set."""
        return MappedSet(self.factor, self.domain.known_set(), self.shift)

    @property
    def direct(self) -> bool:
        """Whether records are moved in by what moves them into the domain: F is injective."""
        return self._inverse is not None

    @property
    def searchable(self) -> bool:
        """Where the domain is, or needs no search."""
        return self.direct or self.domain.searchable

    @property
    def inner(self) -> tuple[AbstractDomain, ...]:
        """The domain."""
        return (self.domain,)

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """Those of the domain, where records are moved in by what moves them into it."""
        return self.domain.lists if self.direct else ()

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (m,)."""
        part = self.program.part
        size = np.abs(self.factor) @ (np.abs(part.center) + part.reach) + np.abs(self.shift)
        own = np.abs(self.factor) @ self.domain.rounding + self.program.doubt
        more = _ROUNDING * self.reach + part.dimension * 2.0**-50 * size
        return frozen(np.where(self.reach > 0, own + more, 0.0))

    @cached_property
    def _inverse(self) -> Vector | None:
        """A left inverse of F, or None where F is not injective."""
        size = np.linalg.norm(self.factor, axis=0)
        m, d = self.factor.shape
        if d > m or not np.all(size > 0):
            return None
        scaled = self.factor / size
        if np.linalg.svd(scaled, compute_uv=False)[-1] < _REGULAR:
            return None
        return np.asarray(np.linalg.pinv(scaled) / size[:, None])

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (m,), lies in K; where F is not injective within 1e-4."""
        near = self.clamp(np.asarray(point, dtype=np.float64))
        room = _NEAR if self._inverse is not None else _SEARCHED
        return bool(np.all(np.abs(near - point) <= room * self.reach + self.rounding))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., m), each clipped to a point of K, within `rounding`.

        Raises:
            PlanError: where the domain is an oracle, and F not injective.
        """
        _check_searchable(self)
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        rows = np.clip(rows, -LARGEST, LARGEST)
        found = np.empty_like(rows)
        for i, row in enumerate(rows):  # one by one: sums must not depend on the rows beside
            if self._inverse is None:
                found[i] = nearest_point(self.extreme, self._home, row, self.reach)
            else:
                x = self.domain.clamp((row - self.shift) @ self._inverse.T)
                found[i] = self.shift + x @ self.factor.T
        return found.reshape(np.shape(points))


def _check_searchable(domain: AbstractCompound) -> None:
    if not domain.searchable:
        raise PlanError(
            f"domain={type(domain).__name__} holds an ln.Oracle, and moving a record in would ask "
            "its program about the record; describe the whole set with ln.Oracle and a clamp",
        )
