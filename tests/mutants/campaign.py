# SPDX-License-Identifier: Apache-2.0
"""Give the package one fault at a time, and see whether a test goes red.

Each mutant is a copy of `src/lownoise` with one span changed. Its tests run in a process of their
own, forked from one that has the libraries loaded but nothing of lownoise, and stop at the first
failure. Tests run in stages, those that are nearest to the file first.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.mutants.operators import Mutant

ROOT = Path(__file__).parents[2]
_MEMORY = 12 * 2**30  # bytes: a fault that asks for more is killed by its MemoryError
_TIMES = 10  # a stage that takes this many times its usual length has run away
_LEAST = 60.0  # seconds that a stage is given however short it is

# what each file of the core is tested by, nearest first; the first pattern that matches counts
STAGES: dict[str, list[list[str]]] = json.loads((Path(__file__).parent / "stages.json").read_text())


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: which stage killed it (0 for none), and how long it took."""

    name: str
    line: int
    stage: int
    how: str
    seconds: float

    @property
    def killed(self) -> bool:
        """Return whether a test went red."""
        return self.stage > 0


def core() -> list[str]:
    """Return the files that the campaign is about, relative to the repository."""
    files = (p.relative_to(ROOT).as_posix() for p in (ROOT / "src/lownoise").rglob("*.py"))
    return sorted(f for f in files if stages_of(f) and not f.endswith("__init__.py"))


def stages_of(file: str) -> list[list[str]]:
    """Return the tests of a file in stages, or nothing where it is not of the core."""
    for pattern, stages in STAGES.items():
        if fnmatch(file, f"src/lownoise/{pattern}"):
            return stages
    return []


def load() -> None:
    """Load what all tests need, so that every fork has it: nothing of lownoise."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import dp_accounting.rdp
    import duckdb
    import flint
    import ibis
    import mpmath
    import numpy as np
    import pandas as pd
    import pydantic
    import pytest
    import scipy.integrate
    import scipy.optimize
    import scipy.spatial
    import scipy.stats

    del dp_accounting, duckdb, flint, ibis, mpmath, np, pd, pydantic, pytest, scipy
    if any(name.split(".")[0] == "lownoise" for name in sys.modules):
        raise RuntimeError("lownoise is loaded before its mutants are made")


@contextmanager
def planted(mutant: Mutant | None) -> Iterator[Path]:
    """Copy the sources to a folder of their own, with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        source = Path(folder) / "src"
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", source, ignore=ignore)
        if mutant is not None:
            path = Path(folder) / mutant.file
            path.write_bytes(mutant.of(path.read_bytes()))
        yield source


def run(tests: Sequence[str], source: Path, patience: float | None) -> tuple[int | None, str]:
    """Run tests on the sources in a forked process.

    Returns:
        pytest's exit status, None where it ran past `patience` seconds, and the first failure.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _tests_of_a_fork(tests, source, writing)
    os.close(writing)
    text = b""
    ends = time.monotonic() + (patience or 1e9)
    status: int | None = None
    while status is None and time.monotonic() < ends:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        else:
            time.sleep(0.02)
    if status is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    return status, text.decode()


def _tests_of_a_fork(tests: Sequence[str], source: Path, writing: int) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(source)
    sys.path.insert(0, str(source))
    import pytest

    class First:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                os.write(writing, report.nodeid.encode()[:500])

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                os.write(writing, f"collecting {report.nodeid}".encode()[:500])

    paths = [p if p.startswith("tests") else str(source / p.removeprefix("src/")) for p in tests]
    code = 2
    try:
        # named, for doctests stand in the copy, from which pytest would not find it
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        options = ["-x", "-q", "-p", "no:cacheprovider", *settings]
        code = int(pytest.main([*options, *paths], plugins=[First()]))
    except BaseException as error:  # noqa: BLE001 (a fork tells all and ends here)
        os.write(writing, repr(error).encode()[:500])
    finally:
        os._exit(code)


def usual(stage: Sequence[str], known: dict[str, float]) -> float:
    """Return the seconds that a stage takes on the sources as they are.

    Raises:
        RuntimeError: where it is red without any fault.
    """
    key = " ".join(stage)
    if key not in known:
        began = time.monotonic()
        with planted(None) as source:
            status, first = run(stage, source, None)
        if status != 0:
            raise RuntimeError(f"{key} is red without any mutant (status {status}): {first}")
        known[key] = time.monotonic() - began
    return known[key]


def judge(mutant: Mutant, known: dict[str, float]) -> Outcome:
    """Run the stages of a mutant until one is red."""
    began = time.monotonic()
    # its own doctests first: they are next to the line
    stages = [[mutant.file], *stages_of(mutant.file)]
    with planted(mutant) as source:
        for number, stage in enumerate(stages, 1):
            patience = max(_LEAST, _TIMES * (usual(stage, known) if number > 1 else 0.0))
            status, first = run(stage, source, patience)
            if status == 5:  # no doctest
                continue
            if status != 0:
                how = first or ("ran away" if status is None else f"status {status}")
                return Outcome(mutant.name, mutant.line, number, how, time.monotonic() - began)
    return Outcome(mutant.name, mutant.line, 0, "lives", time.monotonic() - began)


def remember(outcome: Outcome, path: Path) -> None:
    """Append an outcome to the file of outcomes."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")


def remembered(path: Path) -> dict[str, Outcome]:
    """Return the outcomes in the file, the last of each mutant."""
    if not path.exists():
        return {}
    found = (Outcome(**json.loads(line)) for line in path.read_text().splitlines())
    return {outcome.name: outcome for outcome in found}
