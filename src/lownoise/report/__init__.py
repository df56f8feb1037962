# SPDX-License-Identifier: Apache-2.0
"""A plan or a release as text, as a page and as a figure; every number comes from its terms."""

from lownoise.report.enclosure import enclosure_dict, enclosure_table
from lownoise.report.page import html
from lownoise.report.text import checks_table, plan_table, release_table

__all__ = [
    "checks_table",
    "enclosure_dict",
    "enclosure_table",
    "html",
    "plan_table",
    "release_table",
]
