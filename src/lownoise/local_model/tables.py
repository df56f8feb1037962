# SPDX-License-Identifier: Apache-2.0
"""Several tables of a question: each device reports its cell in one that is chosen at random.

The choice is public, so what a report reveals is what its table's randomizer does. Of table t,
chosen with chance w, a report's estimate of the shares is c + (e − c)/w where it is of t, and c
elsewhere: c gives every cell the same share, and e is what the randomizer of t estimates. That is
unbiased; its variance is (V + μ²)/w − μ² of an answer a·e with variance V and mean a·c + μ (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, PlanError, counted
from lownoise.kinds import Field
from lownoise.local_model.cells import (
    FIELDS,
    MOST_CELLS,
    MOST_NUMBERS,
    AbstractMarginalEncoder,
    answers_of,
    asked_of,
    cells_of,
)
from lownoise.local_model.draws import expect_integer, places
from lownoise.local_model.encoder import ENCODERS
from lownoise.local_model.label_sets import AbstractLabelRandomizer
from lownoise.local_model.labels import SubsetSelection
from lownoise.local_model.randomizer import RANDOMIZERS, AbstractRandomizer, LocalLoss
from lownoise.numbers.arrays import frozen, slices, weighed
from lownoise.numbers.rounding import ROUGH, grown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Marginals

_MOST_TABLES = 10**4
_TICKETS = 1000  # a table, on average


def _row(values: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return tuple(values) if isinstance(values, list) else ()


@RANDOMIZERS.kind(
    "sampled",
    Field("parts", RANDOMIZERS.several),
    Field("tickets", attribute=lambda own: list(own.tickets)),
    make=lambda parts, tickets: SampledTables(parts=parts, tickets=_row(tickets)),
)
@final
@dataclass(frozen=True, kw_only=True)
class SampledTables(AbstractRandomizer):
    """A report of one of T labels of a record, which one it is, and 0 where it is shorter.

    Args:
        parts: the randomizer of each label, T of them.
        tickets: T whole numbers above 0; each label is chosen with a chance in proportion.

    Raises:
        FileError: where a field is of no meaning.
    """

    parts: tuple[AbstractLabelRandomizer, ...]
    tickets: tuple[int, ...]
    takes: ClassVar[Takes] = "labels"

    def __post_init__(self) -> None:
        if not all(isinstance(own, AbstractLabelRandomizer) for own in self.parts):
            raise FileError("sampled.parts has one that does not report labels; plan again")
        if not 1 <= len(self.parts) == len(self.tickets) <= _MOST_TABLES:
            raise FileError("sampled.parts and sampled.tickets are not as many; plan again")
        for own in self.tickets:
            expect_integer("sampled.tickets", own, 1, 2**32)

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> SampledTables:  # noqa: ARG003
        """Return the one of a single table.

        Raises:
            PlanError: where there are too few labels or too many, or ε is out of range.
        """
        return cls.of((dimension,), epsilon)

    @classmethod
    def of(cls, sizes: Sequence[int], epsilon: float) -> SampledTables:
        """Return the one of the least error of tables of so many cells.

        Chances w are in proportion to the tables' errors: that is where Σ V/w is least.

        Raises:
            PlanError: where there are too many tables, or too few cells or too many of one, or ε is
                out of range.
        """
        if not 1 <= len(sizes) <= _MOST_TABLES:
            raise PlanError(f"{len(sizes)} tables are out of range; ask for 1 to {_MOST_TABLES}")
        parts = tuple(SubsetSelection.fitted(size, epsilon) for size in sizes)
        errors = np.sqrt([own.total_variance(np.ones(own.labels)) for own in parts])
        tickets = np.maximum(np.rint(errors / errors.mean() * _TICKETS), 1).astype(np.int64)
        return cls(parts=parts, tickets=tuple(tickets.tolist()))

    @property
    def dimension(self) -> int:
        """The number of cells of all tables."""
        return sum(own.labels for own in self.parts)

    @cached_property
    def loss(self) -> LocalLoss:
        """The greatest of the parts' losses: which one is chosen says nothing of a record."""
        return LocalLoss(max(own.loss.epsilon for own in self.parts))

    @cached_property
    def _widths(self) -> list[int]:
        return [own.lowest.size for own in self.parts]

    @cached_property
    def _cells(self) -> list[slice]:
        return slices(own.labels for own in self.parts)

    @cached_property
    def _chances(self) -> Vector:
        return np.array(self.tickets, dtype=np.float64) / sum(self.tickets)

    @cached_property
    def lowest(self) -> Integers:
        """0, for no part has integers below it."""
        return np.zeros(1 + max(self._widths), dtype=np.int64)

    @cached_property
    def highest(self) -> Integers:
        """T − 1, and the greatest of each integer of any part."""
        found = np.zeros(1 + max(self._widths), dtype=np.int64)
        found[0] = len(self.parts) - 1
        for own, width in zip(self.parts, self._widths, strict=True):
            found[1 : 1 + width] = np.maximum(found[1 : 1 + width], own.highest)
        return found

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return a report of each row of T labels, shape (n, c)."""
        tickets = places(len(encoded), sum(self.tickets), randomness=randomness)
        table = np.searchsorted(np.cumsum(self.tickets), tickets, side="right")
        found = np.zeros((len(encoded), self.lowest.size), dtype=np.int64)
        found[:, 0] = table
        for t, own in enumerate(self.parts):
            rows = np.flatnonzero(table == t)
            # whatever a file says of the encoder, no label is beyond those of its randomizer
            labels = np.clip(encoded[rows, t : t + 1], 0, own.labels - 1)
            found[rows, 1 : 1 + self._widths[t]] = own.reports(labels, randomness=randomness)
        return found

    def allowed(self, reports: Integers) -> Chosen:
        """Return which rows are a table's own reports and then 0, shape (n,)."""
        found = np.all((reports >= self.lowest) & (reports <= self.highest), axis=1)
        for t, own in enumerate(self.parts):
            rows = np.flatnonzero(reports[:, 0] == t)
            ends = 1 + self._widths[t]
            rest = np.all(reports[rows, ends:] == 0, axis=1)
            found[rows] &= own.allowed(reports[rows, 1:ends]) & rest
        return np.asarray(found)

    def sums(self, reports: Integers) -> Integers:
        """Return how many reports are of each table, (T,), and then the counts of their cells."""
        rows = [reports[reports[:, 0] == t] for t in range(len(self.parts))]
        counts = np.array([len(own) for own in rows], dtype=np.int64)
        pairs = zip(self.parts, rows, self._widths, strict=True)
        return np.concatenate(
            [counts, *(part.sums(own[:, 1 : 1 + width]) for part, own, width in pairs)]
        )

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the unbiased estimates of all tables' shares, one table after the other; (r,).

        Args:
            sums: what `sums` returned, added up.
            count: n.
        """
        own = np.asarray(sums, dtype=np.float64)
        counts, held = own[: len(self.parts)], own[len(self.parts) :]
        found = np.empty(self.dimension)
        for t, part in enumerate(self.parts):
            Q, D, *_ = part.moments
            middle, cells = 1 / part.labels, self._cells[t]
            apart = (held[cells] - counts[t] * Q) / D - counts[t] * middle
            found[cells] = middle + apart / (count * self._chances[t])
        return frozen(found)

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the estimate of the covariance of the shares, shape (r, r).

        E (e − c)(e − c)ᵀ is linear in the shares, and products of two tables are 0: this is as of
        one table's randomizer.
        """
        f = self.mean(sums, count)
        found, apart = np.zeros((f.size, f.size)), np.array(f)
        for t, part in enumerate(self.parts):
            cells, middle = self._cells[t], 1 / part.labels
            own = part.second_moments(f[cells])
            own = own - middle * (f[cells][:, None] + f[cells]) + middle**2
            found[cells, cells] = own / self._chances[t]
            apart[cells] -= middle
        return frozen((found - apart[:, None] * apart) / (count - 1))

    def deviations(self, sums: Any, count: int, answers: Vector) -> Vector:  # noqa: ANN401
        """Return the standard deviations that `covariance` says, of no r² numbers; shape (m,)."""
        f = self.mean(sums, count)
        found, apart = np.zeros(len(answers)), np.array(f)
        for t, part in enumerate(self.parts):
            cells, middle = self._cells[t], 1 / part.labels
            own = part.squares(f[cells], answers[..., cells], middle) / self._chances[t]
            found[cells if answers.ndim == 1 else slice(None)] += own
            apart[cells] -= middle
        found -= weighed(answers, apart) ** 2
        return frozen(np.sqrt(np.maximum(found, 0.0) / (count - 1)))

    def _tables(self, answers: Vector) -> Iterator[tuple[int, Vector, Vector]]:
        """Yield each table, its part of the answers, and which answers are of it alone, (m, 1)."""
        A = np.diag(answers) if answers.ndim == 1 else answers
        used = np.stack([np.any(A[:, cells] != 0, axis=1) for cells in self._cells], axis=1)
        for t, cells in enumerate(self._cells):
            yield t, A[:, cells], (used[:, t] & (used.sum(axis=1) == 1))[:, None]

    def _squares(self, t: int, answers: Vector, alone: Vector) -> Vector:
        """Return at least what table t adds to each answer's variance, of each label, (m, k)."""
        part, chance = self.parts[t], self._chances[t]
        shifts = (answers - answers.mean(axis=1, keepdims=True)) ** 2
        return np.asarray((part.of_labels(answers) + shifts) / chance - alone * shifts)

    def variances(self, answers: Vector) -> Vector:
        """Return the greatest variance of each answer, or more where it is of several tables."""
        found = sum(self._squares(*own).max(axis=1) for own in self._tables(answers))
        return frozen(grown(np.asarray(found), ROUGH))

    def total_variance(self, answers: Vector) -> float:
        """Return at least the greatest sum of all answers' variances over all records."""
        found = sum(self._squares(*own).sum(axis=0).max() for own in self._tables(answers))
        return float(grown(found, ROUGH))

    def influence(self, answers: Vector) -> Vector:
        """Return how far one report in place of another moves n times each answer, shape (m,)."""
        least, greatest = [], []
        for t, own, _ in self._tables(answers):
            Q, D, *_ = self.parts[t].moments
            about = own.sum(axis=1) * (Q / D + 1 / self.parts[t].labels)
            low, high = self.parts[t].ends(own)
            least.append((low / D - about) / self._chances[t])
            greatest.append((high / D - about) / self._chances[t])
        moved = np.max(greatest, axis=0) - np.min(least, axis=0)
        return frozen(grown(np.asarray(moved), ROUGH))


@ENCODERS.kind("tables", *FIELDS)
@final
@dataclass(frozen=True, eq=False, kw_only=True)
class TablesEncoder(AbstractMarginalEncoder):
    """The cell of each record in each of several tables, those that no other one holds.

    A marginal that several of them hold is answered by the average of what they say.

    Args:
        attributes: D of them.
        sets: which marginals are answered, each of them rising places among the attributes.

    Raises:
        FileError: where a field is of no meaning.
    """

    makes: ClassVar[Takes] = "labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tables or not 2 <= self.dimension <= MOST_CELLS:  # noqa: PLR2004
            raise FileError("tables.sets have no cells or too many; have at most 10^6")
        if self.length * self.dimension > MOST_NUMBERS:
            raise FileError(f"tables.sets ask for {counted(self.length)} answers, too many at once")

    @classmethod
    def of(cls, question: Marginals) -> TablesEncoder:
        """Return the encoder of a question.

        Raises:
            PlanError: where a policy leaves records out, or there are too many cells.
            QuestionError: where two categories mean the same.
        """
        attributes, sets = asked_of(question)
        try:
            return cls(attributes=attributes, sets=sets)
        except FileError:
            raise PlanError(
                "question has too many cells, or one; ask for fewer attributes, wider categories "
                "or fewer marginals"
            ) from None

    @cached_property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The sets of two cells or more that are in no other one."""
        own = [frozenset(i for i in chosen if self.attributes[i].size > 1) for chosen in self.sets]
        kept = {each for each in own if each and not any(each < other for other in own)}
        return tuple(sorted(tuple(sorted(each)) for each in kept))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each table has."""
        return tuple(math.prod(self.attributes[i].size for i in own) for own in self.tables)

    @property
    def dimension(self) -> int:
        """The number r of cells of all tables."""
        return sum(self.sizes)

    def fitted(self, kind: type[AbstractRandomizer], epsilon: float, delta: float) -> Any:  # noqa: ANN401
        """Return the randomizer of these tables."""
        return SampledTables.of(self.sizes, epsilon)

    def _marginal(self, chosen: tuple[int, ...]) -> Vector:
        needed = {i for i in chosen if self.attributes[i].size > 1}
        holding = [needed <= set(own) for own in self.tables]
        rows = answers_of(self.attributes, [chosen])
        found = []
        for own, size, holds in zip(self.tables, self.sizes, holding, strict=True):
            part = np.ones((1, 1))
            for i in sorted({*own, *chosen}) if holds else ():
                each = self.attributes[i]
                part = np.asarray(
                    np.kron(part, each.rows() if i in chosen else np.ones((1, each.size)))
                )
            found.append(part / sum(holding) if holds else np.zeros((rows, size)))
        return np.concatenate(found, axis=1)

    @cached_property
    def _constant(self) -> Vector:
        """1 for answers that add up all cells of tables, shape (m,)."""
        parts = (self._added[:, cells] for cells in slices(self.sizes))
        return np.asarray(np.all([np.ptp(own, axis=1) == 0 for own in parts], axis=0) * 1.0)

    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return each record's cell in each table, shape (n, T).

        Raises:
            TableError: where a record is of another shape.
        """
        cells = cells_of(records, self.attributes)
        found = np.zeros((len(cells), len(self.tables)), dtype=np.int64)
        for t, own in enumerate(self.tables):
            for i in own:
                found[:, t] = found[:, t] * self.attributes[i].size + cells[:, i]
        return found
