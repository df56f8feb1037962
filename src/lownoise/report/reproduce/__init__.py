# SPDX-License-Identifier: Apache-2.0
"""The claims of the sources, computed again: a table of what holds, and figures."""

from lownoise.report.reproduce.claim import Claim, Comparison, Row
from lownoise.report.reproduce.figures import FIGURES, Figure, Line
from lownoise.report.reproduce.reproduction import CLAIMS, Reproduction, reproduce

__all__ = [
    "CLAIMS",
    "FIGURES",
    "Claim",
    "Comparison",
    "Figure",
    "Line",
    "Reproduction",
    "Row",
    "reproduce",
]
