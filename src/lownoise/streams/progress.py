# SPDX-License-Identifier: Apache-2.0
"""How far a stream is: what the rounds to come need, beside its terms and its kept noise."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, told
from lownoise.numbers.packing import packed, unpacked, unpacked_integers
from lownoise.release import codec
from lownoise.release.codec import Spend
from lownoise.streams.codec import terms_from_dict, terms_to_dict

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

_STATE = "stream"
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
            raise FileError(f"round={told(done)} is no whole number")
        if not 0 <= done <= terms.question.workload.rounds or not isinstance(answers, dict):
            raise FileError(f"round={done} is none of the stream's")
        return cls(
            round=done,
            answers=_whole(answers),
            noise=None if noise is None else _whole(noise),
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


def _whole(value: Any) -> Any:  # noqa: ANN401
    """Return what `_plain` took."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"packed"}:
        fields = value["packed"]
        kind = next(k for k in _PACKED if k in fields)
        return _PACKED[kind](fields, "progress", len(fields["shape"]))
    return {k: _whole(v) for k, v in value.items()}
