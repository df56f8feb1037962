# SPDX-License-Identifier: Apache-2.0
"""The randomizers on which the laws of all run: one row a member, each small enough to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.local_model.randomizer import AbstractRandomizer

MEMBERS: dict[str, Callable[[], AbstractRandomizer]] = {}
