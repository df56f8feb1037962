# SPDX-License-Identifier: Apache-2.0
"""What a neighbour is, and all that it can change: one function of set, relation and coordinates.

`substitute`: one record takes another value of K, the number of records is public, and the sum
changes by a point of S = K − K. `add_remove`: one record comes or goes; each record x is lifted to
(x − v, 1) with v public, and (sum, count) changes by a point of S = ±(lifted K).

With a body of changes the number of records is public and one record changes, as under
`substitute`, but not to any other value: once clipped to its domain it changes by a point of the
body or its opposite (001, section 9; databases that are close in ℓ₂ have a ball, seen through a
linear query an ellipsoid). What noise must cover is S, the hull of the body and its opposite: no
S − S is formed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self, final

import numpy as np

from lownoise.errors import DomainError, PlanError, quoted
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    SymmetricBox,
    image_body,
)
from lownoise.sets.domains import AbstractDomain, Points
from lownoise.sets.domains.coordinates import OFF
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import Coordinates


class AbstractRelation(ABC):
    """What turns a table into a neighbour of it."""

    name: ClassVar[Literal["substitute", "add_remove", "changes"]]  # in accounts
    counted: ClassVar[bool]  # whether the number of records is private, and released
    sentence: ClassVar[str]  # what becomes of the one row

    @abstractmethod
    def sensitivity_set(
        self, domain: AbstractDomain, chosen: Coordinates, step: Vector, center: Vector
    ) -> AbstractBody:
        """Return the body S of all changes that one neighbour makes; see `sensitivity_set`."""

    @abstractmethod
    def check(self, domain: AbstractDomain, chosen: Coordinates) -> None:
        """Refuse a relation that does not go with the domain of the records.

        Raises:
            PlanError: where a body of changes does not.
            DomainError: where the body is of a kind whose changes are not known.
        """


class AbstractWord(AbstractRelation, str):
    """A relation that its word says all of: it compares and is written as that word."""

    __slots__ = ()

    def __new__(cls) -> Self:
        """Return the relation, which is its name."""
        return str.__new__(cls, cls.name)

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()

    def check(self, domain: AbstractDomain, chosen: Coordinates) -> None:
        """Return: it goes with every domain."""


@final
class Substitute(AbstractWord):
    """One record takes any other value of its domain; how many there are is public."""

    __slots__ = ()
    name: ClassVar[Literal["substitute"]] = "substitute"
    counted = False
    sentence = "takes any other value of its domain"

    def sensitivity_set(
        self, domain: AbstractDomain, chosen: Coordinates, step: Vector, center: Vector
    ) -> AbstractBody:
        """Return K − K."""
        return domain.differences(chosen.pivots, step)


@final
class AddRemove(AbstractWord):
    """One record comes or goes; how many there are is private."""

    __slots__ = ()
    name: ClassVar[Literal["add_remove"]] = "add_remove"
    counted = True
    sentence = "is added or removed"

    def sensitivity_set(
        self, domain: AbstractDomain, chosen: Coordinates, step: Vector, center: Vector
    ) -> AbstractBody:
        """Return the hull of ±((x − center)/step, 1), the count last."""
        return domain.lifted(chosen.pivots, step, center)


@final
@dataclass(frozen=True, eq=False)
class Change(AbstractRelation):
    """One record changes by a point of a body or its opposite; how many records is public.

    Args:
        body: every change that one neighbour can make of a record, d coordinates in their units.

    Examples:
        >>> from lownoise.sets.domains import Ball
        >>> nudge = Change(Ball(2, radius=0.5))
        >>> bool(np.all(nudge.changes(np.arange(2), np.ones(2)).widths() < 0.5 + 1e-9))
        True
    """

    name: ClassVar[Literal["changes"]] = "changes"
    counted: ClassVar[bool] = False
    sentence: ClassVar[str] = (
        "changes, once moved into its domain, by a point of a given body or its opposite; "
        "larger changes are hidden less"
    )

    body: AbstractDomain

    def sensitivity_set(
        self, domain: AbstractDomain, chosen: Coordinates, step: Vector, center: Vector
    ) -> AbstractBody:
        """Return the hull of the body and its opposite, whatever the domain."""
        return self.changes(chosen.pivots, step, mixed=chosen.embed is not None)

    def changes(self, pivots: Integers, step: Vector, *, mixed: bool = False) -> AbstractBody:
        """Return S, the hull of the body and its opposite, in some coordinates and in steps.

        Args:
            pivots: the coordinates, shape (r,).
            step: the unit of each, powers of two, shape (r,).
            mixed: whether answers are made of several coordinates, so that a body whose coordinates
                are independent is to be given like any other.

        Raises:
            DomainError: where the body is of a kind whose changes are not known.
        """
        found = self.body.symmetrized(pivots, step)
        if not mixed:
            return found
        if isinstance(found, SymmetricBox):
            return image_body(np.diag(found.half_width), NormBall(found.dimension, math.inf))
        return image_body(found.dense, found.base) if isinstance(found, ImageBody) else found

    def check(self, domain: AbstractDomain, chosen: Coordinates) -> None:
        """Refuse a body of changes that does not go with the domain of the records.

        Args:
            domain: K.
            chosen: the coordinates of K that are summed.

        Raises:
            PlanError: where the body has other coordinates, allows no change at all, or allows one
                that leaves the flat that the domain keeps to.
            DomainError: where the body is of a kind whose changes are not known.
        """
        d = domain.dimension
        if self.body.dimension != d:
            raise PlanError(
                f"relation is a body of {self.body.dimension} coordinates for records of {d}; "
                "give one that holds changes of a record",
            )
        changes = self.changes(np.arange(d), np.ones(d), mixed=chosen.embed is not None)
        moved = changes.widths() > 0
        if not np.any(moved):
            raise PlanError(
                "relation is a body of no width, so it protects nothing; give a wider one"
            )
        off = moved & (domain.lower == domain.upper)
        if chosen.embed is not None and not isinstance(changes, SymmetricBox):
            rows = changes.spanning - changes.base_point
            follows = rows[:, chosen.pivots] @ chosen.embed.T
            size = np.abs(rows) + np.abs(rows[:, chosen.pivots]) @ np.abs(chosen.embed.T)
            off |= np.max(np.abs(rows - follows), axis=0) > OFF * np.max(size, axis=0)
        if np.any(off):
            raise PlanError(
                f"relation changes coordinate {int(np.flatnonzero(off)[0])} as the domain's points "
                "never do: they keep to a flat; give a body of changes within it, as by ln.image",
            )


SUBSTITUTE, ADD_REMOVE = Substitute(), AddRemove()
RELATIONS: tuple[AbstractWord, ...] = (SUBSTITUTE, ADD_REMOVE)
CheckedRelation = AbstractWord | Change
Word = (
    AbstractWord
    | Literal[
        "substitute",
        "add_remove",
        "replace_one",
        "change_one",
        "bounded",
        "add_remove_one",
        "add_or_remove_one",
        "unbounded",
    ]
)
Relation = Word | Change  # as users give it
_NAMES: dict[str, AbstractWord] = {
    "substitute": SUBSTITUTE,
    "add_remove": ADD_REMOVE,
    # what the field calls them
    "replace_one": SUBSTITUTE,
    "change_one": SUBSTITUTE,
    "bounded": SUBSTITUTE,
    "add_remove_one": ADD_REMOVE,
    "add_or_remove_one": ADD_REMOVE,
    "unbounded": ADD_REMOVE,
}


def relation_name(relation: Relation | str) -> Literal["substitute", "add_remove", "changes"]:
    """Return what an account calls a relation; bodies of changes have one name."""
    return (word_of(relation) if isinstance(relation, str) else relation).name


def word_or_none(relation: object) -> AbstractWord | None:
    """Return the relation of its word, or of another that the field has for it; None of others."""
    return _NAMES.get(relation) if isinstance(relation, str) else None


def word_of(word: str) -> AbstractWord:
    """Return the relation of its word, or of another that the field has for it.

    Raises:
        PlanError: where no relation is called that.

    Examples:
        >>> word_of("replace_one"), word_of("unbounded").counted
        ('substitute', True)
    """
    if (found := word_or_none(word)) is None:
        raise PlanError(f"relation={quoted(word)} is unknown; give {' or '.join(RELATIONS)}")
    return found


def checked_relation(relation: object) -> CheckedRelation:
    """Return what a neighbour is: a word's relation, or a body of changes.

    Raises:
        PlanError: where it is neither.

    Examples:
        >>> checked_relation("bounded")
        'substitute'
    """
    if isinstance(relation, Change):
        return relation
    if isinstance(relation, AbstractDomain):
        return Change(relation)
    if (found := word_or_none(relation)) is not None:
        return found
    known = relation is None or isinstance(relation, str)
    said = quoted(relation) if known else type(relation).__name__
    raise PlanError(
        f"relation={said} is unknown; give one of {', '.join(RELATIONS)}, or a domain that holds "
        "every change of a record, such as ln.Ball(…)",
    )


def checked_word(relation: object, kind: str) -> AbstractWord:
    """Return what a neighbour is, for a question that knows no bodies of changes.

    Args:
        relation: what was asked.
        kind: what the question is called.

    Raises:
        PlanError: where it is no word for a relation.
    """
    if (found := word_or_none(relation)) is not None:
        return found
    said = quoted(relation) if isinstance(relation, str) else type(relation).__name__
    raise PlanError(f"relation={said} is unknown for {kind}; give {' or '.join(RELATIONS)}")


def exchange_body(
    domain: AbstractDomain, center: Vector, chosen: Coordinates, *, counted: bool
) -> AbstractBody | None:
    """Return L − L, L the hull of 0 and of what a record adds; None where no solver knows it.

    That is what a row of a unit changes that takes any other rows, or none.

    Args:
        domain: K, dimension d.
        center: the public point that sums are about, shape (d,).
        chosen: the r coordinates that are summed.
        counted: whether there is a count, the last coordinate.

    Examples:
        >>> from lownoise.sets.domains import Points
        >>> found = Points([[0.0], [2.0]])
        >>> made = exchange_body(found, np.ones(1), found.exact_coordinates(), counted=True)
        >>> round(made.length_up(np.eye(2), np.zeros(2)), 9)  # of (2, 0), and not of (2, 1)
        2.0
    """
    pivots = chosen.pivots
    if isinstance(domain, Points):
        rows = (domain.points - center)[:, pivots]
        rows = np.pad(rows, ((1, 0), (0, 0)))
        if counted:
            rows = np.column_stack([rows, np.arange(len(rows)) > 0])
        return PointDifferences(frozen(np.ascontiguousarray(rows)))
    if counted or not domain.contains(center):
        return None
    return domain.differences(pivots, np.ones(pivots.size))  # K − K holds K and −K


def sensitivity_set(
    domain: AbstractDomain,
    relation: Relation | str,
    center: Vector,
    chosen: Coordinates | None = None,
    step: Vector | None = None,
) -> AbstractBody:
    """Return the body S of all changes that one neighbour makes to the summed coordinates.

    Noise is fitted to it and evidence is about it; that noise covers records follows from their
    codes. Of a box about another point than its middle it is drawn in by a part in 2^48.

    Args:
        domain: K, dimension d.
        relation: what a neighbour is; where records come and go S has one coordinate more, the
            count, last.
        center: the public point v, shape (d,); only where records come and go it matters.
        chosen: the r coordinates that are summed; by default all, copies of entries but once.
        step: the unit of each, powers of two, shape (r,); ones by default.

    Raises:
        DomainError: where the domain is of a kind whose body is not known.

    Examples:
        >>> import lownoise as ln
        >>> box = ln.Box([0, 0], [1, 4])
        >>> sensitivity_set(box, "substitute", np.zeros(2)).half_width
        array([1., 4.])
        >>> sensitivity_set(box, "add_remove", np.array([0.5, 1.0])).widths().round(9)
        array([0.5, 3. , 1. ])
    """
    if not isinstance(domain, AbstractDomain) or not domain.of_records:
        raise DomainError(
            f"domain={type(domain).__name__} has no known sensitivity body; use ln.Box or ln.Points"
        )
    own = domain.exact_coordinates() if chosen is None else chosen
    unit = np.ones(own.pivots.size) if step is None else step
    known = word_of(relation) if isinstance(relation, str) else relation
    return known.sensitivity_set(domain, own, unit, center)
