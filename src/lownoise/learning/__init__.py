# SPDX-License-Identifier: Apache-2.0
"""Private learning on streams: follow the regularised leader, with its regret bound.

A plan is made before any data are read; its run takes batches in any order, an adversary's too.

Examples:
    >>> import lownoise as ln
    >>> plan = ln.learning.plan(
    ...     ln.learning.Logistic(), features=2, records=1000, batch=100, clip=1.0, radius=2.0,
    ...     budget=ln.zcdp(0.5), feature_radius=1.0,
    ... )
    >>> plan.rounds, round(plan.regret_bound.value, 3)
    (10, 0.569)
"""

from lownoise.learning.bounds import RegretBound
from lownoise.learning.learned import Evaluation, Learned
from lownoise.learning.learning_plan import LearningPlan, plan
from lownoise.learning.losses import (
    LOSSES,
    AbstractLoss,
    Huber,
    LeastSquares,
    Logistic,
    Loss,
)
from lownoise.learning.request import LearningRequest
from lownoise.learning.run import LearningRun, Step
from lownoise.learning.steps import ElasticNet, Lasso, Ridge
from lownoise.release.progress import ProgressBar

__all__ = [
    "LOSSES",
    "AbstractLoss",
    "ElasticNet",
    "Evaluation",
    "Huber",
    "Lasso",
    "Learned",
    "LearningPlan",
    "LearningRequest",
    "LearningRun",
    "LeastSquares",
    "Logistic",
    "Loss",
    "ProgressBar",
    "RegretBound",
    "Ridge",
    "Step",
    "plan",
]
