# SPDX-License-Identifier: Apache-2.0
"""The mean of columns whose records lie in a domain, of all rows or by groups."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, QuestionError, quoted
from lownoise.kinds import Field
from lownoise.numbers.arrays import vector
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import check_labels
from lownoise.questions.encoding import QUESTION, QUESTIONS, AbstractQuestion, Parts
from lownoise.questions.marginals import Marginals
from lownoise.questions.wording import called
from lownoise.sets.domains import AbstractDomain
from lownoise.sets.domains.encoding import MEMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.questions.attributes import Categories
    from lownoise.sets.domains.coordinates import Coordinates

ALL = "all rows"
_MOST_CELLS = 1 << 20  # of all groups together, whose sums are kept while a table is read
_MOST_SUMS = 1 << 23
_SAME = 2.0**-30  # of a range, between two processors' searches for a middle


def _written(
    columns: Any,  # noqa: ANN401 (a file)
    domain: AbstractDomain,
    center: Any,  # noqa: ANN401
    missing: Any,  # noqa: ANN401
    drops_missing: object,
) -> Mean:
    if not isinstance(drops_missing, bool):
        raise FileError(f"question.drops_missing={quoted(drops_missing)} is not true or false")
    found = Mean(columns, domain, center=center, missing="drop" if drops_missing else missing)
    if drops_missing:  # what stands in for none: found by a search, which has each its last bits
        stated, read = _point(missing, domain.source, "Mean.missing"), domain.source
        if np.all(np.abs(stated - found.missing) <= _SAME * (read.upper - read.lower)):
            object.__setattr__(found, "missing", stated)
    return found


class AbstractColumns(AbstractQuestion):
    """What is asked of the columns of a table, of all rows or with `by` of each group of them."""

    def __new__(
        cls,
        *given: Any,  # noqa: ANN401 (as of `__init__`)
        by: Mapping[str, Categories] | None = None,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        group_weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
        **more: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 (by groups, of another kind)
        """Return the question; with `by` that by groups, which is of another kind."""
        groups = groups_of(by, way, sets, group_weights, outside)
        return super().__new__(cls) if groups is None else cls(*given, **more).in_groups(groups)

    @abstractmethod
    def in_groups(self, groups: Marginals) -> AbstractGrouped:
        """Return the same of each group."""


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
class Mean(AbstractColumns):
    """The mean μ(X) of d columns over the records of a table, or in each of its groups.

    `columns` names the answers; `sources` names the columns that are read. They are the same,
    except for `ln.Moments`.

    Args:
        columns: d different names; the answers have their order.
        domain: the set of possible records, `ln.Box`, `ln.Ball`, `ln.Points`, …; values outside are
            clipped to it.
        center: the public point that sums are taken about under `add_remove`, shape (d,), within
            the domain's ranges; by default the domain's center. Under Gaussian noise a center near
            the mean makes the mean more accurate; pure noise does not depend on it.
        missing: the value in place of null, NaN and text that is not a number: "center", the
            point of the domain nearest to the center; or a point of the domain, shape (d,). Or
            "drop", to leave out a row with a missing value (`add_remove` only).
        by: for means of groups, the attributes and their public categories, as
            `{"sex": ["F", "M"], "age": 85}`: a list, or their number. Makes a `GroupedMean`.
        way: groups by each choice of up to this many attributes, including all rows. Without
            `way` and `sets`, the groups by all attributes at once.
        sets: groups by these choices only, as `[["sex"], ["sex", "region"]]`.
        group_weights: one weight per choice, as for `ln.Marginals`; ones by default.
        outside: a row whose category is missing or not given: "drop" leaves it out, "extra" counts
            it in a group of its own; or by attribute, as for `ln.Marginals`.

    Raises:
        QuestionError: where names repeat or do not match the domain, or a point lies outside it; of
            groups as `ln.Marginals`.

    Examples:
        >>> from lownoise.sets.domains import Box
        >>> Mean(["age", "income"], Box([0, 0], [120, 1e6])).columns
        ('age', 'income')
        >>> by_sex = Mean(["age"], Box([0], [120]), by={"sex": ["F", "M"]})
        >>> by_sex.labels()
        ['sex=F', 'sex=M']
    """

    parts: ClassVar[Parts] = Parts(
        view="release.mean_view:MeanView",
        read="release.stored:read_mean",
        gaussian="planning.means:plan_means",
        pure="planning.pure:pure_means",
        page="report.mean:MeanView",
    )

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    domain: AbstractDomain
    center: Vector
    missing: Vector
    drops_missing: bool
    comes = False  # whether sums are about zero, and one record is all that changes: of `ln.Sum`

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

    def in_groups(self, groups: Marginals) -> GroupedMean:
        """Return the means of each group."""
        return GroupedMean(self, groups)

    def coordinates(self) -> Coordinates:
        """Return the coordinates that are summed, and how others follow: linearly about zero."""
        return self.domain.exact_coordinates() if self.comes else self.domain.coordinates()


class AbstractGrouped(AbstractQuestion):
    """What is asked of columns in each group of some margins: their sums, and maybe how many rows.

    A record in group g whose values are x adds e_g ⊗ (x − center, 1), to totals alone e_g ⊗ x: a
    count for each marginal of the groups, a vector in place of the number 1.

    Raises:
        QuestionError: where an attribute is ordered, groups are too many to be summed in memory, or
            the domain is a program.
    """

    parts: ClassVar[Parts] = Parts(
        view="release.group_view:GroupView",
        read="release.stored:read_groups",
        gaussian="planning.groups:plan_groups",
        pure="planning.groups:pure_groups",
        page="report.groups:GroupsView",
    )

    mean: Mean  # of the records of one group; of totals the one that they are
    groups: Marginals
    counted: ClassVar[bool]  # whether groups have a count each

    def __post_init__(self) -> None:
        if not isinstance(self.mean, Mean) or not isinstance(self.groups, Marginals):
            raise QuestionError(
                "by groups there are means and totals alone; give ln.Mean(columns, …, by=…)"
            )
        if self.mean.domain.oracles:
            raise QuestionError(
                "Mean.domain is a program, and groups need a set that a file holds; give the set"
            )
        if self.groups.ordered:
            raise QuestionError(
                "by has an ordered attribute, and groups have none; ask ln.Distribution for counts"
            )
        cells = math.prod(a.size for a in self.groups.attributes)
        most = min(_MOST_CELLS, _MOST_SUMS // (len(self.columns) + 1))
        if cells > most:
            raise QuestionError(
                f"by has {cells:,} groups in all; give at most {most:,}, by fewer attributes or "
                "wider categories"
            )
        if self.count > _MOST_SUMS:
            raise QuestionError(
                f"by asks for {self.count:,} answers; ask for at most {_MOST_SUMS:,}, by a lower "
                "way or fewer sets"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are summed."""
        return self.mean.columns

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return self.groups.drops or self.mean.drops_missing

    @property
    def length(self) -> int:
        """How many numbers each group has: the sums, and the count where there is one."""
        return len(self.columns) + self.counted

    @property
    def count(self) -> int:
        """The number of answers, m."""
        return self.groups.cells * self.length

    @property
    def weights(self) -> Vector:
        """What one unit of each group's error matters beside the others', shape (cells,)."""
        groups = self.groups
        way = groups.way is not None
        own = [
            np.full(
                math.prod(groups.attributes[i].size for i in chosen),
                math.sqrt(groups.weights[len(chosen) if way else k]),
            )
            for k, chosen in enumerate(groups.sets())
        ]
        return np.concatenate(own)

    def labels(self) -> list[str]:
        """Return what each group is called, in the order of the answers, shape (cells,).

        Examples:
            >>> from lownoise.questions import Mean
            >>> from lownoise.sets.domains import Box
            >>> pay = Mean(["pay"], Box([0], [9]), by={"sex": ["F", "M"]}, way=1)
            >>> pay.labels()
            ['all rows', 'sex=F', 'sex=M']
        """
        found = []
        for chosen in self.groups.sets():
            own = [self.groups.attributes[i] for i in chosen]
            for place in np.ndindex(*(a.size for a in own)):
                cell = [f"{a.name}={a.label(k)}" for a, k in zip(own, place, strict=True)]
                found.append(", ".join(cell) or ALL)
        return found


@QUESTIONS.kind("mean_by_groups", Field("mean", QUESTION), Field("groups", QUESTION))
@final
@readable
@dataclass(frozen=True, eq=False)
class GroupedMean(AbstractGrouped):
    """The sums of d columns and the number of rows in groups: what `ln.Mean(…, by=…)` asks.

    Args:
        mean: the columns, their domain, center and stand-in.
        groups: the attributes that rows are grouped by, and which of their margins are asked for.

    Raises:
        QuestionError: as of all by groups.
    """

    counted: ClassVar[bool] = True

    mean: Mean
    groups: Marginals


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
    if way is None and sets is None and isinstance(by, Mapping):
        sets = [list(by)]
    with called({"sizes": "by", "Marginals.weights": "group_weights", "Marginals.": ""}):
        found = Marginals(by, way=way, sets=sets, weights=weights, outside=outside)
        check_labels(found.attributes)
    return found


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
