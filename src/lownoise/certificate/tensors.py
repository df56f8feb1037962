# SPDX-License-Identifier: Apache-2.0
"""Second moments of what one record changes in moment tensors of the ball, as rows to pair with.

A measure on changes that no rotation moves has the second moment Σ (aₖzₖ/dimₖ)·Kₖ over the harmonic
parts (Schur), zₖ being the mean squared length of part k over aₖ. With the count and an even power
the part of degree 0 goes with it: r = |x|^ℓ is 1 with the mass of the sphere, else 0. The measure
is on true changes whatever is stated, its masses being scaled to add up to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate.duals import OrthantDual, RotationDual
from lownoise.errors import PlanError
from lownoise.sets.bodies.harmonics import axes, monomials, multiplicities

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import TensorChanges


def tensor_moment(dual: RotationDual | OrthantDual, body: TensorChanges) -> tuple[Vector, Vector]:
    """Return rows whose products add up to a second moment of changes, and how far each is off.

    Args:
        dual: which measure on the changes.
        body: the changes, d coordinates.

    Returns:
        shapes (n, d) and (d,); the second in units of the coordinates, for all rows together.

    Raises:
        PlanError: where the measure is none of this body.
    """
    return _rotated(dual, body) if isinstance(dual, RotationDual) else _orthant(dual, body)


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


def _rotated(dual: RotationDual, body: TensorChanges) -> tuple[Vector, Vector]:
    alone, w, ball = dual.alone, dual.weights, body.ball
    fine = 0 <= alone <= 1 and w.shape == dual.angles.shape and np.all((w >= 0) & (w < math.inf))
    if not (fine and np.all(np.abs(dual.angles) <= 1) and (not w.size or not body.counted)):
        raise PlanError("RotationDual does not fit its body; solve again")
    parts = ball.parts
    if body.counted:
        z = np.full(len(parts.degrees), alone)
    else:
        mass = alone + math.fsum(w) if not ball.odd else 1.0
        if not mass > 0:
            raise PlanError("RotationDual has no mass; solve again")
        z = ball.squares(alone, w, dual.angles) / mass
    scale = np.sqrt(parts.shares * z / parts.dimensions)
    bases, off = axes(ball.size, ball.power)
    root = body.size / np.sqrt(multiplicities(ball.size, ball.power))
    spun = [s * columns.T * root for s, columns in zip(scale, bases, strict=True)]
    if body.last is None:
        return np.vstack(spun), off * float(np.linalg.norm(scale)) * root
    if not ball.odd:
        spun.pop()  # of degree 0: it goes with the count
    rows = np.vstack([np.hstack([each, np.zeros((len(each), 1))]) for each in spun])
    ends = [np.append(-body.offset, body.last) * math.sqrt(1.0 if ball.odd else 1 - alone)]
    if not ball.odd:
        middle = np.append(body.mean * body.size - body.offset, body.last)
        ends.append(math.sqrt(alone) * middle)
    doubt = off * float(np.linalg.norm(scale)) * root
    ends_off = 2.0**-48 * (body.size + np.abs(body.offset))
    return np.vstack([rows, *ends]), np.append(doubt + ends_off, 2.0**-48 * body.last)


def _orthant(dual: OrthantDual, body: TensorChanges) -> tuple[Vector, Vector]:
    """Return the rows of axes and diagonals, whose signs are drawn at random, and their averages.

    Monomials xᵢxⱼ of different coordinates are uncorrelated with all others.
    """
    ball, weights = body.ball, dual.weights
    wanted = (4,) if ball.differences else (2,)
    if not (ball.power == 2 and weights.shape == wanted and np.all(weights >= 0)):  # noqa: PLR2004
        raise PlanError("OrthantDual does not fit its body; solve again")
    mass = math.fsum(weights)
    mass = mass if ball.differences else max(mass, 1.0)
    if not 0 < mass < math.inf:
        raise PlanError("OrthantDual has no mass; solve again")
    d, w = ball.size, weights / mass
    squares = np.flatnonzero(np.max(monomials(d, 2), axis=1) == 2)  # noqa: PLR2004
    mixed = np.setdiff1d(np.arange(body.size.size), squares)
    one = np.zeros((d, body.dimension))
    if ball.differences:
        axis, _, straight, turned = w
        # of e ⊗ e alone each has the mass 1/d; differences of two have −1 off the diagonal
        one[:, squares] = math.sqrt(axis / d) * np.eye(d)
        corner = np.zeros((1, body.dimension))
        corner[0, squares] = math.sqrt(w[1]) / d
        centered = np.eye(d) - 1 / d
        apart = np.zeros((d, body.dimension))
        apart[:, squares] = math.sqrt(2 * straight / (d - 1)) * centered
        size = w[1] / d**2 + 2 * turned / (d * (d - 1))
        rows = [one, corner, apart]
    else:
        axis, corners = w
        one[:, squares] = math.sqrt(axis / d) * np.eye(d)
        one[:, -1] = math.sqrt(axis / d)
        corner = np.zeros((1, body.dimension))
        corner[0, squares], corner[0, -1] = math.sqrt(corners) / d, math.sqrt(corners)
        still = np.zeros((1, body.dimension))
        still[0, -1] = math.sqrt(max(1 - axis - corners, 0.0))
        size = corners / d**2
        rows = [one, corner, still]
    loose = np.zeros((mixed.size, body.dimension))
    loose[np.arange(mixed.size), mixed] = math.sqrt(size)
    found = np.vstack([*rows, loose])
    count = body.size.size
    about = found[:, :count] * body.size
    if body.last is None:
        return about, 2.0**-48 * np.sum(np.abs(about), axis=0)
    about -= found[:, count:] * body.offset
    made = np.hstack([about, found[:, count:] * body.last])
    return made, 2.0**-48 * np.sum(
        np.abs(made) + np.abs(found[:, count:]) * np.append(np.abs(body.offset), 0.0), axis=0
    )
