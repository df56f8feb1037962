# SPDX-License-Identifier: Apache-2.0
"""Bodies: the sets that noise must cover."""

from lownoise.sets.bodies.abstract import AbstractBody, RoundedBody
from lownoise.sets.bodies.ball_moments import BallMomentSet
from lownoise.sets.bodies.corners import beside_a_count, off_middle, signed
from lownoise.sets.bodies.image import ImageBody, SymmetricBox, image_body
from lownoise.sets.bodies.moments import AbstractMomentSet, MomentSet
from lownoise.sets.bodies.oracle import (
    AbstractOracleBody,
    LiftedOracle,
    OracleBody,
    OracleDifferences,
)
from lownoise.sets.bodies.points import (
    AbstractPointBody,
    PointDifferences,
    SymmetricPoints,
    TranslatedPoints,
)
from lownoise.sets.bodies.product import JointBody
from lownoise.sets.bodies.section import Section, SectionBody, is_slabs
from lownoise.sets.bodies.tensors import TensorBall, TensorChanges

__all__ = [
    "AbstractBody",
    "AbstractMomentSet",
    "AbstractOracleBody",
    "AbstractPointBody",
    "BallMomentSet",
    "ImageBody",
    "JointBody",
    "LiftedOracle",
    "MomentSet",
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
    "beside_a_count",
    "image_body",
    "is_slabs",
    "off_middle",
    "signed",
]
