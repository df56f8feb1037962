# SPDX-License-Identifier: Apache-2.0
"""What makes integers of a record on a device, and answers of what reports estimate.

Privacy does not rest on it: whatever integers it makes are ones that the randomizer takes. Answers
are unbiased for the record that it encodes, which is the user's own within the domain, but for
rounding to the grid of `randomizer.FULL`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lownoise.kinds import Kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.local_model.randomizer import AbstractRandomizer, Takes
    from lownoise.numbers.arrays import Integers, Vector


class AbstractEncoder(ABC):
    """From records to integers, and from estimates to answers."""

    makes: ClassVar[Takes]
    columns: tuple[str, ...]  # the names of a record's values, in their order

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number r of coordinates, or of labels."""

    @property
    @abstractmethod
    def length(self) -> int:
        """The number m of answers."""

    @abstractmethod
    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return the integers of records, shape (n, r), or (n, 1) of labels.

        A value that is no number, missing or not finite counts as the public stand-in.

        Args:
            records: n of them: an array of shape (n, d), or a sequence of what `randomize` takes.

        Raises:
            TableError: where a record is of another shape than the plan's; nothing of its values is
                said.
        """

    @abstractmethod
    def decode(self, mean: Vector) -> Vector:
        """Return the answers, shape (m,), of estimated coordinates or shares, shape (r,)."""

    @property
    @abstractmethod
    def answers(self) -> Vector:
        """The matrix from estimates to answers, shape (m, r), or its diagonal, shape (r,)."""

    @abstractmethod
    def apart(self, question: Any) -> float:  # noqa: ANN401 (whatever was asked)
        """Return how far answers of records can be from a question's, in parts of its ranges.

        Rounding to the grid aside it is 0 where the encoder is the question's, and infinite where
        it is another's: the sets of records are compared by their extreme points.
        """

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """The least and the greatest that each answer can be, both of shape (m,), or beyond."""
        A = self.answers
        if self.makes == "label":  # shares of the columns of A, or of its diagonal
            ends = (A, np.zeros_like(A)) if A.ndim == 1 else (A.min(axis=1), A.max(axis=1))
            return np.minimum(*ends), np.maximum(*ends)
        far = np.abs(A) if A.ndim == 1 else np.abs(A).sum(axis=1)
        middle = self.decode(np.zeros(self.dimension))
        return middle - far, middle + far

    def fitted(
        self, kind: type[AbstractRandomizer], epsilon: float, delta: float
    ) -> AbstractRandomizer:
        """Return the randomizer of a kind, which takes what this makes, of the least error.

        Raises:
            PlanError: where there is none, and why.
        """
        return kind.fitted(self.dimension, epsilon, delta)

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What each answer is called, m of them."""


ENCODERS: Kinds[AbstractEncoder] = Kinds("encoder")
