# SPDX-License-Identifier: Apache-2.0
"""Uniform points of convex bodies, by the bits drawn so far."""

from lownoise.samplers.uniform.abstract import AbstractUniform

__all__ = ["AbstractUniform"]
