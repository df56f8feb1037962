# SPDX-License-Identifier: Apache-2.0
"""One number's code without arrays: a round of a stream in microseconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines import Coding
from lownoise.engines.cells import number

if TYPE_CHECKING:
    from lownoise.engines import AbstractCoding


@final
class Encoder:
    """One number's code: `Coding.encode`, the same arithmetic.

    Args:
        coding: of one column.
    """

    def __init__(self, coding: Coding) -> None:
        ends = coding.encode(np.stack([coding.lower, coding.upper, coding.missing])).ravel()
        self._least, self._greatest, self._missing = (int(k) for k in ends)
        self.center, self.step = float(coding.center[0]), float(coding.step[0])
        self._inverse = 1 / self.step

    def encode(self, value: float) -> int:
        """Return the code of a number."""
        scaled = (number(value) - self.center) * self._inverse + 0.5
        if scaled != scaled:  # noqa: PLR0124 (not a number)
            return self._missing
        if scaled <= self._least:
            return self._least
        return self._greatest if scaled >= self._greatest else math.floor(scaled)


def encoder_of(coding: AbstractCoding) -> Encoder | None:
    """Return the encoder of a coding, None where it is not of one number."""
    alone = isinstance(coding, Coding) and coding.step.size == 1
    return Encoder(coding) if alone and isinstance(coding, Coding) else None
