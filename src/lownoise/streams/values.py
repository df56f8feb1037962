# SPDX-License-Identifier: Apache-2.0
"""What callers give as values of rounds, as floats: a value is never refused for what it holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import StreamError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.arrays import Vector


def floats(values: ArrayLike) -> Vector:
    """Return the values as floats of the same shape.

    What spells no number, and what is masked, is missing (NaN); a whole number beyond all floats is
    infinite. Only the kind of array can be refused.

    Args:
        values: anything that numpy makes an array of.

    Raises:
        StreamError: where rows have different lengths, or numbers are complex.

    Examples:
        >>> floats([1, None, "x", "2.5", 10**400])
        array([1. , nan, nan, 2.5, inf])
    """
    try:
        array = np.asanyarray(values)
    except ValueError:  # rows of different lengths
        raise StreamError("values is no table; give rows of one length") from None
    if array.dtype.kind == "c":
        raise StreamError("values are complex; give real numbers")
    masked = array.mask if isinstance(array, np.ma.MaskedArray) else None
    plain = np.asarray(array.data if isinstance(array, np.ma.MaskedArray) else array)
    if plain.dtype.kind in "biuf":
        found = plain.astype(np.float64)
    else:
        found = np.array([_float(x) for x in plain.ravel().tolist()], dtype=np.float64)
        found = found.reshape(plain.shape)
    if masked is not None:
        found[masked] = np.nan
    return found


def _float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except Exception:  # noqa: BLE001 (whatever a value does when it is asked for its number)
        return math.nan
