# SPDX-License-Identifier: Apache-2.0
"""The release of a stream: exact integer answers plus integer noise of a factorization's shape.

Let z_t be the integer codes of round t, W ≈ B·C, ξ true normal numbers (n of them, each a vector
with factor L), and η normal numbers of deviation τ. Round t publishes

    Y_t = q_t + w_t + round(η_t),

q_t the integer nearest W·z, w_t the integer nearest the computed B·ξ·Lᵀ, each a function of what
rounds up to t bring. Reveal, beside Y_t, also m_i = (C·z)_i + L·ξ_i as soon as round t may use it.
Given all m so far, z decides ξ, and Y_t is an integer h_t(z) plus round(η_t). Two neighbours z and
z', chosen as what was published suggests, differ in the rounds of one pattern π: C·z by the columns
of C of these rounds, each times a change, and h_t by what is rounded, h_t(z) − h_t(z') =
(W − BC)(z − z') + roundings of both. So every m and every Y_t is a Gaussian whose mean is moved by
a predictable amount, and the squares of all moves, in units of their noise, sum to at most

    μ² = (max_π ‖Σ_{i∈π} C_i ⊗ u_i‖·max ‖L⁻¹s‖)² + Σ_j (δ_j/τ_j)²,   |u_i| ≤ 1:

‖C‖_{1→2}, the longest column of C, where one person adds to one round.

Then all of it is μ-GDP (ours; the theory page has the proof): it is the exact Gaussian curve,
against a stream that looks at every answer before it goes on, and no δ is spent on rounding. Small
moves by rounding are hidden by η, whose variance is small: it grows with the number of rounds, and
as the budget shrinks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import Loss
from lownoise.noise.mechanism import covering
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import OTHER_MACHINE, grown, growth, square_up, up
from lownoise.release.regions import normal_quantile, simultaneous_quantile
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.participation import ONE
from lownoise.sets.bodies import ImageBody, SymmetricBox, SymmetricPoints
from lownoise.streams.pairs import LARGEST, AbstractKeptPair
from lownoise.streams.rounds import AbstractStreamMechanism
from lownoise.streams.strays import drawing, normal_length, normals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness, SimulationRandomness
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.participation import Participation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.streams.pairs import AbstractPair

_FAR = 2.0**100  # beside which a coordinate says nothing
_LEAST_COVER = 2.0**-24
_BLOCK = 1 << 16


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class StreamMechanism(AbstractStreamMechanism):
    """What is published at the end of each round, in integers.

    Args:
        totals: of one round: how its value becomes r integers, and how far a neighbour moves them;
            a count, where there is one, is not published.
        pair: B and C.
        shape: L, the noise of one source in steps, r coordinates.
        cover: τ, the deviations of the noise that hides roundings, in steps, shape (r,).
        strategy: the factorization's name.
        reason: why it was chosen, one sentence.
        participation: the rounds that one person may add to.

    Raises:
        PlanError: where the parts do not fit each other.
    """

    totals: MeanTotals
    pair: AbstractPair
    shape: AbstractShape
    cover: Vector
    strategy: str
    reason: str
    participation: Participation = ONE

    def __post_init__(self) -> None:
        r = self.coding.step.size
        if self.shape.dimension != r or self.shape.sources != r or self.cover.shape != (r,):
            raise PlanError("stream has noise of another number of coordinates; plan again")
        if not np.all(self.cover >= 0):
            raise PlanError("stream has noise of a deviation below 0; plan again")
        self.check(LARGEST * self._row_up)

    @property
    def source_deviations(self) -> Vector:
        """Those of L."""
        return self.shape.deviations()

    def mean_lengths(self) -> Vector:
        """Return those of normal noise, whose law is the same in all rounds but for its size."""
        through, side = self.answer_variances
        own = self.pair.variances(0, self.workload.rounds)
        total = np.sqrt(own * float(np.sum(through)) + float(np.sum(side)))
        return np.asarray(total * normal_length(self.shape, self.answer_rows))

    def widest(self, level: float) -> float:
        """Return that of a normal number."""
        return normal_quantile(level) * self.largest_deviation

    def apart(self, level: float, first: int, count: int) -> Vector:
        """Return that of normal numbers."""
        return normal_quantile(level) * self.deviations(first, count)

    def joint(self, level: float, rounds: int) -> float:
        """Return that of draws, but no more than of as many independent normal numbers."""
        most = simultaneous_quantile(level, rounds * len(self.answer_rows))
        if rounds == 1:
            return most
        try:
            return min(most, float(self.quantiles(level).joint[rounds - 1]))
        except PlanError:
            return most

    def errors(self, outside: float) -> Iterator[Vector]:
        """Return draws of the errors of all answers: B·ξ·Lᵀ, and what hides roundings."""
        n, sources = self.workload.rounds, self.shape.sources
        through = self.answer_rows @ np.stack(list(map(self.shape.apply, np.eye(sources))), axis=1)
        side = self.answer_rows * np.sqrt(self.cover_variances)

        def drawn(k: int, randomness: SimulationRandomness) -> Vector:
            unit = self.pair.linear(normals(randomness, n, k * sources)).reshape(n, k, sources)
            hidden = normals(randomness, n, k, side.shape[1])
            return np.asarray(unit @ through.T + hidden @ side.T)

        return starmap(drawn, drawing(n * (sources + side.shape[1]), outside))

    @property
    def keeps(self) -> bool:
        """Whether the pair keeps numbers for every round."""
        return isinstance(self.pair, AbstractKeptPair)

    @cached_property
    def loss(self) -> Loss:
        """What the whole stream reveals, from the final codes and the final noise alone."""
        main, side = self.main_up, self.side_up
        mu = up(grown(math.hypot(main, side), 2.0**-50)) if main or side else 0.0
        return Loss(math.inf, 0.0, square_up(mu) / 2, mu)

    @cached_property
    def main_up(self) -> float:
        """At least how far one person moves C·x, ‖L⁻¹·‖ in every round: μ but for roundings."""
        shape, changes = self._covered
        radius = changes.radius_up(shape)
        return up(radius * self.pair.sensitivity_up(self.participation)) if radius else 0.0

    @property
    def side_up(self) -> float:
        """At least √Σ_j (δ_j/τ_j)²: what roundings show, where they are hidden least."""
        with np.errstate(divide="ignore"):
            parts = np.divide(self._moves, self.cover, where=self._moves > 0, out=0 * self.cover)
        return float(np.linalg.norm(parts)) * (1 + growth(parts.size + 4))

    @property
    def _covered(self) -> tuple[AbstractShape, AbstractBody]:
        """Noise and the changes of one round's codes; where these carry a count, it is hidden."""
        changes = self.totals.changes
        if not self.relation.counted:
            return self.shape, changes
        if isinstance(changes, SymmetricBox):
            return self.shape, SymmetricBox(frozen(changes.half_width[:-1].copy()))
        if isinstance(changes, SymmetricPoints):
            return self.shape, changes.projected(np.arange(changes.dimension - 1))
        if isinstance(changes, ImageBody):
            rows = ImageBody(frozen(changes.dense[:-1].copy()), changes.base)
            return self.shape, rows if changes.multipliers is None else rows.with_multipliers(
                changes.multipliers
            )
        # a coordinate under so much noise moves the radius by nothing, and never down
        if isinstance(self.shape, DiagonalShape):
            return DiagonalShape(np.append(self.shape.scale, _FAR)), changes
        if not isinstance(self.shape, DenseShape):
            raise PlanError(f"shape={type(self.shape).__name__} is of no known kind; plan again")
        r = self.shape.dimension
        wide = np.zeros((r + 1, r + 1))
        wide[:r, :r], wide[r, r] = self.shape.factor, _FAR
        return DenseShape(wide), changes

    @cached_property
    def _row_sums(self) -> Vector:
        """At least Σ_k|L_jk|, shape (r,)."""
        r = self.shape.dimension
        return self.shape.apply_abs(np.ones(r)) * (1 + growth(r + 2))

    @property
    def _row_up(self) -> Vector:
        """At least the deviation of w_t in any round, were all numbers 1, shape (r,)."""
        return self._row_sums * math.sqrt(self.pair.largest_variance) * 4 + 16 * self.cover

    @cached_property
    def _moves(self) -> Vector:
        """At least how far all h_t of neighbours are apart by rounding, shape (r,)."""
        n, r = self.workload.rounds, self.shape.dimension
        whole = math.sqrt(n)
        # what is off in w: B·z, its product with L, the integer, and the integer of an excess,
        # each less than a step
        off = self._row_sums * (self.pair.error_up + growth(r + 3) * self.pair.size_up) + 2 * whole
        slack = np.array([self.workload.slack(extent) for extent in self.extent_steps])
        residual = self.participation.count * self.pair.residual_up
        moves = 2 * (off + slack * whole) + residual * self.change_steps
        constant = self.change_steps == 0
        return frozen(np.where(constant, 0.0, grown(moves)))

    def integers(self, unit: Vector, randomness: Randomness) -> Integers:
        """Return the noise of some rounds, shape (k, r): L·unit and what hides its rounding.

        Args:
            unit: rows of B·z, shape (k, r).
            randomness: where the covering noise comes from.
        """
        k, r = unit.shape
        found = np.empty((k, r), dtype=np.int64)
        for start in range(0, k, _BLOCK):
            own = unit[start : start + _BLOCK]
            if isinstance(self.shape, DiagonalShape):
                whole = own * self.shape.scale
            else:
                whole = np.stack([self.shape.apply(row) for row in own])
            cover = DiagonalShape(np.tile(self.cover, len(own)))
            hidden = rounded_gaussian(cover, randomness=randomness).reshape(len(own), r)
            found[start : start + len(own)] = np.rint(whole).astype(np.int64) + hidden
        return found

    def all_noise(self, randomness: Randomness) -> Integers:
        """Return the noise of all rounds, shape (n, r), for a pair whose noise is kept."""
        assert isinstance(self.pair, AbstractKeptPair)  # noqa: S101 (others have no such thing)
        unit, beyond = self.pair.draw(self.shape.sources, randomness)
        found = self.integers(unit, randomness)
        if beyond:
            # so far out that floats are not trusted with it: exact, and rounded once
            exact = [[Fraction(0)] * self.shape.dimension for _ in range(len(found))]
            for own in beyond:
                push = self.shape.apply(np.eye(self.shape.sources)[own.coordinate]).tolist()
                for t, b in enumerate(self.pair.column(own.source)):
                    for j, length in enumerate(push):
                        exact[t][j] += b * Fraction(length) * Fraction(own.beyond)
            found += np.array([[round(x) for x in row] for row in exact], dtype=np.int64)
        return found

    def noisy(self, answers: AbstractAnswers, codes: Integers, noise: Integers) -> Integers:
        """Return the exact answers and the noise of answers together."""
        return answers.push(codes) + noise

    def noisy_one(self, answers: AbstractAnswers, code: int, noise: int) -> int:
        """Return the same for one round of one coordinate."""
        return answers.push_one(code) + noise

    @property
    def answer_variances(self) -> tuple[Vector, Vector]:
        """The variance of each answer for a row of B of length 1, and what hides rounding, (d,)."""
        step, cover, embed = self.coding.step, self.cover_variances, self.totals.coordinates.embed
        if embed is None:
            return self.shape.diagonal() * step**2, cover * step**2
        own = embed * step
        columns = [own @ self.shape.apply(e) for e in np.eye(step.size)]
        return np.square(np.stack(columns, axis=1)).sum(axis=1), np.square(own) @ cover

    @property
    def cover_variances(self) -> Vector:
        """The variance of round(η) in each coordinate, in squared steps, shape (r,)."""
        moves = self.change_steps > 0
        return np.where(moves, np.square(self.cover) + 1 / 12, 0.0)

    def scaled(self, factor: float) -> StreamMechanism:
        """Return the same with all noise `factor` times as wide."""
        return replace(self, shape=self.shape.scaled(factor), cover=frozen(self.cover * factor))


def stream_mechanism(
    totals: MeanTotals,
    pair: AbstractPair,
    shape: AbstractShape,
    parameter: float,
    strategy: str,
    reason: str,
    participation: Participation = ONE,
) -> StreamMechanism:
    """Return the mechanism with noise of this shape, scaled to reveal at most `parameter` = μ.

    The optimiser's word ends here: the radius is measured on the final integers, and the noise is
    enlarged until it is covered. A part of μ in 2^40 is left for another machine, which may round
    the last digits of sums otherwise when it reads the stream's file.

    Args:
        totals: of one round.
        pair: B and C.
        shape: L in steps, about as wide as it must be.
        parameter: μ > 0.
        strategy: the factorization's name.
        reason: why it was chosen.
        participation: the rounds that one person may add to.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    parameter *= 1 - OTHER_MACHINE
    wide = shape.deviations() * math.sqrt(pair.mean_variance)
    found = StreamMechanism(
        totals=totals,
        pair=pair,
        shape=shape,
        cover=frozen(wide),
        strategy=strategy,
        reason=reason,
        participation=participation,
    )
    # the variance that is added, s², and the part of the budget that it takes, are about even
    main, side = found.main_up, found.side_up
    share = math.sqrt(min(side / main, 1.0)) if 0 < main < math.inf else 1.0
    found = replace(found, cover=frozen(wide * max(share, _LEAST_COVER)))
    start = found.loss.mu / parameter
    return covering(
        found.scaled, lambda own: own.loss.mu, parameter, start if 0 < start < math.inf else 1.0
    )
