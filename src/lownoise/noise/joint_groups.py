# SPDX-License-Identifier: Apache-2.0
"""Means by groups with noise of its own in every joint group, of which margins are sums.

Groups share no record: what tells of one is the noise of its own group alone, at the whole ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss, sum_up
from lownoise.noise.groups import AbstractGroupTotals
from lownoise.noise.means import MeanTotals
from lownoise.noise.mechanism import AdditiveMechanism
from lownoise.noise.units import Repeated, of_one_row, times_up
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.engines.groups import GroupSums
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sets.bodies import AbstractBody

_LARGEST_DENSE = 10_000
_STEEP = 700.0  # beyond that e^ε is no float, and every δ is 1
_MOST_ENTRIES = 1 << 24  # of the matrix from joint groups to all answers


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class JointTotals(AbstractGroupTotals):
    """The integers of every joint group.

    Raises:
        PlanError: where answers are too many.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length * self.question.count > _MOST_ENTRIES:
            raise PlanError(
                f"{self.question.count:,} answers by groups are too many for pure noise; ask for "
                "fewer groups, or take Gaussian noise"
            )

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The attributes that some margin is by, rising: the others need no group of their own."""
        return tuple(sorted({i for chosen in self.question.groups.sets() for i in chosen}))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of groups of each attribute that is used."""
        return tuple(self.question.groups.attributes[i].size for i in self.used)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return math.prod(self.sizes) * self.width

    @property
    def changes(self) -> AbstractBody:
        """All that one neighbour changes in its group."""
        return self.inner.changes

    def exact(self, records: GroupSums) -> list[int]:
        """Return the integers without noise: never to be shown."""
        found: list[int] = (
            (records.table(self.used)[..., : self.width] * self.grid).reshape(-1).tolist()
        )
        return found

    @cached_property
    def embed(self) -> Vector:
        """The matrix from joint groups to all answers, shape (m, length)."""
        rows = []
        for chosen in self.question.groups.sets():
            own = np.ones((1, 1))
            for i, n in zip(self.used, self.sizes, strict=True):
                own = np.asarray(np.kron(own, np.eye(n) if i in chosen else np.ones((1, n))))
            rows.append(own)
        one = np.eye(self.width) if self.inner.embed is None else self.inner.embed
        return frozen(np.asarray(np.kron(np.vstack(rows), one), dtype=np.float64))

    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w)."""
        others = tuple(k for k, i in enumerate(self.used) if i not in chosen)
        return np.asarray(integers.reshape(*self.sizes, -1).sum(axis=others))

    @property
    def rounding(self) -> Vector:
        """As of one group, shape (length,)."""
        return frozen(np.tile(self.inner.rounding, math.prod(self.sizes)))


@final
@dataclass(frozen=True, eq=False)
class JointNoise(AbstractNoise):
    """Noise of its own in each joint group.

    Args:
        inner: that of one group.
        groups: how many there are.
        public: whether the number of records is: then one becomes another, maybe of another group.
    """

    inner: AbstractNoise
    groups: int
    public: bool = False

    @property
    def dimension(self) -> int:
        """How many integers there are."""
        return self.inner.dimension * self.groups

    @property
    def estimated(self) -> bool:
        """Whether the covariance was estimated."""
        return self.inner.estimated

    @property
    def log_concave(self) -> bool:
        """Whether each group's is, and so the sums of several."""
        return self.inner.log_concave

    @property
    def left_out(self) -> str:
        """As of one group's."""
        return self.inner.left_out

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what the noise of one group reveals: a record is in no other.

        One that becomes another is one that goes and one that comes: ε and μ double, ρ is four
        times as large, and δ is (1 + e^ε)δ.

        Several rows may be in several groups. Their ε add up to at most that of all in one; ρ and
        μ² of independent numbers, convex in moves, add up to no more than that. Of round noise only
        ε is taken, and what its points are off by counts once a group.
        """
        one, times = of_one_row(changes)
        own, touched = self.inner.loss(changes), min(times, self.groups)
        if self.public and own.delta:  # what is left out of one and of the other are not the same
            return Loss(2 * own.epsilon, both_up(own.epsilon, own.delta))
        if self.public:
            return Loss(2 * own.epsilon, 0.0, 4 * own.rho, 2 * own.mu)
        if touched == 1:
            return own
        off = self.inner.loss(Repeated(one, 0))
        epsilon = sum_up([own.epsilon, *[off.epsilon] * (touched - 1)])
        delta = min(times_up(touched, own.delta), 1.0)
        if off.epsilon or own.ball:
            return Loss(epsilon, delta)
        return Loss(epsilon, delta, own.rho, own.mu)

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        return list(self.inner.many(self.groups, randomness).ravel().tolist())

    def covariance(self) -> Vector:
        """Return the covariance, shape (r, r), or (r,) where that is its diagonal.

        Raises:
            PlanError: beyond 10,000 integers.
        """
        own = self.inner.covariance()
        if own.ndim == 1:
            return frozen(np.tile(own, self.groups))
        if self.dimension > _LARGEST_DENSE:
            raise PlanError(f"covariance of {self.dimension:,} integers would fill the memory")
        return frozen(np.asarray(np.kron(np.eye(self.groups), own), dtype=np.float64))

    def _of_answers(self, unit: Vector, embed: Vector) -> tuple[Vector, Vector]:
        """Return the answers by groups, and times the covariance of one, (m, G, w) each."""
        own = self.inner.covariance()
        matrix = np.asarray(embed * unit).reshape(len(embed), self.groups, -1)
        return matrix, matrix * own if own.ndim == 1 else matrix @ own

    def answer_scales(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers stray, and how each does with the last; shapes (m,) and (m,)."""
        if embed is None:
            one = self.inner.covariance()
            square = one if one.ndim == 1 else np.diag(one)
            last = np.zeros(self.dimension)
            row = one[-1:] if one.ndim == 1 else one[-1]
            last[self.dimension - row.size :] = row
            return frozen(np.sqrt(np.tile(square, self.groups)) * unit), frozen(
                last * unit * unit[-1]
            )
        matrix, product = self._of_answers(unit, embed)
        variance = np.einsum("mgi,mgi->m", product, matrix)
        beside = np.einsum("mgi,gi->m", product, matrix[-1])
        return frozen(np.sqrt(np.maximum(variance, 0.0))), frozen(beside)

    def answer_covariance(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the covariance of the answers, shape (m, m).

        Raises:
            PlanError: beyond 10,000 answers.
        """
        if embed is None or len(embed) > _LARGEST_DENSE:
            return super().answer_covariance(unit, embed)
        matrix, product = self._of_answers(unit, embed)
        m = len(embed)
        return frozen(product.reshape(m, -1) @ matrix.reshape(m, -1).T)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return self.inner.simulate(count * self.groups, randomness).reshape(count, -1)


def both_up(epsilon: float, delta: float) -> float:
    """Return at least (1 + e^ε)δ, what two steps leave where each is within (ε, δ).

    Examples:
        >>> both_up(1.0, 0.0), 3.7e-6 < both_up(1.0, 1e-6) < 3.72e-6
        (0.0, True)
    """
    if not delta:
        return 0.0
    return min(grown(delta * (1 + math.exp(min(epsilon, _STEEP)))), 1.0)


def joint_mechanism(
    question: AbstractGrouped, values: AdditiveMechanism, size: int | None = None
) -> AdditiveMechanism:
    """Return a mean's mechanism in each joint group.

    Args:
        question: what is asked.
        values: of the mean, under `add_remove`.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where answers are too many.
    """
    assert isinstance(values.totals, MeanTotals)  # noqa: S101 (the question is a mean)
    totals = JointTotals(question=question, inner=values.totals, size=size)
    noise = JointNoise(values.noise, math.prod(totals.sizes), public=size is not None)
    return AdditiveMechanism(totals, noise)
