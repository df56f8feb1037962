# SPDX-License-Identifier: Apache-2.0
"""The exact answers of a stream, round by round, from the records' integer codes.

Each kind of workload remembers what it needs and no more. Where an answer is no integer it is
rounded to one, and the workload's `slack` says how far off it can be: the noise covers that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

BITS = 64  # of a decayed sum, below one step


class AbstractAnswers(ABC):
    """The running exact answers; private, as the records are."""

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


@final
class PrefixAnswers(AbstractAnswers):
    """Running sums: one total a coordinate."""

    def __init__(self, coordinates: int) -> None:
        self._total = np.zeros(coordinates, dtype=np.int64)

    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers."""
        found = np.cumsum(codes, axis=0)
        found += self._total
        if len(found):
            self._total = found[-1].copy()
        return found

    def push_one(self, code: int) -> int:
        """Take the code of the next round and return its answer."""
        total = int(self._total[0]) + code
        self._total[0] = total
        return total

    def state(self) -> dict[str, Any]:
        """Return what is remembered."""
        return {"total": self._total.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        self._total[:] = _integers(state["total"], self._total.shape)


@final
class WindowAnswers(AbstractAnswers):
    """Sums over the last rounds, whose codes are kept."""

    def __init__(self, width: int, coordinates: int) -> None:
        self._last = np.zeros((width, coordinates), dtype=np.int64)  # the oldest first
        self._total = np.zeros(coordinates, dtype=np.int64)

    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers."""
        width = len(self._last)
        known = np.concatenate([self._last, codes])
        found = np.cumsum(codes - known[: len(codes)], axis=0) + self._total
        if len(found):
            self._total = found[-1].copy()
            self._last = known[-width:].copy()
        return found

    def state(self) -> dict[str, Any]:
        """Return what is remembered."""
        return {"last": self._last.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        self._last[:] = _integers(state["last"], self._last.shape)
        self._total = self._last.sum(axis=0)


@final
class DecayedAnswers(AbstractAnswers):
    """Sums in units of 2^-64 of a step; each round loses less than one of them."""

    def __init__(self, rate: float, coordinates: int) -> None:
        self._numerator, denominator = rate.as_integer_ratio()
        self._shift = denominator.bit_length() - 1
        self._sums = [0] * coordinates

    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers."""
        found = np.empty_like(codes)
        half = 1 << (BITS - 1)
        for j, own in enumerate(codes.T.tolist()):
            total, rate, shift, said = self._sums[j], self._numerator, self._shift, []
            for code in own:
                total = ((total * rate) >> shift) + (code << BITS)
                said.append((total + half) >> BITS)
            self._sums[j] = total
            found[:, j] = said
        return found

    def state(self) -> dict[str, Any]:
        """Return what is remembered."""
        return {"sums": [str(k) for k in self._sums]}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        found = [int(k) for k in state["sums"]]
        if len(found) != len(self._sums):
            raise ValueError
        self._sums = found


@final
class MomentumAnswers(AbstractAnswers):
    """Running sums of sums that forget, in units of 2^-64 of a step."""

    def __init__(self, rate: float, coordinates: int) -> None:
        self._numerator, denominator = rate.as_integer_ratio()
        self._shift = denominator.bit_length() - 1
        self._sums = [[0, 0] for _ in range(coordinates)]  # v, and the sum of all v

    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers."""
        found = np.empty_like(codes)
        half = 1 << (BITS - 1)
        for j, own in enumerate(codes.T.tolist()):
            (last, total), said = self._sums[j], []
            for code in own:
                last = ((last * self._numerator) >> self._shift) + (code << BITS)
                total += last
                said.append((total + half) >> BITS)
            self._sums[j] = [last, total]
            found[:, j] = said
        return found

    def state(self) -> dict[str, Any]:
        """Return what is remembered."""
        return {"sums": [[str(k) for k in own] for own in self._sums]}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        found = [[int(k) for k in own] for own in state["sums"]]
        if len(found) != len(self._sums) or any(len(own) != 2 for own in found):  # noqa: PLR2004
            raise ValueError
        self._sums = found


@final
class MatrixAnswers(AbstractAnswers):
    """Rows of a matrix times all codes so far."""

    def __init__(self, rows: Vector, coordinates: int) -> None:
        self._rows = rows
        self._codes = np.zeros((len(rows), coordinates))
        self._round = 0

    def push(self, codes: Integers) -> Integers:
        """Take the codes of the next rounds and return their answers."""
        found = np.empty_like(codes)
        for i, code in enumerate(codes):
            self._codes[self._round] = code
            self._round += 1
            # a row at a time, so that an answer is the same bits however rounds are batched
            own = self._rows[self._round - 1, : self._round] @ self._codes[: self._round]
            found[i] = np.rint(own).astype(np.int64)
        return found

    def state(self) -> dict[str, Any]:
        """Return what is remembered."""
        return {"codes": self._codes[: self._round].astype(np.int64)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        self._round = len(state["codes"])
        shape = (self._round, self._codes.shape[1])
        self._codes[: self._round] = _integers(state["codes"], shape)


def _integers(values: object, shape: tuple[int, ...]) -> Integers:
    return np.array(values, dtype=np.int64).reshape(shape)
