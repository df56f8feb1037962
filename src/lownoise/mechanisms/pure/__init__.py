# SPDX-License-Identifier: Apache-2.0
"""Pure noise on exact integers: K-norm, recursive, Laplace; and records answered one by one."""

from lownoise.mechanisms.pure.abstract import AbstractPureNoise, Loss, distance_within
from lownoise.mechanisms.pure.grids import HistogramTotals, QueryTotals
from lownoise.mechanisms.pure.k_norm import KNormNoise
from lownoise.mechanisms.pure.laplace import LaplaceNoise
from lownoise.mechanisms.pure.mechanism import AdditiveMechanism
from lownoise.mechanisms.pure.recursive import RecursiveNoise
from lownoise.mechanisms.pure.response import ResponseMechanism, keep_for
from lownoise.mechanisms.pure.still import StillNoise

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
