# SPDX-License-Identifier: Apache-2.0
"""A loss, a table's public size and a budget become a plan; no data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.learning.learning_plan import LearningPlan
from lownoise.learning.request import LearningRequest
from lownoise.learning.steps import ElasticNet
from lownoise.numbers.arrays import vector
from lownoise.planning import plan_stream
from lownoise.privacy.budget import checked_budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.learning.losses import AbstractLoss
    from lownoise.privacy import Budget
    from lownoise.solvers import Progress


def plan(  # noqa: PLR0913 (all but the first by name)
    loss: AbstractLoss,
    *,
    features: int,
    records: int,
    clip: float,
    radius: float,
    budget: Budget,
    batch: int = 1,
    epochs: int = 1,
    strategy: str = "auto",
    error: str = "mean",
    memory: int | None = None,
    relation: str = "add_remove",
    regularizer: ElasticNet | None = None,
    momentum: float = 0.0,
    learning_rate: float | None = None,
    feature_radius: float | None = None,
    target_bound: float | None = None,
    intercept: bool = False,
    start: ArrayLike | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> LearningPlan:
    """Plan private learning: follow the regularised leader on noisy sums of clipped gradients.

    Nothing is read. The model after round t minimises λ/2·|θ|² + ⟨S_t, θ⟩ + t·r(θ) over |θ| ≤
    radius, S_t being the private sum of all mean gradients so far.

    Args:
        loss: `LeastSquares()`, `Logistic()`, `Huber(threshold)` or `Loss(value=…, gradient=…)`.
        features: how many numbers a record has beside its target.
        records: how many records an epoch has, which is public.
        clip: κ, the longest gradient of a record; a longer one is shortened to it.
        radius: R, the models' ball.
        budget: what all models together may reveal, with everything else that is published.
        batch: how many records a round has. The last batch of an epoch may be short; its sum is
            divided by `batch` too, so that every record counts alike.
        epochs: how often each record is used, always at the same place of an epoch.
        strategy: of the stream, as that of `ln.stream`.
        error: as that of `ln.stream`: "mean" is what the regret asks for.
        memory: as that of `ln.stream`.
        relation: "add_remove": in a neighbouring run the gradients of one record count as 0.
            "substitute": they are another record's.
        regularizer: r: `Ridge(b)`, `Lasso(a)` or `ElasticNet(a, b)`; none by default.
        momentum: γ, of the heavy ball, from 0 to below 1.
        learning_rate: 1/λ; by default that of the least regret bound.
        feature_radius: at least the length of a record's features; longer ones are scaled to it.
        target_bound: at least every |target|; others are clipped to it.
        intercept: whether the model has a constant term, its last coordinate, which is in the ball
            and in r like the others.
        start: the first model, in the ball; 0 by default.
        progress: called with a `Progress` while a strategy is solved for.

    Raises:
        PlanError, BudgetError: where an argument is out of range, or does not fit another.

    Examples:
        >>> import lownoise as ln
        >>> plan = ln.learning.plan(
        ...     ln.learning.LeastSquares(), features=3, records=600, batch=20, epochs=2, clip=1.0,
        ...     radius=1.0, budget=ln.zcdp(1.0),
        ... )
        >>> plan.rounds, plan.memory
        (60, 1440)
    """
    request = LearningRequest(
        loss=loss,
        features=features,
        records=records,
        batch=batch,
        epochs=epochs,
        clip=clip,
        radius=radius,
        budget=budget,
        strategy=strategy,
        error=error,
        memory=memory,
        relation=relation,
        regularizer=ElasticNet() if regularizer is None else regularizer,
        momentum=momentum,
        learning_rate=learning_rate,
        feature_radius=feature_radius,
        target_bound=target_bound,
        intercept=intercept,
        start=None if start is None else vector(start, field="start", error=PlanError),
    )
    checked_budget(budget).gaussian_parameter()  # what is proved of regret is of Gaussian noise
    return LearningPlan(request, plan_stream(request.gaussian_stream, progress))
