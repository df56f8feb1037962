# SPDX-License-Identifier: Apache-2.0
"""How small objects show themselves: in a line or a few, and in a notebook as a table of fields.

Large arrays and long lists are cut, with their size; a value is never so long that it hides what
stands beside it. Plans and releases show more than their fields: see `release.readable`.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

_WIDE = 96  # columns of a line
_FEW = 6  # entries of a list
_NESTED = 64  # columns of a value

Class = TypeVar("Class", bound=type[Any])


def readable(cls: Class) -> Class:
    """Return a dataclass that shows itself by its fields (but for those of `repr=False`).

    Examples:
        >>> from dataclasses import dataclass
        >>> @readable
        ... @dataclass
        ... class Pair:
        ...     name: str
        ...     values: np.ndarray
        >>> Pair("a", np.array([0.5, 2.0]))
        Pair(name='a', values=[0.5, 2])
        >>> Pair("b", np.eye(30))
        Pair(name='b', values=30 × 30 numbers from 0 to 1)
    """
    for name, shown in (("__repr__", _line), ("_repr_html_", _table)):
        setattr(cls, name, shown)
    return cls


def brief(value: object) -> str:
    """Return a public value in at most 64 columns, a long one cut.

    Examples:
        >>> brief(("a", "b")), brief(range(3)), brief(1e-6), brief("x" * 200)[-3:]
        ("['a', 'b']", 'range(0, 3)', '1e-06', 'xx…')
        >>> brief([f"attribute {k}" for k in range(50)])
        "['attribute 0', 'attribute 1', 'attribute 2', …] (50)"
        >>> brief(np.zeros(1000))
        '1,000 numbers, all 0'
    """
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (list, tuple)):
        return _list([brief(each) for each in value[: _FEW + 1]], len(value))
    if isinstance(value, PurePath):
        return repr(str(value))
    own = is_dataclass(value) and not isinstance(value, type)
    texts = _complete(value) if own else " ".join(repr(value).split())
    return texts if len(texts) <= _NESTED else f"{texts[: _NESTED - 1]}…"


def _array(values: np.ndarray[Any, Any]) -> str:
    """Return a few numbers as they are, of many how many there are and their range."""
    if values.ndim == 1 and values.size <= _FEW and np.isrealobj(values):
        return _list([f"{number:.6g}" for number in values.tolist()], values.size)
    size = " × ".join(f"{length:,}" for length in values.shape)
    if not values.size:
        return f"{size} numbers"
    if np.iscomplexobj(values):
        return f"{size} complex numbers, of sizes up to {float(np.max(np.abs(values))):.6g}"
    low, high = float(np.min(values)), float(np.max(values))
    if low == high or math.isnan(low):
        return f"{size} numbers, all {low:.6g}"
    return f"{size} numbers from {low:.6g} to {high:.6g}"


def _list(texts: list[str], count: int) -> str:
    """Return as many entries as fit, and of more how many there are."""
    kept = texts[:_FEW]
    while len(kept) > 1 and sum(map(len, kept)) + 2 * len(kept) > _NESTED - 8:
        kept.pop()
    whole = len(kept) == count
    return f"[{', '.join(kept)}]" if whole else f"[{', '.join(kept)}, …] ({count:,})"


def _shown(own: Any) -> list[tuple[str, str]]:  # noqa: ANN401
    """Return the fields and their values, without what stands at its default of None."""
    held = ((field, getattr(own, field.name)) for field in fields(own) if field.repr)
    return [(f.name, brief(value)) for f, value in held if value is not None or f.default]


def _complete(own: object) -> str:
    texts = ", ".join(f"{field}={value}" for field, value in _shown(own))
    return f"{type(own).__name__}({texts})"


def _line(own: object) -> str:
    """Return `repr`: one line, or where that is too long a line a field."""
    line = _complete(own)
    if len(line) <= _WIDE:
        return line
    texts = (f"    {field}={value}," for field, value in _shown(own))
    return "\n".join([f"{type(own).__name__}(", *texts, ")"])


def _table(own: object) -> str:
    """Return the fields as a table of HTML."""
    return html_table(type(own).__name__, _shown(own))


def html_table(caption: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of HTML whose first column heads its rows.

    Examples:
        >>> html_table("a < b", [("x", "1")])[:41]
        '<table><caption>a &lt; b</caption><tr><th'
    """
    left = "style='text-align: left'"
    body = "".join(
        f"<tr><th {left}>{escape(head)}</th>"
        + "".join(f"<td {left}>{escape(value)}</td>" for value in values)
        + "</tr>"
        for head, *values in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{body}</table>"


def number_of(count: int, noun: str) -> str:
    """Return how many there are.

    Examples:
        >>> number_of(1, "column"), number_of(2000, "column")
        ('1 column', '2,000 columns')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
