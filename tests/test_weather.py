# SPDX-License-Identifier: Apache-2.0
"""No test asks a clock, waits, or gives up after a time: a loaded machine would decide it."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CAMPAIGNS = {"mutants"}  # commands of their own, whose programs may hang
CLOCKS = {
    "sleep", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "monotonic",
    "monotonic_ns", "thread_time", "Timer", "alarm", "setitimer", "wait_for", "time", "time_ns",
}  # fmt: skip
MODULES = {"time", "timeit", "sched"}
WORDS = CLOCKS | MODULES | {"timeout", "deadline"}  # a source without any need not be parsed
FILES = [
    path
    for path in sorted(TESTS.rglob("*.py"))
    if not CAMPAIGNS & set(path.relative_to(TESTS).parts)
]


def asked_of_a_clock(source):
    """Return the lines on which a source asks a clock, waits, or gives up after a time."""
    found = []
    if WORDS.isdisjoint(re.findall(r"\w+", source)):
        return found
    for node in ast.walk(ast.parse(source)):
        names = set()
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            own = {alias.name for alias in node.names}
            names = {node.module} & MODULES | own & (CLOCKS - {"time"})
        elif isinstance(node, ast.Attribute):
            names = {node.attr} & (CLOCKS - {"time"})
        elif isinstance(node, ast.Call):
            names = {word.arg for word in node.keywords} & {"timeout", "deadline"}
            names -= {"deadline"} if no_deadline(node) else set()
        if names:
            found.append(node.lineno)
    return sorted(found)


def no_deadline(call):
    """Return whether a call says that there is no deadline."""
    return any(
        word.arg == "deadline" and isinstance(word.value, ast.Constant) and word.value.value is None
        for word in call.keywords
    )


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from time import sleep",
        "import threading\nthreading.Timer(1, print)",
        "process.communicate(timeout=5)",
        "settings(deadline=200)",
        "signal.alarm(3)",
    ],
)
def test_what_asks_a_clock_is_found(source):
    assert asked_of_a_clock(source)
    assert asked_of_a_clock("settings(deadline=None)") == []


def test_no_test_asks_a_clock():
    found = {
        str(path.relative_to(TESTS)): asked_of_a_clock(path.read_text(encoding="utf-8"))
        for path in FILES
    }
    assert len(found) > 150
    assert {name: lines for name, lines in found.items() if lines} == {}
