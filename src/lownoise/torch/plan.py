# SPDX-License-Identifier: Apache-2.0
"""A training run before any data are read: noise, memory and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import checked_integer
from lownoise.planning.increments import IncrementPlan, plan_increments
from lownoise.privacy.budget import budget_to_dict, checked_budget
from lownoise.questions import Momentum, Prefix
from lownoise.sensitivity.participation import Participation
from lownoise.torch.batches import Batches
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers
    from lownoise.privacy import Budget
    from lownoise.release.guarantees import Cost

_WRAPPED = "_module."  # what a module in another calls its parameters


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainingPlan:
    """What a training run will be; nothing has started.

    Args:
        increments: the noise of the sums of clipped gradients.
        shapes: the names and shapes of what is trained.
        people: how many places for people there are.
        batch: how many of them add to a step.
        epochs: how often each does.
    """

    increments: IncrementPlan
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    people: int
    batch: int
    epochs: int

    @property
    def rounds(self) -> int:
        """The number of steps."""
        return self.increments.rounds

    @property
    def multiplier(self) -> float:
        """The noise multiplier: σ beside the clip, in one sum, before noise is taken back."""
        return self.increments.multiplier

    @property
    def memory(self) -> int:
        """The bytes of noise kept from step to step."""
        return self.increments.memory

    @property
    def error(self) -> float:
        """The mean deviation of an iterate's coordinates by noise, in units of the clip."""
        return self.increments.error

    @property
    def strategy(self) -> str:
        """The factorization's name."""
        return self.increments.strategy

    @property
    def cost(self) -> Cost:
        """What all steps together reveal, rounded up."""
        return self.increments.cost

    def __repr__(self) -> str:
        size, budget = self.increments.mechanism.dimension, self.increments.budget
        return (
            f"<TrainingPlan: {size:,} parameters in {self.rounds:,} steps of {self.batch:,} "
            f"people, planned under {budget}; error {self.error:.3g} clips>"
        )

    def __str__(self) -> str:
        size = f"{self.increments.mechanism.dimension:,} parameters of {len(self.shapes)} tensors"
        return f"model       {size}\n{self.increments}"

    def loader(self, dataset: Any, people: Integers | Sequence[int] | None = None) -> Batches:  # noqa: ANN401
        """Return the batches of the plan: every person in one, the same in each epoch.

        Args:
            dataset: tensors of one length, or a dataset with `__len__` and `__getitem__`.
            people: of each record the place of its person, 0 to people − 1; by default record i is
                person i. A place may have no record, or several; it is the same person's whenever
                the run goes on.

        Raises:
            PlanError: where places do not fit.
        """
        return Batches(dataset, people, self.people, self.batch, self.epochs)

    def check(self, shapes: tuple[tuple[str, tuple[int, ...]], ...]) -> None:
        """Refuse another model.

        Raises:
            PlanError: where names or shapes differ.
        """
        if shapes != self.shapes:
            raise PlanError(
                f"model has {len(shapes)} tensors that are not the {len(self.shapes)} of the plan; "
                "give the model that was planned for"
            )


def plan(  # noqa: PLR0913 (all but the first by name)
    model: nn.Module,
    *,
    people: int,
    batch: int,
    epochs: int,
    clip: float,
    budget: Budget,
    strategy: str = "auto",
    memory: int | None = None,
    momentum: float = 0.0,
    relation: str = "add_remove",
) -> TrainingPlan:
    """Plan a private training run; no data are read.

    Args:
        model: what is trained: its parameters that need a gradient.
        people: how many places for people there are, a public number.
        batch: of how many people a step adds the gradients.
        epochs: how often each person takes part, in steps that are as many apart as an epoch has.
        clip: the length that each person's gradient is cut to.
        budget: what all steps together may reveal: `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.
        strategy: "identity", independent noise in each step; "banded", "rational"; "auto" takes
            what moves the iterates least.
        memory: how many numbers of noise are kept for each parameter, at most; by default 4.
        momentum: of the optimiser, for which the noise of the iterates is made small.
        relation: "add_remove": in a neighbouring run one person's place is empty. "substitute": it
            has any other records. Who has which place, and how many places there are, is public.

    Raises:
        PlanError, BudgetError: where an argument is out of range.

    Examples:
        >>> import torch, lownoise as ln
        >>> found = plan(torch.nn.Linear(3, 1), people=100, batch=10, epochs=4, clip=1.0,
        ...     budget=ln.approx_dp(1.0, 1e-6))
        >>> found.rounds, found.increments.mechanism.participation.phrase
        (40, 'at most 4 rounds, each 10 after the one before')
    """
    for field, value in (("people", people), ("batch", batch), ("epochs", epochs)):
        checked_integer(field, value)
    if batch > people:
        raise PlanError(f"batch={batch:,} is more than there are people; give at most {people:,}")
    if not isinstance(momentum, (int, float)) or not 0 <= momentum < 1:
        raise PlanError(f"momentum={quoted(momentum)} is out of range; give 0 or a number below 1")
    shapes = shapes_of(model)
    each = -(-people // batch)
    rounds = each * epochs
    asked = {
        "parameters": [[name, list(shape)] for name, shape in shapes],
        "people": people,
        "batch": batch,
        "epochs": epochs,
        "clip": float(clip),
        "budget": budget_to_dict(checked_budget(budget)),
        "strategy": strategy,
        "memory": memory,
        "momentum": float(momentum),
        "relation": relation,
    }
    increments = plan_increments(
        sum(math.prod(shape) for _, shape in shapes),
        rounds=rounds,
        people=batch,
        clip=clip,
        budget=budget,
        participation=Participation(epochs, each, "spaced"),
        workload=Momentum(rounds, momentum) if momentum else Prefix(rounds),
        strategy=strategy,
        memory=memory,
        relation=relation,
        asked=asked,
    )
    return TrainingPlan(increments, shapes, people, batch, epochs)


def shapes_of(model: nn.Module) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the names and shapes of what a model trains, whatever module it is wrapped in.

    Raises:
        PlanError: where there is nothing, or a part of the model mixes records.
    """
    is_model = hasattr(model, "named_parameters")
    shared = [own for own in model.named_modules() if _mixes(own[1])] if is_model else []
    if shared:
        name, layer = shared[0]
        where = f"{name!r}, a {type(layer).__name__}" if name else type(layer).__name__
        raise PlanError(
            f"model has {where}, in which a record's gradient depends on others and means are kept "
            "without noise; use GroupNorm or LayerNorm"
        )
    found = [(n, p) for n, p in model.named_parameters() if p.requires_grad] if is_model else []
    if not found:
        raise PlanError(
            f"model={type(model).__name__} has no parameters to train; give a torch.nn.Module"
        )
    return tuple((n.removeprefix(_WRAPPED), tuple(p.shape)) for n, p in found)


def _mixes(module: nn.Module) -> bool:
    """Return whether what a module does to a record depends on the batch's others."""
    own = nn.modules.batchnorm._NormBase  # noqa: SLF001 (the one name for all of them)
    return isinstance(module, own) and (
        isinstance(module, nn.modules.batchnorm._BatchNorm)  # noqa: SLF001
        or bool(module.track_running_stats)
    )
