# SPDX-License-Identifier: Apache-2.0
"""A stream's file is verified as what is promised of it, or refused; it stays as it is."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import lownoise as ln
import lownoise_check
from command_line import run
from lownoise.errors import FileError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.streams import start, store

OLD = Path(__file__).parents[1] / "golden" / "files" / "0.1"
KEPT = {"strategy": "input"}  # whose noise stands in the file
CASES = {
    "best": (ln.Prefix(40), {}),
    "kept": (ln.Prefix(40), KEPT),
    "vectors": (ln.Prefix(40), {"domain": ln.Ball(3, 2.0), "strategy": "binary_tree"}),
    "window": (ln.SlidingWindow(40, 7), {"strategy": "square_root"}),
}


def begun(path, name="kept", budget=None):
    workload, more = CASES[name]
    terms = ln.stream(workload, budget=budget or ln.zcdp(0.5), **more).terms
    return start(terms, randomness=SimulationRandomness(1), path=path)


def state_of(folder):
    """Return all files, what is in them, and when they were written."""
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("name", CASES)
def test_a_streams_file_is_verified_as_its_promise_is(name, tmp_path):
    stream = begun(tmp_path / "s", name)
    d = stream.terms.question.domain.dimension
    stream.update_many([[1.0] * d] * 3 if d > 1 else [1.0] * 3)
    before = state_of(tmp_path)
    found = ln.verify(tmp_path / "s")
    assert found
    assert found == ln.verify(stream.to_json())
    assert state_of(tmp_path) == before
    stream.update([1.0] * d if d > 1 else 1.0)
    assert stream.round == 4


def test_a_stream_under_a_pure_budget_is_verified(tmp_path):
    stream = ln.stream(ln.Prefix(40), budget=ln.pure_dp(1), path=tmp_path / "s")
    stream.update(1)
    assert ln.verify(tmp_path / "s") == ln.verify(stream.to_json())


def test_files_of_before_are_verified(tmp_path):
    every = sorted(OLD.glob("*.stream"))
    assert len(every) > 3
    for file in every:
        shutil.copyfile(file, tmp_path / "s")
        before = state_of(tmp_path)
        assert ln.verify(tmp_path / "s"), file.name
        assert state_of(tmp_path) == before


def change(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def killed_while_writing(path):
    """Write so much that a part of it is in the file, and end the process without a word."""
    program = (
        "import os, sqlite3, sys\n"
        "own = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "own.execute('PRAGMA cache_size = 1')\n"
        "own.execute('BEGIN IMMEDIATE')\n"
        "own.execute('CREATE TABLE more (content BLOB)')\n"
        "for _ in range(50):\n"
        "    own.execute('INSERT INTO more VALUES (?)', [bytes(3000)])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


ZEROS = "UPDATE {} SET content = zeroblob(length(content))"
DAMAGES = {
    "nothing": (lambda p: p.write_bytes(b""), "not JSON"),
    "a tenth": (lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 10]), "cut short"),
    "half a page": (lambda p: p.write_bytes(p.read_bytes()[:600]), "cut short"),
    "its last byte": (lambda p: p.write_bytes(p.read_bytes()[:-1]), "cut short"),
    "its terms": (lambda p: change(p, ZEROS.format("part")), "was altered"),
    "its noise": (lambda p: change(p, ZEROS.format("noise")), "was altered"),
    "its rounds": (lambda p: change(p, ZEROS.format("progress")), "was altered"),
    "no noise": (lambda p: change(p, "DELETE FROM noise"), "noise is not whole"),
    "no rounds": (lambda p: change(p, "DELETE FROM progress"), "damaged"),
    "a version": (lambda p: change(p, "PRAGMA user_version = 99"), "upgrade lownoise"),
    "another's": (lambda p: change(p, "PRAGMA application_id = 5"), "is no stream of lownoise"),
    "killed": (killed_while_writing, "go on with it once"),
    "two names": (lambda p: os.link(p, p.with_name("other")), "another name"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_another_file_is_refused_in_one_line_and_left(name, tmp_path):
    damage, said = DAMAGES[name]
    begun(tmp_path / "s").update(1)
    damage(tmp_path / "s")
    before = state_of(tmp_path)
    with pytest.raises(FileError, match=said) as refusal:
        ln.verify(tmp_path / "s")
    assert str(refusal.value).startswith(f"file={tmp_path / 's'}")
    assert "\n" not in str(refusal.value)
    assert state_of(tmp_path) == before


def test_a_stream_that_was_killed_while_writing_is_verified_once_it_went_on(tmp_path):
    begun(tmp_path / "s").update(1)
    killed_while_writing(tmp_path / "s")
    ln.Stream.open(tmp_path / "s").update(1)
    assert ln.verify(tmp_path / "s")


def test_a_ledger_is_no_stream(tmp_path):
    ln.Ledger.create(tmp_path / "l", dataset="d", budget=ln.zcdp(1))
    with pytest.raises(FileError, match="is no stream of lownoise"):
        ln.verify(tmp_path / "l")


def test_more_rounds_than_may_be_read_are_refused_before_terms_are_made(tmp_path, monkeypatch):
    begun(tmp_path / "s")
    made = []
    monkeypatch.setattr(store, "terms_from_dict", lambda *own: made.append(own))
    with pytest.raises(FileError, match=r"^file=.*largest"):
        ln.verify(tmp_path / "s", largest=1)
    assert not made


def test_verifying_drops_no_lock_of_this_process(tmp_path):
    """A handle of this process on the file, closed, would let others begin the same round."""
    stream = begun(tmp_path / "s")
    file = store.StreamFile(tmp_path / "s", bytes.fromhex(stream.identity))
    program = (
        "import sqlite3, sys\n"
        "own = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)\n"
        "own.execute('BEGIN IMMEDIATE')\n"
    )
    begin = [sys.executable, "-c", program, str(tmp_path / "s")]
    with file.turn(0):
        assert ln.verify(tmp_path / "s")
        other = subprocess.run(begin, check=False, capture_output=True, text=True)
        assert "database is locked" in other.stderr
    subprocess.run(begin, check=True)


def test_the_command_verifies_a_streams_file(tmp_path):
    begun(tmp_path / "s").update(1)
    done = run(tmp_path, "verify", "s")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Everything holds.")
    (tmp_path / "s").write_bytes((tmp_path / "s").read_bytes()[:-1])
    done = run(tmp_path, "verify", "s")
    assert done.returncode == 2
    assert done.stderr.startswith("error: file=s is cut short; ")


def test_the_checker_for_strangers_says_what_to_do_with_a_streams_file(
    tmp_path, monkeypatch, capsys
):
    begun(tmp_path / "s").update(1)
    monkeypatch.setattr(sys, "argv", ["lownoise-check", str(tmp_path / "s")])
    with pytest.raises(SystemExit) as left:
        lownoise_check.main()
    said = capsys.readouterr().err
    assert left.value.code == lownoise_check.UNREAD
    assert said.count("\n") == 1
    assert "lownoise verify FILE" in said
    assert "plan.json" in said
