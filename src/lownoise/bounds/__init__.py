# SPDX-License-Identifier: Apache-2.0
"""Lower bounds on error, one theorem a function: for unbiased mechanisms, for ε-DP ones."""

from lownoise.bounds.bound import HARDT_TALWAR, HENZINGER, NIKOLOV_TANG, Bound
from lownoise.bounds.means import (
    VolumeBound,
    directional_bound,
    extent_bound,
    geometric_down,
    pure_mean_bound,
    record_changes,
    volume_lower_bound,
)
from lownoise.bounds.unbiased import (
    ball_local,
    divergence_up,
    may_have_room,
    published_local,
    unbiased_add_remove,
    unbiased_local,
    unbiased_substitute,
)
from lownoise.bounds.volume import (
    Records,
    Rounding,
    averaging_bound,
    ball_log_volume,
    log_mass,
    packing_bound,
    roundings,
)
from lownoise.bounds.volumes import log_volume_down

__all__ = [
    "HARDT_TALWAR",
    "HENZINGER",
    "NIKOLOV_TANG",
    "Bound",
    "Records",
    "Rounding",
    "VolumeBound",
    "averaging_bound",
    "ball_local",
    "ball_log_volume",
    "directional_bound",
    "divergence_up",
    "extent_bound",
    "geometric_down",
    "log_mass",
    "log_volume_down",
    "may_have_room",
    "packing_bound",
    "published_local",
    "pure_mean_bound",
    "record_changes",
    "roundings",
    "unbiased_add_remove",
    "unbiased_local",
    "unbiased_substitute",
    "volume_lower_bound",
]
