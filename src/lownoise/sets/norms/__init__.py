# SPDX-License-Identifier: Apache-2.0
"""Gauges: the norms of pure noise, each with its unit ball, and how far changes reach in them."""

from lownoise.sets.norms.abstract import AbstractGauge
from lownoise.sets.norms.choice import gauge_of
from lownoise.sets.norms.covariance import covariance
from lownoise.sets.norms.differences import SimplexGauge
from lownoise.sets.norms.hull import HullGauge
from lownoise.sets.norms.image import ImageGauge
from lownoise.sets.norms.mapping import mapped
from lownoise.sets.norms.placed import PlacedGauge
from lownoise.sets.norms.product import ProductGauge
from lownoise.sets.norms.walk import WalkGauge
from lownoise.sets.norms.weak import WeakGauge
from lownoise.sets.norms.zonotope import ZonotopeGauge

__all__ = [
    "AbstractGauge",
    "HullGauge",
    "ImageGauge",
    "PlacedGauge",
    "ProductGauge",
    "SimplexGauge",
    "WalkGauge",
    "WeakGauge",
    "ZonotopeGauge",
    "covariance",
    "gauge_of",
    "mapped",
]
