# SPDX-License-Identifier: Apache-2.0
"""Releases on Spark in forked drivers that die at a step; prints what is left, as JSON.

Java runs beside, as it does for every driver; each fork is a driver of its own to it, and dies as
Python does. A program of its own, because a process that forks must not have opened a database.

What `kill -9` leaves of a ledger and of files is what is on disk at that step. So a folder is
copied after every step of one release that changed it, and each copy is what a driver leaves that
dies there or at any step until the next one. Some drivers do die, at each stage, and leave that.
"""

import json
import os
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path

import befallen
import sparks
from crash import harness

FILES = (*harness.CLOSELY, *harness.COARSELY, "release/folders.py", "release/members.py")
ROWS = ("double(id) AS x", "double(id % 2) AS y", "double(id % 2) AS z")
BETWEEN = "engines/spark.py:fold:return"  # of several questions: before distinct records come
STEPS = (
    "a task",  # on an executor, while the driver waits for it
    "engines/spark.py:fold:return",
    "privacy/ledger.py:settle:return",
    "release/codec.py:write:return",
)


class DyingAt(befallen.Steps):
    """Die at the first step of a name."""

    def __init__(self, name):
        super().__init__(FILES, harness.LINES)
        self._name = name

    def _step(self, file, frame, event):
        super()._step(file, frame, event)
        if self.names[-1] == self._name:
            befallen.die()


class Copying(befallen.Steps):
    """Copy a folder after every step that changed what is in it; a copy's name is the step."""

    def __init__(self, folder, copies):
        super().__init__(FILES, harness.LINES)
        self._folder, self._copies, self._last = folder, copies, None

    def _step(self, file, frame, event):
        super()._step(file, frame, event)
        own = {path: path.read_bytes() for path in self._folder.rglob("*") if path.is_file()}
        if own != self._last:
            for path, content in own.items():
                copy = self._copies / f"{len(self.names)}" / path.relative_to(self._folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
            self._last = own


def driven(job):
    """Return the job in a driver of its own, on the Java that runs."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java = SparkContext._gateway.java_parameters
    named = {"PYSPARK_GATEWAY_PORT": str(java.port), "PYSPARK_GATEWAY_SECRET": java.auth_token}

    def run():
        os.environ.update(named)
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        gateway = launch_gateway()
        scala = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
        context = gateway.jvm.org.apache.spark.api.java.JavaSparkContext(scala)
        conf = SparkConf(_jconf=context.getConf())
        own = SparkContext(gateway=gateway, jsc=context, conf=conf)
        own.pythonExec = sys.executable
        return job(SparkSession(own).range(6).selectExpr(*ROWS))

    return run


def killing(driver, batches):
    """Kill the driver from a task; what comes after it does not matter."""
    os.kill(driver, 9)
    yield from batches


def on_disk(folder):
    """Return the ledger but for its times, shortened, and which other files there are."""
    ledger, files = harness.on_disk(folder)
    return [sha256(ledger).hexdigest(), *(name for name, _ in files)]


def left_at(copies, names, plan, table, ending=".json", left=harness.left):
    """Return what a driver leaves that dies at each of the steps that changed something."""
    facts = []
    for folder in sorted(copies.iterdir(), key=lambda own: int(own.name)):
        step = int(folder.name)
        fact = {"step": step, "at": names[step - 1], "disk": on_disk(folder), **left(folder)}
        for name in ("again", "too-many"):
            fact[name] = harness.attempt(harness.whole(plan, table, folder, f"{name}{ending}"))
        facts.append({**fact, "after": left(folder)})
    return facts


def several():
    """Return a plan of two questions, one of which is read in a query of its own, and a table."""
    import numpy as np

    import lownoise as ln
    from lownoise.engines.memory import MemorySource

    wide = ln.Marginals({"y": 2, "z": 2, "x": 1 << 21}, sets=[["y"], ["y", "z"]], outside="extra")
    asked = {"mean": ln.Mean(["x"], ln.Box([0], [10])), "wide": wide}
    plan = ln.together(asked, budget=ln.zcdp(0.1), relation="add_remove")
    ids = np.arange(6.0)
    return plan, MemorySource({"x": ids, "y": ids % 2, "z": ids % 2})


def left_of_several(folder):
    """Return as `harness.left`, of whole folders of releases of several questions."""
    import lownoise as ln
    from lownoise.privacy import Ledger

    ledger = Ledger(folder / "ledger", "d")
    entries = {e.id: e.state for e in ledger.entries()}
    found = [ln.JointRelease.load(p.parent) for p in sorted(folder.glob("*/together.json"))]
    numbers = [own["mean"].spend.number for own in found]
    return {
        "states": list(entries.values()),
        "spent": ledger.spent().rho,
        "budget": ledger.budget().rho,
        "files": len(found),
        "paid": [entries.get(number) for number in numbers],
        "numbers": numbers,
        "lengths": [len(own) for own in found],
    }


def main(root):
    from lownoise.engines.source import Columns
    from lownoise.engines.spark import opened

    opened(sparks.session().range(1), Columns(["id"]))  # which asks the executors, once
    plan, (table, _) = harness.prepare()

    def release(folder, steps, at=None, name="release.json", plan=plan):
        def job(rows):
            if at == "a task":
                kinds = ", ".join(f"{column} double" for column in rows.columns)
                rows = rows.mapInArrow(partial(killing, os.getpid()), kinds)
            return steps.during(harness.whole(plan, rows, folder, name))()

        return harness.outcome(harness.child(driven(job)))

    killed = []
    for number, at in enumerate(STEPS):
        folder = harness.fresh(root / f"k{number}", 0.2)
        said = release(folder, DyingAt(at), at)
        killed.append({"at": at, **said, "disk": on_disk(folder)})
        killed[-1] |= harness.left(folder)
    folder = root / f"k{STEPS.index('a task')}"
    again = [release(folder, DyingAt(None), name=f"{n}.json") for n in ("again", "too-many")]
    known, _ = harness.every_step(plan, table, root)
    (root / "copies").mkdir()
    steps = Copying(harness.fresh(root / "whole", 0.2), root / "copies")
    done = release(root / "whole", steps)
    assert done["code"] == 0, done
    pair, rows = several()
    between = release(harness.fresh(root / "s", 0.2), DyingAt(BETWEEN), plan=pair, name="release")
    (root / "s-copies").mkdir()
    steps = Copying(harness.fresh(root / "s-whole", 0.2), root / "s-copies")
    both = release(root / "s-whole", steps, plan=pair, name="release")
    assert both["code"] == 0, both
    return {
        "killed": killed,
        "again": again,
        "after": harness.left(folder),
        "known": known,
        "names": done["said"],
        "swept": left_at(root / "copies", done["said"], plan, table),
        "between": {**between, **left_of_several(root / "s")},
        "several": both["said"],
        "swept several": left_at(root / "s-copies", both["said"], pair, rows, "", left_of_several),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
