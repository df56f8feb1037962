# SPDX-License-Identifier: Apache-2.0
"""What is asked of a plan beside its question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.privacy import ApproxDP, PureDP
from lownoise.privacy.units import rows_of
from lownoise.release.guarantees import allowed
from lownoise.sensitivity.relations import checked_relation, checked_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.privacy import Budget, Shared
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sensitivity.relations import Relation, Word
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress

COUNT_SHARE = 0.05
_MOST_RECORDS = 10**12
_SPARE = 1 - 2.0**-50  # of a row's share of a budget, for its rounding


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """The arguments of `plan` as they were given; None where one was left out.

    Where releases share a budget, `budget` is that of one of them, and `shared` what they share.
    Where `unit` is not None it is a unit's budget, and noise is fitted to what one row may cost
    that comes or goes: `dearer` times less where one that becomes another costs as much more.
    Fits from the user's cache will do that have at most `near` parts of E‖z‖² more than the least.
    """

    budget: Budget
    relation: Relation | AbstractDomain
    size: int | None
    order: float
    weights: ArrayLike | str | None
    count_share: float | None
    rtol: float
    progress: Callable[[Progress], None] | None
    mechanism: str | None = None
    shared: Shared | None = None
    unit: PrivacyUnit | None = None
    dearer: float = 1.0
    near: float = 1.0

    @property
    def rows(self) -> int:
        """How many rows of a unit count at most; 1 where rows are protected."""
        return rows_of(self.unit)

    @property
    def exchanged(self) -> bool:
        """Whether units take other rows, and do not only come and go."""
        return self.unit is not None and self.unit.exchanged

    @property
    def gaussian_parameter(self) -> float:
        """The greatest μ that one row may cost, where Gaussian noise is added."""
        found = self.budget.gaussian_parameter()
        return found if self.unit is None else found / self.rows / self.dearer * _SPARE

    @property
    def epsilon(self) -> float:
        """The greatest ε that one row may cost, where pure noise is added.

        Raises:
            PlanError: where the budget is not pure, nor (ε, δ).
        """
        if not isinstance(self.budget, (PureDP, ApproxDP)):
            raise PlanError(f"budget={self.budget} is not pure, nor (epsilon, delta)")
        found = allowed(self.budget)
        return found if self.unit is None else found / self.rows / self.dearer * _SPARE

    @property
    def asked(self) -> Budget:
        """The budget that was given: of one release, or what several share."""
        return self.budget if self.shared is None else self.shared.budget


def checked_counting(request: Request, kind: str, *, drops: bool) -> tuple[Word, int | None]:
    """Return the relation and the public number of records of a question that counts records.

    Args:
        request: what was asked.
        kind: what the question is called.
        drops: whether it may leave rows out.

    Raises:
        PlanError: where they do not fit it, or an argument is one for means.
    """
    relation = checked_word(request.relation, kind)
    if request.weights is not None or request.count_share is not None:
        raise PlanError(
            f"weights and count_share are for means; ln.{kind} counts records: leave them out, or "
            "give the question weights where it takes them",
        )
    size = checked_size(request.size, relation)
    if size is not None and drops:
        raise PlanError(
            f'outside="drop" of ln.{kind} would change the public size; name what stands in for '
            "other values, as outside={name: category}",
        )
    return relation, size


def checked_size(size: int | None, relation: Relation) -> int | None:
    """Return the public number of records, None under `add_remove`.

    Raises:
        PlanError: where it does not fit the relation or is out of range.
    """
    if checked_relation(relation).counted:
        if size is not None:
            raise PlanError(
                f"size={quoted(size)} is private under add_remove; leave it out: the count is "
                "released",
            )
        return None
    full_shape = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not full_shape or not 1 <= int(size or 0) <= _MOST_RECORDS:
        raise PlanError(
            f"size={quoted(size)} is no public number of records; where one record changes give a "
            "whole number from 1 to 10^12",
        )
    return int(size or 0)
