# SPDX-License-Identifier: Apache-2.0
"""A driver of Spark that dies at any stage of a release loses no spend and gives none away.

Executors and tasks that die are in `engines/test_spark.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.crash.test_release import assert_one_clear_line, assert_paid

from command_line import WITHIN_REACH

HARNESS = Path(__file__).with_name("spark_harness.py")


def test_a_driver_that_dies_at_any_stage_neither_loses_a_spend_nor_gives_one_away(tmp_path):
    done = subprocess.run(
        [sys.executable, str(HARNESS), str(tmp_path)],
        env=WITHIN_REACH, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for fact in found["facts"]:
        assert fact["code"] == -9, fact
        assert_paid(fact)
    stages = [(*fact["states"], fact["files"]) for fact in found["facts"]]
    assert stages == [("reserved", 0), ("reserved", 0), ("settled", 0), ("settled", 1)]
    # the budget is for two: the spend that the dead one reserved is not given back
    again, too_many = found["again"]
    assert again["code"] == 0, again
    assert_one_clear_line(too_many, "OverspentError: dataset='d' has too little")
    assert_paid(found["after"])
