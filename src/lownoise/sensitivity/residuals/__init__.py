# SPDX-License-Identifier: Apache-2.0
"""Residual spaces of a table of counts: what noise on each costs, and what it does to answers."""

from lownoise.sensitivity.residuals.cost import (
    ParityChanges,
    PatternCosts,
    TableChanges,
)
from lownoise.sensitivity.residuals.orbits import Orbits, marginal_orbits
from lownoise.sensitivity.residuals.ordered import (
    Block,
    Blocks,
    ChangeCosts,
    ordered_blocks,
)
from lownoise.sensitivity.residuals.product import (
    AxisNoise,
    Products,
    product_blocks,
)

__all__ = [
    "AxisNoise",
    "Block",
    "Blocks",
    "ChangeCosts",
    "Orbits",
    "ParityChanges",
    "PatternCosts",
    "Products",
    "TableChanges",
    "marginal_orbits",
    "ordered_blocks",
    "product_blocks",
]
