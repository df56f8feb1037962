# SPDX-License-Identifier: Apache-2.0
"""An optimiser whose gradients are clipped, summed to integers and given correlated noise.

What one person adds to a sum is in the ball of the clip for certain: its length is computed in
doubles and rounded up, whatever order a device adds in, and what has an entry that is not finite,
or beyond 2^400, is 0. The sum is off by roundings, and so are lengths, by which the records of one
person may move another's last digits: `streams.increments` charges both.
"""

from __future__ import annotations

import copy
import os
import threading
from typing import TYPE_CHECKING, Any, final

import numpy as np

import torch
from lownoise.errors import PlanError, StreamError, path_of, quoted
from lownoise.numbers.rounding import LAST, growth, shrunk
from lownoise.torch.batches import checked_batches
from lownoise.torch.plan import TrainingPlan, shapes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy import Payer
    from lownoise.streams.journal import IncrementRun
    from lownoise.torch.batches import Batches

_TINY = 2.0**-480  # what squares that vanish can hide of a length
# told entry by entry: whether a sum of squares overflows may depend on the order it is added in,
# and so on other people's records
_LARGEST = 2.0**400
_NUMBERS = 1 << 22  # in doubles at once


@final
class PrivateOptimizer:
    """Any torch optimiser, on private gradients: the plan's noise added to clipped sums.

    Of each record it needs its own gradient: `p.grad_sample`, as Opacus' `GradSampleModule` leaves
    it, or what `step` is given. A record's gradient must depend on the model and that record alone:
    take sums of losses, `reduction="sum"` and Opacus' `loss_reduction="sum"`, for a mean divides by
    how many records there are, and its last digits tell.

    Args:
        optimizer: of the model's parameters.
        plan: the plan.
        model: what is trained.
        batches: `plan.loader(dataset)`.
        ledger: the account that pays for all steps, before the first.
        path: the run's journal, without which it ends with its process. Where the file exists, its
            run goes on: give `load_state_dict` the last checkpoint.
        threads: how many make noise at once.

    Raises:
        PlanError: where the model is another than was planned for, or batches are not the plan's.
        LedgerError: where the account cannot pay, or says that the run went on elsewhere.
        FileError: where the journal is of another run, or cannot be used.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        plan: TrainingPlan,
        model: torch.nn.Module,
        batches: Batches,
        *,
        ledger: Payer | None = None,
        path: str | PathLike[str] | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(plan, TrainingPlan):
            raise PlanError(f"plan={type(plan).__name__} is none of lownoise.torch; give plan(…)")
        plan.check(shapes_of(model))
        if getattr(model, "loss_reduction", "sum") != "sum":  # of Opacus, which then multiplies
            raise PlanError(
                f"model.loss_reduction={quoted(model.loss_reduction)} takes the batch's size into "
                'gradients; give GradSampleModule loss_reduction="sum", and take sums of losses'
            )
        if isinstance(optimizer, torch.optim.LBFGS):
            raise PlanError("optimizer=LBFGS asks for losses again and again; give one of steps")
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._plan, self._optimizer = plan, optimizer
        self._check_groups()
        self._batches = checked_batches(batches, plan.rounds)
        self._ledger, self._threads = ledger, threads
        self._path = None if path is None else path_of(path).absolute()
        if self._path is not None and os.path.lexists(self._path):
            self._run = self._resumed(None)
        else:
            self._run = plan.increments.start(ledger=ledger, path=path, threads=threads)
        self._batches.go(self._run.done)
        self._lock = threading.RLock()  # or two threads take one batch in two rounds

    def __repr__(self) -> str:
        of = f"{self.round:,} of {self._plan.rounds:,} steps, {self._plan.increments.budget}"
        return f"<PrivateOptimizer: {type(self._optimizer).__name__} after {of}>"

    @property
    def round(self) -> int:
        """How many steps there were."""
        return self._run.done

    @property
    def run(self) -> IncrementRun:
        """The noise, its journal, and where it was paid."""
        return self._run

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The optimiser's."""
        found: list[dict[str, Any]] = self._optimizer.param_groups
        return found

    def zero_grad(self, set_to_none: bool = True) -> None:  # noqa: FBT001, FBT002 (torch's own)
        """Forget gradients, of records too."""
        self._optimizer.zero_grad(set_to_none=set_to_none)
        for parameter in self._parameters:
            if hasattr(parameter, "grad_sample"):
                parameter.grad_sample = None

    def step(self, gradients: Sequence[torch.Tensor] | None = None) -> None:
        """Take one step on the batch that the loader gave last.

        Args:
            gradients: of each parameter that is trained, in the model's order, those of all
                records of the batch, shape (records, …); by default each one's `grad_sample`.

        Raises:
            PlanError: where the optimiser has been given other parameters since.
            StreamError: where the step is out of order, or gradients are not of the batch: nothing
                is published then. Where the round began before with another sum.
            FileError, LedgerError: where the journal or the ledger cannot be written, or is an old
                copy; the step has not been taken.
        """
        with self._lock:
            self._check_groups()  # some may have been added since
            self._step(gradients)

    def _step(self, gradients: Sequence[torch.Tensor] | None) -> None:
        run = self._run
        if run.done >= self._plan.rounds:
            raise StreamError(f"all {self._plan.rounds:,} rounds are over; plan a run with more")
        self._batches.expect(run.done)
        own = self._own() if gradients is None else list(gradients)
        owners = self._batches.owners
        shapes = [shape for _, shape in self._plan.shapes]
        if len(own) != len(shapes) or any(
            tuple(g.shape) != (owners.size, *shape) for g, shape in zip(own, shapes, strict=True)
        ):
            raise StreamError(
                f"round={run.done + 1:,} has gradients of other shapes than the records of its "
                "batch; give one a record, of each parameter"
            )
        with torch.no_grad():
            values = clipped_sum(own, owners, run.mechanism.clip)
            np.ldexp(values, -run.mechanism.exponent, out=values)
            run.add_noise(values)
            self._take(values)
        self._batches.stepped()

    def _check_groups(self) -> None:
        """Refuse an optimiser of what the plan has no noise for: it would take raw gradients."""
        own = {id(p) for group in self._optimizer.param_groups for p in group["params"]}
        if not own <= {id(p) for p in self._parameters}:
            raise PlanError("optimizer has parameters that the model lacks; give the model's")

    def _own(self) -> list[torch.Tensor]:
        if not self._batches.owners.size:
            return [p.new_zeros((0, *p.shape)) for p in self._parameters]
        found = [p.grad_sample for p in self._parameters if hasattr(p, "grad_sample")]
        if len(found) < len(self._parameters) or not all(torch.is_tensor(g) for g in found):
            raise StreamError(
                f"round={self._run.done + 1:,} has no gradient of each record; call backward() "
                "once, on a model in Opacus' GradSampleModule, or give step() the gradients"
            )
        return found

    def _take(self, values: Vector) -> None:
        scale = self._run.mechanism.step / self._plan.batch
        start = 0
        for parameter in self._parameters:
            size = parameter.numel()
            part = torch.from_numpy(values[start : start + size] * scale).view(parameter.shape)
            parameter.grad = part.to(device=parameter.device, dtype=parameter.dtype)
            start += size
        self._optimizer.step()
        self.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Return a checkpoint: the optimiser's state, and the noise that is kept.

        It is as secret as the data, for noise can be undone with it; so is the journal.

        Raises:
            StreamError: where there is no journal.
        """
        state = self._run.state()
        kept, mac = torch.from_numpy(state["kept"]), state["mac"].hex()
        noise = {"round": state["round"], "kept": kept, "mac": mac}
        return {"optimizer": self._optimizer.state_dict(), "noise": noise}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint, bit for bit; the model's own state is loaded beside it.

        Raises:
            StreamError: where the checkpoint is of another run, or there is no journal.
            LedgerError: where the journal is an old copy.
            FileError: where the journal cannot be read.
        """
        if self._path is None:
            raise StreamError("optimizer has no journal to go on from; give path=")
        try:
            noise, optimizer = state["noise"], state["optimizer"]
            given = {
                "round": noise["round"],
                "kept": noise["kept"].numpy(),
                "mac": bytes.fromhex(noise["mac"]),
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            raise StreamError("checkpoint is none of a private run; give its state_dict") from None
        run = self._resumed(given)
        # a copy: torch would go on in the checkpoint's own tensors
        self._optimizer.load_state_dict(copy.deepcopy(optimizer))
        self._run = run
        self._batches.go(run.done)

    def _resumed(self, state: dict[str, Any] | None) -> IncrementRun:
        assert self._path is not None  # noqa: S101 (else nobody asks)
        increments = self._plan.increments
        return increments.resume(self._path, state, ledger=self._ledger, threads=self._threads)


def clipped_sum(gradients: Sequence[torch.Tensor], owners: Integers, clip: float) -> Vector:
    """Return the sum over people of their clipped gradients, in doubles, shape (d,).

    Args:
        gradients: shapes (records, …).
        owners: of each record its person, 0 to m − 1, none left out and rising, shape (records,).
        clip: the length that each person's is cut to, above 0.

    Examples:
        >>> clipped_sum([torch.tensor([[3.0, 4.0], [0.1, float("nan")]])], np.arange(2), 1.0)
        array([0.6, 0.8])
    """
    people = int(owners.max()) + 1 if owners.size else 0
    d = sum(g[0].numel() if len(g) else int(np.prod(g.shape[1:])) for g in gradients)
    values = np.zeros(d)
    if not people:
        return values
    # a sum of one's own records alone: a product with zeros would let one's NaN be everybody's
    together = None if people == owners.size else torch.from_numpy(np.bincount(owners))
    squares = torch.zeros(people, dtype=torch.float64)
    finite = torch.ones(people, dtype=torch.bool)
    for _, _, part in _parts(gradients, together):
        squares += torch.sum(part * part, dim=1).cpu()
        finite &= (torch.amax(torch.abs(part), dim=1) <= _LARGEST).cpu()
    known_lengths = np.where(finite.numpy(), np.sqrt(squares.numpy()), 0.0)
    lengths = known_lengths * (1 + growth(d + 16)) + _TINY
    shares = np.minimum(1.0, shrunk(clip / lengths, LAST))
    shares[lengths <= clip] = 1.0
    keep, weights = finite[:, None], torch.from_numpy(shares)
    for start, stop, part in _parts(gradients, together):
        # always, so that time does not tell whether a gradient was not finite
        known = torch.where(keep.to(part.device), part, 0.0)
        values[start:stop] = (weights.to(part.device) @ known).cpu().numpy()
    return values


def _parts(
    gradients: Sequence[torch.Tensor], together: torch.Tensor | None
) -> Iterator[tuple[int, int, torch.Tensor]]:
    """Yield people's gradients, some coordinates at a time, in doubles: from, to, (m, to − from).

    A person's own records are added one after another, each coordinate for itself, so its numbers
    are the same whenever it runs and whoever else is there.
    """
    start = 0
    for gradient in gradients:
        rows = gradient.reshape(len(gradient), -1)
        width = max(_NUMBERS // max(len(rows), 1), 1)
        for first in range(0, rows.shape[1], width):
            part = rows[:, first : first + width].to(torch.float64)
            if together is not None:
                part = torch.segment_reduce(part, "sum", lengths=together.to(part.device), axis=0)
            yield start + first, start + first + part.shape[1], part
        start += rows.shape[1]
