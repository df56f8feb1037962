# SPDX-License-Identifier: Apache-2.0
"""Norms that are known in floats alone: their unit balls are walked in, in total variation."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import growth, up
from lownoise.samplers.gaussian import normals
from lownoise.samplers.uniform import UniformImage
from lownoise.samplers.walks import Weak, walk
from lownoise.sets.norms.abstract import AbstractNorm
from lownoise.sets.norms.combination import Inverse, inverse_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import ImageBody
    from lownoise.sets.unit_balls import AbstractUnitBall

_OUTWARD = 1 + 2.0**-40
_SLACK = 2.0**-44
_UNIT = 2.0**-50
RELATIVE = 1e-9  # of a density: what the walk may be off by, which costs twice that in ε
_TINY = 2.0**-900  # more than what underflows
_PILOTS = 12
_SEED = 20260103
_DIRECTIONS = 1 << 15


@final
@dataclass(frozen=True, eq=False)
class WeakNorm(AbstractNorm):
    """‖s‖ = ‖F⁻¹s‖_B, with a walk in B that asks for no more than B's norm in floats.

    Its points are known in total variation, so noise made of them is (ε, δ) (001, section 8).

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal.
        base: B, d coordinates.
        distance: what total variation is allowed.

    Raises:
        PlanError: where B's norm is not known closely, F is flat, or nothing is allowed; by
            `uniform` where the walk takes too long or is farther off than is allowed.

    Examples:
        >>> from lownoise.sets.unit_balls.norm import SortedBall
        >>> norm = WeakNorm(np.array([2.0, 4.0]), SortedBall(np.array([2.0, 1.0])), 1e-6)
        >>> norm.norm_up(np.array([[2.0, 4.0]])).round(9)
        array([3.])
        >>> 0 < norm.uniform.distance <= 1e-6
        True
    """

    factor: Vector
    base: AbstractUnitBall
    distance: float

    def __post_init__(self) -> None:
        kind, d = type(self.base).__name__, self.base.dimension
        if not self.base.admitted:
            raise PlanError(
                f"{kind} in {d} dimensions has no exact sampler; use (ε, δ), or a domain that is "
                "an image of an ℓ_r ball or a product of such",
            )
        if not self.distance > 0:
            raise PlanError(
                f"{kind} in {d} dimensions is known by its norm in floats (weak membership): its "
                "points are uniform but for a total variation, so no guarantee is pure; give "
                'ln.approx_dp(epsilon, delta) and mechanism="k_norm"',
            )
        if set(self.factor.shape) != {d}:
            raise PlanError(f"factor has shape {self.factor.shape}; give ({d},) or {d, d}")
        if not math.isfinite(self._inverse.stretch):
            raise PlanError(
                f"factor of {d} dimensions is flat, or too nearly so for floats; leave out answers "
                "that follow from others",
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.base.dimension

    @cached_property
    def _inverse(self) -> Inverse:
        if self.factor.ndim == 1:
            regular = np.all(np.isfinite(self.factor) & (self.factor != 0))
            return Inverse(np.zeros(0), 1.0 if regular else math.inf)
        return inverse_of(self.factor, self.base)

    def _back(self, points: Vector) -> tuple[Vector, Vector]:
        """Return X·s nearly, row by row, and how far off each entry can be."""
        if self.factor.ndim == 1:
            found = points / self.factor
            return found, growth(3) * np.abs(found) + _TINY
        matrix = self._inverse.matrix
        size = np.abs(points) @ np.abs(matrix.T)
        return points @ matrix.T, growth(self.dimension + 3) * size * (1 + 2.0**-30) + _TINY

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Points of F·B by the walk: uniform but for what `relative` and `distance` say."""
        inner, outer = self.base.inner_radius, self.base.outer_radius
        membership = Weak(self.base.as_checked(), self.base.norm_excess)
        found = walk(
            membership,
            np.eye(self.dimension),
            inner,
            max(outer, inner),
            relative=RELATIVE,
            distance=self.distance,
            volume=self.base.volume_up(),
            pilots=_PILOTS,
            moment=_moment(self.base),
        )
        return UniformImage(self.factor, found)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖F⁻¹s‖_B."""
        found, off = self._back(points)
        total = self.base.norm_up(found) + self.base.signed_norm_up(off)
        return np.asarray(total * self._inverse.stretch * (1 + 2.0**-50))

    def scaled(self, factor: float) -> WeakNorm:
        """Return the norm of factor·F·B."""
        return WeakNorm(frozen(factor * self.factor), self.base, self.distance)

    def akin_image_up(self, body: ImageBody) -> float:
        """Return at least the norm of F'·B: with XF' = cI + E it is at most c + ‖|E|·widths‖."""
        if not _same(body.base, self.base):
            return math.inf
        if np.array_equal(body.factor, self.factor):
            return 1.0
        if body.dimension != self.dimension:
            return math.inf
        image, off = self._back(np.ascontiguousarray(body.dense.T))
        image = image.T
        most = float(np.max(np.abs(np.diag(image))))
        signs = np.sign(np.diag(image))
        if not np.all(signs == signs[0]):
            return math.inf
        rest = np.abs(image - signs[0] * most * np.eye(self.dimension)) + off.T
        aside = rest @ self.base.widths() * (1 + growth(self.dimension + 9))
        found = most + float(self.base.signed_norm_up(aside[None])[0])
        return up(found * self._inverse.stretch * (1 + growth(9)))

    def akin_box_up(self, half_width: Vector) -> float:
        """Return at least the norm of a box: |X·s| ≤ |X|·h."""
        if self.factor.ndim == 1:
            size = half_width / np.abs(self.factor)
        else:
            size = np.abs(self._inverse.matrix) @ half_width
        size = size * (1 + growth(self.dimension + 9)) + _TINY
        found = float(self.base.signed_norm_up(size[None])[0])
        return up(found * self._inverse.stretch * (1 + growth(9)))


def _moment(base: AbstractUnitBall) -> Vector:
    """Return an estimate of E u·uᵀ over a unit body, a diagonal as its signs have it.

    With u = ρθ, |θ|₂ = 1, the radius has density ∝ ρ^{d−1} up to 1/‖θ‖, so that E uᵢ² is
    d/(d + 2)·E θᵢ²‖θ‖^{−d−2}/E ‖θ‖^{−d} over uniform directions.
    """
    d = base.dimension
    words = SimulationRandomness(_SEED).words(_DIRECTIONS * d)
    z = normals(words)[0].reshape(-1, d)
    z /= np.linalg.norm(z, axis=1)[:, None]
    radii = 1 / base.norm_up(z)
    weights = (radii / np.max(radii)) ** d
    squares = (weights * radii**2) @ np.square(z) / np.sum(weights) * (d / (d + 2))
    return frozen(np.diag(squares))


def _same(first: Any, second: Any) -> bool:  # noqa: ANN401 (fields of unit bodies)
    """Return whether two unit bodies are given by the same numbers."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if hasattr(first, "__dataclass_fields__"):
        return all(_same(getattr(first, f.name), getattr(second, f.name)) for f in fields(first))
    return bool(first == second)
