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
        """Return the half widths of confidence intervals of some estimates, known beforehand.

        Args:
            first: the first of the rounds, from 1.
            count: how many; by default all that are left, of those together.
            level: the chance with which each covers the answer without noise; that is of the
                noise, and no statement about how values came about.
            together: by default that is of each answer alone; with a number of rounds, of all
                answers up to that round at once.

        Returns:
            Shape (count, d). The noise of rounds is dependent, and that is made use of: by draws
            with a public seed, of as many rounds as can be drawn and up to the levels that so many
            draws tell of; beyond, by what holds for numbers however dependent, which is wider.

        Raises:
            PlanError: where `level` is not between 0 and 1.
            StreamError: where there are no such rounds, or some are behind those together.

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

        Each alone covers the answer without noise, of values after clipping, with chance `level`.

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
        """Return intervals for the answers of the last batch that hold with all so far.

        With chance `level`, each answer up to the last round is within such an interval: those of
        earlier batches are `half_widths(…, together=stream.round)` about them.

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
