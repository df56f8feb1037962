# SPDX-License-Identifier: Apache-2.0
"""Evidence on moment tensors of the ball, and on what one record changes in them.

A measure on changes that no rotation moves has the second moment Σ (aₖzₖ/dimₖ)·Kₖ over the harmonic
parts (Schur), zₖ being the mean squared length of part k over aₖ. With the count and an even power
the part of degree 0 goes with it: r = |x|^ℓ is 1 with the mass of the sphere, else 0. The measure
is on true changes whatever is stated, its masses being scaled to add up to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import EVIDENCE, QUERY_WEIGHTS, AbstractDual, Moments, nothing
from lownoise.kinds import NONNEGATIVE, VECTOR, Field, Form, numbers
from lownoise.numbers.rounding import FEW
from lownoise.sets.bodies import TensorBall, TensorChanges
from lownoise.sets.bodies.harmonics import axes, monomials, multiplicities

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


_MASS = Form(read=lambda value, field: float(numbers([value], field)[0]))
_COSINES = Form(read=lambda values, field: VECTOR.read(values, field) if values else np.zeros(0))


@EVIDENCE.kind(
    "rotations",
    QUERY_WEIGHTS,
    Field("masses", NONNEGATIVE, attribute="weights"),
    Field("alone", _MASS),
    Field("cosines", _COSINES, attribute="angles"),
)
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

    def moments(self, changes: TensorChanges, *, counted: bool = False) -> Moments:
        """Return the rows of each harmonic part, and of the count."""
        if counted or not isinstance(changes, TensorChanges):
            raise self.misfit()
        alone, w, ball = self.alone, self.weights, changes.ball
        fine = (
            0 <= alone <= 1 and w.shape == self.angles.shape and np.all((w >= 0) & (w < math.inf))
        )
        if not (fine and np.all(np.abs(self.angles) <= 1) and (not w.size or not changes.counted)):
            raise self.misfit()
        parts = ball.parts
        if changes.counted:
            z = np.full(len(parts.degrees), alone)
        else:
            mass = alone + math.fsum(w) if not ball.odd else 1.0
            if not mass > 0:
                return nothing(changes.dimension, counted=False)
            z = ball.squares(alone, w, self.angles) / mass
        scale = np.sqrt(parts.shares * z / parts.dimensions)
        turned_axes, off = axes(ball.size, ball.power)
        root = changes.size / np.sqrt(multiplicities(ball.size, ball.power))
        spun = [s * columns.T * root for s, columns in zip(scale, turned_axes, strict=True)]
        if changes.last is None:
            return _centered(np.vstack(spun), off * float(np.linalg.norm(scale)) * root)
        if not ball.odd:
            spun.pop()  # of degree 0: it goes with the count
        rows = np.vstack([np.hstack([each, np.zeros((len(each), 1))]) for each in spun])
        ends = [
            np.append(-changes.offset, changes.last) * math.sqrt(1.0 if ball.odd else 1 - alone)
        ]
        if not ball.odd:
            middle = np.append(changes.mean * changes.size - changes.offset, changes.last)
            ends.append(math.sqrt(alone) * middle)
        doubt = off * float(np.linalg.norm(scale)) * root
        ends_off = FEW * (changes.size + np.abs(changes.offset))
        return _centered(np.vstack([rows, *ends]), np.append(doubt + ends_off, FEW * changes.last))

    def fidelity(
        self,
        changes: TensorBall | TensorChanges,
        asked: Vector,
        embed: Vector | None,
        initial: AbstractShape | None,
    ) -> float:
        """Return Σ √c·√C over entries of a ball's tensors: tr √G √C is at most the fidelity.

        C is (aₖ/dimₖ)·zₖ on each part, G is diagonal.
        """
        if isinstance(changes, TensorChanges):
            return self.moments(changes).paired(*merged(asked, embed), None)
        alone, w = self.alone, self.weights
        known = isinstance(changes, TensorBall) and embed is None
        if not (known and np.all((w >= 0) & (w < math.inf)) and 0 <= alone <= 1):
            raise self.misfit()
        # of K what is not on the sphere is at 0; of differences masses are shares
        mass = alone + math.fsum(w) if changes.differences and not changes.odd else 1.0
        if not mass > 0:
            return 0.0
        parts = changes.parts
        z = changes.squares(alone, w, self.angles) / mass
        found = parts.table @ np.sqrt(parts.shares * z / parts.dimensions)
        return changes.value * math.fsum(parts.counts * asked * found)


@EVIDENCE.kind("rotations", QUERY_WEIGHTS, Field("masses", NONNEGATIVE, attribute="weights"))
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

    def moments(self, changes: TensorChanges, *, counted: bool = False) -> Moments:
        """Return the rows of axes and diagonals, whose signs are drawn at random, and averages.

        Monomials xᵢxⱼ of different coordinates are uncorrelated with all others.
        """
        if counted or not isinstance(changes, TensorChanges):
            raise self.misfit()
        ball, weights = changes.ball, self.weights
        wanted = (4,) if ball.differences else (2,)
        if not (ball.power == 2 and weights.shape == wanted and np.all(weights >= 0)):  # noqa: PLR2004
            raise self.misfit()
        mass = math.fsum(weights)
        mass = mass if ball.differences else max(mass, 1.0)
        if not 0 < mass < math.inf:
            return nothing(changes.dimension, counted=False)
        d, w = ball.size, weights / mass
        squares = np.flatnonzero(np.max(monomials(d, 2), axis=1) == 2)  # noqa: PLR2004
        mixed = np.setdiff1d(np.arange(changes.size.size), squares)
        one = np.zeros((d, changes.dimension))
        if ball.differences:
            axis, _, straight, turned = w
            # of e ⊗ e alone each has the mass 1/d; differences of two have −1 off the diagonal
            one[:, squares] = math.sqrt(axis / d) * np.eye(d)
            corner = np.zeros((1, changes.dimension))
            corner[0, squares] = math.sqrt(w[1]) / d
            centered = np.eye(d) - 1 / d
            apart = np.zeros((d, changes.dimension))
            apart[:, squares] = math.sqrt(2 * straight / (d - 1)) * centered
            loose_share = w[1] / d**2 + 2 * turned / (d * (d - 1))
            rows = [one, corner, apart]
        else:
            axis, corners = w
            one[:, squares] = math.sqrt(axis / d) * np.eye(d)
            one[:, -1] = math.sqrt(axis / d)
            corner = np.zeros((1, changes.dimension))
            corner[0, squares], corner[0, -1] = math.sqrt(corners) / d, math.sqrt(corners)
            constant = np.zeros((1, changes.dimension))
            constant[0, -1] = math.sqrt(max(1 - axis - corners, 0.0))
            loose_share = corners / d**2
            rows = [one, corner, constant]
        loose = np.zeros((mixed.size, changes.dimension))
        loose[np.arange(mixed.size), mixed] = math.sqrt(loose_share)
        found = np.vstack([*rows, loose])
        count = changes.size.size
        about = found[:, :count] * changes.size
        if changes.last is None:
            return _centered(about, FEW * np.sum(np.abs(about), axis=0))
        about -= found[:, count:] * changes.offset
        made = np.hstack([about, found[:, count:] * changes.last])
        size = np.abs(made) + np.abs(found[:, count:]) * np.append(np.abs(changes.offset), 0.0)
        return _centered(made, FEW * np.sum(size, axis=0))

    def fidelity(
        self,
        changes: TensorBall | TensorChanges,
        asked: Vector,
        embed: Vector | None,
        initial: AbstractShape | None,
    ) -> float:
        """Return the fidelity, G and C having the same three parts: diagonal, trace, the others."""
        if isinstance(changes, TensorChanges):
            return self.moments(changes).paired(*merged(asked, embed), None)
        w = self.weights
        known = isinstance(changes, TensorBall) and changes.power == 2 and embed is None  # noqa: PLR2004
        known = known and w.shape == ((4,) if changes.differences else (2,))
        if not (known and np.all((w >= 0) & (w < math.inf))):
            raise self.misfit()
        mass = max(math.fsum(w), 1.0) if not changes.differences else math.fsum(w)
        if not mass > 0:
            return 0.0
        z = orthant_squares(changes.size, w / mass)
        found = float(asked[[0, 0, 1]] @ (orthant_counts(changes.size) * np.sqrt(z)))
        return changes.value * found


def _centered(rows: Vector, off: Vector) -> Moments:
    return Moments(rows, np.zeros(rows.shape[1]), off)


def merged(asked: Vector, queries: Vector | None) -> tuple[Vector, Vector | None]:
    """Return each different query once, asked as much as all of its copies: the same Lᵀdiag(c)L.

    Args:
        asked: √c·ω, shape (m,).
        queries: L, shape (m, d), or None.
    """
    if queries is None:
        return asked, None
    place: dict[bytes, int] = {}
    which = np.array([place.setdefault(row.tobytes(), len(place)) for row in queries])
    first = np.unique(which, return_index=True)[1]
    return np.sqrt(np.bincount(which, weights=np.square(asked))), queries[first]


def orthant_squares(size: int, weights: Vector) -> Vector:
    """Return the variances of an `OrthantDual`'s measure: on the diagonal, its trace, elsewhere.

    The first two are eigenvalues of the covariance of the diagonal, the third that of one entry.
    """
    d = size
    if len(weights) == 2:  # noqa: PLR2004
        axes, corners = weights
        whole = min(float(axes + corners), 1.0)
        return np.array([axes / d, whole * (1 - whole) / d, corners / d**2])
    axes, corners, straight, turned = weights
    return np.array(
        [
            axes / d + 2 * straight / (d - 1),
            (axes + corners) / d,
            corners / d**2 + 2 * turned / (d * (d - 1)),
        ]
    )


def orthant_counts(size: int) -> Vector:
    """Return how often each variance counts: every other entry is there twice, as one number."""
    return np.array([size - 1.0, 1.0, size * (size - 1) / math.sqrt(2)])
