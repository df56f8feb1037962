# SPDX-License-Identifier: Apache-2.0
"""Uniform points of convex bodies, by the bits drawn so far."""

from lownoise.samplers.uniform.abstract import AbstractUniform
from lownoise.samplers.uniform.bases import UniformBases
from lownoise.samplers.uniform.composite import UniformImage, UniformPlaced, UniformProduct
from lownoise.samplers.uniform.contractions import UniformContractions
from lownoise.samplers.uniform.hull import UniformHull, UniformSimplexDifferences
from lownoise.samplers.uniform.norm_ball import UniformNormBall, UniformSorted
from lownoise.samplers.uniform.zonotope import UniformZonotope

__all__ = [
    "AbstractUniform",
    "UniformBases",
    "UniformContractions",
    "UniformHull",
    "UniformImage",
    "UniformNormBall",
    "UniformPlaced",
    "UniformProduct",
    "UniformSimplexDifferences",
    "UniformSorted",
    "UniformZonotope",
]
