# SPDX-License-Identifier: Apache-2.0
"""Give the package one fault at a time, and see whether a test goes red.

Each mutant is a copy of `src/lownoise` with one span changed. The tests that reach its line run in
processes of their own, forked from one that has the libraries loaded but nothing of lownoise, the
quickest first, and stop at the first failure. How long they take decides which of them run and in
what order, from a record; it never decides what a mutant's fate is.
"""

from __future__ import annotations

import json
import os
import py_compile
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.util import cache_from_source
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest
    from tests.mutants.coverage import Coverage, Recorded
    from tests.mutants.operators import Mutant

ROOT = Path(__file__).parents[2]
_MEMORY = 12 * 2**30  # bytes: a fault that asks for more is killed by its MemoryError
_TIMES = 20  # a round whose process computes for this many times its recorded length has run away
_LEAST = 60  # seconds of computing that a round is given however short it is
_WAITS = 20  # times its seconds of computing after which a round waits for what never comes
_FIRST = 4.0  # recorded seconds of the first round; each later one is four times as long

# what the campaign is about, below src/lownoise: what privacy, and what is promised, rests on
CORE = (
    *("numbers/rounding.py", "numbers/locked.py", "sensitivity/relations.py"),
    *("sets/domains/*", "sets/frames.py", "release/execution.py", "release/regions.py"),
    *("noise/*", "engines/*", "privacy/*", "samplers/*", "sensitivity/residuals/*"),
    *("streams/*", "certificate/*", "bounds/*", "sets/norms/*", "sets/bodies/abstract.py"),
    *("local_model/*", "device.py", "numbers/normals.py"),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: killed, lives or not finished; by which test, of how many."""

    name: str
    line: int
    fate: str
    how: str
    tests: int
    seconds: float


def core() -> list[str]:
    """Return the files that the campaign is about, relative to the repository."""
    files = (p.relative_to(ROOT / "src/lownoise") for p in (ROOT / "src/lownoise").rglob("*.py"))
    of_core = [f for f in files if any(fnmatch(f.as_posix(), pattern) for pattern in CORE)]
    return sorted(f"src/lownoise/{f.as_posix()}" for f in of_core if f.name != "__init__.py")


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
def compiled() -> Iterator[Path]:
    """Copy the sources, and compile once for all mutants those that no run has compiled yet."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)  # times too: what is compiled is as old as its text
        for path in source.rglob("*.py"):
            if not Path(cache_from_source(str(path))).exists():
                py_compile.compile(str(path), doraise=True)
        yield source


@contextmanager
def planted(mutant: Mutant, sources: Path) -> Iterator[Path]:
    """Copy the compiled sources to a folder of their own, with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(sources, source, copy_function=os.link)
        path = Path(folder) / mutant.file
        text = mutant.of(path.read_bytes())
        path.unlink()
        path.write_bytes(text)
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
            stale.unlink()
        yield source


def rounds(tests: Sequence[Recorded], coverage: Coverage, most: float) -> Iterator[list[Recorded]]:
    """Yield the tests in rounds, the quickest first; leave out what passes `most` seconds in all.

    A test costs what it took when it was recorded, and its share of what its file's collection
    took; a file is collected anew in each round that has a test of it.
    """
    shares = Counter(t.file for t in tests)

    def cost(test: Recorded) -> float:
        return test.seconds + coverage.collecting(test.file) / shares[test.file]

    waiting = sorted(tests, key=lambda t: (cost(t), t.file, t.name))
    length, spent = _FIRST, 0.0
    while waiting:
        taken: list[Recorded] = []
        total, files = 0.0, set[str]()
        for test in waiting:
            more = test.seconds + (0.0 if test.file in files else coverage.collecting(test.file))
            if (taken or spent) and spent + total + more > most:
                break
            if taken and total + more > length:
                continue
            taken.append(test)
            total += more
            files.add(test.file)
        if not taken:
            return
        yield taken
        spent += total
        length *= 4
        gone = set(taken)
        waiting = [t for t in waiting if t not in gone]


def judge(mutant: Mutant, sources: Path, coverage: Coverage, most: float) -> Outcome:
    """Run the tests that reach a mutant until one is red, or until `most` recorded seconds."""
    began = time.monotonic()
    text = (ROOT / mutant.file).read_bytes()
    reaching, importing = coverage.tests_of(text, mutant.line)
    tests = len(reaching) + len(importing)
    run, fate, how = 0, "lives", "" if tests else "no test reaches it"
    with planted(mutant, sources) as source:
        for chosen in chain(*(rounds(t, coverage, most / 2) for t in (reaching, importing))):
            run += len(chosen)
            usual = sum(t.seconds for t in chosen)
            status, first = run_tests(chosen, source, int(_LEAST + _TIMES * usual))
            if status is None:
                fate, how = "not finished", "it waits"
                break
            if status not in (0, 5):
                how = first or ("ran away" if status == -signal.SIGXCPU else f"status {status}")
                fate = "killed"
                break
        else:
            if run < tests:
                fate, how = "not finished", f"{run} of {tests} tests ran"
    return Outcome(mutant.name, mutant.line, fate, how, run, time.monotonic() - began)


def run_tests(tests: Sequence[Recorded], source: Path, seconds: int) -> tuple[int | None, str]:
    """Run tests on the sources in a forked process that may compute for so many seconds.

    Returns:
        pytest's exit status, or minus the signal that ended it, or None where it waits without
        computing, and the first failure.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _tests_of_a_fork(tests, source, writing, seconds)
    os.close(writing)
    ends = time.monotonic() + _WAITS * seconds
    status: int | None = None
    while status is None and time.monotonic() < ends:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        else:
            time.sleep(0.02)
    if status is None or status < 0:
        _end(child)
    if status is None:
        os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    return status, text.decode(errors="replace")


def _end(group: int) -> None:
    """End the processes that a killed test left behind."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


class _Chosen:
    """A plugin of pytest: run the chosen tests, file by file, and tell the first that is red."""

    def __init__(self, tests: Sequence[Recorded], writing: int) -> None:
        self._order = {t.name: number for number, t in enumerate(tests) if t.name}
        files = list(dict.fromkeys(t.file for t in tests))
        self._files = {file: number for number, file in enumerate(files)}
        self._writing = writing

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen tests, and every doctest: only files of chosen ones are collected."""
        doctests = [i for i in items if not i.nodeid.startswith("tests/")]
        tests = [i for i in items if i.nodeid in self._order]
        tests.sort(key=lambda i: (self._files[i.nodeid.split("::")[0]], self._order[i.nodeid]))
        items[:] = [*doctests, *tests]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell the first test that is red."""
        if report.failed:
            os.write(self._writing, report.nodeid.encode()[:500])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell what could not be collected."""
        if report.failed:
            os.write(self._writing, f"collecting {report.nodeid}".encode()[:500])


def _tests_of_a_fork(tests: Sequence[Recorded], source: Path, writing: int, seconds: int) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(source)
    sys.path.insert(0, str(source))
    import pytest

    files = dict.fromkeys(t.file for t in tests)
    paths = [f if f.startswith("tests") else str(source / f.removeprefix("src/")) for f in files]
    code = 2
    try:
        # named, for doctests stand in the copy, from which pytest would not find it
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", *settings]
        code = int(pytest.main([*options, *paths], plugins=[_Chosen(tests, writing)]))
    except BaseException as error:  # noqa: BLE001 (a fork tells all and ends here)
        os.write(writing, repr(error).encode()[:500])
    finally:
        os._exit(code)


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
