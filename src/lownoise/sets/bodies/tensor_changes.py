# SPDX-License-Identifier: Apache-2.0
"""What one record changes in sums of moment tensors of the ball, monomial by monomial (ours).

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
from lownoise.numbers.rounding import growth, spectral_up
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.kernels import copies, kernels, monomials, multiplicities, sphere_moments

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.tensor_ball import TensorBall

_SLACK = 2.0**-40
_FAINT = 2.0**-60  # of the greatest number of a form
_FEW_ROWS = 16
_BLOCK = 1 << 20  # numbers


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
    def moves(self) -> bool:
        """It is symmetric: its best center is 0."""
        return False

    @property
    def directions(self) -> Vector:
        """Zero."""
        return np.zeros(self.dimension)

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

    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·s‖ over the body; `center` is 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            image, column = self.seen(matrix)
            own, constant = self._sizes(matrix)
            if not all(np.all(np.isfinite(each)) for each in (image, column, own, constant)):
                return math.inf
            hidden = growth(3) * _length(own) + growth(self.dimension + 3) * _length(constant)
            found = self._bounded(image, column)
            if len(matrix) <= _FEW_ROWS:  # at most what its rows reach alone
                found = min(found, _length(self._extents(image, column)))
            return (found + hidden * (1 + 2.0**-30)) * (1 + 2.0**-48)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·s|, row by row, shape (r,); `center` is 0."""
        image, column = self.seen(matrix)
        own, constant = self._sizes(matrix)
        hidden = growth(self.dimension + 3) * (own + constant)
        return np.asarray((self._extents(image, column) + hidden) * (1 + 2.0**-48))

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
        spread = (spectral_up((cover + cover.T) / 2) + doubt) * energy
        return unit * math.sqrt(spread) * (1 + 2.0**-45) if math.isfinite(spread) else math.inf

    def _energy_up(self, y: Vector, beta: float, bottom: float) -> float:
        """Return at least the greatest value of the form."""
        if not self.counted:
            return self.ball.energy_up(y)
        if self.ball.odd:
            return (math.fsum(y) + bottom) * (1 + _SLACK)
        still = float(y[-1])
        ends = (still * beta**2, math.fsum(y[:-1]) + still * (1 - beta) ** 2)
        return (max(ends) + bottom) * (1 + _SLACK)

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
            off = _SLACK * np.linalg.norm(part, axis=1)
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


def _length(values: Vector) -> float:
    """Return the Euclidean length of values ≥ 0, shape (r,), whatever their size."""
    most = float(np.max(values, initial=0.0))
    return most * float(np.linalg.norm(values / most)) if 0 < most < math.inf else most
