# SPDX-License-Identifier: Apache-2.0
"""Releases under pure differential privacy: terms, files, answers."""

from lownoise.pure.release import PureRelease
from lownoise.pure.terms import Alternative, PureTerms

__all__ = ["Alternative", "PureRelease", "PureTerms"]
