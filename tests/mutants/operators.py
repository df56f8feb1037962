# SPDX-License-Identifier: Apache-2.0
"""Small faults that a source file can be given, one at a time.

A mutant replaces one span of the text, so everything else of the file stays byte for byte. It is
known by what it changes and where, never by a line number: an edit elsewhere in the file leaves
the names of all other mutants as they are, and one whose code moved is found where it is now.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

_TURNED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
_SWAPPED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
    "any": "all",
    "all": "any",
}
# what rounds outward, and how many arguments it has then: its first one is left as it is
_ROUNDED = {"up": 1, "down": 1, "nextafter": 2}
_ALIKE = 0.75  # of the letters of a change: fewer in common, and it is another line
Edits = Iterator[tuple[int, int, str]]  # where a span begins and ends, and what replaces it


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, what stood there, and what stands there instead."""

    file: str
    function: str
    line: int
    start: int
    before: str
    after: str
    context: str
    nth: int = 0

    @property
    def name(self) -> str:
        """Return what tells this mutant from all others, whatever is edited elsewhere."""
        return f"{self.file}::{self.function}: {self.change}"

    @property
    def change(self) -> str:
        """Return the part of the name that a move to another file or function leaves as it is."""
        again = f" #{self.nth + 1}" if self.nth else ""
        return f"{flat(self.before)} -> {flat(self.after)} in `{self.context}`{again}"

    @property
    def draw(self) -> str:
        """Return a number, as text, by which mutants are sampled; it follows from the name."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    def of(self, text: bytes) -> bytes:
        """Return the file's text with the fault in it."""
        before = self.before.encode()
        if text[self.start : self.start + len(before)] != before:
            raise ValueError(f"{self.name} is not in this text")
        return text[: self.start] + self.after.encode() + text[self.start + len(before) :]


def chosen(root: Path) -> list[Mutant]:
    """Return the mutants of `chosen.json`: faults that need more than one token, or once lived.

    Raises:
        ValueError: where what one replaces stands neither once in its file nor once in all.
    """
    found = []
    for file, before, after in json.loads((Path(__file__).parent / "chosen.json").read_text()):
        holding = [file] if (root / file).is_file() else []
        if not any((root / f).read_bytes().count(before.encode()) == 1 for f in holding):
            holding = _holding(root, before.encode())
        if len(holding) != 1 or (root / holding[0]).read_bytes().count(before.encode()) != 1:
            raise ValueError(f"{before!r} of {file} stands in {len(holding)} files: point to one")
        text = (root / holding[0]).read_bytes()
        start = text.index(before.encode())
        line = text.count(b"\n", 0, start) + 1
        found.append(Mutant(holding[0], "chosen", line, start, before, after, flat(before)))
    return found


def standing(root: Path, names: Iterable[str]) -> dict[str, Mutant]:
    """Return the mutants of these names that the sources have, wherever their code is now.

    One that is not in its file is looked for in all: first in a function of the same name, then
    in a file of the same name, then in any, and taken where only one fits. Where names inside the
    line were changed too, it is the one most alike, if it is more alike than any other.
    """
    names = list(names)
    made: dict[str, dict[str, Mutant]] = {}

    def named(file: str) -> dict[str, Mutant]:
        if file not in made:
            path = root / file
            there = mutants(file, path.read_bytes()) if path.is_file() else []
            made[file] = {m.name: m for m in there}
        return made[file]

    def of(file: str) -> list[Mutant]:
        return list(named(file).values())

    found = {m.name: m for m in chosen(root)} if any("::chosen: " in n for n in names) else {}
    for name in names:
        file, rest = name.split("::", 1)
        function, change = rest.split(": ", 1)
        here = [named(file)[name]] if name in named(file) else []
        if not here and name not in found and "::chosen: " not in name:
            line = change.split(" in `", 1)[1].rsplit("`", 1)[0]
            others = [m for f in _holding(root, line.encode()) for m in of(f)]
            alike = [m for m in others if m.change == change]
            same = [m for m in alike if m.function == function]
            own = [m for m in alike if Path(m.file).name == Path(file).name]
            here = next((fit for fit in (same, own, alike) if len(fit) == 1), [])
            here = here or _most_alike(root, of, function, change)
        if here:
            found[name] = here[0]
    return {name: found[name] for name in names if name in found}


def _most_alike(
    root: Path, of: Callable[[str], list[Mutant]], function: str, change: str
) -> list[Mutant]:
    """Return the mutant of functions of this name that changes the most alike line, if one does."""
    last = function.rsplit(".", maxsplit=1)[-1]
    files = _holding(root, b"def _" if last == "_" else f"def {last}(".encode())
    near = [m for f in files for m in of(f) if m.function.rsplit(".", maxsplit=1)[-1] == last]
    compare = SequenceMatcher(b=change, autojunk=False)
    ratios: list[tuple[float, int]] = []
    for number, m in enumerate(near):
        compare.set_seq1(m.change)
        quick = compare.real_quick_ratio() > _ALIKE and compare.quick_ratio() > _ALIKE
        ratios.append((compare.ratio() if quick else 0.0, number))
    ratios.sort(reverse=True)
    if not ratios or ratios[0][0] <= _ALIKE:
        return []
    clear = len(ratios) == 1 or ratios[0][0] > ratios[1][0]
    return [near[ratios[0][1]]] if clear else []


def _holding(root: Path, text: bytes) -> list[str]:
    """Return the source files that have this text."""
    files = sorted((root / "src").rglob("*.py"))
    return [f.relative_to(root).as_posix() for f in files if text in f.read_bytes()]


def flat(text: str) -> str:
    """Return the text on one line."""
    return " ".join(text.split())


def mutants(file: str, text: bytes) -> list[Mutant]:
    """Return every mutant of a source file, in the order of the text.

    Those that no longer parse are left out.
    """
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for function, within, node in _walk(ast.parse(text), "", None):
        for first, last, after in _EDITS.get(type(node), _nothing)(node, _Text(text, offsets)):
            before = text[first:last].decode()
            line = text.count(b"\n", 0, first)
            context = text[offsets[line] : offsets[line + 1]].decode().strip()
            made = Mutant(file, function, line + 1, first, before, after, context)
            block = slice(offsets[within.lineno - 1], offsets[within.end_lineno or 0])
            inside = replace(made, start=first - block.start)
            if _parses(inside.of(text[block]), within.col_offset > 0):
                found.append(made)
    found.sort(key=lambda m: (m.start, m.after))
    numbered = []
    for m in found:
        numbered.append(replace(m, nth=seen[m.name]))
        seen[m.name] += 1
    return numbered


def _parses(block: bytes, indented: bool) -> bool:  # noqa: FBT001
    """Return whether whole statements parse; the rest of their file does, whatever they say."""
    try:
        ast.parse(b"if 1:\n" + block if indented else block)
    except SyntaxError:
        return False
    return True


def _walk(
    node: ast.AST, function: str, within: ast.stmt | None
) -> Iterator[tuple[str, ast.stmt, ast.AST]]:
    """Go through what runs: not through annotations, imports, docstrings or type checking.

    With each node comes the function it is in, or where it is in none the statement.
    """
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = f"{function}.{node.name}" if function else node.name
    if isinstance(node, ast.FunctionDef) or (within is None and isinstance(node, ast.stmt)):
        within = node
    if within is not None:
        yield function, within, node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        if field == "left" and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            continue  # the base of a margin such as 2.0**-48
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(
                child,
                (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Raise),
            ):
                continue
            for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            if for_types or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                continue
            yield from _walk(child, function, within)


@dataclass(frozen=True)
class _Text:
    """A file's bytes, and where its lines begin."""

    text: bytes
    offsets: list[int]

    def span(self, part: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        last = self.offsets[(part.end_lineno or 0) - 1] + (part.end_col_offset or 0)
        return self.offsets[part.lineno - 1] + part.col_offset, last

    def inner(self, part: ast.expr) -> str:
        """Return a node's text in parentheses."""
        first, last = self.span(part)
        return f"({self.text[first:last].decode()})"

    def turned(self, left: ast.expr, right: ast.expr, kind: type) -> Edits:
        """Turn the operator between two operands."""
        if kind in _TURNED:
            old, new = _TURNED[kind]
            at = self.text.find(old.encode(), self.span(left)[1], self.span(right)[0])
            if at >= 0:
                yield at, at + len(old), new


def _of_compare(node: ast.Compare, text: _Text) -> Edits:
    operands = pairwise([node.left, *node.comparators])
    for (left, right), operator in zip(operands, node.ops, strict=True):
        yield from text.turned(left, right, type(operator))


def _of_arithmetic(node: ast.BinOp, text: _Text) -> Edits:
    if not _is_text(node):
        yield from text.turned(node.left, node.right, type(node.op))


def _of_logic(node: ast.BoolOp, text: _Text) -> Edits:
    for left, right in pairwise(node.values):
        yield from text.turned(left, right, type(node.op))


def _of_sign(node: ast.UnaryOp, text: _Text) -> Edits:
    if isinstance(node.op, (ast.Not, ast.USub)):
        yield *text.span(node), text.inner(node.operand)


def _of_choice(node: ast.If | ast.IfExp, text: _Text) -> Edits:
    yield *text.span(node.test), "True"
    yield *text.span(node.test), "False"


def _of_constant(node: ast.Constant, text: _Text) -> Edits:
    if type(node.value) is int:
        yield *text.span(node), str(node.value + 1)
    elif type(node.value) is float:
        yield *text.span(node), repr(node.value * 2 if node.value else 1.0)


def _of_statement(node: ast.Expr, text: _Text) -> Edits:
    if isinstance(node.value, ast.Call):
        yield *text.span(node), "pass"


def _of_call(node: ast.Call, text: _Text) -> Edits:
    """Turn an extremal call; drop an outward rounding."""
    if isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        last = text.span(node.func)[1]
        if name in _SWAPPED:
            yield last - len(name), last, _SWAPPED[name]
        elif name in _ROUNDED and len(node.args) == _ROUNDED[name]:
            yield *text.span(node), text.inner(node.args[0])


_EDITS: dict[type, Callable[[Any, _Text], Edits]] = {
    ast.Compare: _of_compare,
    ast.BinOp: _of_arithmetic,
    ast.BoolOp: _of_logic,
    ast.UnaryOp: _of_sign,
    ast.If: _of_choice,
    ast.IfExp: _of_choice,
    ast.Constant: _of_constant,
    ast.Expr: _of_statement,
    ast.Call: _of_call,
}


def _nothing(node: ast.AST, text: _Text) -> Edits:
    return iter(())


def _is_text(node: ast.BinOp) -> bool:
    """Return whether the operation joins or formats text, as far as its operands show."""
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)))
        for side in (node.left, node.right)
    )
