# SPDX-License-Identifier: Apache-2.0
"""Linear workloads: what is promised of them, their release, their files."""

from lownoise.release.linear.release import LinearRelease
from lownoise.release.linear.terms import LinearTerms

__all__ = ["LinearRelease", "LinearTerms"]
