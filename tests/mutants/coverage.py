# SPDX-License-Identifier: Apache-2.0
"""Which tests reach a statement, and how long they take: what a mutant's tests are chosen by.

A copy of the sources is compiled with a mark before every statement of every function, and each
file of tests runs on it in a process of its own; the marks are bytes of one mapped file, so that
what a test's own processes reach counts too, killed or not. A statement is known by its function
and its first line, never by a file or a line number: the record serves after an edit or a move.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import marshal
import mmap
import os
import re
import sqlite3
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
DOCTESTS = "src/lownoise"  # all of them are one "file of tests", and each of them may be one
# tests that plant faults themselves, read sources as text, or run every example of the documents
_LEFT_OUT = ("tests/test_mutants.py", "tests/test_shape.py", "tests/docs/test_documents.py")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS statements (id INTEGER PRIMARY KEY, key TEXT UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS files
    (path TEXT PRIMARY KEY, digest TEXT, collecting REAL, red TEXT, reached BLOB) STRICT;
CREATE TABLE IF NOT EXISTS tests (file TEXT, name TEXT, seconds REAL, reached BLOB) STRICT;
"""
_MARKS = "__seen__"  # by which every module knows them: a name that none has for its own
_SEEN = "import mmap\nwith open({!r}, 'r+b') as file:\n    SEEN = mmap.mmap(file.fileno(), 0)\n"


@dataclass(frozen=True)
class Recorded:
    """One test: its file, its name (empty for all doctests of a file), and its seconds."""

    file: str
    name: str
    seconds: float


@dataclass(frozen=True)
class Statement:
    """One statement of a function: the first line's number, and what it is known by."""

    line: int
    last: int
    key: str


def test_files() -> list[str]:
    """Return the files of tests that mutants may be judged by, and where the doctests are."""
    files = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").rglob("test_*.py"))
    return [DOCTESTS, *(f for f in files if f not in _LEFT_OUT)]


def statements(text: bytes) -> list[Statement]:
    """Return the statements inside the functions of a file, outer ones first."""
    lines = text.decode().splitlines()
    found: list[Statement] = []

    def visit(node: ast.AST, function: str, *, inside: bool) -> None:
        if isinstance(node, ast.stmt) and inside:
            key = f"{function}: {lines[node.lineno - 1].strip()}"
            found.append(Statement(node.lineno, node.end_lineno or node.lineno, key))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            function = f"{function}.{node.name}" if function else node.name
        inside = inside or isinstance(node, ast.FunctionDef)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
                visit(child, function, inside=inside)

    visit(ast.parse(text), "", inside=False)
    return found


class _Marked:
    """Put `__seen__[number of the line] = 1` before each statement of each function."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.depth = 0

    def visit(self, node: ast.AST) -> ast.AST:
        inner = isinstance(node, ast.FunctionDef)
        self.depth += inner
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):  # no expression has any
            block = getattr(node, field, [])
            if not isinstance(block, list):
                continue
            for part in block:
                self.visit(part)
            holds = field not in {"handlers", "cases"} and not isinstance(node, ast.ClassDef)
            if self.depth and holds:
                told = block[:1] if inner and ast.get_docstring(node) is not None else []
                marked = [part for s in block[len(told) :] for part in (self._mark(s), s)]
                setattr(node, field, told + marked)
        self.depth -= inner
        return node

    def _mark(self, statement: ast.stmt) -> ast.stmt:
        place = {
            name: getattr(statement, name)
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
        }
        one, number = (ast.Constant(n, **place) for n in (1, self.first + statement.lineno))
        seen = ast.Name(_MARKS, ast.Load(), **place)
        cell = ast.Subscript(seen, number, ast.Store(), **place)
        return ast.Assign([cell], one, **place)


def _compiled(text: bytes, path: Path, first: int) -> bytes:
    tree = _Marked(first).visit(ast.parse(text))
    at = 0
    for number, statement in enumerate(tree.body):
        documents = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if documents or (
            isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        ):
            at = number + 1
    tree.body[at:at] = ast.parse(f"from _seen import SEEN as {_MARKS}").body
    code = compile(tree, str(path), "exec", dont_inherit=True)
    # flags 1: known by a hash that is never checked, so the text beside it stays as it is
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


class Coverage:
    """A record of what each test reaches, kept in one SQLite file and made as far as it lacks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            file.executescript(_SCHEMA)
        self._tests: list[Recorded] = []
        self._reached = np.zeros((0, 0), dtype=bool)
        self._ids: dict[str, int] = {}
        self._collecting: dict[str, float] = {}
        self._imports: dict[str, np.ndarray[Any, np.dtype[np.bool_]]] = {}

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=600)

    def complete(self, files: Iterable[str]) -> None:
        """Record the files of tests that are new or have changed, then load the record.

        Files whose tests are red without any fault are named; red tests judge nothing.
        """
        files = list(files)
        with self._open() as file:
            known = dict(file.execute("SELECT path, digest FROM files"))
        lacking = [f for f in files if known.get(f) != _digest(f)]
        if lacking:
            self._record(lacking)
        self._load(set(files))

    def _record(self, files: list[str]) -> None:
        with tempfile.TemporaryDirectory(prefix="coverage-") as folder:
            source = Path(folder) / "src"
            keys = _marked_copy(source)
            for number, path in enumerate(files, 1):
                child = os.fork()
                if child == 0:
                    _record_of_a_fork(self._path, source, keys, path)
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                with self._open() as file:
                    row = file.execute("SELECT red FROM files WHERE path = ?", (path,)).fetchone()
                red = row[0] if row else f" status {status}"
                print(f"coverage {number}/{len(files)} {path}{red}", flush=True)

    def _load(self, files: set[str]) -> None:
        with self._open() as file:
            self._ids = dict(file.execute("SELECT key, id FROM statements"))
            rows = [r for r in file.execute("SELECT * FROM tests") if r[0] in files]
            own = {r[0]: r for r in file.execute("SELECT path, collecting, reached FROM files")}
        self._collecting = {f: own[f][1] for f in files if f in own}
        width = max(self._ids.values(), default=0) + 1
        self._reached = np.zeros((len(rows), width), dtype=bool)
        self._tests = []
        for number, (path, name, seconds, reached) in enumerate(rows):
            doctest = path.startswith("src")
            self._tests.append(
                Recorded(name, "", seconds) if doctest else Recorded(path, name, seconds)
            )
            self._reached[number, _numbers(reached)] = True
        self._imports = {f: np.zeros(width, dtype=bool) for f in files if not f.startswith("src")}
        for path, reached in self._imports.items():
            if path in own:
                reached[_numbers(own[path][2])] = True

    def collecting(self, file: str) -> float:
        """Return the seconds that it takes to collect a file of tests."""
        return self._collecting.get(file, 0.0)

    def tests_of(self, text: bytes, line: int) -> tuple[list[Recorded], list[Recorded]]:
        """Return the tests that reach a line of a file with this text, and those whose imports do.

        A line outside all functions is reached by what reaches any function of the file, or of
        any other that names what the line assigns.
        """
        own = [s for s in statements(text) if s.line <= line <= s.last]
        keys = {own[-1].key} if own else {s.key for s in statements(text)}
        if not own:
            assigned = [re.compile(rf"\b{name}\b") for name in _assigned(text, line)]
            keys |= {k for k in self._ids if any(word.search(k) for word in assigned)}
        ids = {self._ids[k] for k in keys if k in self._ids}
        if not ids and own:  # renamed or edited since: what has its text, else its function
            function, start = own[-1].key.split(": ", 1)
            ids = {i for k, i in self._ids.items() if k.split(": ", 1)[1] == start}
            ids = ids or {i for k, i in self._ids.items() if k.split(": ", 1)[0] == function}
        chosen = self._reached[:, sorted(ids)].any(axis=1)
        files = {f for f, reached in self._imports.items() if reached[sorted(ids)].any()}
        imports = np.array([t.file in files for t in self._tests], dtype=bool) & ~chosen
        return tuple([self._tests[n] for n in np.flatnonzero(b)] for b in (chosen, imports))


def _assigned(text: bytes, line: int) -> list[str]:
    """Return the names that the statement at a line gives values to."""
    return [
        name.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    ]


def _numbers(bits: bytes) -> np.ndarray[Any, np.dtype[np.intp]]:
    return np.flatnonzero(np.unpackbits(np.frombuffer(zlib.decompress(bits), dtype=np.uint8)))


def _digest(path: str) -> str:
    """Return a digest of a file of tests; of all files with doctests, that of their names."""
    whole = ROOT / path
    if whole.is_dir():
        names = sorted(p.relative_to(ROOT).as_posix() for p in whole.rglob("*.py"))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()
    return hashlib.sha256(whole.read_bytes()).hexdigest()


def _marked_copy(source: Path) -> dict[int, str]:
    """Write the sources with their marks compiled in; return the key of each mark."""
    keys: dict[int, str] = {}
    first = 0
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_bytes()
        copy = source / path.relative_to(ROOT / "src")
        compiled = Path(importlib.util.cache_from_source(str(copy)))
        compiled.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)
        compiled.write_bytes(_compiled(text, copy, first))
        keys |= {first + s.line: s.key for s in statements(text)}
        first += text.count(b"\n") + 1
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            copy = source / path.relative_to(ROOT / "src")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    marks = source.parent / "marks"
    marks.write_bytes(bytes(first + 1))
    (source / "_seen.py").write_text(_SEEN.format(str(marks)))
    return keys


class _Recorder:
    """A plugin of pytest: what each test reaches, its wider fixtures and its imports included."""

    def __init__(self, marks: Path) -> None:
        with marks.open("r+b") as file:
            self._seen = np.frombuffer(mmap.mmap(file.fileno(), 0), dtype=np.uint8)
        self._began = time.monotonic()
        self.collected = self._take()
        self.collecting = 0.0
        self.tests: dict[str, list[Any]] = {}
        self.red: list[str] = []
        self._fixtures: dict[str, Any] = {}

    def _take(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        taken = self._seen.astype(bool)
        self._seen[:] = 0  # type: ignore[index]
        return taken

    def pytest_collection_finish(self) -> None:
        self.collected = self._take()
        self.collecting = time.monotonic() - self._began

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._take()
        self.tests[item.nodeid] = [0.0, np.zeros(self._seen.size, dtype=bool)]
        result = yield
        reached = self.tests[item.nodeid][1]
        reached |= self._take()
        for name in getattr(item, "fixturenames", ()):
            reached |= self._fixtures.get(name, False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._take()
        result = yield
        own = self._take()
        name = fixturedef.argname
        self._fixtures[name] = own | self._fixtures.get(name, False)
        self._seen[before] = 1  # type: ignore[index]
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests[report.nodeid][0] += report.duration
        if report.failed:
            self.red.append(report.nodeid)


def _record_of_a_fork(record: Path, source: Path, keys: dict[int, str], path: str) -> None:
    """Run one file of tests on the marked copy, write down what it reached, and end."""
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(source)
    sys.path.insert(0, str(source))
    code = 3
    try:
        recorder = _Recorder(source.parent / "marks")
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        paths = [str(source / path.removeprefix("src/")) if path.startswith("src") else path]
        code = int(
            pytest.main(
                ["-q", "-p", "no:cacheprovider", "--assert=plain", *settings, *paths], [recorder]
            )
        )
        _write_down(record, recorder, keys, path, source)
        code = 0 if code in (0, 1, 5) else code
    finally:
        os._exit(code)


def _write_down(
    record: Path, recorder: _Recorder, keys: dict[int, str], path: str, source: Path
) -> None:
    with sqlite3.connect(record, timeout=600) as file:
        file.executemany(
            "INSERT OR IGNORE INTO statements (key) VALUES (?)", [(k,) for k in {*keys.values()}]
        )
        ids = dict(file.execute("SELECT key, id FROM statements"))
        of_line = np.zeros(recorder.collected.size, dtype=np.intp)
        for line, key in keys.items():
            of_line[line] = ids[key]

        def packed(reached: Any) -> bytes:
            bits = np.zeros(max(ids.values()) + 1, dtype=bool)
            bits[of_line[reached]] = True
            bits[0] = False
            return zlib.compress(np.packbits(bits).tobytes())

        file.execute("DELETE FROM tests WHERE file = ?", (path,))
        rows: dict[str, list[Any]] = {}
        for name, (seconds, reached) in recorder.tests.items():
            if name in recorder.red:
                continue
            row = rows.setdefault(_named(name, path, source), [0.0, np.zeros_like(reached)])
            row[0] += seconds
            row[1] |= reached
        file.executemany(
            "INSERT INTO tests VALUES (?, ?, ?, ?)",
            [(path, name, row[0], packed(row[1])) for name, row in rows.items()],
        )
        red = f" red: {' '.join(recorder.red)}" if recorder.red else ""
        file.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
            (path, _digest(path), recorder.collecting, red, packed(recorder.collected)),
        )


def _named(name: str, path: str, source: Path) -> str:
    """Return what a test is known by: of doctests, the file that they stand in."""
    if not path.startswith("src"):
        return name
    module = name.rsplit("::", maxsplit=1)[-1].split(".")
    for length in range(len(module), 0, -1):
        file = source.joinpath(*module[:length])
        for found in (file.with_suffix(".py"), file / "__init__.py"):
            if found.is_file():
                return f"src/{found.relative_to(source).as_posix()}"
    return name
