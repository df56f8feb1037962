# SPDX-License-Identifier: Apache-2.0
"""Changes to records of a product: as one body, and part by part.

The least noise of a product is that of its parts side by side (002, Lemma 60), and evidence for the
parts is evidence for the whole, so solvers and certificates look at the parts; privacy looks at the
whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.oracle import AbstractOracleBody, LiftedOracle

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


@final
@dataclass(frozen=True, eq=False)
class JointBody(AbstractBody):
    """The body of a product, with the same kind of body of each part.

    Args:
        whole: of the product; where it is lifted the count is last.
        parts: of each part, in order; where the whole is lifted each has a count of its own, last.
        offsets: where the parts' bodies have their origin, shape (d,), if they may be translated.
    """

    whole: AbstractOracleBody
    parts: tuple[AbstractBody, ...]
    offsets: Vector | None = None

    @property
    def counted(self) -> bool:
        """Whether a record counts, too."""
        return isinstance(self.whole, LiftedOracle)

    @property
    def count(self) -> float:
        """What one record counts."""
        return self.whole.count if isinstance(self.whole, LiftedOracle) else 0.0

    @property
    def blocks(self) -> list[slice]:
        """The coordinates of each part, without the count."""
        sizes = [part.dimension - self.counted for part in self.parts]
        return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes]))]

    @property
    def spanning(self) -> Vector:
        """Vertices that span the whole."""
        return self.whole.spanning

    @property
    def moves(self) -> bool:
        """Whether an ellipsoid may choose its center."""
        return self.whole.moves

    @property
    def directions(self) -> Vector:
        """What the whole says."""
        return self.whole.directions

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.whole.dimension

    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the whole."""
        return self.whole.reach_up(matrix, center)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row."""
        return self.whole.extent_up(matrix, center)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        parts = tuple(part.scaled(factor) for part in self.parts)
        moved = None if self.offsets is None else frozen(factor * self.offsets)
        return type(self)(self.whole.scaled(factor), parts, moved)

    def split(self, queries: Vector | None) -> list[tuple[Integers, Vector | None]] | None:
        """Return which answers are of each part, and its queries; None where one is of several.

        The count's own answer, the last one, is left out of every part's.

        Args:
            queries: L, shape (m, d); None for the identity.
        """
        if queries is None:
            return [(np.arange(at.start, at.stop), None) for at in self.blocks]
        own = queries[:-1] if self.counted else queries
        if self.counted and np.any(queries[-1, :-1]):
            return None
        used = np.stack([np.any(own[:, at] != 0, axis=1) for at in self.blocks])
        if np.any(np.count_nonzero(used, axis=0) > 1):
            return None
        # an answer that looks at the count alone goes with the first part
        used[0] |= ~np.any(used, axis=0)
        found: list[tuple[Integers, Vector | None]] = []
        for rows, at in zip(used, self.blocks, strict=True):
            asked = own[rows][:, at]
            if self.counted:
                k = asked.shape[1]
                asked = np.vstack([np.hstack([asked, own[rows, -1:]]), np.eye(k + 1)[-1:]])
                asked[-1, -1] = queries[-1, -1]
            found.append((np.flatnonzero(rows), frozen(asked)))
        return found
