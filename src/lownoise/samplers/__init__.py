# SPDX-License-Identifier: Apache-2.0
"""Samplers: noise drawn before anything is known of the data."""

from lownoise.samplers.gaussian import rounded_gaussian
from lownoise.samplers.lazy import drawn

__all__ = ["drawn", "rounded_gaussian"]
