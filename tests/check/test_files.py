# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers calls no file false that a version of the program wrote and is true.

Releases are decided, and not plans alone; files without weights as evidence, and of version 1, too.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import changed
from lownoise_check import FALSE, HOLDS, OPEN

FILES = Path(__file__).parents[1] / "golden" / "files"
WRITTEN = sorted(
    own for own in FILES.glob("*/*.json") if own.name.endswith(("plan.json", "release.json"))
)
WITHOUT = {
    "mean-drop-center.release.json"
}  # whose lower end took signs that prove more than corners
ONCE = {  # called damaged, or left open, when they were first looked at
    "0.1/pure-laplace.release.json",
    "0.1/pure-recursive.plan.json",
    "0.1/queries-add-zcdp.release.json",
    "0.1/pure-queries-k_norm.release.json",
    "0.2/pure-ellipsoid-sums.release.json",
    "0.2/pure-k_norm-sums.release.json",
}


@pytest.mark.parametrize("path", WRITTEN, ids=lambda own: f"{own.parent.name}/{own.name}")
def test_what_versions_wrote_is_not_called_false(path):
    status, lines = checker.decide(path.read_text(encoding="utf-8"))
    assert (status == FALSE) == (path.name in WITHOUT), lines
    if f"{path.parent.name}/{path.name}" in ONCE:
        assert status == HOLDS, lines


def test_files_without_evidence_are_held_to_what_bounds_are_known():
    """A record of each column's own proves some bound of sums; more of it is left open."""
    path = FILES / "0.2" / "pure-laplace.release.json"
    text = path.read_text(encoding="utf-8")
    assert checker.decide(text)[0] == HOLDS
    assert checker.decide(changed(text, ("derived", "lower_bound"), lambda x: 9 * x))[0] == OPEN
    less = changed(text, ("terms", "noise", "scales"), lambda own: [0.999 * x for x in own])
    assert checker.decide(less)[0] == FALSE
    bare = changed(text, ("derived",), lambda own: {k: own[k] for k in own if k != "cost_of_noise"})
    newer = changed(bare, ("format",), lambda own: own.replace("/1", "/2"))
    assert checker.decide(newer)[0] == FALSE


def test_releases_of_linear_queries_are_decided():
    question = ln.Queries([[0.0, 1.0], [1.0, 1.0]], {"x": ["p", "q"]}, outside="drop")
    table = pd.DataFrame({"x": np.array(["p", "q"])[[0, 1, 1]]})
    plan = ln.plan(question, budget=ln.zcdp(1.0), relation="add_remove")
    assert checker.decide(plan.release(table).to_json())[0] == HOLDS
