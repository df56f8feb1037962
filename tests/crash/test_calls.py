# SPDX-License-Identifier: Apache-2.0
"""A disk that fails, fills or is lost at any system call: no spend is lost, no answer is free."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from calls import able
from command_line import WITHIN_REACH
from crash.test_release import assert_paid

HARNESS = Path(__file__).with_name("calls_harness.py")
pytestmark = pytest.mark.skipif(not able(), reason="only Linux can be told to refuse calls")


@pytest.fixture(scope="module")
def befall(tmp_path_factory):
    """Return what is left of what by its name: one process has the imports."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    known = {}
    with subprocess.Popen([sys.executable, str(HARNESS)], env=WITHIN_REACH, **pipes) as harness:

        def asked(what):
            if what not in known:
                harness.stdin.write(f"{what} {tmp_path_factory.mktemp(what)}\n")
                harness.stdin.flush()
                done = json.loads(harness.stdout.readline())
                assert done["code"] == 0, done["said"]
                known[what] = done["said"]
            return known[what]

        yield asked


def told(fact):
    return [own[1:] for own in fact["said"] if isinstance(own, list) and own[0] == "told"]


def assert_clear(found, kinds):
    """Assert that what fails is one line of our own, and that the sweep met every kind of end."""
    for fact in found["facts"]:
        if fact["mode"] == "die":
            assert fact["code"] == -9, fact
        elif fact["code"]:
            assert fact["code"] == 2, fact
            assert fact["said"][-1].startswith(kinds), fact
            assert "\n" not in fact["said"][-1], fact
    assert {(f["mode"], f["code"]) for f in found["facts"]} >= {
        ("fails", 0), ("fails", 2), ("full", 2), ("lost", 2), ("die", -9),
    }  # fmt: skip


def test_no_refused_call_gives_a_release_away_or_takes_one(befall):
    found = befall("Release")
    assert_clear(found, ("LedgerError: ", "FileError: "))
    stages = set()
    assert len(found["facts"]) > 80
    for fact in found["facts"]:
        left, given = fact["left"], told(fact)
        assert_paid(left)
        assert len(left["states"]) <= 1, fact
        if given:
            assert left["states"] == ["settled"], fact
        # what was there is whole: the older release, which nothing paid, or the newer one
        assert left["old"] in (None, 1), fact
        if ["saved"] in fact["said"]:
            assert (left["old"], left["files"]) == (1, 1), fact
        assert left["again"] == "ok", fact
        assert_paid(left["after"])
        stages.add((*left["states"], left["old"], left["files"]))
    everything = {(None, 0), ("reserved", None, 0), ("settled", None, 0)}
    assert stages >= everything | {("settled", 1, 0), ("settled", 1, 1)}


def test_a_release_is_on_disk_before_it_has_its_name_and_its_name_before_it_is_saved(befall):
    """Each file is synced, then named, then its folder is: else a loss of power could take it."""
    calls = [call.split(".")[0] for call in befall("Release")["calls"]]
    saving = calls[max(i for i, call in enumerate(calls) if call.endswith(" /ledger")) + 1 :]
    kept = ("fsync", "link", "linkat", "rename", "renameat")
    own = [call.removesuffix("at") for call in saving if call.split()[0] in kept]
    one = ["fsync /", "link /", "rename /", "fsync /"], ["fsync /", "link /", "fsync /"]
    assert own == [*one[0], *one[1]]


@pytest.mark.sweep("test_no_refused_call_gives_a_release_away_or_takes_one")
def test_no_refused_call_makes_a_stream_answer_twice(befall):
    found = befall("Stream")
    assert_clear(found, ("LedgerError: ", "FileError: "))
    whole = {first: answers for _, first, answers in found["whole"][:2]}
    for fact in found["facts"]:
        left = fact["left"]
        for first, answers in told(fact):
            assert answers == whole[first], fact
        # the file is at the last answers that were told, or one batch beyond
        done = 2 * len(told(fact))
        if told(fact):
            assert left["states"] == ["settled"], fact
        if left.get("refused"):
            assert (done, left["states"]) == (0, ["cancelled"]), fact
            assert "is not in the ledger any more" in left["refused"], fact
        elif left["file"]:
            assert left["done"] in (done, done + 2), fact
            assert left["states"] == ["settled"], fact  # since it was opened
            if left["done"]:
                assert left["last"] == whole[left["done"] - 2], fact
            assert len(left["rest"]) == 6 - left["done"], fact
            for first in range(left["done"], 4, 2):
                at = first - left["done"]
                assert left["rest"][at : at + 2] == whole[first], fact
    ends = {(f["left"]["file"], f["left"]["done"]) for f in found["facts"]}
    assert ends >= {(False, 0), (True, 0), (True, 2), (True, 4)}


@pytest.mark.sweep("test_no_refused_call_gives_a_release_away_or_takes_one")
def test_no_refused_call_makes_a_device_answer_twice(befall):
    found = befall("Keeper")
    assert_clear(found, ("LedgerError: ",))
    for fact in found["facts"]:
        left = fact["left"]
        assert left["spent"] in (0.0, 1.0), fact
        assert left["after"] == 1.0, fact
        assert len({*left["later"], *(own for (own,) in told(fact))}) == 1, fact
        if told(fact):
            assert left["spent"] == 1.0, fact
    assert {f["left"]["spent"] for f in found["facts"]} == {0.0, 1.0}


@pytest.mark.sweep("test_no_refused_call_gives_a_release_away_or_takes_one")
def test_no_refused_call_leaves_a_folder_that_passes_for_a_release(befall):
    found = befall("Folder")
    assert_clear(found, ("LedgerError: ", "FileError: "))
    for fact in found["facts"]:
        left = fact["left"]
        if left["whole"]:
            assert left["paid"] == "settled", fact
        for number, integers in told(fact):
            assert (number, left["states"], left["whole"]) == (1, ["settled"], True), fact
            assert left["integers"] == integers, fact
    assert {f["left"]["whole"] for f in found["facts"]} == {True, False}
