# SPDX-License-Identifier: Apache-2.0
"""Which integers a release needs, and how its answers follow from them.

Where records keep to a flat (one-hot rows add up to 1) only some coordinates are summed and get
noise; the others follow from them exactly, because they do in every record. So noise never leaves
the flat, and nothing has to be regularised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricPoints, TranslatedPoints
from lownoise.sets.frames import find_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.bodies import AbstractBody

OFF = 1e-9  # of a column's range: how far a listed point may be from what its pivots say


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

    @property
    def stated(self) -> dict[str, Any]:
        """What a file says of them, as JSON values: nothing where all follows from the domain."""
        if self.embed is None or self.implied:
            return {}
        return {"pivots": self.pivots.tolist(), "embed": self.embed.tolist()}

    @property
    def complete(self) -> bool:
        """Whether every coordinate is summed, in order."""
        return self.embed is None and np.array_equal(self.pivots, np.arange(self.start.size))

    def fits(self, about: Vector, most: Vector) -> bool:
        """Return whether points are what their summed coordinates say.

        Args:
            about: the points, about one of the flat, shape (n, d).
            most: the size of each coordinate, shape (d,).
        """
        d, pivots = self.start.size, self.pivots
        if self.embed is None:
            return self.complete
        inside = not pivots.size or bool(pivots[0] >= 0 and pivots[-1] < d)
        if not inside or not np.all(np.diff(pivots) > 0) or self.embed.shape != (d, pivots.size):
            return False
        off = np.max(np.abs(about - about[:, pivots] @ self.embed.T), axis=0)
        return bool(np.all(off <= OFF * most))

    def moving(self, moves: Chosen) -> Coordinates:
        """Return them less those that never move, where all were summed; `moves` has shape (d,)."""
        if self.embed is not None or np.all(moves):
            return self
        wide = np.flatnonzero(moves)
        embed = frozen(np.eye(moves.size)[:, wide])
        return Coordinates(pivots=wide, embed=embed, start=self.start)

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


def every_coordinate(start: Vector) -> Coordinates:
    """Return all coordinates, about a point of the flat, shape (d,)."""
    return Coordinates(pivots=np.arange(start.size), embed=None, start=start)


def counted_coordinates(matrix: Vector, *, public: bool) -> Coordinates:
    """Return which rows of a matrix are summed, and how all follow, where records add its columns.

    Where the number of records is public changes are what counts, and all is about the first
    column: a row that has one number for all records follows from the public number.

    Args:
        matrix: shape (m, N).
        public: whether it is.
    """
    columns = matrix.T
    body = TranslatedPoints(columns) if public else SymmetricPoints(columns)
    return pivot_coordinates(body, frozen(columns[0].copy() if public else np.zeros(len(matrix))))


def coordinates_beside(parts: Sequence[Coordinates], start: Vector) -> Coordinates:
    """Return those of a product by those of its parts, about a point of the flat, shape (d,)."""
    starts = np.cumsum([0, *(part.start.size for part in parts)])
    own = zip(parts, starts[:-1], strict=True)
    pivots = np.concatenate([part.pivots + at for part, at in own])
    embed = None
    if any(part.embed is not None for part in parts):
        from scipy.linalg import block_diag

        rows = [np.eye(p.pivots.size) if p.embed is None else p.embed for p in parts]
        embed = frozen(block_diag(*rows))
    return Coordinates(pivots=pivots, embed=embed, start=start)


def pivot_coordinates(body: AbstractBody, start: Vector) -> Coordinates:
    """Return coordinates that give the others on the span of a body.

    Args:
        body: in d coordinates.
        start: a point of the flat, shape (d,).
    """
    frame = find_frame(body, None)
    embed = None if frame.embed is None else frozen(frame.embed.T.copy())
    if embed is not None:  # least squares leave dust on whole numbers, which are taken if they fit
        about, whole = body.spanning - body.base_point, np.rint(embed)
        if np.array_equal(about[:, frame.pivots] @ whole.T, about):
            embed = frozen(whole)
    return Coordinates(pivots=frame.pivots, embed=embed, start=start)
