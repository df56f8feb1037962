# SPDX-License-Identifier: Apache-2.0
"""Lower bounds that hold for every unbiased mechanism, one theorem a function."""

from lownoise.bounds.room import may_have_room
from lownoise.bounds.zcdp import unbiased_add_remove, unbiased_change, unbiased_substitute

__all__ = ["may_have_room", "unbiased_add_remove", "unbiased_change", "unbiased_substitute"]
