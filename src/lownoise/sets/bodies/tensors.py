# SPDX-License-Identifier: Apache-2.0
"""Moment tensors of the Euclidean ball, and their differences, up to rotations (ours).

Averaged over all rotations, an ellipsoid around {x ⊗ … ⊗ x : |x| ≤ 1} has one variance mₖ for each
harmonic part of the tensors. With yₖ = aₖ/mₖ the length of x ⊗ … ⊗ x is Σ yₖ·|x|^{2ℓ}; where ℓ is
even the part of degree 0, fixed by all rotations, is taken about a center, and x = 0 counts too.
For differences it is Σ yₖ·(s² + t² − 2stPₖ(u)) with s, t = |x|^ℓ, |y|^ℓ and u the cosine between x
and y: convex in (s, t), so greatest where each is 0 or 1.

What one record changes in sums of moment tensors of the ball, monomial by monomial (ours).

With m the monomials of a point of the unit ball the changes are size·(m − m'), or, the count being
released too, ±(size·m − offset, last). Whatever matrix they are seen through, a quadratic form that
rotations leave as it is bounds how far they reach: it has one number yₖ for each harmonic part,

    s = size·(m − m'):  sᵀNs = Σ (yₖ/aₖ)·|Πₖ(w − w')|²,  w = x ⊗ … ⊗ x,

and its greatest value is that of `TensorBall`. With the count, r = |x|^ℓ and ℓ even, the part of
degree 0 is r times the mean over the sphere, and what rotations leave is a form of (r, 1), written
y₀(r − β)² + y: convex in r, so greatest at x = 0 or on the sphere. Where ℓ is odd x ↦ −x makes it
diagonal. For any N ≻ 0 and any Y, ‖Ys‖² ≤ ‖YN⁻¹Yᵀ‖·sᵀNs; N is the form of YᵀY, averaged over
rotations, which loses nothing where YᵀY is one already. Nothing an optimiser says is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import euclidean
from lownoise.numbers.rounding import FEW, POWER, ROUGH, SLACK, grown, growth, spectral_up
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.harmonics import (
    Harmonics,
    copies,
    harmonics,
    kernels,
    monomials,
    multiplicities,
    sphere_moments,
)
from lownoise.sets.unit_balls.mixtures import best_mixture

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

_FIRST = 17
_NEAR = 1e-9
_NODES = 5000  # in parts of the power
_FAINT = 2.0**-60  # of the greatest number of a form
_FEW_ROWS = 16
_BLOCK = 1 << 20  # numbers


@final
@dataclass(frozen=True)
class TensorBall:
    """The hull of x ⊗ … ⊗ x, |x|^power ≤ value, wherever it may stand; or of all differences.

    Args:
        size: d ≥ 2.
        power: ℓ.
        value: the greatest length of a tensor.
        differences: whether it holds differences of tensors.
    """

    size: int
    power: int
    value: float
    differences: bool

    @property
    def parts(self) -> Harmonics:
        """The parts of symmetric tensors."""
        return harmonics(self.size, self.power)

    @property
    def dimension(self) -> int:
        """The number of entries d^ℓ."""
        return int(self.size**self.power)

    @property
    def odd(self) -> bool:
        """Whether it is symmetric as it is."""
        return self.power % 2 == 1

    @cached_property
    def angles(self) -> Vector:
        """Cosines between x and y that are looked at, shape (n,): Chebyshev's nodes."""
        nodes = _NODES * self.power
        return frozen(np.cos((np.arange(nodes) + 0.5) * math.pi / (2 * nodes)))

    @cached_property
    def table(self) -> Vector:
        """What multiplies each yₖ: of x alone, then of pairs at each angle, shape (1 + n, c)."""
        first = np.ones((1, len(self.parts.degrees)))
        return frozen(np.vstack([first, self.pairs(self.angles)]))

    @property
    def multipliers(self) -> None:
        """None: its bound takes none."""
        return

    def pairs(self, angles: Vector) -> Vector:
        """Return 2(1 − Pₖ(u)) for each angle and part, shape (n, c)."""
        return np.asarray(2 * (1 - self.parts.zonal(angles)))

    def energy_up(self, y: Vector) -> float:
        """Return at least the greatest length, squared, where value is 1; y ≥ 0, shape (c,).

        Between nodes a polynomial of degree ℓ is at most 1/cos(ℓπ/2M) times as far from any number
        as at M Chebyshev nodes of [−1, 1] (Ehlich and Zeller 1964).
        """
        total = float(np.sum(y))
        if self.odd:
            return grown((4 if self.differences else 1) * total)
        fixed = float(y[-1])
        if not self.differences:
            rest = total - fixed
            found = rest if rest >= fixed else total * total / (4 * fixed)
            return grown(found)
        far = self.pairs(self.angles) @ y
        high, low = float(np.max(far)), float(np.min(far))
        beyond = (high - low) / 2 * (1 / math.cos(math.pi / (4 * _NODES)) - 1)
        return grown(max(total, high + beyond))

    def share(self, y: Vector) -> float:
        """Return how far along the mean over the sphere the best center of K stands, of 1."""
        if self.odd or self.differences:
            return 0.0
        total, fixed = float(np.sum(y)), float(y[-1])
        return min(1.0, total / (2 * fixed))

    def mixture(self, gains: Vector) -> Vector:
        """Return the measure that makes Σ √(gains·squares) greatest, nearly; shape (c,) of gains.

        Of K the mass of the sphere, the rest being at 0; of differences the masses of the rows of
        `table`.
        """
        if self.odd:
            return np.ones(1)
        roots = np.sqrt(gains)
        if self.differences:
            return self._paired(roots)
        rest, fixed = float(np.sum(roots[:-1])), float(roots[-1])
        if not fixed > 0:
            return np.ones(1)
        # √w·(rest + fixed·√(1 − w)) is greatest at this s = √(1 − w)
        s = (math.hypot(rest, math.sqrt(8) * fixed) - rest) / (4 * fixed)
        return np.array([1 - s * s])

    def _paired(self, roots: Vector) -> Vector:
        """Return the best measure on rows of `table`, found on a few rows, more where one binds."""
        rows = np.unique(np.linspace(0, len(self.table) - 1, _FIRST).round().astype(int))
        measure, least = np.zeros(len(self.table)), math.inf
        for _ in range(_FIRST):
            omega = best_mixture(self.table[rows], roots)
            squares = omega @ self.table[rows]
            extent = self.table @ (roots / np.sqrt(squares))
            worst = int(np.argmax(extent))
            off = float(extent[worst] / (roots @ np.sqrt(squares)))
            if off < least:  # rows that nearly agree can spoil a later mixture
                least = off
                measure = np.zeros(len(self.table))
                measure[rows] = omega
            if off <= 1 + _NEAR or worst in rows:
                break
            rows = np.append(rows, worst)
        return measure

    def squares(self, alone: float, weights: Vector, angles: Vector) -> Vector:
        """Return the squared lengths of the parts under a measure, in parts of aₖ, shape (c,).

        Args:
            alone: the mass of single tensors, at most 1.
            weights: the masses of pairs, shape (n,).
            angles: the cosines of those, shape (n,).
        """
        count = len(self.parts.degrees)
        if self.odd:
            return np.full(count, 4.0 if self.differences else 1.0)
        if self.differences:
            return np.asarray(alone + weights @ np.maximum(self.pairs(angles), 0.0))
        return np.append(np.full(count - 1, alone), alone * (1 - alone))

    def best_squares(self, gains: Vector) -> Vector:
        """Return the squares that make Σ √(gains·squares) greatest, nearly; shapes (c,)."""
        measure = self.mixture(gains)
        if self.differences and not self.odd:
            return np.asarray(measure @ self.table)
        return self.squares(float(measure[0]), np.zeros(0), np.zeros(0))

    def covering_up(self, shape: AbstractShape, order: float, weights: Vector) -> float:
        """Return what `AbstractBody.covering_up` does.

        Args:
            shape: one deviation for each part, where the greatest length of a tensor is 1.
            order: p in [2, ∞].
            weights: ω > 0 of every answer alike, shape (1,).

        Raises:
            PlanError: where some part has no noise.
        """
        m, parts = np.square(shape.deviations()), self.parts
        if m.shape != parts.shares.shape or not np.all(m > 0):
            raise PlanError("claim has no noise for some part of its tensors; solve again")
        extent = math.sqrt(self.energy_up(parts.shares / m))
        size = self.norm(parts.table @ m, order)
        return grown(self.value * float(weights[0]) * extent * size)

    def norm(self, variances: Vector, order: float) -> float:
        """Return ‖deviations‖_p of entries whose kinds have these variances."""
        deviations = np.sqrt(variances)
        top = float(np.max(deviations))
        if math.isinf(order) or not top:
            return top
        total = math.fsum(self.parts.counts * (deviations / top) ** order)
        return float(top * total ** (1 / order))


@final
@dataclass(frozen=True, eq=False)
class TensorChanges(AbstractBody):
    """All changes to the different entries of tensors x ⊗ … ⊗ x, and maybe to their count.

    Args:
        ball: the tensors, or their differences, of length up to 1; `value` is not looked at.
        size: what a monomial is worth, above 0, shape (k,).
        offset: what is taken off where the count is changed, shape (k,).
        last: what a record counts for, above 0; None of differences.

    Raises:
        PlanError: where the sizes do not match.
    """

    ball: TensorBall
    size: Vector
    offset: Vector
    last: float | None = None

    def __post_init__(self) -> None:
        count = len(monomials(self.ball.size, self.ball.power))
        if not (self.size.shape == self.offset.shape == (count,) and np.all(self.size > 0)):
            raise PlanError(f"TensorChanges.size is not {count} numbers above 0; give one each")
        if self.ball.differences != (self.last is None):
            raise PlanError("TensorChanges.last is for single tensors; leave it out of differences")

    @property
    def counted(self) -> bool:
        """Whether the count is the last coordinate."""
        return self.last is not None

    @property
    def dimension(self) -> int:
        """The number of monomials, and one for the count."""
        return self.size.size + self.counted

    @property
    def spanning(self) -> Vector:
        """The unit vectors: it is full."""
        return np.eye(self.dimension)

    @cached_property
    def mean(self) -> Vector:
        """The mean of the monomials over the unit sphere, shape (k,); 0 for an odd power."""
        return frozen(sphere_moments(monomials(self.ball.size, self.ball.power)))

    def seen(self, matrix: Vector) -> tuple[Vector, Vector]:
        """Return what `matrix` makes of monomials and of the constant 1; shapes (r, k) and (r,)."""
        k = self.size.size
        image = matrix[:, :k] * self.size
        if self.last is None:
            return image, np.zeros(len(matrix))
        return image, matrix[:, k] * self.last - matrix[:, :k] @ self.offset

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·s‖ over the body; `center` is 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            image, column = self.seen(matrix)
            own, constant = self._sizes(matrix)
            if not all(np.all(np.isfinite(each)) for each in (image, column, own, constant)):
                return math.inf
            hidden = growth(3) * euclidean(own) + growth(self.dimension + 3) * euclidean(constant)
            found = self._bounded(image, column)
            if len(matrix) <= _FEW_ROWS:  # at most what its rows reach alone
                found = min(found, euclidean(self._extents(image, column)))
            return grown(found + grown(hidden, ROUGH), FEW)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·s|, row by row, shape (r,); `center` is 0."""
        image, column = self.seen(matrix)
        own, constant = self._sizes(matrix)
        hidden = growth(self.dimension + 3) * (own + constant)
        return np.asarray(grown(self._extents(image, column) + hidden, FEW))

    def _sizes(self, matrix: Vector) -> tuple[Vector, Vector]:
        """Return at least the sums of what `seen` rounds, for monomials up to 1; shapes (r,)."""
        size = np.abs(matrix[:, : self.size.size])
        if self.last is None:
            return 2 * size @ self.size, np.zeros(len(matrix))
        return size @ self.size, size @ np.abs(self.offset) + np.abs(matrix[:, -1]) * self.last

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""
        return replace(
            self,
            size=frozen(factor * self.size),
            offset=frozen(factor * self.offset),
            last=None if self.last is None else factor * self.last,
        )

    def _bounded(self, image: Vector, column: Vector) -> float:
        """Return at least max ‖image·(m − m')‖, or max ‖image·m + column‖."""
        top = max(float(np.max(np.abs(image))), float(np.max(np.abs(column))))
        if not top:
            return 0.0
        unit = math.ldexp(1.0, math.frexp(top)[1])
        image, column = image / unit, column / unit
        if len(image) > self.dimension + 1:
            image, column = _folded(np.hstack([image, column[:, None]]))
        parts, even = self.ball.parts, not self.ball.odd
        own = kernels(self.ball.size, self.ball.power)
        y = np.array([np.sum((image @ kernel) * image) for kernel in own])
        y *= parts.shares / parts.dimensions
        along = image @ self.mean
        beta = bottom = 0.0
        if self.counted:
            bottom = float(column @ column)
            if even:
                y[-1] = float(along @ along)
                beta = -float(along @ column) / max(float(y[-1]), _FAINT)
                bottom += beta * float(along @ column)
        floor = _FAINT * max(float(np.max(y)), bottom)
        y = np.maximum(y, floor)
        inverse = sum(
            a / each * kernel for a, each, kernel in zip(parts.shares, y, own, strict=True)
        )
        cover = image @ (inverse @ image.T)
        size = np.abs(image) @ (abs(inverse) @ np.abs(image).T)
        if self.counted:
            bottom = max(bottom, floor)
            across = column + beta * along
            far = np.abs(column) + abs(beta) * (np.abs(image) @ self.mean)
            cover += np.outer(across, across / bottom)
            size += np.outer(far, far / bottom)
        doubt = growth(4 * self.dimension + 99) * float(np.linalg.norm(size))
        energy = self._energy_up(y, beta, bottom)
        square = (spectral_up((cover + cover.T) / 2) + doubt) * energy
        return grown(unit * math.sqrt(square), POWER) if math.isfinite(square) else math.inf

    def _energy_up(self, y: Vector, beta: float, bottom: float) -> float:
        """Return at least the greatest value of the form."""
        if not self.counted:
            return self.ball.energy_up(y)
        if self.ball.odd:
            return grown(math.fsum(y) + bottom)
        fixed = float(y[-1])
        ends = (fixed * beta**2, math.fsum(y[:-1]) + fixed * (1 - beta) ** 2)
        return grown(max(ends) + bottom)

    def _extents(self, image: Vector, column: Vector) -> Vector:
        """Return at least max |θ·(m − m')|, or |θ·m + c|, row by row.

        θ·m is x ⊗ … ⊗ x times the symmetric tensor θ/D, of which a matrix is made.
        """
        d, power = self.ball.size, self.ball.power
        rows, back = np.unique(np.hstack([image, column[:, None]]), axis=0, return_inverse=True)
        theta = rows[:, :-1] / multiplicities(d, power)
        found = np.empty(len(rows))
        step = max(_BLOCK // d**power, 1)
        for start in range(0, len(rows), step):
            part = theta[start : start + step][:, copies(d, power)]
            table = part.reshape(len(part), d ** (power // 2), -1)
            off = SLACK * np.linalg.norm(part, axis=1)
            c = rows[start : start + step, -1]
            if self.ball.odd:
                high = np.linalg.norm(table, 2, axis=(1, 2)) + off
                low = -high
            else:
                values = np.linalg.eigvalsh(table)
                high = np.maximum(values[:, -1], 0.0) + off
                low = np.minimum(values[:, 0], 0.0) - off
            ends = high - low
            if self.counted:
                ends = np.maximum(np.abs(high + c), np.abs(low + c))
            found[start : start + step] = ends
        return found[np.ravel(back)]


def _folded(rows: Vector) -> tuple[Vector, Vector]:
    """Return a square matrix that makes nothing shorter than `rows` do, in two pieces.

    A triangle R of RᵀR = rowsᵀrows + ε, where ε covers what products and the factorization round.
    """
    n, k = rows.shape
    gram = rows.T @ rows
    slack = 4 * growth(n + 4 * k + 99) * float(np.sum(rows * rows))
    triangle: Vector = np.linalg.cholesky(gram + slack * np.eye(k)).T.astype(float)
    return triangle[:, :-1], triangle[:, -1]
