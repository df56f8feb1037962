# SPDX-License-Identifier: Apache-2.0
"""What every question's totals are: integers, how far a neighbour moves them, their answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.relations import Relation

from lownoise.errors import PlanError, TableError


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

    @abstractmethod
    def read(self, table: Any) -> Any:  # noqa: ANN401 (what an engine takes, and what it makes)
        """Return what an engine makes of a table, of which the integers follow.

        Raises:
            TableError: where the table has not the public number of rows.
        """

    @abstractmethod
    def exact(self, records: Any) -> Sequence[int]:  # noqa: ANN401
        """Return the integers without noise: never to be shown.

        Args:
            records: what `read` returned.

        Raises:
            TableError: where the table has not the public number of rows.
        """

    @property
    @abstractmethod
    def unit(self) -> Vector:
        """What one step is worth in each summed answer, shape (r,)."""

    @property
    @abstractmethod
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all answers, shape (m, r); None for the identity."""

    @abstractmethod
    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the answers in their units, shape (m,)."""


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
    if size is not None if relation == "add_remove" else not whole:
        raise PlanError("size does not fit the relation; plan again")
