# SPDX-License-Identifier: Apache-2.0
"""Unit bodies as JSON values and back; one row in a table adds a kind."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError, told
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.sets.unit_balls.abstract import NormBall
from lownoise.sets.unit_balls.intersection import IntersectionBall
from lownoise.sets.unit_balls.norm import CappedBall, SortedBall
from lownoise.sets.unit_balls.parity import ParityBall, ParityDifferenceBall
from lownoise.sets.unit_balls.products import KroneckerBall, MixedBall
from lownoise.sets.unit_balls.spectral import SpectralBall

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.sets.unit_balls.abstract import AbstractUnitBall

_SMALLEST = 2.0**-250  # its square is a normal number


@singledispatch
def base_to_dict(base: object) -> dict[str, Any]:
    """Return a unit body's fields.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"base={type(base).__name__} cannot be written; plan again")


@base_to_dict.register(NormBall)
def _base_to_dict_of_norm_ball(base: NormBall) -> dict[str, Any]:
    return {"kind": "norm", "size": base.size, "order": _order_to_json(base.order)}


@base_to_dict.register(CappedBall)
def _base_to_dict_of_capped_ball(base: CappedBall) -> dict[str, Any]:
    return {"kind": "capped", "cap": base.cap.tolist(), "order": base.order}


@base_to_dict.register(IntersectionBall)
def _base_to_dict_of_intersection_ball(base: IntersectionBall) -> dict[str, Any]:
    parts = [base_to_dict(part) for part in base.parts]
    return {"kind": "meet", "parts": parts, "scales": base.scales.tolist()}


@base_to_dict.register(SortedBall)
def _base_to_dict_of_sorted_ball(base: SortedBall) -> dict[str, Any]:
    return {"kind": "sorted", "weights": base.weights.tolist()}


@base_to_dict.register(MixedBall)
def _base_to_dict_of_mixed_ball(base: MixedBall) -> dict[str, Any]:
    parts = [base_to_dict(part) for part in base.parts]
    return {"kind": "mixed", "order": _order_to_json(base.order), "parts": parts}


@base_to_dict.register(KroneckerBall)
def _base_to_dict_of_kronecker_ball(base: KroneckerBall) -> dict[str, Any]:
    return {
        "kind": "kronecker",
        "first": base_to_dict(base.first),
        "second": base_to_dict(base.second),
    }


@base_to_dict.register(SpectralBall)
def _base_to_dict_of_spectral_ball(base: SpectralBall) -> dict[str, Any]:
    gauge = base_to_dict(base.gauge)
    return {"kind": "spectral", "rows": base.rows, "columns": base.columns, "gauge": gauge}


@base_to_dict.register(ParityBall)
def _base_to_dict_of_parity_ball(base: ParityBall) -> dict[str, Any]:
    return {"kind": "parity", "size": base.size, "degrees": list(base.degrees)}


@base_to_dict.register(ParityDifferenceBall)
def _base_to_dict_of_parity_difference_ball(base: ParityDifferenceBall) -> dict[str, Any]:
    return {"kind": "parity differences", "size": base.size, "degrees": list(base.degrees)}


def base_from_dict(fields: dict[str, Any]) -> AbstractUnitBall:
    """Return the unit body of those fields.

    Raises:
        FileError: where they are damaged.
    """
    if fields["kind"] not in _KINDS:
        raise FileError(
            f"base.kind={told(fields['kind'])} is unknown; this version knows {list(_KINDS)}"
        )
    return _KINDS[fields["kind"]](fields)


def _norm(fields: dict[str, Any]) -> NormBall:
    size = fields["size"]
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise FileError(f"base.size={told(size)} is no number of coordinates")
    return NormBall(size, _order_from_json(fields["order"]))


def _capped(fields: dict[str, Any]) -> CappedBall:
    cap = vector(fields["cap"], field="base.cap", error=FileError)
    if not (cap >= _SMALLEST).all() or not (cap <= 1).all():
        raise FileError("base.cap is not made of numbers from 2^-250 to 1")
    order = float(fields.get("order", 2.0))
    if not 1 <= order < math.inf:
        raise FileError(f"base.order={told(order)} describes no ball")
    return CappedBall(cap, order)


def _meet(fields: dict[str, Any]) -> IntersectionBall:
    parts = tuple(base_from_dict(part) for part in fields["parts"])
    scales = matrix(fields["scales"], field="base.scales", error=FileError)
    sizes = {part.dimension for part in parts}
    if not all(part.unconditional for part in parts):
        raise FileError("base.parts are not unchanged by all changes of signs")
    if len(sizes) != 1 or scales.shape != (len(parts), *sizes) or not np.all(scales > 0):
        raise FileError("base.parts and base.scales do not fit; give one scale above 0 each")
    return IntersectionBall(parts, frozen(scales))


def _sorted(fields: dict[str, Any]) -> SortedBall:
    weights = vector(fields["weights"], field="base.weights", error=FileError)
    if not _SMALLEST <= weights[0] <= 1 / _SMALLEST:
        raise FileError("base.weights does not begin with a number from 2^-250 to 2^250")
    if not (weights >= 0).all() or not (weights[1:] <= weights[:-1]).all():
        raise FileError("base.weights do not fall to at least 0")
    return SortedBall(weights)


def _parity(fields: dict[str, Any]) -> ParityBall:
    size, degrees = _degrees(fields, least=0)
    return ParityBall(size, degrees)


def _parity_difference(fields: dict[str, Any]) -> ParityDifferenceBall:
    size, degrees = _degrees(fields, least=1)
    if degrees[0] % 2 or list(degrees) != sorted(degrees):
        raise FileError(f"base.degrees={degrees} do not rise, all even")
    return ParityDifferenceBall(size, degrees)


def _degrees(fields: dict[str, Any], *, least: int) -> tuple[int, tuple[int, ...]]:
    size, degrees = fields["size"], fields["degrees"]
    whole = all(isinstance(j, int) and not isinstance(j, bool) for j in (size, *degrees))
    if not whole or not degrees or not all(least <= j <= size <= _MOST_SIGNS for j in degrees):
        raise FileError(
            f"base.size={told(size)} and base.degrees={told(degrees)} describe no parities"
        )
    if len(set(degrees)) < len(degrees) or len({j % 2 for j in degrees}) > 1:
        raise FileError(f"base.degrees={told(degrees)} are not different ones, all even or all odd")
    if sum(math.comb(size, j) for j in degrees) > _MOST_SIGNS:
        raise FileError(f"base.degrees={told(degrees)} have more than 2^22 sets")
    return size, tuple(degrees)


def _mixed(fields: dict[str, Any]) -> MixedBall:
    parts = tuple(base_from_dict(part) for part in fields["parts"])
    if not parts:
        raise FileError("base.parts is empty")
    return MixedBall(parts, _order_from_json(fields["order"]))


def _kronecker(fields: dict[str, Any]) -> KroneckerBall:
    first, second = base_from_dict(fields["first"]), base_from_dict(fields["second"])
    if not (first.unconditional and second.unconditional):
        raise FileError("base.first and base.second are not unchanged by all changes of signs")
    return KroneckerBall(first, second)


def _order_to_json(order: float) -> float | str:
    return "inf" if math.isinf(order) else order


def _order_from_json(value: object) -> float:
    if value == "inf":
        return math.inf
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 1 <= value < math.inf:
        raise FileError(f"base.order={told(value)} is no norm's")
    return float(value)


def _spectral(fields: dict[str, Any]) -> SpectralBall:
    rows, columns = fields["rows"], fields["columns"]
    for size in (rows, columns):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise FileError(
                f"base.rows={told(rows)} and base.columns={told(columns)} describe no matrix"
            )
    gauge = base_from_dict(fields["gauge"])
    if gauge.dimension != min(rows, columns) or not gauge.symmetric:
        raise FileError(
            f"base.gauge is no permutation-symmetric body in {min(rows, columns)} coordinates"
        )
    return SpectralBall(rows, columns, gauge)


_MOST_SIGNS = 1 << 22
_KINDS: dict[str, Callable[[dict[str, Any]], AbstractUnitBall]] = {
    "norm": _norm,
    "parity": _parity,
    "parity differences": _parity_difference,
    "capped": _capped,
    "meet": _meet,
    "sorted": _sorted,
    "mixed": _mixed,
    "kronecker": _kronecker,
    "spectral": _spectral,
}
