# SPDX-License-Identifier: Apache-2.0
"""Private training with torch: correlated noise for clipped gradients. Needs `lownoise[torch]`.

Examples:
    >>> import torch, lownoise as ln
    >>> from lownoise.torch import PrivateOptimizer, plan
    >>> _ = torch.manual_seed(0)
    >>> X, y = torch.randn(40, 3), torch.randn(40, 1)
    >>> model = torch.nn.Linear(3, 1)
    >>> own = plan(model, people=40, batch=10, epochs=2, clip=1.0, budget=ln.zcdp(0.5))
    >>> own.rounds, own.cost.mu <= 1
    (8, True)
    >>> batches = own.loader((X, y))
    >>> sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> optimizer = PrivateOptimizer(sgd, own, model, batches)
    >>> for epoch in range(2):
    ...     for x, target in batches:
    ...         errors = model(x) - target  # of each record its own gradient, here by hand
    ...         optimizer.step([errors[:, :, None] * x[:, None, :], errors])
    >>> optimizer.round
    8
"""

try:
    import torch  # noqa: F401 (said here in one line, where it is missing)
except ImportError as error:
    raise ImportError("lownoise.torch needs torch; install lownoise[torch]") from error

from lownoise.torch.batches import Batches
from lownoise.torch.optimizer import PrivateOptimizer
from lownoise.torch.plan import TrainingPlan, plan

__all__ = ["Batches", "PrivateOptimizer", "TrainingPlan", "plan"]
