# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.shape`: how large the house is, and how much of it a question runs through.

Counted from the text of the sources, but for the files that a question runs through, which are
counted by running it. `test_shape.py` keeps each number from rising.
"""

from __future__ import annotations

import ast
import io
import keyword
import sys
import tempfile
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lownoise"
CHECKER = ROOT / "src" / "lownoise_check.py"  # alone, and so longer than others may be
SHARED = 6  # lines in a row that two places have alike
LEAST = 4  # tokens a line, on average: brackets that close are no likeness
COMMON = 8  # in more places than these, a run of lines is how the language looks
# What each number may be at most: it follows the number down, and what raises it says why.
LIMITS = {
    "lines of source": 126_169,
    "of which code": 68_121,
    "modules": 494,
    "rooms": 24,
    "floors": 12,
    "modules that import each other in a circle": 0,
    "generic functions": 9,
    "functions named _": 0,
    "files a box's mean runs through": 53,
    "files a pure plan of queries runs through": 68,
    "pairs of places alike": 906,
    "lines of tests": 89_971,
    "files above 450 lines": 0,
    "lines of the checker for strangers": 2_073,
}


def modules() -> list[Path]:
    """Return the files of the package."""
    return sorted(SOURCE.rglob("*.py"))


def lines(paths: list[Path]) -> int:
    """Return how many lines the files have together."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def code_lines(paths: list[Path]) -> int:
    """Return how many lines hold code: no comment, docstring or blank."""
    return sum(len({at for at, _ in code(path)}) for path in paths)


def room(path: Path) -> str:
    """Return the folder, or the file at the top, that a module stands in."""
    inside = path.relative_to(SOURCE)
    return inside.parts[0].removesuffix(".py")


@cache
def imports() -> dict[str, set[str]]:
    """Return which rooms each room imports from, at whatever depth, but for types alone."""
    found: dict[str, set[str]] = {room(path): set() for path in modules()}
    for path in modules():
        for name in _imported(_tree(path)):
            target = name.split(".")[1]
            if target in found and target != room(path) and room(path) != "__init__":
                found[room(path)].add(target)
    del found["__init__"]
    return found


def floors() -> int:
    """Return how many floors the rooms stand on, rooms that import each other being one."""
    graph = imports()
    reached = {name: _reached(graph, name) for name in graph}

    @cache
    def height(name: str) -> int:
        below = {b for b in reached[name] if name not in reached[b]}
        return 1 + max((height(b) for b in below), default=0)

    return max(height(name) for name in graph)


def circling(source: Path = SOURCE) -> int:
    """Return how many modules reach themselves by imports, within functions too; not for types."""
    files = sorted(source.rglob("*.py"))
    paths = {path.relative_to(source.parent).with_suffix(""): path for path in files}
    named = {".".join(own.parts).removesuffix(".__init__"): path for own, path in paths.items()}
    graph = {
        module: {name if name in named else name.rpartition(".")[0] for name in found} - {module}
        for module, path in named.items()
        for found in [_imported(_tree(path))]
    }
    return sum(module in _reached(graph, module) for module in graph)


def generics() -> tuple[int, int]:
    """Return how many generic functions have registrations, and how many functions are named _."""
    generic = nameless = 0
    for path in modules():
        for node in _walked(path):
            if isinstance(node, ast.FunctionDef):
                nameless += node.name == "_"
                generic += any("singledispatch" in ast.unparse(d) for d in node.decorator_list)
    return generic, nameless


def alike(paths: list[Path]) -> int:
    """Return how many pairs of places have six lines of code or more alike, names aside.

    Imports do not count, and neither does what stands in more than eight places.
    """
    places = defaultdict(list)
    for path in paths:
        rows: dict[int, list[str]] = defaultdict(list)
        for at, token in code(path):
            rows[at].append(token)
        shaped = [" ".join(row) for _, row in sorted(rows.items())]
        for at in range(len(shaped) - SHARED + 1):
            window = shaped[at : at + SHARED]
            if sum(len(row.split()) for row in window) >= SHARED * LEAST:
                places["\n".join(window)].append((path, at))
    found = {
        (a, i, b, j)
        for where in places.values()
        if len(where) <= COMMON
        for n, (a, i) in enumerate(where)
        for b, j in where[n + 1 :]
        if a != b or abs(i - j) >= SHARED
    }
    # a window that goes on from the one before it is of the same pair
    return sum((a, i - 1, b, j - 1) not in found for a, i, b, j in found)


def files_run(program: str) -> int:
    """Return how many files of the package run while a program does, imports aside."""
    import lownoise as ln

    space = {"ln": ln, "folder": Path(tempfile.mkdtemp())}
    exec(compile(program, "<warm>", "exec"), space)  # noqa: S102 (imports are not counted)
    seen: set[str] = set()

    def called(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(Path(ln.__file__).parent)):
            seen.add(frame.f_code.co_filename)

    space["folder"] = Path(tempfile.mkdtemp())
    sys.setprofile(called)
    try:
        exec(compile(program, "<counted>", "exec"), space)  # noqa: S102 (as above)
    finally:
        sys.setprofile(None)
    return len(seen)


MEAN = """
question = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 2]))
plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=3)
(folder / "t.csv").write_text("a,b\\n1,2\\n0,1\\n1,1\\n")
release = plan.release(folder / "t.csv")
(folder / "out.csv").write_text(repr(release.estimate))
"""
PURE = """
question = ln.Queries([[0, 0, 1, 1], [0, 1, 0, 1]], {"a": 2, "b": 2})
plan = ln.plan(question, budget=ln.pure_dp(1.0), relation="add_remove")
"""


def measured() -> dict[str, int]:
    """Return every measure by its name."""
    tests = sorted((ROOT / "tests").rglob("*.py"))
    generic, nameless = generics()
    return {
        "lines of source": lines(modules()),
        "of which code": code_lines(modules()),
        "modules": len(modules()),
        "rooms": len(imports()),
        "floors": floors(),
        "modules that import each other in a circle": circling(),
        "generic functions": generic,
        "functions named _": nameless,
        "files a box's mean runs through": files_run(MEAN),
        "files a pure plan of queries runs through": files_run(PURE),
        "pairs of places alike": alike(modules()),
        "lines of tests": lines(tests),
        "files above 450 lines": sum(lines([p]) > 450 for p in modules()),
        "lines of the checker for strangers": lines([CHECKER]),
    }


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _walked(path: Path) -> list[ast.AST]:
    """Return the statements of a file, at whatever depth."""
    return list(_statements(_tree(path)))


def _below(node: ast.AST) -> list[ast.AST]:
    """Return the statements right below a node, and what holds some: no expression does."""
    fields = ("body", "orelse", "finalbody", "handlers", "cases")
    return [child for name in fields for child in getattr(node, name, ())]


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in _below(node):
        yield child
        yield from _statements(child)


def _imported(node: ast.AST) -> list[str]:
    """Return what of the package is imported when the code runs: modules, and what is of them."""
    found = []
    for child in _below(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module and not child.level:
            if child.module.split(".")[0] == "lownoise":
                found += [f"{child.module}.{alias.name}" for alias in child.names]
        elif isinstance(child, ast.Import):
            found += [a.name for a in child.names if a.name.startswith("lownoise.")]
        found += _imported(child)
    return found


def _reached(graph: dict[str, set[str]], name: str) -> set[str]:
    found, ahead = set(), list(graph[name])
    while ahead:
        at = ahead.pop()
        if at not in found:
            found.add(at)
            ahead += graph[at]
    return found


@cache
def code(path: Path) -> list[tuple[int, str]]:
    """Return each token of code but imports, with its line; names and values by kind alone."""
    found = []
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    text = path.read_text()
    left_out = set()
    for node in _walked(path):
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone or isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at = token.start[0]
        if token.type in skipped or not token.string or at in left_out:
            continue
        word = token.string.isidentifier() and token.string not in keyword.kwlist
        kind = tokenize.tok_name[token.type]
        found.append((at, "name" if word else token.string if kind in ("OP", "NAME") else kind))
    return found


if __name__ == "__main__":
    for name, number in measured().items():
        print(f"{number:8,d}  of {LIMITS[name]:6,d}  {name}")
