# SPDX-License-Identifier: Apache-2.0
"""Domains, coordinates, noise shapes and evidence as JSON values, and back with every check.

One row in a table adds a kind.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import (
    CornerDual,
    ImageDual,
    JointDual,
    OracleDual,
    OrthantDual,
    PointDual,
    RotationDual,
    SectionDual,
    SquaresDual,
)
from lownoise.errors import FileError, told
from lownoise.numbers.arrays import floats, frozen, matrix, vector
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.relations import RELATIONS, Change
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain


_WIDEST = 2.0**52  # grid steps; noise of that size still fits 64 bits


def relation_to_dict(relation: Relation) -> str | dict[str, Any]:
    """Return what a neighbour is: a word, or the fields of a body of changes.

    Raises:
        FileError: where the body's kind has no form in a file.
    """
    if not isinstance(relation, Change):
        return relation
    return {"change": domain_to_dict(relation.body)}


def relation_from_dict(value: object) -> Relation:
    """Return the relation of that word, or of those fields.

    Raises:
        FileError: where it is none.
    """
    if not isinstance(value, dict):
        for word in RELATIONS:
            if value == word:
                return word
        raise FileError(
            f"relation={told(value)} is unknown; this version knows {', '.join(RELATIONS)}"
        )
    return Change(domain_from_dict(value["change"]))


def coordinates_to_dict(chosen: Coordinates) -> dict[str, Any]:
    """Return which coordinates are summed; nothing where all are."""
    if chosen.embed is None or chosen.implied:
        return {}
    return {"pivots": chosen.pivots.tolist(), "embed": chosen.embed.tolist()}


def coordinates_from_dict(fields: dict[str, Any], domain: AbstractDomain) -> Coordinates:
    """Return the coordinates of those fields.

    Raises:
        FileError: where they do not describe the domain.
    """
    if "pivots" not in fields:
        return domain.exact_coordinates()
    pivots = _whole(fields["pivots"], "noise.pivots", (1,))
    rows = [list(row) for row in fields["embed"]]
    embed = np.zeros((len(rows), 0)) if not pivots.size else table(rows, "noise.embed")
    found = Coordinates(pivots=pivots, embed=frozen(embed), start=domain.start)
    if not domain.fits(found):
        raise FileError("noise.pivots and noise.embed do not describe the domain")
    return found


@singledispatch
def shape_to_dict(shape: object) -> dict[str, Any]:
    """Return a noise shape's fields.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"noise={type(shape).__name__} cannot be written; plan again")


@shape_to_dict.register(DiagonalShape)
def _shape_to_dict_of_diagonal_shape(shape: DiagonalShape) -> dict[str, Any]:
    return {"kind": "diagonal", "scale": shape.scale.tolist()}


@shape_to_dict.register(DenseShape)
def _shape_to_dict_of_dense_shape(shape: DenseShape) -> dict[str, Any]:
    return {"kind": "dense", "factor": shape.factor.tolist()}


def shape_from_dict(fields: dict[str, Any], dimension: int) -> AbstractShape:
    """Return the noise shape of those fields, in `dimension` coordinates.

    Raises:
        FileError: where they are damaged.
    """
    expect("noise.kind", fields["kind"], tuple(_SHAPES))
    return _SHAPES[fields["kind"]](fields, dimension)


def _diagonal(fields: dict[str, Any], dimension: int) -> AbstractShape:
    scale = numbers(fields["scale"], "noise.scale", dimension)
    if np.any(scale > _WIDEST):
        raise FileError("noise.scale is beyond 2^52 grid steps")
    return DiagonalShape(scale)


def _dense(fields: dict[str, Any], dimension: int) -> AbstractShape:
    rows = fields["factor"]
    factor = table(rows, "noise.factor") if dimension else np.zeros((0, 0))
    if factor.shape != (dimension, dimension) or (not dimension and rows):
        raise FileError(f"noise.factor is not a table of {dimension} by {dimension} numbers")
    if np.any(np.abs(factor) > _WIDEST):
        raise FileError("noise.factor is beyond 2^52 grid steps")
    return DenseShape(factor)


_SHAPES: dict[str, Callable[[dict[str, Any], int], AbstractShape]] = {
    "diagonal": _diagonal,
    "dense": _dense,
}


def evidence_to_dict(dual: AbstractDual, plain: AbstractDual) -> dict[str, Any]:
    """Return the evidence for the weighted and for the plain bound."""
    return _evidence(dual, plain)


@singledispatch
def _evidence(dual: object, plain: object) -> dict[str, Any]:
    raise FileError(f"evidence={type(dual).__name__} cannot be written; plan again")


@_evidence.register(CornerDual)
def _evidence_of_corner_dual(dual: CornerDual, plain: CornerDual) -> dict[str, Any]:
    return {
        "kind": "corners",
        "query_weights": dual.query_weights.tolist(),
        "plain_query_weights": plain.query_weights.tolist(),
    }


@_evidence.register(PointDual)
def _evidence_of_point_dual(dual: PointDual, plain: PointDual) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "points"}
    for prefix, each in (("", dual), ("plain_", plain)):
        fields[f"{prefix}query_weights"] = each.query_weights.tolist()
        fields[f"{prefix}vertices"] = each.indices.tolist()
        fields[f"{prefix}vertex_weights"] = each.vertex_weights.tolist()
        fields[f"{prefix}measure"] = "product" if each.independent else "list"
    return fields


@_evidence.register(SquaresDual)
@_evidence.register(ImageDual)
def _evidence_of_squares_dual(
    dual: SquaresDual | ImageDual, plain: SquaresDual | ImageDual
) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "images"}
    for prefix, each in (("", dual), ("plain_", plain)):
        fields[f"{prefix}query_weights"] = each.query_weights.tolist()
        if isinstance(each, SquaresDual):
            fields[f"{prefix}squares"] = each.squares.tolist()
        else:
            fields[f"{prefix}points"] = each.points.tolist()
            fields[f"{prefix}vertex_weights"] = each.vertex_weights.tolist()
    return fields


@_evidence.register(OracleDual)
@_evidence.register(SectionDual)
def _evidence_of_oracle_dual(
    dual: OracleDual | SectionDual, plain: OracleDual | SectionDual
) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "found" if isinstance(dual, OracleDual) else "sections"}
    for prefix, each in (("", dual), ("plain_", plain)):
        fields[f"{prefix}query_weights"] = each.query_weights.tolist()
        fields[f"{prefix}points"] = each.points.tolist()
        fields[f"{prefix}vertex_weights"] = each.vertex_weights.tolist()
    return fields


@_evidence.register(JointDual)
def _evidence_of_joint_dual(dual: JointDual, plain: JointDual) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "joint"}
    for prefix, each in (("", dual), ("plain_", plain)):
        fields[f"{prefix}query_weights"] = each.query_weights.tolist()
        own = [_evidence(part, part) for part in each.parts]
        fields[f"{prefix}parts"] = [
            {key: part[key] for key in part if not key.startswith("plain_")} for part in own
        ]
        for part, listed in zip(each.parts, fields[f"{prefix}parts"], strict=True):
            listed["answers"] = part.query_weights.size
    return fields


@_evidence.register(RotationDual)
@_evidence.register(OrthantDual)
def _evidence_of_rotation_dual(
    dual: RotationDual | OrthantDual, plain: RotationDual | OrthantDual
) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "rotations"}
    for prefix, each in (("", dual), ("plain_", plain)):
        fields[f"{prefix}query_weights"] = each.query_weights.tolist()
        fields[f"{prefix}masses"] = each.weights.tolist()
        if isinstance(each, RotationDual):
            fields[f"{prefix}alone"] = each.alone
            fields[f"{prefix}cosines"] = each.angles.tolist()
    return fields


def evidence_from_dict(fields: dict[str, Any], answers: int) -> tuple[AbstractDual, AbstractDual]:
    """Return the evidence of those fields, for `answers` answers.

    Raises:
        FileError: where they are damaged.
    """
    expect("evidence.kind", fields["kind"], tuple(_EVIDENCE))
    if "witness" in fields:  # room for what proves the bound in fractions: see decision 0024
        rows = table(fields["witness"], "evidence.witness")
        if rows.shape[0] != rows.shape[1]:
            raise FileError("evidence.witness is not a square table of numbers")
    read = _EVIDENCE[fields["kind"]]
    return read(fields, "", answers), read(fields, "plain_", answers)


def _corners(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    name = f"{prefix}query_weights"
    return CornerDual(numbers(fields[name], f"evidence.{name}", answers))


def _vertices(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    measure = fields[f"{prefix}measure"]
    expect(f"evidence.{prefix}measure", measure, ("list", "product"))
    indices = _whole(fields[f"{prefix}vertices"], f"evidence.{prefix}vertices", (1, 2))
    return PointDual(
        indices,
        numbers(fields[f"{prefix}vertex_weights"], f"{prefix}vertex_weights", len(indices)),
        numbers(fields[f"{prefix}query_weights"], f"{prefix}query_weights", answers),
        independent=measure == "product",
    )


def _images(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    queries = numbers(fields[f"{prefix}query_weights"], f"{prefix}query_weights", answers)
    if f"{prefix}squares" in fields:
        squares = fields[f"{prefix}squares"]
        return SquaresDual(numbers(squares, f"evidence.{prefix}squares", len(squares)), queries)
    points = table(fields[f"{prefix}points"], f"evidence.{prefix}points")
    weights = fields[f"{prefix}vertex_weights"]
    return ImageDual(points, numbers(weights, f"{prefix}vertex_weights", len(points)), queries)


def _found(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    name = f"evidence.{prefix}points"
    given = fields[f"{prefix}points"]
    shape = np.shape(given)
    flat = table(np.reshape(floats(given), (-1, shape[-1])), name)
    weights = fields[f"{prefix}vertex_weights"]
    return OracleDual(
        frozen(flat.reshape(shape)),
        numbers(weights, f"{prefix}vertex_weights", len(given)),
        numbers(fields[f"{prefix}query_weights"], f"{prefix}query_weights", answers),
    )


def _sections(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    queries = numbers(fields[f"{prefix}query_weights"], f"{prefix}query_weights", answers)
    points = table(fields[f"{prefix}points"], f"evidence.{prefix}points")
    weights = fields[f"{prefix}vertex_weights"]
    return SectionDual(points, numbers(weights, f"{prefix}vertex_weights", len(points)), queries)


def _joint(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    parts = []
    for own in fields[f"{prefix}parts"]:
        expect("evidence.parts.kind", own["kind"], tuple(_EVIDENCE))
        parts.append(_EVIDENCE[own["kind"]](own, "", int(own["answers"])))
    name = f"{prefix}query_weights"
    return JointDual(tuple(parts), numbers(fields[name], f"evidence.{name}", answers))


def _rotations(fields: dict[str, Any], prefix: str, answers: int) -> AbstractDual:
    queries = numbers(fields[f"{prefix}query_weights"], f"{prefix}query_weights", answers)
    masses = fields[f"{prefix}masses"]
    weights = numbers(masses, f"evidence.{prefix}masses", len(masses))
    if f"{prefix}cosines" not in fields:
        return OrthantDual(weights, queries)
    alone = numbers([fields[f"{prefix}alone"]], f"evidence.{prefix}alone", 1)
    given = fields[f"{prefix}cosines"]
    name = f"evidence.{prefix}cosines"
    cosines = vector(given, field=name, error=FileError) if given else frozen(np.zeros(0))
    return RotationDual(float(alone[0]), weights, cosines, queries)


_EVIDENCE: dict[str, Callable[[dict[str, Any], str, int], AbstractDual]] = {
    "corners": _corners,
    "found": _found,
    "images": _images,
    "joint": _joint,
    "points": _vertices,
    "rotations": _rotations,
    "sections": _sections,
}


def numbers(values: Any, field: str, size: int) -> Vector:  # noqa: ANN401
    """Return `size` numbers of at least 0.

    Raises:
        FileError: where they are not.
    """
    if size == 0 and values == []:
        return frozen(np.zeros(0))
    found = vector(values, field=field, error=FileError)
    if found.size != size or np.any(found < 0):
        raise FileError(f"{field} is not {size} numbers of at least 0")
    return found


def table(values: Any, field: str) -> Vector:  # noqa: ANN401
    """Return a table of finite numbers.

    Raises:
        FileError: where it is none.
    """
    return matrix(values, field=field, error=FileError)


def _whole(values: Any, field: str, dimensions: tuple[int, ...]) -> Integers:  # noqa: ANN401
    found = np.array(values)
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    # a number beyond 64 bits is an object or unsigned here
    if not np.issubdtype(found.dtype, np.signedinteger) or found.ndim not in dimensions:
        raise FileError(f"{field} is not made of whole numbers")
    return found.astype(np.int64)


def expect(field: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a value that is not known.

    Raises:
        FileError: where `value` is not one of `known`.
    """
    if value not in known:
        raise FileError(f"{field}={told(value)} is unknown; this version knows {', '.join(known)}")
