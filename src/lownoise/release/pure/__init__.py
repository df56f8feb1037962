# SPDX-License-Identifier: Apache-2.0
"""Releases under pure differential privacy: terms, files, answers."""

from lownoise.release.pure.release import PureRelease
from lownoise.release.pure.terms import Alternative, PureTerms

__all__ = ["Alternative", "PureRelease", "PureTerms"]
