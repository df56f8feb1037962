# SPDX-License-Identifier: Apache-2.0
"""Unit bodies that no change of signs moves: what structured domains are images of."""

from lownoise.bases.abstract import AbstractBase
from lownoise.bases.capped import CappedBase
from lownoise.bases.encoding import base_from_dict, base_to_dict
from lownoise.bases.norm import NormBase
from lownoise.bases.parity import ParityBase
from lownoise.bases.parity_difference import ParityDifferenceBase
from lownoise.bases.product import ProductBase, product_base
from lownoise.bases.sorted_norm import SortedBase

__all__ = [
    "AbstractBase",
    "CappedBase",
    "NormBase",
    "ParityBase",
    "ParityDifferenceBase",
    "ProductBase",
    "SortedBase",
    "base_from_dict",
    "base_to_dict",
    "product_base",
]
