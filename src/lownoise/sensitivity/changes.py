# SPDX-License-Identifier: Apache-2.0
"""What a neighbour can change, and that with rounding around it: types."""

from __future__ import annotations

from lownoise.sets.bodies import AbstractBody

Body = AbstractBody
Reach = AbstractBody
