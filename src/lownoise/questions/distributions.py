# SPDX-License-Identifier: Apache-2.0
"""Counts by groups, and histograms and distributions of a column: marginals, by their names.

First and second moments of columns: means of a record's moments, by their name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.questions.attributes import check_labels
from lownoise.questions.marginals import Marginals
from lownoise.questions.mean import Mean
from lownoise.questions.wording import called
from lownoise.sets.domains import AbstractMoments, Box, Image, MomentBall, MomentBox
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.questions.attributes import Categories
    from lownoise.sets.domains import AbstractDomain


def Distribution(  # noqa: N802 (a question, as people name it)
    column: str,
    edges: Sequence[float],
    *,
    by: Mapping[str, Categories] | None = None,
    outside: str | Mapping[str, object] = "drop",
) -> Marginals:
    """Ask for the distribution of a column: the number of rows up to each of some values.

    The noise is optimised for these cumulative counts. `release.distribution` and
    `release.quantile` read them.

    Args:
        column: a column of numbers.
        edges: the public edges of ranges of its values, ascending; do not take them from the
            table. Values below the first count in the first range, values above the last in the
            last.
        by: groups, each attribute's categories as for `ln.Marginals`. The distribution in each of
            their joint cells is released, and that of all rows.
        outside: rows with a missing value, and values outside the categories of `by`, as for
            `ln.Marginals`.

    Raises:
        QuestionError: as `ln.Marginals`; where `by` names the column.

    Examples:
        >>> question = Distribution("age", [0, 18, 65, 120], by={"sex": ["F", "M"]})
        >>> [question.names(s) for s in question.sets()]
        [('age',), ('age', 'sex')]
    """
    given: object = edges
    listed = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Sequence):
        raise QuestionError(
            f"Distribution.edges={quoted(edges)} is no list of numbers; give [0, 10, 20] for the "
            "ranges from 0 to 10 and from 10 to 20"
        )
    return _of_column(column, {"edges": listed}, by, outside, ordered=True)


def Histogram(  # noqa: N802 (as above)
    column: str,
    categories: Categories,
    *,
    by: Mapping[str, Categories] | None = None,
    outside: str | Mapping[str, object] = "drop",
) -> Marginals:
    """Ask for the number of rows in each category of a column.

    Args:
        column: its name.
        categories: as for `ln.Marginals`: their number, a list of them, or {"edges": […]}.
        by: as for `ln.Distribution`.
        outside: as for `ln.Distribution`.

    Raises:
        QuestionError: as `ln.Marginals`; where `by` names the column.

    Examples:
        >>> Histogram("pay", {"edges": [0, 1000, 5000]}, outside="extra").cells
        3
    """
    return _of_column(column, categories, by, outside, ordered=False)


def Count(  # noqa: N802 (as above)
    by: Mapping[str, Categories] | str | None = None,
    *,
    way: int | None = None,
    sets: Sequence[Sequence[str]] | None = None,
    outside: str | Mapping[str, object] = "drop",
) -> Marginals:
    """Ask for the number of rows in each group, or of all rows.

    Args:
        by: attributes and their categories, as for `ln.Marginals`; groups are their joint cells. Or
            the name of any column, for the number of all rows, with or without a value there.
        way: counts by all choices of up to this many attributes, in place of the joint cells.
        sets: counts by these choices, in place of the joint cells.
        outside: as for `ln.Distribution`.

    Raises:
        QuestionError: as `ln.Marginals`.

    Examples:
        >>> question = Count({"sex": ["F", "M"], "region": 4})
        >>> [question.names(s) for s in question.sets()]
        [('sex', 'region')]
        >>> question = Count("id")
        >>> [question.names(s) for s in question.sets()]
        [()]
    """
    if by is None or (isinstance(by, str) and not (way is None and sets is None)):
        raise QuestionError(
            'Count.by is groups, as {"sex": ["F", "M"]}, or alone the name of any column, as "id", '
            "for the number of all rows; give one of them"
        )
    if isinstance(by, str):  # one category and an extra one: no row is left out
        return Marginals({by: 1}, sets=[[]], outside="extra")
    if way is None and sets is None and isinstance(by, Mapping):
        sets = [list(by)]
    with called({"sizes": "by", "Marginals.": ""}):
        found = Marginals(by, way=way, sets=sets, outside=outside)
        check_labels(found.attributes)
    return found


def _of_column(
    column: str,
    categories: Categories,
    by: Mapping[str, Categories] | None,
    outside: str | Mapping[str, object],
    *,
    ordered: bool,
) -> Marginals:
    if not isinstance(column, str):
        raise QuestionError(f"column={quoted(column)} is no name of a column; give a text")
    if not (by is None or isinstance(by, Mapping)):
        raise QuestionError(
            f"by={quoted(by)} is no mapping from names to categories; give by={{name: categories}}"
        )
    groups = dict(by or {})
    if column in groups:
        raise QuestionError(
            f"by={quoted(column)} is the column itself; name attributes that rows are grouped by"
        )
    sets = [[column], [column, *groups]] if groups else [[column]]
    own = "Distribution.edges" if ordered else "Histogram.categories"
    with called({f"sizes[{quoted(column)}]": own, "sizes": "by"}):
        found = Marginals(
            {column: categories, **groups},
            sets=sets,
            outside=outside,
            ordered={column: "prefix"} if ordered else None,
        )
        check_labels(found.attributes)
    return found


def Moments(  # noqa: N802 (a question, as people name it)
    columns: Sequence[str],
    domain: AbstractDomain,
    *,
    degree: int = 2,
    missing: ArrayLike | str = "center",
    **groups: Any,  # noqa: ANN401 (as of `Mean`)
) -> Mean:
    """Ask for the means of columns, of their squares and of their products.

    The noise is fitted to all of them together. Squares and products are of the deviations from the
    middles of the bounds, or from the ball's center, so bounds far from 0 cost nothing. The answers
    are unbiased, as for `ln.Mean`. `release.moments` has variances, covariances, correlations and
    least-squares coefficients, with their intervals.

    Squares have other units than their columns: give `weights="range"`, or one weight per moment,
    in the order of the question's `columns`.

    Args:
        columns: their names, 1 to 200 of them.
        domain: `ln.Box(lower, upper)`, whose bounds differ in each column, or `ln.Ball(d, radius,
            center=…)` for two or more columns; values outside count as the nearest point.
        degree: 2, the highest degree of the moments.
        missing: as for `ln.Mean`: a point of the domain, "center" or "drop".
        groups: `by`, `way`, `sets`, `group_weights` and `outside` of `ln.Mean`, for moments by
            groups; `release.moments.groups("sex")` has the results of each.

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
