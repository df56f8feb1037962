# SPDX-License-Identifier: Apache-2.0
"""The house grows by composing: no number of `python -m tests.shape` is above its limit."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests import shape

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def numbers():
    """Every number by its name, counted in a process of its own, where nothing is cached."""
    run = [sys.executable, "-m", "tests.shape"]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=3) for line in found.splitlines())
    return {name: int(number.replace(",", "")) for number, _, _, name in rows}


@pytest.mark.parametrize("name", shape.LIMITS)
def test_no_number_is_above_its_limit(numbers, name):
    assert numbers[name] <= shape.LIMITS[name]


@pytest.mark.parametrize("name", shape.LIMITS)
def test_a_limit_follows_its_number_down(numbers, name):
    """Lines may fall by a hundredth before their limit follows; rooms may not by one."""
    large = 10_000
    slack = numbers[name] // 50 if numbers[name] > large else 5
    assert shape.LIMITS[name] - numbers[name] <= slack


def test_what_is_alike_is_found(tmp_path):
    body = "".join(f"    total_{k} = first + second * {k} - third\n" for k in range(6))
    for name in ("one", "two"):
        text = f"def {name}(first, second, third):\n{body}    return first\n"
        (tmp_path / f"{name}.py").write_text(text)
    alone = [tmp_path / "one.py"]
    assert shape.alike(alone) == 0
    assert shape.alike([*alone, tmp_path / "two.py"]) >= 1
