# SPDX-License-Identifier: Apache-2.0
"""Workloads: what is asked of a table."""

from lownoise.workloads.attributes import Attribute
from lownoise.workloads.finite import FiniteProblem, finite_problem
from lownoise.workloads.marginals import Marginals
from lownoise.workloads.mean import Mean
from lownoise.workloads.parity import Parity
from lownoise.workloads.queries import Queries
from lownoise.workloads.streams import (
    AbstractStreamWorkload,
    Decayed,
    LowerTriangular,
    Prefix,
    SlidingWindow,
)
from lownoise.workloads.universe import Universe

__all__ = [
    "AbstractStreamWorkload",
    "Attribute",
    "Decayed",
    "FiniteProblem",
    "LowerTriangular",
    "Marginals",
    "Mean",
    "Parity",
    "Prefix",
    "Queries",
    "SlidingWindow",
    "Universe",
    "finite_problem",
]
