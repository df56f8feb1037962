# SPDX-License-Identifier: Apache-2.0
"""Bodies: the sets that noise must cover."""

from lownoise.bodies.abstract import AbstractPointBody
from lownoise.bodies.answers import answer_radius, answer_widths
from lownoise.bodies.box import SymmetricBox
from lownoise.bodies.points import PointDifferences, SymmetricPoints, TranslatedPoints

__all__ = [
    "AbstractPointBody",
    "PointDifferences",
    "SymmetricBox",
    "SymmetricPoints",
    "TranslatedPoints",
    "answer_radius",
    "answer_widths",
]
