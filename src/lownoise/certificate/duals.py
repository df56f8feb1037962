# SPDX-License-Identifier: Apache-2.0
"""Evidence that no ellipsoid around a body is much smaller: weights on queries and on vertices."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


class AbstractDual(ABC):
    """Evidence: a measure on a body, and query weights c ≥ 0, one an answer."""

    query_weights: Vector


@dataclass(frozen=True, eq=False)
class AbstractVertexDual(AbstractDual):
    """A measure on vertices that a body numbers.

    Args:
        indices: which vertices, shape (k,), or pairs of points, shape (k, 2).
        vertex_weights: w ≥ 0, shape (k,).
        query_weights: c ≥ 0, shape (m,).
    """

    indices: Integers
    vertex_weights: Vector
    query_weights: Vector


@dataclass(frozen=True, eq=False)
class AbstractPlacedDual(AbstractDual):
    """A measure on points that are given by coordinates.

    Args:
        points: one a row; of what, the kind of evidence says.
        vertex_weights: w ≥ 0, one a row.
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector


@final
@dataclass(frozen=True, eq=False)
class CornerDual(AbstractDual):
    """The uniform measure on a box's corners, C = diag(half_width²), and query weights c, (d,)."""

    query_weights: Vector


@final
class ProductDual(AbstractVertexDual):
    """The measure of two independent points' difference, the two being different.

    `indices` are of different points, shape (k,); both are drawn from `vertex_weights`.
    """


@final
class PointDual(AbstractVertexDual):
    """A measure on a few vertices of a body."""


@final
@dataclass(frozen=True, eq=False)
class SquaresDual(AbstractDual):
    """A random point of an image F·B whose signs are drawn at random: C = F diag(z) Fᵀ.

    Args:
        squares: z ≥ 0, some multiple of a point in the hull of {x² : x ∈ B}, shape (k,).
        query_weights: c ≥ 0, shape (m,).
    """

    squares: Vector
    query_weights: Vector


@final
class ImageDual(AbstractPlacedDual):
    """A measure on a few points Fx of an image F·B.

    `points` are the x, in the coordinates of the base, shape (n, k).
    """


@final
class OracleDual(AbstractPlacedDual):
    """A measure on a few points that a program found in its set, or on pairs of them.

    `points` are whole records, shape (n, d), or pairs of them, shape (n, 2, d). That they are in
    the set is the program's word, checked by its own `contains` where it has one.
    """


@final
class SectionDual(AbstractPlacedDual):
    """A measure on a few changes between points of a section, or on a few of its points.

    `points` are ξ, shape (n, e); or ξ and η side by side, whose difference is meant, shape (n, 2e).
    """


@final
@dataclass(frozen=True, eq=False)
class RotationDual(AbstractDual):
    """A measure on tensor powers of a ball, or on their pairs, that no rotation changes.

    Args:
        alone: the mass of single tensors of full length, at most 1.
        weights: the masses of pairs of full length, shape (n,).
        angles: the cosines between those, shape (n,).
        query_weights: c ≥ 0 on the kinds of entries, shape (m,).
    """

    alone: float
    weights: Vector
    angles: Vector
    query_weights: Vector


@final
@dataclass(frozen=True, eq=False)
class OrthantDual(AbstractDual):
    """A measure on second tensor powers of a ball: axes and diagonals of the cube, signs at random.

    Args:
        weights: the masses of e ⊗ e for the unit vectors e, and of x ⊗ x for x = (±1, …, ±1)/√d;
            and for differences of e ⊗ e and f ⊗ f, and of x ⊗ x and y ⊗ y for x, y = (e ± f)/√2;
            shape (2,) or (4,).
        query_weights: c ≥ 0 on the diagonal and on the other entries, shape (2,).
    """

    weights: Vector
    query_weights: Vector


@final
@dataclass(frozen=True, eq=False)
class JointDual(AbstractDual):
    """Measures on the parts of a product, independent of each other.

    Args:
        parts: evidence for each part's body; its own query weights are not looked at.
        query_weights: c ≥ 0, shape (m,).
    """

    parts: tuple[AbstractDual, ...]
    query_weights: Vector
