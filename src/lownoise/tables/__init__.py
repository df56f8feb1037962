# SPDX-License-Identifier: Apache-2.0
"""Tables of counts: what is promised of them, their release, their files."""

from lownoise.tables.release import TableRelease
from lownoise.tables.terms import TableTerms

__all__ = ["TableRelease", "TableTerms"]
