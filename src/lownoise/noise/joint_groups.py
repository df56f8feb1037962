# SPDX-License-Identifier: Apache-2.0
"""Means by groups with noise of its own in every group of some tables, from which margins follow.

Groups of one table share no record: what tells of one is the noise of its own group alone. By
default the one table is that of joint groups, with noise at the whole ε, of which margins are sums;
else each table has its part of ε, and `measured` says how margins follow from all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss, composed, sum_up
from lownoise.noise.groups import AbstractGroupTotals
from lownoise.noise.means import MeanTotals
from lownoise.noise.measured import MeasuredTables
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
    """The integers of every group of the tables that are noised.

    Args:
        tables: which; None for that of joint groups alone.
        agrees: whether the count of all rows is the public one in every margin, and not what the
            noisy groups add up to.

    Raises:
        PlanError: where answers are too many, or do not follow from the tables; where no count of
            all rows is public.
    """

    tables: MeasuredTables | None = None
    agrees: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.agrees and (self.size is None or not self.question.counted):
            raise PlanError("groups have no public count of all rows to agree with; plan again")
        groups = self.question.groups
        sizes = tuple(a.size for a in groups.attributes)
        if self.measured.sizes != sizes or not all(map(self.measured.covers, groups.sets())):
            raise PlanError("groups do not follow from the tables that are noised; plan again")
        if self.length * self.question.count > _MOST_ENTRIES:
            raise PlanError(
                f"{self.question.count:,} answers by groups are too many for pure noise; ask for "
                "fewer groups, or take Gaussian noise"
            )

    @property
    def exact_count(self) -> bool:
        """Whether margins agree with the public number of rows."""
        return self.agrees

    @cached_property
    def measured(self) -> MeasuredTables:
        """The tables that are noised."""
        return joint_table(self.question) if self.tables is None else self.tables

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return sum(self.measured.cells) * self.width

    @property
    def changes(self) -> AbstractBody:
        """All that one neighbour changes in its group."""
        return self.inner.changes

    def exact(self, records: GroupSums) -> list[int]:
        """Return the integers without noise: never to be shown."""
        return [
            k
            for own in self.measured.sets
            for k in (records.table(own)[..., : self.width] * self.grid).reshape(-1).tolist()
        ]

    @cached_property
    def embed(self) -> Vector:
        """The matrix from the groups of the tables to all answers, shape (m, length).

        What the public count of all rows adds is left out: it has no noise.
        """
        return self.of_margins(*self.question.groups.sets())

    def of_margins(self, *margins: tuple[int, ...]) -> Vector:
        """Return the rows of `embed` of some margins."""
        rows = np.vstack([self.measured.matrix(own) for own in margins])
        one = np.array(np.eye(self.width) if self.inner.embed is None else self.inner.embed)
        if not self.exact_count:
            return frozen(np.asarray(np.kron(rows, one), dtype=np.float64))
        apart = np.vstack([self._apart(self.measured.matrix(own)) for own in margins])
        count = np.zeros(one.shape)
        count[:, -1], one[:, -1] = one[:, -1], 0.0
        return frozen(np.asarray(np.kron(rows, one) + np.kron(apart, count), dtype=np.float64))

    def _apart(self, found: Vector) -> Vector:
        """Return groups of a margin, shape (groups, …), less their part of all rows."""
        return np.asarray(found - found.mean(axis=0, keepdims=True))

    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w)."""
        measured, width = self.measured, self.width
        ends = np.cumsum([count * width for count in measured.cells])[:-1]
        parts = zip(np.split(integers, ends), measured.sets, strict=True)
        tables = [own.reshape(*measured.shape(chosen), width) for own, chosen in parts]
        found = measured.read(tables, chosen)
        if self.exact_count:
            assert self.size is not None  # noqa: S101 (as checked)
            count = found[..., -1]
            count += (float(self.size * self.grid[-1]) - count.sum()) / count.size
        return found

    @property
    def rounding(self) -> Vector:
        """As of one group, shape (length,)."""
        return frozen(np.tile(self.inner.rounding, sum(self.measured.cells)))


@final
@dataclass(frozen=True, eq=False)
class JointNoise(AbstractNoise):
    """Noise of its own in each group of some tables.

    Args:
        inner: that of one group, but for its scale.
        tables: how many groups each table has, and how many times that noise.
        public: whether the number of records is: then one becomes another, maybe of another group.
    """

    inner: AbstractNoise
    tables: tuple[tuple[int, float], ...]
    public: bool = False

    @property
    def groups(self) -> int:
        """How many there are in all tables."""
        return sum(count for count, _ in self.tables)

    @property
    def dimension(self) -> int:
        """How many integers there are."""
        return self.inner.dimension * self.groups

    @cached_property
    def parts(self) -> tuple[tuple[int, AbstractNoise], ...]:
        """How many groups each table has, and the noise of each of them."""
        return tuple(
            (count, self.inner if scale == 1 else self.inner.scaled(scale))
            for count, scale in self.tables
        )

    @cached_property
    def scales(self) -> Vector:
        """How many times the noise each group has, shape (groups,)."""
        return frozen(np.concatenate([np.full(count, scale) for count, scale in self.tables]))

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

    @property
    def integer_valued(self) -> bool:
        """As of one group's."""
        return self.inner.integer_valued

    def coarseness(self, totals: JointTotals) -> float:
        """As of the noise of one group, where it is least."""
        return self.inner.coarseness(totals.inner) / float(np.min(self.scales))

    def beside(self, totals: JointTotals, off: Vector) -> float:
        """Likewise: integers of one kind are off as far in each group."""
        own = self.inner.beside(totals.inner, off[: self.inner.dimension])
        return own / float(np.min(self.scales))

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what tables reveal together: of each the noise of one group, where a record is.

        One that becomes another is one that goes and one that comes: ε and μ double, ρ is four
        times as large, and δ is (1 + e^ε)δ.

        Several rows may be in several groups. Of a log-concave density e^−V their ε add up to at
        most that of all in one, as the most that V rises along a line is in proportion to a move; ρ
        and μ² of independent numbers, convex in moves, add up to no more than that. Of noise of a
        ball, or with levels of such, only ε is taken, and what its points are off by counts once a
        group. A density that falls in steps tells nearly as much of one row as of all: there each
        group may reveal that.
        """
        found = [self._of_table(changes, *part) for part in self.parts]
        return found[0] if len(found) == 1 else composed(found)

    def _of_table(self, changes: AbstractBody, groups: int, noise: AbstractNoise) -> Loss:
        """Return what one table reveals.

        Args:
            changes: of the integers of one group.
            groups: how many it has.
            noise: of each.
        """
        found = self._coming(changes, groups, noise)
        if not self.public:
            return found
        if found.delta:  # what is left out of one and of the other are not the same
            return Loss(2 * found.epsilon, both_up(found.epsilon, found.delta))
        return Loss(2 * found.epsilon, 0.0, 4 * found.rho, 2 * found.mu)

    @staticmethod
    def _coming(changes: AbstractBody, groups: int, noise: AbstractNoise) -> Loss:
        """Return what one table reveals of rows that come, or go; arguments as of `_of_table`."""
        one, times = of_one_row(changes)
        own, touched = noise.loss(changes), min(times, groups)
        if touched == 1:
            return own
        if not noise.log_concave:
            return composed([own] * touched)
        off = noise.loss(Repeated(one, 0))
        epsilon = sum_up([own.epsilon, *[off.epsilon] * (touched - 1)])
        delta = min(times_up(touched, own.delta), 1.0)
        if off.epsilon or noise.of_ball:
            return Loss(epsilon, delta)
        return Loss(epsilon, delta, own.rho, own.mu)

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        drawn = (noise.many(count, randomness).ravel().tolist() for count, noise in self.parts)
        return [k for own in drawn for k in own]

    def covariance(self) -> Vector:
        """Return the covariance, shape (r, r), or (r,) where that is its diagonal.

        Raises:
            PlanError: beyond 10,000 integers.
        """
        own, squares = self.inner.covariance(), np.square(self.scales)
        if own.ndim == 1:
            return frozen(np.outer(squares, own).reshape(-1))
        if self.dimension > _LARGEST_DENSE:
            raise PlanError(f"covariance of {self.dimension:,} integers would fill the memory")
        return frozen(np.asarray(np.kron(np.diag(squares), own), dtype=np.float64))

    def _of_answers(self, unit: Vector, embed: Vector) -> tuple[Vector, Vector]:
        """Return the answers by groups, and times the covariance of one, (m, G, w) each."""
        own = self.inner.covariance()
        matrix = np.asarray(embed * unit).reshape(len(embed), self.groups, -1)
        product = matrix * own if own.ndim == 1 else matrix @ own
        return matrix, product * np.square(self.scales)[:, None]

    def answer_scales(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers stray, and how each does with the last; shapes (m,) and (m,)."""
        if embed is None:
            one = self.inner.covariance()
            square = one if one.ndim == 1 else np.diag(one)
            last = np.zeros(self.dimension)
            row = one[-1:] if one.ndim == 1 else one[-1]
            last[self.dimension - row.size :] = row * self.scales[-1] ** 2
            return frozen(np.outer(self.scales, np.sqrt(square)).reshape(-1) * unit), frozen(
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
        drawn = [
            noise.simulate(count * own, randomness).reshape(count, -1) for own, noise in self.parts
        ]
        return np.hstack(drawn)


def both_up(epsilon: float, delta: float) -> float:
    """Return at least (1 + e^ε)δ, what two steps leave where each is within (ε, δ).

    Examples:
        >>> both_up(1.0, 0.0), 3.7e-6 < both_up(1.0, 1e-6) < 3.72e-6
        (0.0, True)
    """
    if not delta:
        return 0.0
    return min(grown(delta * (1 + math.exp(min(epsilon, _STEEP)))), 1.0)


def joint_table(question: AbstractGrouped) -> MeasuredTables:
    """Return the one table of all attributes that some margin is by."""
    groups = question.groups
    used = tuple(sorted({i for chosen in groups.sets() for i in chosen}))
    return MeasuredTables(tuple(a.size for a in groups.attributes), (used,), (1.0,))


def joint_mechanism(
    question: AbstractGrouped,
    values: AdditiveMechanism,
    size: int | None = None,
    tables: MeasuredTables | None = None,
    *,
    agrees: bool | None = None,
) -> AdditiveMechanism:
    """Return a mean's mechanism in each group of some tables.

    Args:
        question: what is asked.
        values: of the mean, under `add_remove`.
        size: the public number of records, None under `add_remove`.
        tables: which; None for that of joint groups alone.
        agrees: as of `JointTotals`; None where a count of all rows is public.

    Raises:
        PlanError: where answers are too many, or do not follow from the tables.
    """
    assert isinstance(values.totals, MeanTotals)  # noqa: S101 (the question is a mean)
    known = size is not None and question.counted if agrees is None else agrees
    totals = JointTotals(
        question=question, inner=values.totals, size=size, tables=tables, agrees=known
    )
    measured = totals.measured
    own = tuple(zip(measured.cells, measured.scales, strict=True))
    return AdditiveMechanism(totals, JointNoise(values.noise, own, public=size is not None))
