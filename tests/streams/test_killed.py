# SPDX-License-Identifier: Apache-2.0
"""`kill -9` at any step: no round is answered twice, and none with other noise."""

import json
import signal
from pathlib import Path

import pytest

from command_line import program


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    done = program(Path(__file__).with_name("killed.py"), folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_step_and_every_write_was_the_last_of_somebody(found):
    steps = [code for at, code, _ in found["killed"] if ":" in str(at)]
    sizes = [code for at, code, _ in found["killed"] if isinstance(at, int)]
    assert set(steps) == {-signal.SIGKILL}
    # those who may write no more than a size die, until the size is enough
    assert sizes.count(0) == 1
    assert set(sizes) == {-signal.SIGXFSZ, 0}
    lines = {at.split(":")[1] for at, _, _ in found["killed"] if ":line" in str(at)}
    assert lines == {"_run", "_saved", "transaction", "_write", "turn"}


def test_a_killed_stream_goes_on_where_its_answers_ended(found):
    whole, done, unseen = found["whole"], 0, []
    for _, _, said in found["killed"]:
        own = [line for line in said if line]
        if own:
            word, opened, last = own.pop(0)
            assert word == "opened"
            # what was answered was saved; at most the batch that was not seen is beyond it
            assert opened in (done, done + 3)
            unseen.append(opened - done)
            done = opened
            first, *answers = last or [1]
            assert first + len(answers) == done + 1
            assert answers == whole[first - 1 : done]
        for word, first, answers in own:
            assert (word, first, len(answers)) == ("answered", done + 1, 3)
            done += 3
            assert answers == whole[first - 1 : done]
    assert set(unseen) == {0, 3}
    # the last one found a journal beside a whole file, and took the batch back
    assert found["killed"][-1][0] == "taken back"
    assert (unseen[-1], len(said)) == (0, 3)
    first, *answers = found["last"]
    assert answers == whole[first - 1 : found["round"]]
    assert found["round"] == done
    assert found["rest"] == whole[done:]


def test_a_stream_that_was_killed_in_the_making_is_whole_or_absent(found):
    steps = [(code, left) for at, code, left in found["made"] if isinstance(at, str)]
    sizes = [(code, left) for at, code, left in found["made"] if isinstance(at, int)]
    assert set(steps) == {(-signal.SIGKILL, "absent"), (-signal.SIGKILL, True)}
    # once it has its name it is whole, to the last step
    left = [left for _, left in steps]
    named = left.index(True)
    assert left == ["absent"] * named + [True] * (len(left) - named)
    assert set(sizes) == {(-signal.SIGXFSZ, "absent")}


def test_of_several_processes_each_round_is_answered_by_one(found):
    whole, done = found["whole"], 0
    assert [code for code, _ in found["raced"]] == [0, 0, 0]
    said = [line for _, lines in found["raced"] for line in lines if line]
    answered = sorted((first, answers) for word, first, *answers in said if word == "answered")
    for first, (answers,) in answered:
        assert first == done + 1
        done += len(answers)
        assert answers == whole[first - 1 : done]
    assert done == len(whole)
    refused = [text for word, text, *_ in said if word == "refused"]
    assert all("somebody else went on" in text for text in refused)
    assert len(refused) >= 2  # all but the first of those who had all opened it at round 0


def told(lines):
    """Return the answers that somebody was told, by round."""
    for line in lines:
        if line and line[0] in ("opened", "answered"):
            word, at, own = line
            first, answers = (own[0], own[1:]) if word == "opened" and own else (at, own or [])
            yield from enumerate(answers, first)


def test_of_a_file_and_its_copy_one_goes_on_whenever_it_was_killed(found):
    answers, killed, went_on = {}, 0, []
    for name, code, said in found["counted"]:
        for t, answer in told(said):
            assert answers.setdefault(t, answer) == answer  # no round is answered by two values
        if name not in ("file", "copy"):
            assert code == -signal.SIGKILL
            killed += 1
            went_on.append([])
        elif code == 0:
            went_on[-1].append(name)
        else:
            assert code == 2
            assert "LedgerError" in said[-1]
    assert all(len(own) == 1 for own in went_on)
    # of both there are some: the copy where the ledger did not know of the batch yet
    assert {"file", "copy"} == {own for (own,) in went_on}
    lines = {name.split(":")[1] for name, _, _ in found["counted"] if ":line" in name}
    assert lines == {"_saved", "move"}
    assert killed > 30


def test_of_several_copies_each_round_is_answered_by_one(found):
    answers = {}
    for _, said in found["copies"]:
        for t, answer in told(said):
            assert answers.setdefault(t, answer) == answer
    assert sorted(answers) == list(range(1, len(found["whole"]) + 1))
    assert sorted(code for code, _ in found["copies"]) == [0, 2, 2]
    assert sum("another went on" in str(said[-1]) for _, said in found["copies"]) == 2
