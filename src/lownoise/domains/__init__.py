# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import AbstractClampedDomain, AbstractDomain
from lownoise.domains.ball import Ball
from lownoise.domains.box import Box
from lownoise.domains.difference import (
    IntersectionDifference,
    PointsDifference,
    difference_body,
)
from lownoise.domains.ellipsoid import Ellipsoid
from lownoise.domains.image import Image, checked_image
from lownoise.domains.intersection import Intersection, checked_intersection
from lownoise.domains.meet import intersection
from lownoise.domains.points import Points
from lownoise.domains.slab import Slab
from lownoise.domains.zonotope import Zonotope

__all__ = [
    "AbstractClampedDomain",
    "AbstractDomain",
    "Ball",
    "Box",
    "Ellipsoid",
    "Image",
    "Intersection",
    "IntersectionDifference",
    "Points",
    "PointsDifference",
    "Slab",
    "Zonotope",
    "checked_image",
    "checked_intersection",
    "difference_body",
    "intersection",
]
