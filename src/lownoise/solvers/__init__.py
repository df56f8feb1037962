# SPDX-License-Identifier: Apache-2.0
"""Solvers: least ellipsoids and mechanisms, with evidence; nothing of privacy rests on them."""

from lownoise.solvers.finite import best_mechanism
from lownoise.solvers.joint import joint_solution
from lownoise.solvers.solution import NO_WIDTH, RTOL, SOLVED, Asked, Progress, Solution
from lownoise.solvers.solve import solution, solve

__all__ = [
    "NO_WIDTH",
    "RTOL",
    "SOLVED",
    "Asked",
    "Progress",
    "Solution",
    "best_mechanism",
    "joint_solution",
    "solution",
    "solve",
]
