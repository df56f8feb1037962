# SPDX-License-Identifier: Apache-2.0
"""A range about zero for each coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False)
class SymmetricBox:
    """The body {s : |sᵢ| ≤ half_widthᵢ}; `half_width` has shape (d,) and is not negative."""

    half_width: Vector

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,)."""
        return self.half_width

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.half_width.size
