# SPDX-License-Identifier: Apache-2.0
"""Gauges: the norms of pure noise, each with its unit ball, and how far changes reach in them."""

from lownoise.gauges.abstract import AbstractGauge

__all__ = ["AbstractGauge"]
