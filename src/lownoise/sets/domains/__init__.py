# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.sets.domains.abstract import (
    DOMAINS,
    AbstractDomain,
    Difference,
    difference_body,
)
from lownoise.sets.domains.affine import image, projection
from lownoise.sets.domains.balls import Ball, Ellipsoid, OrderedBall, TopBall, Zonotope
from lownoise.sets.domains.box import Box, Slab
from lownoise.sets.domains.compound import AbstractCompound, Hull, Mapped
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.image import Image, checked_image
from lownoise.sets.domains.intersection import Intersection, checked_intersection
from lownoise.sets.domains.joined import hull, kronecker, minkowski_sum, product
from lownoise.sets.domains.matrices import (
    KyFanBall,
    OperatorNormBall,
    SchattenBall,
    UnitarilyInvariantBall,
)
from lownoise.sets.domains.meet import intersection
from lownoise.sets.domains.oracle import Oracle
from lownoise.sets.domains.points import Points, Polytope
from lownoise.sets.domains.product import Product
from lownoise.sets.domains.tensor import CubePower, TensorPower
from lownoise.sets.domains.tensor_ball import BallPower

__all__ = [
    "DOMAINS",
    "AbstractCompound",
    "AbstractDomain",
    "Ball",
    "BallPower",
    "Box",
    "Coordinates",
    "CubePower",
    "Difference",
    "Ellipsoid",
    "Hull",
    "Image",
    "Intersection",
    "KyFanBall",
    "Mapped",
    "OperatorNormBall",
    "Oracle",
    "OrderedBall",
    "Points",
    "Polytope",
    "Product",
    "SchattenBall",
    "Slab",
    "TensorPower",
    "TopBall",
    "UnitarilyInvariantBall",
    "Zonotope",
    "checked_image",
    "checked_intersection",
    "difference_body",
    "hull",
    "image",
    "intersection",
    "kronecker",
    "minkowski_sum",
    "product",
    "projection",
]
