# SPDX-License-Identifier: Apache-2.0
"""Sections that stay what they are when turned about a few directions: how far they reach.

Balls of one shape and slabs of few normals see of a point η its part Ea in the span of these
normals and of the ways between the centers, and the length ρ of the rest w. So K lies in all Ea + w
with (a, ‖w‖) in a section K' of one coordinate more than E has columns, symmetric in the last. With
X = (P on E, N beside it) and any t > 0

    ‖Pa + Nw‖² ≤ aᵀPᵀPa + 2‖NᵀPa‖ρ + ‖N‖²ρ² ≤ aᵀ(PᵀP + t·PᵀNNᵀP)a + (‖N‖² + 1/t)ρ²,

a square of a length over K', which widths bound in few dimensions. Of a noise that turns with K
NᵀP vanishes, and nothing is lost (ours). Differences of points have (a − a', ‖w − w'‖) in K' − K',
since K' is symmetric; and what comes or goes, ±(η + shift, 1), is alike where E has the shift, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import TINY, grown, growth, spectral_up
from lownoise.sets.bodies.oracle import OracleBody, OracleDifferences
from lownoise.sets.bodies.pieces import SectionSet
from lownoise.sets.bodies.section import Section
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.oracle import AbstractOracleBody
    from lownoise.sets.bodies.section import SectionBody

_MOST = 3  # coordinates of what is left: cones of directions are few
_ALIKE = 2.0**-36  # of their size: normals, and shapes of balls, that differ by no more are one
_ROOM = 2.0**-38  # of what parts allow: for what is rounded here
_TRIALS = (1.0, 2.0**-3, 2.0**3)
_SLIGHT = 2.0**-20  # of the square of the size: what is lost does not matter then
_KEPT = 8


@final
class Rotated:
    """What is left of a body of changes of a section when it is turned about a few directions.

    Args:
        unit: s times unit, coordinate by coordinate, is η, shape (d,).
        axes: E, shape (d, u).
        longest: at least ‖η‖ of a change without its count.
        core: K', or its differences.
        shift: of a change with its count, in a and ρ, shape (u + 1,); else None.
        count: how much that changes the count, in the count's own unit.
        beside: at least how far a shift is from what E spans.
    """

    def __init__(
        self,
        unit: Vector,
        axes: Vector,
        longest: float,
        core: AbstractOracleBody,
        shift: Vector | None = None,
        count: float = 0.0,
        beside: float = 0.0,
    ) -> None:
        self.unit = unit
        self.axes = axes
        self.longest = longest
        self.core = core
        self.shift = shift
        self.count = count
        self.beside = beside
        self._known: dict[tuple[bytes, bytes], float] = {}

    def length_up(self, matrix: Vector, center: Vector, limit: float) -> float:
        """Return at least max ‖matrix·(s − center)‖, at most `limit`, which is one, too.

        Args:
            matrix: X, shape (r, d), or (r, d + 1) with the count.
            center: shape (d,), or (d + 1,); 0 of what is symmetric.
            limit: from elsewhere.
        """
        key = (matrix.tobytes(), center.tobytes())
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = self._length(matrix, center)
        return min(self._known[key], limit)

    def averaged(self, form: Vector) -> Vector:
        """Return the mean of an ellipsoid's matrix over all turns that leave the body as it is.

        Args:
            form: M, shape (d, d), or (d + 1, d + 1) with the count.
        """
        d, E = self.unit.size, self.axes
        unit = np.append(self.unit, np.ones(len(form) - d))
        own = form * unit * unit[:, None]
        along = np.eye(len(form))
        along[:d, :d] = E @ E.T
        across = np.eye(len(form)) - along
        share = float(np.trace(across @ own)) / (d - E.shape[1])
        return np.asarray((along @ own @ along + share * across) / unit / unit[:, None])

    def along(self, center: Vector) -> Vector:
        """Return a center's mean over these turns, shapes (d,) or (d + 1,)."""
        own, d = center.copy(), self.unit.size
        own[:d] = self.axes @ (self.axes.T @ (center[:d] * self.unit)) / self.unit
        return own

    def keeps(self, matrix: Vector) -> bool:
        """Return whether nothing is lost of lengths in a matrix, as of noise that turns with it."""
        B, N, size = self._split(matrix)
        return bool(np.linalg.norm(N.T @ B) <= _SLIGHT * size * size)

    def _split(self, matrix: Vector) -> tuple[Vector, Vector, float]:
        """Return what is seen of E and the count, what is beside it, and the size of both."""
        E, d = self.axes, self.unit.size
        # in records: beside a count in a small unit what is rounded of sums would seem to be all
        own, counts = matrix[:, :d] / self.unit, matrix[:, d:] * self.count
        P = own @ E
        size = float(np.linalg.norm(own)) + float(np.linalg.norm(counts))
        return np.hstack([P, counts]), own - P @ E.T, size

    def _length(self, matrix: Vector, center: Vector) -> float:
        E, d = self.axes, self.unit.size
        B, N, size = self._split(matrix)
        if not 0 < size < math.inf:
            return math.inf
        wide = spectral_up(N)
        across = N.T @ B
        about = center[:d] * self.unit
        at = E.T @ about
        beside = float(np.linalg.norm(N @ about)) + wide * self.beside
        far = self.longest + float(np.linalg.norm(about))
        # E is orthonormal but for roundings, and so are the products here
        off = 2.0**-40 * size * (far + 1)
        u, best = E.shape[1], math.inf
        pull = max(float(np.linalg.norm(across)), size * size * 2.0**-60)
        columns = [*range(u), *range(u + 1, B.shape[1] + 1)]
        for trial in _TRIALS if pull > _SLIGHT * size * size else _TRIALS[:1]:
            t = trial / pull
            rows = np.zeros((len(B) + len(across) + 1, B.shape[1] + 1))
            rows[: len(B), columns] = B
            rows[len(B) : -1, columns] = math.sqrt(t) * across
            rows[-1, u] = math.sqrt(wide * wide + 1 / t)
            best = min(best, self._longest(rows, at, far))
        return grown(best + beside + off)

    def _longest(self, rows: Vector, at: Vector, far: float) -> float:
        """Return at least the greatest length over K', or its changes, up to `off` of `_length`.

        With the count, A(ξ + shift) + t has the square of a length about the center that makes the
        rest e of it orthogonal to A, and ‖e‖², completing the square.

        Args:
            rows: of a, ρ and the count, shape (m, u + 1), or (m, u + 2).
            at: what lengths are about, shape (u,).
            far: at least how far a change and a center are apart.
        """
        k = at.size + 1
        own = rows[:, :k]
        center, rest, more = np.append(at, 0.0), 0.0, 0.0
        if self.shift is not None:
            t = rows[:, k]
            center = -self.shift - np.linalg.lstsq(own, t, rcond=None)[0]
            e = own @ (self.shift + center) + t
            parts = np.append(np.abs(self.shift) + np.abs(center), 1.0)
            size = float(np.linalg.norm(np.abs(rows) @ parts))
            rest = grown(float(np.linalg.norm(e)) + 2.0**-44 * size)
            apart = float(np.linalg.norm(own.T @ e)) + 2.0**-44 * size * float(np.linalg.norm(own))
            more = 2 * apart * (far + float(np.linalg.norm(center)))
        triangle = np.asarray(np.linalg.qr(own)[1])
        longest = self.core.farthest(triangle, center).upper
        return grown(math.sqrt(longest * longest + rest * rest + more), TINY)


def rotated(body: SectionBody) -> Rotated | None:
    """Return what is left of a body of few directions; None where they are many.

    Args:
        body: K − K, K, or ±(K, 1).
    """
    section = body.section if body.inside is None else body.inside
    if not section.balls or (body.kind == "lifted" and body.shift is None):
        return None
    unit = np.linalg.norm(section.rows[section.balls[0]], axis=0)
    known = bool(np.all((unit > 0) & (unit < math.inf)))
    a = section.rows / (unit if known else 1.0)
    sizes = _sizes(a, section.balls) if known else None
    if sizes is None:
        return None
    pulls = [a[rows].T @ section.offsets[rows] for rows in section.balls]
    shift = np.zeros(unit.size) if body.shift is None else body.shift[:-1] * unit
    E = _span([*a[section.slabs], *pulls, shift], math.sqrt(max(sizes)))
    k = E.shape[1] + 1
    longest = float(np.linalg.norm(unit * section.extent)) * (1 + growth(unit.size + 9))
    core = _core(section, a, E, longest) if k <= _MOST and k < unit.size else None
    if core is None:
        return None
    program = SectionSet(core, frozen(np.zeros(k)))
    pivots, one = np.arange(k), frozen(np.ones(k))
    if body.shift is not None:
        size = float(np.linalg.norm(shift))
        beside = float(np.linalg.norm(shift - E @ (E.T @ shift))) + size * _ROOM
        own, count = np.append(E.T @ shift, 0.0), float(body.shift[-1])
        core_body = OracleBody(program, pivots, one)
        return Rotated(unit, E, longest + size, core_body, own, count, beside)
    if body.kind == "differences":
        return Rotated(unit, E, 2 * longest, OracleDifferences(program, pivots, one))
    return Rotated(unit, E, longest, OracleBody(program, pivots, one))


def _sizes(a: Vector, balls: list[slice]) -> list[float] | None:
    """Return c² of each ball ‖c·η + …‖ ≤ 1; None where one has another shape than a ball."""
    found = []
    for rows in balls:
        square, uneven = _shape(a[rows])
        if not uneven <= _ALIKE * square:
            return None
        found.append(square)
    return found


def _shape(own: Vector) -> tuple[float, float]:
    """Return c² with ownᵀ·own = c²·I, nearly, and how far off that is at most."""
    gram = own.T @ own
    square = float(np.trace(gram)) / len(gram)
    return square, float(np.linalg.norm(gram - square * np.eye(len(gram))))


def _core(section: Section, a: Vector, E: Vector, longest: float) -> Section | None:
    """Return K': every part allows more by what lies beside E and by what is rounded here.

    Args:
        section: K.
        a: its rows in units of η, shape (m, d).
        E: shape (d, u).
        longest: at least ‖η‖ in K.
    """
    rows: list[Vector] = []
    places: list[float] = []
    parts: list[NormBall] = []
    u = E.shape[1]
    for where, slab in section.groups:
        own, offsets = a[where], section.offsets[where]
        if slab:
            for row, at in zip(own, offsets.tolist(), strict=True):
                along, rest = _beside(row, E)
                allowed = 1 + rest * longest + _ROOM * (1 + abs(at))
                rows.append(np.append(along, 0.0) / allowed)
                places.append(at / allowed)
                parts.append(NormBall(1, math.inf))
            continue
        # c²‖η‖² + 2⟨g, η⟩ + ‖o‖² ≤ 1, with all that is not quite so on the right
        square, uneven = _shape(own)
        along, rest = _beside(own.T @ offsets, E)
        size, center = float(offsets @ offsets), along / square
        slack = (
            (uneven + square * _ROOM) * longest * longest + 2 * rest * longest + _ROOM * (1 + size)
        )
        room = 1 - size + square * float(center @ center) + slack
        if not 0 < room < math.inf:
            return None
        scale = math.sqrt(square / room) * (1 - _ROOM)
        rows += list(scale * np.eye(u + 1))
        places += [*(scale * center), 0.0]
        parts.append(NormBall(u + 1, 2.0))
    core = Section(frozen(np.array(rows)), frozen(np.array(places)), product_ball(parts))
    return core if core.margin > 0 and np.all(np.isfinite(core.extent)) else None


def _beside(vector: Vector, E: Vector) -> tuple[Vector, float]:
    """Return Eᵀv, and at least how long the rest of v is, with what is rounded."""
    along = E.T @ vector
    rest = float(np.linalg.norm(vector - E @ along))
    return np.asarray(along), rest + float(np.linalg.norm(vector)) * _ROOM


def _span(vectors: list[Vector], size: float) -> Vector:
    """Return orthonormal columns that span vectors longer than a rounding of `size`, (d, u)."""
    rows = np.array(vectors)
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > _ALIKE * size] / lengths[lengths > _ALIKE * size, None]
    if not len(rows):
        return np.zeros((len(vectors[0]), 0))
    _, values, turned = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(turned[values > _ALIKE * values[0]].T)
