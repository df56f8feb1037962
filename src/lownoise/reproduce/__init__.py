# SPDX-License-Identifier: Apache-2.0
"""The claims of the sources, computed again: a table of what holds, and figures."""

from lownoise.reproduce.claim import Claim, Comparison, Row
from lownoise.reproduce.figures import FIGURES, Figure, Line
from lownoise.reproduce.reproduction import CLAIMS, Reproduction, reproduce

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
