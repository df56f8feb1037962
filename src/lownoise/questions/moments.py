# SPDX-License-Identifier: Apache-2.0
"""First and second moments of columns: means of a record's moments, by their name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.questions.mean import Mean
from lownoise.sets.domains import AbstractMoments, Box, Image, MomentBall, MomentBox
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.sets.domains import AbstractDomain


def Moments(  # noqa: N802 (a question, as people name it)
    columns: Sequence[str],
    domain: AbstractDomain,
    *,
    degree: int = 2,
    missing: ArrayLike | str = "center",
    **groups: Any,  # noqa: ANN401 (as of `Mean`)
) -> Mean:
    """Return the question of the means of columns, of their squares and of their products.

    All are released together, by noise that is fitted to the sensitivity set of all of them.
    Squares and products are of what values differ from the middles of their bounds by, or from the
    ball's center, so that bounds far from 0 cost nothing. Answers are unbiased, as of `ln.Mean`;
    `release.moments` has variances, covariances, correlations and least-squares coefficients, with
    their intervals.

    Squares have other units than their columns: give `weights="range"`, or one a moment, in the
    order of `columns` of the question.

    Args:
        columns: their names, 1 to 200 of them.
        domain: `ln.Box(lower, upper)`, whose bounds differ in each column, or `ln.Ball(d, radius,
            center=…)` in two columns and more; values outside count as the nearest point.
        degree: 2, the highest of the moments.
        missing: as of `ln.Mean`: a point of the domain, "center" or "drop".
        groups: `by`, `way`, `sets`, `group_weights` and `outside` of `ln.Mean`, for moments by
            groups; `release.moments.groups("sex")` has what follows in each.

    Raises:
        QuestionError: where names repeat, or do not match the domain, or that is neither, or the
            degree is another.
        DomainError: where columns are more than 200, or bounds are equal, of extreme size, or so
            far from 0 that hardly a float is between them.

    Examples:
        >>> Moments(["age", "pay"], Box([0, 0], [120, 1e5])).columns
        ('age', 'pay', 'age·age', 'age·pay', 'pay·pay')
    """
    if degree != 2 or isinstance(degree, bool):  # noqa: PLR2004
        raise QuestionError(
            f"Moments.degree={quoted(degree)} is not 2; ln.Mean has means alone, and of third and "
            "higher moments no noise is planned"
        )
    found: Mean = Mean(columns, _of(domain), missing=missing, **groups)
    return found


def _of(domain: AbstractDomain) -> AbstractMoments:
    """Return the moments of a box or of a Euclidean ball.

    Raises:
        QuestionError: where it is neither.
    """
    if isinstance(domain, Box):
        return MomentBox(domain.lower, domain.upper)
    if isinstance(domain, Image) and isinstance(domain.base, NormBall) and domain.diagonal:
        if math.isinf(domain.base.order) or domain.dimension == 1:
            return MomentBox(domain.lower, domain.upper)
        axes = np.abs(domain.factor)
        if domain.base.order == 2 and np.all(axes == axes[0]):  # noqa: PLR2004
            return MomentBall(domain.center, float(axes[0]))
    raise QuestionError(
        f"Moments.domain={type(domain).__name__} is no box and no Euclidean ball of one radius; "
        "give ln.Box(lower, upper), or ln.Ball(d, radius) of columns divided by half axes"
    )
