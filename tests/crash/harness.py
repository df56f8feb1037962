# SPDX-License-Identifier: Apache-2.0
"""Releases in forked children that something befalls; prints what is left, as JSON.

A program of its own, because a process that forks must not have opened a database. It reads lines
`MODE FOLDER`, and forks for each. The children inherit the imports and nothing else; whatever
befalls them happens at an exact step of lownoise's own functions.
"""

import importlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import befallen

COLUMNS = ("x", "y")
SIZE = 6
# every call and return is tried
CLOSELY = ("privacy/ledger", "numbers/locked", "privacy/entries", "release/release.py")
LINES = (
    "transaction",
    "_take",
    "_move",
    "_changed",
    "execute",
    "write",
)  # here every line is a step
COARSELY = ("planning/", "release/codec.py", "noise/gaussian.py", "engines/")  # calls and returns
SPREAD = 10  # of the coarse steps, where nothing is written


def prepare():
    """Import what a release uses, so that the children need not; open nothing.

    Returns the plan and the table, as columns in memory and as a database reads it: a child that
    opens one takes five times as long, and what ledger and file go through is the same.
    """
    import numpy as np
    import pyarrow as pa

    for name in ("duckdb", "flint", "ibis", "ibis.backends.duckdb", "lownoise.engines.opening"):
        importlib.import_module(name)
    import lownoise as ln
    from lownoise.engines.memory import MemorySource
    from lownoise.numbers import locked
    from lownoise.numbers.normals import taylor_table

    taylor_table()
    locked._PATIENCE = 1e6  # s, so that no load decides who is refused
    question = ln.Mean(COLUMNS, ln.Box([0, -1], [10, 1]))
    plan = ln.plan(question, budget=ln.zcdp(0.1), relation="substitute", size=SIZE)
    plan.to_json()  # makes the parts that a file has and a plan has not yet
    columns = {"x": np.array([1, 2, 3, 4, 5, np.nan]), "y": np.array([0.5] * SIZE)}
    return plan, (MemorySource(columns), pa.table(columns))


def child(job):
    return befallen.child(lambda _say: job())


def outcome(started):
    """Return how a child ended and what it said last: its result, or its error."""
    code, said = befallen.heard(started)
    return {"code": code, "said": said[-1] if said and said[-1] else ""}


def steps(at=None, act=None):
    return befallen.Steps(CLOSELY + COARSELY, LINES, at, act)


def whole(plan, table, folder, name="release.json", out=None):
    """Return the job of one whole release: ledger, table, file."""
    from lownoise.privacy import Ledger

    def job():
        plan.release(table, Ledger(folder / "ledger", "d")).save((out or folder) / name)

    return job


def fresh(folder, rho, template={}):  # noqa: B006 (a cache)
    """Make the folder with a ledger of budget ρ in it."""
    from lownoise.privacy import Ledger, zcdp

    folder.mkdir()
    if rho not in template:
        made = Ledger.create(folder / "ledger", "d", zcdp(rho))
        template[rho] = made.path.read_bytes()
    (folder / "ledger").write_bytes(template[rho])
    return folder


def left(folder, files=None):
    """Return what is on disk: the spends, and whether each release file is whole and paid."""
    from lownoise.privacy import Ledger
    from lownoise.release.release import Release

    ledger = Ledger(folder / "ledger", "d")
    entries = {e.id: e.state for e in ledger.entries()}
    releases = [Release.from_json(p.read_text()) for p in sorted((files or folder).glob("*.json"))]
    return {
        "states": list(entries.values()),
        "spent": ledger.spent().rho,
        "budget": ledger.budget().rho,
        "files": len(releases),
        "paid": [entries.get(r.spend.number) for r in releases],
        "numbers": [r.spend.number for r in releases],
        "lengths": [len(r.integers) for r in releases],
    }


def every_step(plan, table, root):
    """Return the number and names of all steps of a release, and those that are to be tried."""
    folder = fresh(root / "measured", 0.2)
    said = outcome(child(steps().during(whole(plan, table, folder))))
    assert said["code"] == 0, said
    names = said["said"]
    close = [
        k for k, n in enumerate(names, 1) if n.startswith((*CLOSELY, "release/codec.py:write"))
    ]
    rest = [k for k in range(1, len(names) + 1) if k not in set(close)]
    stride = max(1, len(rest) // SPREAD)
    return names, sorted({*close, *rest[::stride]})


def once_each(names, chosen):
    """Thin the steps to at most two of each name: the loops over entries repeat themselves."""
    seen, kept = {}, []
    for k in chosen:
        seen[names[k - 1]] = seen.get(names[k - 1], 0) + 1
        if seen[names[k - 1]] <= 2:  # reserving and settling
            kept.append(k)
    return kept


def kill(plan, tables, root):
    """Kill at every close step, and where a database reads at the coarse ones and a few others."""
    found, counted = [], 0
    for kind, table in zip(("memory", "database"), tables, strict=True):
        (root / kind).mkdir()
        names, chosen = every_step(plan, table, root / kind)
        counted += len(names)
        close = [k for k in once_each(names, chosen) if names[k - 1].startswith(CLOSELY)]
        coarse = [k for k in once_each(names, chosen) if k not in close]
        for k in close if kind == "memory" else [*close[::SPREAD], *coarse]:
            folder = fresh(root / kind / f"k{k}", 0.2)
            job = steps(k, befallen.die).during(whole(plan, table, folder))
            found.append((names[k - 1], folder, outcome(child(job))))
    table = tables[0]
    facts, met = [], set()
    for at, folder, said in found:
        state = on_disk(folder)
        fact = {"at": at, **said, **left(folder)}
        if state not in met:
            # the second release of the process that had to die, then one too many: a file or none
            for name in ("again", "too-many"):
                fact[name] = attempt(whole(plan, table, folder, f"{name}.json"))
            fact["after"] = left(folder)
        met.add(state)
        facts.append(fact)
    return {"steps": counted, "facts": facts}


def on_disk(folder):
    """Return what another process finds: the ledger but for its times, and which files there are.

    A journal and a draft have random bytes and names: of those it is how much was written.
    """
    ledger = re.sub(rb"\d{4}-\d\d-\d\dT[\d:+]+", b"", (folder / "ledger").read_bytes())
    files = (p for p in folder.iterdir() if p.name != "ledger")
    return ledger, tuple(sorted((p.name[:14], p.stat().st_size) for p in files))


def attempt(job):
    from lownoise.errors import LownoiseError

    try:
        job()
    except LownoiseError as error:
        return f"{type(error).__name__}: {error}"
    return "ok"


def vanish(plan, tables, root):
    """Move the folder away, or put a folder in the ledger's place, at steps of the release."""
    table = tables[0]
    names, chosen = every_step(plan, table, root)
    chosen = [k for k in once_each(names, chosen) if names[k - 1].startswith(CLOSELY)]
    found = []
    for what in ("moved", "replaced", "deleted"):
        for k in chosen[::2] if what == "moved" else chosen[::4]:
            folder = fresh(root / f"{what}{k}", 0.2)
            out = root / f"{what}{k}-out"
            out.mkdir()
            gone = root / f"{what}{k}-gone"

            def act(what=what, folder=folder, gone=gone):
                if what == "moved":
                    folder.rename(gone)
                    return
                (folder / "ledger").rename(folder / "moved")
                if what == "replaced":
                    (folder / "ledger").mkdir()

            job = whole(plan, table, folder, out=out)
            said = outcome(child(steps(k, act).during(job)))
            if what == "moved":
                gone.rename(folder)
            else:
                if what == "replaced":
                    (folder / "ledger").rmdir()
                (folder / "moved").rename(folder / "ledger")
            found.append((what, k, folder, out, said))
    facts = [
        {"what": what, "at": names[k - 1], **said, **left(folder, out)}
        for what, k, folder, out, said in found
    ]
    return {"steps": len(names), "facts": facts}


def disk(plan, tables, root):
    """Let no file grow beyond a size: from the start, from the settling, or from the saving on."""
    table, database = tables

    def limit(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    from lownoise.privacy import Ledger

    found = []
    names, _ = every_step(plan, table, root)
    settling = next(k for k, n in enumerate(names, 1) if ":settle:" in n)
    sizes = (0, 512, 1000, 4700, 8192, 16_384, 20_480, 10**6)
    for size in sizes:
        for since in ("start", "settle", "save"):
            folder = fresh(root / f"{since}{size}", 0.2)

            def job(size=size, since=since, folder=folder):
                if since == "start":
                    limit(size)  # and a database that is opened now may not write either
                own = database if since == "start" else table
                answer = plan.release(own, Ledger(folder / "ledger", "d"))
                if since == "save":
                    limit(size)
                answer.save(folder / "release.json")

            if since == "settle":
                job = steps(settling, lambda size=size: limit(size)).during(job)
            found.append((since, size, folder, outcome(child(job))))
    facts = []
    for since, size, folder, said in found:
        fact = {"since": since, "size": size, **said, **left(folder)}
        fact["again"] = attempt(whole(plan, table, folder, "again.json"))
        fact["after"] = left(folder)
        facts.append(fact)
    return {"facts": facts}


def race(plan, tables, root):
    """Eight whole releases at once on one ledger that pays for five, several times."""
    rounds = []
    for number in range(4):
        folder = fresh(root / f"r{number}", 0.5)
        waiting, go = os.pipe()

        table = tables[number == 0]

        def job(say, i, waiting=waiting, go=go, folder=folder, table=table):
            os.close(go)
            say("ready")
            os.read(waiting, 1)  # until the starter closes its end
            whole(plan, table, folder, f"{i}.json")()

        racers = [befallen.child(partial(job, i=i)) for i in range(8)]
        os.close(waiting)
        for _, reader in racers:
            assert reader.readline() == '"ready"\n'
        os.close(go)
        rounds.append((folder, [outcome(r) for r in racers]))
    return {"facts": [{"racers": racers, **left(folder)} for folder, racers in rounds]}


def permissions(plan, tables, _root):
    """Releases by a user who may not write, or not even look."""
    root = Path(tempfile.mkdtemp(prefix="lownoise-"))  # a folder that nobody can reach is no test
    root.chmod(0o755)
    facts = []
    try:
        cases = {
            "read-only file": (0o777, 0o444),
            "read-only folder": (0o555, 0o666),
            "unreadable file": (0o777, 0o000),
            "closed folder": (0o000, 0o666),
        }
        for name, (folder_mode, file_mode) in cases.items():
            folder = fresh(root / name.replace(" ", "-"), 0.2)
            before = (folder / "ledger").read_bytes()
            (folder / "ledger").chmod(file_mode)
            folder.chmod(folder_mode)

            def job(folder=folder):
                nobody()
                whole(plan, tables[0], folder, out=root)()

            said = outcome(child(job))
            folder.chmod(0o755)
            (folder / "ledger").chmod(0o644)
            same = (folder / "ledger").read_bytes() == before
            facts.append({"name": name, **said, "same": same, **left(folder, root)})
    finally:
        shutil.rmtree(root)
    return {"facts": facts}


def closed(plan, tables, _root):
    """What a user may not look into: a folder, and what lies in a folder in it."""
    from lownoise.cli.output import claimed
    from lownoise.device import Keeper
    from lownoise.privacy import Ledger, zcdp
    from lownoise.release.release import Release
    from lownoise.streams import Stream

    def claim(path):
        with claimed(path, ("release.json",)):
            raise AssertionError(path)

    uses = {
        "account": lambda path: Ledger.create(path, "d", zcdp(1)),
        "ledger": lambda path: Ledger(path, "d").remaining(),
        "payer": lambda path: plan.release(tables[0], str(path)),
        "release": Release.load,
        "save": plan.release(tables[0]).save,
        "keeper": lambda path: Keeper(path).spent("Ada"),
        "new keeper": Keeper.create,
        "stream": Stream.open,
        "claim": claim,
    }
    root = Path(tempfile.mkdtemp(prefix="lownoise-"))
    root.chmod(0o755)
    try:
        (root / "shut" / "within").mkdir(parents=True)
        (root / "shut").chmod(0o000)
        said = {}
        for name, use in uses.items():
            for path in (root / "shut" / "own", root / "shut" / "within" / "own"):

                def job(use=use, path=path):
                    nobody()
                    use(path)

                said[f"{name} {path.parent.name}"] = outcome(child(job))
        (root / "shut").chmod(0o755)
        return {"facts": said, "left": [own.name for own in (root / "shut").iterdir()]}
    finally:
        shutil.rmtree(root)


def nobody():
    """Be another user than root, who may do anything."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def main():
    warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
    modes = {f.__name__: f for f in (kill, vanish, disk, race, permissions, closed)}
    prepared = prepare()
    for line in sys.stdin:
        mode, root = line.rstrip("\n").split(" ", 1)
        run = partial(modes[mode], *prepared, Path(root))
        print(json.dumps(outcome(child(run))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
