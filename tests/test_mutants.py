# SPDX-License-Identifier: Apache-2.0
"""The campaign plants what it says, finds mutants where their code is now, and notices faults."""

import json
import subprocess
import sys
from fnmatch import fnmatch

from tests.mutants import campaign
from tests.mutants.__main__ import DRAWN, VERDICTS
from tests.mutants.coverage import Coverage, Recorded, statements
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


def test_a_fault_turns_a_test_or_a_doctest_red_by_the_command(tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.mutants", "rounding.py", "engines/record_codings.py"),
            *("--per-file", "900", "--coverage", tmp_path / "coverage.db"),
            *("--name", "chosen: return math.nextafter(x, math.inf)"),
            "AbstractRecordCoding._rounded: / -> *",
            *("--tests", "tests/test_rounding.py", "src/lownoise/engines/record_codings.py"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=campaign.ROOT,
    )
    assert "2 drawn, 0 equivalent, 2 killed, 0 live" in done.stdout, done.stderr
    assert "test_rounding.py" in done.stdout.split(" tests: ")[1].splitlines()[0]
    assert "::lownoise.engines.record_codings" in done.stdout.split(" tests: ")[2].splitlines()[0]
    assert done.returncode == 0
