# SPDX-License-Identifier: Apache-2.0
"""Unit bodies that changes of signs leave alone: what structured domains are images of."""

from lownoise.sets.unit_balls.abstract import AbstractBase
from lownoise.sets.unit_balls.capped import CappedBase
from lownoise.sets.unit_balls.encoding import base_from_dict, base_to_dict
from lownoise.sets.unit_balls.kronecker import KroneckerBase
from lownoise.sets.unit_balls.meet import MeetBase, limits_of, only_near
from lownoise.sets.unit_balls.mixed import MixedBase, mixed_base, product_base, side_by_side
from lownoise.sets.unit_balls.norm import NormBase
from lownoise.sets.unit_balls.parity import ParityBase
from lownoise.sets.unit_balls.parity_difference import ParityDifferenceBase
from lownoise.sets.unit_balls.sorted_norm import SortedBase
from lownoise.sets.unit_balls.spectral import SpectralBase, is_symmetric, spectral_base

__all__ = [
    "AbstractBase",
    "CappedBase",
    "KroneckerBase",
    "MeetBase",
    "MixedBase",
    "NormBase",
    "ParityBase",
    "ParityDifferenceBase",
    "SortedBase",
    "SpectralBase",
    "base_from_dict",
    "base_to_dict",
    "is_symmetric",
    "limits_of",
    "mixed_base",
    "only_near",
    "product_base",
    "side_by_side",
    "spectral_base",
]
