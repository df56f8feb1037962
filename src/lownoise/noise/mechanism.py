# SPDX-License-Identifier: Apache-2.0
"""A mechanism: exact integer totals plus the rounding of noise; the release itself.

Its noise is enlarged until the loss that is measured on its final form is covered. The optimiser's
word ends here: whatever noise it proposed, the loss is that of the final integers and the final
noise. No other loop decides how much noise there is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, final

import numpy as np

from lownoise.errors import PlanError, TableError
from lownoise.noise.abstract import worse
from lownoise.noise.units import Repeated, repeated
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import orderless
from lownoise.numbers.threads import in_order
from lownoise.sensitivity.relations import checked_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lownoise.engines import TotalsQuery
    from lownoise.engines.queries import TableQuery
    from lownoise.noise.abstract import AbstractNoise, Loss
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation


SHOWN = 2.0**-7  # of a deviation: more than that rounding of records may not move an answer by
_FEW_RECORDS = 2**14


@final
@dataclass(frozen=True)
class _All:
    """All integers at once."""

    start: int = 0


_ALL = _All()


class AbstractTotals(ABC):
    """Integers that follow from a table, how far one neighbour moves them, and their answers.

    Privacy rests on the integers that records become and on how far a neighbour moves their sums,
    whatever noise is added; both are here in their final form.
    """

    relation: Relation
    size: int | None

    @property
    @abstractmethod
    def length(self) -> int:
        """How many integers there are, r."""

    @property
    @abstractmethod
    def changes(self) -> Any:  # noqa: ANN401 (a set, or what has a `radius_up` of its own)
        """The set of all changes that one neighbour makes to the integers."""

    @property
    def becoming(self) -> Any:  # noqa: ANN401 (as of `changes`)
        """What a record changes that becomes another, where their number is private.

        By default twice what one changes that comes or goes, as one goes and one comes.
        """
        return Repeated(self.changes, 2)

    @property
    @abstractmethod
    def reading(self) -> TableQuery[Any] | None:
        """What is asked of a table, of which the integers follow; None where `read` alone knows."""

    def read(self, table: Any) -> Any:  # noqa: ANN401 (what an engine takes, and what it makes)
        """Return what an engine makes of a table; a `TableError` where `checked` raises one."""
        if self.reading is None:
            raise PlanError(f"{type(self).__name__} reads no table; plan again")
        return self.checked(self.reading.of(table))

    def checked(self, records: Any) -> Any:  # noqa: ANN401
        """Return what was read, of the public number of rows.

        Raises:
            TableError: where the table has another.
        """
        check_rows(self.size, records.count)
        return records

    @abstractmethod
    def exact(self, records: Any) -> Sequence[int]:  # noqa: ANN401
        """Return the integers without noise: never to be shown.

        Args:
            records: what `read` returned.

        Raises:
            TableError: where the table has not the public number of rows.
        """

    @property
    def each(self) -> TotalsQuery | None:
        """What rows add to a unit's total before that is clipped; None where none can be."""
        return None

    @property
    def pieces(self) -> Iterable[Any]:
        """The pieces that integers come in, each with its `start`: one of them by default."""
        return (_ALL,)

    def part(self, records: Any, piece: Any) -> Integers:  # noqa: ANN401 (of the totals' own kind)
        """Return one piece of the integers without noise, of any size: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        return np.array(list(self.exact(records)), dtype=object)

    @property
    def stated(self) -> dict[str, Any]:
        """What a file says of them beside the question, as JSON values."""
        return {"step": self.unit.tolist()}

    @property
    @abstractmethod
    def unit(self) -> Vector:
        """What one step is worth in each summed answer, shape (r,)."""

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all answers, shape (m, r); None for the identity."""
        return None

    @abstractmethod
    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the answers in their units, shape (m,)."""

    def check_released(self, integers: Sequence[int]) -> None:
        """Refuse released integers that no release has: where one is public, it is what it is.

        Raises:
            FileError: as said.
        """
        del integers  # of which none is public by default

    @property
    def rounding(self) -> Vector:
        """How far from what it adds a record's integers are at most, in steps, shape (r,)."""
        return frozen(np.zeros(self.length))


def table_of(table: Any, unit: PrivacyUnit | None, each: TotalsQuery | None = None) -> Any:  # noqa: ANN401
    """Return the table, or the first rows of each unit; or where that is bounded, their totals."""
    if unit is None:
        return table
    from lownoise.engines.tables import UnitTable

    return UnitTable(table, unit, None if unit.total is None else each)


def check_rows(size: int | None, count: int) -> None:
    """Refuse a table that has not the public number of rows, without a word on how many it has.

    The number of rows is the same in all neighbours of a table where it is declared, and no cell
    of a well-formed file changes it, so the refusal follows from no record and costs nothing.

    Args:
        size: the public number of records, None where it is private and part of the release.
        count: the number of rows.

    Raises:
        TableError: as said.
    """
    if size is not None and count != size:
        raise TableError(
            f"size={size} is not the number of rows of the table; where one record changes the "
            "number of rows is public: give it exactly",
        )


def check_public(size: int | None, relation: Relation, *, drops: bool) -> None:
    """Refuse a size that is not public, which must never be compared with a table's.

    Args:
        size: the public number of records, None under `add_remove`.
        relation: what a neighbour is.
        drops: whether rows may be left out.

    Raises:
        PlanError: where the size does not fit the relation, or rows would be dropped from a table
            of public size.
    """
    if size is not None and drops:
        raise PlanError("dropping rows would change the public size; use a stand-in")
    whole = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    if size is not None if checked_relation(relation).counted else not whole:
        raise PlanError("size does not fit the relation; plan again")


class Counting(Protocol):
    """A question that counts rows."""

    @property
    def drops(self) -> bool:
        """Whether rows may be left out."""


Asked = TypeVar("Asked", bound=Counting)


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractCountTotals(AbstractTotals, Generic[Asked]):
    """The totals of a question that counts rows.

    Args:
        question: what is asked.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    question: Asked
    relation: Relation
    size: int | None

    def __post_init__(self) -> None:
        check_public(self.size, self.relation, drops=self.question.drops)


@final
@dataclass(frozen=True, eq=False)
class AdditiveMechanism:
    """Integer totals plus rounded noise.

    Noise is drawn without looking at the totals; they meet in one integer addition.

    Args:
        totals: the integers, how far one row moves them, and their answers.
        noise: what is added, in their unit.
        unit: whose rows are hidden together; None where each row is.

    Raises:
        PlanError: where there is not one number of noise an integer.
    """

    totals: AbstractTotals
    noise: AbstractNoise
    unit: PrivacyUnit | None = None

    def __post_init__(self) -> None:
        if self.noise.dimension != self.totals.length:
            raise PlanError("noise has not one number an integer; plan again")
        if self.unit is not None and self.unit.total is not None and self.totals.each is None:
            raise PlanError("unit_total is of totals that rows of a unit add up to, of ln.Sum")

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        return self.totals.relation

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.totals.size

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.totals.length

    @property
    def estimated(self) -> bool:
        """Whether the deviations were estimated by simulation and not computed."""
        return self.noise.estimated

    @cached_property
    def loss(self) -> Loss:
        """What one run reveals, from the final integers and the final noise alone."""
        changes, unit = self.totals.changes, self.unit
        if unit is None:
            return self.noise.loss(changes)
        every = (changes, self.totals.becoming) if unit.exchanged else (changes,)
        return worse([self.noise.loss(repeated(own, unit.copies)) for own in every])

    def read(self, table: Any) -> Any:  # noqa: ANN401 (what an engine takes, and what it makes)
        """Return what an engine makes of a table, of the first rows of each unit, or its totals.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        return self.totals.read(table_of(table, self.unit, self.totals.each))

    @property
    def reading(self) -> TableQuery[Any] | None:
        """As of the totals."""
        return self.totals.reading

    @property
    def apart(self) -> bool:
        """Whether `read` alone knows how a table is read, as where units are added up first."""
        return self.reading is None or (self.unit is not None and self.unit.total is not None)

    def checked(self, records: Any) -> Any:  # noqa: ANN401
        """Return what was read, as `AbstractTotals.checked`."""
        return self.totals.checked(records)

    def run(self, records: Any, *, randomness: Randomness) -> tuple[int, ...]:  # noqa: ANN401
        """Return the noisy integers: the release itself.

        Args:
            records: what `read` returned.
            randomness: where the noise comes from.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        pieces = self.pieces(records, randomness=randomness)
        return tuple(k for _, piece in pieces for k in piece.tolist())

    def pieces(
        self,
        records: Any,  # noqa: ANN401 (what `read` makes)
        *,
        randomness: Randomness,
    ) -> Iterator[tuple[int, Integers]]:
        """Yield the release piece by piece: where a piece begins, and its noisy integers.

        Threads draw the operating system's noise for several at once.

        Args:
            records: what `read` returned.
            randomness: where the noise comes from.

        Raises:
            TableError: where the table has not the public number of rows.
        """

        def noisy(piece: Any) -> tuple[int, Integers]:  # noqa: ANN401 (of the totals)
            exact = self.totals.part(records, piece)
            noise = self.noise.part(piece, randomness)
            if exact.shape != noise.shape:
                raise PlanError("noise has not one number an integer; plan again")
            return piece.start, exact + noise

        made = in_order if orderless(randomness) else map
        yield from made(noisy, self.totals.pieces)

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers, shape (m,)."""
        return self.totals.answers(integers)

    def check_released(self, integers: Sequence[int]) -> None:
        """Refuse integers that no release has, as `AbstractTotals.check_released`."""
        self.totals.check_released(integers)

    @cached_property
    def rounding(self) -> float:
        """How far the rounding of all records moves an integer at most, in its deviations.

        The noise covers what rounding reveals; what it adds to an error, no deviation says. Where
        the number of records is private, that of so few as no table of any use has less.
        """
        off = self.totals.rounding * max(self.size or 0, _FEW_RECORDS)
        if not np.any(off):
            return 0.0
        deviations = self.noise.deviations(np.ones(self.length), None)
        with np.errstate(divide="ignore"):
            return float(np.max(off[off > 0] / deviations[off > 0]))

    @cached_property
    def deviations(self) -> Vector:
        """The standard deviation of each answer, shape (m,)."""
        return self.noise.deviations(self.totals.unit, self.totals.embed)

    def answer_scales(self, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers that follow from the summed ones stray; shapes (m,) and (m,).

        Args:
            embed: the answers from the summed ones, shape (m, r); None where they are the same.

        Returns:
            Their standard deviations, and the covariance of each with the last.
        """
        return self.noise.answer_scales(self.totals.unit, embed)

    def covariance(self) -> Vector:
        """Return the covariance of the answers, shape (m, m)."""
        return self.noise.answer_covariance(self.totals.unit, self.totals.embed)

    @cached_property
    def answer_noise(self) -> AbstractShape:
        """A factor of the covariance of the answers, in their units.

        Raises:
            PlanError: where the noise is no Gaussian.
        """
        return self.noise.answer_factor(self.totals.unit, self.totals.embed)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return the noise of `count` releases in the answers' units; shape (count, m)."""
        drawn, embed = self.noise.simulate(count, randomness), self.totals.embed
        unit = self.totals.unit
        return np.asarray(drawn * unit if embed is None else drawn @ (embed * unit).T)


_SPARE = 1e-9  # of the noise: less than that is left where it is
_NOTHING = 2.0**-500  # of what is allowed: where nothing moves, but for rounding up
_ROUNDS = 500
M = TypeVar("M")


def covering(
    scaled: Callable[[float], M], revealed: Callable[[M], float], allowed: float, start: float = 1.0
) -> M:
    """Return the mechanism with the least noise among scaled(factor) that reveals what is allowed.

    Args:
        scaled: the mechanism whose noise is so many times what was asked for.
        revealed: μ of a mechanism, or ε, from its final noise, rounded up.
        allowed: the most that it may be, above 0.
        start: the factor that is tried first.

    Raises:
        PlanError: where a direction that records can move in has no noise, or no factor is enough.
    """
    factor, found, grown = start, scaled(start), False
    for _ in range(_ROUNDS):
        spent = revealed(found)
        if not math.isfinite(spent):
            raise PlanError("noise leaves a direction that records can move in; plan again")
        room = spent / allowed
        # what had to grow is left as it is: a program may say another size each time it is asked
        if spent <= allowed and (grown or not _NOTHING < room < 1 - _SPARE):
            return found
        # what covers with room to spare shrinks; what does not, grows by a float at the least
        least = math.nextafter(factor, math.inf)
        grown = grown or room >= 1
        factor = factor * room if room < 1 else max(factor * room, least)
        found = scaled(factor)
    raise PlanError("no noise of this shape reveals so little; give a larger budget")
