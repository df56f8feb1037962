# SPDX-License-Identifier: Apache-2.0
"""A stream that is running: values in, private answers out."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.engines import Coding
from lownoise.errors import StreamError
from lownoise.streams.answers import answers_of
from lownoise.streams.noise import noise_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.arrays import Integers, Vector
    from lownoise.certificate import Certificate
    from lownoise.entropy import Entropy
    from lownoise.release import Spend
    from lownoise.streams.answers import AbstractAnswers
    from lownoise.streams.noise import AbstractNoise
    from lownoise.streams.terms import StreamTerms
    from lownoise.terms import Cost


@final
class Stream:
    """Private answers after every round, with an error that is known beforehand.

    Made by `ln.stream`, or restored from a state. What it publishes may be looked at before the
    next value is chosen: each answer uses noise that later ones share, and all answers together
    reveal what `cost` says. It is safe to use from several threads.
    """

    def __init__(
        self,
        terms: StreamTerms,
        noise: AbstractNoise,
        spend: Spend | None = None,
    ) -> None:
        r = terms.mechanism.coding.step.size
        self._terms = terms
        self._noise = noise
        self._spend = spend
        self._answers: AbstractAnswers = answers_of(terms.workload, r)
        self._round = 0
        self._lock = threading.Lock()
        self._encoder = _encoder(terms)

    @property
    def terms(self) -> StreamTerms:
        """What is promised."""
        return self._terms

    @property
    def round(self) -> int:
        """How many rounds have been answered."""
        return self._round

    @property
    def rounds(self) -> int:
        """How many rounds there can be."""
        return self._terms.workload.rounds

    @property
    def strategy(self) -> str:
        """The factorization's name."""
        return self._terms.strategy

    @property
    def reason(self) -> str:
        """Why that one was chosen."""
        return self._terms.reason

    @property
    def error(self) -> float:
        """√ of the mean, or of the largest, over rounds of an answer's (total) variance."""
        return self._terms.error_reached

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's error is below; see `StreamTerms.lower_bound`."""
        return self._terms.lower_bound

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least error of any factorization mechanism within the budget."""
        return self._terms.certificate

    @property
    def cost(self) -> Cost:
        """What the whole stream reveals, however far it goes."""
        return self._terms.cost

    @property
    def spend(self) -> Spend | None:
        """Where it was paid, None where nothing was recorded."""
        return self._spend

    def standard_deviation(self, t: int) -> float | Vector:
        """Return the standard deviation of answer t, from 1: a number, or shape (d,).

        Raises:
            StreamError: where there is no such round.
        """
        if isinstance(t, bool) or not isinstance(t, (int, np.integer)) or not 1 <= t <= self.rounds:
            raise StreamError(f"t={t!r} is no round of the stream; give 1 to {self.rounds}")
        own = self._terms.deviations(int(t) - 1, 1)[0]
        return float(own[0]) if own.size == 1 else frozen(own)

    def standard_deviations(self, first: int = 1, count: int | None = None) -> Vector:
        """Return the standard deviation of some answers, from round `first`: shape (count, d).

        Raises:
            StreamError: where there are no such rounds.
        """
        most = self.rounds - first + 1
        count = most if count is None else count
        if not (1 <= first <= self.rounds and 1 <= count <= most):
            raise StreamError(
                f"first={first} and count={count} are no rounds of the stream; "
                f"give rounds from 1 to {self.rounds}",
            )
        return frozen(self._terms.deviations(first - 1, count))

    def update(self, value: float | ArrayLike) -> float | Vector:
        """Take the next round's value and return its private answer.

        Args:
            value: a number, or shape (d,); what is outside the domain is moved into it, and what
                is missing (NaN) counts as the domain's point nearest to 0.

        Returns:
            The answer after this round: a float in one dimension, else shape (d,).

        Raises:
            StreamError: where there is no round left, or the value is of another shape. Then no
                round has passed.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(365), budget=ln.zcdp(0.5))
            >>> answer = counts.update(1)
            >>> counts.round, isinstance(answer, float)
            (1, True)
        """
        if self._encoder is not None and isinstance(value, (int, float)):
            return self._run_one(self._encoder, value)
        d = self._terms.question.domain.dimension
        try:
            own = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            own = np.empty((0, 0))
        if own.shape != (d,) and not (d == 1 and own.shape == ()):
            raise StreamError(
                "value is no number of one round; give "
                + ("one number" if d == 1 else f"{d} numbers, one a coordinate"),
            )
        found_all = self._run(own.reshape(1, d))
        return float(found_all[0, 0]) if d == 1 else frozen(found_all[0])

    def update_many(self, values: ArrayLike) -> Vector:
        """Take the next rounds' values and return their private answers.

        Args:
            values: shape (k,) in one dimension, else (k, d).

        Returns:
            The answers, of the same shape.

        Raises:
            StreamError: as `update`; then no round has passed.
        """
        d = self._terms.question.domain.dimension
        try:
            own = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            own = np.empty(())
        flat = d == 1 and own.ndim == 1
        if not flat and (own.ndim != 2 or own.shape[1] != d):  # noqa: PLR2004
            shape = "(k,)" if d == 1 else f"(k, {d})"
            raise StreamError(f"values is no table of numbers; give shape {shape}, a row a round")
        found = self._run(own.reshape(-1, d))
        return frozen(found[:, 0].copy() if flat else found)

    def _run(self, values: Vector) -> Vector:
        with self._lock:
            self._check_room(len(values))
            codes = self._terms.mechanism.coding.encode(values)
            return self._published(codes)

    def _run_one(self, encoder: _Encoder, value: float) -> float:
        with self._lock:
            self._check_room(1)
            code = encoder.encode(_float(value))
            noisy = self._answers.push_one(code) + self._noise.take_one()
            self._round += 1
            found = noisy * encoder.step
            if encoder.center and self._terms.relation != "add_remove":
                found += encoder.center * float(
                    self._terms.workload.row_sums(self._round - 1, 1)[0]
                )
            return found

    def _check_room(self, count: int) -> None:
        if self._round + count > self.rounds:
            left = self.rounds - self._round
            raise StreamError(
                f"stream has {left:,} of its {self.rounds:,} rounds left and is given {count:,}; "
                "start another with a longer horizon, which is a release of its own",
            )

    def _published(self, codes: Integers) -> Vector:
        first, count = self._round, len(codes)
        noisy = self._answers.push(codes) + self._noise.take(count)
        self._round += count
        return self._answered(first, noisy)

    def _answered(self, first: int, noisy: Integers) -> Vector:
        """Return what integers say, in the records' unit: arithmetic on what is public."""
        question, chosen = self._terms.question, self._terms.chosen
        found = noisy * self._terms.mechanism.coding.step
        offset = question.center
        if chosen.embed is not None:
            found = found @ chosen.embed.T
            # x = start + embed·(x − start)[pivots]
            about = (question.center - chosen.start)[chosen.pivots]
            offset = chosen.start + chosen.embed @ about
        if self._terms.relation != "add_remove" and np.any(offset):
            sums = self._terms.workload.row_sums(first, len(noisy))
            found = found + sums[:, None] * offset
        return np.asarray(found)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond all floats
        return math.inf if value > 0 else -math.inf


@final
class _Encoder:
    """One number's code without arrays: `Coding.encode`, the same arithmetic."""

    def __init__(self, coding: Coding) -> None:
        ends = coding.encode(np.stack([coding.lower, coding.upper, coding.missing])).ravel()
        self._least, self._greatest, self._missing = (int(k) for k in ends)
        self.center, self.step = float(coding.center[0]), float(coding.step[0])
        self._inverse = 1 / self.step

    def encode(self, value: float) -> int:
        scaled = (value - self.center) * self._inverse + 0.5
        if scaled != scaled:  # noqa: PLR0124 (not a number)
            return self._missing
        if scaled <= self._least:
            return self._least
        return self._greatest if scaled >= self._greatest else math.floor(scaled)


def _encoder(terms: StreamTerms) -> _Encoder | None:
    coding = terms.mechanism.coding
    alone = isinstance(coding, Coding) and coding.step.size == 1
    return _Encoder(coding) if alone and isinstance(coding, Coding) else None


def start(terms: StreamTerms, *, entropy: Entropy, spend: Spend | None = None) -> Stream:
    """Draw what noise is kept and return the stream before its first round.

    Args:
        terms: what is promised.
        entropy: where the noise comes from; `SystemEntropy()` for anything that is published.
        spend: where it was paid.

    Raises:
        PlanError: where the terms reveal more than their budget.
    """
    return Stream(terms, noise_of(terms.mechanism, entropy), spend)
