# SPDX-License-Identifier: Apache-2.0
"""Pure noise on exact integers: K-norm, recursive, Laplace; and records answered one by one."""

from lownoise.noise.pure.abstract import AbstractPureNoise, Loss, distance_within
from lownoise.noise.pure.grids import HistogramTotals, QueryTotals
from lownoise.noise.pure.k_norm import KNormNoise
from lownoise.noise.pure.laplace import LaplaceNoise
from lownoise.noise.pure.mechanism import AdditiveMechanism
from lownoise.noise.pure.recursive import RecursiveNoise
from lownoise.noise.pure.response import ResponseMechanism, keep_for
from lownoise.noise.pure.still import StillNoise

__all__ = [
    "AbstractPureNoise",
    "AdditiveMechanism",
    "HistogramTotals",
    "KNormNoise",
    "LaplaceNoise",
    "Loss",
    "QueryTotals",
    "RecursiveNoise",
    "ResponseMechanism",
    "StillNoise",
    "distance_within",
    "keep_for",
]
