# SPDX-License-Identifier: Apache-2.0
"""How large a body is at least, seen through a linear map."""

from lownoise.bounds.volumes.projected import log_volume_down

__all__ = ["log_volume_down"]
