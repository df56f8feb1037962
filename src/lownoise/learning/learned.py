# SPDX-License-Identifier: Apache-2.0
"""A table, learned from: all epochs in the order of its rows, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.errors import EngineError, TableError
from lownoise.learning.run import LearningRun, Step
from lownoise.numbers.readable import readable
from lownoise.release.progress import listener
from lownoise.release.readable import Shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from lownoise.certificate import Certificate
    from lownoise.learning.bounds import RegretBound
    from lownoise.learning.learning_plan import LearningPlan
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Payer
    from lownoise.release.codec import Spend
    from lownoise.release.guarantees import Cost, PureCost


@final
@readable
@dataclass(frozen=True)
class Evaluation:
    """How well a model does on records that are public.

    Args:
        loss: the mean loss, without the regularizer.
        accuracy: the share of records whose class is the predicted one; None where there is none.
    """

    loss: float
    accuracy: float | None


@final
@dataclass(frozen=True, eq=False, repr=False)
class Learned(Shown):
    """The result of training.

    Args:
        plan: the plan, with its guarantee.
        model: the last model, shape (d,); with an intercept that is its last number.
        average: the mean of the models at which gradients were computed; the risk bound is for it.
        spend: the ledger entry that paid; None if nothing was recorded.
        seconds: how long `fit` took.
    """

    plan: LearningPlan
    model: Vector
    average: Vector
    spend: Spend | None
    seconds: float

    @property
    def cost(self) -> Cost | PureCost:
        """The cost of all models together."""
        return self.plan.cost

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least error of any factorization of the running sums."""
        return self.plan.certificate

    @property
    def regret_bound(self) -> RegretBound | None:
        """As the plan's."""
        return self.plan.regret_bound

    @property
    def risk_bound(self) -> RegretBound | None:
        """As the plan's."""
        return self.plan.risk_bound

    def predict(self, X: object, *, average: bool = False) -> Vector:
        """Return what the model says of each record, shape (n,).

        Args:
            X: features, as those of `fit`; they are read alike.
            average: whether the average of the models is asked, and not the last.

        Raises:
            TableError: where the table has not the planned columns.
            PlanError: where the loss makes no predictions.
        """
        rows = self.plan.request.reading.rows(X)
        return self.plan.request.loss.predictions(self._chosen(average=average), rows)

    def evaluate(self, X: object, y: object, *, average: bool = False) -> Evaluation:
        """Return how well the model does on public records.

        The result is computed from these records without noise: for the training records it would
        not be private.

        Args:
            X: features, as those of `fit`.
            y: targets.
            average: whether the average of the models is asked, and not the last.

        Raises:
            TableError: where the table has not the planned columns.
            EngineError: where the loss's functions fail.
        """
        own, model = self.plan.request, self._chosen(average=average)
        rows = own.reading.rows(X)
        targets = own.reading.targets(y, len(rows))
        try:
            with quiet():
                values = np.asarray(own.loss.values(model, rows, targets), dtype=np.float64)
        except Exception:  # noqa: BLE001 (its text may quote a record)
            raise EngineError(f"loss={own.loss.name} has values that fail on the table") from None
        if values.shape != targets.shape:
            raise EngineError(
                f"loss={own.loss.name} has values of another shape; return one number a record"
            )
        right = own.loss.correct(model, rows, targets)
        accuracy = None if right is None or not len(right) else float(np.mean(right))
        return Evaluation(float(np.mean(values)) if len(values) else 0.0, accuracy)

    def _chosen(self, *, average: bool) -> Vector:
        return self.average if average else self.model


def learn(
    plan: LearningPlan,
    X: object,
    y: object,
    ledger: Payer | None,
    path: str | PathLike[str] | None,
    progress: Callable[[Step], None] | None,
) -> Learned:
    """Return what is learned from a table; see `LearningPlan.fit`."""
    own, tell = plan.request, listener(progress)
    rows = own.reading.rows(X)
    if len(rows) != own.records:
        raise TableError(
            f"X has {len(rows):,} rows for records={own.records:,}; give the planned table, and a "
            "row of NaN for a record that is not there"
        )
    targets = own.reading.targets(y, own.records)
    return followed(plan.start(ledger=ledger, path=path), rows, targets, tell)


def followed(
    run: LearningRun,
    rows: Vector,
    targets: Vector,
    progress: Callable[[Step], None] | None = None,
) -> Learned:
    """Return what a run learns from records that were read, from where it is to its end.

    Args:
        run: of a plan for so many records.
        rows: features, shape (records, k).
        targets: shape (records,).
        progress: as that of `LearningPlan.fit`.
    """
    plan, own, began = run.plan, run.plan.request, time.monotonic()
    elapsed, tell = partial(_since, began), listener(progress)
    while run.round < run.rounds:
        first = run.round % own.batches * own.batch
        chosen = slice(first, first + own.batch)
        run.advance(rows[chosen], targets[chosen])
        tell(Step(run.round, run.rounds, elapsed()))
    return Learned(plan, run.model, run.average, run.stream.spend, elapsed())


def _since(began: float) -> float:
    return time.monotonic() - began
