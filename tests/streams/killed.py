# SPDX-License-Identifier: Apache-2.0
"""Streams in forked children that are killed; prints what they said and what is left, as JSON.

A program of its own, because a process that forks must not have opened a database:
`python killed.py FOLDER`. The children inherit the imports and nothing else.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

ROUNDS = 1500
KILLS, CREATIONS, RACES = 20, 12, 1
SEED = 11


def prepare():
    """Import what a stream uses and make its terms, so that the children need not."""
    import numpy as np

    import lownoise as ln
    from lownoise.entropy import SimulationEntropy
    from lownoise.streams import start

    terms = ln.stream(ln.Prefix(ROUNDS), budget=ln.zcdp(0.5), strategy="square_root").terms
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, ROUNDS).astype(float)
    whole = start(terms, entropy=SimulationEntropy(SEED)).update_many(values)
    return terms, values, whole


def begin(terms, path):
    from lownoise.entropy import SimulationEntropy
    from lownoise.streams import start

    return start(terms, entropy=SimulationEntropy(SEED), path=path)


def child(job):
    """Run a job in a fork that writes lines to a pipe; return its process and the pipe."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.close(reader)
        code = 1
        try:
            job(lambda said: os.write(writer, (json.dumps(said) + "\n").encode()))
            code = 0
        except Exception as error:  # noqa: BLE001 (the parent judges)
            os.write(writer, (json.dumps({"error": f"{type(error).__name__}: {error}"})).encode())
        finally:
            os._exit(code)
    os.close(writer)
    return process, reader


def heard(process, reader):
    """Wait for a child and return the whole lines that it said."""
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    lines = said.split(b"\n")
    return code, [json.loads(line) for line in lines if line.endswith((b"}", b"]"))]


def going_on(values, path, batch):
    """Return the job of going on from a file to its end, a batch at a time."""

    def job(say):
        import lownoise as ln

        stream = ln.Stream.open(path)
        last = stream.last
        say(["opened", stream.round, None if last is None else [last.first, *last.answers]])
        while stream.round < ROUNDS:
            first = stream.round
            if batch == 1:
                answers = [stream.update(values[first], round=first + 1)]
            else:
                answers = stream.update_many(values[first : first + batch]).tolist()
            say(["answered", first + 1, answers])

    return job


def killed_while_it_goes_on(terms, values, path, rng):
    said = []
    made = child(lambda _: begin(terms, path))
    assert heard(*made)[0] == 0
    for _ in range(KILLS):
        process, reader = child(going_on(values, path, rng.choice([1, 1, 3, 10])))
        time.sleep(rng.uniform(0.03, 0.12))
        os.kill(process, signal.SIGKILL)
        said.append(heard(process, reader))
    return said


def killed_while_it_is_made(terms, folder, rng):
    folder.mkdir()
    for number in range(CREATIONS):
        process, reader = child(lambda _, n=number: begin(terms, folder / f"{n}"))
        time.sleep(rng.uniform(0.0, 0.08))
        os.kill(process, signal.SIGKILL)
        heard(process, reader)


def raced(terms, values, path):
    """Let several go on from one file at once."""
    assert heard(*child(lambda _: begin(terms, path)))[0] == 0
    both = [child(going_on(values, path, 11)) for _ in range(3)]
    return [heard(*each) for each in both]


def main(folder):
    rng = random.Random(1)  # noqa: S311 (of when to kill)
    terms, values, whole = prepare()
    found = {"whole": whole.tolist()}
    found["killed"] = killed_while_it_goes_on(terms, values, folder / "s", rng)
    killed_while_it_is_made(terms, folder / "made", rng)
    found["raced"] = [raced(terms, values, folder / f"r{k}") for k in range(RACES)]
    # no child is forked any more: a database may be opened
    import lownoise as ln
    from lownoise.errors import LownoiseError

    found["made"] = []
    for number in range(CREATIONS):
        path = folder / "made" / f"{number}"
        fact = "absent"
        if path.exists():
            try:
                fact = ln.Stream.open(path).update_many(values).tolist() == found["whole"]
            except LownoiseError as error:
                fact = str(error)
        found["made"].append(fact)
    stream = ln.Stream.open(folder / "s")
    found["round"] = stream.round
    found["last"] = [stream.last.first, *stream.last.answers]
    found["rest"] = stream.update_many(values[stream.round :]).tolist()
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
