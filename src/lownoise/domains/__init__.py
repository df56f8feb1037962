# SPDX-License-Identifier: Apache-2.0
"""Domains: the bounded, public sets K that hold every record."""

from lownoise.domains.abstract import AbstractDomain
from lownoise.domains.box import Box
from lownoise.domains.difference import PointsDifference, difference_body
from lownoise.domains.points import Points

__all__ = ["AbstractDomain", "Box", "Points", "PointsDifference", "difference_body"]
