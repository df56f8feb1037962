# SPDX-License-Identifier: Apache-2.0
"""Evidence about moments of a ball: a measure on few records, or pairs, turned in two ways (ours).

A rotation of a record, or of both of a pair, makes what zzᵀ has, or differs by, without its trace
either diagonal or 0 on the diagonal: any symmetric matrix of trace 0 can be both. All flips of
signs and orders of columns of the first have its |D|² in d − 1 directions of squares, of those of
the second in the d(d − 1) products, evenly; and nothing else is correlated. z has E|z|²/d in each
coordinate, the trace what it has beside a count. So the second moment is diagonal but for a block
of the squares and the count, and no list of rotations is formed. With d/(d + 2) of the second it is
that of all rotations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.certificate.evidence import EVIDENCE, QUERY_WEIGHTS, AbstractDual, Moments, weighed
from lownoise.certificate.pairing import about_mean
from lownoise.kinds import NONNEGATIVE, PACKED, Field
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import BallMomentSet, LiftedOracle, OracleDifferences

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

_LOST = 2.0**-40  # of a root: what few roundings take of it


@EVIDENCE.kind(
    "turned",
    QUERY_WEIGHTS,
    Field("points", PACKED),
    Field("vertex_weights", NONNEGATIVE),
    make=lambda **own: TurnedDual(*weighed(**own)),
)
@final
@dataclass(frozen=True, eq=False)
class TurnedDual(AbstractDual):
    """A measure on records, or on pairs of them, turned.

    Args:
        points: of records their length |z| in radii, shape (n, 2); of pairs both lengths and the
            cosine of the angle between them, shape (n, 4). And last which share of them is turned
            so that squares differ by as much as the trace says, and products beside them more.
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    most_rows: ClassVar[float] = 1000

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: Any, *, counted: bool = False) -> Moments:  # noqa: ANN401
        """Return a row a moment, and rows of the squares and the count.

        Raises:
            PlanError: where it does not fit, or moments are too many for rows of all of them.
        """
        alone, block, kept, places, off = self._parts(changes)
        d = changes.dimension - counted
        if d > self.most_rows:
            raise self.misfit()
        mean = np.zeros(d)
        if counted:
            shares, trace = self._shares(changes), self._trace(changes)
            own, doubt = about_mean(trace, shares)
            mean[places[:-1]] = shares @ trace
            block = np.vstack([block[: -len(trace), :-1], np.sqrt(shares)[:, None] * own])
            places, off = places[:-1], off[:-1] + doubt
        rows = np.zeros((alone.size + len(block), d))
        rows[np.arange(alone.size), kept] = alone
        rows[alone.size :, places] = block
        lost = np.zeros(d)
        lost[places] = off
        return Moments(rows, mean, lost)

    def fidelity(
        self,
        changes: Any,  # noqa: ANN401 (as of all kinds)
        asked: Vector,
        embed: Vector | None,
        initial: AbstractShape | None,
    ) -> float:
        """Return at most the sum of roots of all but the block, and the block's nuclear norm."""
        if embed is not None:
            raise self.misfit()
        alone, block, kept, places, off = self._parts(changes)
        own = math.fsum(shrunk(asked[kept] * alone, 2.0**-45))
        return own + Moments(block, np.zeros(off.size), off).paired(asked[places], None, None)

    def _shares(self, changes: Any) -> Vector:  # noqa: ANN401
        """Return the weights, of sum 1.

        Raises:
            PlanError: where it is no measure on that body.
        """
        own: Any = changes
        pairs = isinstance(own, OracleDifferences)
        fits = pairs or isinstance(own, LiftedOracle)
        of: Any = own.program if fits else None
        fits = fits and isinstance(of, BallMomentSet) and own.pivots.size == of.dimension
        x = self.points
        sound = x.ndim == 2 and x.shape[1] == (4 if pairs else 2) and np.all(np.abs(x) <= 1)  # noqa: PLR2004
        sound = sound and np.all(x[:, -1] >= 0)
        if fits and not pairs:
            away = own.origin[of.squares]
            sound = sound and of.flips(own.origin) and np.all(away == away[0])
        return self.shares(self.vertex_weights, len(x), fits=bool(fits and sound))

    def _trace(self, changes: Any) -> Vector:  # noqa: ANN401
        """Return what each point has in each square of its trace's even part, shape (n, d)."""
        of, d = changes.program, changes.program.width
        unit = (of.inner / changes.step)[of.squares]
        trace = np.square(self.points[:, 0])
        if self.points.shape[1] > 2:  # noqa: PLR2004 (of pairs)
            return np.outer((trace - np.square(self.points[:, 1])) / d, unit)
        away = changes.origin[of.squares] / changes.step[of.squares]
        return np.asarray(np.outer(trace / d, unit) - away)

    def _parts(self, changes: Any) -> tuple[Vector, Vector, Vector, Vector, Vector]:  # noqa: ANN401
        """Return what the second moment is the square of.

        Returns:
            The roots of all but the block, at most; rows of the block, those of points last; where
            both stand; and how far the block can be off.

        Raises:
            PlanError: where it is no measure on that body.
        """
        w, x = self._shares(changes), self.points
        of, d = changes.program, changes.program.width
        unit = of.inner / changes.step
        first, second = np.square(x[:, 0]), np.zeros(len(x))
        moved, apart = first, np.square(first) * (1 - 1 / d)
        if x.shape[1] > 2:  # noqa: PLR2004 (of pairs)
            second, along = np.square(x[:, 1]), x[:, 0] * x[:, 1] * x[:, 2]
            moved = first + second - 2 * along
            apart = np.square(first) + np.square(second) - 2 * np.square(along)
            apart = apart - np.square(first - second) / d
        # sizes of up to 4, which cancel
        parts = (moved, apart * x[:, -1] / (d * (d - 1)), apart * (1 - x[:, -1]) / (d - 1))
        moved, each, squares = (np.maximum(w @ own - 2.0**-44, 0.0) for own in parts)
        kept = np.append(np.arange(d), of.products)
        roots = np.append(np.full(d, moved / d), np.full(of.products.size, each))
        alone = np.sqrt(roots) * (1 - _LOST) * unit[kept]
        even = np.sqrt(squares) * (1 - _LOST) * (np.eye(d) - 1 / d) * unit[of.squares]
        trace = np.sqrt(w)[:, None] * self._trace(changes)
        places, size = of.squares, unit[of.squares]
        if x.shape[1] == 2:  # noqa: PLR2004 (of records)
            count = np.append(np.zeros(d), np.sqrt(w) * changes.count)[:, None]
            places = np.append(places, of.dimension)
            away = np.abs(changes.origin[of.squares] / changes.step[of.squares])
            size = np.append(size + away, changes.count)
            block = np.hstack([np.vstack([even, trace]), count])
        else:
            block = np.vstack([even, trace])
        off = growth(40) * (d + float(np.sum(np.sqrt(w)))) * size
        return alone, block, kept, places, off
