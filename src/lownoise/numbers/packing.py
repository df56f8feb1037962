# SPDX-License-Identifier: Apache-2.0
"""Arrays as JSON values: the shape, and the numbers' own bytes, compressed."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Integers, Vector

_MOST = 1 << 28  # numbers
_KINDS = {"float64": "<f8", "int64": "<i8"}
_EMPTY = ContextVar("_EMPTY", default=False)


@contextmanager
def without_contents() -> Iterator[None]:
    """Have `packed` state shapes and kinds alone: for documents whose contents nobody looks at.

    Examples:
        >>> with without_contents():
        ...     packed(np.eye(2))
        {'shape': [2, 2], 'float64': ''}
    """
    before = _EMPTY.set(True)
    try:
        yield
    finally:
        _EMPTY.reset(before)


def packed(array: Vector | Integers) -> dict[str, Any]:
    """Return an array as JSON values: its shape, and its numbers compressed.

    Args:
        array: of floats or integers of 64 bits, of any shape.

    Examples:
        >>> unpacked(packed(np.eye(2)), "matrix")
        array([[1., 0.],
               [0., 1.]])
    """
    kind = array.dtype.name
    if _EMPTY.get():
        return {"shape": list(array.shape), kind: ""}
    content = zlib.compress(np.ascontiguousarray(array, dtype=_KINDS[kind]).data, 1)
    return {"shape": list(array.shape), kind: base64.b64encode(content).decode("ascii")}


def unpacked(fields: dict[str, Any], field: str, dimensions: int = 2) -> Vector:
    """Return the finite floats of `packed`, read-only.

    Args:
        fields: what it returned.
        field: how the caller calls them, for the message.
        dimensions: how many the array has.

    Raises:
        FileError: where it is damaged, or is not as large as it says.
    """
    found: Vector = _unpacked(fields, field, dimensions, "float64").astype(np.float64)
    if not np.all(np.isfinite(found)):
        raise FileError(f"{field} has a number that is not finite")
    found.setflags(write=False)
    return found


def unpacked_integers(fields: dict[str, Any], field: str, dimensions: int = 2) -> Integers:
    """Return the integers of `packed`, read-only.

    Raises:
        FileError: as `unpacked`.
    """
    found: Integers = _unpacked(fields, field, dimensions, "int64").astype(np.int64)
    found.setflags(write=False)
    return found


def _unpacked(fields: dict[str, Any], field: str, dimensions: int, kind: str) -> NDArray[Any]:
    shape = [int(n) for n in fields["shape"]]
    size = math.prod(shape)
    # also of an array of nothing, whose rows are counted all the same
    if len(shape) != dimensions or min(shape, default=0) < 0 or max(size, *shape, 0) > _MOST:
        raise FileError(f"{field} has the shape {shape}")
    reader = zlib.decompressobj()
    try:
        content = base64.b64decode(fields[kind], validate=True)
        numbers = reader.decompress(content, 8 * size + 1)
    except (zlib.error, binascii.Error):
        raise FileError(f"{field} is damaged") from None
    if len(numbers) != 8 * size:
        raise FileError(f"{field} has not {' by '.join(str(n) for n in shape)} numbers")
    return np.frombuffer(numbers, dtype=_KINDS[kind]).reshape(shape)
