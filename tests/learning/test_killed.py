# SPDX-License-Identifier: Apache-2.0
"""Whatever step a run is killed at, it goes on as if it had not been."""

import json
import signal
from pathlib import Path

from command_line import program


def test_a_run_goes_on_bit_for_bit_whatever_step_it_is_killed_at(tmp_path):
    done = program(Path(__file__).with_name("killed.py"), tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    whole, rounds, answered = found["unharmed"], [], 0
    for _, code, said in found["found"]:
        assert code in (0, -signal.SIGKILL)
        for event, at, model, average in said[:2]:
            assert [model, average] == whole[at]
            answered += event == "answered"
            rounds.append(at)
    assert rounds == sorted(rounds)
    assert len(found["found"]) > 60
    assert answered < rounds[-1] - 3  # some were killed after their batch was saved
