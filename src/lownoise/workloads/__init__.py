# SPDX-License-Identifier: Apache-2.0
"""Workloads: what is asked of a table."""

from lownoise.workloads.attributes import Attribute
from lownoise.workloads.marginals import Marginals
from lownoise.workloads.mean import Mean

__all__ = ["Attribute", "Marginals", "Mean"]
