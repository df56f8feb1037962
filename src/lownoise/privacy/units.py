# SPDX-License-Identifier: Apache-2.0
"""Units of privacy: people, not rows, where one of them has several rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, final

from lownoise.errors import PlanError, quoted
from lownoise.sets.domains.encoding import MEMBER

if TYPE_CHECKING:
    from lownoise.sets.domains import AbstractDomain

MOST_ROWS = 10**6
OF_UNITS = ("privacy_unit", "rows_per_unit", "order_by", "null_unit")  # as `plan` calls them
NullUnit = Literal["drop", "one"]
_NULLS: tuple[NullUnit, ...] = ("drop", "one")


@final
@dataclass(frozen=True)
class PrivacyUnit:
    """Whose rows are hidden together: all that hold the same in a column.

    Of each unit the first rows count, in an order that its own rows decide. Texts are the same
    where they have the same letters, numbers where they are equal.

    Args:
        column: what tells units apart.
        rows: m, how many rows of each count at most; None where all do, and `total` bounds them.
        order_by: the columns that order a unit's rows, the first of them first; rows alike in these
            go by the columns that are read. In a column numbers rise, and what spells none goes
            after them by its letters; missing values are last.
        null: what rows without a unit are: left out ("drop"), or one unit together ("one").
        exchanged: whether a neighbour has any other rows of one unit, or none, and not only a unit
            more or less.
        total: what the rows of each that count add up to is clipped to; None where it is not.

    Raises:
        PlanError: where one of them is out of range.

    Examples:
        >>> PrivacyUnit("tailnum", 20, ("year", "month")).order
        ' by year, month'
    """

    column: str
    rows: int | None
    order_by: tuple[str, ...] = ()
    null: NullUnit = "drop"
    exchanged: bool = False
    total: AbstractDomain | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column or not self.column.isprintable():
            raise PlanError(f"privacy_unit={quoted(self.column)} is no name of a column; give one")
        whole = isinstance(self.rows, int) and not isinstance(self.rows, bool)
        every = self.rows is None and self.total is not None
        if not every and not (whole and 1 <= (self.rows or 0) <= MOST_ROWS):
            raise PlanError(
                f"rows_per_unit={quoted(self.rows)} is no number of rows; give the most that count "
                f"of one {self.column}, a whole number from 1 to {MOST_ROWS:,}"
            )
        named = all(isinstance(n, str) and n and n.isprintable() for n in self.order_by)
        if not named or len(set(self.order_by)) < len(self.order_by):
            raise PlanError("order_by is no list of columns; give each name once")
        if self.null not in _NULLS:
            raise PlanError(f'null_unit={quoted(self.null)} is unknown; give "drop" or "one"')
        if self.rows is None and self.order_by:
            raise PlanError("order_by needs rows_per_unit, and here all rows count; leave it out")

    @property
    def copies(self) -> int:
        """How many times a row's change, or a total's where that is clipped, a unit's can be."""
        return 1 if self.total is not None else self.rows or 1

    @property
    def of_totals(self) -> PrivacyUnit:
        """The same of a table of which each unit has one row, what its rows add up to."""
        return self if self.total is None else replace(self, rows=1, order_by=(), total=None)

    @property
    def order(self) -> str:
        """By what a unit's rows are ordered, in words."""
        if not self.order_by:  # as of rows that tie
            return ", the smallest values before others (so that means are low; give order_by),"
        return f" by {', '.join(self.order_by)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read to bound units, each once."""
        return tuple(dict.fromkeys((self.column, *self.order_by)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is hidden, and what becomes of rows, one sentence each."""
        nulls = {
            "drop": f"A row that lacks a {self.column} is left out.",
            "one": f"Rows that lack a {self.column} are one unit together.",
        }
        hidden = f"All rows of one {self.column} are hidden together, however many they are"
        kept = "all of them count"
        if self.rows is not None:
            count = "row" if self.rows == 1 else f"{self.rows:,} rows"
            kept = f"the first {count}{self.order} of each count, and answers are about those"
        if self.total is None:
            return f"{hidden}; {kept}.", nulls[self.null]
        clipped = (
            f"What those of one {self.column} add up to counts as the nearest point of "
            f"{self.total!r}; how many is not published, and answers are about what counts."
        )
        return f"{hidden}; {kept}.", clipped, nulls[self.null]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How much of one counts, as facts."""
        most = "all of them" if self.rows is None else f"{self.rows:,} at most"
        within = [] if self.total is None else [("Total of a unit", repr(self.total))]
        return [("Rows of a unit", most), *within]

    @property
    def relation(self) -> Literal["substitute", "add_remove"]:
        """What a neighbour is, as users ask for it."""
        return "substitute" if self.exchanged else "add_remove"

    @property
    def neighbours(self) -> str:
        """What an account calls the relation between tables that differ by a unit.

        Examples:
            >>> PrivacyUnit("tailnum", 20).neighbours
            'add_remove per tailnum'
        """
        return f"{self.relation} per {self.column}"

    @property
    def becomes(self) -> str:
        """What is otherwise of one unit in a neighbouring table, in words."""
        if self.exchanged:
            return "has any other rows, or none"
        return "is added or removed, with all of its rows"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "column": self.column,
            "rows": self.rows,
            "order_by": list(self.order_by),
            "null": self.null,
            **({} if self.total is None else {"total": MEMBER.write(self.total)}),
        }


def rows_of(unit: PrivacyUnit | None) -> int:
    """Return how many times what a record changes a unit does; 1 where rows are protected."""
    return 1 if unit is None else unit.copies


def checked_unit(
    column: str | None,
    rows: int | None,
    order_by: Any = None,  # noqa: ANN401 (what a user gives)
    null: str = "drop",
    total: AbstractDomain | None = None,
) -> PrivacyUnit | None:
    """Return the unit that these declare, None where rows are protected.

    Args:
        column: what tells units apart, None for rows.
        rows: how many rows of each count.
        order_by: a list of columns, or one; None for none.
        null: what rows without a unit are.
        total: what a unit's rows add up to is clipped to.

    Raises:
        PlanError: where one is out of range, or stands without the others.

    Examples:
        >>> checked_unit("person", 3, "day").order_by
        ('day',)
    """
    listed = (order_by,) if isinstance(order_by, str) else () if order_by is None else order_by
    if not isinstance(listed, (list, tuple)):
        raise PlanError(f"order_by={quoted(order_by)} is no list of columns; give names")
    if not isinstance(null, str):
        raise PlanError(f'null_unit={quoted(null)} is unknown; give "drop" or "one"')
    if column is None:
        if rows is not None or order_by or null != "drop" or total is not None:
            raise PlanError(
                "rows_per_unit, order_by, null_unit and unit_total need privacy_unit; give the "
                "column that identifies people"
            )
        return None
    if rows is None and total is None:
        raise PlanError(
            f"privacy_unit={quoted(column)} needs rows_per_unit, the number of rows of each that "
            "count; or for ln.Sum unit_total, the bounds of what its rows add up to"
        )
    own: Any = null  # which is checked there
    return PrivacyUnit(column, rows, tuple(listed), own, total=total)


def unit_from_dict(fields: dict[str, Any], *, exchanged: bool = False) -> PrivacyUnit:
    """Return the unit that `PrivacyUnit.to_dict` described.

    Args:
        fields: what it wrote.
        exchanged: as of the unit: files say it by their relation.

    Raises:
        PlanError, FileError, TypeError, KeyError: where it is none.
    """
    order = tuple(fields["order_by"])
    total = MEMBER.read(fields["total"], "unit.total") if "total" in fields else None
    return PrivacyUnit(fields["column"], fields["rows"], order, fields["null"], exchanged, total)
