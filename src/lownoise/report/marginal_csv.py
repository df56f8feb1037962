# SPDX-License-Identifier: Apache-2.0
"""A released marginal as CSV, every digit."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from lownoise.report.cells import cell_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.tables import TableRelease

_COLUMNS = ("count", "low", "high", "standard_deviation")


def marginal_csv(release: TableRelease, names: Sequence[str], level: float = 0.95) -> str:
    """Return a marginal as CSV, a row a cell: labels, count, interval, standard deviation.

    Args:
        release: what was released.
        names: of the attributes, which name the first columns; a number's column whose name one of
            them has taken ends in "_".
        level: the chance with which each interval covers.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, *(_free(column, names) for column in _COLUMNS)])
    for row in cell_rows(release, names, level):
        numbers = (row.count, row.low, row.high, row.deviation)
        writer.writerow([*row.labels, *map(repr, numbers)])
    return text.getvalue()


def _free(column: str, names: Sequence[str]) -> str:
    while column in names:
        column += "_"
    return column
