# SPDX-License-Identifier: Apache-2.0
"""Gauges: the norms of pure noise, each with its unit ball, and how far changes reach in them."""

from lownoise.gauges.abstract import AbstractGauge
from lownoise.gauges.choice import gauge_of
from lownoise.gauges.covariance import covariance
from lownoise.gauges.differences import SimplexGauge
from lownoise.gauges.hull import HullGauge
from lownoise.gauges.image import ImageGauge
from lownoise.gauges.mapping import mapped
from lownoise.gauges.placed import PlacedGauge
from lownoise.gauges.product import ProductGauge
from lownoise.gauges.walk import WalkGauge
from lownoise.gauges.weak import WeakGauge
from lownoise.gauges.zonotope import ZonotopeGauge

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
