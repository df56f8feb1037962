# SPDX-License-Identifier: Apache-2.0
"""A ledger follows a stream that it paid for: of all copies of its file one goes on."""

import shutil
import sqlite3

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import FileError, LedgerError, StreamError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy import Ledger
from lownoise.streams import start, starting
from lownoise.streams.store import StreamFile

ASKED = {"workload": ln.Prefix(40), "budget": ln.zcdp(0.2), "strategy": "square_root"}


class CrashError(BaseException):
    """The program ends here."""


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger", "d", ln.zcdp(0.5))


@pytest.fixture
def whole():
    terms = ln.stream(**ASKED).terms
    return start(terms, randomness=SimulationRandomness(1)).update_many(np.ones(40))


def begun(path, ledger=None):
    terms = ln.stream(**ASKED).terms
    return start(terms, randomness=SimulationRandomness(1), path=path, ledger=ledger)


def reopened(path, ledger):
    """Return every way to open a stream's file."""
    return (
        lambda: ln.Stream.open(path),
        lambda: ln.Stream.open(path, ledger=ledger),
        lambda: starting.resume(path, {}, ledger=ledger),
        lambda: starting.resume(path, {}),
    )


def refused(path, ledger, said):
    before = path.read_bytes()
    for ask in reopened(path, ledger):
        with pytest.raises(LedgerError, match=said) as refusal:
            ask()
        assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before


@pytest.mark.grid(3)
@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("behind", [1, 3])
def test_a_copy_of_the_file_does_not_go_on_a_second_time(way, behind, ledger, whole, tmp_path):
    stream = begun(tmp_path / "s", ledger)
    stream.update(1)
    shutil.copy(tmp_path / "s", tmp_path / "copy")
    for _ in range(behind):
        stream.update(1)
    refused(tmp_path / "copy", ledger, "it is a copy, and another went on")
    again = reopened(tmp_path / "s", ledger)[way]()
    assert again.update_many(np.ones(39 - behind)).tolist() == whole[1 + behind :].tolist()


def test_of_copies_at_one_round_the_first_to_be_answered_goes_on(ledger, whole, tmp_path):
    begun(tmp_path / "s", ledger).update(1)
    shutil.copy(tmp_path / "s", tmp_path / "copy")
    one, other = ln.Stream.open(tmp_path / "s"), ln.Stream.open(tmp_path / "copy")
    third = ln.Stream.open(tmp_path / "copy")
    assert other.update(1) == whole[1]
    with pytest.raises(LedgerError, match="it is a copy"):
        one.update(0)
    assert (one.round, one.last.answers[0]) == (1, whole[0])
    with pytest.raises(StreamError, match="somebody else"):
        one.update(0)
    refused(tmp_path / "s", ledger, "it is a copy")
    with pytest.raises(StreamError, match="somebody else"):
        third.update(0)
    assert other.update(1) == whole[2]


def test_that_a_copy_is_refused_does_not_depend_on_its_values(ledger, whole, tmp_path):
    # else whoever has a copy could ask, for free, which values another has answered
    begun(tmp_path / "s", ledger).update(1)
    for name in ("copy", "alike"):
        shutil.copy(tmp_path / "s", tmp_path / name)
    one, copy, alike = (ln.Stream.open(tmp_path / name) for name in ("s", "copy", "alike"))
    assert one.update(1) == whole[1]
    said = []
    for other, value in ((copy, 0), (alike, 1)):
        with pytest.raises(LedgerError, match="it is a copy") as refusal:
            other.update(value)
        said.append(str(refusal.value).partition(": ")[2])
        refused(other.path, ledger, "it is a copy")
    assert said[0] == said[1]


@pytest.mark.parametrize("moved", [False, True])
def test_a_batch_that_was_not_seen_is_told_and_its_copy_refused(
    moved, ledger, whole, tmp_path, monkeypatch
):
    stream = begun(tmp_path / "s", ledger)
    stream.update(1)
    shutil.copy(tmp_path / "s", tmp_path / "copy")
    own = Ledger.stream_moved

    def crash(*given):
        if moved:
            own(*given)
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "stream_moved", crash)
        with pytest.raises(CrashError):
            stream.update_many([1, 1])
    if moved:  # the ledger knows, and nobody has seen the answers
        refused(tmp_path / "copy", ledger, "another went on")
    again = ln.Stream.open(tmp_path / "s")
    assert (again.round, again.last.answers.tolist()) == (3, whole[1:3].tolist())
    assert again.update(0, round=2) == whole[1]
    refused(tmp_path / "copy", ledger, "another went on")
    assert again.update(1) == whole[3]


def test_a_copy_may_go_on_where_nobody_has_seen_the_batch(ledger, whole, tmp_path, monkeypatch):
    stream = begun(tmp_path / "s", ledger)
    stream.update(1)
    shutil.copy(tmp_path / "s", tmp_path / "copy")

    def crash(*_):
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "stream_moved", crash)
        with pytest.raises(CrashError):
            stream.update(0)
    assert ln.Stream.open(tmp_path / "copy").update(1) == whole[1]
    refused(tmp_path / "s", ledger, "it is a copy")


def test_answers_are_held_back_where_the_ledger_cannot_be_written(
    ledger, whole, tmp_path, monkeypatch
):
    stream = begun(tmp_path / "s", ledger)
    stream.update(1)

    def full(*_):
        raise LedgerError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "stream_moved", full)
        with pytest.raises(LedgerError, match="no room"):
            stream.update(1)
        assert (stream.round, stream.last.answers[0]) == (1, whole[0])
        with pytest.raises(LedgerError):
            ln.Stream.open(tmp_path / "s")
    with pytest.raises(StreamError, match="open it again"):
        stream.update(0)
    assert ln.Stream.open(tmp_path / "s").last.answers[0] == whole[1]


def test_a_ledger_is_known_by_its_identifier_wherever_it_is(ledger, whole, tmp_path):
    path = tmp_path / "s"
    begun(path, ledger).update(1)
    (tmp_path / "ledger").rename(tmp_path / "moved")
    with pytest.raises(LedgerError, match="is not there; give it as ledger="):
        ln.Stream.open(path)
    other = Ledger.create(tmp_path / "ledger", "d", ln.zcdp(0.5))
    ln.stream(**ASKED, ledger=other)  # the same event under the same name and number
    refused(path, other, "not the one that paid")
    moved = Ledger(tmp_path / "moved", "d")
    assert ln.Stream.open(path, ledger=moved).update(1) == whole[1]
    shutil.copy(path, tmp_path / "copy")
    ln.Stream.open(path, ledger=moved).update(1)
    with pytest.raises(LedgerError, match="it is a copy"):
        ln.Stream.open(tmp_path / "copy", ledger=moved)


def test_an_old_copy_of_the_ledger_is_refused(ledger, tmp_path):
    stream = begun(tmp_path / "s", ledger)
    stream.update(1)
    shutil.copy(tmp_path / "ledger", tmp_path / "backup")
    stream.update(1)
    stream.update(1)
    shutil.copy(tmp_path / "backup", tmp_path / "ledger")
    refused(tmp_path / "s", ledger, "the ledger is an old copy")
    with sqlite3.connect(tmp_path / "ledger") as connection:
        connection.execute("DELETE FROM stream")
    connection.close()
    refused(tmp_path / "s", ledger, "does not know how far")


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_an_older_file_is_followed_from_where_it_is_first_opened(
    moment, ledger, whole, tmp_path, monkeypatch
):
    older = tmp_path / "s"
    with monkeypatch.context() as patch:  # as version 0.1 wrote it
        create = StreamFile.create
        patch.setattr(StreamFile, "create", lambda *given: create(*given[:6]))
        patch.setattr(Ledger, "settle", lambda own, n, **_: own._move(n, "settled"))
        begun(older, ledger)
    ln.Stream.open(older).update(1)
    shutil.copy(older, tmp_path / "copy")
    ln.Stream.open(older).update(1)  # as always, without a ledger
    shutil.copy(older, tmp_path / "later")
    if moment == "between":  # the ledger knows, and the file does not say so yet
        with monkeypatch.context() as patch:
            patch.setattr("lownoise.streams.store._count", None)
            with pytest.raises(TypeError):
                ln.Stream.open(older, ledger=ledger)
    if moment != "before":
        assert ln.Stream.open(older, ledger=ledger).update(1) == whole[2]
        for name in ("copy", "later"):
            with pytest.raises(LedgerError, match="another went on"):
                ln.Stream.open(tmp_path / name, ledger=ledger)
        assert ln.Stream.open(older).update(1) == whole[3]
        shutil.copy(older, tmp_path / "copy")
        ln.Stream.open(older).update(1)
        refused(tmp_path / "copy", ledger, "it is a copy")
    else:
        apart = ln.Stream.open(older)
        assert ln.Stream.open(older, ledger=ledger).round == 2
        with pytest.raises(StreamError, match="counted in a ledger now"):
            apart.update(1)


def test_a_stream_without_a_ledger_is_as_it_was(ledger, tmp_path):
    begun(tmp_path / "s").update(1)
    assert (tmp_path / "s").read_bytes()[60:64] == bytes([0, 0, 0, 1])  # the version
    shutil.copy(tmp_path / "s", tmp_path / "copy")
    assert ln.Stream.open(tmp_path / "s").update(1) == ln.Stream.open(tmp_path / "copy").update(1)
    with pytest.raises(LedgerError, match="did not pay"):
        ln.Stream.open(tmp_path / "s", ledger=ledger)


def test_a_ledger_holds_nothing_that_tells_of_values(ledger, tmp_path):
    # two streams with the same noise and the same values: digests have a key that is in the file
    for name in "ab":
        begun(tmp_path / name, ledger).update(1)
    with sqlite3.connect(tmp_path / "ledger") as connection:
        rows = connection.execute("SELECT id, digest FROM stream").fetchall()
    connection.close()
    assert len({own for row in rows for own in row}) == 4
    content = (tmp_path / "ledger").read_bytes()
    for name in "ab":
        with sqlite3.connect(tmp_path / name) as connection:
            (key,) = connection.execute(
                "SELECT content FROM part WHERE name = 'identity'"
            ).fetchone()
        connection.close()
        assert key not in content
        assert key.hex().encode() not in content


def test_an_altered_place_is_refused(ledger, tmp_path):
    begun(tmp_path / "s", ledger).update(1)
    for change in (
        "before = zeroblob(32)",
        "before = NULL",
        "mark = NULL",
        "round = 2",
        "digest = mark",
    ):
        shutil.copy(tmp_path / "s", tmp_path / "t")
        with sqlite3.connect(tmp_path / "t") as connection:
            connection.execute(f"UPDATE progress SET {change}")  # noqa: S608 (of this list)
        connection.close()
        with pytest.raises(FileError, match="was altered"):
            ln.Stream.open(tmp_path / "t")
