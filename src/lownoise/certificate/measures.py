# SPDX-License-Identifier: Apache-2.0
"""Evidence about bodies: measures on points of them, and on points whose signs are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.evidence import (
    EVIDENCE,
    LEAST_MASS,
    POINTS,
    QUERY_WEIGHTS,
    AbstractDual,
    Moments,
    count_column,
    moments_of_points,
    nothing,
    weighed,
)
from lownoise.certificate.witness import Dyadic, moment
from lownoise.errors import FileError
from lownoise.kinds import NONNEGATIVE, WHOLES, Field, Form, expect
from lownoise.numbers.hadamard import hadamard_order
from lownoise.numbers.rounding import TINY, grown, growth, shrunk
from lownoise.sets.bodies import (
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    JointBody,
    PointDifferences,
    SectionBody,
    signed,
)

if TYPE_CHECKING:
    from lownoise.certificate.witness import Square
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody


@EVIDENCE.kind("corners", QUERY_WEIGHTS)
@final
@dataclass(frozen=True, eq=False)
class CornerDual(AbstractDual):
    """The uniform measure on a box's corners, C = diag(half_width²), and query weights c, (d,)."""

    query_weights: Vector

    def _roots(self, changes: AbstractBody) -> Vector:
        roots = signed(changes)
        if roots is None:
            raise self.misfit()
        return roots

    def moments(self, changes: AbstractBody, *, counted: bool = False) -> Moments:
        """Return the half widths, one a row: signs are independent."""
        if counted:
            raise self.misfit()
        none = np.zeros(changes.dimension)
        return Moments(np.diag(self._roots(changes)), none, none)

    def fidelity(
        self,
        changes: AbstractBody,
        asked: Vector,
        embed: Vector | None,
        initial: AbstractShape | None,
    ) -> float:
        """Return Σ √cᵢ·ωᵢhᵢ: G and C are diagonal, or C is at least."""
        if embed is not None:
            raise self.misfit()
        return math.fsum(asked * self._roots(changes))

    def points_needed(self, changes: AbstractBody, answers: int) -> int:
        """Return as many corners as a Hadamard matrix has rows, for as many columns as move."""
        return hadamard_order(max(int(np.count_nonzero(changes.widths())), 1))

    def square(self, changes: AbstractBody) -> Square:
        """Return that of the half widths."""
        roots = self._roots(changes)
        return moment(Dyadic.of(roots), np.ones(changes.dimension))[0], Fraction(1)


def _read_points(
    query_weights: Vector, vertices: Integers, vertex_weights: Vector, measure: str
) -> PointDual:
    expect("evidence.measure", measure, ("list", "product"))
    own = weighed(query_weights, vertices, vertex_weights)
    return PointDual(*own, independent=measure == "product")


@EVIDENCE.kind(
    "points",
    QUERY_WEIGHTS,
    Field("vertices", WHOLES, attribute="indices"),
    Field("vertex_weights", NONNEGATIVE),
    Field("measure", attribute=lambda own: "product" if own.independent else "list"),
    make=_read_points,
)
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
        return moments_of_points(changes.vertices(self.indices), w, changes, counted=counted)

    def points_needed(self, changes: AbstractPointBody, answers: int) -> int:
        """Return how many have weight."""
        own = int(np.count_nonzero(self.vertex_weights))
        most = super().points_needed(changes, answers)
        return min(own * (own - 1) // 2 if self.independent else own, most)

    def square(self, changes: AbstractPointBody) -> Square:
        """Return that of the vertices; of differences each is formed exactly."""
        own, w = self.indices, self.vertex_weights
        if own.ndim == 1:
            rows = Dyadic.of(changes.points[own])
            return moment(rows, w, moves=changes.moves, apart=self.independent)
        rows = Dyadic.of(changes.points[own[:, 0]]) - Dyadic.of(changes.points[own[:, 1]])
        return moment(rows, w)

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
        found = moments_of_points(changes.points[own], w, changes, counted=False, moves=True)
        scale = math.sqrt(2 / mass)
        return Moments(scale * found.rows, 0 * found.mean, grown(scale * found.off))


@EVIDENCE.kind("found", *POINTS, make=lambda **own: OracleDual(*weighed(**own)))
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

    def points_needed(self, changes: AbstractOracleBody | JointBody, answers: int) -> int:
        """Return how many have weight."""
        return min(
            int(np.count_nonzero(self.vertex_weights)), super().points_needed(changes, answers)
        )

    def moments(self, changes: AbstractOracleBody | JointBody, *, counted: bool = False) -> Moments:
        """Return the points' moments; what is not known of their places is taken off."""
        body = changes.combined if isinstance(changes, JointBody) and not counted else changes
        if not isinstance(body, AbstractOracleBody):
            raise self.misfit()
        known = body.knows(self.points)
        w = self.shares(self.vertex_weights, len(self.points), fits=known)
        found = moments_of_points(body.vertices(self.points), w, body, counted=counted)
        doubt = body.doubt[: found.mean.size] * float(np.sum(np.sqrt(w)))
        return Moments(found.rows, found.mean, found.off + 2 * doubt)


@EVIDENCE.kind("sections", *POINTS, make=lambda **own: SectionDual(*weighed(**own)))
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

    def points_needed(self, changes: SectionBody, answers: int) -> int:
        """Return how many have weight."""
        return min(
            int(np.count_nonzero(self.vertex_weights)), super().points_needed(changes, answers)
        )

    def moments(self, changes: SectionBody, *, counted: bool = False) -> Moments:
        """Return the changes' moments, those outside drawn back to the body, as 0 is in it."""
        shaped = isinstance(changes, SectionBody)
        shaped = shaped and self.points.shape[1:] == (changes.width_of_points,)
        w = self.shares(self.vertex_weights, len(self.points), fits=shaped)
        found, norms = changes.changes(self.points)
        if not np.all(np.isfinite(norms)):
            return nothing(changes.dimension - counted, counted=counted)
        if not counted:
            found = found / np.maximum(norms, 1.0)[:, None]
        own = moments_of_points(found, w, changes, counted=counted)
        # changes are differences of what is as large as `far`
        lost = growth(changes.dimension + 9) * float(np.sum(np.sqrt(w)))
        return Moments(own.rows, own.mean, own.off + lost * changes.far[: own.mean.size])


_ANSWERS = "answers"  # how many a part's own evidence speaks of


def _part_to_json(part: AbstractDual) -> dict[str, Any]:
    return {**EVIDENCE.write(part), _ANSWERS: part.query_weights.size}


def _part(fields: dict[str, Any]) -> AbstractDual:
    part = EVIDENCE.read({name: own for name, own in fields.items() if name != _ANSWERS})
    if part.query_weights.size != fields[_ANSWERS]:
        raise FileError("evidence.parts.answers is not the number of query weights")
    return part


_PARTS = Form(
    lambda parts: [_part_to_json(part) for part in parts],
    lambda items, _: tuple(_part(fields) for fields in items),
)


@EVIDENCE.kind("joint", QUERY_WEIGHTS, Field("parts", _PARTS))
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


@EVIDENCE.kind("images", QUERY_WEIGHTS, Field("squares", NONNEGATIVE))
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
        alone = count_column(changes.dense)
        off = growth(9) * (root @ np.abs(dense.T) + np.abs(dense[:, alone]))
        return Moments(np.delete(rows, alone, axis=0), dense[:, alone].copy(), off)

    def points_needed(self, changes: ImageBody, answers: int) -> int:
        """Return as many sign vectors as a Hadamard matrix has rows, where √z is in the base."""
        most = super().points_needed(changes, answers)
        z = self._scaled(changes)
        # along the axes nothing but z is looked at; else signs that are no rows prove more
        if z is None or not changes.diagonal:
            return most
        used = np.flatnonzero(z)
        inside = float(changes.base.norm_up(np.sqrt(z)[None])[0]) <= 1 + TINY
        return min(hadamard_order(used.size), most) if inside else most

    def square(self, changes: ImageBody) -> Square:
        """Return that of the columns of F, and at least the mass of z."""
        columns = Dyadic.of(np.ascontiguousarray(changes.dense.T))
        mass = Fraction(changes.base.moment_up(self.squares))
        return moment(columns, self.squares)[0], mass

    def fidelity(
        self, changes: ImageBody, asked: Vector, embed: Vector | None, initial: AbstractShape | None
    ) -> float:
        """Return the best of what z proves and of what signs that are not drawn at random do."""
        z = self._scaled(changes)
        if z is None:
            return 0.0
        if embed is None and changes.diagonal:
            # G and C are diagonal, so the fidelity is Σ √(cᵢzᵢ)·ωᵢ|fᵢ|
            return math.fsum(asked * np.sqrt(z) * np.abs(changes.factor))
        paired = self.moments(changes).paired(asked, embed, initial)
        return max(paired, _rounded_signs(changes, z, asked, embed))


@EVIDENCE.kind("images", *POINTS, make=lambda **own: ImageDual(*weighed(**own)))
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
        found = moments_of_points(rows, w, changes, counted=counted)
        return Moments(found.rows, found.mean, found.off + 2 * lost[: found.mean.size])

    def points_needed(self, changes: ImageBody, answers: int) -> int:
        """Return how many have weight."""
        return min(
            int(np.count_nonzero(self.vertex_weights)), super().points_needed(changes, answers)
        )

    def square(self, changes: ImageBody) -> Square:
        """Return that of the points as they are given, and at least the mass inside."""
        rows = Dyadic.of(self.points) @ Dyadic.of(changes.dense).T
        sizes = [Fraction(v) ** 2 for v in changes.base.norm_up(self.points).tolist()]
        pairs = zip(map(Fraction, self.vertex_weights.tolist()), sizes, strict=True)
        return moment(rows, self.vertex_weights)[0], sum((w * s for w, s in pairs), Fraction(0))


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
