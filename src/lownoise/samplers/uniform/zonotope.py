# SPDX-License-Identifier: Apache-2.0
"""Uniform points of zonotopes Z = Σ [−gⱼ, gⱼ], by a tiling with parallelepipeds.

Shephard 1974 (McMullen 1975): Z is tiled by one translate of Σ_{i∈b} [−gᵢ, gᵢ] for each basis b
among the generators. To find them, lift: give each gⱼ a height wⱼ. Over x ∈ Z the largest height
of Σ λⱼ(gⱼ, wⱼ), |λ| ≤ 1, is a concave function; its pieces of linearity, projected, tile Z. A
piece with slope l consists of the λ that maximise Σ λⱼ(wⱼ − ⟨l, gⱼ⟩): where that number is not 0,
λⱼ is its sign. If the heights are generic, it is 0 on a basis b and nowhere else; then l solves
⟨l, gᵢ⟩ = wᵢ on b, and every basis has its l. The tile of b is

    Σ_{j∉b} sⱼgⱼ + Σ_{i∈b} [−gᵢ, gᵢ],   sⱼ = sign(wⱼ − ⟨l, gⱼ⟩) = sign(wⱼ − Σ_{i∈b} cᵢwᵢ),

gⱼ = Σ_{i∈b} cᵢgᵢ. With wₖ = Wᵏ, W beyond all else, the heights are generic for certain, as the
coefficient of wⱼ is 1; and the sign is that of the last of the coefficients (1 of wⱼ, −cᵢ of wᵢ)
that is not 0. Volumes are 2^d|det|: integers but for a common factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb_mat, fmpz_mat

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.lazy import Composed, UniformBits, chosen
from lownoise.samplers.uniform.abstract import AbstractTiled, Dyadic, dyadic, uniforms

if TYPE_CHECKING:
    from fractions import Fraction

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy

MOST_PIECES = 200_000
_BLOCK = 1 << 20
_THIN = 1e-15  # of the largest piece: less is nothing to a prediction


@final
@dataclass(frozen=True, eq=False)
class UniformZonotope(AbstractTiled):
    """Uniform points of the sum of the segments [−gⱼ, gⱼ].

    Args:
        generators: gⱼ, shape (N, d), of rank d; exactly the stored floats. Zeros and parallels may
            be among them.

    Raises:
        PlanError: where the generators are not of rank d, or have more than MOST_PIECES choices of
            d among them.

    Examples:
        >>> square = UniformZonotope(np.array([[2.0, 0.0], [0.0, 3.0]]))
        >>> square.second_moment()
        array([[1.33333333, 0.        ],
               [0.        , 3.        ]])
        >>> square.volume
        Fraction(24, 1)
    """

    generators: Vector

    def __post_init__(self) -> None:
        given = matrix(self.generators, field="UniformZonotope.generators", error=PlanError)
        rows = frozen(given[np.any(given != 0, axis=1)])
        object.__setattr__(self, "generators", rows)
        n, d = rows.shape
        if d == 0 or n < d:
            raise PlanError(
                f"UniformZonotope.generators: {n} that are not 0 span no {d} dimensions; "
                "give as many as coordinates, or work in their span"
            )
        if math.comb(n, d) > MOST_PIECES:
            raise PlanError(
                f"UniformZonotope.generators: {n} in {d} dimensions make {math.comb(n, d)} pieces, "
                f"more than {MOST_PIECES}; give at most {_most_generators(d)} generators in {d} "
                f"dimensions, {n} in at most {_most_dimensions(n)}, or use a body around them"
            )
        if not self._pieces:
            raise PlanError(f"UniformZonotope.generators have a rank below {d}; work in their span")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.generators.shape[1])

    @property
    def volume(self) -> Fraction:
        """The exact volume of the body."""
        return self._exact.unit() * (self.cumulative[-1] << self.dimension)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        piece = chosen(self.cumulative, randomness=randomness)
        basis = self._pieces[piece]
        signs = self._signs(basis)

        def place(balls: list[Any]) -> list[Any]:
            shares: list[Any] = list(signs)
            for i, u in zip(basis, balls, strict=True):
                shares[i] = 2 * u - 1
            found: list[Any] = (arb_mat(1, len(shares), shares) * self._floats).entries()
            return found

        d = self.dimension
        return Composed(d, (UniformBits(randomness.words(d)),), place)

    def second_moment(self) -> Vector:
        """Return E u·uᵀ, shape (d, d): a sum over the pieces, in floats."""
        d = self.dimension
        found = np.zeros((d, d))
        thick = np.flatnonzero(self.shares > _THIN)
        step = max(_BLOCK // (len(self.generators) * d), 1)
        for start in range(0, len(thick), step):
            pieces = thick[start : start + step]
            centers, sides = self._placed(pieces)
            share = self.shares[pieces]
            found += (share[:, None] * centers).T @ centers
            found += np.einsum("p,pia,pib->ab", share / 3, sides, sides)
        return frozen(found / np.sum(self.shares[thick]))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        picks = self.picks(count, randomness)
        pieces, own = np.unique(picks, return_inverse=True)
        centers, sides = self._placed(pieces)
        v = 2 * uniforms(randomness, count, self.dimension) - 1
        return np.asarray(centers[own] + np.einsum("ni,nia->na", v, sides[own]))

    @cached_property
    def _exact(self) -> Dyadic:
        return dyadic(self.generators)

    @cached_property
    def _floats(self) -> Any:  # noqa: ANN401 (flint carries no types)
        return arb_mat(*self.generators.shape, self.generators.ravel().tolist())

    @cached_property
    def _weighed(self) -> tuple[list[tuple[int, ...]], list[int]]:
        n, d = self.generators.shape
        pieces: list[tuple[int, ...]] = []
        weights = []
        for basis in combinations(range(n), d):
            weight = abs(int(self._exact.square(basis).det()))
            if weight:
                pieces.append(basis)
                weights.append(weight)
        return pieces, weights

    @property
    def _pieces(self) -> list[tuple[int, ...]]:
        return self._weighed[0]

    @property
    def weights(self) -> list[int]:
        """The pieces' |determinants|."""
        return self._weighed[1]

    def _signs(self, basis: tuple[int, ...]) -> list[int]:
        """Return sⱼ for each generator; what it says on the basis means nothing."""
        others = [j for j in range(len(self.generators)) if j not in basis]
        signs = [1] * len(self.generators)
        if not others:
            return signs
        rows = self._exact.rows
        given = fmpz_mat([rows[j] for j in others]).transpose()
        coefficients = self._exact.square(basis).transpose().solve(given)
        for k, j in enumerate(others):
            for place in range(len(basis) - 1, -1, -1):
                c = coefficients[place, k]
                if basis[place] > j and c != 0:
                    signs[j] = -1 if c > 0 else 1
                    break
        return signs

    def _placed(self, pieces: Integers) -> tuple[Vector, Vector]:
        """Return centers and sides of pieces of a tiling in floats; shapes (p, d), (p, d, d).

        By heights of its own: any tiling has the same points, and those of `_signs` would ask which
        coefficients are 0.
        """
        G = self.generators
        heights = uniforms(SimulationRandomness(len(G)), len(G)) * np.max(np.abs(G))
        spanning = np.array([self._pieces[i] for i in pieces.tolist()])
        sides = G[spanning]
        slopes = np.linalg.solve(sides, heights[spanning][:, :, None])[:, :, 0]
        signs = np.sign(heights - slopes @ G.T)
        np.put_along_axis(signs, spanning, 0.0, axis=1)
        return signs @ G, sides


def _most_generators(dimension: int) -> int:
    """Return how many generators in so many dimensions make no more pieces than are sampled."""
    n = dimension
    while math.comb(n + 1, dimension) <= MOST_PIECES:
        n += 1
    return n


def _most_dimensions(count: int) -> int:
    """Return in up to how many dimensions so many generators make no more; 0 in none."""
    d = 0
    while d < count // 2 and math.comb(count, d + 1) <= MOST_PIECES:
        d += 1
    return d
