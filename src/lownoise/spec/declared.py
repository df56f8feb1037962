# SPDX-License-Identifier: Apache-2.0
"""Domains as plain values, such as a TOML file holds: a kind, and the fields of its constructor.

The kinds are the constructors that `DOMAINS` lists, their names in lower case with underscores, and
of questions from outside those that `QUESTIONS` lists. Their fields, which of them may be left out,
and what each must be are read from their signatures. Every mistake is found at once, each with its
path. An `Oracle` is a program and has no such form.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import LownoiseError
from lownoise.questions import QUESTIONS
from lownoise.sets.domains import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lownoise.sets.domains import AbstractDomain

    Path = tuple[str | int, ...]
    Reader = Callable[[Any, Path, list["Mistake"]], Any]

_LARGEST = 2**24  # of a whole number: more coordinates than any plan can hold
_DEEPEST = 64  # names and numbers on the way to a domain within domains


@final
@dataclass(frozen=True)
class Mistake:
    """What is wrong with declared values, and where.

    Args:
        path: of the field, from the table that declares the domain.
        text: what is wrong, and the remedy.
        value: what was found there.
    """

    path: Path
    text: str
    value: object


def declared_domain(fields: object) -> tuple[AbstractDomain | None, list[Mistake]]:
    """Return the domain that plain values declare, or None and every mistake in them.

    Args:
        fields: a mapping of `kind` and the fields of that kind's constructor; where one of those is
            a domain it is such a mapping again, and `domains` is a list of them.

    Examples:
        >>> ball, mistakes = declared_domain({"kind": "ball", "dimension": 3, "radius": 2})
        >>> ball.upper
        array([2., 2., 2.])
        >>> baskets = {"kind": "intersection", "domains": [
        ...     {"kind": "box", "lower": [0, 0], "upper": [5, 5]},
        ...     {"kind": "slab", "normal": [1, 1], "lower": 0, "uper": 6},
        ... ]}
        >>> for mistake in declared_domain(baskets)[1]:
        ...     print(mistake.path, mistake.text)
        ('domains', 1, 'upper') field required
        ('domains', 1, 'uper') is no field of slab, which has normal, lower, upper
    """
    mistakes: list[Mistake] = []
    found = _domain(fields, (), mistakes)
    return (None if mistakes else found), mistakes


def kinds() -> tuple[str, ...]:
    """Return the kinds that can be declared, in order.

    Examples:
        >>> kinds()[:4]
        ('ball', 'box', 'ellipsoid', 'grid')
    """
    return tuple(DOMAINS.constructors)


def _domain(value: object, path: Path, mistakes: list[Mistake]) -> Any:  # noqa: ANN401
    """Return the domain of a table; None where there is a mistake in it."""
    if not isinstance(value, dict):
        text = f'is no table; give one with kind = "{kinds()[0]}" or another'
        mistakes.append(Mistake(path, text, value))
        return None
    if len(path) > _DEEPEST:
        mistakes.append(Mistake(path[:3], "is nested too deep; use fewer levels", value))
        return None
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in DOMAINS.constructors:
        text = f"is no kind of domain; give one of {', '.join(kinds())}"
        mistakes.append(Mistake((*path, "kind"), text, kind))
        return None
    return _made(DOMAINS.constructors, kind, value, path, mistakes)


def declared_question(fields: Mapping[str, Any]) -> tuple[Any, list[Mistake]]:
    """Return the question that plain values declare, or None and every mistake in them.

    Args:
        fields: a mapping of `kind`, one that `QUESTIONS` lets users declare, and the fields of that
            kind's constructor.
    """
    mistakes: list[Mistake] = []
    found = _made(QUESTIONS.constructors, fields["kind"], fields, (), mistakes)
    return (None if mistakes else found), mistakes


def _made(
    constructors: Mapping[str, Callable[..., Any]],
    kind: str,
    value: Mapping[str, Any],
    path: Path,
    mistakes: list[Mistake],
) -> Any:  # noqa: ANN401
    """Return what a constructor makes of a table; None where there is a mistake in it."""
    constructor, before = constructors[kind], len(mistakes)
    arguments = _arguments(constructor, kind, value, path, mistakes)
    if len(mistakes) > before:
        return None
    try:
        return constructor(*arguments.args, **arguments.kwargs)
    except LownoiseError as error:
        mistakes.append(Mistake(path, str(error), value))
    except MemoryError:
        mistakes.append(Mistake(path, "does not fit in memory; give fewer coordinates", value))
    return None


def _arguments(
    constructor: Callable[..., Any],
    kind: str,
    fields: Mapping[str, Any],
    path: Path,
    mistakes: list[Mistake],
) -> inspect.BoundArguments:
    """Return what the constructor is called with, as far as the fields say."""
    signature = inspect.signature(constructor)
    arguments = inspect.BoundArguments(signature, {})
    for name, parameter in signature.parameters.items():
        several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        own = (*path, name)
        if name in fields:
            read = _several if several else _READERS[parameter.annotation]
            arguments.arguments[name] = read(fields[name], own, mistakes)
        elif several or parameter.default is inspect.Parameter.empty:
            mistakes.append(Mistake(own, "field required", None))
    for name in fields:
        if name not in signature.parameters and name != "kind":
            text = f"is no field of {kind}, which has {', '.join(signature.parameters)}"
            mistakes.append(Mistake((*path, name), text, None))
    return arguments


def _several(value: object, path: Path, mistakes: list[Mistake]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        mistakes.append(Mistake(path, "is no list of domains; give one table each", value))
        return ()
    return tuple(_domain(each, (*path, i), mistakes) for i, each in enumerate(value))


def _text(value: object, path: Path, mistakes: list[Mistake]) -> object:
    if not isinstance(value, str):
        mistakes.append(Mistake(path, "is no text; write it in quotes", value))
    return value


def _integer(value: object, path: Path, mistakes: list[Mistake]) -> object:
    if not isinstance(value, int) or isinstance(value, bool):
        mistakes.append(Mistake(path, "is no whole number; write it without quotes", value))
    elif abs(value) > _LARGEST:
        mistakes.append(Mistake(path, "is too large to compute with; give at most 2^24", value))
    return value


def _number(value: object, path: Path, mistakes: list[Mistake]) -> object:
    if not _is_number(value, (int, float)):
        text = "is not a number; write it without quotes, infinity as inf"
        mistakes.append(Mistake(path, text, value))
    return value


def _whole_numbers(value: object, path: Path, mistakes: list[Mistake]) -> object:
    if not isinstance(value, list) or not all(_is_number(each, int) for each in value):
        mistakes.append(Mistake(path, "is no list of whole numbers; give such as [0, 2]", value))
    return value


def _numbers(value: object, path: Path, mistakes: list[Mistake]) -> object:
    """A list of numbers, or of rows of them; the constructor checks shapes and sizes."""
    rows = value if isinstance(value, list) else [None]
    flat = [n for row in rows for n in (row if isinstance(row, list) else [row])]
    if not all(_is_number(each, (int, float)) for each in flat):
        text = "is no list of numbers, or of rows of them; give such as [1.0, 2.0]"
        mistakes.append(Mistake(path, text, value))
    return value


def _is_number(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


# what the signatures say of a field, and how it is read
_READERS: dict[str, Reader] = {
    "AbstractDomain": _domain,
    "ArrayLike": _numbers,
    "ArrayLike | None": _numbers,
    "Image": _domain,
    "Sequence[float]": _numbers,
    "Sequence[int]": _whole_numbers,
    "float": _number,
    "int": _integer,
    "str": _text,
}
