# SPDX-License-Identifier: Apache-2.0
"""Noise shapes: covariances kept as factors, never as more numbers than they have."""

from lownoise.sensitivity.factors.abstract import SHAPES, AbstractShape, check_width
from lownoise.sensitivity.factors.block import BlockShape
from lownoise.sensitivity.factors.dense import DenseShape, row_lengths
from lownoise.sensitivity.factors.independent import DiagonalShape, SelectedShape

__all__ = [
    "SHAPES",
    "AbstractShape",
    "BlockShape",
    "DenseShape",
    "DiagonalShape",
    "SelectedShape",
    "check_width",
    "row_lengths",
]
