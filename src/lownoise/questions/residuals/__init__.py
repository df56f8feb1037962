# SPDX-License-Identifier: Apache-2.0
"""Residual spaces of a table of counts: what noise on each costs, and what it does to answers."""

from lownoise.questions.residuals.cost import (
    ParityChanges,
    PatternCosts,
    TableChanges,
    largest_cost_up,
)
from lownoise.questions.residuals.orbits import Orbits, marginal_orbits
from lownoise.questions.residuals.ordered import (
    Block,
    Blocks,
    ChangeCosts,
    ordered_blocks,
    ordered_cost_up,
)
from lownoise.questions.residuals.product import (
    AxisNoise,
    Products,
    product_blocks,
    product_cost_up,
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
    "largest_cost_up",
    "marginal_orbits",
    "ordered_blocks",
    "ordered_cost_up",
    "product_blocks",
    "product_cost_up",
]
