# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import AbstractClampedDomain, AbstractDomain
from lownoise.domains.affine import image, projection
from lownoise.domains.ball import Ball
from lownoise.domains.box import Box
from lownoise.domains.difference import PointsDifference, difference_body
from lownoise.domains.ellipsoid import Ellipsoid
from lownoise.domains.image import Image, checked_image
from lownoise.domains.joined import hull, kronecker, minkowski_sum, product
from lownoise.domains.matrices import (
    KyFanBall,
    OperatorNormBall,
    SchattenBall,
    UnitarilyInvariantBall,
)
from lownoise.domains.oracle import Oracle, OracleDifference
from lownoise.domains.ordered import OrderedBall, TopBall
from lownoise.domains.points import Points
from lownoise.domains.symmetric import as_image
from lownoise.domains.zonotope import Zonotope

__all__ = [
    "AbstractClampedDomain",
    "AbstractDomain",
    "Ball",
    "Box",
    "Ellipsoid",
    "Image",
    "KyFanBall",
    "OperatorNormBall",
    "Oracle",
    "OracleDifference",
    "OrderedBall",
    "Points",
    "PointsDifference",
    "SchattenBall",
    "TopBall",
    "UnitarilyInvariantBall",
    "Zonotope",
    "as_image",
    "checked_image",
    "difference_body",
    "hull",
    "image",
    "kronecker",
    "minkowski_sum",
    "product",
    "projection",
]
