# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import AbstractDomain
from lownoise.domains.box import Box

__all__ = ["AbstractDomain", "Box"]
