# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides folders: a release's own, and several questions on a budget."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import lownoise as ln
import lownoise_check as checker
from lownoise_check import FALSE, HOLDS, OPEN, UNREAD

QUESTIONS = {
    "mean": ln.Mean(["a"], ln.Box([0], [1])),
    "counts": ln.Histogram("g", ["x", "y"]),
    "others": ln.Histogram("h", ["x", "y"]),
}
TABLE = pd.DataFrame({"a": [0.1, 0.9, 0.5], "g": ["x", "y", "x"], "h": ["y", "y", "x"]})
BUDGETS = {"gaussian": ln.zcdp(0.5), "pure": ln.pure_dp(1.0)}


@pytest.fixture(scope="module", params=BUDGETS)
def folders(request, tmp_path_factory):
    """Return a folder of plans, and one of their releases."""
    folder = tmp_path_factory.mktemp(request.param)
    plan = ln.together(QUESTIONS, budget=BUDGETS[request.param], relation="add_remove")
    plan.save(folder / "plans")
    plan.release(TABLE).save(folder / "releases")
    return folder


def status(folder):
    """Return what the command says of a folder: its exit status, and its last line."""
    command = [sys.executable, checker.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()[-1]


def edited(folder, name, change):
    """Change one document of a folder."""
    path = Path(folder) / name
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")


@pytest.mark.grid(1)
def test_several_hold_and_each_fault_does_not(folders, tmp_path):
    for kind in ("plans", "releases"):
        assert status(folders / kind)[0] == HOLDS
    assert status(folders / "releases" / "2-counts")[0] == HOLDS

    def less(document):
        budget = document["budget"]
        name = "rho" if "rho" in budget else "epsilon"
        budget[name] *= 1 - 1e-6

    def narrow(document):
        noise = document["terms"]["noise"]
        name = "deviations" if "deviations" in noise else "scales"
        noise[name] = [x / 2 for x in noise[name]]

    faults = {
        "a budget that is less": ("together.json", less),
        "a member with half of the noise": ("2-counts.json", narrow),
        "no member": ("together.json", lambda own: own["plans"].clear()),
        "a member elsewhere": (
            "together.json",
            lambda own: own["plans"].update(mean="../1-mean.json"),
        ),
        "another relation": (
            "3-others.json",
            lambda own: own["terms"].update(relation="substitute"),
        ),
        "another format": ("together.json", lambda own: own.update(format="lownoise.together/9")),
    }
    for i, (name, (place, change)) in enumerate(faults.items()):
        copy = shutil.copytree(folders / "plans", tmp_path / str(i))
        edited(copy, place, change)
        found, said = status(copy)
        assert found in (FALSE, OPEN), (name, said)
        assert (found == FALSE) == (name not in ("no member", "another format")), (name, said)
    copy = shutil.copytree(folders / "plans", tmp_path / "lacks one")
    (copy / "3-others.json").unlink()
    assert status(copy)[0] == FALSE


def test_a_folder_of_nothing_is_no_file(tmp_path):
    assert status(tmp_path)[0] == UNREAD
