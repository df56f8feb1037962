# SPDX-License-Identifier: Apache-2.0
"""Noise shapes: covariances kept as factors, never as more numbers than they have."""

from lownoise.shapes.abstract import AbstractShape
from lownoise.shapes.dense import DenseShape, row_lengths
from lownoise.shapes.diagonal import DiagonalShape
from lownoise.shapes.selected import SelectedShape

__all__ = ["AbstractShape", "DenseShape", "DiagonalShape", "SelectedShape", "row_lengths"]
