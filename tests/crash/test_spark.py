# SPDX-License-Identifier: Apache-2.0
"""A driver of Spark that dies at any step of a release loses no spend and gives none away.

Executors and tasks that die are in `engines/test_spark.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash.test_release import assert_one_clear_line, assert_paid

from command_line import WITHIN_REACH

HARNESS = Path(__file__).with_name("spark_harness.py")
# what a release goes through that pays and writes, whatever reads its table
PAYS = ("privacy/", "release/release.py", "release/codec.py:write")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, str(HARNESS), str(tmp_path_factory.mktemp("spark"))],
        env=WITHIN_REACH, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_driver_that_dies_at_any_stage_neither_loses_a_spend_nor_gives_one_away(found):
    for fact in found["killed"]:
        assert fact["code"] == -9, fact
        assert_paid(fact)
    stages = [(*fact["states"], fact["files"]) for fact in found["killed"]]
    assert stages == [("reserved", 0), ("reserved", 0), ("settled", 0), ("settled", 1)]
    # the budget is for two: the spend that the dead one reserved is not given back
    again, too_many = found["again"]
    assert again["code"] == 0, again
    assert_one_clear_line(too_many, "OverspentError: dataset='d' has too little")
    assert_paid(found["after"])


def test_what_a_driver_leaves_at_any_step_is_paid_and_the_rest_can_be_spent(found):
    facts = found["swept"]
    for fact in facts:
        assert_paid(fact)
        assert fact["files"] <= 1, fact
        assert len(fact["states"]) <= 1, fact
        assert fact["again"] == "ok", fact
        assert (fact["too-many"] == "ok") == (fact["states"] == []), fact
        assert_paid(fact["after"])
    stages = {(0,), ("reserved", 0), ("settled", 0), ("settled", 1)}
    assert {(*fact["states"], fact["files"]) for fact in facts} == stages
    # and between two stages: while the ledger is written, and a file
    beside = {name for fact in facts for name in fact["disk"][1:]}
    assert beside == {"ledger-journal", ".release.json.", "release.json"}
    # what drivers leave that do die is among them
    assert all(fact["disk"] in [own["disk"] for own in facts] for fact in found["killed"])


def test_a_driver_that_dies_at_any_step_of_several_questions_has_paid_before_the_first_answer(
    found,
):
    """Two passes of which the second is a query of its own; a spend is reserved through both."""
    names, facts = found["several"], found["swept several"]
    stages = [
        "privacy/ledger.py:reserve:call",
        "privacy/ledger.py:reserve:return",
        "engines/spark.py:fold:call",
        "engines/spark.py:fold:return",
        "engines/spark.py:group_sums:call",
        "privacy/ledger.py:settle:call",
        "privacy/ledger.py:settle:return",
        "planning/joint.py:save:call",
    ]
    begun = [names.index(name) + 1 for name in stages]
    assert begun == sorted(begun)
    asked, reserved, *_, settling, settled, _ = begun
    left = {}
    for step in range(1, len(names) + 1):
        fact = max((own for own in facts if own["step"] <= step), key=lambda own: own["step"])
        left[step] = (*fact["states"], fact["files"])
    assert {left[k] for k in range(1, asked)} == {(0,)}
    assert {left[k] for k in range(reserved, settling)} == {("reserved", 0)}
    assert {left[k] for k in range(settled, len(names))} == {("settled", 0), ("settled", 1)}
    assert left[len(names)] == ("settled", 1)
    for fact in facts:
        assert_paid(fact)
        assert fact["again"] == "ok", fact
        assert (fact["too-many"] == "ok") == (fact["states"] == []), fact
        assert_paid(fact["after"])
    # a folder that is not whole is no release
    unfinished = [fact for fact in facts if fact["files"] == 0 and fact["states"] == ["settled"]]
    assert len(unfinished) > 4
    # and one does die there, between the passes
    assert found["between"]["code"] == -9
    assert_paid(found["between"])
    assert (found["between"]["states"], found["between"]["files"]) == (["reserved"], 0)


def test_the_steps_are_those_of_a_release_in_memory_and_sparks_own(found):
    paying = [{n for n in found[own] if n.startswith(PAYS)} for own in ("known", "names")]
    assert paying[0] == paying[1]
    assert len(paying[0]) > 80
    assert len({n for n in found["names"] if n.startswith("engines/spark.py")}) > 10
