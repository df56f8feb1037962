# SPDX-License-Identifier: Apache-2.0
"""Plans: a question and a budget become the least noise, before a record is read."""

from lownoise.planning.linear import LinearPlan
from lownoise.planning.marginals import TablePlan
from lownoise.planning.mean import Plan
from lownoise.planning.pure import PurePlan
from lownoise.planning.request import COUNT_SHARE
from lownoise.planning.stream_plan import StreamPlan, StreamRequest
from lownoise.planning.streaming import plan_stream, stream
from lownoise.planning.verb import plan

__all__ = [
    "COUNT_SHARE",
    "LinearPlan",
    "Plan",
    "PurePlan",
    "StreamPlan",
    "StreamRequest",
    "TablePlan",
    "plan",
    "plan_stream",
    "stream",
]
