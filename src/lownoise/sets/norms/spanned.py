# SPDX-License-Identifier: Apache-2.0
"""The norm of the hull of points in too many dimensions for its facets: by linear programmes.

Of hardly more points than dimensions simplices of its boundary are tried for; elsewhere points of
its unit ball in an ellipsoid around it, or it is walked in. With weights
u ≥ 0, Σ uⱼ = 1, and M = Σ uⱼpⱼpⱼᵀ, max |⟨w, pⱼ⟩|² is at least wᵀMw; so the unit ball holds F·rB₂
where r²FFᵀ ⪯ M, and it is in F·RB₂, R the greatest |F⁻¹pⱼ|.
The weights that make R/r = √d are those of the least ellipsoid around the points (John 1948), found
by iteration; any are sound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.numbers.normals import normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import ROUGH, down, grown, growth, spectral_up, up
from lownoise.samplers.uniform import UniformBases
from lownoise.samplers.uniform.bases import work_of
from lownoise.samplers.walks import RoundBody, Spanned, Within, walk
from lownoise.sets.norms.abstract import among, integral
from lownoise.sets.norms.combination import AbstractCombined, inverse_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import PointDifferences, SymmetricPoints

RELATIVE = 1e-9  # of a density: what the walk may be off by, which costs twice that in ε
_ROUNDS, _LEAST_ROUNDS = 400, 40
_MOST_NUMBERS = 1 << 24  # that are turned in all rounds
_MOST_PRODUCTS = 1 << 25  # of directions and points
_MOST_DIMENSIONS, _USUAL = 24, 14  # beyond which no list is drawn from, and in which most are
_SEED = 20261123
_DIRECTIONS, _BLOCK = 1 << 14, 1 << 8
_MOST_PAIRS = 1 << 13
_PILOTS = 16
_MOST_TRIES = 1e7  # for a point: about half a minute
_QUICK, _LONG = 1e5, 2e7  # microseconds a point takes by tries: drawn at once, and at the most


@final
@dataclass(frozen=True, eq=False)
class SpannedNorm(AbstractCombined):
    """‖s‖ = min {Σ|λᵢ| : Σ λᵢpᵢ = s}: the unit ball is the hull of ±p₁, …, ±p_N, in R^d.

    Args:
        rows: p, shape (N, d).
        sampled: what was sampled of this hull in another size, its second moments in this one, and
            its share of the ball around; None where nothing was.

    Examples:
        >>> norm = SpannedNorm(np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]))
        >>> norm.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    order = 1.0
    called = "points"
    sampled: tuple[Vector, float] | None = None

    def scaled(self, factor: float) -> SpannedNorm:
        """Return the norm of the rows, all scaled, with what is known of these."""
        known = self.sampled
        if known is None and "_estimates" in vars(self):
            known = self._estimates
        more = None if known is None else (frozen(known[0] * factor**2), known[1])
        return SpannedNorm(frozen(factor * self.rows), sampled=more)

    @cached_property
    def _rounded(self) -> tuple[Vector, float, float]:
        return self._round()

    @cached_property
    def _estimates(self) -> tuple[Vector, float]:
        factor, _, outer = self._rounded
        return self.sampled or self._moment(factor, outer)

    @cached_property
    def _membership(self) -> Spanned:
        return Spanned(self.rows, self._combination.rough_up(np.eye(self.dimension)))

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Points of the hull: exactly uniform where few tries are made for one.

        Of its simplices, or of points of an ellipsoid around it. Elsewhere by a walk, uniform but
        for a relative error that is proved.
        """
        n, d = self.rows.shape
        few = work_of(n, d) if n > d else math.inf
        if few <= _QUICK:
            return UniformBases(self.rows)
        if d > _MOST_DIMENSIONS:
            least = max(k for k in range(1, d) if work_of(d + k, d) <= _QUICK)
            raise PlanError(
                f"points of the hull of {n:,} points in {d} dimensions are not found in a minute, "
                f"by tries or a walk; ask {_USUAL} answers at once, or fewer, or of a hull of "
                f'{d + least} points, or use mechanism="ellipsoid"',
            )
        factor, inner, outer = self._rounded
        moment, share = self._estimates
        body = RoundBody(membership=self._membership, factor=factor, inner=inner, outer=outer)
        tried = Within(body=body, moment=moment, share=share)
        if few < min(tried.work, _LONG):
            return UniformBases(self.rows, moment)
        if share * _MOST_TRIES >= 1:
            return tried
        try:
            return walk(
                self._membership,
                factor,
                inner,
                outer,
                relative=RELATIVE,
                pilots=_PILOTS,
                moment=moment,
            )
        except PlanError:
            # volumes are powers of the dimension, or nearly
            most = min(int(d * math.log(_MOST_TRIES) / -math.log(max(share, 1e-300))), d - 1)
            raise PlanError(
                f"a point of the hull of {n:,} points in {d} dimensions takes over a minute, by "
                f"about {1 / max(share, 1e-300):.1g} tries or a walk; ask {most} answers at once, "
                'or fewer, or use mechanism="ellipsoid"',
            ) from None

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm; 1 for the points of the hull themselves."""
        found = np.ones(len(points))
        left = np.flatnonzero(~among(points, self.rows))
        step = max((1 << 20) // max(self.rows.size, 1), 1)
        for at in range(0, left.size, step):
            some = left[at : at + step]
            found[some] = self._membership.norms_up(points[some])
        return found

    def akin_points_up(self, body: SymmetricPoints) -> float:
        """Return at least the norm of points p', each nearly the same multiple of its p."""
        return self._combination.near_up(body.points.T)

    def akin_differences_up(self, body: PointDifferences) -> float:
        """Return at least the norm of all differences, one by one."""
        n = len(body.points)
        if n * (n - 1) // 2 > _MOST_PAIRS or not integral(body.points):
            return math.inf
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        return float(np.max(self.norm_up(body.vertices(pairs)), initial=0.0))

    def _round(self) -> tuple[Vector, float, float]:
        """Return F, shape (d, d), and radii of balls in and around the hull in its coordinates."""
        n, d = self.rows.shape
        unit = np.max(np.abs(self.rows), axis=0)
        own, weights = self.rows / unit, np.full(n, 1 / n)
        for _ in range(max(min(_ROUNDS, _MOST_NUMBERS // self.rows.size), _LEAST_ROUNDS)):
            turn = np.linalg.qr(np.sqrt(weights)[:, None] * own)[0]
            shares = np.einsum("ij,ij->i", turn, turn)  # they sum to d
            weights = np.maximum(shares / d, 2.0**-60)
        weights = weights / (np.sum(weights) * (1 + growth(n + 9)))
        root = np.sqrt(d * weights)[:, None] * self.rows
        factor = frozen(np.ascontiguousarray(triangle_of(root).T))
        white = inverse_of(factor, NormBall(d, 2.0)).sure(f"{n} points in {d} dimensions are")
        image = self.rows @ white.matrix.T
        size = np.abs(self.rows) @ np.abs(white.matrix.T)
        lost = grown(growth(d + 9) * size, ROUGH)
        lengths = np.linalg.norm(np.abs(image) + lost, axis=1) * (1 + growth(d + 9))
        outer = up(float(np.max(lengths)) * white.stretch)
        # F⁻¹MF⁻ᵀ = Y⁻¹(XMXᵀ)Y⁻ᵀ with Y = XF, ‖Y‖ ≤ 1 + defect
        moment = (image * weights[:, None]).T @ image
        off = 4 * growth(n + d + 9) * float(np.sum(weights[:, None] * (np.abs(image) + size) ** 2))
        least = 1 / d - up(spectral_up(np.eye(d) / d - moment) + off)
        if not least > 0:
            raise PlanError(
                f"{n} points in {d} dimensions are too nearly flat; leave out an answer"
            )
        stretch = 1 + (1 - 1 / white.stretch) * (1 + growth(9))
        return factor, min(down(math.sqrt(least) / stretch * (1 - growth(20))), outer), outer

    def _moment(self, factor: Vector, outer: float) -> tuple[Vector, float]:
        """Return estimates of E u·uᵀ, and of the share of the ball of radius `outer`.

        With u = ρFθ, |θ| = 1, ρ has a density ∝ ρ^{d−1} up to 1/‖Fθ‖.
        """
        d = self.dimension
        count = max(min(_DIRECTIONS, _MOST_PRODUCTS // len(self.rows)), _BLOCK)
        words = SimulationRandomness(_SEED).words(count * d)
        z = normals(words)[0].reshape(-1, d)
        z = (z / np.linalg.norm(z, axis=1)[:, None]) @ factor.T
        blocks = [z[at : at + _BLOCK] for at in range(0, len(z), _BLOCK)]
        radii = 1 / np.concatenate([self._membership.norms_up(own) for own in blocks])
        weights = (radii / outer) ** d
        share = float(np.mean(weights))
        weights = weights / np.sum(weights) * (d / (d + 2))
        return frozen((z * (weights * radii**2)[:, None]).T @ z), share
