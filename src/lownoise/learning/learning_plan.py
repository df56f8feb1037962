# SPDX-License-Identifier: Apache-2.0
"""A loss, a table's public size and a budget become a plan of learning; no data are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.learning.bounds import RegretBound, Setting, least_of
from lownoise.learning.clipping import unit_of_clip
from lownoise.learning.request import LearningRequest
from lownoise.learning.steps import ElasticNet, Leader
from lownoise.numbers.arrays import frozen, vector
from lownoise.planning import StreamPlan, plan_stream
from lownoise.privacy.budget import checked_budget
from lownoise.release import codec
from lownoise.release.codec import LARGEST
from lownoise.release.readable import Shown
from lownoise.streams.codec import expect_size, terms_from_dict, terms_to_dict
from lownoise.streams.view import StreamView

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from lownoise.certificate import Certificate
    from lownoise.learning.learned import Learned
    from lownoise.learning.losses import AbstractLoss
    from lownoise.learning.run import LearningRun, Step
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, Payer
    from lownoise.release.guarantees import Cost, PureCost
    from lownoise.release.verification import Verification
    from lownoise.solvers import Progress


_KIND = "learning"
_BYTES = 8


@final
@dataclass(frozen=True, eq=False, repr=False)
class LearningPlan(Shown):
    """The plan of a training run: its rounds, noise, regret, memory and cost. Nothing has started.

    `lownoise.learning.plan` makes it.

    Args:
        request: the arguments of the plan.
        stream: the plan of the stream of gradient sums.
    """

    request: LearningRequest
    stream: StreamPlan

    @property
    def rounds(self) -> int:
        """The number of rounds n; each makes one model."""
        return self.request.rounds

    @property
    def strategy(self) -> str:
        """The factorization's name."""
        return str(self.stream.terms.mechanism.strategy)

    @property
    def cost(self) -> Cost | PureCost:
        """The cost of all rounds together, from the final noise, rounded up."""
        return self.stream.cost

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least error of any factorization of the running sums."""
        return self.stream.certificate

    @property
    def unit(self) -> float:
        """The grid of clipped gradients, a power of two."""
        own, coding = self.request, self.stream.terms.mechanism.coding
        # no finer than the stream's, so that its codes are the sums themselves
        return unit_of_clip(own.clip, own.batch, float(np.max(coding.step)))

    def deviations(self, first: int = 1, count: int | None = None) -> Vector:
        """Return the noise's standard deviation in a sum of mean gradients, shape (count,).

        Of each coordinate, round by round; with momentum, of the sum that momentum makes.

        Args:
            first: the first round, from 1.
            count: how many; by default all that are left.
        """
        shown = self.rounds - first + 1 if count is None else count
        return frozen(np.sqrt(self._variances(first, shown) / self.request.dimension))

    @property
    def noise(self) -> float:
        """√ of the mean variance over the rounds of a coordinate of a sum of mean gradients."""
        return float(np.sqrt(np.mean(np.square(self.deviations()))))

    def _variances(self, first: int, count: int) -> Vector:
        """Return the total variance of some answers, of sums of mean gradients, shape (count,)."""
        view = StreamView(self.stream.terms)
        return np.asarray(view.total_variances(first - 1, count) / self.request.batch**2)

    @property
    def memory(self) -> int:
        """The bytes of noise that are stored before the first round, or between two rounds."""
        return int(self.stream.terms.mechanism.pair.numbers_kept) * self.request.dimension * _BYTES

    @property
    def steepest(self) -> float | None:
        """An upper bound on the length of the loss's gradients, None if it is not known."""
        own = self.request
        return own.loss.lipschitz(own.radius, own.row_radius, own.target_bound)

    @cached_property
    def _setting(self) -> Setting:
        own, mechanism = self.request, self.stream.terms.mechanism
        known = self.steepest
        root = own.dimension**0.5
        slack = float(np.max(mechanism.coding.step)) * own.workload.slack(
            float(np.max(mechanism.extent_steps))
        )
        lengths = np.sqrt(self._variances(1, self.rounds)) + slack * root / own.batch
        lengths = np.concatenate([[0.0], lengths[:-1]]) * (1 - own.momentum)
        first = own.first_model
        return Setting(
            records=own.records * own.epochs / own.batch,
            lipschitz=own.clip if known is None else min(own.clip, known),
            lengths=lengths,
            momentum=own.momentum,
            distance=own.radius + float(np.linalg.norm(first)),
            width=2 * own.radius,
            offset=own.regularizer.value(first),
            slope=own.regularizer.lipschitz(own.radius, own.dimension),
            convexity=own.regularizer.ridge,
            truncation=self.unit * root,
        )

    @cached_property
    def _bound(self) -> tuple[float, RegretBound]:
        rate = self.request.learning_rate
        strength = None if rate is None else (1 - self.request.momentum) / rate
        return least_of(self._setting, strength, self._regret_of or "")

    @property
    def learning_rate(self) -> float:
        """1/λ: the factor of the sum of gradients in a step."""
        return (1 - self.request.momentum) / self._bound[0]

    @property
    def leader(self) -> Leader:
        """The steps: of the sum of gradients, after momentum."""
        own = self.request
        return Leader(self._bound[0], own.radius, frozen(own.first_model), own.regularizer)

    @property
    def clips(self) -> bool:
        """Whether a gradient can be longer than the clip, as far as is known."""
        known = self.steepest
        return known is None or known > self.request.clip

    @property
    def _regret_of(self) -> str | None:
        if not self.clips:
            return "the loss"
        if self.request.loss.linear:
            return "the clipped loss, which goes on straight where its gradient would be longer"
        return None

    @property
    def regret_bound(self) -> RegretBound | None:
        """An upper bound on the expected mean regret of a record; None if `refusals` says why.

        It holds for records in any order, chosen by an adversary who sees every model.
        """
        return None if self._regret_of is None else self._bound[1]

    @property
    def risk_bound(self) -> RegretBound | None:
        """A bound on E F(average) − F(u), u any model of the ball; None if `refusals` says why.

        F is the expected loss, with the regularizer, of i.i.d. records.
        """
        own, found = self.request, self.regret_bound
        if own.epochs > 1 or found is None:
            return None
        # the regret counts the regularizer once a round, the average a short batch by its records
        short = 1 - own.size(self.rounds) / own.batch
        apart = short * self._setting.slope * own.radius / self._setting.records
        return replace(found, diameter=found.diameter + apart)

    @property
    def refusals(self) -> dict[str, str]:
        """The reasons why a bound is None, by the name of the bound."""
        found = {}
        if self._regret_of is None:
            found["regret_bound"] = found["risk_bound"] = (
                f"loss={self.request.loss.name} can have gradients beyond clip="
                f"{self.request.clip:g}, and clipped they may belong to no convex loss; state "
                "lipschitz=, and clip no shorter."
            )
        elif self.request.epochs > 1:
            found["risk_bound"] = (
                f"epochs={self.request.epochs} use a record again, which is no new record of its "
                "law any more; only one pass has a risk bound."
            )
        return found

    @cached_property
    def binary_tree(self) -> RegretBound | None:
        """The regret bound with the binary tree's noise at its own best rate; None without one."""
        try:
            own = self.request.with_strategy("binary_tree")
            return LearningPlan(own, plan_stream(own.gaussian_stream)).regret_bound
        except PlanError:
            return None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the guarantee and of the bounds, one sentence each."""
        own = self.request
        unit = (
            "the gradients of one record count as 0 wherever it takes part"
            if own.relation == "add_remove"
            else "one record is another one wherever it takes part"
        )
        return (
            f"A neighbouring run is one in which {unit}.",
            (
                f"There are {own.records:,} records an epoch, which is public, in {own.batches:,} "
                f"batches; a record is in the same batch of each of the {own.epochs:,} epochs."
            ),
            "The gradient of a record is a function of that record and the model alone.",
            "Records may be chosen as earlier models suggest.",
            "The state holds the noise: keep it as secret as the records.",
        )

    def start(
        self, *, ledger: Payer | None = None, path: str | PathLike[str] | None = None
    ) -> LearningRun:
        """Pay for all epochs, draw the noise, and return the run before its first round.

        Args:
            ledger: the account that pays, once.
            path: the file of the run, with its noise. If it exists and is of this plan, its run
                continues exactly; nothing is charged or drawn again. A second file, with the ending
                `.average`, has what was published.

        Raises:
            LedgerError: where the account cannot pay, or did not pay for the run in the file; then
                nothing has started.
            FileError: where the file is no run, of another plan, damaged, or cannot be written;
                then nothing is spent.
        """
        from lownoise.learning.run import started

        return started(self, ledger, path)

    def fit(
        self,
        X: object,
        y: object,
        *,
        ledger: Payer | None = None,
        path: str | PathLike[str] | None = None,
        progress: Callable[[Step], None] | None = None,
    ) -> Learned:
        """Train on a table: all epochs, batches in the order of the rows.

        Args:
            X: features, a row a record: an array, a pandas or polars frame, or an Arrow table.
            y: targets, one a record.
            ledger: as that of `start`.
            path: as for `start`; if it exists, training continues from it.
            progress: called after each round with the round and the time, which are public.

        Raises:
            TableError: where the table has not the planned rows and columns; nothing is spent.
            LedgerError, FileError: as `start`.
            PlanError: where progress cannot be called; nothing is spent.
            EngineError: where the loss's functions fail.
        """
        from lownoise.learning.learned import learn

        return learn(self, X, y, ledger, path, progress)

    def verify(self) -> Verification:
        """Recompute what the stream guarantees, without the optimiser; see `ln.verify`."""
        return self.stream.verify()

    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""
        bound = self.regret_bound
        derived: dict[str, Any] = {
            "rounds": self.rounds,
            "noise": self.noise,
            "memory": self.memory,
            "learning_rate": self.learning_rate,
            "regret_bound": bound and bound.value,
        }
        content = {"request": self.request.to_dict(), "terms": terms_to_dict(self.stream.terms)}
        return codec.dump(_KIND, {**content, "derived": derived})

    @classmethod
    def from_json(
        cls, text: str, loss: AbstractLoss | None = None, *, largest: int = LARGEST
    ) -> LearningPlan:
        """Return the plan that `to_json` wrote.

        Args:
            text: the document.
            loss: the loss, if it is a `Loss`, whose functions are not in the file.
            largest: as for `ln.verify`.

        Raises:
            FileError: where the text is no plan of a version that is known, or is larger.
        """

        def read() -> LearningPlan:
            fields = codec.load(_KIND, text)
            expect_size(fields["terms"], largest)
            terms = terms_from_dict(fields["terms"])
            request = LearningRequest.from_dict(fields["request"], terms.budget, loss)
            codec.expect_meant(fields["request"], request.to_dict(), "request")
            stream = StreamPlan(terms, request.stream)
            if not _same(request, stream):
                raise FileError("terms are not of the stream that the request asks for")
            return cls(request, stream)

        return codec.guarded(read)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(path, self.to_json())


def _same(request: LearningRequest, stream: StreamPlan) -> bool:
    """Return whether terms are of the stream that is asked for."""
    asked, terms = request.stream.to_dict(), stream.terms
    own = terms_to_dict(terms)
    question = own["question"]
    return bool(
        question["workload"] == asked["workload"]
        and all(question.get(name) == value for name, value in asked["domain"].items())
        and own["relation"] == asked["relation"]
        and own["error"] == asked["error"]
        and terms.mechanism.participation == request.stream.participation
    )


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

    No data are read. The model after round t minimises λ/2·|θ|² + ⟨S_t, θ⟩ + t·r(θ) over |θ| ≤
    radius, where S_t is the private sum of all mean gradients so far.

    Args:
        loss: `LeastSquares()`, `Logistic()`, `Huber(threshold)` or `Loss(value=…, gradient=…)`.
        features: the number of features of a record, without its target.
        records: the public number of records of an epoch.
        clip: κ, the maximal length of a record's gradient; longer ones are shortened to it.
        radius: R, the radius of the ball of models.
        budget: the budget of all models together, and of everything else that is published.
        batch: the number of records of a round. The last batch of an epoch may be short; its sum is
            divided by `batch`, too, so that all records have the same weight.
        epochs: how often each record is used, always at the same position of an epoch.
        strategy: as for `ln.stream`.
        error: as for `ln.stream`; "mean" fits the regret bound.
        memory: as for `ln.stream`.
        relation: "add_remove": in a neighbouring run the gradients of one record count as 0.
            "substitute": they are another record's.
        regularizer: r: `Ridge(b)`, `Lasso(a)` or `ElasticNet(a, b)`; none by default.
        momentum: γ of heavy-ball momentum, from 0 to below 1.
        learning_rate: 1/λ; by default the one with the least regret bound.
        feature_radius: a bound on the length of a record's features; longer ones are scaled to it.
        target_bound: a bound on |target|; others are clipped to it.
        intercept: whether the model has a constant term, its last coordinate, which is in the ball
            and in r like the others.
        start: the first model, in the ball; 0 by default.
        progress: called with a `Progress` while a strategy is optimised.

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
