# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.golden.lines [CHECKOUT]`: how much source answers what 0.1 answered.

Every row and file that was frozen before the house was rebuilt is asked again, and what runs is
counted, by rooms. `git worktree add ../before 1462ce50` makes a checkout of what ran then; each is
asked by its own tests. Some minutes, and no test. `--only TEXT` asks rows whose name holds it.

A function that ran counts with its docstring, comments and branches that did not run; a class that
one of them is of, or whose fields were set, with what is no method. Of these lines it is printed
which hold code, and which code ran.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FROZEN = "1462ce50"  # stored what every plan charged, cost and summed, before anything moved
COLUMNS = ("files", "functions", "lines", "code", "run")


class Recorder:
    """What ran of a package: lines, functions by where they begin, classes by their names."""

    def __init__(self, package):
        self.package = f"{package}/"
        self.lines, self.functions, self.classes = set(), set(), set()
        self._calls, self._done = Counter(), {}

    def called(self, frame, _event, _):
        """Trace a call of the package's, unless every line of what is called has run."""
        code = frame.f_code
        if id(code) in self._done:
            return None
        if not code.co_filename.startswith(self.package):
            self._done[id(code)] = code  # kept, as others would have its number
            if code.co_filename == "<string>" and "self" in code.co_varnames:  # of a dataclass
                made = type(frame.f_locals["self"]).__mro__
                self.classes |= {(_file(c), c.__name__) for c in made}
            return None
        self._calls[id(code)] += 1
        if self._calls[id(code)].bit_count() == 1:
            own = {(code.co_filename, at) for *_, at in code.co_lines() if at is not None}
            if own <= self.lines:
                self._done[id(code)] = code
        if code.co_flags & 1:  # of a function, and no body of a class or a module
            self.functions.add((code.co_filename, code.co_firstlineno))
            self.lines.add((code.co_filename, code.co_firstlineno))
        return self.line

    def line(self, frame, event, _):
        """Keep the line that is run."""
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line

    def of(self, path):
        """Return the lines, the functions and the classes of one file."""
        found = (self.lines, self.functions, self.classes)
        return [{own for file, own in part if file == str(path)} for part in found]


def _file(cls):
    return getattr(sys.modules[cls.__module__], "__file__", "")


def ask(kept, only):
    """Ask what was frozen, by the tests of the checkout that is imported."""
    from tests.golden import files
    from tests.golden.facts import facts_of
    from tests.golden.members import members

    made, rows = members(), [name for name in frozen("facts.json") if only in name]
    threading.settrace(kept.called)
    sys.settrace(kept.called)
    for at, name in enumerate(rows, 1):
        print(f"\r{at}/{len(rows)} rows", end="", file=sys.stderr)
        facts_of(made[name])
    for name in frozen("files/index.json"):
        with tempfile.TemporaryDirectory() as folder:
            if only in name:
                files.read(name, folder)
    sys.settrace(None)
    threading.settrace(None)
    print(file=sys.stderr)


def frozen(name):
    """Return the names of the rows, or of the files, that were frozen."""
    command = ["git", "show", f"{FROZEN}:tests/golden/{name}"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def counted(tree, code, lines, begun, classes):
    """Return how many functions of a file ran, their lines, those with code, and those that ran.

    Args:
        tree: of the file.
        code: the lines that hold code.
        lines: that were run.
        begun: the first lines of functions that were called.
        classes: names of those whose fields were set.
    """
    functions, own, ran = 0, set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _span(node)[0] in begun:
            functions += 1
            own |= set(_span(node))
            for part in ast.walk(node):
                if isinstance(part, ast.stmt) and not lines.isdisjoint(_head(part)):
                    ran |= set(_head(part))
        elif isinstance(node, ast.ClassDef):
            methods = [_span(part) for part in node.body if isinstance(part, ast.FunctionDef)]
            if node.name in classes or any(span[0] in begun for span in methods):
                rest = set(_span(node)).difference(*methods)
                own |= rest
                ran |= rest
    return functions, len(own), len(own & code), len(ran & own & code)


def _span(node):
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno + 1)


def _head(node):
    """Return the lines of a statement but for those of statements within it."""
    inner = [part.lineno for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
    return range(_span(node)[0], min(inner, default=node.end_lineno + 1))


def main():
    """Print what ran, a line a room and one of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.lines", description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT, help="by default this one")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    asked = parser.parse_args()
    checkout = asked.checkout.resolve()
    from tests import shape

    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]  # those of the checkout are imported
    sys.path[:0] = [str(checkout), str(checkout / "src"), str(checkout / "tests")]
    source = checkout / "src" / "lownoise"
    kept = Recorder(source)
    ask(kept, asked.only)
    rooms = defaultdict(lambda: [0] * len(COLUMNS))
    for path in sorted(source.rglob("*.py")):
        held = {at for at, _ in shape.code(path)}
        found = counted(ast.parse(path.read_bytes()), held, *kept.of(path))
        for room in (path.relative_to(source).parts[0].removesuffix(".py"), "all"):
            rooms[room] = [a + b for a, b in zip(rooms[room], (found[0] > 0, *found), strict=True)]
    print("".join(f"{name:>11s}" for name in COLUMNS))
    for room, numbers in sorted(rooms.items(), key=lambda item: item[1][2]):
        print("".join(f"{number:11,d}" for number in numbers), f" {room}")


if __name__ == "__main__":
    main()
