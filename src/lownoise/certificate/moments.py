# SPDX-License-Identifier: Apache-2.0
"""Evidence about moments: a measure on a few records, or pairs, and all flips of their signs.

A flip takes one of the columns to its opposite about the middle. Averaged over all of them, zᵢ and
zᵢzⱼ (i < j) are no more correlated with anything, so that the second moment C of what they change
is diagonal but for one block of the squares and the count: tr (G^{1/2} C G^{1/2})^{1/2} is a sum of
roots and of what the block has, and no matrix of all moments is formed.
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
from lownoise.sets.bodies import LiftedOracle, MomentSet, OracleDifferences

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape

_LOST = 2.0**-40  # of a root, of what differences of z and products with steps round


@EVIDENCE.kind(
    "flips",
    QUERY_WEIGHTS,
    Field("points", PACKED),
    Field("vertex_weights", NONNEGATIVE),
    make=lambda **own: FlipDual(*weighed(**own)),
)
@final
@dataclass(frozen=True, eq=False)
class FlipDual(AbstractDual):
    """A measure on records, or on pairs of them, each with all flips of both of its records.

    Args:
        points: z in [−1, 1]^d, about the middle in half widths, shape (n, d); of pairs the second
            beside the first, shape (n, 2d).
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    most_rows: ClassVar[float] = 1000

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: Any, *, counted: bool = False) -> Moments:  # noqa: ANN401
        """Return a row a moment, and a row a point of the squares and the count.

        Raises:
            PlanError: where it does not fit, or moments are too many for rows of all of them.
        """
        parts = self._parts(changes)
        d = changes.dimension - counted
        if d > self.most_rows:
            raise self.misfit()
        block, places, off = parts.block, parts.places, parts.off
        mean = np.zeros(d)
        if counted:
            block, places, off = block[:, :-1], places[:-1], off[:-1]
            mean[places] = parts.weights @ block
            block, doubt = about_mean(block, parts.weights)
            off = off + doubt
        rows = np.zeros((parts.roots.size + len(block), d))
        rows[np.arange(parts.roots.size), parts.kept] = parts.roots
        rows[parts.roots.size :, places] = np.sqrt(parts.weights)[:, None] * block
        lost = np.zeros(d)
        lost[places] = off
        return Moments(rows, mean, lost)

    def points_needed(self, changes: Any, answers: int) -> int:  # noqa: ANN401 (as of all kinds)
        """Return how many have weight, flips of signs among them."""
        most = super().points_needed(changes, answers)
        flips = min(changes.program.width, 60)  # beyond, more than any table has
        return int(min(int(np.count_nonzero(self.vertex_weights)) << flips, most))

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
        root = np.sqrt(parts.weights)[:, None]
        rows = Moments(root * parts.block, np.zeros(parts.off.size), parts.off)
        return alone + rows.paired(asked[parts.places], None, None)

    def _parts(self, changes: Any) -> _Parts:  # noqa: ANN401
        """Return what the second moment is made of.

        Raises:
            PlanError: where it is no measure on that body.
        """
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
        return _Parts(w, kept, np.maximum(roots, 0.0) * unit[kept], places, block, off)


@final
@dataclass(frozen=True, eq=False)
class _Parts:
    """A second moment over all flips: squares of roots, and of what the block has.

    Args:
        weights: of the points, shape (n,).
        kept: which moments are of no block, shape (a,).
        roots: at most the roots of their second moments, shape (a,).
        places: which make the block, shape (b,).
        block: what they are at each point, shape (n, b).
        off: how far those can be off, times the roots of weights, summed, shape (b,).
    """

    weights: Vector
    kept: Integers
    roots: Vector
    places: Integers
    block: Vector
    off: Vector
