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
        """Return the answers of a release, or the noise of a plan's, as a pandas table, a row each.

        Args:
            marginal: of a release of marginals, the names of the attributes whose marginal it is;
                all that were asked for by default, "(all)" where one is not split by an attribute.
            level: the chance with which each interval covers.

        Raises:
            PlanError: where pandas is not installed, or a plan's answers do not stand in a row.
            QuestionError: where the marginal does not follow from what was released.
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
        """Write the answers of a release as a table: a .csv, .parquet or .json file, a row each.

        A spreadsheet runs no cell of the CSV as a formula; the others say of each column what it
        means and in which unit. All of the file is written, or nothing.

        Args:
            path: the file.
            marginal: as that of `to_pandas`.
            level: the chance with which each interval covers.
            separator: of CSV, what stands between cells, as `lownoise.Table` has it: by default a
                comma, or a semicolon where that stands before decimals.
            decimal: of CSV, what stands before the decimals of numbers: "." or ",".

        Raises:
            PlanError: where there are no answers yet.
            TableError: where the dialect is none.
            QuestionError: where the marginal does not follow from what was released.
            FileError: where the ending is another, or the file cannot be written.
        """
        report = import_module("lownoise.report")
        dialect: Any = {"separator": separator, "decimal": decimal}
        report.export(self, path, marginal=marginal or None, level=level, **dialect)


class Guaranteed(Exported):
    """What has terms: a plan, a release, a stream."""

    terms: Terms

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names; of a stream, each number of a round's answer."""
        return self.terms.names

    @property
    def standard_deviation(self) -> Any:  # noqa: ANN401 (numbers, or a function)
        """The standard deviation of each answer's noise, in its unit, shape (m,).

        Of marginals a function of the attributes' names, `plan.standard_deviation("age", "sex")`,
        in rows: one number, or an array where an attribute is ordered. Of a stream a function of
        the round, from 1: a number, or shape (d,).
        """
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Any:  # noqa: ANN401 (a matrix, or a function of two cells)
        """The covariance of the answers' noise, shape (m, m), formed on request.

        Of marginals a function of two cells, in rows².
        """
        return self.terms.covariance

    @property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of all answers, in their units: exact at p = 2, else a stated bound.

        Where the question has weights, of the answers times √weight. Under a pure budget of the
        answers times the weights asked for, and where means come as sums and a count, of the worst
        means, times the number of records. Of a stream √ of the mean, or of the largest, over
        rounds of an answer's (total) variance.
        """
        return self.terms.error

    @property
    def objective(self) -> float:
        """‖standard deviations‖_p of all answers, times √weight where the question has weights.

        Of a stream the error.
        """
        return self.terms.objective

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least objective of any Gaussian noise within the budget.

        Under a pure budget: on the least error of any mechanism of that ε, over all tables. Of a
        stream: on the least error of any factorization mechanism.
        """
        return self.terms.certificate

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism with this ρ has an error below, on any dataset.

        Where the relation is a body of changes: on tables with a row that has room in its domain
        for every change; 0 where there can be none. Of pure noise: the greatest of `bounds`. Of a
        stream where one round's value becomes 0: on the stream of zeros.
        """
        return self.terms.lower_bound

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Every lower bound on `error` that binds the noise, each with whom it binds and where.

        The first is `lower_bound`. Whatever binds a wider class of mechanisms binds this one, too.
        """
        return self.terms.bounds

    @property
    def cost(self) -> Cost | PureCost:
        """What the release reveals, from the final noise, rounded up; of a stream all rounds."""
        return self.terms.cost


def _report() -> Any:  # noqa: ANN401 (a module)
    return import_module("lownoise.report.sections")
