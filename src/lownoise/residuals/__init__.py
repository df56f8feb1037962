# SPDX-License-Identifier: Apache-2.0
"""Residual spaces of a table of counts: what noise on each costs, and what it does to answers."""

from lownoise.residuals.cost import PatternCosts, largest_cost_up, pattern_costs
from lownoise.residuals.orbits import Orbits, marginal_orbits

__all__ = ["Orbits", "PatternCosts", "largest_cost_up", "marginal_orbits", "pattern_costs"]
