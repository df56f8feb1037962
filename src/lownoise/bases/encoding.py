# SPDX-License-Identifier: Apache-2.0
"""Unit bodies as JSON values and back; one row in a table adds a kind."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.arrays import frozen, matrix, vector
from lownoise.bases.capped import CappedBase
from lownoise.bases.meet import MeetBase
from lownoise.bases.norm import NormBase
from lownoise.bases.product import ProductBase
from lownoise.bases.sorted_norm import SortedBase
from lownoise.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.bases.abstract import AbstractBase


@singledispatch
def base_to_dict(base: object) -> dict[str, Any]:
    """Return a unit body's fields.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"base={type(base).__name__} cannot be written; plan again")


@base_to_dict.register(NormBase)
def _(base: NormBase) -> dict[str, Any]:
    order = "inf" if math.isinf(base.order) else base.order
    return {"kind": "norm", "size": base.size, "order": order}


@base_to_dict.register(CappedBase)
def _(base: CappedBase) -> dict[str, Any]:
    return {"kind": "capped", "cap": base.cap.tolist(), "order": base.order}


@base_to_dict.register(MeetBase)
def _(base: MeetBase) -> dict[str, Any]:
    parts = [base_to_dict(part) for part in base.parts]
    return {"kind": "meet", "parts": parts, "scales": base.scales.tolist()}


@base_to_dict.register(SortedBase)
def _(base: SortedBase) -> dict[str, Any]:
    return {"kind": "sorted", "weights": base.weights.tolist()}


@base_to_dict.register(ProductBase)
def _(base: ProductBase) -> dict[str, Any]:
    return {"kind": "product", "parts": [base_to_dict(part) for part in base.parts]}


def base_from_dict(fields: dict[str, Any]) -> AbstractBase:
    """Return the unit body of those fields.

    Raises:
        FileError: where they are damaged.
    """
    if fields["kind"] not in _KINDS:
        raise FileError(
            f"base.kind={fields['kind']!r} is unknown; this version knows {list(_KINDS)}"
        )
    return _KINDS[fields["kind"]](fields)


def _norm(fields: dict[str, Any]) -> NormBase:
    size, order = fields["size"], fields["order"]
    order = math.inf if order == "inf" else float(order)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1 or not order >= 1:
        raise FileError(f"base.size={size!r} and base.order={order!r} describe no ball")
    return NormBase(size, order)


def _capped(fields: dict[str, Any]) -> CappedBase:
    cap = vector(fields["cap"], field="base.cap", error=FileError)
    if not (cap > 0).all() or not (cap <= 1).all():
        raise FileError("base.cap is not made of numbers above 0, at most 1")
    order = float(fields.get("order", 2.0))
    if not 1 <= order < math.inf:
        raise FileError(f"base.order={order!r} describes no ball")
    return CappedBase(cap, order)


def _meet(fields: dict[str, Any]) -> MeetBase:
    parts = tuple(base_from_dict(part) for part in fields["parts"])
    scales = matrix(fields["scales"], field="base.scales", error=FileError)
    sizes = {part.dimension for part in parts}
    if len(sizes) != 1 or scales.shape != (len(parts), *sizes) or not np.all(scales > 0):
        raise FileError("base.parts and base.scales do not fit; give one scale above 0 each")
    return MeetBase(parts, frozen(scales))


def _sorted(fields: dict[str, Any]) -> SortedBase:
    weights = vector(fields["weights"], field="base.weights", error=FileError)
    if not weights[0] > 0 or not (weights >= 0).all() or not (weights[1:] <= weights[:-1]).all():
        raise FileError("base.weights do not fall from above 0 to at least 0")
    return SortedBase(weights)


def _product(fields: dict[str, Any]) -> ProductBase:
    parts = tuple(base_from_dict(part) for part in fields["parts"])
    if not parts:
        raise FileError("base.parts is empty")
    return ProductBase(parts)


_KINDS: dict[str, Callable[[dict[str, Any]], AbstractBase]] = {
    "norm": _norm,
    "capped": _capped,
    "meet": _meet,
    "sorted": _sorted,
    "product": _product,
}
