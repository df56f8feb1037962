# SPDX-License-Identifier: Apache-2.0
"""A stream in a file or a state: it goes on bit for bit, or is refused and left as it is."""

import os
import sqlite3
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import FileError, StreamError
from lownoise.numbers import locked
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.streams import start, store
from refusals import one_line, sealed

ASKED = {"budget": ln.zcdp(0.5)}
CASES = {
    "prefix": (ln.Prefix(40), {}),
    "prefix of a shifted box": (
        ln.Prefix(40),
        {"domain": ln.Box([1], [3]), "relation": "substitute", "strategy": "input"},
    ),
    "sums of people": (ln.Prefix(40), {"domain": ln.Box([0], [9]), "relation": ln.Box([-1], [1])}),
    "window": (ln.SlidingWindow(40, 7), {"strategy": "square_root"}),
    "decayed": (ln.Decayed(40, 0.8), {"strategy": "output"}),
    "matrix": (np.tril(np.linspace(-1, 2, 1600).reshape(40, 40)), {"strategy": "input"}),
    "vectors": (ln.Prefix(40), {"domain": ln.Ball(3, 2.0), "strategy": "binary_tree"}),
}


@cache
def terms_of(name):
    workload, more = CASES[name]
    return ln.stream(workload, **ASKED, **more).terms


def begun(name, path=None, seed=1):
    return start(terms_of(name), randomness=SimulationRandomness(seed), path=path)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def values_of(name, count=40):
    d = terms_of(name).question.domain.dimension
    drawn = np.random.default_rng(5).normal(1, 1, (count, d))
    drawn[3] = np.nan
    return drawn[:, 0] if d == 1 else drawn


def batches(total):
    rng = np.random.default_rng(total)
    done = 0
    while done < total:
        count = int(min(rng.integers(1, 6), total - done))
        yield done, done + count
        done += count


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_a_restart_after_every_batch_changes_no_bit(name, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_BLOCK", 7)  # rounds of noise that are read together
    values = values_of(name)
    whole = begun(name).update_many(values)
    begun(name, tmp_path / "s")
    state = begun(name).state()
    for first, last in batches(len(values)):
        filed, kept = ln.Stream.open(tmp_path / "s"), ln.Stream.restore(state)
        assert filed.round == kept.round == first
        for stream in (filed, kept):
            if last == first + 1:
                found = np.array([stream.update(values[first])])
            else:
                found = stream.update_many(values[first:last])
            assert found.tobytes() == whole[first:last].tobytes()
            assert stream.last.first == first + 1
            assert stream.last.answers.tobytes() == whole[first:last].tobytes()
        state = kept.state()
    again = ln.Stream.open(tmp_path / "s")
    assert again.last.last == again.round == 40
    assert again.last.answers.tobytes() == found.tobytes()
    with pytest.raises(StreamError, match="0 of its 40 rounds left"):
        again.update(values[0])


def test_noise_that_is_not_kept_goes_on_from_what_was_drawn_ahead(tmp_path, monkeypatch):
    terms = ln.stream(ln.Prefix(9000), **ASKED, strategy="rational", memory=2).terms
    whole = start(terms, randomness=SimulationRandomness(1)).update_many(np.ones(4000))
    stream = start(terms, randomness=SimulationRandomness(1), path=tmp_path / "s")
    kept = start(terms, randomness=SimulationRandomness(1))
    assert stream.update(1) == kept.update(1) == whole[0]
    with monkeypatch.context() as patch:
        failing(patch, "COMMIT", after=False)
        with pytest.raises(FileError):
            stream.update_many([0, 0, 0])
    assert stream.update_many([1, 1]).tolist() == whole[1:3].tolist()
    again, restored = ln.Stream.open(tmp_path / "s"), ln.Stream.restore(kept.state())
    assert again.update_many(np.ones(3997)).tobytes() == whole[3:].tobytes()
    assert restored.update_many(np.ones(3999)).tobytes() == whole[1:].tobytes()
    # beyond, it draws anew, about the running sums that it had: no answer is far off
    own = again.update_many(np.ones(5000))
    exact = np.arange(4001, 9001)
    assert np.max(np.abs(own - exact) / terms.view.deviations(4000, 5000)[:, 0]) < 9
    assert abs(own[200] - exact[200] - (whole[-1] - 4000)) < 60
    state = forged(restored.state(), lambda p: p["noise"]["sums"].append([]))
    with pytest.raises(FileError):
        ln.Stream.restore(state)
    for far in (9001, -1):
        with pytest.raises(FileError, match="none of the stream's"):
            ln.Stream.restore(forged(restored.state(), lambda p, far=far: p.update(round=far)))
    state = forged(restored.state(), lambda p: p["noise"].update(ahead=3))
    with pytest.raises(FileError):
        ln.Stream.restore(state)


def test_the_noise_is_other_noise_in_another_stream():
    values = values_of("prefix")
    one = begun("prefix", seed=1).update_many(values)
    other = begun("prefix", seed=2).update_many(values)
    assert np.all(one != other)


def test_the_file_is_for_its_owner_alone_and_stands_alone(tmp_path):
    before = os.umask(0)
    try:
        begun("prefix", tmp_path / "s").update(1)
    finally:
        os.umask(before)
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
    assert names_in(tmp_path) == ["s"]


def test_a_round_of_the_last_batch_is_published_again_and_no_other(tmp_path):
    for stream in (begun("prefix"), begun("prefix", tmp_path / "s")):
        assert stream.last is None
        with pytest.raises(StreamError, match="neither"):
            stream.update(1, round=True)
        first = stream.update(1, round=1)
        assert stream.update(0, round=1) == first
        assert stream.round == 1
        many = stream.update_many([1, 0, 1])
        assert [stream.update(9, round=t) for t in (2, 3, 4)] == many.tolist()
        for wrong in (1, 0, -1, 6, 41, 2.5, 3.0, 5.0, "2", True):
            with pytest.raises(StreamError, match="neither the next one, 5"):
                stream.update(1, round=wrong)
        assert stream.round == 4
        assert stream.update(1, round=np.int64(5)) == stream.last.answers[0]
    vectors = begun("vectors", tmp_path / "v")
    answer = vectors.update([1, 2, 3], round=1)
    assert vectors.update([0, 0, 0], round=1).tolist() == answer.tolist()
    # the answer that is kept is not the caller's array
    answer = vectors.update_many([[1, 2, 3]])
    answer.setflags(write=True)
    answer[:] = 0
    assert vectors.last.answers.tolist() != answer.tolist()


def test_no_rounds_are_no_batch(tmp_path):
    stream = begun("prefix", tmp_path / "s")
    stream.update(1)
    before = (tmp_path / "s").read_bytes()
    assert stream.update_many([]).shape == (0,)
    assert stream.last.last == 1
    assert (tmp_path / "s").read_bytes() == before


def test_of_two_who_go_on_from_a_file_one_is_refused(tmp_path):
    one, whole = begun("prefix", tmp_path / "s"), begun("prefix").update_many(np.ones(40))
    other = ln.Stream.open(tmp_path / "s")
    assert one.update(1) == whole[0]
    for _ in range(2):
        with pytest.raises(StreamError, match="somebody else went on"):
            other.update(0)
        assert other.round == 0
    assert other.last is None
    assert one.update(1) == whole[1]
    again = ln.Stream.open(tmp_path / "s")
    assert again.update_many(np.ones(38)).tobytes() == whole[2:].tobytes()


def test_another_stream_in_the_files_place_is_refused(tmp_path):
    stream = begun("prefix", tmp_path / "s")
    begun("prefix", tmp_path / "t")
    (tmp_path / "t").replace(tmp_path / "s")
    with pytest.raises(StreamError, match="another stream"):
        stream.update(1)
    (tmp_path / "s").unlink()
    with pytest.raises(FileError, match="cannot be read"):
        stream.update(1)
    assert not (tmp_path / "s").exists()
    assert stream.round == 0


def refused_and_left(path):
    """Assert that no way to open the file draws anything or changes a byte."""
    before = path.read_bytes()
    for open_ in (
        lambda: ln.Stream.open(path),
        lambda: ln.stream(ln.Prefix(40), **ASKED, path=path),
        lambda: begun("prefix", path),
    ):
        with one_line(FileError):
            open_()
    assert path.read_bytes() == before


def test_a_file_that_is_cut_short_is_refused_and_left(tmp_path):
    path = tmp_path / "s"
    stream = begun("prefix", path)
    stream.update_many(np.ones(3))
    whole = path.read_bytes()
    for length in (0, 1, 15, 16, 60, 72, 99, 100, 512, *range(1000, len(whole), 2999), -1):
        path.write_bytes(whole[:length])
        refused_and_left(path)
        with pytest.raises(FileError):
            stream.update(1)
        assert stream.round == 3
    path.write_bytes(whole)
    assert stream.update(1) == begun("prefix").update_many(np.ones(4))[3]


def test_an_altered_byte_is_refused_or_says_nothing(tmp_path):
    path = tmp_path / "s"
    begun("prefix", path).update_many(np.ones(3))
    whole = path.read_bytes()
    rest = begun("prefix").update_many(np.ones(40))[3:].tobytes()
    refused = 0
    for at in range(7, len(whole), len(whole) // 120):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x21]) + whole[at + 1 :])
        try:
            stream = ln.Stream.open(path)
        except FileError:
            refused += 1
            continue
        assert stream.update_many(np.ones(37)).tobytes() == rest  # a byte that nothing uses
    assert refused > 40


def foreign(folder):
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("round,answer\n1,2\n" * 100)
    (folder / "zeros").write_bytes(bytes(8192))
    with sqlite3.connect(folder / "database") as connection:
        connection.execute("CREATE TABLE progress (id, round, content, digest)")
    connection.close()
    ln.Ledger.create(folder / "ledger", "d", ln.zcdp(1))
    begun("prefix", folder / "later")
    connection = sqlite3.connect(folder / "later")
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    begun("prefix", folder / "emptied")
    connection = sqlite3.connect(folder / "emptied", isolation_level=None)
    connection.execute("DELETE FROM progress")
    connection.close()
    begun("prefix", folder / "robbed")
    connection = sqlite3.connect(folder / "robbed", isolation_level=None)
    connection.execute("DELETE FROM noise")
    connection.close()
    begun("prefix", folder / "rolled")  # the number alone set back
    begun("prefix", folder / "rolled2")
    connection = sqlite3.connect(folder / "rolled", isolation_level=None)
    connection.execute("UPDATE progress SET round = 1")
    connection.close()
    begun("prefix", folder / "mixed", seed=3)  # noise of another stream
    connection = sqlite3.connect(folder / "mixed", isolation_level=None)
    connection.execute(f"ATTACH '{folder / 'rolled2'}' AS other")
    connection.execute("DELETE FROM noise")
    connection.execute("INSERT INTO noise SELECT * FROM other.noise")
    connection.close()


def test_what_is_no_stream_is_refused_and_left(tmp_path):
    foreign(tmp_path)
    (tmp_path / "rolled2").unlink()
    names = names_in(tmp_path)
    assert len(names) == 10
    for name in names:
        refused_and_left(tmp_path / name)
    with pytest.raises(FileError, match="version 9"):
        ln.Stream.open(tmp_path / "later")
    with pytest.raises(FileError, match="cannot be read"):
        ln.Stream.open(tmp_path)
    with pytest.raises(FileError, match="cannot be read"):
        ln.Stream.open(tmp_path / "absent")
    assert names_in(tmp_path) == names


def test_a_file_of_two_names_is_refused_under_both_unless_one_is_the_draft_of_a_crash(tmp_path):
    stream = begun("prefix", tmp_path / "s[1]")
    os.link(tmp_path / "s[1]", tmp_path / ".s[1].0f")  # as `appear` names it, killed in its midst
    assert stream.update(1) == begun("prefix").update(1)
    assert names_in(tmp_path) == ["s[1]"]
    os.link(tmp_path / "s[1]", tmp_path / "t")
    for name in ("s[1]", "t"):
        refused_and_left(tmp_path / name)
        with pytest.raises(FileError, match="has another name"):
            ln.Stream.open(tmp_path / name)
    with pytest.raises(FileError, match="has another name"):
        stream.update(1)
    assert stream.round == 1


def test_a_new_file_needs_a_folder_and_no_strangers_journal(tmp_path):
    for path in (tmp_path / "absent" / "s", "", "."):
        with pytest.raises(FileError):
            begun("prefix", path)
    (tmp_path / "s-journal").write_bytes(b"a crash of another")
    with pytest.raises(FileError, match="journal of another"):
        begun("prefix", tmp_path / "s")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError):
        begun("prefix", tmp_path / "link")
    assert names_in(tmp_path) == ["link", "s-journal"]


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"workload": ln.Prefix(41)}, "another workload, of 40 rounds and not 41; ask"),
        ({"workload": ln.SlidingWindow(40, 40)}, "another workload; ask"),
        ({"budget": ln.zcdp(0.6)}, "another budget"),
        ({"budget": ln.gaussian_dp(1.0)}, "another budget"),
        ({"error": "max"}, "another error"),
        ({"strategy": "input"}, "another strategy"),
        ({"relation": "substitute"}, "another relation"),
        ({"relation": ln.Box([-1], [1])}, "another relation"),
        ({"domain": ln.Box([0], [2])}, "another domain"),
        ({"memory": 3}, "another memory"),
    ],
)
def test_only_the_same_stream_goes_on(more, said, tmp_path):
    asked = {"workload": ln.Prefix(40), **ASKED}
    ln.stream(**asked, path=tmp_path / "s").update(1)
    before = (tmp_path / "s").read_bytes()
    with pytest.raises(FileError, match=said):
        ln.stream(**{**asked, **more}, path=tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == before
    # what is said by default and what was chosen are the same
    same = {**asked, "strategy": "optimal", "domain": ln.Box([0], [1]), "error": "mean"}
    for each in (asked, same):
        assert ln.stream(**each, path=tmp_path / "s").round == 1


def test_a_matrix_is_known_again_however_it_was_compressed(tmp_path, monkeypatch):
    from lownoise.numbers import packing

    matrix = np.tril(np.ones((9, 9)))
    ln.stream(matrix, **ASKED, path=tmp_path / "s").update(1)
    compress = packing.zlib.compress
    monkeypatch.setattr(packing.zlib, "compress", lambda content, _: compress(content, 0))
    assert ln.stream(matrix, **ASKED, path=tmp_path / "s").round == 1
    matrix[8, 0] = 1 + 2**-50
    with pytest.raises(FileError, match="another workload"):
        ln.stream(matrix, **ASKED, path=tmp_path / "s")


class Failing:
    """A connection that fails at a statement, before or after it did what it says."""

    def __init__(self, connection, statement, *, after):
        self.connection, self.statement, self.after = connection, statement, after

    def execute(self, statement, *rest):
        wrong = statement.startswith(self.statement)
        if wrong and not self.after:
            raise sqlite3.OperationalError("disk I/O error")
        found = self.connection.execute(statement, *rest)
        if wrong:
            raise sqlite3.OperationalError("disk I/O error")
        return found

    def close(self):
        self.connection.close()


def failing(patch, statement, *, after):
    """Let a statement fail in every file that is opened from now on."""
    connected = locked.LockedKind.connected

    def opened(*own, **how):
        return Failing(connected(*own, **how), statement, after=after)

    patch.setattr(locked.LockedKind, "connected", opened)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("statement", ["BEGIN", "UPDATE", "COMMIT"])
def test_what_cannot_be_saved_has_not_happened(name, statement, tmp_path, monkeypatch):
    values, whole = values_of(name), begun(name).update_many(values_of(name))
    stream = begun(name, tmp_path / "s")
    stream.update_many(values[:5])
    with monkeypatch.context() as patch:
        failing(patch, statement, after=False)
        for lost in (values[5], values[0]):
            with pytest.raises(FileError, match="cannot be used"):
                stream.update(lost)
        with pytest.raises(FileError, match="cannot be used"):
            stream.update_many(values[:30])
    assert stream.round == stream.last.last == 5
    assert stream.update_many(values[5:]).tobytes() == whole[5:].tobytes()


def test_what_was_saved_though_it_failed_is_found_and_not_drawn_again(tmp_path, monkeypatch):
    whole = begun("prefix").update_many(np.ones(40))
    stream = begun("prefix", tmp_path / "s")
    stream.update(1)
    with monkeypatch.context() as patch:
        failing(patch, "COMMIT", after=True)
        with pytest.raises(FileError):
            stream.update_many([1, 1])
    assert stream.round == 1
    with pytest.raises(StreamError, match="somebody else went on"):
        stream.update(0)
    again = ln.Stream.open(tmp_path / "s")
    assert (again.round, again.last.first) == (3, 2)
    assert again.last.answers.tolist() == whole[1:3].tolist()
    assert again.update(0, round=3) == whole[2]


def test_a_full_disk_loses_no_round(tmp_path, monkeypatch):
    terms = ln.stream(ln.Prefix(5000), **ASKED, strategy="square_root").terms
    whole = start(terms, randomness=SimulationRandomness(1)).update_many(np.ones(5000))
    stream = start(terms, randomness=SimulationRandomness(1), path=tmp_path / "s")
    stream.update(1)
    connected = locked.LockedKind.connected

    def full(*own, **how):
        connection = connected(*own, **how)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {max(pages, 4)}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(locked.LockedKind, "connected", full)
        with pytest.raises(FileError, match=r"SQLITE_FULL.*has room"):
            stream.update_many(np.ones(4999))
        with pytest.raises(FileError, match="SQLITE_FULL"):
            start(terms, randomness=SimulationRandomness(1), path=tmp_path / "t")
    assert names_in(tmp_path) == ["s"]
    assert stream.round == 1
    assert stream.update_many(np.ones(4999)).tobytes() == whole[1:].tobytes()


def test_a_file_that_is_held_is_waited_for_and_then_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(locked, "_PATIENCE", 0.05)
    stream = begun("prefix", tmp_path / "s")
    holder = sqlite3.connect(tmp_path / "s", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(FileError, match="SQLITE_BUSY"):
        stream.update(1)
    with pytest.raises(FileError, match="SQLITE_BUSY"):
        ln.Stream.open(tmp_path / "s")
    holder.close()
    assert stream.round == 0
    assert stream.update(1) == begun("prefix").update(1)


def begins_elsewhere(path):
    """Return what another process is told that begins a transaction of the file.

    Its locks are not ours: of these POSIX drops all where we close any handle of the file, as one
    that its header was read by did before 0.2.0.
    """
    code = (
        "import sqlite3, sys\n"
        "held = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try: held.execute('BEGIN IMMEDIATE'); print('begun')\n"
        "except sqlite3.OperationalError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_nobody_reads_a_round_while_another_is_answering(tmp_path, monkeypatch):
    monkeypatch.setattr(locked, "_PATIENCE", 0.05)
    one, other = begun("prefix", tmp_path / "s"), ln.Stream.open(tmp_path / "s")
    push, said = one._answers.push, []

    def meanwhile(codes):
        with pytest.raises(FileError, match="SQLITE_BUSY"):
            other.update(0)
        with pytest.raises(FileError, match="SQLITE_BUSY"):
            ln.Stream.open(tmp_path / "s")
        assert "locked" in begins_elsewhere(tmp_path / "s")
        said.append(other.round)
        return push(codes)

    one._answers.push = meanwhile
    assert one.update(1) == begun("prefix").update(1)
    assert said == [0]


def test_an_interrupt_in_a_round_ends_the_stream_in_memory_and_not_the_one_in_a_file(tmp_path):
    for path in (None, tmp_path / "s"):
        stream = begun("prefix", path)
        stream.update(1)
        push = stream._answers.push
        push_one = stream._answers.push_one

        def interrupted(codes):
            raise KeyboardInterrupt

        stream._answers.push = stream._answers.push_one = interrupted
        with pytest.raises(KeyboardInterrupt):
            stream.update(1)
        stream._answers.push, stream._answers.push_one = push, push_one
        if path is None:
            for ask in (lambda s=stream: s.update(1), stream.state):
                with pytest.raises(StreamError, match="middle of a round"):
                    ask()
        else:
            assert stream.update(1) == begun("prefix").update_many([1, 1])[1]


def test_a_stream_is_not_copied(tmp_path):
    import copy
    import pickle

    stream = begun("prefix")
    for ask in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(StreamError, match="not copied"):
            ask(stream)
    filed = begun("prefix", tmp_path / "s")
    with pytest.raises(StreamError, match="second state"):
        filed.state()


def test_a_fork_does_not_use_the_noise_again():
    stream = begun("prefix")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"answered"
        try:
            stream.update(1)
        except StreamError as error:
            said = str(error).encode()
        os.write(writer, said)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert b"forked process" in pipe.read()
    os.waitpid(child, 0)
    stream.update(1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda s: s[: len(s) // 2],
        lambda s: s[:-3],
        lambda s: s.replace(b'"round": 2', b'"round": 1'),
        lambda s: s.replace(b"few enough", b"too few"),  # and still a state
        lambda s: s.replace(b"lownoise.stream/2", b"lownoise.stream/3"),
        lambda s: s.replace(b"lownoise.stream/2", b"lownoise.plan/2"),
        lambda s: b"\xff" + s,
        lambda _: b"[]",
        lambda _: b"[" * 10**5,
    ],
)
def test_a_damaged_state_is_refused(damage):
    stream = begun("prefix")
    stream.update_many([1, 0])
    state = stream.state()
    assert damage(state) != state
    with one_line(FileError):
        ln.Stream.restore(damage(state))


def forged(state, change):
    import json

    fields = json.loads(state)
    change(fields["progress"])
    return sealed(fields).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.update(round=1),
        lambda p: p.update(round=41),
        lambda p: p.update(round=-1),
        lambda p: p.update(round=2.0),
        lambda p: p.update(noise=None),
        lambda p: p.update(noise={"kept": [0] * 38}),
        lambda p: p["answers"].clear(),
        lambda p: p["answers"].update(total=[1, 2]),
        lambda p: p["answers"].update(total=[10**30]),
        lambda p: p["last"].pop("answers"),
    ],
)
def test_a_forged_state_is_refused(change):
    stream = begun("prefix")
    stream.update_many([1, 0])
    with pytest.raises(FileError):
        ln.Stream.restore(forged(stream.state(), change))
    assert ln.Stream.restore(forged(stream.state(), lambda _: None)).round == 2


def test_nothing_is_compressed_to_open_a_file(tmp_path, monkeypatch):
    """Terms with matrices are read, and what they would be written as is compared by its shapes."""
    path = tmp_path / "window.stream"
    ln.stream(ln.SlidingWindow(8, 3), budget=ln.zcdp(0.5), path=path)
    monkeypatch.delattr("zlib.compress")
    assert ln.Stream.open(path).round == 0
