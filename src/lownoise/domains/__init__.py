# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import (
    AbstractClampedDomain,
    AbstractDifference,
    AbstractDomain,
    AbstractKnownDomain,
)
from lownoise.domains.affine import image, projection
from lownoise.domains.ball import Ball
from lownoise.domains.box import Box
from lownoise.domains.compound import (
    AbstractCompound,
    CompoundDifference,
    Hull,
    Mapped,
    Product,
    lists_in,
    oracles_in,
)
from lownoise.domains.difference import (
    IntersectionDifference,
    PointsDifference,
    difference_body,
)
from lownoise.domains.ellipsoid import Ellipsoid
from lownoise.domains.image import Image, checked_image
from lownoise.domains.intersection import Intersection, checked_intersection
from lownoise.domains.joined import hull, kronecker, minkowski_sum, product
from lownoise.domains.known import known_set
from lownoise.domains.matrices import (
    KyFanBall,
    OperatorNormBall,
    SchattenBall,
    UnitarilyInvariantBall,
)
from lownoise.domains.meet import intersection
from lownoise.domains.oracle import Oracle, OracleDifference
from lownoise.domains.ordered import OrderedBall, TopBall
from lownoise.domains.points import Points
from lownoise.domains.polytope import Polytope
from lownoise.domains.slab import Slab
from lownoise.domains.symmetric import as_image, corners
from lownoise.domains.tensor import CubePower, CubePowerDifference, TensorPower
from lownoise.domains.tensor_ball import BallPower, BallPowerDifference
from lownoise.domains.zonotope import Zonotope

__all__ = [
    "AbstractClampedDomain",
    "AbstractCompound",
    "AbstractDifference",
    "AbstractDomain",
    "AbstractKnownDomain",
    "Ball",
    "BallPower",
    "BallPowerDifference",
    "Box",
    "CompoundDifference",
    "CubePower",
    "CubePowerDifference",
    "Ellipsoid",
    "Hull",
    "Image",
    "Intersection",
    "IntersectionDifference",
    "KyFanBall",
    "Mapped",
    "OperatorNormBall",
    "Oracle",
    "OracleDifference",
    "OrderedBall",
    "Points",
    "PointsDifference",
    "Polytope",
    "Product",
    "SchattenBall",
    "Slab",
    "TensorPower",
    "TopBall",
    "UnitarilyInvariantBall",
    "Zonotope",
    "as_image",
    "checked_image",
    "checked_intersection",
    "corners",
    "difference_body",
    "hull",
    "image",
    "intersection",
    "known_set",
    "kronecker",
    "lists_in",
    "minkowski_sum",
    "oracles_in",
    "product",
    "projection",
]
