# SPDX-License-Identifier: Apache-2.0
"""What plans and releases share to be read by people: in a line, printed, in a notebook.

The words are those of `lownoise.report`, which knows every question and every noise. It lies above
this room and is loaded when something is shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


class Readable:
    """Shows itself by the sections of its report; its dataclasses are made with `repr=False`."""

    def __repr__(self) -> str:
        return str(_report().line(self))

    def __str__(self) -> str:
        return str(_report().printed(self))

    def _repr_html_(self) -> str:
        return str(_report().notebook(self))

    def to_pandas(self, *marginal: str, level: float = 0.95) -> DataFrame:
        """Return the answers of a release, or the noise of a plan's, as a pandas table, a row each.

        Args:
            marginal: of a release of marginals, the names of the attributes whose marginal it is;
                the first one-way marginal by default.
            level: the chance with which each interval covers.

        Raises:
            PlanError: where pandas is not installed, or a plan's answers do not stand in a row.
            QuestionError: where the marginal does not follow from what was released.
        """
        table: DataFrame = import_module("lownoise.report").to_pandas(
            self, marginal=marginal or None, level=level
        )
        return table


def _report() -> Any:  # noqa: ANN401 (a module)
    return import_module("lownoise.report.sections")
