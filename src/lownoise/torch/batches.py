# SPDX-License-Identifier: Apache-2.0
"""Fixed batches of people: what keeps the separation that the noise is planned for.

Everybody is in one batch of each epoch, the same one, whoever else is there: which place is in
which batch is drawn from the numbers of places and of batches alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from torch.utils.data import TensorDataset, default_collate

import torch
from lownoise.errors import PlanError, StreamError, quoted
from lownoise.numbers.randomness import KeyedRandomness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers

_ORDER = bytes(32)  # of places, public: it hides nothing


@final
class Batches:
    """The batches of a plan; iterating gives those that are left of an epoch.

    Args:
        dataset: tensors of one length, or a dataset with `__len__` and `__getitem__`.
        people: of each record the place of its person; None is record i of person i.
        places: how many places there are.
        batch: how many of them make a batch.
        epochs: how often each batch comes.

    Raises:
        PlanError: where places do not fit.
    """

    def __init__(
        self,
        dataset: Any,  # noqa: ANN401
        people: Integers | Sequence[int] | None,
        places: int,
        batch: int,
        epochs: int,
    ) -> None:
        if isinstance(dataset, torch.utils.data.DataLoader):
            raise PlanError(
                f"dataset={type(dataset).__name__} is a loader with an order of its own; give its "
                "dataset: batches must be as many apart as was planned, which sampling breaks"
            )
        self._tensors: tuple[torch.Tensor, ...] | None = None
        if isinstance(dataset, (tuple, list)):
            self._tensors = tuple(dataset)
        elif isinstance(dataset, TensorDataset):
            self._tensors = dataset.tensors
        self._dataset = dataset
        size = len(dataset) if self._tensors is None else len(self._tensors[0])
        if self._tensors and any(len(own) != size for own in self._tensors):
            raise PlanError("dataset has tensors of several lengths; give a row for each record")
        owners = np.arange(size) if people is None else np.asarray(people)
        if owners.shape != (size,) or not np.issubdtype(owners.dtype, np.integer):
            raise PlanError(f"people must be {size:,} whole numbers, one a record; give those")
        if people is None and size > places:
            raise PlanError(
                f"dataset has more records than people={places:,}; plan for a place each, or say "
                "whose each record is with people="
            )
        if size and not (owners.min() >= 0 and owners.max() < places):
            raise PlanError(
                f"people has places beyond the {places:,} planned; give 0 to {places - 1:,}"
            )
        # the same in every version of every library, or a run that goes on would mix its epochs
        words = KeyedRandomness(_ORDER, places).words(places)
        shuffled = np.argsort(words, kind="stable")
        rank = np.empty(places, dtype=np.int64)
        rank[shuffled] = np.arange(places)
        order = np.argsort(rank[owners], kind="stable")
        self._owners = rank[owners][order]
        self._order = order
        self.each, self._batch = -(-places // batch), batch
        self.rounds = self.each * epochs
        self._round, self._handed = 0, False

    def __repr__(self) -> str:
        return f"<Batches: {self.each:,} an epoch, after {self._round:,} of {self.rounds:,} steps>"

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return self.each

    def __iter__(self) -> Iterator[Any]:
        """Give the batches that are left of the epoch, each once the step before was taken."""
        end = min((self._round // self.each + 1) * self.each, self.rounds)
        while self._round < end:
            at = self._round
            self._handed = True
            yield self._records(at)
            if self._round == at:
                raise StreamError(
                    f"round={at + 1:,} has had no step; call the optimizer's step() once for each "
                    "batch"
                )

    def _rows(self, at: int) -> slice:
        first = at % self.each * self._batch
        ends = np.searchsorted(self._owners, [first, first + self._batch])
        return slice(int(ends[0]), int(ends[1]))

    def _records(self, at: int) -> Any:  # noqa: ANN401
        rows = self._order[self._rows(at)]
        if self._tensors is None:
            return default_collate([self._dataset[i] for i in rows.tolist()]) if rows.size else None
        chosen = torch.from_numpy(rows)
        return tuple(own[chosen.to(own.device)] for own in self._tensors)

    @property
    def owners(self) -> Integers:
        """Of each record of the batch in hand, which of the batch's people it is of; from 0."""
        found = self._owners[self._rows(self._round)]
        _, index = np.unique(found, return_inverse=True)
        return np.asarray(index, dtype=np.int64)

    def expect(self, at: int) -> None:
        """Refuse a step whose gradients are not of the batch of its round.

        Raises:
            StreamError: where that batch has not been handed out since the step before.
        """
        if not self._handed or self._round != at:
            raise StreamError(
                f"round={at + 1:,} has no batch yet; take its gradients from the next batch of the "
                "plan's loader"
            )

    def stepped(self) -> None:
        """Go on to the next batch."""
        self.go(self._round + 1)

    def go(self, at: int) -> None:
        """Go to the batch of a round, from 0."""
        self._round, self._handed = at, False


def checked_batches(batches: object, rounds: int) -> Batches:
    """Return the loader of a plan.

    Raises:
        PlanError: where it is another.
    """
    if not isinstance(batches, Batches):
        raise PlanError(
            f"batches={quoted(type(batches).__name__)} does not keep people as many steps apart as "
            "was planned, and Poisson or shuffled sampling cannot; give plan.loader(dataset)"
        )
    if batches.rounds != rounds:
        raise PlanError(f"batches are of {batches.rounds:,} rounds; give those of this plan")
    return batches
