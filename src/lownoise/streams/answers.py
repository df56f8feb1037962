# SPDX-License-Identifier: Apache-2.0
"""The true answers of a stream, round by round, from the records' integer codes.

Each kind of workload remembers what it needs and no more. Where an answer is no integer it is
rounded to one, and `slack` says how far off it can be: the noise covers that.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import singledispatch
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.numbers.rounding import growth
from lownoise.questions.streams import Decayed, LowerTriangular, Prefix, SlidingWindow

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers

_BITS = 64  # of a decayed sum, below one step


class AbstractAnswers(ABC):
    """The running true answers; private, as the records are."""

    @abstractmethod
    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers, shape (k, r) both."""

    def push_one(self, code: int) -> int:
        """Take the code of the next round, of one coordinate, and return its answer."""
        return int(self.push(np.array([[code]], dtype=np.int64))[0, 0])

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what is remembered, as JSON values or arrays."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""


def answers_of(workload: object, coordinates: int) -> AbstractAnswers:
    """Return the running answers before the first round.

    Args:
        workload: W.
        coordinates: r, the numbers a round has.
    """
    return _answers(workload, coordinates)


@singledispatch
def _answers(workload: object, coordinates: int) -> AbstractAnswers:
    raise QuestionError(f"workload={type(workload).__name__} is no stream; give ln.Prefix(n)")


@singledispatch
def answer_slack(workload: object, reach: float) -> float:
    """Return how far an answer can be from W·codes, in steps.

    Args:
        workload: W.
        reach: at least every |code|.
    """
    return 0.0


@final
class _Prefix(AbstractAnswers):
    def __init__(self, coordinates: int) -> None:
        self._total = np.zeros(coordinates, dtype=np.int64)

    def push(self, codes: Integers) -> Integers:
        found = np.cumsum(codes, axis=0)
        found += self._total
        if len(found):
            self._total = found[-1].copy()
        return found

    def push_one(self, code: int) -> int:
        total = int(self._total[0]) + code
        self._total[0] = total
        return total

    def state(self) -> dict[str, Any]:
        return {"total": self._total.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        self._total[:] = _integers(state["total"], self._total.shape)


@_answers.register(Prefix)
def _answers_of_prefix(workload: Prefix, coordinates: int) -> AbstractAnswers:
    return _Prefix(coordinates)


@final
class _Window(AbstractAnswers):
    def __init__(self, width: int, coordinates: int) -> None:
        self._last = np.zeros((width, coordinates), dtype=np.int64)  # the oldest first
        self._total = np.zeros(coordinates, dtype=np.int64)

    def push(self, codes: Integers) -> Integers:
        width = len(self._last)
        known = np.concatenate([self._last, codes])
        found = np.cumsum(codes - known[: len(codes)], axis=0) + self._total
        if len(found):
            self._total = found[-1].copy()
            self._last = known[-width:].copy()
        return found

    def state(self) -> dict[str, Any]:
        return {"last": self._last.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        self._last[:] = _integers(state["last"], self._last.shape)
        self._total = self._last.sum(axis=0)


@_answers.register(SlidingWindow)
def _answers_of_sliding_window(workload: SlidingWindow, coordinates: int) -> AbstractAnswers:
    return _Window(workload.width, coordinates)


@final
class _Decayed(AbstractAnswers):
    """Sums in units of 2^-64 of a step; each round loses less than one of them."""

    def __init__(self, rate: float, coordinates: int) -> None:
        self._numerator, denominator = rate.as_integer_ratio()
        self._shift = denominator.bit_length() - 1
        self._sums = [0] * coordinates

    def push(self, codes: Integers) -> Integers:
        found = np.empty_like(codes)
        half = 1 << (_BITS - 1)
        for j, own in enumerate(codes.T.tolist()):
            total, rate, shift, said = self._sums[j], self._numerator, self._shift, []
            for code in own:
                total = ((total * rate) >> shift) + (code << _BITS)
                said.append((total + half) >> _BITS)
            self._sums[j] = total
            found[:, j] = said
        return found

    def state(self) -> dict[str, Any]:
        return {"sums": [str(k) for k in self._sums]}

    def restore(self, state: dict[str, Any]) -> None:
        found = [int(k) for k in state["sums"]]
        if len(found) != len(self._sums):
            raise ValueError
        self._sums = found


@_answers.register(Decayed)
def _answers_of_decayed(workload: Decayed, coordinates: int) -> AbstractAnswers:
    return _Decayed(workload.rate, coordinates)


@answer_slack.register(Decayed)
def _answer_slack_of_decayed(workload: Decayed, reach: float) -> float:
    return 0.5 + 2.0**-_BITS * workload.longest


@final
class _Matrix(AbstractAnswers):
    def __init__(self, workload: LowerTriangular, coordinates: int) -> None:
        self._rows = workload.entries
        self._codes = np.zeros((workload.rounds, coordinates))
        self._round = 0

    def push(self, codes: Integers) -> Integers:
        found = np.empty_like(codes)
        for i, code in enumerate(codes):
            self._codes[self._round] = code
            self._round += 1
            # a row at a time, so that an answer is the same bits however rounds are batched
            own = self._rows[self._round - 1, : self._round] @ self._codes[: self._round]
            found[i] = np.rint(own).astype(np.int64)
        return found

    def state(self) -> dict[str, Any]:
        return {"codes": self._codes[: self._round].astype(np.int64)}

    def restore(self, state: dict[str, Any]) -> None:
        self._round = len(state["codes"])
        shape = (self._round, self._codes.shape[1])
        self._codes[: self._round] = _integers(state["codes"], shape)


@_answers.register(LowerTriangular)
def _answers_of_lower_triangular(workload: LowerTriangular, coordinates: int) -> AbstractAnswers:
    return _Matrix(workload, coordinates)


@answer_slack.register(LowerTriangular)
def _answer_slack_of_lower_triangular(workload: LowerTriangular, reach: float) -> float:
    n = workload.rounds
    off = 0.5 + growth(n + 2) * workload.longest * reach
    return off if math.isfinite(off) else math.inf


def _integers(values: object, shape: tuple[int, ...]) -> Integers:
    return np.array(values, dtype=np.int64).reshape(shape)
