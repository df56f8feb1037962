# SPDX-License-Identifier: Apache-2.0
"""Unit bodies as JSON values and back; one row in a table adds a kind."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lownoise.arrays import vector
from lownoise.bases.capped import CappedBase
from lownoise.bases.norm import NormBase
from lownoise.bases.parity import ParityBase
from lownoise.bases.parity_difference import ParityDifferenceBase
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
    return {"kind": "capped", "cap": base.cap.tolist()}


@base_to_dict.register(SortedBase)
def _(base: SortedBase) -> dict[str, Any]:
    return {"kind": "sorted", "weights": base.weights.tolist()}


@base_to_dict.register(ParityBase)
def _(base: ParityBase) -> dict[str, Any]:
    return {"kind": "parity", "size": base.size, "degrees": list(base.degrees)}


@base_to_dict.register(ParityDifferenceBase)
def _(base: ParityDifferenceBase) -> dict[str, Any]:
    return {"kind": "parity differences", "size": base.size, "degrees": list(base.degrees)}


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
    return CappedBase(cap)


def _sorted(fields: dict[str, Any]) -> SortedBase:
    weights = vector(fields["weights"], field="base.weights", error=FileError)
    if not weights[0] > 0 or not (weights >= 0).all() or not (weights[1:] <= weights[:-1]).all():
        raise FileError("base.weights do not fall from above 0 to at least 0")
    return SortedBase(weights)


def _parity(fields: dict[str, Any]) -> ParityBase:
    size, degrees = _degrees(fields, least=0)
    return ParityBase(size, degrees)


def _parity_difference(fields: dict[str, Any]) -> ParityDifferenceBase:
    size, degrees = _degrees(fields, least=1)
    if degrees[0] % 2 or list(degrees) != sorted(degrees):
        raise FileError(f"base.degrees={degrees} do not rise, all even")
    return ParityDifferenceBase(size, degrees)


def _degrees(fields: dict[str, Any], *, least: int) -> tuple[int, tuple[int, ...]]:
    size, degrees = fields["size"], fields["degrees"]
    whole = all(isinstance(j, int) and not isinstance(j, bool) for j in (size, *degrees))
    if not whole or not degrees or not all(least <= j <= size <= _MOST_SIGNS for j in degrees):
        raise FileError(f"base.size={size!r} and base.degrees={degrees!r} describe no parities")
    if len(set(degrees)) < len(degrees) or len({j % 2 for j in degrees}) > 1:
        raise FileError(f"base.degrees={degrees!r} are not different ones, all even or all odd")
    if sum(math.comb(size, j) for j in degrees) > _MOST_SIGNS:
        raise FileError(f"base.degrees={degrees!r} have more than 2^22 sets")
    return size, tuple(degrees)


def _product(fields: dict[str, Any]) -> ProductBase:
    parts = tuple(base_from_dict(part) for part in fields["parts"])
    if not parts:
        raise FileError("base.parts is empty")
    return ProductBase(parts)


_MOST_SIGNS = 1 << 22
_KINDS: dict[str, Callable[[dict[str, Any]], AbstractBase]] = {
    "norm": _norm,
    "parity": _parity,
    "parity differences": _parity_difference,
    "capped": _capped,
    "sorted": _sorted,
    "product": _product,
}
