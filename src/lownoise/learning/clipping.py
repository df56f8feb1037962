# SPDX-License-Identifier: Apache-2.0
"""A record's gradient moved into a ball, on a grid so coarse that sums of a batch are exact.

Let u be a power of two. Each coordinate is truncated toward 0 to a multiple of u, so no vector gets
longer; and a sum of B vectors of length at most κ stays below 2^53·u in each coordinate, so floats
add them without rounding, in any order. So the sums of a batch with and without a record differ by
exactly that record's vector, whose length is at most κ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.errors import EngineError
from lownoise.numbers.rounding import POWER, growth, shrunk

if TYPE_CHECKING:
    from lownoise.learning.losses import AbstractLoss
    from lownoise.numbers.arrays import Vector

_FINE_BITS = 30  # log2 of clip in units
_SUM_BITS = 52  # of a sum in units: floats have 53


def unit_of_clip(clip: float, batch: int, least: float = 0.0) -> float:
    """Return u, a power of two near clip·2^-30, coarser where a batch needs the room.

    Args:
        clip: κ.
        batch: how many vectors are summed at most.
        least: u is at least this power of two, or 0.

    Examples:
        >>> unit_of_clip(1.0, 100) == 2.0**-30, unit_of_clip(1.0, 1 << 24) == 2.0**-28
        (True, True)
    """
    _, exponent = math.frexp(clip)  # clip < 2^exponent
    bits = min(_FINE_BITS, _SUM_BITS - max(batch - 1, 0).bit_length())
    return max(math.ldexp(1.0, exponent - 1 - bits), least)


def clipped(gradients: Vector, clip: float, unit: float) -> Vector:
    """Return gradients in the ball of radius `clip`, in multiples of `unit`, shape (B, d).

    What is in the ball stays where it is but for the truncation; a row with a number that is not
    finite becomes 0. Each row is a function of itself alone.

    Args:
        gradients: shape (B, d).
        clip: κ > 0.
        unit: a power of two.

    Examples:
        >>> clipped(np.array([[3.0, 4.0], [0.25, 0.0], [np.nan, 1.0]]), 1.0, 2.0**-4)
        array([[0.5625, 0.75  ],
               [0.25  , 0.    ],
               [0.    , 0.    ]])
    """
    with np.errstate(all="ignore"):
        finite = np.all(np.isfinite(gradients), axis=1)
        rows = np.where(np.asarray(finite)[:, None], gradients, 0.0)
        top = np.max(np.abs(rows), axis=1)
        parts = rows / np.where(top > 0, top, 1.0)[:, None]  # each at most 1
        # at least the length of a row in units of its largest number; underflow is beside 1
        length = np.sqrt(np.einsum("ij,ij->i", parts, parts)) * (1 + growth(rows.shape[1] + 8))
        inside = np.asarray(top * length <= clip)
        scale = shrunk(clip, POWER) / np.maximum(length, 1.0)
        kept = np.where(inside[:, None], rows, parts * scale[:, None])
        return np.asarray(np.trunc(kept / unit) * unit)


def clipped_sum(
    loss: AbstractLoss, model: Vector, X: Vector, y: Vector, clip: float, unit: float
) -> Vector:
    """Return the exact sum of the clipped gradients of a batch, shape (d,).

    Args:
        loss: whose gradients.
        model: θ, shape (d,).
        X: features, shape (B, k).
        y: targets, shape (B,).
        clip: κ.
        unit: a power of two, with room for so many records.

    Raises:
        EngineError: where the gradient function raises, or returns another shape. The text says
            nothing of the records.
    """
    shape = (len(X), model.size)
    own = None
    try:
        with quiet():
            # a copy: the model that is published is not the function's to write to
            found = np.asarray(loss.gradients(model.copy(), X, y))
            own = found.astype(np.float64) if found.dtype.kind in "iuf" else None
    except Exception:  # noqa: BLE001, S110 (its text may quote a record, and whether it fails is one)
        pass
    if own is None or own.shape != shape:  # one text, whatever it was
        raise EngineError(
            f"loss={loss.name} has no gradients of a batch; return {shape[1]} floats a record, "
            "shape (records, coordinates), whatever the records are; the round has not been "
            "answered"
        )
    return np.asarray(clipped(own, clip, unit).sum(axis=0))
