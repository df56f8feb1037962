# SPDX-License-Identifier: Apache-2.0
"""Releases on a cluster of two hosts whose tasks run twice and whose executors are killed.

A program of its own: a master and two workers are in its Java, and each worker starts executors
that are processes. Spark starts a second attempt at a task that is slow on another host alone, so
that the hosts are two addresses of this machine. Prints what came of each release, as JSON.
"""

import json
import os
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np

AGAIN = "again"  # a pipe: a second attempt says there that it has all rows

SETTINGS = {
    "spark.app.name": "lownoise",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "false",  # as many tasks behind a shuffle as are asked for
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.efficiency.enabled": "false",
}
for own in ("driver", "executor"):
    SETTINGS[f"spark.{own}.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ROWS = 4000


def cluster(folder):
    """Return a session on a cluster of two workers, each with one core."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf().setAll(list(SETTINGS.items()))
    conf.set("spark.local.dir", str(folder))
    conf.set("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    gateway = launch_gateway(conf)
    deploy, some = gateway.jvm.org.apache.spark.deploy, gateway.jvm.scala.Option
    own = gateway.jvm.org.apache.spark.SparkConf()
    for name, value in conf.getAll():
        own.set(name, value)
    master = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, own)
    urls = gateway.new_array(gateway.jvm.java.lang.String, 1)
    urls[0] = f"spark://127.0.0.1:{master._1().address().port()}"
    for i in (1, 2):
        place = (f"127.0.0.{i}", 0, 0, 1, 1024, urls, str(folder / f"worker {i}"), some.apply(i))
        deploy.worker.Worker.startRpcEnvAndEndpoint(*place, own, some.empty())
    context = SparkContext(conf=conf.setMaster(urls[0]), gateway=gateway)
    context.pythonExec = sys.executable
    return SparkSession(context)


def mark(path):
    """Make a mark, and return whether it was not there."""
    there = path.exists()
    path.touch()
    return not there


def run_twice(task, folder):
    """Wait, with all rows handed on, until a second attempt at the same has all of them, too."""
    if task.attemptNumber():
        mark(folder / "second")
        (folder / AGAIN).write_bytes(b".")
    elif task.partitionId() == 1:
        mark(folder / "first")
        (folder / AGAIN).open("rb").read(1)


def kill_executor(task, folder):
    """Kill the executor that this runs for, once: not Python alone but what it has shuffled."""
    import signal

    if task.partitionId() != 1 or not mark(folder / "killed"):
        return
    pid, name = os.getpid(), ""
    while "CoarseGrainedExecutorBackend" not in name:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        name = Path(f"/proc/{pid}/cmdline").read_text()
    os.kill(pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def suffering(name, act, folder):
    """Return a task of executors to which something happens when it has handed on all rows."""

    def run(*given):
        from pyspark import TaskContext

        from lownoise.engines import executors

        yield from getattr(executors, name)(*given)
        act(TaskContext.get(), folder)

    return run


def main(root):
    import lownoise as ln
    from lownoise.engines import memory, spark

    session = cluster(root)
    ids = np.arange(ROWS)
    known = memory.MemorySource({"x": ids % 7.0, "u": ids % 900, "day": ids % 13})
    rows = session.range(0, ROWS, 1, 4).selectExpr(
        "double(id % 7) AS x", "id % 900 AS u", "string(id % 13) AS day"
    )
    unit = {"privacy_unit": "u", "rows_per_unit": 2, "order_by": "day"}
    # Spark sums floats itself, and Python what texts spell
    texts = rows.selectExpr("string(x) AS x", "u", "day")
    question = ln.Mean(["x"], ln.Box([0], [5]))
    facts = []
    for asked, name, act in (
        ({}, "folded", run_twice),
        (unit, "numbered", kill_executor),
        (unit, "folded", run_twice),  # behind a shuffle
        (unit, "folded", kill_executor),  # with what it shuffled
    ):
        plan = ln.plan(question, budget=ln.zcdp(1e6), relation="add_remove", **asked)
        folder = root / f"{len(facts)}"
        folder.mkdir()
        os.mkfifo(folder / AGAIN)
        held = os.open(folder / AGAIN, os.O_RDWR)  # so that who comes first need not wait to write
        ledger = ln.Ledger.create(folder / "ledger", "d", ln.zcdp(1e6))
        with patch.object(spark.executors, name, suffering(name, act, folder)):
            found = plan.release(texts if name == "folded" else rows, ledger).estimate.tolist()
        os.close(held)
        facts.append({
            "expected": plan.release(known).estimate.tolist(),
            "found": found,
            "states": [entry.state for entry in ledger.entries()],
            "marks": sorted(path.name for path in folder.iterdir() if path.name != AGAIN),
        })  # fmt: skip
    return facts


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
