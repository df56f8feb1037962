# SPDX-License-Identifier: Apache-2.0
"""Workloads: what is asked of a table."""

from lownoise.questions.attributes import Attribute
from lownoise.questions.distributions import Count, Distribution, Histogram, Moments
from lownoise.questions.encoding import QUESTIONS, AbstractQuestion
from lownoise.questions.finite import FiniteProblem, finite_problem
from lownoise.questions.marginals import Marginals
from lownoise.questions.mean import AbstractGrouped, GroupedMean, Mean
from lownoise.questions.momentum import Momentum
from lownoise.questions.parity import Parity
from lownoise.questions.queries import AbstractQueries, AbstractSummed, Queries
from lownoise.questions.streams import (
    AbstractStreamWorkload,
    Decayed,
    LowerTriangular,
    Prefix,
    SlidingWindow,
)
from lownoise.questions.sums import GroupedSum, Sum
from lownoise.questions.universe import Universe

__all__ = [
    "QUESTIONS",
    "AbstractGrouped",
    "AbstractQueries",
    "AbstractQuestion",
    "AbstractStreamWorkload",
    "AbstractSummed",
    "Attribute",
    "Count",
    "Decayed",
    "Distribution",
    "FiniteProblem",
    "GroupedMean",
    "GroupedSum",
    "Histogram",
    "LowerTriangular",
    "Marginals",
    "Mean",
    "Moments",
    "Momentum",
    "Parity",
    "Prefix",
    "Queries",
    "SlidingWindow",
    "Sum",
    "Universe",
    "finite_problem",
]
