# SPDX-License-Identifier: Apache-2.0
"""What is spent and saved where a system call on a file fails; prints what is left, as JSON.

A program of its own, because a process that forks must not have opened a database. It reads lines
`WHAT FOLDER`, and forks for each.
"""

import errno
import json
import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np

import befallen
from calls import DIE, refused
from crash import harness
from local_model.plans import document

FULL = (
    "fallocate",
    "ftruncate",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "openat",
    "pwrite64",
    "write",
)
SPREAD = {"lost": 5, "die": 2}  # of the calls at which that is tried
VALUES = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]


def refusals(at):
    """Return what befalls calls: one fails or is the last; from it on the disk is full or lost."""
    return {
        "fails": lambda place, _: errno.EIO if place == at else 0,
        "full": lambda place, call: errno.ENOSPC if place >= at and call.split()[0] in FULL else 0,
        "lost": lambda place, call: (
            errno.EIO if place >= at and not call.startswith("close") else 0
        ),
        "die": lambda place, _: DIE if place == at else 0,
    }


class Release:
    """A release with a ledger that pays for two, saved in the place of an older one."""

    moves = True

    def __init__(self):
        self.plan, (self.table, _) = harness.prepare()

    def make(self, folder):
        harness.fresh(folder, 0.2)
        self.plan.release(self.table).save(folder / "old.json")

    def job(self, folder, say):
        from lownoise.privacy import Ledger

        release = self.plan.release(self.table, Ledger(folder / "ledger", "d"))
        say(["told", release.spend.number])
        release.save(folder / "old.json", overwrite=True)
        release.save(folder / "new.json")
        say(["saved"])

    def left(self, folder):
        from lownoise.release.release import Release as Saved

        old = Saved.from_json((folder / "old.json").read_text())
        (folder / "old.json").unlink()
        found = {"old": old.spend and old.spend.number, **harness.left(folder)}
        whole = harness.whole(self.plan, self.table, folder, "again.json")
        return {**found, "again": harness.attempt(whole), "after": harness.left(folder)}


class Stream:
    """A stream that a ledger pays for, its first batch, and the second by who opens its file."""

    moves = True

    def __init__(self):
        import lownoise as ln

        self.terms = ln.stream(
            ln.Prefix(len(VALUES)), budget=ln.zcdp(0.5), strategy="square_root"
        ).terms

    def make(self, folder):
        from lownoise.privacy import Ledger, zcdp

        folder.mkdir()
        Ledger.create(folder / "ledger", "d", zcdp(1))

    def job(self, folder, say):
        import lownoise as ln
        from lownoise.numbers.randomness import SimulationRandomness
        from lownoise.streams import start

        ledger = ln.Ledger(folder / "ledger", "d")
        stream = start(
            self.terms, randomness=SimulationRandomness(1), path=folder / "s", ledger=ledger
        )
        say(["told", 0, stream.update_many(VALUES[:2]).tolist()])
        say(["told", 2, ln.Stream.open(folder / "s").update_many(VALUES[2:4]).tolist()])

    def left(self, folder):
        import lownoise as ln
        from lownoise.errors import LownoiseError
        from lownoise.privacy import Ledger

        found = {"file": (folder / "s").exists(), "done": 0, "rest": []}
        if found["file"]:
            try:
                stream = ln.Stream.open(folder / "s")
                found["done"] = stream.round
                found["last"] = stream.last and stream.last.answers.tolist()
                found["rest"] = stream.update_many(VALUES[stream.round :]).tolist()
            except LownoiseError as error:
                found["refused"] = str(error)
        states = [entry.state for entry in Ledger(folder / "ledger", "d").entries()]
        return {**found, "states": states}


class Keeper:
    """A device's first answer, which it keeps."""

    moves = False  # a copy is refused

    def __init__(self):
        from lownoise import device

        self.plan = device.read(document("laplace"))

    def make(self, folder):
        from lownoise.device import Keeper as Kept

        folder.mkdir()
        Kept.create(folder / "answers", epsilon=1.5)

    def job(self, folder, say):
        from lownoise.device import Keeper as Kept

        kept = Kept(folder / "answers")
        say(["told", kept.randomize(self.plan, [0.5, 0.5, 0.5], person="Ada").to_json()])

    def left(self, folder):
        from lownoise.device import Keeper as Kept

        kept = Kept(folder / "answers")
        spent = kept.spent("Ada").epsilon
        later = [kept.randomize(self.plan, [-1.0, 0.0, 1.0], person="Ada").to_json() for _ in "ab"]
        return {"spent": spent, "later": later, "after": kept.spent("Ada").epsilon}


class Folder:
    """A release of marginals into a folder, paid by a ledger."""

    moves = True

    def __init__(self):
        import pandas as pd

        import lownoise as ln

        levels = {"a": ["p", "q", "r"], "b": ["u", "v"]}
        question = ln.Marginals(levels, way=2)
        self.plan = ln.plan(question, budget=ln.zcdp(0.1), relation="add_remove")
        self.table = pd.DataFrame({"a": ["p", "q", "r"], "b": ["u", "v", "v"]})

    def make(self, folder):
        harness.fresh(folder, 0.2)

    def job(self, folder, say):
        from lownoise.privacy import Ledger

        release = self.plan.release(self.table, Ledger(folder / "ledger", "d"), path=folder / "m")
        say(["told", release.spend.number, np.asarray(release.integers).tolist()])

    def left(self, folder):
        from lownoise.errors import LownoiseError
        from lownoise.privacy import Ledger
        from lownoise.release.release import Release as Saved

        states = {e.id: e.state for e in Ledger(folder / "ledger", "d").entries()}
        found = {"states": list(states.values()), "whole": False}
        try:
            saved = Saved.load(folder / "m")
            found |= {"whole": True, "paid": states.get(saved.spend.number)}
            found["integers"] = np.asarray(saved.integers).tolist()
        except LownoiseError as error:
            found["refused"] = str(error)
        return found


def tried(calls):
    """Return the places of calls to try: of those of a name on a file the first and the last."""
    named = [re.sub("[0-9a-f]{16,}", "", call) for call in calls]
    first = {own: place for place, own in reversed([*enumerate(named, 1)])}
    last = {own: place for place, own in enumerate(named, 1)}
    return sorted({*first.values(), *last.values()})


def befall(what, root):
    befallen.must(lambda _: what.make(root / "made"))

    def run(folder, decide):
        if what.moves:
            shutil.copytree(root / "made", folder)
        else:
            befallen.must(lambda _: what.make(folder))
        return refused(lambda say: what.job(folder, say), folder, decide)

    code, whole, calls = run(root / "unharmed", lambda *_: 0)
    assert code == 0, whole
    facts = []
    for number, at in enumerate(tried(calls)):
        for mode, decide in refusals(at).items():
            if mode == "full" and calls[at - 1].split()[0] not in FULL:
                continue
            if number % SPREAD.get(mode, 1):
                continue
            folder = root / f"{mode}{at}"
            code, said, _ = run(folder, decide)
            fact = {"mode": mode, "at": calls[at - 1], "code": code, "said": said}
            fact["left"] = befallen.must(lambda _, own=folder: what.left(own))
            facts.append(fact)
            shutil.rmtree(folder)
    return {"calls": calls, "whole": whole, "facts": facts}


def main():
    warnings.simplefilter("ignore")
    kinds = {own.__name__: own() for own in (Release, Stream, Keeper, Folder)}
    for line in sys.stdin:
        name, root = line.rstrip("\n").split(" ", 1)
        code, said = befallen.heard(
            befallen.child(lambda _, n=name, r=root: befall(kinds[n], Path(r)))
        )
        print(json.dumps({"code": code, "said": said[-1]}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
