# SPDX-License-Identifier: Apache-2.0
"""Unit balls that changes of signs leave alone: what structured domains are images of."""

from lownoise.sets.unit_balls.abstract import UNIT_BALLS, AbstractUnitBall, NormBall, signed_corners
from lownoise.sets.unit_balls.enclosed import decided, enclosed
from lownoise.sets.unit_balls.intersection import IntersectionBall
from lownoise.sets.unit_balls.norm import CappedBall, SortedBall
from lownoise.sets.unit_balls.parity import ParityBall, ParityDifferenceBall
from lownoise.sets.unit_balls.products import KroneckerBall, MixedBall, mixed_ball, product_ball
from lownoise.sets.unit_balls.spectral import SpectralBall, spectral_ball

__all__ = [
    "UNIT_BALLS",
    "AbstractUnitBall",
    "CappedBall",
    "IntersectionBall",
    "KroneckerBall",
    "MixedBall",
    "NormBall",
    "ParityBall",
    "ParityDifferenceBall",
    "SortedBall",
    "SpectralBall",
    "decided",
    "enclosed",
    "mixed_ball",
    "product_ball",
    "signed_corners",
    "spectral_ball",
]
