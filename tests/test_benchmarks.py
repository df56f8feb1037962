# SPDX-License-Identifier: Apache-2.0
"""Each benchmark says by `--help` what it measures, and refuses in a line what it does not take."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.arguments import Arguments, whole

ROOT = Path(__file__).parents[1]
TREES = {
    path.stem: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "benchmarks").glob("*.py"))
}


def runs(tree):
    """Whether a module does something where it is run."""
    return any(isinstance(node, ast.If) and "__main__" in ast.unparse(node) for node in tree.body)


# of others' interpreters, to which nothing here is known, and which benchmarks alone run
PEERS = {name for name in TREES if name.endswith("_peer")}
RUN = [name for name, tree in TREES.items() if runs(tree) and name not in PEERS]


@pytest.mark.parametrize("name", RUN)
def test_what_a_benchmark_takes_is_read_by_one_parser_whose_help_is_its_docstring(name):
    tree = TREES[name]
    assert ast.get_docstring(tree)
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    parsers = [ast.unparse(node) for node in made if "Arguments" in ast.unparse(node.func)]
    assert any(text.startswith("Arguments(__doc__)") for text in parsers)
    assert "ArgumentParser(" not in "".join(map(ast.unparse, made))


def test_what_is_no_benchmark_is_used_by_one_or_by_a_test():
    paths = [own for folder in ("benchmarks", "tests") for own in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    for name in TREES.keys() - {*RUN, "__init__"}:
        found = re.compile(rf"from benchmarks(\.| import .*\b){name}\b|{name}\.py\"")
        assert any(found.search(text) for path, text in texts.items() if path.stem != name), name


@pytest.mark.parametrize("name", ["grid_walk", "unbiased"])
def test_help_and_what_is_not_taken_are_said_where_it_is_run(name):
    def done(*given):
        own = [sys.executable, "-m", f"benchmarks.{name}", *given]
        return subprocess.run(own, capture_output=True, text=True, check=False, cwd=ROOT)

    helped = done("--help")
    assert helped.returncode == 0
    doc = importlib.import_module(f"benchmarks.{name}").__doc__
    assert doc.strip() in helped.stdout
    assert f"usage: python -m benchmarks.{name} " in helped.stdout
    for wrong in ("--colour", "no-such-word"):
        refused = done(wrong)
        assert refused.returncode == 2
        assert refused.stdout == ""
        (line,) = refused.stderr.splitlines()
        assert line.startswith(f"python -m benchmarks.{name}: ")
        assert wrong in line


def taken(monkeypatch, *given):
    monkeypatch.setattr(sys, "argv", ["benchmarks/some.py", *given])
    return Arguments("What it measures.")


def test_words_numbers_and_parts(monkeypatch, capsys):
    assert taken(monkeypatch, "a", "b").words() == ["a", "b"]
    assert taken(monkeypatch, "16", "a").words("a", numbers=True) == ["16", "a"]
    assert taken(monkeypatch, "5e6").number("rows", 3) == 5_000_000
    assert taken(monkeypatch).number("rows", 3) == 3
    parts = {"one": lambda: 1, "two": lambda: 2}
    assert taken(monkeypatch, "--two").chosen(lambda: 0, **parts)() == 2
    assert taken(monkeypatch).chosen(lambda: 0, **parts)() == 0
    for ask, said in (
        (lambda: taken(monkeypatch, "c").words("a", "b"), "'c' is none of a, b"),
        (lambda: taken(monkeypatch, "-1").words("a", numbers=True), "-1"),
        (lambda: taken(monkeypatch, "0.5").number("rows", 3), "invalid whole value: '0.5'"),
        (lambda: taken(monkeypatch, "inf").number("rows", 3), "'inf'"),
        (lambda: taken(monkeypatch, "--tw").chosen(lambda: 0, **parts), "--tw"),
    ):
        with pytest.raises(SystemExit) as left:
            ask()
        assert left.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("python -m benchmarks.some: ")
        assert said in line
    assert whole("12") == 12
