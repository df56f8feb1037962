# SPDX-License-Identifier: Apache-2.0
"""First and second moments of columns: means of a record's moments, by their name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.errors import QuestionError
from lownoise.questions.mean import Mean
from lownoise.sets.domains import Box, MomentBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.sets.domains import AbstractDomain


def Moments(  # noqa: N802 (a question, as people name it)
    columns: Sequence[str],
    domain: AbstractDomain,
    *,
    missing: ArrayLike | str = "center",
    **groups: Any,  # noqa: ANN401 (as of `Mean`)
) -> Mean:
    """Return the question of the means of columns, of their squares and of their products.

    All are released together, by noise that is fitted to the sensitivity set of all of them.
    Squares and products are of what values differ from the middles of their bounds by, so that
    bounds far from 0 cost nothing. Answers are unbiased, as of `ln.Mean`; `release.moments` has
    variances, covariances, correlations and least-squares coefficients, with their intervals.

    Squares have other units than their columns: give `weights="range"`, or one a moment, in the
    order of `columns` of the question.

    Args:
        columns: their names, 1 to 200 of them.
        domain: `ln.Box(lower, upper)`, whose bounds differ in each column; values outside count as
            the nearest bound.
        missing: as of `ln.Mean`: a point of the box, "center" or "drop".
        groups: `by`, `way`, `sets`, `group_weights` and `outside` of `ln.Mean`, for moments by
            groups; `release.moments.groups("sex")` has what follows in each.

    Raises:
        QuestionError: where names repeat, or do not match the box, or the domain is no box.
        DomainError: where columns are more than 200, or bounds are equal, of extreme size, or so
            far from 0 that hardly a float is between them.

    Examples:
        >>> Moments(["age", "pay"], Box([0, 0], [120, 1e5])).columns
        ('age', 'pay', 'age·age', 'age·pay', 'pay·pay')
    """
    if not isinstance(domain, Box):
        raise QuestionError(
            f"Moments.domain={type(domain).__name__} is no box; give ln.Box(lower, upper)"
        )
    box = MomentBox(domain.lower, domain.upper)
    found: Mean = Mean(columns, box, missing=missing, **groups)
    return found
