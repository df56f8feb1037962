# SPDX-License-Identifier: Apache-2.0
"""Researchers' tools: factorizations, ellipsoids, quadratic forms, small optimal mechanisms."""

from lownoise.questions import FiniteProblem, finite_problem
from lownoise.theory.enclosure import Enclosure, enclose
from lownoise.theory.factorization import Factorization, factorize
from lownoise.theory.optimal import OptimalMechanism, optimal_mechanism
from lownoise.theory.quadratics import Farthest, farthest

__all__ = [
    "Enclosure",
    "Factorization",
    "Farthest",
    "FiniteProblem",
    "OptimalMechanism",
    "enclose",
    "factorize",
    "farthest",
    "finite_problem",
    "optimal_mechanism",
]
