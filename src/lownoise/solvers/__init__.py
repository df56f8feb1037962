# SPDX-License-Identifier: Apache-2.0
"""Solvers: the least noise shape around a sensitivity body, with evidence of how good it is."""

from lownoise.solvers.solve import Solution, solve

__all__ = ["Solution", "solve"]
