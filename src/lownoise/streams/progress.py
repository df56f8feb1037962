# SPDX-License-Identifier: Apache-2.0
"""How far a stream is: the noise of the rounds to come, and what else they need."""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, quoted
from lownoise.numbers.packing import packed, unpacked, unpacked_integers
from lownoise.numbers.randomness import SystemRandomness
from lownoise.release import codec
from lownoise.release.codec import Spend
from lownoise.streams.codec import terms_from_dict, terms_to_dict
from lownoise.streams.mechanism import StreamMechanism
from lownoise.streams.recursive import Recursion, RecursivePair

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams.rounds import AbstractStreamMechanism

_STATE = "stream"
_AHEAD = 1 << 12  # numbers
_PACKED = {"float64": unpacked, "int64": unpacked_integers}


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """The answers of the rounds that were answered together last.

    Args:
        first: the first of these rounds, from 1.
        answers: theirs, shape (k,) in one dimension, else (k, d).
    """

    first: int
    answers: Vector

    @property
    def last(self) -> int:
        """The last of these rounds."""
        return self.first + len(self.answers) - 1


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Progress:
    """Where a stream stands between two batches.

    Args:
        round: how many rounds have been answered.
        answers: what the true answers remember; private.
        noise: what that of the rounds to come needs, as private; None where it is stored apart.
        last: the answers of the last batch, None before the first one.
    """

    round: int
    answers: dict[str, Any]
    noise: dict[str, Any] | None
    last: Batch | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        last = self.last
        return {
            "round": self.round,
            "answers": _plain(self.answers),
            "noise": None if self.noise is None else _plain(self.noise),
            "last": last and {"first": last.first, "answers": packed(last.answers)},
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any], terms: Terms) -> Progress:
        """Return the progress of those fields.

        Raises:
            FileError: where they do not fit the terms.
        """
        done, answers, noise = fields["round"], fields["answers"], fields["noise"]
        if isinstance(done, bool) or not isinstance(done, int):
            raise FileError(f"round={quoted(done)} is no whole number")
        if not 0 <= done <= terms.question.workload.rounds or not isinstance(answers, dict):
            raise FileError(f"round={done} is none of the stream's")
        return cls(
            round=done,
            answers=_from_plain(answers),
            noise=None if noise is None else _from_plain(noise),
            last=_batch(fields["last"], terms),
        )


def _batch(fields: dict[str, Any] | None, terms: Terms) -> Batch | None:
    if fields is None:
        return None
    d, first = terms.question.domain.dimension, int(fields["first"])
    answers = unpacked(fields["answers"], "last.answers", 1 if d == 1 else 2)
    if d > 1 and answers.shape[1] != d:
        raise FileError(f"last.answers has not {d} numbers a round")
    return Batch(first, answers)


def state_to_bytes(terms: Terms, spend: Spend | None, progress: Progress) -> bytes:
    """Return everything that a stream needs to go on, with a digest against accidents."""
    content = {
        "terms": terms_to_dict(terms),
        "spend": spend_to_dict(spend),
        "progress": progress.to_dict(),
    }
    return codec.dump(_STATE, content).encode("utf-8")


def state_from_bytes(
    state: bytes, domain: AbstractDomain | None = None
) -> tuple[Terms, Spend | None, Progress]:
    """Return what `state_to_bytes` wrote.

    Raises:
        FileError: where it is damaged, of another version, or no state.
    """

    def read() -> tuple[Terms, Spend | None, Progress]:
        fields = codec.load(_STATE, bytes(state).decode("utf-8"))
        if fields.get("digest") != codec.digest(fields):
            raise FileError("the state was altered; use one as `Stream.state` returned it")
        terms = terms_from_dict(fields["terms"], domain)
        return (
            terms,
            spend_from_dict(fields["spend"]),
            Progress.from_dict(fields["progress"], terms),
        )

    return codec.guarded(read)


def spend_to_dict(spend: Spend | None) -> dict[str, Any] | None:
    """Return where a stream was paid, as JSON values."""
    return spend and {"dataset": spend.dataset, "number": spend.number}


def spend_from_dict(fields: dict[str, Any] | None) -> Spend | None:
    """Return what `spend_to_dict` wrote."""
    return None if fields is None else Spend(str(fields["dataset"]), int(fields["number"]))


def text_of(value: object) -> bytes:
    """Return JSON values as bytes, the same for the same values."""
    return json.dumps(value, sort_keys=True, allow_nan=False).encode("utf-8")


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return the value with its arrays packed."""
    if isinstance(value, np.ndarray):
        return {"packed": packed(value)}
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def _from_plain(value: Any) -> Any:  # noqa: ANN401
    """Return what `_plain` took."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"packed"}:
        fields = value["packed"]
        kind = next(k for k in _PACKED if k in fields)
        return _PACKED[kind](fields, "progress", len(fields["shape"]))
    return {k: _from_plain(v) for k, v in value.items()}


class AbstractNoise(ABC):
    """Noise that is handed out once, round by round."""

    @abstractmethod
    def take(self, count: int) -> Integers:
        """Return the noise of the next `count` rounds, shape (count, r)."""

    def take_one(self) -> int:
        """Return the noise of the next round, of one coordinate."""
        return int(self.take(1)[0, 0])

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what the rounds to come need, as JSON values or arrays; `noise_from` reads it."""


@final
class KeptNoise(AbstractNoise):
    """Noise that was drawn for all rounds at once.

    Args:
        integers: shape (n, r).
        first: how many rounds have been handed out.
    """

    def __init__(self, integers: Integers, first: int = 0) -> None:
        self._integers = integers
        self._next = first

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptNoise:
        """Return the same, to go on apart; the integers never change."""
        return KeptNoise(self._integers, self._next)

    def take(self, count: int) -> Integers:
        """Return the noise of the next rounds."""
        own = self._integers[self._next : self._next + count]
        self._next += count
        return own

    def state(self) -> dict[str, Any]:
        """Return what is left of it."""
        return {"kept": self._integers[self._next :]}


@final
class RecursiveNoise(AbstractNoise):
    """Noise that is drawn as rounds come, some rounds ahead; what has been handed out is forgotten.

    Args:
        mechanism: what is published.
        randomness: where the noise comes from.
        sums: the running sums, where it goes on from a state.
        ahead: noise that was drawn and not handed out, shape (k, r).
    """

    def __init__(
        self,
        mechanism: StreamMechanism,
        randomness: Randomness,
        sums: list[list[int]] | None = None,
        ahead: Integers | None = None,
    ) -> None:
        assert isinstance(mechanism.pair, RecursivePair)  # noqa: S101 (others are kept)
        self._mechanism, self._entropy = mechanism, randomness
        r = mechanism.shape.sources
        self._recursion = Recursion(mechanism.pair, r, sums)
        self._ahead = np.zeros((0, r), dtype=np.int64) if ahead is None else ahead
        self._next = 0
        self._block = max(1, _AHEAD // r)

    def __deepcopy__(self, memo: dict[int, Any]) -> RecursiveNoise:
        """Return the same, to go on apart."""
        randomness, ahead = copy.deepcopy(self._entropy, memo), self._ahead[self._next :]
        return RecursiveNoise(self._mechanism, randomness, self._recursion.sums, ahead)

    def take(self, count: int) -> Integers:
        """Return the noise of the next rounds."""
        left = len(self._ahead) - self._next
        if count > left:
            unit = self._recursion.take(max(count - left, self._block), self._entropy)
            drawn = self._mechanism.integers(unit, self._entropy)
            self._ahead = np.concatenate([self._ahead[self._next :], drawn])
            self._next = 0
        own = self._ahead[self._next : self._next + count]
        self._next += count
        return own

    def state(self) -> dict[str, Any]:
        """Return the running sums, and what was drawn ahead."""
        sums = [[str(k) for k in own] for own in self._recursion.sums]
        return {"sums": sums, "ahead": self._ahead[self._next :]}


def noise_of(mechanism: AbstractStreamMechanism, randomness: Randomness) -> AbstractNoise:
    """Return the noise before the first round."""
    if mechanism.keeps:
        integers = mechanism.all_noise(randomness)
        integers.setflags(write=False)
        return KeptNoise(np.ascontiguousarray(integers))
    assert isinstance(mechanism, StreamMechanism)  # noqa: S101 (others keep it)
    return RecursiveNoise(mechanism, randomness)


def noise_from(
    mechanism: AbstractStreamMechanism, state: dict[str, Any], first: int
) -> AbstractNoise:
    """Return the noise whose `state` was taken after `first` rounds.

    Args:
        mechanism: the final integers and the final noise.
        state: what `AbstractNoise.state` returned.
        first: how many rounds had been answered.

    Raises:
        FileError: where there is not the noise of every round that is left.
    """
    rounds, r = mechanism.workload.rounds - first, mechanism.coding.step.size
    if mechanism.keeps:
        kept = state["kept"]
        if not _is_noise(kept, r) or len(kept) != rounds:
            raise FileError("noise is not that of the rounds that are left")
        return KeptNoise(kept)
    ahead = state["ahead"]
    if not _is_noise(ahead, r):
        raise FileError("noise that was drawn ahead is no table of integers")
    sums = [[int(k) for k in own] for own in state["sums"]]
    assert isinstance(mechanism, StreamMechanism)  # noqa: S101 (others keep it)
    return RecursiveNoise(mechanism, SystemRandomness(), sums, ahead)


def _is_noise(values: object, coordinates: int) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.int64
        and values.shape[1:] == (coordinates,)
    )
