# SPDX-License-Identifier: Apache-2.0
"""Totals: integers that follow from a table, how far a neighbour moves them, and their answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, final

import numpy as np

from lownoise.errors import PlanError, TableError
from lownoise.noise.units import Repeated
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed
from lownoise.sensitivity.relations import checked_relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lownoise.engines import TotalsQuery
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains.coordinates import Coordinates


@final
@dataclass(frozen=True)
class _All:
    """All integers at once."""

    start: int = 0


_ALL = _All()
FINEST = 2.0**-22  # the least step of counts, in records: 2^40 rows fit an integer of 64 bits
_BITS = 53  # of a float
_FEWEST_BITS = 40  # log2 of the standard deviation in grid steps, at the least
_BIAS_BITS = 10  # under `substitute`: rounding of records moves a mean by ≤ 2^-10 deviations
_WIDTH_BITS = 24  # log2 of a record's width in grid steps, where the noise is far wider
_MOST_BITS = 50  # a record's code, and the noise beside it, stay exact in a float


class AbstractReader(ABC):
    """What reads a table, whose number of rows may be public."""

    size: int | None

    @property
    def reading(self) -> TableQuery[Any] | None:
        """What is asked of a table; None where `read` alone knows."""
        return None

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


class AbstractTotals(AbstractReader):
    """Integers that follow from a table, how far one neighbour moves them, and their answers.

    Privacy rests on the integers that records become and on how far a neighbour moves their sums,
    whatever noise is added; both are here in their final form.
    """

    relation: Relation

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
    def finest(self) -> float:
        """A step that is as fine as steps can be, whatever the noise: of which nothing is asked."""
        return 0.0

    @property
    def rounding(self) -> Vector:
        """How far from what it adds a record's integers are at most, in steps, shape (r,)."""
        return frozen(np.zeros(self.length))


def lattice_of(numbers: Vector) -> Vector:
    """Return the greatest steps that each column's numbers are whole multiples of, shape (r,).

    Powers of two alone where multiples of these are beyond 2^53.

    Args:
        numbers: shape (N, r).

    Examples:
        >>> lattice_of(np.array([[0.0, 0.25], [6.0, 0.5], [9.0, 0.0]]))
        array([3.  , 0.25])
    """
    parts, powers = np.frexp(numbers)
    whole = (parts * 2.0**_BITS).astype(np.int64)
    lowest = np.where(whole != 0, whole & -whole, 1).astype(np.float64)
    found = np.where(whole != 0, np.log2(lowest) + powers - _BITS, np.inf).min(axis=0)
    power = np.exp2(np.where(np.isfinite(found), found, 0.0))
    with np.errstate(over="ignore"):
        multiples = np.abs(numbers) / power
    exact = np.all(multiples <= 2.0**_BITS, axis=0)
    common = np.gcd.reduce(np.where(exact, multiples, 0.0).astype(np.int64), axis=0)
    return frozen(power * np.maximum(common, 1))


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


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractSummedTotals(AbstractCountTotals[Asked]):
    """Sums of what each row adds to some answers, on a grid, of which all answers follow.

    Args:
        coordinates: which r answers are summed, and how all follow.
        step: the unit of each summed answer's integers, shape (r,): powers of two, or `lattice`.
    """

    coordinates: Coordinates
    step: Vector

    @property
    def lattice(self) -> Vector | None:
        """Steps whose whole multiples each row adds, shape (r,); None where none are known."""
        return None

    @property
    def kinds(self) -> float:
        """How many kinds of rows there are; infinitely many by default."""
        return math.inf

    @property
    def on_lattice(self) -> Self:
        """The same in the steps of `lattice`.

        Raises:
            PlanError: where there are none.
        """
        if self.lattice is None:
            raise PlanError(f"{type(self).__name__} has no steps in common; plan again")
        return replace(self, step=self.lattice)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return int(self.step.size)

    @property
    def stated(self) -> dict[str, Any]:
        """The grid, and which answers are summed where not all are; a large matrix is packed."""
        chosen = self.coordinates
        if chosen.embed is None:
            return {"step": self.step.tolist()}
        kept = {"pivots": chosen.pivots.tolist(), "embed": packed(chosen.embed)}
        return {"step": self.step.tolist(), **kept}

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each summed answer, shape (r,)."""
        return self.step

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all; None where all are summed."""
        return self.coordinates.embed

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers, shape (m,).

        Float arithmetic on what is already public. An answer that follows from others does so for
        each row within 1e-9 of its own numbers, and as a rule within their last digits.
        """
        summed = np.array([float(k) for k in integers]) * self.step
        chosen = self.coordinates
        about = summed if chosen.embed is None else chosen.embed @ summed
        return frozen(np.asarray(about + (self.size or 0) * chosen.start))


def grid_steps(
    least: Vector,
    most: Vector,
    width: Vector,
    extent: Vector,
    size: int | None,
    parameter: float,
    fewest: int = _FEWEST_BITS,
) -> Vector:
    """Return the grid of each answer, powers of two: fine beside its noise and beside a record.

    Args:
        least: the standard deviation of each answer when all others are known, shape (r,).
        most: its standard deviation, shape (r,).
        width: how far one neighbour can move it, shape (r,).
        extent: how far one record can be from the center, shape (r,).
        size: the public number of records, or None.
        parameter: μ.
        fewest: log2 of the standard deviation in steps, at the least.
    """
    fewest = fewest if size is None else max(fewest, size.bit_length() + _BIAS_BITS - 1)
    greatest = _MOST_BITS - max(0, math.ceil(math.log2(parameter)))
    used = (least > 0) & (width > 0)
    # a record spreads over about μ deviations in every direction of a noise that fits
    near = width * np.divide(least, most, out=np.ones_like(least), where=used)
    ratio = np.divide(least, near, out=np.ones_like(least), where=used)
    bits = np.clip(np.ceil(np.log2(ratio)) + _WIDTH_BITS, min(fewest, greatest), greatest)
    exponent = np.floor(np.log2(np.where(used, least, 1.0))) - bits
    # a shape that is far too narrow will be enlarged; its records must still have codes, and noise
    # that is far wider than it is thin must still have numbers
    largest = np.where(used, np.maximum(extent, np.where(most > least, most, 0.0)), 1.0)
    exponent = np.maximum(exponent, np.ceil(np.log2(largest)) - _MOST_BITS)
    return np.exp2(np.where(used, exponent, 0.0))
