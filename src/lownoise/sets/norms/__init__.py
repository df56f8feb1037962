# SPDX-License-Identifier: Apache-2.0
"""Gauges: the norms of pure noise, each with its unit ball, and how far changes reach in them."""

from lownoise.sets.norms.abstract import AbstractNorm
from lownoise.sets.norms.choice import norm_of
from lownoise.sets.norms.combination import HullNorm, SimplexNorm, ZonotopeNorm
from lownoise.sets.norms.image import ImageNorm, UnitBallNorm
from lownoise.sets.norms.product import PlacedNorm, ProductNorm, WalkNorm
from lownoise.sets.norms.spanned import SpannedNorm

__all__ = [
    "AbstractNorm",
    "HullNorm",
    "ImageNorm",
    "PlacedNorm",
    "ProductNorm",
    "SimplexNorm",
    "SpannedNorm",
    "UnitBallNorm",
    "WalkNorm",
    "ZonotopeNorm",
    "norm_of",
]
