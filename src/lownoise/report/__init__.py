# SPDX-License-Identifier: Apache-2.0
"""A plan or a release as text, as a page and as a figure; every number comes from its terms."""

from lownoise.report.cells import cell_rows
from lownoise.report.enclosure import enclosure_dict, enclosure_table
from lownoise.report.marginal_csv import marginal_csv
from lownoise.report.marginal_text import marginal_table
from lownoise.report.text import checks_table
from lownoise.report.verbs import html, plan_table, release_table

__all__ = [
    "cell_rows",
    "checks_table",
    "enclosure_dict",
    "enclosure_table",
    "html",
    "marginal_csv",
    "marginal_table",
    "plan_table",
    "release_table",
]
