# SPDX-License-Identifier: Apache-2.0
"""Evidence on images F·B of unit balls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import LEAST_MASS, AbstractDual, Moments, listed, nothing
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import ImageBody

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


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

    def _scaled(self, changes: ImageBody) -> Vector | None:
        """Return z in the hull itself, or None where it is none that floats can tell."""
        z = self.squares
        known = isinstance(changes, ImageBody) and z.shape == (changes.base.dimension,)
        if not known or not np.all((z >= 0) & (z < math.inf)):
            raise self.misfit()
        mass = changes.base.moment_up(z)
        return z / mass if mass > LEAST_MASS else None

    def moments(self, changes: ImageBody, *, counted: bool = False) -> Moments:
        """Return the columns of F, each times the root of its square."""
        z = self._scaled(changes)
        d = changes.dimension - counted
        if z is None:
            return nothing(d, counted=counted)
        root = np.sqrt(shrunk(z))
        dense = changes.dense[:d]
        rows = root[:, None] * dense.T
        if not counted:
            return Moments(rows, np.zeros(d), growth(9) * (root @ np.abs(dense.T)))
        # the signs of all but the count are drawn at random: the mean is what the count brings
        off = growth(9) * (root @ np.abs(dense.T) + np.abs(dense[:, -1]))
        return Moments(rows[:-1], dense[:, -1].copy(), off)

    def fidelity(
        self, changes: ImageBody, asked: Vector, embed: Vector | None, hint: AbstractShape | None
    ) -> float:
        """Return the best of what z proves and of what signs that are not drawn at random do."""
        z = self._scaled(changes)
        if z is None:
            return 0.0
        if embed is None and changes.diagonal:
            # G and C are diagonal, so the fidelity is Σ √(cᵢzᵢ)·ωᵢ|fᵢ|
            return math.fsum(asked * np.sqrt(z) * np.abs(changes.factor))
        paired = self.moments(changes).paired(asked, embed, hint)
        return max(paired, _rounded_signs(changes, z, asked, embed))


@final
@dataclass(frozen=True, eq=False)
class ImageDual(AbstractDual):
    """A measure on a few points Fx of an image F·B.

    Args:
        points: multiples of the x, in the coordinates of the base, shape (n, k).
        vertex_weights: w ≥ 0 on the points as they are given, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: ImageBody, *, counted: bool = False) -> Moments:
        """Return the moments of the points, brought to the rim of the base."""
        x, k = self.points, changes.base.dimension if isinstance(changes, ImageBody) else -1
        known = x.shape[1:] == (k,) and bool(np.all(np.isfinite(x)))
        w = self.shares(self.vertex_weights, len(x), fits=known)
        if counted:  # a record is (x, 1) or its opposite, and x is brought into the base
            x = np.where(x[:, -1:] < 0, -x, x)
            x = np.hstack([x[:, :-1], np.zeros((len(x), 1))])
            x = x / np.maximum(changes.base.norm_up(x), 1.0)[:, None]
            x[:, -1] = 1.0
        else:
            size = changes.base.norm_up(x)
            mass = w * np.square(size)
            w = self.shares(mass, len(x), fits=True)
            x = x / np.where(size > 0, size, 1.0)[:, None]
        rows = x @ changes.dense.T
        lost = growth(k + 9) * (np.sqrt(w) @ (np.abs(x) @ np.abs(changes.dense.T)))
        found = listed(rows, w, changes, counted=counted)
        return Moments(found.rows, found.mean, found.off + 2 * lost[: found.mean.size])


def _rounded_signs(body: ImageBody, squares: Vector, asked: Vector, embed: Vector | None) -> float:
    """Return √(2/π)·Σ √zᵢ·‖asked·L·fᵢ‖ over the norm of ±√z: at most the best fidelity.

    Let W have the columns asked·L·fᵢ divided by their lengths, g be normal and x = √z∘sign(Wᵀg),
    which the base holds once divided by the greatest norm of √z with any signs. Then E xxᵀ =
    (2/π)·√z√zᵀ∘arcsin[WᵀW] ⪰ (2/π)·diag(√z) WᵀW diag(√z), since arcsin[Z] − Z is a sum of Schur
    products (Nesterov's rounding; its use here is ours), and the nuclear norm of
    asked·L·F·diag(√z)·Wᵀ is at least its trace.
    """
    image = body.dense if embed is None else embed @ body.dense
    size = np.abs(body.dense) if embed is None else np.abs(embed) @ np.abs(body.dense)
    lengths = np.linalg.norm(asked[:, None] * image, axis=0)
    lengths -= growth(image.shape[0] + 9) * lengths
    lengths -= growth(body.dimension + 9) * np.linalg.norm(asked[:, None] * size, axis=0)
    norm = float(body.base.signed_norm_up(np.sqrt(squares)[None])[0])
    total = math.fsum(np.sqrt(squares) * np.maximum(lengths, 0.0))
    return math.sqrt(2 / math.pi) * total / norm if norm > 0 else 0.0
