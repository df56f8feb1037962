# SPDX-License-Identifier: Apache-2.0
"""Noise where a body of changes is flat and rounding is not.

A record that changes within a plane has a code that changes within a step or so of that plane, and
even a coordinate that never changes may be clamped to another last digit. So noise of the shape of
the changes is thickened a little in all directions that records have: too little to matter beside
the noise, enough to dwarf a step. How much that covers is measured afterwards, like everything.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sensitivity.factors import DenseShape, DiagonalShape

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

_THIN = 2.0**-12  # of a deviation: adds 2^-24 to its variance
_STILL = 2.0**-20  # of a coordinate's range, where it never changes
_SHOWN = 2.0**-39  # of its range, in a mean: beside that no rounding of records shows
_NOTHING = 2.0**-100  # of a unit: noise that rounds to none, where records have one value


def thickened(shape: AbstractShape, extent: Vector, size: int, parameter: float) -> AbstractShape:
    """Return a shape that is hardly wider, and has noise wherever records differ.

    Args:
        shape: covers the body of changes with radius 1; r coordinates, of any rank.
        extent: the width of the domain in each, shape (r,).
        size: n, the public number of records.
        parameter: μ; the noise will be the shape over μ.

    Raises:
        PlanError: where the kind of shape is not known.

    Examples:
        >>> flat = DenseShape([[1.0], [1.0]])
        >>> thickened(flat, np.ones(2), 100, 1.0).dense().round(6)
        array([[1., 1.],
               [1., 1.]])
        >>> thickened(DiagonalShape([1.0, 0.0]), np.array([4.0, 4.0]), 100, 1.0).rank
        2
    """
    deviations = shape.deviations()
    still = max(_STILL, parameter * size * _SHOWN) * extent
    return _thickened(shape, np.where(deviations > 0, 0.0, still))


@singledispatch
def _thickened(shape: object, floor: Vector) -> AbstractShape:
    raise PlanError(f"shape={type(shape).__name__} is of no known kind; plan again")


@_thickened.register(DiagonalShape)
def _thickened_of_diagonal_shape(shape: DiagonalShape, floor: Vector) -> AbstractShape:
    return DiagonalShape(frozen(np.maximum(shape.scale, floor)))


@_thickened.register(DenseShape)
def _thickened_of_dense_shape(shape: DenseShape, floor: Vector) -> AbstractShape:
    deviations = shape.deviations()
    regular = shape.sources == shape.dimension
    if regular and np.all(shape.spread()[0] > _THIN * deviations):
        return shape
    more = np.maximum(floor, _THIN * deviations)
    more = np.where((more > 0) | (deviations > 0), more, _NOTHING)
    return DenseShape(frozen(triangle_of(np.vstack([shape.factor.T, np.diag(more)])).T.copy()))
