# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.sets.domains.abstract import (
    AbstractClampedDomain,
    AbstractDifference,
    AbstractDomain,
    AbstractKnownDomain,
)
from lownoise.sets.domains.affine import image, projection
from lownoise.sets.domains.ball import Ball
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import (
    AbstractCompound,
    CompoundDifference,
    Hull,
    Mapped,
    Product,
    lists_in,
    oracles_in,
)
from lownoise.sets.domains.difference import (
    IntersectionDifference,
    PointsDifference,
    difference_body,
)
from lownoise.sets.domains.ellipsoid import Ellipsoid
from lownoise.sets.domains.image import Image, checked_image
from lownoise.sets.domains.intersection import Intersection, checked_intersection
from lownoise.sets.domains.joined import hull, kronecker, minkowski_sum, product
from lownoise.sets.domains.known import known_set
from lownoise.sets.domains.matrices import (
    KyFanBall,
    OperatorNormBall,
    SchattenBall,
    UnitarilyInvariantBall,
)
from lownoise.sets.domains.meet import intersection
from lownoise.sets.domains.oracle import Oracle, OracleDifference
from lownoise.sets.domains.ordered import OrderedBall, TopBall
from lownoise.sets.domains.points import Points
from lownoise.sets.domains.polytope import Polytope
from lownoise.sets.domains.slab import Slab
from lownoise.sets.domains.symmetric import as_image, corners
from lownoise.sets.domains.tensor import CubePower, CubePowerDifference, TensorPower
from lownoise.sets.domains.tensor_ball import BallPower, BallPowerDifference
from lownoise.sets.domains.zonotope import Zonotope

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
