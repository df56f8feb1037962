# SPDX-License-Identifier: Apache-2.0
"""Importing is light, and what is promised is there."""

import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import lownoise
from lownoise.release.codec import versions

HEAVY = (
    "scipy", "ibis", "duckdb", "pandas", "pyarrow", "matplotlib", "flint", "dp_accounting",
    "mpmath", "jinja2", "numpy", "pydantic", "rich", "llvmlite", "cryptography",
)  # fmt: skip


SLOW = ("scipy.signal", "scipy.stats", "pandas", "pyarrow")
SOLVERS = ("scipy.optimize", "scipy.linalg", "scipy.fft")
PLANNED = """
import lownoise as ln
question = ln.Mean(["age", "income"], ln.Box([0, 0], [120, 500_000]))
known = dict(relation="substitute", size=5000, weights="range")
str(ln.plan(question, budget={}, **known).comparison)
"""


def loaded_by(statement, among=HEAVY):
    code = f"{statement}\nimport sys; print(*[m for m in {among!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_loads_nothing_heavy():
    assert loaded_by("import lownoise") == []


def test_the_command_line_starts_without_the_engine():
    assert set(loaded_by("import lownoise.cli")) <= {"rich"}


def test_a_plan_of_means_loads_no_more_than_it_computes_with():
    """Each of these takes a tenth of a second, or a whole one."""
    assert loaded_by(PLANNED.format("ln.approx_dp(1.0, 1e-6)"), SLOW) == []
    assert loaded_by(PLANNED.format("ln.zcdp(0.5)"), SLOW + SOLVERS) == []


def test_a_release_from_files_of_numbers_loads_no_pandas(tmp_path):
    """It would take longer than the release."""
    columns = pa.table({"age": [1.5, 2.0, 3.5], "income": [4.0, 5.0, 6.0]})
    pa.csv.write_csv(columns, tmp_path / "t.csv")
    pa.parquet.write_table(columns, tmp_path / "t.parquet")
    plan = PLANNED.replace("str(", "plan = ").replace(").comparison", "").replace("5000", "3")
    release = f"[plan.release({str(tmp_path)!r} + t) for t in ('/t.csv', '/t.parquet')]"
    assert loaded_by(plan.format("ln.zcdp(0.5)") + release, ["pandas"]) == []


def test_everything_promised_is_importable():
    for room in (lownoise, lownoise.theory):
        for name in room.__all__:
            assert getattr(room, name) is not None
    assert set(dir(lownoise)) == set(lownoise.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lownoise.nothing


def test_every_name_stands_once_in_the_one_list():
    stub = Path(lownoise.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = [line.split()[-1] for line in stub.splitlines() if line.startswith("from ")]
    assert len(listed) == len(set(listed))
    assert {*listed, "__version__"} == set(lownoise.__all__)


def test_the_version_is_the_one_that_the_changelog_has_at_its_top():
    changes = Path(__file__).parents[1].joinpath("CHANGELOG.md").read_text(encoding="utf-8")
    newest, open_ = re.search(r"^## ([\d.]+)( \(unreleased\))?$", changes, re.MULTILINE).groups()
    assert lownoise.__version__ == newest + (".dev0" if open_ else "")
    assert versions()["lownoise"] == lownoise.__version__  # as files say


@pytest.mark.parametrize("name", lownoise._OLD)
def test_an_old_name_warns_and_names_the_new_one(name):
    new = lownoise._OLD[name]
    with pytest.warns(DeprecationWarning, match=rf"^ln\.{name} is ln\.{new} ") as seen:
        found = getattr(lownoise, name)
    assert [w.filename for w in seen] == [__file__]  # where it is used
    assert found is attrgetter(new)(lownoise)
    assert name not in dir(lownoise)


FIRST = """
import importlib, sys
for name in ("Plan", "plan", "Release", "Ledger"):
    for own in [m for m in sys.modules if m.partition(".")[0] == "lownoise"]:
        del sys.modules[own]
    ln = importlib.import_module("lownoise")
    assert not [m for m in sys.modules if m in ("lownoise.plan", "lownoise.planning")]
    getattr(ln, name)
    assert callable(ln.plan) and callable(ln.Box), name
"""


def test_any_name_may_be_used_first():
    """A module of the same name must not shadow the verb."""
    subprocess.run([sys.executable, "-c", FIRST], check=True)
