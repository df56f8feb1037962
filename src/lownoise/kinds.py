# SPDX-License-Identifier: Apache-2.0
"""The one registry: what a kind is called and which fields it has, declared once, on its class.

Documents, declarations, checks and the tests' lists follow from the declaration: a family of
classes (domains, unit balls, covariance factors, evidence, …) has one `Kinds`, and a class joins it
by a decorator. A family of ours is complete where its package is read, because the package's
`__init__` names its members; a class from outside joins when it is made. Reading is constructing:
a `Form` says what a field's value may be, and what makes the object checks that they fit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import numpy as np

from lownoise.errors import FileError, quoted
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lownoise.numbers.arrays import Integers, Vector

Member = TypeVar("Member")
Class = TypeVar("Class", bound=type)
Constructor = TypeVar("Constructor", bound="Callable[..., Any]")
KIND = "kind"


def as_json(value: Any) -> Any:  # noqa: ANN401
    """Return an array or a tuple as (nested) lists, and a plain value as it is."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def as_given(value: Any, _: str) -> Any:  # noqa: ANN401
    """Return what a document holds, for what makes the object to check."""
    return value


@final
@dataclass(frozen=True)
class Form:
    """How a value stands in documents.

    Args:
        write: from the value to a JSON value.
        read: from a JSON value, and how a message calls it, to the value; raises `FileError`.
    """

    write: Callable[[Any], Any] = as_json
    read: Callable[[Any, str], Any] = as_given


def numbers(values: Any, field: str, size: int | None = None) -> Vector:  # noqa: ANN401
    """Return numbers of at least 0, as many as `size` where that is given.

    Raises:
        FileError: where they are not.
    """
    if isinstance(values, list) and not values and not size:
        return frozen(np.zeros(0))
    found = vector(values, field=field, error=FileError)
    if np.any(found < 0) or (size is not None and found.size != size):
        many = "made of" if size is None else size
        raise FileError(f"{field} is not {many} numbers of at least 0")
    return found


def positive(value: Any, field: str) -> float:  # noqa: ANN401
    """Return one number above 0.

    Raises:
        FileError: where it is none.
    """
    if not isinstance(value, float) or not 0 < value < math.inf:
        raise FileError(f"{field} is no number above 0")
    return value


def table(values: Any, field: str) -> Vector:  # noqa: ANN401
    """Return a table of finite numbers.

    Raises:
        FileError: where it is none.
    """
    return matrix(values, field=field, error=FileError)


def whole_numbers(values: Any, field: str, dimensions: tuple[int, ...] = (1, 2)) -> Integers:  # noqa: ANN401
    """Return whole numbers, in a row or a table; in a row where there is none.

    Raises:
        FileError: where they are not.
    """
    found = np.array(values)
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    # a number beyond 64 bits is an object or unsigned here
    if not np.issubdtype(found.dtype, np.signedinteger) or found.ndim not in dimensions:
        raise FileError(f"{field} is not made of whole numbers")
    return found.astype(np.int64)


def expect(field: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not known.

    Raises:
        FileError: where `value` is not one of `choices`.
    """
    if value not in choices:
        raise FileError(
            f"{field}={quoted(value)} is unknown; this version knows {', '.join(choices)}"
        )


def _count(value: Any, field: str) -> int:  # noqa: ANN401
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise FileError(f"{field}={quoted(value)} is no whole number of at least 1")
    return value


def _order_to_json(order: float) -> float | str:
    return "inf" if math.isinf(order) else order


def _order(value: Any, field: str) -> float:  # noqa: ANN401
    if value == "inf":
        return math.inf
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 1 <= value < math.inf:
        raise FileError(f"{field}={quoted(value)} is no norm's")
    return float(value)


def _vector(values: Any, field: str) -> Vector:  # noqa: ANN401
    return vector(values, field=field, error=FileError)


GIVEN = Form()  # checked by what makes the object
COUNT = Form(read=_count)
ORDER = Form(_order_to_json, _order)
VECTOR = Form(read=_vector)
NONNEGATIVE = Form(read=numbers)
POSITIVE = Form(read=positive)
TABLE = Form(read=table)
WHOLES = Form(read=whole_numbers)
PACKED = Form(packed, unpacked)
PACKED_ROW = Form(packed, lambda value, field: unpacked(value, field, 1))


@final
@dataclass(frozen=True)
class Field:
    """One field of a kind.

    Args:
        name: in a document.
        form: how its value stands there.
        attribute: of the object, or what makes its value of the object; the same name by default.
        optional: whether a document may leave it out; where its value is None it does.
        inlined: whether its value is an object whose own fields stand among those of the kind:
            reading, it gets all that are no other field's.
    """

    name: str
    form: Form = GIVEN
    attribute: str | Callable[[Any], Any] = ""
    optional: bool = False
    inlined: bool = False

    @property
    def argument(self) -> str:
        """What the class calls it."""
        return self.attribute if isinstance(self.attribute, str) and self.attribute else self.name

    def value(self, member: object) -> Any:  # noqa: ANN401
        """Return its JSON value; None where a document leaves it out."""
        own = self.attribute
        found = own(member) if callable(own) else getattr(member, own or self.name)
        return None if self.optional and found is None else self.form.write(found)


@final
@dataclass(frozen=True)
class Kind(Generic[Member]):
    """A kind of a family.

    Args:
        name: in documents.
        fields: in the order in which they are written.
        make: called with what the reader has, and the fields by name, with the only one as it is;
            returns the object, every field checked.
        attributes: whether the fields are called by the names of the object's attributes there.
        of: the class.
    """

    name: str
    fields: tuple[Field, ...]
    make: Callable[..., Member]
    attributes: bool
    of: type[Member]

    def own(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of some fields that are of this kind."""
        known = {each.name for each in self.fields}
        return {name: value for name, value in fields.items() if name in known}

    @property
    def required(self) -> set[str]:
        """The names of the fields that a document must have."""
        return {own.name for own in self.fields if not (own.optional or own.inlined)}

    def write(self, member: Member) -> dict[str, Any]:
        """Return the fields of an object of this kind as JSON values, without those left out."""
        found: dict[str, Any] = {}
        for own in self.fields:
            value = own.value(member)
            if own.inlined:
                found.update(value)
            elif not (own.optional and value is None):
                found[own.name] = value
        return found

    def read(self, fields: Mapping[str, Any], place: str, *given: Any) -> Member:  # noqa: ANN401
        """Return the object of those fields.

        Args:
            fields: what `write` returned.
            place: what messages call the object.
            given: what the reader has beside them, for what makes it.

        Raises:
            FileError: where a field is missing or of no meaning; and whatever `make` raises.
        """
        known = {own.name: own for own in self.fields if not own.inlined}
        for name in known:
            if name in self.required and name not in fields:
                raise FileError(f"{place}.{name} is missing; plan again")
        rest = {name: value for name, value in fields.items() if name not in known}
        found = {
            name: own.form.read(fields[name], f"{place}.{name}")
            for name, own in known.items()
            if name in fields
        }
        for own in self.fields:
            if own.inlined:
                found[own.name], rest = own.form.read(rest, place), {}
        for name in rest:
            raise FileError(f"{place}.{name} is unknown; this version knows {', '.join(known)}")
        if len(self.fields) == 1:
            return self.make(*given, *found.values())
        if self.attributes:
            called = {own.name: own.argument for own in self.fields}
            found = {called[name]: value for name, value in found.items()}
        return self.make(*given, **found)


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
        {'kind': 'square', 'side': 2.0}
        >>> shapes.read({"kind": "square", "side": 3.0}), tuple(shapes.constructors)
        (Square(side=3.0), ('square',))
        >>> shapes.read({"kind": "circle"})
        Traceback (most recent call last):
        lownoise.errors.FileError: shape.kind='circle' is unknown; this version knows square
    """

    def __init__(self, family: str) -> None:
        self.family = family
        self._named: dict[str, list[Kind[Member]]] = {}
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
            name: two classes may share one, if their fields or what makes the object tell them
                apart.
            fields: names of attributes, or fields.
            make: what makes an object from its fields; by default the class, from its attributes.
            declared: whether users may write it in a specification, by the arguments of the class.

        Raises:
            FileError: where a name and the fields that must be there are those of a kind from
                another package: what reads a file would take one for the other.
        """
        own_fields = tuple(Field(own) if isinstance(own, str) else own for own in fields)

        def register(cls: Class) -> Class:
            found: Kind[Member] = Kind(name, own_fields, make or cls, make is None, cls)
            others = self._named.get(name, [])
            apart = [own for own in others if own.required != found.required]
            for own in others:
                taken = _package(own.of)
                if own not in apart and taken != _package(cls):
                    raise FileError(
                        f"{self.family}.{KIND}={quoted(name)} is a kind of {taken} already, with "
                        "the same fields; give it another name"
                    )
            self._kinds[cls] = found
            self._named[name] = [*apart, found]
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

    @property
    def member(self) -> Form:
        """How a member stands in a document of another."""
        return Form(self.write, lambda fields, _: self.read(fields))

    @property
    def several(self) -> Form:
        """How members stand there in a list."""
        return Form(
            lambda members: [self.write(own) for own in members],
            lambda items, _: tuple(self.read(fields) for fields in items),
        )

    def of(self, member: object) -> Kind[Member]:
        """Return the kind of an object.

        Raises:
            FileError: where its class has no name in documents.
        """
        if type(member) not in self._kinds:
            raise FileError(
                f"{self.family}={type(member).__name__} cannot be written; this version writes "
                f"{', '.join(self._named)}"
            )
        return self._kinds[type(member)]

    def write(self, member: Member) -> dict[str, Any]:
        """Return an object's kind and fields as JSON values.

        Raises:
            FileError: where its class has no name in documents.
        """
        kind = self.of(member)
        return {KIND: kind.name, **kind.write(member)}

    def read(self, fields: Mapping[str, Any], *given: Any, among: bool = False) -> Member:  # noqa: ANN401
        """Return the object that `write` described, made anew.

        Args:
            fields: what it returned.
            given: what the reader has beside them, for what makes it.
            among: whether other fields may stand among them, which are left alone.

        Raises:
            FileError: where the kind is unknown, or a field is missing or of no meaning; and
                whatever refuses the fields.
        """
        expect(f"{self.family}.{KIND}", fields[KIND], self.names)
        own = {name: value for name, value in fields.items() if name != KIND}
        kinds = self._named[fields[KIND]]
        fitting = [one for one in kinds if one.required <= own.keys()]
        kind = max(fitting or kinds, key=lambda one: len(one.required))
        return kind.read(kind.own(own) if among else own, self.family, *given)

    def __contains__(self, name: str) -> bool:
        return name in self._named

    def __getitem__(self, name: str) -> Kind[Member]:
        return self._named[name][-1]


def _package(cls: type) -> str:
    """Return the package that a class is of."""
    return cls.__module__.partition(".")[0]


Row = TypeVar("Row")


def row_of(rows: Mapping[type, Row], member: object) -> Row | None:
    """Return the row of an object's class, or of the nearest class that it is of; None for none.

    A table by class, where a wall keeps what it holds from being a method.

    Examples:
        >>> row_of({int: "a whole number", object: "anything"}, True)
        'a whole number'
    """
    found = (rows[cls] for cls in type(member).__mro__ if cls in rows)
    return next(found, None)


def resolved(part: Any) -> Any:  # noqa: ANN401 (whatever a class names)
    """Return what a class names: an object, or what stands at "room.module:name" of this package.

    Where a wall keeps a room from being imported by what names it.

    Examples:
        >>> resolved("kinds:row_of") is row_of, resolved(row_of) is row_of
        (True, True)
    """
    if not isinstance(part, str):
        return part
    module, _, name = part.partition(":")
    return getattr(import_module(f"lownoise.{module}"), name)
