# SPDX-License-Identifier: Apache-2.0
"""Noise of increments: a vector of integers a round, each with noise that the later ones take back.

Let z_t be the integer sum of round t, of d coordinates, and C lower triangular with ones on its
diagonal. Round t publishes

    Y_t = z_t + N_t,   N_t = r_t − R_t,   r_t = round(σ·ξ_t),

R_t a computed function of N_1, …, N_{t−1} within e of Σ_{j<t} c_tj·N_j, so that C·N ≈ r: sums of
the Y_t are the factorization mechanism W·C⁻¹, C for every W at once. Given Y_1, …, Y_{t−1} and z,
N_j = Y_j − z_j is known, so Y_t is the integer h_t = z_t − R_t(Y − z) plus a rounded Gaussian that
is fresh. For a neighbour, with u = z − z',

    |h_t(z) − h_t(z') − (C·u)_t| ≤ 2e in every coordinate, and = 0 where R_t sees no round of u.

So all rounds together, each chosen as what was published suggests, are μ-GDP with

    μ = (max_π ‖Σ_{i∈π} C_i ⊗ u_i‖ + 2e·√(d·m))/σ,   |u_i| ≤ Δ,

m the rounds whose R_t sees one that the person adds to (ours; the theory page has the proof). No δ,
and no second noise: what rounding shows is charged here. No state but what R_t needs is kept. The
sums of d values of a round come as doubles; what their rounding moves is in Δ.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError, StreamError, quoted
from lownoise.noise.abstract import gaussian_loss
from lownoise.noise.mechanism import covering
from lownoise.numbers.randomness import KeyedRandomness
from lownoise.numbers.rounding import grown, growth, up
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.streams.carried import CARRIED
from lownoise.streams.recursive import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lownoise.noise.abstract import Loss
    from lownoise.numbers.arrays import Vector
    from lownoise.streams.carried import AbstractCarried

BLOCK = 1 << 14  # coordinates whose noise is made at once: they stay in the cache
_TOTAL = 2.0**50  # of a sum and of noise in steps: doubles hold both, and what they add up to
_MOST_ROUNDS = 1 << 20
_MOST_COORDINATES = 1 << 40


def check_increments(rounds: int, dimension: int, people: int, clip: float, relation: str) -> None:
    """Refuse numbers that no run of increments has; see `IncrementMechanism`.

    Raises:
        PlanError: where one is out of range.
    """
    for field, value, most in (
        ("rounds", rounds, _MOST_ROUNDS),
        ("dimension", dimension, _MOST_COORDINATES),
        ("people", people, _MOST_COORDINATES),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise PlanError(f"{field}={quoted(value)} is out of range; give 1 to {most:,}")
    if not isinstance(clip, (int, float)) or not 2.0**-200 <= clip <= 2.0**200:
        raise PlanError(f"clip={quoted(clip)} is out of range; give a length above 0")
    if relation not in ("add_remove", "substitute"):
        raise PlanError(
            f'relation={quoted(relation)} is unknown; give "add_remove" or "substitute"'
        )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class IncrementMechanism:
    """What is published at the end of each round, in integers.

    Args:
        carried: C, as what noise remembers.
        rounds: n.
        dimension: d.
        clip: the ball that holds what one person adds to a round, above 0.
        exponent: log2 of the step, in units of the sums.
        deviation: σ, in steps.
        people: how many add to a round at most.
        participation: the rounds that one person may add to.
        relation: "add_remove", a person's part becomes 0; "substitute", any other of the ball.
        strategy: the factorization's name.
        reason: why it was chosen, one sentence.

    Raises:
        PlanError: where a number is out of range, or numbers of this size would not be exact.
    """

    carried: AbstractCarried
    rounds: int
    dimension: int
    clip: float
    exponent: int
    deviation: float
    people: int
    participation: Participation = ONE
    relation: str = "add_remove"
    strategy: str = "identity"
    reason: str = "it was asked for"

    def __post_init__(self) -> None:
        check_increments(self.rounds, self.dimension, self.people, self.clip, self.relation)
        self.participation.check(self.rounds)
        if not 0 <= self.deviation < math.inf:
            raise PlanError("noise has a deviation out of range; plan again")
        largest = self.people * self.change_up + self.far_up
        if not (largest <= _TOTAL and self.off_up < math.inf):
            raise PlanError(
                "noise or sums have more digits than are exact; give a smaller batch or a larger "
                "budget"
            )

    @property
    def step(self) -> float:
        """What an integer counts."""
        return math.ldexp(1.0, self.exponent)

    @cached_property
    def change_up(self) -> float:
        """Δ, at least how far one person moves the integers of a round, in ‖·‖₂.

        A sum of doubles is off by the roundings of as many additions; each person's length, which
        it is clipped by, by those of d; the nearest integer by a half a coordinate; and both sums
        of neighbours are.
        """
        whole = 2.0 if self.relation == "substitute" else 1.0
        each = growth(self.people + 2) + 2 * growth(self.dimension + 16) + 2.0**-48
        off = 2 * each * self.people
        return grown((whole + off) * self.clip / self.step + math.sqrt(self.dimension))

    @cached_property
    def far_up(self) -> float:
        """At least every |N|, and those of a neighbour: no normal number is beyond `FARTHEST`."""
        if not self.carried.buffers:
            return grown(FARTHEST * self.deviation + 1)
        size = FARTHEST * self.deviation + self.deviation + 1  # r, and what R is off by
        return grown(size * self.carried.inverse_up(self.rounds) + self.change_up)

    @cached_property
    def off_up(self) -> float:
        """e, at least how far R_t is from what it stands for, infinite where that is not known."""
        off = self.carried.off_up(self.rounds, self.far_up)
        return off if off <= max(self.deviation, 0.5) else math.inf

    @cached_property
    def sensitivity_up(self) -> float:
        """At least max_π ‖Σ_{i∈π} C_i ⊗ u_i‖, |u_i| ≤ 1."""
        return self.carried.pair(self.rounds).sensitivity_up(self.participation)

    @cached_property
    def rounding_up(self) -> float:
        """At least what the roundings of R show, in steps: 2e·√(d·m)."""
        touched = self.carried.touched(self.rounds, self.participation)
        return grown(2 * self.off_up * math.sqrt(self.dimension * touched))

    @cached_property
    def loss(self) -> Loss:
        """What the whole run reveals, from the final integers and the final noise alone."""
        moved = up(up(self.sensitivity_up * self.change_up) + self.rounding_up)
        return gaussian_loss(up(moved / self.deviation) if self.deviation else math.inf)

    @property
    def multiplier(self) -> float:
        """σ in units of the clip: noise of one round beside one person, before it is taken back."""
        return self.deviation * self.step / self.clip

    @property
    def kept_as(self) -> np.dtype[Any]:
        """The kind of numbers that are kept."""
        return self.carried.kept_as(self.far_up)

    @property
    def memory(self) -> int:
        """The bytes of noise that are kept from round to round."""
        return self.carried.buffers * self.dimension * self.kept_as.itemsize

    def scaled(self, factor: float) -> IncrementMechanism:
        """Return the same with noise `factor` times as wide."""
        return replace(self, deviation=self.deviation * factor)

    def fitted(self, parameter: float) -> IncrementMechanism:
        """Return the same with the least noise that reveals at most `parameter` = μ.

        Raises:
            PlanError: where no noise is enough.
        """
        return covering(self.scaled, lambda own: own.loss.mu, parameter)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        own = ("rounds", "dimension", "clip", "exponent", "deviation", "people", "relation")
        return {
            **{name: getattr(self, name) for name in (*own, "strategy", "reason")},
            "carried": CARRIED.write(self.carried),
            "participation": self.participation.to_dict(),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> IncrementMechanism:
        """Return what `to_dict` wrote.

        Raises:
            FileError, PlanError: where it is anything else.
        """
        own = dict(fields)
        carried = CARRIED.read(own.pop("carried"))
        participation = Participation.from_dict(own.pop("participation"))
        return cls(carried=carried, participation=participation, **own)


@final
class IncrementNoise:
    """N_1, N_2, … of one run, made as they are asked for.

    The words of a block come from the key, the round and the block, so the noise does not depend on
    how many threads make it.

    Args:
        mechanism: what is published.
        key: 32 secret bytes.
        done: how many rounds there were.
        kept: what was kept of them, shape (buffers, d), where there were some.
        threads: how many make noise at once.

    Raises:
        StreamError: where what was kept does not fit.
    """

    def __init__(
        self,
        mechanism: IncrementMechanism,
        key: bytes,
        *,
        done: int = 0,
        kept: Vector | None = None,
        threads: int | None = None,
    ) -> None:
        shape, kind = (mechanism.carried.buffers, mechanism.dimension), mechanism.kept_as
        if kept is None and not done:
            kept = np.zeros(shape, dtype=kind)
        if kept is None or kept.shape != shape or kept.dtype != kind:
            raise StreamError("noise kept of another run does not fit; give that of this one")
        self.mechanism, self.done, self.kept = mechanism, done, kept
        self._key = key
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._midway = False

    def add(self, values: Vector) -> None:
        """Add the noise of the next round.

        Args:
            values: integers in doubles, shape (d,); changed in place.

        Raises:
            StreamError: where no round is left, or an earlier one was interrupted: what is kept is
                then of two rounds.
        """
        own = self.mechanism
        if self._midway:
            raise StreamError(
                "run was interrupted in the middle of a round; go on from the last checkpoint"
            )
        if self.done >= own.rounds:
            raise StreamError(f"all {own.rounds:,} rounds are over; plan a run with more")
        starts = range(0, own.dimension, BLOCK)
        self._midway = True
        if self._threads == 1 or len(starts) == 1:
            for start in starts:
                self._block(values, start)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                for _ in pool.map(lambda start: self._block(values, start), starts):
                    pass
        self.done += 1
        self._midway = False

    def state(self) -> Vector:
        """Return what is kept, shape (buffers, d): a copy.

        Raises:
            StreamError: where a round was interrupted.
        """
        if self._midway:
            raise StreamError("run was interrupted in the middle of a round and has no state")
        return self.kept.copy()

    def _block(self, values: Vector, start: int) -> None:
        block = slice(start, min(start + BLOCK, self.mechanism.dimension))
        carried, kept = self.mechanism.carried, self.kept[:, block]
        size = block.stop - block.start
        shape = DiagonalShape(np.full(size, self.mechanism.deviation))
        randomness = KeyedRandomness(self._key, self.done, start // BLOCK)
        noise = rounded_gaussian(shape, randomness=randomness).astype(np.float64)
        if carried.buffers:
            noise -= carried.recalled(kept, self.done, np.empty((2, size)))
            carried.keep(kept, self.done, noise)
        values[block] += noise
