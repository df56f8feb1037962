# SPDX-License-Identifier: Apache-2.0
"""`kill -9` at any moment: no round is answered twice, and none with other noise."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    program = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, program, tmp_path_factory.mktemp("killed")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_killed_stream_goes_on_where_its_answers_ended(found):
    whole, done, killed = found["whole"], 0, 0
    for code, said in found["killed"]:
        killed += code < 0
        assert code in (0, -9), said
        if not said:
            continue
        (word, at, last), *answered = said
        assert word == "opened"
        # what was answered was saved; at most the batch that was not seen is beyond it
        assert at >= done
        if last is not None:
            first, *answers = last
            assert first <= done + 1 or at == done
            assert answers == whole[first - 1 : at]
        for word, first, answers in answered:
            assert word == "answered"
            assert first == at + 1
            at += len(answers)
            assert answers == whole[first - 1 : at]
        done = at
    assert killed > 10
    assert 0 < done <= found["round"]
    first, *answers = found["last"]
    assert answers == whole[first - 1 : found["round"]]
    assert found["rest"] == whole[found["round"] :]


def test_a_stream_that_was_killed_in_the_making_is_whole_or_absent(found):
    assert set(map(str, found["made"])) == {"absent", "True"}


def test_of_several_processes_each_round_is_answered_by_one(found):
    whole = found["whole"]
    for processes in found["raced"]:
        answered = sorted(
            (line[1], line[2])
            for _, said in processes
            for line in said
            if isinstance(line, list) and line[0] == "answered"
        )
        rounds = [first for first, _ in answered]
        assert len(rounds) == len(set(rounds))
        at = 0
        for first, answers in answered:
            assert first == at + 1
            at += len(answers)
            assert answers == whole[first - 1 : at]
        assert at == len(whole)
        refused = [line["error"] for _, said in processes for line in said if "error" in line]
        assert all("somebody else went on" in text for text in refused)
        assert refused
