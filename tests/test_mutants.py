# SPDX-License-Identifier: Apache-2.0
"""The campaign plants what it says, knows mutants by names that last, and notices the faults."""

import json
import subprocess
import sys

import pytest
from tests.mutants import campaign
from tests.mutants.__main__ import VERDICTS
from tests.mutants.operators import chosen, mutants

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


@pytest.mark.parametrize("file", campaign.core())
def test_every_file_of_the_core_has_tests_that_stand(file):
    for stage in campaign.stages_of(file):
        for path in stage:
            assert (campaign.ROOT / path).exists(), path


def test_every_pattern_of_the_core_has_a_file():
    used = {id(campaign.stages_of(f)) for f in campaign.core()}
    assert used == {id(stages) for stages in campaign.STAGES.values()}


def test_chosen_mutants_are_of_the_core():
    assert {m.file for m in chosen(campaign.ROOT)} <= set(campaign.core())


def test_verdicts_are_of_mutants_that_stand():
    verdicts = json.loads(VERDICTS.read_text())
    judged = [*verdicts["equivalent"], *verdicts["lives"]]
    assert len(set(judged)) == len(judged)
    standing = {m.name for m in chosen(campaign.ROOT)}
    for file in {name.split("::")[0] for name in judged}:
        standing |= {m.name for m in mutants(file, (campaign.ROOT / file).read_bytes())}
    assert set(judged) <= standing
    assert all(reason.strip() for kind in verdicts.values() for reason in kind.values())


@pytest.mark.parametrize(
    ("file", "count", "name", "by"),
    [
        ("rounding.py", "0", "return math.nextafter(x, math.inf)", "rounding"),
        ("engines/signs.py", "900", "SignCoding.codes: / -> *", "::lownoise.engines.signs"),
    ],
)
def test_a_fault_turns_a_test_or_a_doctest_red_by_the_command(file, count, name, by):
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", file, "--per-file", count, "--name", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=campaign.ROOT,
    )
    assert "1 drawn, 0 equivalent, 1 killed, 0 live" in done.stdout, done.stderr
    assert by in done.stdout.split("        by ")[1].splitlines()[0]
    assert done.returncode == 0
