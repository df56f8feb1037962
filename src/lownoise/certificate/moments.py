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
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.evidence import EVIDENCE, QUERY_WEIGHTS, AbstractDual, Moments, weighed
from lownoise.kinds import NONNEGATIVE, PACKED, Field
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import LiftedOracle, MomentSet, OracleDifferences

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
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

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: Any, *, counted: bool = False) -> Moments:  # noqa: ANN401
        """Refuse: of all flips no list is formed.

        Raises:
            PlanError: always.
        """
        raise self.misfit()

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
        own: Any = changes
        of: Any = getattr(changes, "program", None)
        pairs = isinstance(own, OracleDifferences)
        fits = isinstance(of, MomentSet) and (pairs or isinstance(own, LiftedOracle))
        if not fits or embed is not None or own.pivots.size != own.program.dimension:
            raise self.misfit()
        d, z = of.width, self.points
        sound = z.ndim == 2 and z.shape[1] == (2 * d if pairs else d) and np.all(np.abs(z) <= 1)  # noqa: PLR2004
        if not pairs:
            sound = sound and of.flips(own.origin)
        w = self.shares(self.vertex_weights, len(z), fits=bool(sound))
        left, right = of.pairs
        first, second = (z[:, :d], z[:, d:]) if pairs else (z, None)
        moved = np.hstack([first, first[:, left] * first[:, right]])
        squares = np.square(first)
        if second is not None:
            moved -= np.hstack([second, second[:, left] * second[:, right]])
            squares = squares - np.square(second)
        kept = np.append(np.arange(d), of.products)
        unit = of.inner / own.step
        roots = np.maximum(np.sqrt(w @ np.square(moved)) * (1 - _LOST) - 2.0**-50, 0.0) * unit[kept]
        alone = math.fsum(shrunk(asked[kept] * roots, 2.0**-45))
        block, places = squares * unit[of.squares], of.squares
        size = unit[of.squares]
        if not pairs:
            places = np.append(places, of.dimension)
            away = own.origin[of.squares] / own.step[of.squares]
            block = np.hstack([block - away, np.full((len(z), 1), own.count)])
            size = np.append(size + np.abs(away), own.count)
        root = np.sqrt(w)
        lost = growth(20) * float(np.sum(root)) * size
        rows = Moments(root[:, None] * block, np.zeros(size.size), lost)
        return alone + rows.paired(asked[places], None, None)
