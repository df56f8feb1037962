# SPDX-License-Identifier: Apache-2.0
"""Domains as JSON values, in the form of version 0.1: each kind's fields under its name.

A kind of one field writes its value there, and a box its bounds without a name.
"""

from __future__ import annotations

from typing import Any, cast

from lownoise.errors import FileError
from lownoise.kinds import Form
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain

_PROGRAM = "program"
_UNNAMED = "box"
_BOUNDS = ("lower", "upper")
_PROGRAMS = ("oracle", "product", "hull", "mapped")  # what can name a program


def domain_to_dict(domain: AbstractDomain) -> dict[str, Any]:
    """Return a domain's fields.

    Raises:
        FileError: where its kind has no form in a file.
    """
    kind = DOMAINS.of(domain)
    fields = kind.write(domain)
    if kind.name == _UNNAMED:
        return fields
    return {kind.name: next(iter(fields.values())) if len(kind.fields) == 1 else fields}


def read_domain(fields: dict[str, Any]) -> AbstractDomain:
    """Return the domain of those fields; other fields, as of the question, are not looked at.

    Raises:
        FileError: where they are of no known kind, or lack a field.
    """
    if isinstance(fields.get(_PROGRAM), AbstractDomain):  # no document holds one
        return cast("AbstractDomain", fields[_PROGRAM])
    for name in DOMAINS.names:
        if name in fields:
            kind = DOMAINS[name]
            own = fields[name]
            alone = {kind.fields[0].name: own}
            return kind.read(alone if len(kind.fields) == 1 else own, name)
    if not any(name in fields for name in _BOUNDS):
        known = ", ".join(DOMAINS.names)
        raise FileError(f"domain is of no known kind; this version knows {known}")
    bounds = {name: fields[name] for name in _BOUNDS if name in fields}
    return DOMAINS[_UNNAMED].read(bounds, _UNNAMED)


MEMBER = Form(domain_to_dict, lambda fields, _: read_domain(fields))
SEVERAL = Form(
    lambda parts: [domain_to_dict(part) for part in parts],
    lambda items, _: [read_domain(fields) for fields in items],
)


def _named(fields: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the first oracle that the fields of a domain name."""
    if isinstance(fields, dict):
        if isinstance(fields.get("oracle"), dict):
            return dict(fields["oracle"])
        fields = list(fields.values())
    if not isinstance(fields, list) or not any(isinstance(f, (dict, list)) for f in fields):
        return None
    return next((own for own in map(_named, fields) if own is not None), None)


def of_program(fields: dict[str, Any]) -> bool:
    """Return whether the domain of a question's fields is a program, which no file holds."""
    return _named({key: fields[key] for key in _PROGRAMS if key in fields}) is not None


def expect_oracle(fields: dict[str, Any], given: AbstractDomain | None) -> None:
    """Refuse to read on without the program that a document names, or with one too many.

    Args:
        fields: of the question.
        given: what the reader has, or None.

    Raises:
        FileError: where the domain is an oracle and `given` is not that one, or the other way.
    """
    own = {key: fields[key] for key in _PROGRAMS if key in fields}
    named = _named(own)
    if named is None:
        if given is not None:
            raise FileError(
                f"domain={type(given).__name__} is given and the file holds its own; leave it out",
            )
        return
    if not isinstance(given, AbstractDomain) or not given.oracles:
        raise FileError(
            f"question.oracle={named.get('name')!r} is a program, which no file holds; give the "
            "domain that was planned with as domain=…",
        )
    encoded = domain_to_dict(given)
    if encoded == own:
        return
    other = _named(encoded)
    if "oracle" not in own or "oracle" not in encoded or other is None:
        raise FileError(
            f"domain={type(given).__name__} is not the file's, which holds the oracle "
            f"{named.get('name')!r}; give the one that was planned with",
        )
    wrong = [key for key in other if other[key] != named.get(key)]
    raise FileError(
        f"domain={other['name']!r} is not the file's oracle {named.get('name')!r}: its "
        f"{', '.join(wrong)} differ; give the one that was planned with",
    )


def domain_from_dict(fields: dict[str, Any], given: AbstractDomain | None = None) -> AbstractDomain:
    """Return the domain of those fields, or `given` where they only name it.

    Raises:
        FileError: as `expect_oracle`, and where they describe a domain that no release is made of.
    """
    return read_domain(with_program(fields, given))


def with_program(fields: dict[str, Any], given: AbstractDomain | None) -> dict[str, Any]:
    """Return the fields of a question with the domain itself where they only name it.

    Raises:
        FileError: as `expect_oracle`.
    """
    expect_oracle(fields, given)
    if given is None:
        return fields
    rest = {name: value for name, value in fields.items() if name not in _PROGRAMS}
    return {**rest, _PROGRAM: given}
