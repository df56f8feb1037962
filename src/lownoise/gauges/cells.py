# SPDX-License-Identifier: Apache-2.0
"""Norms of hulls, by the simplices that their facets are made of.

For any d points V of a hull, s = Vλ proves ‖s‖ ≤ Σ|λᵢ|, whoever chose them. Those of the facet
that s points to make it an equality: Qhull says which they are, and rounding is added here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.errors import PlanError
from lownoise.rounding import growth

if TYPE_CHECKING:
    from lownoise.arrays import Vector

_BLOCK = 1 << 22  # numbers


@final
@dataclass(frozen=True, eq=False)
class Cells:
    """Simplices of points of a hull, each with its inverse.

    Args:
        unit: powers of two, one a coordinate, shape (d,).
        inverses: X, nearly V⁻¹ for V in those units, shape (m, d, d).
        stretches: at least 1/(1 − ‖I − XV‖₁), shape (m,).
    """

    unit: Vector
    inverses: Vector
    stretches: Vector

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, and hardly more; shapes (n, d) and (n,)."""
        d = points.shape[1]
        own = points / self.unit  # exact
        faces = np.sum(self.inverses, axis=1)  # Σλᵢ = ⟨face, s⟩
        step = max(_BLOCK // len(faces), 1)
        found = np.empty(len(own))
        for at in range(0, len(own), step):
            block = own[at : at + step]
            best = np.argmax(np.abs(block @ faces.T), axis=1)
            inverse = self.inverses[best]
            weights = np.abs(np.einsum("nij,nj->ni", inverse, block))
            weights += growth(d + 9) * np.einsum("nij,nj->ni", np.abs(inverse), np.abs(block))
            lost = np.where(np.any(block, axis=1), 2.0**-900, 0.0)
            whole = np.sum(weights, axis=1) + lost
            found[at : at + step] = whole * self.stretches[best] * (1 + growth(2 * d + 20))
        return found


def cells_of(points: Vector) -> Cells:
    """Return the simplices of the symmetric hull of points, shape (N, d).

    Raises:
        PlanError: where the points are flat.

    Examples:
        >>> cells_of(np.array([[1.0, 0.0], [0.0, 1.0]])).norm_up(np.array([[3.0, -4.0]])).round(9)
        array([7.])
    """
    d = points.shape[1]
    unit = np.exp2(np.floor(np.log2(np.maximum(np.max(np.abs(points), axis=0), 2.0**-900))))
    rows = points / unit
    simplices = facets_of(rows)
    vertices = np.vstack([rows, -rows])[simplices].transpose(0, 2, 1)
    with np.errstate(all="ignore"):
        # of simplices too thin for an inverse nothing is proved, and others must do
        thick = np.linalg.cond(vertices) < 2.0**40
        vertices = vertices[thick]
        inverses = np.linalg.inv(vertices)
        rest = np.abs(np.eye(d) - inverses @ vertices)
        rest += growth(d + 9) * (np.abs(inverses) @ np.abs(vertices)) * (1 + 2.0**-30) + 2.0**-900
        defect = np.max(np.sum(rest, axis=1), axis=1) * (1 + growth(d + 9))
        sure = defect < 0.5  # noqa: PLR2004
    if not np.any(sure):
        raise PlanError(f"{len(points)} points in {d} dimensions are flat; leave out an answer")
    stretches = 1 / (1 - defect[sure]) * (1 + growth(9))
    return Cells(frozen(unit), frozen(inverses[sure]), frozen(stretches))


def facets_of(rows: Vector) -> np.ndarray:
    """Return the facets of the hull of rows and their opposites, as simplices of indices.

    Args:
        rows: shape (N, d), about 1 in every coordinate; i + N is the opposite of row i.

    Raises:
        PlanError: where they are flat.
    """
    n, d = rows.shape
    if d == 1:
        best = int(np.argmax(np.abs(rows[:, 0])))
        return np.array([[best], [best + n]])
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(ConvexHull(np.vstack([rows, -rows])).simplices)
    except QhullError:
        raise PlanError(
            f"{n} points in {d} dimensions are flat, or too nearly so for floats; leave out "
            "answers that follow from others",
        ) from None
