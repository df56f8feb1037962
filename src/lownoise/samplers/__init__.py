# SPDX-License-Identifier: Apache-2.0
"""Samplers: noise drawn before anything is known of the data."""

from lownoise.samplers.finite import drawn
from lownoise.samplers.rounded_gaussian import prepare, rounded_gaussian

__all__ = ["drawn", "prepare", "rounded_gaussian"]
