# SPDX-License-Identifier: Apache-2.0
"""Tables of counts: what is promised of them, their release, their files."""

from lownoise.release.tables.release import TableRelease
from lownoise.release.tables.terms import TableTerms

__all__ = ["TableRelease", "TableTerms"]
