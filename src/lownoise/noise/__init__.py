# SPDX-License-Identifier: Apache-2.0
"""Noise in its final form, the totals that it is added to, and the mechanism that both make."""

from lownoise.noise.discrete_k_norm import DiscreteKNormNoise
from lownoise.noise.discrete_staircase import DiscreteStaircaseNoise
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.mechanism import AdditiveMechanism
from lownoise.noise.partial import PartialNoise
from lownoise.noise.pure import KNormNoise
from lownoise.noise.radial import RadialNoise
from lownoise.noise.recursive import RecursiveNoise
from lownoise.noise.response import ResponseMechanism
from lownoise.noise.staircase import StaircaseNoise

__all__ = [
    "AdditiveMechanism",
    "DiscreteKNormNoise",
    "DiscreteStaircaseNoise",
    "GaussianNoise",
    "GeometricNoise",
    "KNormNoise",
    "LaplaceNoise",
    "PartialNoise",
    "RadialNoise",
    "RecursiveNoise",
    "ResponseMechanism",
    "StaircaseNoise",
]
