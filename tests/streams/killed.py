# SPDX-License-Identifier: Apache-2.0
"""Streams in forked children that are killed; prints what they said and what is left, as JSON.

A program of its own, because a process that forks must not have opened a database:
`python killed.py FOLDER`. The children inherit the imports and nothing else. Each is killed at an
exact step of lownoise's code, or within the write that passes an exact size of a file.
"""

import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path

from befallen import Steps, child, die, die_beyond, heard, must

ROUNDS, BATCH = 1500, 3
SEED = 11
FILES = ("numbers/locked.py", "streams/files.py", "streams/store.py", "streams/stream.py")
LINES = ("create", "_fill", "publish", "turn", "transaction", "_write", "_saved", "_run")
COUNTED = ("streams/stream.py", "streams/accounts.py", "privacy/entries.py")
COUNTED_LINES = ("_saved", "move")
SECTOR = 512  # bytes; a page is 8 of them
RACERS = 3


def prepare():
    """Import what a stream uses and make its terms, so that the children need not."""
    import numpy as np

    import lownoise as ln
    from lownoise.numbers import locked
    from lownoise.numbers.randomness import SimulationRandomness
    from lownoise.streams import start

    locked._PATIENCE = 1e6  # s, so that no load decides who is refused
    terms = ln.stream(ln.Prefix(ROUNDS), budget=ln.zcdp(0.5), strategy="square_root").terms
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, ROUNDS).astype(float)
    whole = start(terms, randomness=SimulationRandomness(SEED)).update_many(values)
    return terms, values, whole


def making(terms, path, account=None):
    def job(_say):
        from lownoise import Ledger, zcdp
        from lownoise.numbers.randomness import SimulationRandomness
        from lownoise.streams import start

        ledger = account and Ledger.create(account, "d", zcdp(1))
        start(terms, randomness=SimulationRandomness(SEED), path=path, ledger=ledger)

    return job


def going_on(values, path, batch, most=ROUNDS):
    """Return the job of going on from a file, a batch at a time, to its end or `most` rounds."""

    def job(say):
        import lownoise as ln

        stream = ln.Stream.open(path)
        last = stream.last
        say(["opened", stream.round, None if last is None else [last.first, *last.answers]])
        upto = min(ROUNDS, stream.round + most)
        while stream.round < upto:
            first = stream.round
            answers = stream.update_many(values[first : first + batch]).tolist()
            say(["answered", first + 1, answers])

    return job


def limited(size, job):
    def run(say):
        die_beyond(size)
        job(say)

    return run


def killed_while_it_goes_on(terms, values, folder):
    """Kill, one after the other, those who go on from one file: at each step, and in each write.

    The last finds a file that was written to its end beside a journal that says to take it back.
    """
    path, other = folder / "s", folder / "measured"
    must(making(terms, path))
    must(making(terms, other))
    job, measured = (going_on(values, each, BATCH, BATCH) for each in (path, other))
    must(measured)  # from the second batch on all take the same steps
    names = must(Steps(FILES, LINES).during(measured))
    found = [("unharmed", *heard(child(job)))]
    for at in few_of_each(names):
        dying = Steps(FILES, LINES, at, die).during(job)
        found.append((names[at - 1], *heard(child(dying))))
    size = 0
    while found[-1][1]:
        found.append((size, *heard(child(limited(size, job)))))
        size += SECTOR
    shutil.copy(path, other)
    must(measured)
    found.append((size, *heard(child(limited(size - 2 * SECTOR, job)))))
    shutil.copy(other, path)
    found.append(("taken back", *heard(child(job))))
    return found


def few_of_each(names, most=2):
    """Return the numbers of the steps but those of loops that go round more than a few times."""
    seen, kept = {}, []
    for at, name in enumerate(names, 1):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= most:
            kept.append(at)
    return kept


def killed_while_it_is_made(terms, folder):
    folder.mkdir()
    names = must(Steps(FILES, LINES).during(making(terms, folder / "whole")))
    size = (folder / "whole").stat().st_size
    found = []
    for at in few_of_each(names):
        job = Steps(FILES, LINES, at, die).during(making(terms, folder / f"step{at}"))
        found.append((f"step{at}", names[at - 1], heard(child(job))[0]))
    for most in range(0, size, 8 * SECTOR):
        job = limited(most, making(terms, folder / f"size{most}"))
        found.append((f"size{most}", most, heard(child(job))[0]))
    return found


def killed_before_the_answer(terms, values, folder):
    """Kill those who go on from a file that a ledger follows; then a copy from before them goes on.

    Or rather tries to, with other values: after every other kill before the file itself does, and
    after the others behind it. The next to be killed goes on from the one that could.
    """
    folder.mkdir()
    path, copy = folder / "s", folder / "copy"
    must(making(terms, path, folder / "ledger"))
    must(making(terms, folder / "measured", folder / "other"))
    job, measured = (going_on(values, each, BATCH, BATCH) for each in (path, folder / "measured"))
    must(measured)
    names = must(Steps(COUNTED, COUNTED_LINES).during(measured))
    found = []
    # each step the last time it is taken: of those at the opening too, the batch's
    last = {name: at for at, name in enumerate(names, 1)}.values()
    for turn, at in enumerate(sorted(last)):
        shutil.copy(path, copy)
        found.append(
            (names[at - 1], *heard(child(Steps(COUNTED, COUNTED_LINES, at, die).during(job))))
        )
        own, other = ("file", job), ("copy", going_on(1 - values, copy, BATCH, BATCH))
        for name, each in (other, own) if turn % 2 else (own, other):
            found.append((name, *heard(child(each))))
        went_on = [name for name, code, _ in found[-2:] if code == 0]
        if went_on == ["copy"]:
            shutil.copy(copy, path)
    return found


def raced(terms, values, path, ledger=None):
    """Let several go on from one file at once; none begins before all have opened it.

    Where a ledger follows it each has a copy of its own, and values of its own.
    """
    must(making(terms, path, ledger))
    waiting, go = os.pipe()
    paths = [path] * RACERS
    if ledger is not None:
        paths = [path.with_name(f"{path.name}{i}") for i in range(RACERS)]
        for own in paths:
            shutil.copy(path, own)

    def job(number, say):
        from lownoise.errors import StreamError

        own = values if ledger is None else (values + number) % 2

        os.close(go)

        def held(said):
            say(said)
            if said[0] == "opened":
                os.read(waiting, 1)  # until the starter closes its end

        while True:
            try:
                return going_on(own, paths[number], 11)(held)
            except StreamError as error:
                say(["refused", str(error)])

    racers = [child(partial(job, number)) for number in range(RACERS)]
    os.close(waiting)
    for _, reader in racers:
        assert json.loads(reader.readline())[:2] == ["opened", 0]
    os.close(go)
    return [heard(each) for each in racers]


def main(folder):
    terms, values, whole = prepare()
    found = {"whole": whole.tolist()}
    found["killed"] = killed_while_it_goes_on(terms, values, folder)
    made = killed_while_it_is_made(terms, folder / "made")
    found["raced"] = raced(terms, values, folder / "r")
    found["counted"] = killed_before_the_answer(terms, values, folder / "counted")
    found["copies"] = raced(terms, values, folder / "c", folder / "ledger")
    # no child is forked any more: a database may be opened
    import lownoise as ln
    from lownoise.errors import LownoiseError

    def left(path):
        if not path.exists():
            return "absent"
        try:
            return ln.Stream.open(path).update_many(values).tolist() == found["whole"]
        except LownoiseError as error:
            return str(error)

    found["made"] = [(at, code, left(folder / "made" / name)) for name, at, code in made]
    stream = ln.Stream.open(folder / "s")
    found["round"] = stream.round
    found["last"] = [stream.last.first, *stream.last.answers]
    found["rest"] = stream.update_many(values[stream.round :]).tolist()
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
