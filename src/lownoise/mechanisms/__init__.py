# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: exact totals become a private answer."""

from lownoise.mechanisms.gaussian import GaussianMechanism, gaussian_mechanism

__all__ = ["GaussianMechanism", "gaussian_mechanism"]
