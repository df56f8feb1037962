# SPDX-License-Identifier: Apache-2.0
"""Files on Spark: the session that reads them, and what a file's rows are to it.

Parquet is read by Spark. Text is read by this package, a file a task: quotes may hold lines
together, so that where a row begins follows from all before it, and no file is cut.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.engines import executors
from lownoise.engines.cells import header_of
from lownoise.engines.tables import bare
from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
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
# a folder called name=value makes no column, and files with other columns or types are found before
# a row is read
_PARQUET = {"recursiveFileLookup": "true", "mergeSchema": "true", "datetimeRebaseMode": "CORRECTED"}


def spark_table(
    path: str | Path | Sequence[str | Path],
    session: Any = None,  # noqa: ANN401 (a SparkSession)
) -> Any:  # noqa: ANN401 (a DataFrame)
    """Return files as a Spark DataFrame, which every release takes as its table.

    Args:
        path: of a Parquet file or a folder of such, or of a text file (.csv, .tsv, also .gz); or
            several of one kind, whose rows are taken together. Executors must find it, too.
        session: the SparkSession; None for the one that is running, or else a new one on all cores
            of this machine, which says nothing.

    Raises:
        TableError: where Spark or Java is not there, or the files cannot be opened.
    """
    own = running() if session is None else session
    names = [str(p) for p in ([path] if isinstance(path, (str, Path)) else path)]
    if not names:
        raise TableError("path=[] names no file; give at least one")
    texts = [name.lower().endswith(_TEXT) for name in names]
    if all(texts):
        return _text(names, own)
    if any(texts):
        raise TableError("path names files of text and others; give files of one kind")
    try:
        return own.read.options(**_PARQUET).parquet(*map(_literal, names))
    except Exception:  # noqa: BLE001 (Spark's own text has many lines)
        raise TableError(
            f"table={', '.join(map(bare, names))} cannot be read as Parquet; check that all files "
            "are there, complete, and have the same columns of the same types"
        ) from None


def _literal(name: str) -> str:
    """Return a path with the letters that Spark would expand as a pattern made literal."""
    whole = str(Path(name).absolute()) if Path(name).exists() else name
    return "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in whole)


def _text(names: Sequence[str], session: Any) -> Any:  # noqa: ANN401
    from pyspark.sql.types import StringType, StructField, StructType

    paths = [Path(name).absolute() for name in names]
    headers = [_header(path) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if sorted(header) != sorted(headers[0]):
            raise TableError(f"table={path} has other columns than {paths[0]}; make them the same")
    once = [name for name in headers[0] if headers[0].count(name) == 1]
    if not once:
        raise TableError(f"table={paths[0]} has no line that names its columns; write one")
    schema = StructType([StructField(name, StringType()) for name in once])
    read = partial(executors.lines, paths, once)
    return session.range(0, len(paths), 1, len(paths)).mapInArrow(read, schema)


def _header(path: Path) -> list[str]:
    try:
        return header_of(path)
    except TableError:
        raise
    except Exception:  # noqa: BLE001 (whatever it is, it may quote the file)
        raise TableError(f"table={path} cannot be read; give a complete file of text") from None


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
