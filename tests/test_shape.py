# SPDX-License-Identifier: Apache-2.0
"""The house grows by composing: no number of `python -m tests.shape` is above its limit."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests import shape

ROOT = Path(__file__).parents[1]


@pytest.mark.sweep("test_what_is_alike_is_found")
def test_no_number_is_above_its_limit_and_a_limit_follows_its_number_down():
    """Lines may fall by a fiftieth before their limit follows; rooms may not by one."""
    run = [sys.executable, "-m", "tests.shape"]  # a process of its own, where nothing is cached
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=3) for line in found.splitlines())
    numbers = {name: int(number.replace(",", "")) for number, _, _, name in rows}
    assert numbers.keys() == shape.LIMITS.keys()
    large = 10_000
    slack = {name: n // 50 if n > large else 5 for name, n in numbers.items()}
    assert {
        name: f"{n} of {shape.LIMITS[name]}"
        for name, n in numbers.items()
        if not shape.LIMITS[name] - slack[name] <= n <= shape.LIMITS[name]
    } == {}


def test_what_is_alike_is_found(tmp_path):
    body = "".join(f"    total_{k} = first + second * {k} - third\n" for k in range(6))
    for name in ("one", "two"):
        text = f"def {name}(first, second, third):\n{body}    return first\n"
        (tmp_path / f"{name}.py").write_text(text)
    alone = [tmp_path / "one.py"]
    assert shape.alike(alone) == 0
    assert shape.alike([*alone, tmp_path / "two.py"]) >= 1


def test_modules_in_a_circle_are_found_within_functions_but_not_for_types(tmp_path):
    source = tmp_path / "lownoise"
    source.mkdir()
    (source / "low.py").write_text("def asked():\n    from lownoise.high import answer\n")
    (source / "high.py").write_text("from lownoise import low\n")
    assert shape.circling(source) == 2
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lownoise import high\n"
    (source / "low.py").write_text(typed)
    shape._tree.cache_clear()
    assert shape.circling(source) == 0
