# SPDX-License-Identifier: Apache-2.0
"""Any plan or release as one list of sections, which a terminal and a page show.

Examples:
    >>> import lownoise as ln
    >>> from lownoise import report
    >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
    ...                relation="substitute", size=1000)
    >>> page = report.render_html(report.sections(plan))
    >>> "1 mean of 1,000 rows, planned under 0.5-zCDP." in page
    True

Every number comes from the terms; nothing here computes one that they lack.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any, final

from lownoise.report import records
from lownoise.report.answers import export, to_pandas, write_csv
from lownoise.report.parts import render_html, render_text
from lownoise.report.sections import sections, view_of

__all__ = ["export", "render_html", "render_text", "sections", "to_pandas", "write_csv"]


@final
@dataclass(frozen=True)
class CellRow:
    """One cell, as version 0.1 had it: its categories, count, interval's ends and deviation."""

    labels: tuple[str, ...]
    count: float
    low: float
    high: float
    deviation: float


def _marginal_csv(release: Any, names: Any, level: float = 0.95) -> str:  # noqa: ANN401
    write_csv(release, file := io.StringIO(), marginal=names, level=level)
    return file.getvalue()


def _marginal_table(release: Any, names: Any, level: float = 0.95) -> str:  # noqa: ANN401
    found = sections(release, marginal=names, level=level)
    return render_text([s for s in found if s.name == "answers"], rows=1000)


def _cells(release: Any, names: Any, level: float) -> Any:  # noqa: ANN401
    for row in view_of(release, marginal=names, level=level).rows()[1]:
        yield CellRow(row.labels, row.estimate, row.low, row.high, row.deviation)


# the names of version 0.1, for one version more: each, and what takes its place
_OLD: dict[str, tuple[Any, str]] = {
    "html": (
        lambda subject, **chosen: render_html(sections(subject, **chosen)),
        "render_html(sections(release))",
    ),
    "plan_table": (lambda terms: render_text(sections(terms)), "render_text(sections(plan))"),
    "release_table": (
        lambda release, level=0.95: render_text(sections(release, level=level)),
        "render_text(sections(release))",
    ),
    "marginal_table": (_marginal_table, "render_text(sections(release, marginal=names))"),
    "marginal_csv": (_marginal_csv, "write_csv(release, file, marginal=names)"),
    "cell_rows": (_cells, "to_pandas(release, marginal=names)"),
    "checks_table": (
        lambda verification: render_text(sections(verification)),
        "render_text(sections(verification))",
    ),
    "enclosure_table": (
        lambda names, found: render_text(sections(found, names=names)),
        "render_text(sections(enclosure, names=names))",
    ),
    "enclosure_dict": (records.enclosure_dict, "records.enclosure_dict(names, enclosure)"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return what a name of version 0.1 did, and warn."""
    if name not in _OLD:
        raise AttributeError(f"module 'lownoise.report' has no attribute {name!r}")
    found, new = _OLD[name]
    said = f"report.{name} goes in the next version; use report.{new}"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return found
