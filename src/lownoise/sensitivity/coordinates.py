# SPDX-License-Identifier: Apache-2.0
"""Which integers a release needs, and how its answers follow from them.

Where records keep to a flat (one-hot rows add up to 1) only some coordinates are summed and get
noise; the others follow from them exactly, because they do in every record. So noise never leaves
the flat, and nothing has to be regularised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.changes import changes, parity_changes, sensitivity_body
from lownoise.sensitivity.frames import find_frame
from lownoise.sensitivity.relations import Change
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    JointBody,
    OracleBody,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
    TranslatedPoints,
)
from lownoise.sets.domains import (
    AbstractClampedDomain,
    AbstractKnownDomain,
    BallPower,
    Box,
    CubePower,
    Points,
    Polytope,
    Product,
    as_image,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sensitivity.changes import Body
    from lownoise.sensitivity.relations import Relation

_MOST_COPIES = 10**7  # numbers in the table of what each entry copies
_OFF = 1e-9  # of a column's range: how far a listed point may be from what its pivots say


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Coordinates:
    """The coordinates of a domain that are summed.

    Args:
        pivots: which ones, rising, shape (r,).
        embed: all coordinates from those, shape (d, r): x = start + embed·(x − start)[pivots];
            None where nothing is left out.
        start: a point of the flat, shape (d,).
        implied: whether the domain says all of this, so that a file need not.
    """

    pivots: Integers
    embed: Vector | None
    start: Vector
    implied: bool = False

    def answers(self, center: Vector | None, about: Vector | None = None) -> Vector | None:
        """Return the matrix from summed to answered coordinates, None where it is the identity.

        Args:
            center: under `add_remove` the point that answered sums are taken about; a row and a
                column for the count are then added. None under `substitute`: changes only, shape
                (d, r).
            about: the point that the summed ones are taken about; by default the same.
        """
        if center is None:
            return self.embed
        same = about is None or np.array_equal(about, center)
        if self.embed is None and same:
            return None
        d, r = self.start.size, self.pivots.size
        embed = np.eye(d) if self.embed is None else self.embed
        moved = np.zeros(d) if about is None else about - center
        away = self.start - center - moved
        constant = away - embed @ away[self.pivots]
        constant[self.pivots] = 0.0
        matrix = np.zeros((d + 1, r + 1))
        matrix[:d, :r], matrix[:d, r], matrix[d, r] = embed, constant + moved, 1.0
        return matrix


@singledispatch
def coordinates(domain: object) -> Coordinates:
    """Return the coordinates of `domain` that need to be summed.

    Raises:
        DomainError: where the domain is of another kind.

    Examples:
        >>> coordinates(Points(np.eye(3))).pivots.size
        2
    """
    raise DomainError(f"domain={type(domain).__name__} has no known coordinates; use ln.Points")


@coordinates.register(Box)
def _(domain: Box) -> Coordinates:
    return Coordinates(pivots=np.arange(domain.dimension), embed=None, start=domain.center)


@coordinates.register(Points)
@coordinates.register(Polytope)
def _(domain: Points | Polytope) -> Coordinates:
    frame = find_frame(TranslatedPoints(domain.points), None)
    embed = None if frame.embed is None else frozen(frame.embed.T.copy())
    return Coordinates(pivots=frame.pivots, embed=embed, start=domain.points[0])


@coordinates.register(AbstractClampedDomain)
def _(domain: AbstractClampedDomain) -> Coordinates:
    every = np.arange(domain.dimension)
    if domain.full:
        return Coordinates(pivots=every, embed=None, start=domain.center)
    frame = find_frame(SymmetricPoints(domain.spanning), None)
    embed = None if frame.embed is None else frozen(frame.embed.T.copy())
    return Coordinates(pivots=frame.pivots, embed=embed, start=domain.center)


@coordinates.register(Product)
def _(domain: Product) -> Coordinates:
    own = [
        _moving(coordinates(part), domain.reach[at] > 0)
        for part, at in zip(domain.parts, domain.program.blocks, strict=True)
    ]
    starts = [at.start for at in domain.program.blocks]
    pivots = np.concatenate([part.pivots + at for part, at in zip(own, starts, strict=True)])
    embed = None
    if any(part.embed is not None for part in own):
        embed = np.zeros((domain.dimension, pivots.size))
        j = 0
        for part, at in zip(own, domain.program.blocks, strict=True):
            k = part.pivots.size
            embed[at, j : j + k] = np.eye(k) if part.embed is None else part.embed
            j += k
        embed = frozen(embed)
    return Coordinates(pivots=pivots, embed=embed, start=domain.center)


def _moving(found: Coordinates, moves: Chosen) -> Coordinates:
    """Return the coordinates of a part, those left out that never move."""
    if found.embed is not None or np.all(moves):
        return found
    wide = np.flatnonzero(moves)
    embed = frozen(np.eye(moves.size)[:, wide])
    return Coordinates(pivots=wide, embed=embed, start=found.start)


@coordinates.register(CubePower)
@coordinates.register(BallPower)
def _(domain: CubePower | BallPower) -> Coordinates:
    k = domain.pivots.size
    if domain.dimension * k > _MOST_COPIES:
        raise DomainError(
            f"TensorPower.power={domain.power} has {domain.dimension:,} entries of {k:,} different "
            "ones, a table beyond 10^7 numbers; give fewer dimensions or a lower power",
        )
    embed = np.zeros((domain.dimension, k))
    used = np.flatnonzero(domain.copies >= 0)
    embed[used, domain.copies[used]] = 1.0
    return Coordinates(
        pivots=domain.pivots,
        embed=None if domain.power == 1 else frozen(embed),
        start=domain.center,
        implied=True,
    )


def summed_body(
    domain: AbstractClampedDomain | Box | CubePower | Points,
    relation: Relation,
    center: Vector,
    chosen: Coordinates,
) -> Body:
    """Return the body of all changes to the summed coordinates, and under `add_remove` the count.

    Args:
        domain: K.
        relation: what a neighbour is.
        center: the public point v; only `add_remove` looks at it.
        chosen: the coordinates that are summed.
    """
    if isinstance(relation, Change):
        ones = np.ones(chosen.pivots.size)
        return relation.changes(chosen.pivots, ones, mixed=chosen.embed is not None)
    if isinstance(domain, CubePower):
        size = np.full(chosen.pivots.size, domain.value)
        return parity_changes(size, domain, relation, (domain.center - center)[chosen.pivots])
    if chosen.embed is None:
        return sensitivity_body(domain, relation, center)
    if isinstance(domain, AbstractClampedDomain):
        return changes(domain, relation, center, chosen.pivots, np.ones(chosen.pivots.size))
    assert isinstance(domain, Points)  # noqa: S101 (only points leave coordinates out)
    kept = np.ascontiguousarray(domain.points[:, chosen.pivots])
    if relation == "substitute":
        return PointDifferences(frozen(kept))
    about = kept - center[chosen.pivots]
    return SymmetricPoints(frozen(np.hstack([about, np.ones((len(about), 1))])))


def check_change(
    change: Change, domain: AbstractClampedDomain | Box | CubePower | Points, chosen: Coordinates
) -> None:
    """Refuse a body of changes that does not go with the domain of the records.

    Args:
        change: what one record can change by.
        domain: K.
        chosen: the coordinates of K that are summed.

    Raises:
        PlanError: where the body has other coordinates, allows no change at all, or allows one that
            leaves the flat that the domain keeps to.
        DomainError: where the body is of a kind whose changes are not known.
    """
    body, d = change.body, domain.dimension
    if body.dimension != d:
        raise PlanError(
            f"relation is a body of {body.dimension} coordinates for records of {d}; "
            "give one that holds changes of a record",
        )
    changes = change.changes(np.arange(d), np.ones(d), mixed=chosen.embed is not None)
    moved = changes.widths() > 0
    if not np.any(moved):
        raise PlanError("relation is a body of no width, so nothing would be hidden; give a wider")
    off = moved & (domain.lower == domain.upper)
    if chosen.embed is not None and not isinstance(changes, SymmetricBox):
        rows = changes.spanning - changes.directions
        follows = rows[:, chosen.pivots] @ chosen.embed.T
        size = np.abs(rows) + np.abs(rows[:, chosen.pivots]) @ np.abs(chosen.embed.T)
        off |= np.max(np.abs(rows - follows), axis=0) > _OFF * np.max(size, axis=0)
    if np.any(off):
        raise PlanError(
            f"relation changes coordinate {int(np.flatnonzero(off)[0])} as the domain's points "
            "never do: they keep to a flat; give a body of changes within it, as by ln.image",
        )


def still_body(
    domain: AbstractClampedDomain | Box | CubePower | Points, center: Vector, chosen: Coordinates
) -> Body:
    """Return where the summed coordinates of a record can be, without its count."""
    if isinstance(domain, CubePower):
        return ImageBody(frozen(np.full(chosen.pivots.size, domain.value)), domain.base)
    if isinstance(domain, (Points, Polytope)):
        return TranslatedPoints(np.ascontiguousarray(domain.points[:, chosen.pivots]))
    if isinstance(domain, Product):
        return _still_product(domain, center, chosen)
    if isinstance(domain, AbstractKnownDomain):
        return OracleBody(domain.program, chosen.pivots, np.ones(chosen.pivots.size))
    if isinstance(domain, AbstractClampedDomain):
        # what lies about its center reaches half as far as differences, at least
        step = np.full(chosen.pivots.size, 2.0)
        return changes(domain, "substitute", center, chosen.pivots, step)
    whole = sensitivity_body(domain, "add_remove", center)
    assert isinstance(whole, SymmetricBox)  # noqa: S101 (what the body of a box is)
    return SymmetricBox(frozen(whole.half_width[:-1]))


def _still_product(domain: Product, center: Vector, chosen: Coordinates) -> Body:
    pivots, program = chosen.pivots, domain.program
    whole = OracleBody(program, pivots, np.ones(pivots.size))
    own, at = [], []
    for part, block in zip(domain.parts, program.blocks, strict=True):
        kept = pivots[(pivots >= block.start) & (pivots < block.stop)] - block.start
        known = as_image(part) or part if isinstance(part, Box) else part
        if not kept.size or not isinstance(known, (AbstractClampedDomain, CubePower, Points)):
            return whole
        few = Coordinates(pivots=kept, embed=None, start=known.center)
        body = still_body(known, center[block], few)
        if not isinstance(body, AbstractBody):
            return whole
        own.append(body)
        at.append(np.zeros(kept.size) if body.moves else known.center[kept])
    return JointBody(whole, tuple(own), frozen(np.concatenate(at)))


def fits(domain: AbstractClampedDomain | Box | CubePower | Points, chosen: Coordinates) -> bool:
    """Return whether every point of the domain is what its summed coordinates say."""
    if isinstance(domain, (BallPower, CubePower)):
        return chosen.implied
    d = domain.dimension
    rising = bool(np.all(np.diff(chosen.pivots) > 0))
    if chosen.pivots.size and not (chosen.pivots[0] >= 0 and chosen.pivots[-1] < d):
        return False
    if chosen.embed is None:
        return chosen.pivots.size == d and rising
    if isinstance(domain, Box) or chosen.embed.shape != (d, chosen.pivots.size):
        return False
    if isinstance(domain, AbstractClampedDomain) and not isinstance(domain, Polytope):
        about = domain.spanning
        most = np.abs(about).sum(axis=0)
    else:
        about, most = domain.points - chosen.start, domain.upper - domain.lower
    off = np.max(np.abs(about - about[:, chosen.pivots] @ chosen.embed.T), axis=0)
    return rising and bool(np.all(off <= _OFF * most))
