# SPDX-License-Identifier: Apache-2.0
"""The mean of columns whose records lie in a domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, QuestionError, quoted
from lownoise.kinds import Field
from lownoise.numbers.arrays import vector
from lownoise.numbers.readable import readable
from lownoise.questions.encoding import QUESTIONS
from lownoise.sets.domains import AbstractDomain
from lownoise.sets.domains.encoding import MEMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.questions.attributes import Categories
    from lownoise.questions.marginals import Marginals
    from lownoise.sets.domains.coordinates import Coordinates


def _written(
    columns: Any,  # noqa: ANN401 (a file)
    domain: AbstractDomain,
    center: Any,  # noqa: ANN401
    missing: Any,  # noqa: ANN401
    drops_missing: object,
) -> Mean:
    if not isinstance(drops_missing, bool):
        raise FileError(f"question.drops_missing={quoted(drops_missing)} is not true or false")
    return Mean(columns, domain, center=center, missing="drop" if drops_missing else missing)


@QUESTIONS.kind(
    "mean",
    Field("columns", attribute="sources"),
    Field("domain", MEMBER, inlined=True),
    "center",
    "missing",
    "drops_missing",
    make=_written,
)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Mean:
    """The mean μ(X) of d columns over the records of a table.

    `columns` names the answers, `sources` the columns that are read: the same, but of `ln.Moments`.

    Args:
        columns: their names, d different ones; their order is the answers' order.
        domain: where records live, `ln.Box`, `ln.Ball`, `ln.Points`, …; values outside are clipped
            to it.
        center: the public point that sums are taken about under `add_remove`, shape (d,), within
            the domain's ranges; by default the domain's centre. Under Gaussian noise a point near
            the mean makes the mean that follows from sum and count more accurate; pure noise does
            not depend on it.
        missing: the point that stands in for null, NaN and text that is no number: "center", the
            point of the domain nearest to the center, or a point of the domain, shape (d,); or
            "drop", to leave out a row that lacks a value (`add_remove` only).

    Raises:
        QuestionError: where names repeat or do not match the domain, or a point lies outside it.

    Examples:
        >>> from lownoise.sets.domains import Box
        >>> Mean(["age", "income"], Box([0, 0], [120, 1e6])).columns
        ('age', 'income')
        >>> by_sex = Mean(["age"], Box([0], [120]), by={"sex": ["F", "M"]})
        >>> by_sex.labels()
        ['sex=F', 'sex=M']
    """

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    domain: AbstractDomain
    center: Vector
    missing: Vector
    drops_missing: bool
    comes = False  # whether sums are about zero, and one record is all that changes: of `ln.Sum`

    def __new__(
        cls,
        *given: Any,  # noqa: ANN401 (as of `__init__`)
        by: Mapping[str, Categories] | None = None,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        group_weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
        **more: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 (where groups are given, the means of them)
        """Return the question; with `by` that of means by groups, which is of another kind."""
        groups = groups_of(by, way, sets, group_weights, outside)
        if groups is None:
            return super().__new__(cls)
        from lownoise.questions.groups import GroupedMean

        return GroupedMean(cls(*given, **more), groups)

    def __init__(
        self,
        columns: Sequence[str],
        domain: AbstractDomain,
        *,
        center: ArrayLike | None = None,
        missing: ArrayLike | str = "center",
        by: Mapping[str, Categories] | None = None,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        group_weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
    ) -> None:
        listed = isinstance(columns, Iterable) and not isinstance(columns, str)
        if not listed or not all(_is_name(c) for c in columns):
            raise QuestionError(
                f'Mean.columns={quoted(columns)} is not a list of names; give ["name"]'
            )
        names = tuple(columns)
        if not isinstance(domain, AbstractDomain) or not domain.of_records:
            raise QuestionError(
                f"Mean.domain={type(domain).__name__} is no domain of records; "
                "give ln.Box(lower, upper) or ln.Points(points)",
            )
        read = domain.source
        if len(names) != read.dimension:
            raise QuestionError(
                f"Mean.columns has {len(names)} names and Mean.domain {read.dimension} "
                "coordinates; give one name a coordinate",
            )
        if len(set(names)) != len(names):
            twice = next(c for i, c in enumerate(names) if c in names[:i])
            raise QuestionError(f"Mean.columns names {quoted(twice)} twice; name each column once")
        middle = domain.center if center is None else _point(center, domain, "Mean.center")
        drops = isinstance(missing, str) and missing == "drop"
        if isinstance(missing, str):
            if missing not in ("center", "drop"):
                raise QuestionError(
                    f'Mean.missing={quoted(missing)} is no policy; give "center", "drop" '
                    "or a point",
                )
            stand_in = read.clamp(middle if read is domain else read.center)
        else:
            stand_in = _point(missing, read, "Mean.missing")
            if not read.contains(stand_in):
                raise QuestionError(
                    "Mean.missing is not a point of Mean.domain; give one of them",
                )
        answers = domain.named(names)
        if len(set(answers)) != len(answers):
            twice = next(c for i, c in enumerate(answers) if c in answers[:i])
            raise QuestionError(f"Moments.columns make two answers {quoted(twice)}; rename one")
        for name, value in (
            ("columns", answers),
            ("sources", names),
            ("domain", domain),
            ("center", middle),
            ("missing", stand_in),
            ("drops_missing", drops),
        ):
            object.__setattr__(self, name, value)

    def coordinates(self) -> Coordinates:
        """Return the coordinates that are summed, and how others follow: linearly about zero."""
        return self.domain.exact_coordinates() if self.comes else self.domain.coordinates()


def _is_name(column: object) -> bool:
    if not isinstance(column, str) or not column:
        return False
    # neither a lone surrogate nor a NUL can name a column in a file
    return "\0" not in column and column.encode("utf-8", "replace").decode() == column


def groups_of(
    by: Mapping[str, Categories] | None,
    way: int | None,
    sets: Sequence[Sequence[str]] | None,
    weights: Sequence[float] | None,
    outside: str | Mapping[str, object],
) -> Marginals | None:
    """Return the groups that are asked for, by all attributes at once by default; None for none.

    Raises:
        QuestionError: where they are none, or margins are chosen without attributes.
    """
    if by is None:
        if way is not None or sets is not None or weights is not None:
            raise QuestionError("way, sets and group_weights are of groups; give by={…}, too")
        return None
    from lownoise.questions.attributes import called
    from lownoise.questions.marginals import Marginals

    if way is None and sets is None and isinstance(by, Mapping):
        sets = [list(by)]
    with called({"sizes": "by", "Marginals.weights": "group_weights", "Marginals.": ""}):
        return Marginals(by, way=way, sets=sets, weights=weights, outside=outside)


def _point(values: ArrayLike, domain: AbstractDomain, field: str) -> Vector:
    point = vector(values, field=field, error=QuestionError)
    if point.size != domain.dimension:
        raise QuestionError(
            f"{field} has {point.size} coordinates and Mean.domain {domain.dimension}; "
            "give one number a column",
        )
    outside = np.flatnonzero((point < domain.lower) | (point > domain.upper))
    if outside.size:
        i = int(outside[0])
        raise QuestionError(
            f"{field}[{i}]={point[i]} is outside [{domain.lower[i]}, {domain.upper[i]}]; "
            "give a point of the domain",
        )
    return point
