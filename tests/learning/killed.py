# SPDX-License-Identifier: Apache-2.0
"""Runs in forked children that are killed; prints what they said, as JSON.

A program of its own, because a process that forks must not have opened a database:
`python killed.py FOLDER`. Each child goes on from the file by a round, and is killed at an exact
step of lownoise's code.
"""

import json
import sys
from pathlib import Path

from befallen import Steps, child, die, heard, must

SEED = 11
FILES = ("learning/run.py", "streams/stream.py")
LINES = ("advance", "write", "_saved", "_current")


def prepare():
    """Make the plan and its records, so that the children need not."""
    import lownoise as ln
    from learning.members import learning, records

    plan = learning.plan(
        learning.Logistic(), features=2, records=300, batch=2, epochs=2, clip=1.0, radius=1.0,
        budget=ln.zcdp(0.5), momentum=0.5, strategy="square_root", feature_radius=1.0,
    )  # fmt: skip
    X, y = records(plan)
    plan.leader  # noqa: B018 (the children inherit what it computes)
    return plan, X, y


def batch_of(plan, X, y, done):
    first = done % plan.request.batches * 2
    return X[first : first + 2], y[first : first + 2]


def unharmed(plan, X, y):
    """Return the model and the average before each round and after the last."""
    from learning.members import simulated

    run = simulated(plan, SEED)
    found = [(run.model.tolist(), run.average.tolist())]
    for done in range(run.rounds):
        run.update(*batch_of(plan, X, y, done))
        found.append((run.model.tolist(), run.average.tolist()))
    return found


def making(plan, path):
    def job(_say):
        from lownoise.learning.run import asked_of
        from lownoise.numbers.randomness import SimulationRandomness
        from lownoise.streams import start

        randomness = SimulationRandomness(SEED)
        start(plan.stream.terms, randomness=randomness, path=path, asked=asked_of(plan))

    return job


def going_on(plan, X, y, path):
    def job(say):
        run = plan.start(path=path)
        say(["opened", run.round, run.model.tolist(), run.average.tolist()])
        run.update(*batch_of(plan, X, y, run.round))
        say(["answered", run.round, run.model.tolist(), run.average.tolist()])

    return job


def main(folder):
    from streams.killed import few_of_each

    plan, X, y = prepare()
    path, other = folder / "run", folder / "measured"
    must(making(plan, path))
    must(making(plan, other))
    job, measured = (going_on(plan, X, y, each) for each in (path, other))
    must(job)
    must(measured)  # from the second round on all take the same steps
    names = must(Steps(FILES, LINES).during(measured))
    found = []
    for at in few_of_each(names, 1):
        dying = Steps(FILES, LINES, at, die).during(job)
        found.append((names[at - 1], *heard(child(dying))))
    found.append(("unharmed", *heard(child(job))))
    json.dump({"found": found, "unharmed": unharmed(plan, X, y)}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
