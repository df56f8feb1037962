# SPDX-License-Identifier: Apache-2.0
"""Releases that die, race, or lose their disk: no spend is lost and no answer is free."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import WITHIN_REACH

HARNESS = Path(__file__).with_name("harness.py")
ONE = 0.1  # ρ of a release


@pytest.fixture(scope="module")
def befall():
    """Run modes of the harness: one process has the imports, and each mode is a fork of it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, str(HARNESS)], env=WITHIN_REACH, **pipes) as harness:

        def asked(mode, folder):
            harness.stdin.write(f"{mode} {folder}\n")
            harness.stdin.flush()
            done = json.loads(harness.stdout.readline())
            assert done["code"] == 0, done["said"]
            return done["said"]

        yield asked


def assert_paid(fact):
    """Assert what holds whatever happened: nothing overspent, no answer without its spend."""
    assert fact["spent"] <= fact["budget"], fact
    assert set(fact["paid"]) <= {"settled"}, fact
    assert len(set(fact["numbers"])) == fact["files"], fact
    assert fact["lengths"] == [2] * fact["files"], fact
    counted = [s for s in fact["states"] if s != "cancelled"]
    assert abs(fact["spent"] - ONE * len(counted)) < 1e-9, fact
    if not counted:
        assert fact["files"] == 0, fact


def assert_one_clear_line(fact, *kinds):
    assert fact["code"] == 2, fact  # an error of lownoise's own, not a traceback
    assert fact["said"].startswith(kinds), fact
    assert "\n" not in fact["said"], fact


def test_a_release_killed_at_any_step_neither_loses_a_spend_nor_gives_one_away(befall, tmp_path):
    found = befall("kill", tmp_path)
    facts = found["facts"]
    assert found["steps"] >= len(facts) > 100
    for fact in facts:
        assert fact["code"] == -9, fact
        assert_paid(fact)
        assert fact["files"] <= 1, fact
        assert len(fact["states"]) <= 1, fact
    # once for all that left the same on disk
    followed = [fact for fact in facts if "again" in fact]
    for fact in followed:
        # the budget is for two: one more works, and a third only if the dead one took nothing
        assert fact["again"] == "ok", fact
        assert (fact["too-many"] == "ok") == (fact["states"] == []), fact
        assert_paid(fact["after"])
    # the sweep went through every stage, and through what a dead process leaves between two
    stages = {(0,), ("reserved", 0), ("settled", 0), ("settled", 1)}
    assert {(*f["states"], f["files"]) for f in facts} == stages
    assert {(*f["states"], f["files"]) for f in followed} == stages
    assert len(followed) > len(stages)


def test_of_eight_releases_at_once_exactly_five_get_the_five_fifths(befall, tmp_path):
    for fact in befall("race", tmp_path)["facts"]:
        assert_paid(fact)
        assert fact["states"] == ["settled"] * 5
        assert fact["files"] == 5
        assert sorted(r["code"] for r in fact["racers"]) == [0] * 5 + [2] * 3
        for racer in fact["racers"]:
            if racer["code"]:
                assert_one_clear_line(racer, "OverspentError: dataset='d' has too little")


def test_a_full_disk_is_one_clear_error_and_no_free_answer(befall, tmp_path):
    facts = befall("disk", tmp_path)["facts"]
    for fact in facts:
        assert_paid(fact)
        if fact["code"]:
            kind = "FileError: file=" if fact["since"] == "save" else "LedgerError: ledger="
            assert_one_clear_line(fact, kind)
            assert fact["files"] == 0
        else:
            assert (fact["states"], fact["files"]) == (["settled"], 1)
        assert fact["again"] == "ok", fact  # with room again, the rest of the budget is there
        assert_paid(fact["after"])
    seen = {(f["since"], f["code"], *f["states"]) for f in facts}
    assert {("start", 2), ("settle", 2, "reserved"), ("save", 2, "settled")} <= seen
    assert all(f["code"] == 0 for f in facts if f["size"] == 10**6)


@pytest.fixture(scope="module")
def vanished(befall, tmp_path_factory):
    return befall("vanish", tmp_path_factory.mktemp("vanish"))["facts"]


def test_a_ledger_that_vanishes_midway_gives_no_free_answer(vanished):
    assert {f["what"] for f in vanished} == {"moved", "replaced", "deleted"}
    assert len(vanished) > 80
    for fact in vanished:
        assert_paid(fact)
        assert (fact["code"] == 0) == (fact["files"] == 1), fact
        assert len(fact["states"]) <= 1, fact
    assert {f["code"] for f in vanished} >= {0, 2}


def test_a_ledger_that_vanishes_midway_is_a_clear_error(vanished):
    for fact in vanished:
        if fact["code"]:
            assert_one_clear_line(fact, "LedgerError: ")


@pytest.fixture(scope="module")
def forbidden(befall, tmp_path_factory):
    facts = befall("permissions", tmp_path_factory.mktemp("permissions"))["facts"]
    return {fact["name"]: fact for fact in facts}


CASES = ["read-only file", "read-only folder", "unreadable file", "closed folder"]


@pytest.mark.parametrize("case", CASES)
def test_a_ledger_that_may_not_be_written_is_left_alone(forbidden, case):
    assert_paid(forbidden[case])
    assert forbidden[case]["same"]
    assert (forbidden[case]["states"], forbidden[case]["files"]) == ([], 0)


@pytest.mark.parametrize("case", CASES)
def test_a_ledger_that_may_not_be_written_is_a_clear_error(forbidden, case):
    assert_one_clear_line(forbidden[case], "LedgerError: ledger=")


def test_a_folder_that_may_not_be_looked_into_is_a_clear_error(befall, tmp_path):
    found = befall("closed", tmp_path)
    assert found["left"] == ["within"]
    for name, fact in found["facts"].items():
        field = {"release": "file=", "save": "file=", "stream": "file=", "claim": "folder="}
        kind = field.get(name.split()[0], "ledger=" if "keeper" not in name else "keeper=")
        assert_one_clear_line(fact, f"FileError: {kind}", f"LedgerError: {kind}")
        assert "cannot be" in fact["said"], fact
