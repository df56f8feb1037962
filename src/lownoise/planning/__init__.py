# SPDX-License-Identifier: Apache-2.0
"""Plans: a question and a budget become the least noise, before a record is read."""

from lownoise.planning.ask import plan
from lownoise.planning.inverse import budget_for, size_for
from lownoise.planning.joint import JointPlan, JointRelease
from lownoise.planning.local_plan import LocalPlan
from lownoise.planning.local_verb import local
from lownoise.planning.release_plan import COUNT_SHARE, Plan
from lownoise.planning.several import together
from lownoise.planning.stream_plan import StreamPlan, StreamRequest
from lownoise.planning.streaming import plan_stream, stream

__all__ = [
    "COUNT_SHARE",
    "JointPlan",
    "JointRelease",
    "LocalPlan",
    "Plan",
    "StreamPlan",
    "StreamRequest",
    "budget_for",
    "local",
    "plan",
    "plan_stream",
    "size_for",
    "stream",
    "together",
]
