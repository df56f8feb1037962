# SPDX-License-Identifier: Apache-2.0
"""One small session of Spark for all tests of a process, and tables on it."""

import tempfile
from functools import cache

from lownoise.engines import sessions, spark
from lownoise.engines.source import Columns

SETTINGS = {
    "spark.master": "local[2,3]",  # a task may fail twice
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.python.worker.faulthandler.enabled": "false",
}


@cache
def session():
    folder = tempfile.gettempdir()  # gone with the Java process
    own = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/spark-warehouse"}
    return sessions.running({**SETTINGS, **own})


def frame(arrow, partitions=2):
    return session().createDataFrame(arrow).repartition(partitions)


def ordered(arrow):
    """Return a table whose rows come in their order."""
    return spark.opened(session().createDataFrame(arrow), Columns(arrow.schema.names))
