# SPDX-License-Identifier: Apache-2.0
"""What learning is asked for, checked; nothing has been read.

What callers give as features and targets, as floats; a value is never refused for what it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.errors import FileError, PlanError, StreamError, TableError, quoted
from lownoise.learning.losses import LOSSES, AbstractLoss
from lownoise.learning.steps import REGULARIZERS, ElasticNet
from lownoise.numbers.arguments import checked_integer, checked_number
from lownoise.numbers.arrays import vector
from lownoise.numbers.rounding import grown
from lownoise.planning import StreamRequest
from lownoise.privacy.budget import budget_to_dict
from lownoise.questions import Momentum, Prefix
from lownoise.release.comparison import GAUSSIAN
from lownoise.sensitivity.participation import Participation
from lownoise.sensitivity.relations import Change
from lownoise.sets.domains import Ball
from lownoise.streams.values import values_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.questions import AbstractStreamWorkload


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """How records are read.

    Args:
        features: how many columns a table of them has.
        feature_radius: what is farther out is scaled to it; None leaves features as they are.
        target_bound: what is beyond is clipped to it; None leaves targets as they are.
        intercept: whether a 1 stands after the features.
    """

    features: int
    feature_radius: float | None
    target_bound: float | None
    intercept: bool

    def rows(self, X: object) -> Vector:
        """Return features as the loss sees them, shape (n, k), NaN where one is missing.

        Args:
            X: an array, a pandas or polars frame, an Arrow table, or lists, a row a record.

        Raises:
            TableError: where it is no table of so many columns.
        """
        try:
            own = _numbers(X, self.features)
        except StreamError:
            raise TableError(
                f"X is no table of features={self.features} columns of numbers; give a row a record"
            ) from None
        with np.errstate(all="ignore"):
            if self.feature_radius is not None:
                own = _within(own, self.feature_radius)
        if self.intercept:
            own = np.hstack([own, np.ones((len(own), 1))])
        return own

    def targets(self, y: object, count: int) -> Vector:
        """Return targets, shape (n,), NaN where one is missing.

        Args:
            y: an array, a column or a list of numbers, one a record.
            count: n.

        Raises:
            TableError: where it is no list of so many numbers.
        """
        try:
            own = _numbers(y, 1)[:, 0]
        except StreamError:
            raise TableError("y is no list of numbers; give one target a record") from None
        if len(own) != count:
            raise TableError(f"y has {len(own):,} targets for {count:,} rows; give one each")
        bound = self.target_bound
        return own if bound is None else np.clip(own, -bound, bound)


def _within(rows: Vector, radius: float) -> Vector:
    """Return rows, the longer ones scaled to the radius, but for rounding; each on its own."""
    top = np.max(np.abs(rows), axis=1)
    parts = rows / np.where(top > 0, top, 1.0)[:, None]
    length = np.sqrt(np.einsum("ij,ij->i", parts, parts))
    longer = top * length > radius
    return np.asarray(np.where(longer[:, None], parts * (radius / length)[:, None], rows))


def _numbers(values: object, columns: int) -> Vector:
    """Return a table as floats, columns of numbers at once and others item by item."""
    with quiet():
        try:
            found = _fast(values, columns)
        except Exception:  # noqa: BLE001 (one value may be why a column is not had at once)
            found = None
    return values_of(values, columns)[0] if found is None else found


def _fast(values: Any, columns: int) -> Vector | None:  # noqa: ANN401
    """Return the numbers of a frame or of a column of one, None where there are others in it."""
    if isinstance(values, np.ndarray):
        return None
    if hasattr(values, "iloc") and values.ndim > 1:
        parts = [values.iloc[:, j] for j in range(values.shape[1])]
    elif hasattr(values, "get_columns"):
        parts = list(values.get_columns())
    elif hasattr(values, "schema") and hasattr(values, "columns"):
        parts = list(values.columns)
    elif hasattr(values, "to_numpy"):
        parts = [values]
    else:
        return None
    if len(parts) != columns:
        return None
    arrays = [np.asarray(part.to_numpy()) for part in parts]
    if not all(own.ndim == 1 and own.dtype.kind in "biuf" for own in arrays):
        return None
    return np.stack([own.astype(np.float64) for own in arrays], axis=1)


_BITS = 40
_SMALLEST, _LARGEST = 1e-100, 1e100
_NEEDED = ("clip", "radius")
RELATIONS = {"add_remove": 1.0, "substitute": 2.0}  # how far a record's gradient goes, in clips


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LearningRequest:
    """What a model is to be learned from and how; see `lownoise.learning.plan`.

    Raises:
        PlanError: where an argument is out of range or does not fit another.
    """

    loss: AbstractLoss
    features: int
    records: int
    batch: int
    epochs: int
    clip: float
    radius: float
    budget: Budget
    strategy: str
    error: str
    memory: int | None
    relation: str
    regularizer: ElasticNet
    momentum: float
    learning_rate: float | None
    feature_radius: float | None
    target_bound: float | None
    intercept: bool
    start: Vector | None

    def __post_init__(self) -> None:
        self._check_kinds()
        for field in ("features", "records", "batch", "epochs"):
            object.__setattr__(
                self, field, checked_integer(field, self.__dict__[field], bits=_BITS)
            )
        if self.batch > self.records:
            raise PlanError(
                f"batch={self.batch:,} is beyond records={self.records:,}; give at most that"
            )
        for field in ("clip", "radius", "learning_rate", "feature_radius", "target_bound"):
            if field in _NEEDED or self.__dict__[field] is not None:
                object.__setattr__(self, field, _size(field, self.__dict__[field]))
        share = checked_number("momentum", self.momentum)
        if not 0 <= share < 1:
            raise PlanError(f"momentum={share:g} is out of range; give one from 0 to below 1")
        object.__setattr__(self, "momentum", share)
        if self.start is not None:
            object.__setattr__(self, "start", self._checked_start(self.start))

    def _check_kinds(self) -> None:
        if not isinstance(self.loss, AbstractLoss):
            raise PlanError(
                f"loss={quoted(self.loss)} is unknown; give ln.learning.LeastSquares(), "
                "Logistic(), Huber(threshold) or Loss(value=…, gradient=…)"
            )
        if not isinstance(self.regularizer, ElasticNet):
            raise PlanError(
                f"regularizer={quoted(self.regularizer)} is unknown; give ln.learning.Ridge, Lasso "
                "or ElasticNet"
            )
        if not isinstance(self.intercept, bool):
            raise PlanError(f"intercept={quoted(self.intercept)} is no truth value; give one")
        if not isinstance(self.relation, str) or self.relation not in RELATIONS:
            raise PlanError(
                f"relation={quoted(self.relation)} is unknown; give {' or '.join(RELATIONS)}"
            )

    def _checked_start(self, start: ArrayLike) -> Vector:
        own = vector(start, field="start", error=PlanError)
        if own.size != self.dimension or float(np.linalg.norm(own)) > self.radius:
            raise PlanError(
                f"start has {own.size} numbers, or lies beyond radius={self.radius:g}; give a "
                f"model of {self.dimension} numbers in the ball"
            )
        return own

    @property
    def dimension(self) -> int:
        """The number of coordinates of a model, d."""
        return self.loss.dimension(self.features + self.intercept)

    @property
    def batches(self) -> int:
        """How many batches an epoch has; the last one may be short."""
        return -(-self.records // self.batch)

    @property
    def rounds(self) -> int:
        """How many there are, n."""
        return self.batches * self.epochs

    def size(self, round: int) -> int:  # noqa: A002
        """Return how many records a round has, from 1."""
        last = (round - 1) % self.batches == self.batches - 1
        return self.records - (self.batches - 1) * self.batch if last else self.batch

    @property
    def first_model(self) -> Vector:
        """θ_1, shape (d,)."""
        return np.zeros(self.dimension) if self.start is None else self.start

    @cached_property
    def reading(self) -> Reading:
        """How records are read."""
        return Reading(self.features, self.feature_radius, self.target_bound, self.intercept)

    @property
    def row_radius(self) -> float | None:
        """At least the length of the features as the loss sees them, None where unknown."""
        if self.feature_radius is None:
            return None
        return grown(math.hypot(self.feature_radius, float(self.intercept)))

    @property
    def workload(self) -> AbstractStreamWorkload:
        """What is asked of the gradients: running sums, or with momentum sums of those."""
        if self.momentum:
            return Momentum(self.rounds, self.momentum)
        return Prefix(self.rounds)

    @property
    def stream(self) -> StreamRequest:
        """The stream of the sums of clipped gradients.

        A record is in one batch an epoch, at the same place in each.
        """
        return StreamRequest(
            workload=self.workload,
            budget=self.budget,
            strategy=self.strategy,
            error=self.error,
            domain=Ball(self.dimension, radius=self.batch * self.clip),
            relation=Change(Ball(self.dimension, radius=self.clip * RELATIONS[self.relation])),
            memory=self.memory,
            participation=Participation(self.epochs, self.batches, "spaced"),
        )

    @property
    def gaussian_stream(self) -> StreamRequest:
        """The same with Gaussian noise, for which learning's bounds are."""
        return replace(self.stream, mechanism=GAUSSIAN)

    def with_strategy(self, strategy: str) -> LearningRequest:
        """Return the same with another strategy, and its own best learning rate."""
        return replace(self, strategy=strategy, memory=None, learning_rate=None)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        found = dict(self.__dict__)
        found.pop("reading", None)
        found["loss"] = LOSSES.write(self.loss)
        found["budget"] = budget_to_dict(self.budget)
        found["regularizer"] = REGULARIZERS.write(self.regularizer)
        found["start"] = None if self.start is None else self.start.tolist()
        return found

    @classmethod
    def from_dict(
        cls, fields: dict[str, Any], budget: Budget, loss: AbstractLoss | None = None
    ) -> LearningRequest:
        """Return the request that `to_dict` described.

        Args:
            fields: what it wrote.
            budget: what its budget is.
            loss: where it is a `Loss`: functions, which no file holds.

        Raises:
            FileError: where the loss is not there, or another.
            PlanError: where a field is out of range.
        """
        stated = fields["loss"]
        if loss is None:
            own: AbstractLoss = LOSSES.read(stated)
        elif not isinstance(loss, AbstractLoss) or LOSSES.write(loss) != stated:
            raise FileError(
                f"loss={quoted(loss)} is not the one that was planned with, "
                f"{quoted(stated.get('name', stated['kind']))}; give that one"
            )
        else:
            own = loss
        others = {name: value for name, value in fields.items() if name not in ("loss", "budget")}
        others["regularizer"] = REGULARIZERS.read(others["regularizer"])
        return cls(**others, loss=own, budget=budget)


def _size(field: str, value: Any) -> float:  # noqa: ANN401
    found = checked_number(field, value)
    if not _SMALLEST <= found <= _LARGEST:
        raise PlanError(f"{field}={found:g} is out of range; give one above 0, 1e-100 to 1e100")
    return found
