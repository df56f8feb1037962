# SPDX-License-Identifier: Apache-2.0
"""A stream that is running: values in, private estimates out."""

from __future__ import annotations

import copy
import os
import threading
from html import escape
from typing import TYPE_CHECKING, NoReturn, final

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.errors import StreamError, path_of, quoted
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen
from lownoise.privacy import checked_ledger
from lownoise.release import codec
from lownoise.streams.accounts import followed
from lownoise.streams.banded import Banded
from lownoise.streams.codec import document
from lownoise.streams.progress import (
    Batch,
    KeptNoise,
    Progress,
    noise_from,
    state_from_bytes,
    state_to_bytes,
)
from lownoise.streams.store import StreamFile
from lownoise.streams.values import encoder_of, value_of, values_of
from lownoise.streams.view import StreamView

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy import Payer
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.release.codec import Spend
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams.accounts import StreamAccount
    from lownoise.streams.progress import AbstractNoise
    from lownoise.streams.store import Contents
    from lownoise.streams.values import Encoder


@final
class Stream(Banded):
    """Private estimates after every round, with an error that is known beforehand.

    `ln.stream` makes it, or it is restored from a state or a file. `update(value)` takes the value
    of a round and returns its estimate. The next value may depend on all answers so far. Answers
    share noise, and `cost` is the cost of all answers together. It is safe to use from several
    threads.
    """

    def __init__(
        self,
        terms: Terms,
        noise: AbstractNoise,
        spend: Spend | None = None,
        *,
        progress: Progress | None = None,
        file: StreamFile | None = None,
        account: StreamAccount | None = None,
    ) -> None:
        r = terms.mechanism.coding.step.size
        self.terms = terms
        self._view = StreamView(terms)
        self._noise = noise
        self._spend = spend
        self._file = file
        self._account = account
        self._answers: AbstractAnswers = terms.question.workload.exact(r)
        self._counted = terms.mechanism.relation.counted
        self._round = 0
        self._last: tuple[int, float | Vector] | None = None
        if progress is not None:
            self._answers.restore(progress.answers)
            self._round = progress.round
            self._last = progress.last and (progress.last.first, progress.last.answers)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._midway = False
        self._encoder = encoder_of(terms.mechanism.coding)

    def __repr__(self) -> str:
        rounds = self._view.question.workload.rounds
        return f"<Stream at round {self._round} of {rounds}, {self.terms.budget}>"

    def _repr_html_(self) -> str:
        return escape(repr(self))

    @classmethod
    def restore(cls, state: bytes, domain: AbstractDomain | None = None) -> Stream:
        """Return the stream with this `state`; it continues exactly.

        Never use one state twice, and do not continue the stream that it was taken from: two
        answers with the same noise reveal the exact difference of their values. lownoise cannot
        detect this. A stream with a `path` cannot be continued twice.

        Args:
            state: what `state` returned.
            domain: the set, if it is or contains an `ln.Oracle`, which states do not hold.

        Raises:
            FileError: where it is damaged, of another version, or no state.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(365), budget=ln.zcdp(0.5))
            >>> answer = counts.update(1)
            >>> ln.Stream.restore(counts.state()).round
            1
        """
        terms, spend, progress = state_from_bytes(state, domain)

        def read() -> Stream:
            noise = noise_from(terms.mechanism, progress.noise or {}, progress.round)
            return cls(terms, noise, spend, progress=progress)

        return codec.guarded(read)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        domain: AbstractDomain | None = None,
        *,
        ledger: Payer | None = None,
    ) -> Stream:
        """Return the stream in a file; it continues exactly, and saves every batch there.

        After a crash, `round` says how many rounds were answered and `last` has the answers of the
        last batch, which may not have been seen.

        Args:
            path: what `ln.stream` was given.
            domain: the set, if it is or contains an `ln.Oracle`, which files do not hold.
            ledger: the account that paid, where its ledger has been moved; otherwise it is found.

        Raises:
            FileError: where it is no stream of this version, or is damaged; it is left as it is.
            LedgerError: where its ledger is not there or not the one that paid, or says that
                another copy of the stream went on.
        """
        return cls.resumed(path, domain, ledger)

    @classmethod
    def resumed(
        cls,
        path: str | PathLike[str],
        domain: AbstractDomain | None,
        ledger: Payer | None,
        check: Callable[[Contents], None] = lambda _: None,
    ) -> Stream:
        """Return the stream in a file, as `open` does, unless `check` refuses what the file holds.

        Raises:
            FileError, LedgerError: as `open`.
        """
        ledger = checked_ledger(ledger)
        with StreamFile.opening(path_of(path).absolute(), domain) as (held, found, follow):
            progress = found.progress
            state = {"kept": found.kept} if progress.noise is None else progress.noise
            noise = codec.guarded(lambda: noise_from(found.terms.mechanism, state, progress.round))
            check(found)
            file, account = followed(held, found, follow, ledger)
        return codec.guarded(
            lambda: cls(
                found.terms, noise, found.spend, progress=progress, file=file, account=account
            )
        )

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied.

        Raises:
            StreamError: always.
        """
        raise StreamError("stream is not copied: its noise is used once; use Stream.state")

    def state(self) -> bytes:
        """Return everything that is needed to continue: terms, rounds, and the remaining noise.

        It holds the noise: keep it as secret as the records. Never use one state twice, nor both
        the state and this stream: two answers with the same noise reveal their difference.

        Raises:
            StreamError: where the stream has a file, which is its only state.
            FileError: where the terms have no form in a file.
        """
        with self._lock:
            self._check_room(0)
            if self._file is not None:
                raise StreamError(
                    f"stream lives in file={self._file.path}, and a second state of it could be "
                    "gone on with too; move the file, and use ln.Stream.open",
                )
            return state_to_bytes(self.terms, self._spend, self._progress(complete=True))

    def to_json(self) -> str:
        """Return what is guaranteed as JSON, without noise or answers; `ln.verify` checks it.

        Raises:
            FileError: where the terms have no form in a file.
        """
        return document(self.terms)

    @property
    def round(self) -> int:
        """How many rounds have been answered."""
        return self._round

    @property
    def rounds(self) -> int:
        """How many rounds there can be."""
        return self._view.question.workload.rounds

    @property
    def strategy(self) -> str:
        """The factorization's name."""
        return self._view.mechanism.strategy

    @property
    def reason(self) -> str:
        """Why that one was chosen."""
        return self._view.mechanism.reason

    @property
    def last(self) -> Batch | None:
        """The answers of the last batch and its first round; None before the first round."""
        last = self._last
        if last is None:
            return None
        first, own = last
        answers = np.atleast_1d(np.asarray(own, dtype=np.float64))
        return Batch(first, frozen(answers.copy()))

    @property
    def path(self) -> Path | None:
        """The file that it lives in, None where it has none."""
        return self._file and self._file.path

    @property
    def identity(self) -> str | None:
        """What tells the stream in a file from every other, hexadecimal; None where it has none."""
        return self._file and self._file.identity.hex()

    @property
    def spend(self) -> Spend | None:
        """Where it was paid, None where nothing was recorded."""
        return self._spend

    def update(self, value: float | ArrayLike, round: int | None = None) -> float | Vector:  # noqa: A002
        """Take the next round's value and return its private estimate.

        Args:
            value: a number or a text that spells one, or d of them; what is outside the domain is
                clipped to it, and what is missing, or no number, counts as the domain's point
                nearest to 0. What is no list of d numbers is all missing.
            round: which round it is, from 1: for callers who may ask twice. A round of the last
                batch returns the estimate that was published, and does not look at the value.

        Returns:
            The answer after this round: a float in one dimension, else shape (d,).

        Raises:
            StreamError: where there is no round left, `round` is neither the next nor of the last
                batch, the value is a numpy array of another shape, or somebody else went on from
                the file. Then no round has passed.
            FileError: where the batch cannot be saved; then no round has passed.
            LedgerError: where the ledger that paid cannot be written, or says that another copy of
                the stream went on; the answers are not returned, and `ln.Stream.open` goes on.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(365), budget=ln.zcdp(0.5))
            >>> answer = counts.update(1)
            >>> counts.round, isinstance(answer, float)
            (1, True)
            >>> counts.update(1, round=1) == answer
            True
        """
        if self._encoder is not None and self._file is None and isinstance(value, (int, float)):
            return self._run_one(self._encoder, value, round)
        d = self._view.question.domain.dimension
        found_all = self._run(value_of(value, d), round)
        return float(found_all[0, 0]) if d == 1 else frozen(found_all[0])

    def update_many(self, values: ArrayLike) -> Vector:
        """Take the next rounds' values and return their private estimates.

        Args:
            values: a list or another sequence of what `update` takes; or an array, a pandas, polars
                or Arrow column, or a table, of shape (k,) in one dimension, or (k, d). Each value
                means what it would alone: in a list, a column of objects or texts it is looked at
                by itself, and an array of numbers has the type that the caller gave it.

        Returns:
            The answers: shape (k,) in one dimension, (k, d) otherwise, and of tables.

        Raises:
            StreamError, FileError, LedgerError: as `update`.
        """
        d = self._view.question.domain.dimension
        own, as_table = values_of(values, d)
        found = self._run(own)
        return frozen(found if as_table or d > 1 else found[:, 0].copy())

    def _run(self, values: Vector, at: int | None = None) -> Vector:
        """Answer the next rounds, shape (k, d) both; on disk, where there is a file."""
        with self._lock:
            self._check_room(0)
            if at is not None and not (is_integer(at) and at == self._round + 1):
                return np.reshape(self._published(at), (1, -1))
            self._check_room(len(values))
            if not len(values):
                return np.zeros_like(values)
            with quiet():
                codes = self._view.mechanism.coding.encode(values)
            self._midway = True  # an interrupt from here on leaves it so
            found = self._next(codes) if self._file is None else self._saved(self._file, codes)
            self._midway = False
            return found

    def _run_one(self, encoder: Encoder, value: float, at: int | None) -> float:
        with self._lock:
            if at is not None and not (is_integer(at) and at == self._round + 1):
                self._check_room(0)
                return float(self._published(at)[0])
            self._check_room(1)
            code = encoder.encode(value)
            self._midway = True
            noisy = self._view.mechanism.noisy_one(self._answers, code, self._noise.take_one())
            self._round += 1
            found = noisy * encoder.step
            if encoder.center and not self._counted:
                found += encoder.center * float(
                    self._view.question.workload.row_sums(self._round - 1, 1)[0]
                )
            self._last = (self._round, found)
            self._midway = False
            return found

    def _check_room(self, count: int) -> None:
        if self._midway:
            raise StreamError(
                "stream was interrupted in the middle of a round and has no file; start another, "
                "and do not go on from a state that was taken before its last answer",
            )
        if self._file is None and self._process != os.getpid():
            raise StreamError(
                "stream is a copy in a forked process, and its noise is used once; update it where "
                "it was made, or give it a path",
            )
        if self._round + count > self.rounds:
            left = self.rounds - self._round
            raise StreamError(
                f"stream has {left:,} of its {self.rounds:,} rounds left and is given more; "
                "start another with a longer horizon, which is a release of its own",
            )

    def _published(self, at: int) -> Vector:
        """Return the answer of a round of the last batch."""
        if self._last is not None and is_integer(at):
            first, own = self._last
            answers = np.atleast_1d(np.asarray(own))
            if first <= at < first + len(answers):
                return np.atleast_1d(answers[at - first]).copy()
        raise StreamError(
            f"round={quoted(at)} is neither the next one, {self._round + 1:,}, nor of the last "
            "batch; what was published before is not kept here",
        )

    def _next(self, codes: Integers) -> Vector:
        first, count = self._round, len(codes)
        noisy = self._view.mechanism.noisy(self._answers, codes, self._noise.take(count))
        self._round += count
        found = self._answered(first, noisy)
        one = self._view.question.domain.dimension == 1
        self._last = (first + 1, frozen(found[:, 0].copy() if one else found.copy()))
        return found

    def _saved(self, file: StreamFile, codes: Integers) -> Vector:
        """Answer the next rounds, once these are on disk, and the ledger knows."""
        before = self._answers.state(), copy.deepcopy(self._noise), self._round, self._last
        try:
            with file.turn(self._round) as save:
                found = self._next(codes)
                place = save(self._progress(complete=False))
            if self._account is not None:
                self._account.move(file.path, place)
        except BaseException:
            answers, self._noise, self._round, self._last = before
            self._answers.restore(answers)
            self._midway = False
            raise
        return found

    def _progress(self, *, complete: bool) -> Progress:
        """Return how far it is; kept noise only where the whole is asked for."""
        apart = isinstance(self._noise, KeptNoise) and not complete
        return Progress(
            round=self._round,
            answers=self._answers.state(),
            noise=None if apart else self._noise.state(),
            last=self.last,
        )

    def _answered(self, first: int, noisy: Integers) -> Vector:
        """Return what integers say, in the records' unit: arithmetic on what is public."""
        values, chosen = self._view.question.values, self._view.mechanism.totals.coordinates
        found = noisy * self._view.mechanism.coding.step
        offset = values.center
        if chosen.embed is not None:
            found = found @ chosen.embed.T
            # x = start + embed·(x − start)[pivots]
            about = (values.center - chosen.start)[chosen.pivots]
            offset = chosen.start + chosen.embed @ about
        if not self._counted and np.any(offset):
            sums = self._view.question.workload.row_sums(first, len(noisy))
            found = found + sums[:, None] * offset
        return np.asarray(found)
