# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.sets.domains.abstract import (
    DOMAINS,
    AbstractDomain,
    Difference,
)
from lownoise.sets.domains.balls import (
    Ball,
    Ellipsoid,
    KyFanBall,
    OperatorNormBall,
    OrderedBall,
    SchattenBall,
    TopBall,
    UnitarilyInvariantBall,
    Zonotope,
)
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.combinations import (
    hull,
    image,
    kronecker,
    minkowski_sum,
    product,
    projection,
)
from lownoise.sets.domains.compound import AbstractCompound, Hull, Mapped, Product
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.grid import Grid
from lownoise.sets.domains.image import Image, checked_image
from lownoise.sets.domains.intersection import Intersection, checked_intersection
from lownoise.sets.domains.meet import Slab, intersection
from lownoise.sets.domains.moments import AbstractMoments, MomentBall, MomentBox
from lownoise.sets.domains.oracle import Oracle
from lownoise.sets.domains.points import Points, Polytope, difference_body
from lownoise.sets.domains.tensor import CubePower, TensorPower
from lownoise.sets.domains.tensor_ball import BallPower

__all__ = [
    "DOMAINS",
    "AbstractCompound",
    "AbstractDomain",
    "AbstractMoments",
    "Ball",
    "BallPower",
    "Box",
    "Coordinates",
    "CubePower",
    "Difference",
    "Ellipsoid",
    "Grid",
    "Hull",
    "Image",
    "Intersection",
    "KyFanBall",
    "Mapped",
    "MomentBall",
    "MomentBox",
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
