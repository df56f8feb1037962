# SPDX-License-Identifier: Apache-2.0
"""Lower bounds on error, one theorem a function: for unbiased mechanisms, for ε-DP ones."""

from lownoise.bounds.directions import directional_bound, geometric_down
from lownoise.bounds.means import extent_bound, pure_mean_bound
from lownoise.bounds.pure import VolumeBound, volume_lower_bound
from lownoise.bounds.room import may_have_room
from lownoise.bounds.volume import (
    Records,
    Rounding,
    averaging_bound,
    ball_log_volume,
    log_mass,
    packing_bound,
    roundings,
)
from lownoise.bounds.volumes import log_volume_down, sampled_log_volume
from lownoise.bounds.zcdp import unbiased_add_remove, unbiased_change, unbiased_substitute

__all__ = [
    "Records",
    "Rounding",
    "VolumeBound",
    "averaging_bound",
    "ball_log_volume",
    "directional_bound",
    "extent_bound",
    "geometric_down",
    "log_mass",
    "log_volume_down",
    "may_have_room",
    "packing_bound",
    "pure_mean_bound",
    "roundings",
    "sampled_log_volume",
    "unbiased_add_remove",
    "unbiased_change",
    "unbiased_substitute",
    "volume_lower_bound",
]
