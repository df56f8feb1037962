# SPDX-License-Identifier: Apache-2.0
"""Relations, coordinates, noise and evidence as JSON values, and back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import EVIDENCE
from lownoise.errors import FileError, quoted
from lownoise.kinds import KIND, table, whole_numbers
from lownoise.noise.abstract import NOISES
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.partial import PartialNoise
from lownoise.numbers.arrays import frozen, vector
from lownoise.sensitivity.factors import SHAPES
from lownoise.sensitivity.relations import RELATIONS, Change
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.noise.abstract import AbstractNoise
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import CheckedRelation, Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain


_PLAIN = "plain_"  # evidence for weights of one
_WITNESS = "witness"  # what proves the bound in whole numbers: see decision 0030


def relation_to_dict(relation: Relation) -> str | dict[str, Any]:
    """Return what a neighbour is: a word, or the fields of a body of changes.

    Raises:
        FileError: where the body's kind has no form in a file.
    """
    if not isinstance(relation, Change):
        return str(relation)  # the word alone
    return {"change": domain_to_dict(relation.body)}


def relation_from_dict(value: object) -> CheckedRelation:
    """Return the relation of that word, or of those fields.

    Raises:
        FileError: where it is none.
    """
    if not isinstance(value, dict):
        for word in RELATIONS:
            if value == word:
                return word
        raise FileError(
            f"relation={quoted(value)} is unknown; this version knows {', '.join(RELATIONS)}"
        )
    return Change(domain_from_dict(value["change"]))


def coordinates_from_dict(fields: dict[str, Any], domain: AbstractDomain) -> Coordinates:
    """Return the coordinates of those fields.

    Raises:
        FileError: where they do not describe the domain.
    """
    if "pivots" not in fields:
        return domain.exact_coordinates()
    pivots = whole_numbers(fields["pivots"], "noise.pivots", (1,))
    rows = [list(row) for row in fields["embed"]]
    embed = np.zeros((len(rows), 0)) if not pivots.size else table(rows, "noise.embed")
    found = Coordinates(pivots=pivots, embed=frozen(embed), start=domain.start)
    if not domain.fits(found):
        raise FileError("noise.pivots and noise.embed do not describe the domain")
    return found


def shape_from_dict(fields: dict[str, Any], dimension: int) -> AbstractShape:
    """Return the noise shape that stands among those fields, in `dimension` coordinates.

    Raises:
        FileError: where it is damaged, or has other coordinates.
    """
    found = SHAPES.read(fields, among=True)
    if found.dimension != dimension:
        raise FileError(f"noise has {found.dimension} coordinates, and {dimension} are summed")
    return found


def evidence_to_dict(dual: AbstractDual, plain: AbstractDual | None = None) -> dict[str, Any]:
    """Return the evidence for the weighted bound, and that for the plain one where it is given."""
    beside = {} if plain is None else EVIDENCE.write(plain)
    also = {f"{_PLAIN}{name}": own for name, own in beside.items() if name != KIND}
    return {**EVIDENCE.write(dual), **also}


def evidence_from_dict(
    fields: dict[str, Any], answers: int, *, twice: bool = False
) -> tuple[AbstractDual, AbstractDual | None]:
    """Return the evidence of those fields for `answers` answers, and where `twice` the plain one.

    Raises:
        FileError: where they are damaged.
    """
    witness_from_dict(fields)
    own = {name: value for name, value in fields.items() if name != _WITNESS}
    beside = {name: own.pop(name) for name in list(own) if name.startswith(_PLAIN)}
    plain = {KIND: fields[KIND], **{name.removeprefix(_PLAIN): v for name, v in beside.items()}}
    if beside and not twice:
        raise FileError(f"evidence.{next(iter(beside))} is for evidence of means; leave it out")
    found = EVIDENCE.read(own)
    second = EVIDENCE.read(plain) if twice else None
    for dual in (found, second or found):
        if dual.query_weights.size != answers:
            raise FileError(f"evidence.query_weights is not {answers} numbers of at least 0")
    return found, second


def witness_to_dict(found: Vector | None) -> dict[str, Any]:
    """Return the field of a witness, its diagonal where nothing is beside it; none for None."""
    if found is None:
        return {}
    alone = np.diag(found)
    return {_WITNESS: (found if np.any(found - np.diag(alone)) else alone).tolist()}


def witness_from_dict(fields: dict[str, Any]) -> Vector | None:
    """Return the witness among the fields of evidence, shape (d, d); None where there is none.

    Raises:
        FileError: where it is neither a square table of numbers nor a row of them, its diagonal.
    """
    if _WITNESS not in fields:
        return None
    given, name = fields[_WITNESS], f"evidence.{_WITNESS}"
    if isinstance(given, list) and not any(isinstance(row, list) for row in given):
        return np.diag(vector(given, field=name, error=FileError))
    rows = table(given, name)
    if rows.shape[0] != rows.shape[1]:
        raise FileError(f"{name} is not a square table of numbers")
    return rows


def added_to_dict(name: str, noise: AbstractNoise) -> dict[str, Any]:
    """Return the noise of a mechanism of this name, as JSON values."""
    if isinstance(noise, PartialNoise):
        own = {} if noise.inner is None else added_to_dict(name, noise.inner)
        return {"kept": noise.kept.tolist(), **own}
    return (
        SHAPES.write(noise.shape) if isinstance(noise, GaussianNoise) else NOISES[name].write(noise)
    )


def added_from_dict(
    fields: dict[str, Any], name: str, changes: AbstractBody, length: int, distance: float = 0.0
) -> AbstractNoise:
    """Return the noise that `added_to_dict` described.

    Args:
        fields: what it wrote.
        name: of the mechanism.
        changes: of the integers that have the noise.
        length: how many these are.
        distance: how far in total variation its points may be from uniform.

    Raises:
        FileError: where the fields do not fit.
    """
    kind = NOISES[name]

    def made(own: AbstractBody) -> AbstractNoise:
        return kind.read(kind.own(fields), "noise", own, distance)

    if fields.get("kept") is None:
        return made(changes)
    return _partial(fields["kept"], changes, length, made)


def _partial(
    given: list[Any],
    changes: AbstractBody,
    length: int,
    made: Callable[[AbstractBody], AbstractNoise],
) -> PartialNoise:
    if any(type(place) is not int for place in given):
        raise FileError("noise.kept are not whole numbers")
    kept = np.array(given, dtype=np.int64).reshape(-1)
    if kept.size and not (kept[0] >= 0 and kept[-1] < length and np.all(np.diff(kept) > 0)):
        raise FileError("noise.kept are not places of integers that rise")
    inner = made(changes.mapped(np.eye(length)[kept])) if kept.size else None
    return PartialNoise(inner, kept, length)
