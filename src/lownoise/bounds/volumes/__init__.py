# SPDX-License-Identifier: Apache-2.0
"""How large a body is at least, seen through a linear map."""

from lownoise.bounds.volumes.projected import log_volume_down, sampled_log_volume

__all__ = ["log_volume_down", "sampled_log_volume"]
