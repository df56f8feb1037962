# SPDX-License-Identifier: Apache-2.0
"""Nearly uniform points of convex bodies, by random walks whose mixing is proved."""

from lownoise.samplers.walks.body import RoundBody
from lownoise.samplers.walks.in_and_out import InAndOut
from lownoise.samplers.walks.membership import AbstractMembership, Meet, Normed, Preimage
from lownoise.samplers.walks.spanned import Spanned
from lownoise.samplers.walks.walk import steps_needed, walk
from lownoise.samplers.walks.within import Within

__all__ = [
    "AbstractMembership",
    "InAndOut",
    "Meet",
    "Normed",
    "Preimage",
    "RoundBody",
    "Spanned",
    "Within",
    "steps_needed",
    "walk",
]
