# SPDX-License-Identifier: Apache-2.0
"""The names of version 0.1, for one version more; each warns and names what takes its place."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import PlanError
from lownoise.report.answers import write_csv
from lownoise.report.records import enclosure_dict
from lownoise.report.render import render_html, render_text
from lownoise.report.sections import sections, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@final
@dataclass(frozen=True)
class CellRow:
    """One cell: its category of each attribute, its count, the interval's ends, the deviation."""

    labels: tuple[str, ...]
    count: float
    low: float
    high: float
    deviation: float


def _html(subject: object, **chosen: Any) -> str:  # noqa: ANN401
    return render_html(sections(subject, **chosen))


def _plan_table(terms: object) -> str:
    if not hasattr(terms, "mechanism"):
        raise PlanError(f"terms={type(terms).__name__} are no terms; give plan.terms")
    return render_text(sections(terms))


def _release_table(release: object, level: float = 0.95) -> str:
    if not hasattr(release, "integers"):
        raise PlanError(f"release={type(release).__name__} is no release; give a release")
    return render_text(sections(release, level=level))


def _marginal_table(release: object, names: Sequence[str], level: float = 0.95) -> str:
    found = sections(release, marginal=names, level=level)
    return render_text([s for s in found if s.name == "answers"], rows=1000)


def _marginal_csv(release: object, names: Sequence[str], level: float = 0.95) -> str:
    file = io.StringIO()
    write_csv(release, file, marginal=names, level=level)
    return file.getvalue()


def _cell_rows(release: object, names: Sequence[str], level: float) -> Iterator[CellRow]:
    for row in view_of(release, marginal=names, level=level).rows()[1]:
        yield CellRow(row.labels, row.estimate, row.low, row.high, row.deviation)


def _enclosure_table(names: Sequence[str], found: object) -> str:
    return render_text(sections(found, names=names))


def _checks_table(verification: object) -> str:
    return render_text(sections(verification))


_NAMES: dict[str, tuple[Callable[..., Any], str]] = {
    "html": (_html, "render_html(sections(release))"),
    "plan_table": (_plan_table, "render_text(sections(plan))"),
    "release_table": (_release_table, "render_text(sections(release))"),
    "marginal_table": (_marginal_table, "render_text(sections(release, marginal=names))"),
    "marginal_csv": (_marginal_csv, "write_csv(release, file, marginal=names)"),
    "cell_rows": (_cell_rows, "to_pandas(release, marginal=names)"),
    "checks_table": (_checks_table, "render_text(sections(verification))"),
    "enclosure_table": (_enclosure_table, "render_text(sections(enclosure, names=names))"),
    "enclosure_dict": (enclosure_dict, "records.enclosure_dict(names, enclosure)"),
}


def old(name: str) -> Callable[..., Any]:
    """Return what a name of version 0.1 did, and warn.

    Raises:
        AttributeError: where version 0.1 had no such name.
    """
    if name not in _NAMES:
        raise AttributeError(f"module 'lownoise.report' has no attribute {name!r}")
    found, new = _NAMES[name]
    said = f"report.{name} goes in the next version; use report.{new}"
    warnings.warn(said, DeprecationWarning, stacklevel=3)
    return found
