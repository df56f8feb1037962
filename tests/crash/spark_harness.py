# SPDX-License-Identifier: Apache-2.0
"""Releases on Spark in forked drivers that die at a step; prints what is left, as JSON.

Java runs beside, as it does for every driver; each fork is a driver of its own to it, and dies as
Python does. A program of its own, because a process that forks must not have opened a database.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

import befallen
import sparks
from crash import harness

FILES = ("engines/spark.py", "privacy/ledger.py", "release/codec.py")
STEPS = (
    "a task",  # on an executor, while the driver waits for it
    "engines/spark.py:fold:return",
    "privacy/ledger.py:settle:return",
    "release/codec.py:write:return",
)


class DyingAt(befallen.Steps):
    """Die at the first step of a name."""

    def __init__(self, name):
        super().__init__(FILES, ())
        self._name = name

    def _step(self, file, frame, event):
        super()._step(file, frame, event)
        if self.names[-1] == self._name:
            befallen.die()


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
        return job(SparkSession(own).range(6).selectExpr("double(id) AS x", "double(id % 2) AS y"))

    return run


def killing(driver, batches):
    """Kill the driver from a task; what comes after it does not matter."""
    os.kill(driver, 9)
    yield from batches


def main(root):
    from lownoise.engines.source import Columns
    from lownoise.engines.spark import opened

    opened(sparks.session().range(1), Columns(["id"]))  # which asks the executors, once
    plan, _ = harness.prepare()

    def release(folder, at=None, name="release.json"):
        def job(table):
            if at == "a task":
                table = table.mapInArrow(partial(killing, os.getpid()), "x double, y double")
            DyingAt(at).during(harness.whole(plan, table, folder, name))()

        return harness.outcome(harness.child(driven(job)))

    facts = []
    for number, at in enumerate(STEPS):
        folder = harness.fresh(root / f"k{number}", 0.2)
        facts.append({"at": at, **release(folder, at), **harness.left(folder)})
    folder = root / f"k{STEPS.index('a task')}"
    again = [release(folder, name=f"{name}.json") for name in ("again", "too-many")]
    return {"facts": facts, "again": again, "after": harness.left(folder)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
