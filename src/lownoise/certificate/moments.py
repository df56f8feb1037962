# SPDX-License-Identifier: Apache-2.0
"""Evidence about moments: a measure on a few records, or pairs, and all that keeps their domain.

Averaged over what turns records, zᵢ and zᵢzⱼ (i < j) are no more correlated with anything, so that
the second moment C of what they change is diagonal but for one block of the squares and the count:
tr (G^{1/2} C G^{1/2})^{1/2} is a sum of roots and of what the block has, and no matrix of all
moments is formed.

*Of a box* a flip takes one of the columns to its opposite about the middle.

*Of a ball* (ours) records are turned in two ways. A rotation of a record, or of both of a pair,
makes what zzᵀ has, or differs by, without its trace either diagonal or 0 on the diagonal: any
symmetric matrix of trace 0 can be both. All flips of signs and orders of columns of the first have
its |D|² in d − 1 directions of squares, of those of the second in the d(d − 1) products, evenly;
and nothing else is correlated. z has E|z|²/d in each coordinate, the trace what it has beside a
count. No list of rotations is formed. With d/(d + 2) of the second it is that of all rotations.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.certificate.evidence import EVIDENCE, QUERY_WEIGHTS, AbstractDual, Moments, weighed
from lownoise.certificate.pairing import about_mean
from lownoise.kinds import NONNEGATIVE, PACKED, Field
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import BallMomentSet, LiftedOracle, MomentSet, OracleDifferences

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape

_LOST = 2.0**-40  # of a root, of what differences of z and products with steps round
_MEASURE = (QUERY_WEIGHTS, Field("points", PACKED), Field("vertex_weights", NONNEGATIVE))


@final
@dataclass(frozen=True, eq=False)
class _Parts:
    """A second moment: squares of roots, and of what the block has.

    Args:
        weights: of the points, shape (n,).
        kept: which moments are of no block, shape (a,).
        roots: at most the roots of their second moments, shape (a,).
        places: which make the block, shape (b,).
        even: rows of the block that are of all points together, shape (k, b).
        block: what they are at each point beside those, shape (n, b).
        off: how far those can be off, times the roots of weights, summed, shape (b,).
    """

    weights: Vector
    kept: Integers
    roots: Vector
    places: Integers
    even: Vector
    block: Vector
    off: Vector


class _AbstractAveraged(AbstractDual):
    """A measure on records, or on pairs of them, averaged over what keeps their domain."""

    most_rows: ClassVar[float] = 1000

    vertex_weights: Vector

    @abstractmethod
    def _parts(self, changes: Any) -> _Parts:  # noqa: ANN401 (as of all kinds)
        """Return what the second moment is made of.

        Raises:
            PlanError: where it is no measure on that body.
        """

    def moments(self, changes: Any, *, counted: bool = False) -> Moments:  # noqa: ANN401
        """Return a row a moment, and rows of the squares and the count, those of points last.

        Raises:
            PlanError: where it does not fit, or moments are too many for rows of all of them.
        """
        parts = self._parts(changes)
        d = changes.dimension - counted
        if d > self.most_rows:
            raise self.misfit()
        even, block, places, off = parts.even, parts.block, parts.places, parts.off
        mean = np.zeros(d)
        if counted:
            even, block, places, off = even[:, :-1], block[:, :-1], places[:-1], off[:-1]
            mean[places] = parts.weights @ block
            block, doubt = about_mean(block, parts.weights)
            off = off + doubt
        own = np.vstack([even, np.sqrt(parts.weights)[:, None] * block])
        rows = np.zeros((parts.roots.size + len(own), d))
        rows[np.arange(parts.roots.size), parts.kept] = parts.roots
        rows[parts.roots.size :, places] = own
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
        parts = self._parts(changes)
        alone = math.fsum(shrunk(asked[parts.kept] * parts.roots, 2.0**-45))
        own = np.vstack([parts.even, np.sqrt(parts.weights)[:, None] * parts.block])
        rows = Moments(own, np.zeros(parts.off.size), parts.off)
        return alone + rows.paired(asked[parts.places], None, None)


@EVIDENCE.kind("flips", *_MEASURE, make=lambda **own: FlipDual(*weighed(**own)))
@final
@dataclass(frozen=True, eq=False)
class FlipDual(_AbstractAveraged):
    """A measure on records, or on pairs of them, each with all flips of both of its records.

    Args:
        points: z in [−1, 1]^d, about the middle in half widths, shape (n, d); of pairs the second
            beside the first, shape (n, 2d).
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def points_needed(self, changes: Any, answers: int) -> int:  # noqa: ANN401 (as of all kinds)
        """Return how many have weight, flips of signs among them."""
        most = super().points_needed(changes, answers)
        flips = min(changes.program.width, 60)  # beyond, more than any table has
        return int(min(int(np.count_nonzero(self.vertex_weights)) << flips, most))

    def _parts(self, changes: Any) -> _Parts:  # noqa: ANN401
        own: Any = changes
        of: Any = getattr(changes, "program", None)
        pairs = isinstance(own, OracleDifferences)
        fits = isinstance(of, MomentSet) and (pairs or isinstance(own, LiftedOracle))
        if not fits or own.pivots.size != own.program.dimension:
            raise self.misfit()
        d, z = of.width, self.points
        sound = z.ndim == 2 and z.shape[1] == (2 * d if pairs else d) and np.all(np.abs(z) <= 1)  # noqa: PLR2004
        if not pairs:
            sound = sound and of.flips(own.origin)
        w = self.shares(self.vertex_weights, len(z), fits=bool(sound))
        left, right = of.pairs
        first, second = (z[:, :d], z[:, d:]) if pairs else (z, None)
        change = np.hstack([first, first[:, left] * first[:, right]])
        squares = np.square(first)
        if second is not None:
            change -= np.hstack([second, second[:, left] * second[:, right]])
            squares = squares - np.square(second)
        kept = np.append(np.arange(d), of.products)
        unit = of.inner / own.step
        roots = np.sqrt(w @ np.square(change)) * (1 - _LOST) - 2.0**-50
        block, places = squares * unit[of.squares], of.squares
        size = unit[of.squares]
        if not pairs:
            places = np.append(places, of.dimension)
            away = own.origin[of.squares] / own.step[of.squares]
            block = np.hstack([block - away, np.full((len(z), 1), own.count)])
            size = np.append(size + np.abs(away), own.count)
        off = growth(20) * float(np.sum(np.sqrt(w))) * size
        none = np.zeros((0, places.size))
        return _Parts(w, kept, np.maximum(roots, 0.0) * unit[kept], places, none, block, off)


@EVIDENCE.kind("turned", *_MEASURE, make=lambda **own: TurnedDual(*weighed(**own)))
@final
@dataclass(frozen=True, eq=False)
class TurnedDual(_AbstractAveraged):
    """A measure on records, or on pairs of them, turned.

    Args:
        points: of records their length |z| in radii, shape (n, 2); of pairs both lengths and the
            cosine of the angle between them, shape (n, 4). And last which share of them is turned
            so that squares differ by as much as the trace says, and products beside them more.
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

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

    def _parts(self, changes: Any) -> _Parts:  # noqa: ANN401
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
        block, places, size = self._trace(changes), of.squares, unit[of.squares]
        if x.shape[1] == 2:  # noqa: PLR2004 (of records)
            even = np.hstack([even, np.zeros((d, 1))])
            block = np.hstack([block, np.full((len(x), 1), changes.count)])
            places = np.append(places, of.dimension)
            away = np.abs(changes.origin[of.squares] / changes.step[of.squares])
            size = np.append(size + away, changes.count)
        off = growth(40) * (d + float(np.sum(np.sqrt(w)))) * size
        return _Parts(w, kept, alone, places, even, block, off)
