# SPDX-License-Identifier: Apache-2.0
"""A run: batches in, models out; paid for once, and gone on with bit for bit from its file.

The model after round t is a function of the stream's answer t alone, so the stream's file is all
that privacy and the model need. The average of the models is kept beside it, in a file of what has
been published: written before each round, it is at most one round behind the stream's.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, StreamError, TableError, path_of, quoted
from lownoise.learning.clipping import clipped_sum
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.numbers.randomness import SystemRandomness
from lownoise.privacy import checked_ledger
from lownoise.release import codec
from lownoise.streams import resume, start

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from lownoise.learning.learning_plan import LearningPlan
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Payer
    from lownoise.streams import Stream

_KIND = "average"
ENDING = ".average"
_ROUNDED = 2.0**-20  # of a length


@final
@dataclass(frozen=True)
class Step:
    """How far a run is; nothing of it is a function of the records.

    Args:
        round: how many rounds have been answered.
        rounds: how many there are.
        seconds: since `fit` was called.
    """

    round: int
    rounds: int
    seconds: float

    what: ClassVar[str] = "rounds"

    @property
    def done(self) -> int:
        """As `round`."""
        return self.round

    @property
    def total(self) -> int:
        """As `rounds`."""
        return self.rounds


def started(
    plan: LearningPlan, ledger: Payer | None, path: str | PathLike[str] | None
) -> LearningRun:
    """Return the run of a plan: new, or where its file exists, gone on with.

    Raises:
        LedgerError, FileError: as `LearningPlan.start`.
    """
    path = None if path is None else path_of(path)
    ledger = checked_ledger(ledger)
    asked = asked_of(plan) if path is not None else {}
    if path is not None and os.path.lexists(path):
        return LearningRun(plan, resume(path, asked, ledger=ledger))
    return LearningRun(
        plan,
        start(
            plan.stream.terms,
            randomness=SystemRandomness(),
            ledger=ledger,
            path=path,
            asked=asked,
        ),
    )


def asked_of(plan: LearningPlan) -> dict[str, Any]:
    """Return what a run's file says that it was asked for: by it the file knows its own plan."""
    stream, own = plan.request.stream.to_dict(), plan.request.to_dict()
    return {**stream, "learning": {k: v for k, v in own.items() if k not in stream}}


@final
class LearningRun:
    """Private training, round by round; each batch may depend on all models before.

    `LearningPlan.start` makes it. It is safe to use from several threads.

    Args:
        plan: the plan of the run.
        stream: the stream of the sums of clipped gradients.
    """

    def __init__(self, plan: LearningPlan, stream: Stream) -> None:
        self.plan = plan
        self._stream = stream
        self._lock = threading.RLock()
        self._leader = plan.leader
        self._unit = plan.unit
        path = stream.path
        self._beside = None if path is None else path.with_name(path.name + ENDING)
        first = plan.request.first_model
        self._state = State(0, np.zeros(first.size), frozen(first.copy()))
        if stream.round and self._beside is not None:
            radius = plan.request.radius
            found = State.read(self._beside, stream.identity, first.size, radius)
            self._state = State(-1, None, first) if found is None else found

    def __repr__(self) -> str:
        return f"<LearningRun at round {self.round:,} of {self.rounds:,}, {self.plan!r}>"

    def _repr_html_(self) -> str:
        return escape(repr(self))

    @property
    def round(self) -> int:
        """How many rounds have been answered."""
        return self._stream.round

    @property
    def rounds(self) -> int:
        """How many there are."""
        return self.plan.rounds

    @property
    def model(self) -> Vector:
        """The model after the last round, or the first one, shape (d,)."""
        return self._current().model

    @property
    def stream(self) -> Stream:
        """The stream of the sums of clipped gradients; do not update it."""
        return self._stream

    @property
    def average(self) -> Vector:
        """The mean of the models that batches were asked with, each as often as it had records.

        Before the first round it is the first model. The risk bound is about it.

        Raises:
            StreamError: where the run goes on without the file of what was published before.
        """
        with self._lock:
            state = self._current()
            if state.total is None:
                raise StreamError(
                    f"average is not known: file={self._beside} is not that of round {self.round:,}"
                    "; the model is, and goes on"
                )
            weight = self._records(state.round)
            return state.model if not weight else frozen(state.total / weight)

    def update(self, X: object, y: object, round: int | None = None) -> Vector:  # noqa: A002
        """Take the next batch and return the next model, shape (d,).

        Args:
            X: features, a row a record, as many as the plan has for this round. A record that is
                not there is a row of NaN.
            y: targets, one a record.
            round: which round it is, from 1: for callers who may ask twice. The last round returns
                the model that was published, and does not look at the records.

        Raises:
            TableError: where the batch has other rows or columns than planned.
            StreamError: where there is no round left, or `round` is neither the next nor the last.
            EngineError: where the loss's functions fail.
            FileError, LedgerError: as `Stream.update`. Whatever is raised, no round has passed.
        """
        with self._lock:
            done = self.round
            if round is not None and (round != done + 1 or isinstance(round, bool)):
                if round == done and not isinstance(round, bool) and done:
                    return self.model
                raise StreamError(
                    f"round={quoted(round)} is neither the next one, {done + 1:,}, nor the last"
                )
            if done == self.rounds:
                raise StreamError(
                    f"run has answered all of its {self.rounds:,} rounds; another plan is a run of "
                    "its own"
                )
            own = self.plan.request
            rows = own.reading.rows(X)
            size = own.size(done + 1)
            if len(rows) != size:
                raise TableError(
                    f"X has {len(rows):,} rows in round {done + 1:,}, which has {size:,} records; "
                    "give that many, and a row of NaN for a record that is not there"
                )
            return self.advance(rows, own.reading.targets(y, size))

    def advance(self, rows: Vector, targets: Vector) -> Vector:
        """Take the next batch, already read: see `update`."""
        with self._lock:
            own, state = self.plan.request, self._current()
            total = clipped_sum(own.loss, state.model, rows, targets, own.clip, self._unit)
            if self._beside is not None:
                state.write(
                    self._beside, self._stream.identity
                )  # before another round is published
            self._stream.update(total)
            return self.model

    def _current(self) -> State:
        """Return what was published, up to the stream's last round.

        The stream may be a round ahead: after a crash, or an interrupt just after its answer.
        """
        with self._lock:
            done, state = self.round, self._state
            if state.round == done:
                return state
            answers = self._stream.last
            assert answers is not None  # noqa: S101 (a round was answered)
            total = None
            if state.total is not None and state.round == done - 1:
                total = state.total + self._weight(done) * state.model
            model = self._step(np.ravel(answers.answers[-1]), done)
            self._state = State(done, total, model)
            return self._state

    def _step(self, answer: Vector, done: int) -> Vector:
        own = self.plan.request
        return self._leader.next(answer * ((1 - own.momentum) / own.batch), done)

    def _weight(self, at: int) -> float:
        own = self.plan.request
        return own.size(at) / own.batch

    def _records(self, done: int) -> float:
        """Return the records of all rounds so far, in full batches."""
        own = self.plan.request
        epochs, left = divmod(done, own.batches)
        return (epochs * own.records + left * own.batch) / own.batch


@final
@dataclass(frozen=True, eq=False)
class State:
    """What was published until a round, in short.

    Args:
        round: how many have been answered.
        total: the sum of the models that batches were asked with, by their records; None where it
            is not known.
        model: the last one.
    """

    round: int
    total: Vector | None
    model: Vector

    def write(self, path: Path, stream: str | None) -> None:
        """Write it to a file, all of it or nothing; nothing where the sum is not known.

        Args:
            path: the file.
            stream: the identity of the stream that it is of.

        Raises:
            FileError: where it cannot be written.
        """
        if self.total is None:
            return
        numbers = {"sum": packed(self.total), "model": packed(self.model)}
        codec.write(path, codec.dump(_KIND, {"stream": stream, "round": self.round, **numbers}))

    @classmethod
    def read(cls, path: Path, stream: str | None, size: int, radius: float) -> State | None:
        """Return what a file says of a stream's models, None where it says nothing of them.

        Args:
            path: the file.
            stream: the identity of the stream.
            size: how many numbers a model has.
            radius: how long one is at most.
        """

        def contents() -> State:
            fields = codec.load(_KIND, path.read_text(encoding="utf-8"))
            if fields.get("digest") != codec.digest(fields) or fields["stream"] != stream:
                raise FileError("it was altered, or is of another stream")
            total, model = (unpacked(fields[name], name, 1) for name in ("sum", "model"))
            return cls(int(fields["round"]), total, frozen(model))

        try:
            found = codec.guarded(contents)
        except (OSError, FileError):
            return None
        assert found.total is not None  # noqa: S101 (it is what was read)
        if not found.total.shape == found.model.shape == (size,):
            return None
        longest = radius * (1 + _ROUNDED)
        inside = np.linalg.norm(found.model) <= longest
        return found if inside and np.linalg.norm(found.total) <= found.round * longest else None
