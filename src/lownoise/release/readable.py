# SPDX-License-Identifier: Apache-2.0
"""What plans, releases and streams share: what their terms guarantee, in numbers and in words.

The words are those of `lownoise.report`, which knows every question and every noise. It lies above
this room and is loaded when something is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from pandas import DataFrame

    from lownoise.bounds import Bound
    from lownoise.certificate import Certificate
    from lownoise.release.guarantees import Cost, PureCost
    from lownoise.release.terms import Terms


def frame(data: Mapping[str, object]) -> DataFrame:
    """Return columns as a pandas table.

    Args:
        data: each column by its name.

    Raises:
        PlanError: where pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise PlanError("pandas is not installed; run `pip install pandas`") from None
    return pd.DataFrame(dict(data))


def free(column: str, names: Sequence[str]) -> str:
    """Return the name of a column that is none of others: with as many "_" as it takes."""
    while column in names:
        column += "_"
    return column


def in_brackets(names: object) -> tuple[Any, ...]:
    """Return the names of attributes that are given in brackets, `release[names]`, one or several.

    Examples:
        >>> in_brackets("age"), in_brackets(["age", "sex"]), in_brackets(3)
        (('age',), ('age', 'sex'), (3,))
    """
    if isinstance(names, Iterable) and not isinstance(names, (str, bytes)):
        return tuple(names)
    return (names,)


class Shown:
    """Shows itself by the sections of its report; its dataclasses are made with `repr=False`."""

    def __repr__(self) -> str:
        return str(_report().line(self))

    def __str__(self) -> str:
        return str(_report().printed(self))

    def _repr_html_(self) -> str:
        return str(_report().notebook(self))


class Readable(Shown):
    """What has answers, or their noise, in a table, too."""

    def to_pandas(self, *marginal: str, level: float = 0.95) -> DataFrame:
        """Return a pandas table of a release's answers, or of a plan's noise: one row per answer.

        Args:
            marginal: for a release of marginals, the attributes' names of one marginal. By default
                all marginals of the question; "(all)" marks attributes that are summed over.
            level: the probability with which each interval covers.

        Raises:
            PlanError: if pandas is missing, or the answers of a plan do not form one row each.
            QuestionError: if the marginal does not follow from the release.
        """
        table: DataFrame = import_module("lownoise.report").to_pandas(
            self, marginal=marginal or None, level=level
        )
        return table


class Exported(Readable):
    """What has answers that are written to a file, too."""

    def export(
        self,
        path: str | PathLike[str],
        *marginal: str,
        level: float = 0.95,
        separator: str | None = None,
        decimal: str = ".",
    ) -> None:
        """Write the answers of a release to a .csv, .parquet or .json file, one row per answer.

        No cell of the CSV is a formula. The other formats describe each column and its unit. The
        file is written completely or not at all.

        Args:
            path: the file.
            marginal: as for `to_pandas`.
            level: the probability with which each interval covers.
            separator: the separator of CSV, as for `lownoise.Table`: by default a comma, or a
                semicolon if the decimal mark is a comma.
            decimal: the decimal mark of CSV: "." or ",".

        Raises:
            PlanError: if there are no answers yet.
            TableError: if the separator or the decimal mark is not one of these.
            QuestionError: if the marginal does not follow from the release.
            FileError: if the file has another extension, or cannot be written.
        """
        report = import_module("lownoise.report")
        dialect: Any = {"separator": separator, "decimal": decimal}
        report.export(self, path, marginal=marginal or None, level=level, **dialect)


class Guaranteed(Exported):
    """What has terms: a plan, a release, a stream."""

    terms: Terms

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the m answers; for a stream, of the numbers in a round's answer."""
        return self.terms.names

    @property
    def standard_deviation(self) -> Any:  # noqa: ANN401 (numbers, or a function)
        """The standard deviation of each answer's noise, in its unit, shape (m,).

        For marginals it is a function of the attributes' names, `plan.standard_deviation("age",
        "sex")`, in rows: a number, or an array if an attribute is ordered. For a stream it is a
        function of the round, from 1: a number, or shape (d,).
        """
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Any:  # noqa: ANN401 (a matrix, or a function of two cells)
        """The covariance of the answers' noise, shape (m, m), computed on request.

        For marginals it is a function of two cells, in rows².
        """
        return self.terms.covariance

    @property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of all answers, in their units: exact at p = 2, else an upper bound.

        Answers are weighted: by √weight if the question has weights, under a pure budget by the
        weights of the plan. For means released as sums and a count under a pure budget, it is the
        error of the worst means times the number of records. For a stream it is the square root of
        the mean, or of the maximum, over rounds of an answer's total variance.
        """
        return self.terms.error

    @property
    def objective(self) -> float:
        """‖standard deviations‖_p of all answers, times √weight if the question has weights.

        For a stream it is the error.
        """
        return self.terms.objective

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least objective of all Gaussian noise within the budget.

        Under a pure budget, bounds on the least error of all mechanisms with that ε over all
        tables. For a stream, bounds on the least error of all factorization mechanisms.
        """
        return self.terms.certificate

    @property
    def lower_bound(self) -> float:
        """A lower bound on the error of every unbiased mechanism with this ρ, on every dataset.

        If the relation is a body of changes, it holds on tables with a row that has room in its
        domain for every change, and is 0 if there is no such table. For pure noise it is the
        greatest of `bounds`. For a stream under "add_remove" it holds on the stream of zeros.
        """
        return self.terms.lower_bound

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """All lower bounds on `error` that apply to the noise, each with its class of mechanisms.

        The first is `lower_bound`. A bound for a larger class of mechanisms applies here, too.
        """
        return self.terms.bounds

    @property
    def cost(self) -> Cost | PureCost:
        """The privacy cost, from the final noise, rounded up; for a stream, of all rounds."""
        return self.terms.cost


def _report() -> Any:  # noqa: ANN401 (a module)
    return import_module("lownoise.report.sections")
