# SPDX-License-Identifier: Apache-2.0
"""A device that dies at any step told nobody an answer that it does not remember."""

import json
import subprocess
import sys
from pathlib import Path

from command_line import WITHIN_REACH
from local_model.plans import document
from lownoise.device import Keeper

HARNESS = Path(__file__).with_name("keeper_harness.py")


def test_killed_at_any_step_an_answer_is_stored_or_was_told_to_nobody(tmp_path):
    (tmp_path / "plan.json").write_text(document("laplace"))
    Keeper.create(tmp_path / "template")
    done = subprocess.run(
        [sys.executable, str(HARNESS), str(tmp_path)],
        env=WITHIN_REACH, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert len(facts) > 60
    for fact in facts:
        assert fact["code"] == -9, fact
        assert fact["said"] == [], fact
        # stored or not, one answer is charged once, and told whenever it is asked for
        assert fact["spent"] in (0.0, 1.0), fact
        assert fact["after"] == 1.0, fact
        assert fact["one"], fact
    stages = [fact["spent"] for fact in facts]
    assert stages == sorted(stages)
    assert {0.0, 1.0} == set(stages)
    # what is drawn is stored within the transaction that drew it
    drawn = next(k for k, fact in enumerate(facts) if ":reports:" in fact["at"])
    stored = stages.index(1.0)
    assert drawn < stored
    # and told only when it is stored: the last steps of `randomize` come after that
    assert any("keeper.py:randomize:line" in fact["at"] for fact in facts[stored:])
