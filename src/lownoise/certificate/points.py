# SPDX-License-Identifier: Apache-2.0
"""Evidence on points: of a box, a list, an oracle, a section or a product of such."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import (
    LEAST_MASS,
    AbstractDual,
    Moments,
    listed,
    nothing,
)
from lownoise.numbers.rounding import grown, growth
from lownoise.sets.bodies import (
    AbstractOracleBody,
    AbstractPointBody,
    JointBody,
    PointDifferences,
    SectionBody,
    SymmetricBox,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape


@final
@dataclass(frozen=True, eq=False)
class CornerDual(AbstractDual):
    """The uniform measure on a box's corners, C = diag(half_width²), and query weights c, (d,)."""

    query_weights: Vector

    def moments(self, changes: SymmetricBox, *, counted: bool = False) -> Moments:
        """Return the half widths, one a row: signs are independent."""
        if not isinstance(changes, SymmetricBox) or counted:
            raise self.misfit()
        none = np.zeros(changes.dimension)
        return Moments(np.diag(changes.half_width), none, none)

    def fidelity(
        self,
        changes: SymmetricBox,
        asked: Vector,
        embed: Vector | None,
        hint: AbstractShape | None,
    ) -> float:
        """Return Σ √cᵢ·ωᵢhᵢ: G and C are diagonal."""
        if embed is not None or not isinstance(changes, SymmetricBox):
            raise self.misfit()
        return math.fsum(asked * changes.half_width)


@final
@dataclass(frozen=True, eq=False)
class PointDual(AbstractDual):
    """A measure on a few vertices that a body numbers.

    Args:
        indices: which vertices, shape (k,), or pairs of points, shape (k, 2).
        vertex_weights: w ≥ 0, shape (k,).
        query_weights: c ≥ 0, shape (m,).
        independent: whether it is on differences of two different points, both drawn from w;
            `indices` are then of different points, shape (k,).
    """

    indices: Integers
    vertex_weights: Vector
    query_weights: Vector
    independent: bool = False

    def moments(self, changes: AbstractPointBody, *, counted: bool = False) -> Moments:
        """Return the vertices' moments."""
        if self.independent:
            return self._of_differences(changes, counted=counted)
        known = isinstance(changes, AbstractPointBody) and changes.knows(self.indices)
        w = self.shares(self.vertex_weights, len(self.indices), fits=known)
        return listed(changes.vertices(self.indices), w, changes, counted=counted)

    def _of_differences(self, changes: AbstractPointBody, *, counted: bool) -> Moments:
        """E(x − y)(x − y)ᵀ is twice the covariance; pairs x = y have length 0 and share Σwᵢ²."""
        own = self.indices
        known = isinstance(changes, PointDifferences) and own.ndim == 1 and not counted
        known = known and len(np.unique(own)) == len(own)
        known = known and changes.knows(np.stack([own, own], axis=1))
        w = self.shares(self.vertex_weights, len(own), fits=known)
        mass = grown(math.fsum(w) ** 2 - math.fsum(w * w))
        if not mass > LEAST_MASS:
            return nothing(changes.dimension, counted=False)
        found = listed(changes.points[own], w, changes, counted=False, moves=True)
        scale = math.sqrt(2 / mass)
        return Moments(scale * found.rows, 0 * found.mean, grown(scale * found.off))


@final
@dataclass(frozen=True, eq=False)
class OracleDual(AbstractDual):
    """A measure on a few points that a program found in its set, or on pairs of them.

    That they are in the set is the program's word, checked by its own `contains` where it has one.

    Args:
        points: whole records, shape (n, d), or pairs of them, shape (n, 2, d).
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: AbstractOracleBody | JointBody, *, counted: bool = False) -> Moments:
        """Return the points' moments; what is not known of their places is taken off."""
        body = changes.whole if isinstance(changes, JointBody) and not counted else changes
        if not isinstance(body, AbstractOracleBody):
            raise self.misfit()
        known = body.knows(self.points)
        w = self.shares(self.vertex_weights, len(self.points), fits=known)
        found = listed(body.vertices(self.points), w, body, counted=counted)
        doubt = body.doubt[: found.mean.size] * float(np.sum(np.sqrt(w)))
        return Moments(found.rows, found.mean, found.off + 2 * doubt)


@final
@dataclass(frozen=True, eq=False)
class SectionDual(AbstractDual):
    """A measure on a few changes between points of a section, or on a few of its points.

    Args:
        points: ξ, shape (n, e); or ξ and η side by side, whose difference is meant, shape (n, 2e).
        vertex_weights: w ≥ 0, shape (n,).
        query_weights: c ≥ 0, shape (m,).
    """

    points: Vector
    vertex_weights: Vector
    query_weights: Vector

    def moments(self, changes: SectionBody, *, counted: bool = False) -> Moments:
        """Return the changes' moments, those outside drawn back to the body, as 0 is in it."""
        shaped = isinstance(changes, SectionBody)
        shaped = shaped and self.points.shape[1:] == (changes.width_of_points,)
        w = self.shares(self.vertex_weights, len(self.points), fits=shaped)
        found, gauges = changes.changes(self.points)
        if not np.all(np.isfinite(gauges)):
            return nothing(changes.dimension - counted, counted=counted)
        if not counted:
            found = found / np.maximum(gauges, 1.0)[:, None]
        own = listed(found, w, changes, counted=counted)
        # changes are differences of what is as large as `far`
        lost = growth(changes.dimension + 9) * float(np.sum(np.sqrt(w)))
        return Moments(own.rows, own.mean, own.off + lost * changes.far[: own.mean.size])


@final
@dataclass(frozen=True, eq=False)
class JointDual(AbstractDual):
    """Measures on the parts of a product, independent of each other.

    So of differences, their signs drawn at random, second moments stand side by side; about the
    mean covariances do; and of lifted records (x − v, 1) the second moment is that of covariances
    side by side, and of the one row (mean, 1) (ours).

    Args:
        parts: evidence for each part's body; its own query weights are not looked at.
        query_weights: c ≥ 0, shape (m,).
    """

    parts: tuple[AbstractDual, ...]
    query_weights: Vector

    def moments(self, changes: JointBody, *, counted: bool = False) -> Moments:
        """Return the parts' moments, side by side, and what they count."""
        if counted or not isinstance(changes, JointBody) or len(self.parts) != len(changes.parts):
            raise self.misfit()
        pairs = zip(self.parts, changes.parts, strict=True)
        own = [part.moments(of, counted=changes.counted) for part, of in pairs]
        d = changes.dimension
        rows = np.zeros((sum(len(part.rows) for part in own) + changes.counted, d))
        off, i = np.zeros(d), 0
        for part, at in zip(own, changes.blocks, strict=True):
            rows[i : i + len(part.rows), at] = part.rows
            i += len(part.rows)
            off[at] = part.off
            if changes.counted:
                rows[-1, at] = part.mean
                off[at] += part.off
        if changes.counted:
            rows[-1, -1] = changes.count
        return Moments(rows, np.zeros(d), off)
