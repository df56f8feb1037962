# SPDX-License-Identifier: Apache-2.0
"""Unit bodies that changes of signs leave alone: what structured domains are images of."""

from lownoise.bases.abstract import AbstractBase
from lownoise.bases.capped import CappedBase
from lownoise.bases.encoding import base_from_dict, base_to_dict
from lownoise.bases.kronecker import KroneckerBase
from lownoise.bases.meet import MeetBase, limits_of, only_near
from lownoise.bases.mixed import MixedBase, mixed_base, product_base, side_by_side
from lownoise.bases.norm import NormBase
from lownoise.bases.parity import ParityBase
from lownoise.bases.parity_difference import ParityDifferenceBase
from lownoise.bases.sorted_norm import SortedBase
from lownoise.bases.spectral import SpectralBase, is_symmetric, spectral_base

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
