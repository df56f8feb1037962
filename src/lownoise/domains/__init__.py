# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import AbstractDomain
from lownoise.domains.ball import Ball
from lownoise.domains.box import Box
from lownoise.domains.difference import PointsDifference, difference_body
from lownoise.domains.ellipsoid import Ellipsoid
from lownoise.domains.image import Image, checked_image
from lownoise.domains.points import Points
from lownoise.domains.tensor import CubePower, CubePowerDifference, TensorPower
from lownoise.domains.tensor_ball import BallPower, BallPowerDifference
from lownoise.domains.zonotope import Zonotope

__all__ = [
    "AbstractDomain",
    "Ball",
    "BallPower",
    "BallPowerDifference",
    "Box",
    "CubePower",
    "CubePowerDifference",
    "Ellipsoid",
    "Image",
    "Points",
    "PointsDifference",
    "TensorPower",
    "Zonotope",
    "checked_image",
    "difference_body",
]
