# SPDX-License-Identifier: Apache-2.0
"""Domains as JSON values, and back with every check; one row adds a kind."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lownoise.errors import FileError
from lownoise.sets.domains.abstract import AbstractClampedDomain, AbstractKnownDomain
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import (
    Hull,
    Mapped,
    Product,
    checked_hull,
    checked_mapped,
    checked_product,
)
from lownoise.sets.domains.image import Image, checked_image
from lownoise.sets.domains.intersection import Intersection, checked_intersection
from lownoise.sets.domains.oracle import Oracle
from lownoise.sets.domains.points import Points
from lownoise.sets.domains.polytope import Polytope
from lownoise.sets.domains.tensor import CubePower, TensorPower
from lownoise.sets.domains.tensor_ball import BallPower
from lownoise.sets.unit_balls import base_from_dict, base_to_dict

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = ("oracle", "product", "hull", "mapped")  # what can name a program


@singledispatch
def domain_to_dict(domain: object) -> dict[str, Any]:
    """Return a domain's fields.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"domain={type(domain).__name__} cannot be written; use ln.Box or ln.Points")


@domain_to_dict.register(Box)
def _(domain: Box) -> dict[str, Any]:
    return {"lower": domain.lower.tolist(), "upper": domain.upper.tolist()}


@domain_to_dict.register(Points)
def _(domain: Points) -> dict[str, Any]:
    return {"points": domain.points.tolist()}


@domain_to_dict.register(Polytope)
def _(domain: Polytope) -> dict[str, Any]:
    return {"vertices": domain.points.tolist()}


@domain_to_dict.register(Image)
def _(domain: Image) -> dict[str, Any]:
    return {
        "image": {
            "factor": domain.factor.tolist(),
            "base": base_to_dict(domain.base),
            "shift": domain.shift.tolist(),
        },
    }


@domain_to_dict.register(CubePower)
def _(domain: CubePower) -> dict[str, Any]:
    return {
        "tensor": {"dimension": domain.size, "power": domain.power, "radius": domain.radius},
    }


@domain_to_dict.register(BallPower)
def _(domain: BallPower) -> dict[str, Any]:
    own = {"dimension": domain.size, "power": domain.power, "radius": domain.radius}
    return {"tensor": {**own, "of": "ball"}}


@domain_to_dict.register(Oracle)
def _(domain: Oracle) -> dict[str, Any]:
    # a program has no form in a file: its name and what else is public of it
    return {
        "oracle": {
            "name": domain.name,
            "center": domain.center.tolist(),
            "reach": domain.reach.tolist(),
            "rounding": domain.rounding.tolist(),
        },
    }


@domain_to_dict.register(Intersection)
def _(domain: Intersection) -> dict[str, Any]:
    section = domain.section
    return {
        "intersection": {
            "rows": section.rows.tolist(),
            "offsets": section.offsets.tolist(),
            "base": base_to_dict(section.base),
            "center": domain.middle.tolist(),
        },
    }


@domain_to_dict.register(Product)
def _(domain: Product) -> dict[str, Any]:
    return {"product": [domain_to_dict(part) for part in domain.parts]}


@domain_to_dict.register(Hull)
def _(domain: Hull) -> dict[str, Any]:
    return {"hull": [domain_to_dict(part) for part in domain.parts]}


@domain_to_dict.register(Mapped)
def _(domain: Mapped) -> dict[str, Any]:
    return {
        "mapped": {
            "factor": domain.factor.tolist(),
            "domain": domain_to_dict(domain.domain),
            "shift": domain.shift.tolist(),
        },
    }


def oracle_of(domain: object) -> AbstractKnownDomain | None:
    """Return the domain where a file holds a name only of it, or of one of its parts."""
    if not isinstance(domain, AbstractKnownDomain):
        return None
    return domain if _named(domain_to_dict(domain)) is not None else None


def _named(fields: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the first oracle that the fields of a domain name."""
    if isinstance(fields, dict):
        if isinstance(fields.get("oracle"), dict):
            return dict(fields["oracle"])
        fields = list(fields.values())
    if not isinstance(fields, list) or not any(isinstance(f, (dict, list)) for f in fields):
        return None
    return next((own for own in map(_named, fields) if own is not None), None)


def expect_oracle(fields: dict[str, Any], given: object) -> None:
    """Refuse to read on without the program that a document names, or with one too many.

    Args:
        fields: of the question.
        given: what the reader has, or None.

    Raises:
        FileError: where the domain is an oracle and `given` is not that one, or the other way.
    """
    own = {key: fields[key] for key in _KINDS if key in fields}
    named = _named(own)
    if named is None:
        if given is not None:
            raise FileError(
                f"domain={type(given).__name__} is given and the file holds its own; leave it out",
            )
        return
    if not isinstance(given, AbstractKnownDomain):
        raise FileError(
            f"question.oracle={named.get('name')!r} is a program, which no file holds; give the "
            "domain that was planned with as domain=…",
        )
    told = domain_to_dict(given)
    if told == own:
        return
    other = _named(told)
    if "oracle" not in own or "oracle" not in told or other is None:
        raise FileError(
            f"domain={type(given).__name__} is not the file's, which holds the oracle "
            f"{named.get('name')!r}; give the one that was planned with",
        )
    wrong = [key for key in other if other[key] != named.get(key)]
    raise FileError(
        f"domain={other['name']!r} is not the file's oracle {named.get('name')!r}: its "
        f"{', '.join(wrong)} differ; give the one that was planned with",
    )


def domain_from_dict(
    fields: dict[str, Any], given: AbstractKnownDomain | None = None
) -> AbstractClampedDomain | BallPower | Box | CubePower | Points:
    """Return the domain of those fields, or `given` where they only name it.

    Raises:
        FileError: as `expect_oracle`, and where they describe a domain that no release is made of.
    """
    expect_oracle(fields, given)
    return given if given is not None else _read(fields)


def _read(fields: dict[str, Any]) -> AbstractClampedDomain | BallPower | Box | CubePower | Points:
    for kind, read in _READERS.items():
        if kind in fields:
            return read(fields[kind])
    return Box(fields["lower"], fields["upper"])


def _tensor(own: dict[str, Any]) -> BallPower | CubePower:
    found = TensorPower(own["dimension"], own["power"], own.get("of", "cube"), own["radius"])
    if not isinstance(found, (BallPower, CubePower)):
        raise FileError(f"question.tensor={own!r} is no tensor power, but a list or a box")
    return found


def _intersection(own: dict[str, Any]) -> Intersection:
    base = base_from_dict(own["base"])
    return checked_intersection(own["rows"], own["offsets"], base, own["center"])


def _polytope(own: Any) -> Polytope:  # noqa: ANN401
    return Polytope(Points(own).points)


_READERS: dict[str, Callable[[Any], AbstractClampedDomain | BallPower | CubePower | Points]] = {
    "product": lambda own: checked_product([_read(part) for part in own]),
    "hull": lambda own: checked_hull([_read(part) for part in own]),
    "mapped": lambda own: checked_mapped(own["factor"], _read(own["domain"]), own["shift"]),
    "tensor": _tensor,
    "image": lambda own: checked_image(own["factor"], base_from_dict(own["base"]), own["shift"]),
    "intersection": _intersection,
    "points": Points,
    "vertices": _polytope,
}
