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

from typing import Any

from lownoise.report.answers import to_pandas, write_csv
from lownoise.report.old import old
from lownoise.report.render import render_html, render_text
from lownoise.report.sections import sections

__all__ = ["render_html", "render_text", "sections", "to_pandas", "write_csv"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return a name of version 0.1, with a warning that names the new one."""
    return old(name)
