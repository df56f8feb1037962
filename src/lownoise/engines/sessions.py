# SPDX-License-Identifier: Apache-2.0
"""Files on Spark: the session that reads them, and what a file's rows are to it.

Parquet is read by Spark. All else is read by this package, a file a task: quotes may hold lines
together, so that where a row begins follows from all before it, and no file is cut.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.engines import executors
from lownoise.engines.tables import PARQUET, found_files, guarded, kind_of, named
from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lownoise.engines.source import Columns
    from lownoise.engines.tables import Table

# nothing is fetched, served, drawn or logged; where rows spill is Spark's spark.local.dir
_QUIET = {
    "spark.app.name": "lownoise",
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# a folder called name=value makes no column; a file of other types is found before a row is read
_PARQUET = {
    "recursiveFileLookup": "true",
    "mergeSchema": "true",
    "datetimeRebaseMode": "CORRECTED",
    # whatever the session says: rows are not lost in silence
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}


def frame_of(table: Table, columns: Columns) -> Any:  # noqa: ANN401
    """Return files as a DataFrame, on the session that is running or else on a new one.

    Args:
        table: which files; executors must find them, too.
        columns: those that the question needs.

    Raises:
        TableError: where Spark or Java is not there, or the files cannot be opened.
        EngineError: where that is so of a file beyond the first whose folders are values.
    """
    session = running()
    files = found_files(table)
    if any(file.address for file in files):
        raise TableError(
            f"table={named(table)} is remote; give the DataFrame that the session itself reads"
        )
    # what their folders say was read off the paths as they were given
    files = [replace(file, path=file.path.absolute()) for file in files]
    if kind_of(table, files) is PARQUET and not table.partitions:
        # Spark's own text has many lines
        read = session.read.options(**_PARQUET).parquet
        return guarded(named(table), lambda: read(*(_literal(str(file.path)) for file in files)))
    from pyspark.sql.pandas.types import from_arrow_schema

    kinds = executors.of_spark(table, files, columns).schema
    read = partial(executors.rows, table, files, columns)
    places = session.range(0, len(files), 1, max(len(files), 1))
    return places.mapInArrow(read, from_arrow_schema(kinds))


def _literal(path: str) -> str:
    """Return a path with the letters that Spark would expand as a pattern made literal."""
    return "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in path)


def running(settings: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
    """Return the session that is running, or else a new one on this machine.

    Args:
        settings: of the new one, beside those that make it quiet.

    Raises:
        TableError: where there is no pyspark, or no Java that it runs on.
    """
    if find_spec("pyspark") is None:
        raise TableError(
            "the engine spark needs pyspark, which is not installed; run pip install "
            "'lownoise[spark]'"
        )
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    given = SparkContext._active_spark_context is not None  # noqa: SLF001 (it has no public name)
    if given or "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.builder.getOrCreate()
    own = {**_QUIET, **(settings or {})}
    # the executors are of this process's Python, and find this package where it is
    own["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).parents[2])
    conf = SparkConf().setAll(list(own.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise _no_java(f"none is found in {home or 'PATH'}")
    try:
        context = SparkContext(conf=conf, gateway=launch_gateway(conf, silent))
    except Exception:  # noqa: BLE001 (whatever Java says has many lines)
        raise _no_java(f"{java} does not start it") from None
    context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return SparkSession(context)


def _no_java(found: str) -> TableError:
    return TableError(
        f"the engine spark needs Java 17 or 21, and {found}; install OpenJDK 17, or set JAVA_HOME "
        "to where it is"
    )
