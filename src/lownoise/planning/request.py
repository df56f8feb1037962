# SPDX-License-Identifier: Apache-2.0
"""What is asked of a plan beside its question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.domains import AbstractDomain
    from lownoise.neighbours import Relation
    from lownoise.privacy import Budget
    from lownoise.solvers import Progress

COUNT_SHARE = 0.05
_MOST_RECORDS = 10**12


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """The arguments of `plan` as they were given; None where one was left out."""

    budget: Budget
    relation: Relation | AbstractDomain
    size: int | None
    order: float
    weights: ArrayLike | str | None
    count_share: float | None
    rtol: float
    progress: Callable[[Progress], None] | None


def checked_size(size: int | None, relation: Relation) -> int | None:
    """Return the public number of records, None under `add_remove`.

    Raises:
        PlanError: where it does not fit the relation or is out of range.
    """
    if relation == "add_remove":
        if size is not None:
            raise PlanError(
                f"size={size} is private under add_remove; leave it out: the count is released",
            )
        return None
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not whole or not 1 <= int(size or 0) <= _MOST_RECORDS:
        raise PlanError(
            f"size={size!r} is no public number of records; where one record changes give a whole "
            "number from 1 to 10^12",
        )
    return int(size or 0)
