# SPDX-License-Identifier: Apache-2.0
"""Domains side by side that no single form holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import Field
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import (
    JointBody,
    LiftedOracle,
    OracleBody,
    OracleDifferences,
    SymmetricPoints,
)
from lownoise.sets.bodies.product import ProductSet
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.compound import AbstractCompound
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.encoding import SEVERAL
from lownoise.sets.domains.image import check_size
from lownoise.sets.domains.points import Polytope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.bodies import AbstractBody, AbstractOracleBody

_FEW = 2.0**8  # corners of a product that are listed where its parts are not about one center
_MOST_CORNERS = 2.0**12  # of a product whose image is taken


def checked_product(parts: Sequence[AbstractDomain]) -> Product:
    """Return the parts side by side, those of products one by one.

    Raises:
        DomainError: where one is of a kind that does not combine.
    """
    own: list[AbstractDomain] = []
    for part in parts:
        own += part.parts if isinstance(part, Product) else [part]
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
@dataclass(frozen=True, eq=False)
class Product(AbstractCompound):
    """All (x, y, …), each from its own domain; made by `ln.product`.

    Args:
        parts: one or more.
    """

    parts: tuple[AbstractDomain, ...]

    @cached_property
    def program(self) -> ProductSet:
        """The parts' sets side by side."""
        return ProductSet(tuple(part.known_set() for part in self.parts))

    @property
    def inner(self) -> tuple[AbstractDomain, ...]:
        """The parts."""
        return self.parts

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
    def listed(self) -> Vector | None:
        """All its corners, shape (N, d), where they are few and known exactly, else None."""
        exact = all(part.exact_corners for part in self.parts)
        return self._combined(_FEW) if exact else None

    def corners(self) -> Vector | None:
        """Return all combinations of the parts' corners, shape (N, d); None where they are many."""
        return self._combined(_MOST_CORNERS)

    def _combined(self, most: float) -> Vector | None:
        found = [part.corners() for part in self.parts]
        own = [each for each in found if each is not None]
        if len(own) < len(found) or np.prod([float(len(each)) for each in own]) > most:
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
        return list(zip(self.parts, self.program.blocks, strict=True))

    def coordinates(self) -> Coordinates:
        """Return those of the parts; what never moves is left out."""
        own = [_moving(part.coordinates(), self.reach[at] > 0) for part, at in self._placed]
        starts = [at.start for at in self.program.blocks]
        pivots = np.concatenate([part.pivots + at for part, at in zip(own, starts, strict=True)])
        embed = None
        if any(part.embed is not None for part in own):
            embed = np.zeros((self.dimension, pivots.size))
            j = 0
            for part, at in zip(own, self.program.blocks, strict=True):
                k = part.pivots.size
                embed[at, j : j + k] = np.eye(k) if part.embed is None else part.embed
                j += k
            embed = frozen(embed)
        return Coordinates(pivots=pivots, embed=embed, start=self.center)

    def _shares(self, pivots: Integers) -> list[tuple[AbstractDomain, slice, Integers, Chosen]]:
        """Return each part that some coordinates are of, its place, which of its own they are."""
        found = []
        for part, at in self._placed:
            kept = (pivots >= at.start) & (pivots < at.stop)
            if np.any(kept):  # a single point changes nothing
                found.append((part, at, pivots[kept] - at.start, kept))
        return found

    def differences(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return the differences of the parts side by side."""
        whole = OracleDifferences(self.program, pivots, step)
        own = [part.differences(of, step[kept]) for part, _, of, kept in self._shares(pivots)]
        return _joint(whole, pivots, own)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> AbstractBody:
        """Return a record with its count: the parts' side by side, or the corners of few.

        The count joins parts that are not about their centers: there the corners prove more.
        """
        if self.listed is not None:
            return Polytope(self.listed).lifted(pivots, step, center)
        whole = LiftedOracle(self.program, pivots, step, center)
        own = [
            part.lifted(of, step[kept], center[at]) for part, at, of, kept in self._shares(pivots)
        ]
        return _joint(whole, pivots, own)

    def translates(self, pivots: Integers) -> AbstractBody:
        """Return where the parts can be, side by side."""
        whole = OracleBody(self.program, pivots, np.ones(pivots.size))
        shares = self._shares(pivots)
        if len(shares) < len(self.parts):
            return whole
        own = [part.translates(of) for part, _, of, _ in shares]
        at = [
            np.zeros(of.size) if body.moves else part.center[of]
            for body, (part, _, of, _) in zip(own, shares, strict=True)
        ]
        return JointBody(whole, tuple(own), frozen(np.concatenate(at)))

    def enclosed(self) -> tuple[AbstractBody, Vector]:
        """Return the parts side by side, each about its own point."""
        d = self.dimension
        whole = OracleBody(self.program, np.arange(d), np.ones(d))
        own = [part.enclosed() for part in self.parts]
        at = frozen(np.concatenate([about for _, about in own]))
        return JointBody(whole, tuple(body for body, _ in own), at), np.zeros(d)

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

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each part's share clipped to that part."""
        rows = np.asarray(points, dtype=np.float64)
        return np.concatenate([part.clamp(rows[..., at]) for part, at in self._placed], axis=-1)


def _joint(whole: AbstractOracleBody, pivots: Integers, own: list[AbstractBody]) -> AbstractBody:
    in_turn = bool(np.all(np.diff(pivots) > 0))
    return JointBody(whole, tuple(own)) if in_turn and own else whole


def _moving(found: Coordinates, moves: Chosen) -> Coordinates:
    """Return the coordinates of a part, those left out that never move."""
    if found.embed is not None or np.all(moves):
        return found
    wide = np.flatnonzero(moves)
    embed = frozen(np.eye(moves.size)[:, wide])
    return Coordinates(pivots=wide, embed=embed, start=found.start)
