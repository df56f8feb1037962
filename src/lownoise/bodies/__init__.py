# SPDX-License-Identifier: Apache-2.0
"""Bodies: the sets that noise must cover."""

from lownoise.bodies.abstract import AbstractBody, AbstractPointBody
from lownoise.bodies.answers import answer_radius, answer_widths
from lownoise.bodies.box import SymmetricBox
from lownoise.bodies.image import ImageBody, RoundedBody, image_body
from lownoise.bodies.joint import JointBody
from lownoise.bodies.oracle import (
    AbstractOracleBody,
    LiftedOracle,
    OracleBody,
    OracleDifferences,
)
from lownoise.bodies.points import PointDifferences, SymmetricPoints, TranslatedPoints
from lownoise.bodies.section import Section, SectionBody, is_slabs
from lownoise.bodies.tensor_ball import TensorBall
from lownoise.bodies.tensor_changes import TensorChanges

__all__ = [
    "AbstractBody",
    "AbstractOracleBody",
    "AbstractPointBody",
    "ImageBody",
    "JointBody",
    "LiftedOracle",
    "OracleBody",
    "OracleDifferences",
    "PointDifferences",
    "RoundedBody",
    "Section",
    "SectionBody",
    "SymmetricBox",
    "SymmetricPoints",
    "TensorBall",
    "TensorChanges",
    "TranslatedPoints",
    "answer_radius",
    "answer_widths",
    "image_body",
    "is_slabs",
]
