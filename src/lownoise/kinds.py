# SPDX-License-Identifier: Apache-2.0
"""The one registry: what a kind is called and which fields it has, declared once, on its class.

Documents, declarations, checks and the tests' lists follow from the declaration: a family of
classes (domains, covariance factors, …) has one `Kinds`, and a class joins it by a decorator.
Reading is constructing: what makes an object from a document checks its fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import numpy as np

from lownoise.errors import FileError, told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Member = TypeVar("Member")
Class = TypeVar("Class", bound=type)
Constructor = TypeVar("Constructor", bound="Callable[..., Any]")


def as_json(value: Any) -> Any:  # noqa: ANN401
    """Return an array as nested lists, and a plain value as it is."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def as_given(value: Any) -> Any:  # noqa: ANN401
    """Return what a document holds, for what makes the object to check."""
    return value


@final
@dataclass(frozen=True)
class Field:
    """One field of a kind.

    Args:
        name: in a document, and of the argument of what makes the object.
        attribute: of the object; the same name by default.
        write: from the object's attribute to a JSON value.
        read: from a JSON value to the argument.
        optional: whether a document may leave it out; where `write` gives None it does.
    """

    name: str
    attribute: str = ""
    write: Callable[[Any], Any] = as_json
    read: Callable[[Any], Any] = as_given
    optional: bool = False


@final
@dataclass(frozen=True)
class Kind(Generic[Member]):
    """A kind of a family.

    Args:
        name: in documents.
        fields: in the order in which they are written.
        make: called with the fields by name, with the only one as it is; returns the object, every
            field checked.
    """

    name: str
    fields: tuple[Field, ...]
    make: Callable[..., Member]

    def write(self, member: Member) -> dict[str, Any]:
        """Return the fields of an object of this kind as JSON values, without those left out."""
        found = {}
        for own in self.fields:
            value = own.write(getattr(member, own.attribute or own.name))
            if not (own.optional and value is None):
                found[own.name] = value
        return found

    def read(self, fields: Mapping[str, Any]) -> Member:
        """Return the object of those fields.

        Raises:
            FileError: where a field is missing or of no meaning; and whatever `make` raises.
        """
        known = {own.name: own for own in self.fields}
        missing = [own.name for own in self.fields if not own.optional and own.name not in fields]
        if missing:
            raise FileError(f"{self.name}.{missing[0]} is missing; plan again")
        unknown = [name for name in fields if name not in known]
        if unknown:
            raise FileError(
                f"{self.name}.{unknown[0]} is unknown; this version knows {', '.join(known)}"
            )
        given = {name: known[name].read(value) for name, value in fields.items()}
        return self.make(*given.values()) if len(known) == 1 else self.make(**given)


@final
class Kinds(Generic[Member]):
    """The kinds of a family, by name.

    Args:
        family: what messages call a member, such as "domain".

    Examples:
        >>> shapes: Kinds[object] = Kinds("shape")
        >>> @shapes.kind("square", "side", declared=True)
        ... @dataclass(frozen=True)
        ... class Square:
        ...     side: float
        >>> shapes.write(Square(2.0))
        {'side': 2.0}
        >>> shapes["square"].read({"side": 3.0}), tuple(shapes.constructors)
        (Square(side=3.0), ('square',))
        >>> shapes["circle"]
        Traceback (most recent call last):
        lownoise.errors.FileError: shape='circle' is unknown; this version knows square
    """

    def __init__(self, family: str) -> None:
        self._family = family
        self._named: dict[str, Kind[Member]] = {}
        self._kinds: dict[type, Kind[Member]] = {}
        self._constructors: dict[str, Callable[..., Member]] = {}

    def kind(
        self,
        name: str,
        *fields: str | Field,
        make: Callable[..., Member] | None = None,
        declared: bool = False,
    ) -> Callable[[Class], Class]:
        """Return a decorator that gives a class its name and fields in documents.

        Args:
            name: two classes may share one, if what makes the object tells them apart.
            fields: names of attributes, or fields.
            make: what makes an object from its fields; by default the class.
            declared: whether users may write it in a specification, by the arguments of the class.
        """
        listed = tuple(Field(own) if isinstance(own, str) else own for own in fields)

        def register(cls: Class) -> Class:
            found: Kind[Member] = Kind(name, listed, make or cls)
            self._kinds[cls] = found
            self._named[name] = found
            return self.constructor(cls) if declared else cls

        return register

    def constructor(self, function: Constructor) -> Constructor:
        """Let specifications name a constructor: `KyFanBall` as "ky_fan_ball"."""
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", function.__name__).lower()
        self._constructors[name] = function
        return function

    @property
    def names(self) -> tuple[str, ...]:
        """The names in documents, in the order of declaration."""
        return tuple(self._named)

    @property
    def classes(self) -> tuple[type, ...]:
        """The classes that have a name."""
        return tuple(self._kinds)

    @property
    def constructors(self) -> dict[str, Callable[..., Member]]:
        """What specifications may name, in order."""
        return dict(sorted(self._constructors.items()))

    def of(self, member: object) -> Kind[Member]:
        """Return the kind of an object.

        Raises:
            FileError: where its class has no name in documents.
        """
        if type(member) not in self._kinds:
            raise FileError(
                f"{self._family}={type(member).__name__} cannot be written; this version writes "
                f"{', '.join(self._named)}"
            )
        return self._kinds[type(member)]

    def write(self, member: Member) -> dict[str, Any]:
        """Return an object's fields as JSON values.

        Raises:
            FileError: where its class has no name in documents.
        """
        return self.of(member).write(member)

    def __contains__(self, name: str) -> bool:
        return name in self._named

    def __getitem__(self, name: object) -> Kind[Member]:
        if not isinstance(name, str) or name not in self._named:
            raise FileError(
                f"{self._family}={told(name)} is unknown; this version knows "
                f"{', '.join(self._named)}"
            )
        return self._named[name]
