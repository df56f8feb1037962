# SPDX-License-Identifier: Apache-2.0
"""The campaign plants what it says, finds mutants where their code is now, and notices faults."""

import json
import marshal
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.mutants import campaign
from tests.mutants.__main__ import DRAWN, VERDICTS
from tests.mutants.coverage import Coverage, Recorded, _compiled, statements
from tests.mutants.operators import chosen, mutants, standing

TEXT = b'''"""A module: 1 < 2."""
from math import nextafter
import typing

def clipped(x: int | None, least: float) -> float:
    """Return x, at least `least`."""
    if x is None or not x > least - 1:
        raise ValueError(f"{x + 1}")
    return max(nextafter(x * 2, 9), -least)
'''
MADE = [
    ("x is None or not x > least - 1", "False"),
    ("x is None or not x > least - 1", "True"),
    ("is", "is not"),
    ("or", "and"),
    ("not x > least - 1", "(x > least - 1)"),
    (">", ">="),
    ("-", "+"),
    ("1", "2"),
    ("max", "min"),
    ("nextafter(x * 2, 9)", "(x * 2)"),
    ("*", "/"),
    ("2", "3"),
    ("9", "10"),
    ("-least", "(least)"),
]


def test_every_fault_is_planted_once_and_nothing_else_changes():
    found = mutants("a.py", TEXT)
    assert sorted((m.before, m.after) for m in found) == sorted(MADE)
    for m in found:
        text = m.of(TEXT)
        at = m.start + len(m.after.encode())
        assert text[: m.start] == TEXT[: m.start]
        assert text[at:] == TEXT[m.start + len(m.before.encode()) :]
        assert text != TEXT


def test_names_are_one_a_mutant_and_outlive_edits_elsewhere():
    names = [m.name for m in mutants("a.py", TEXT)]
    assert len(set(names)) == len(names)
    later = TEXT.replace(b"import typing\n", b"import typing\nA = 3 + 4\n\n")
    assert set(names) < {m.name for m in mutants("a.py", later)}


def test_a_mutant_whose_code_moved_is_found_where_it_is_now(tmp_path):
    folder = tmp_path / "src"
    folder.mkdir()
    before = {m.change: m for m in mutants("src/a.py", TEXT)}
    (folder / "b.py").write_bytes(TEXT.replace(b"clipped", b"clamped"))
    there = standing(tmp_path, [m.name for m in before.values()])
    assert {m.change for m in there.values()} == set(before)
    assert {(m.file, m.function) for m in there.values()} == {("src/b.py", "clamped")}
    # the same text in two more functions: which one is meant is not guessed, but for its name
    (folder / "c.py").write_bytes(TEXT)
    (folder / "d.py").write_bytes(TEXT.replace(b"clipped", b"cut"))
    there = standing(tmp_path, [m.name for m in before.values()])
    assert {(m.file, m.function) for m in there.values()} == {("src/c.py", "clipped")}
    (folder / "c.py").unlink()
    assert standing(tmp_path, [m.name for m in before.values()]) == {}


def test_statements_are_known_without_their_file_or_line():
    keys = [s.key for s in statements(TEXT)]
    assert keys == [
        'clipped: """Return x, at least `least`."""',
        "clipped: if x is None or not x > least - 1:",
        'clipped: raise ValueError(f"{x + 1}")',
        "clipped: return max(nextafter(x * 2, 9), -least)",
    ]
    assert [s.key for s in statements(b"A = 1\n\n" + TEXT)] == keys


def test_a_module_with_a_name_like_the_marks_own_runs_with_marks(monkeypatch):
    text = b"def _seen(x):\n    return x\n\n\ndef twice(x):\n    return 2 * _seen(x)\n"
    marks = bytearray(8)
    monkeypatch.setitem(sys.modules, "_seen", SimpleNamespace(SEEN=marks))
    found = {}
    exec(marshal.loads(_compiled(text, Path("m.py"), 0)[16:]), found)  # noqa: S102, S302 (own)
    assert found["twice"](3) == 6
    assert [line for line, seen in enumerate(marks) if seen] == [2, 6]


def test_rounds_hold_every_test_once_until_the_seconds_are_spent(tmp_path):
    coverage = Coverage(tmp_path / "coverage.db")
    tests = [Recorded(f"tests/{n % 7}.py", f"tests/{n % 7}.py::{n}", n / 10) for n in range(60)]
    drawn = list(campaign.rounds(tests, coverage, 1e9))
    assert sorted((t for part in drawn for t in part), key=lambda t: t.seconds) == tests
    assert drawn[0] == tests[: len(drawn[0])]
    cut = [t for part in campaign.rounds(tests, coverage, 20.0) for t in part]
    assert 0 < len(cut) < 60
    assert sum(t.seconds for t in cut) <= 20.0


def test_every_pattern_of_the_core_has_a_file():
    for pattern in campaign.CORE:
        assert any(fnmatch(f, f"src/lownoise/{pattern}") for f in campaign.core()), pattern


def test_chosen_mutants_are_of_the_core():
    assert {m.file for m in chosen(campaign.ROOT)} <= set(campaign.core())


def test_verdicts_are_of_mutants_that_stand():
    verdicts = json.loads(VERDICTS.read_text())
    judged = [*verdicts["equivalent"], *verdicts["lives"]]
    assert len(set(judged)) == len(judged)
    assert set(standing(campaign.ROOT, judged)) == set(judged)
    assert all(reason.strip() for kind in verdicts.values() for reason in kind.values())


def test_mutants_are_drawn_once():
    names = json.loads(DRAWN.read_text())
    assert len(set(names)) == len(names)


SMALL = {  # a repository of one module of the core, which a test reaches and a doctest
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--doctest-modules"]\n',
    "src/lownoise/__init__.py": "",
    "src/lownoise/numbers/__init__.py": "",
    "src/lownoise/numbers/rounding.py": (
        "def up(x):\n    return x + 1\n\n"
        'def down(x):\n    """Return less.\n\n    >>> down(2)\n    1\n    """\n    return x - 1\n\n'
        "def same(x):\n    return x * 1\n"
    ),
    "tests/test_up.py": (
        "from lownoise.numbers.rounding import same, up\n\n"
        "def test_up():\n    assert up(1) == 2\n\n"
        "def test_same():\n    assert same(0) == 0\n"
    ),
}


@pytest.mark.sweep("test_every_fault_is_planted_once_and_nothing_else_changes")
def test_a_fault_turns_a_test_or_a_doctest_red_by_the_command(tmp_path):
    """Of a small repository: one fault by a test, one by a doctest, and one lives."""
    shutil.copytree(Path(campaign.__file__).parent, tmp_path / "tests" / "mutants")
    for name in ("chosen", "drawn"):
        (tmp_path / "tests" / "mutants" / f"{name}.json").write_text("[]")
    (tmp_path / "tests" / "mutants" / "verdicts.json").write_text('{"equivalent": {}, "lives": {}}')
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.mutants", "rounding.py", "--per-file", "900"),
            *("--coverage", tmp_path / "coverage.db", "--name", "+ -> -", "- -> +", "* -> /"),
            *("--tests", "tests/test_up.py", "src/lownoise/numbers/rounding.py"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "3 drawn, 0 equivalent, 2 killed, 1 live" in done.stdout, done.stderr
    told = [part.splitlines()[0] for part in done.stdout.split(" tests: ")[1:]]
    assert "test_up.py" in told[0]
    assert "::lownoise.numbers.rounding" in told[1]
    assert done.returncode == 1  # below the goal
