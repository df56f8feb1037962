# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals of a stream's answers: each alone, or all so far at once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import StreamError
from lownoise.numbers.arrays import frozen
from lownoise.release.readable import Guaranteed

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.streams.progress import Batch
    from lownoise.streams.view import StreamView


class Banded(Guaranteed):
    """What answers round by round, and keeps the answers of its last batch."""

    _view: StreamView

    @property
    @abstractmethod
    def round(self) -> int:
        """How many rounds have been answered."""

    @property
    @abstractmethod
    def last(self) -> Batch | None:
        """The answers of the last batch and its first round; None before the first round."""

    def standard_deviations(self, first: int = 1, count: int | None = None) -> Vector:
        """Return the standard deviation of some answers, from round `first`: shape (count, d).

        Args:
            first: the first of the rounds, from 1.
            count: how many; by default all that are left.

        Raises:
            StreamError: where there are no such rounds, or more than can be shown at once.
        """
        return self._view.standard_deviations(first, count)

    def half_widths(
        self,
        first: int = 1,
        count: int | None = None,
        *,
        level: float = 0.95,
        together: int | None = None,
    ) -> Vector:
        """Return half-widths of the intervals of some answers, which are known in advance.

        Args:
            first: the first of the rounds, from 1.
            count: the number of rounds; by default all remaining ones, up to `together` if given.
            level: the probability, over the noise, with which an interval covers the answer
                without noise.
            together: by default each interval covers by itself. With a number of rounds, the
                intervals of all answers up to that round cover together.

        Returns:
            Shape (count, d). Intervals that cover together use the dependence of the noise, by
            draws with a public seed, as far as the rounds can be drawn and the draws suffice for
            the level. Beyond, they use a bound for any dependence, which is wider.

        Raises:
            PlanError: if `level` is not between 0 and 1.
            StreamError: if there are no such rounds, or some are after round `together`.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(16), budget=ln.zcdp(0.5))
            >>> alone = counts.half_widths()
            >>> (alone / counts.standard_deviations()).round(4).max()
            np.float64(1.96)
            >>> bool((counts.half_widths(together=16) > alone).all())
            True
        """
        return self._view.ranges(first, count, level=level, together=together)

    def interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each answer of the last batch: lower, upper.

        Each covers the answer without noise, for clipped values, with probability `level`.

        Returns:
            Shape (k, 2) in one dimension, (k, d, 2) otherwise.

        Raises:
            PlanError: where `level` is not between 0 and 1.
            StreamError: where no round has been answered.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(365), budget=ln.zcdp(0.5))
            >>> answers = counts.update_many([1, 0, 1])
            >>> counts.interval().shape
            (3, 2)
        """
        return self._around(level, None)

    def simultaneous_interval(self, level: float = 0.95) -> Vector:
        """Return intervals for the last batch that cover together with those of all answers so far.

        With probability `level`, the intervals of all answers up to the last round cover. For
        earlier batches use `half_widths(…, together=stream.round)` about their answers.

        Returns:
            As `interval`.

        Raises:
            PlanError, StreamError: as `interval`.

        Examples:
            >>> import lownoise as ln
            >>> counts = ln.stream(ln.Prefix(16), budget=ln.zcdp(0.5))
            >>> answers = counts.update_many([1, 0, 1])
            >>> together, each = counts.simultaneous_interval(), counts.interval()
            >>> bool((together[:, 0] < each[:, 0]).all() and (together[:, 1] > each[:, 1]).all())
            True
        """
        return self._around(level, self.round)

    def _around(self, level: float, together: int | None) -> Vector:
        last = self.last
        if last is None:
            raise StreamError("stream has no answers yet; update it, or ask for its half_widths")
        own = last.answers.reshape(len(last.answers), -1)
        wide = self._view.ranges(last.first, len(own), level=level, together=together)
        found = np.stack([own - wide, own + wide], axis=-1)
        return frozen(found[:, 0] if last.answers.ndim == 1 else found)
