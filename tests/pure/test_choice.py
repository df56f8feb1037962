# SPDX-License-Identifier: Apache-2.0
"""Which noise is least follows from a plan's arguments: never from a ledger, a cache or a table.

Mutants seen: a kept fit believed where it decides what is least; Gaussian noise taken where an
account in this folder is spent; radial noise left out where a fit is kept; a ledger asked what is
left of it while noises are compared.
"""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.solvers import radial_fit
from lownoise.solvers.radial import Staircase, covering

BUDGET = ln.approx_dp(1.0, 1e-6)
QUESTIONS = {  # what is least, of which a kept fit is at least one that is compared
    "radial": ln.Mean(["a"], ln.Box([0], [1])),
    "k_norm": ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1])),
}
_heard: list[tuple[str, str]] = []


def _hear(event, given):
    if event in {"open", "sqlite3.connect"}:
        _heard.append((event, str(given[0])))


sys.addaudithook(_hear)  # there is no way to take one off


def planned(name):
    """A plan's whole document: the choice, its noise, and what it was compared with."""
    plan = ln.plan(QUESTIONS[name], budget=BUDGET, relation="substitute", size=50)
    assert plan.mechanism == name
    return plan.to_json()


def kept(folder, monkeypatch):
    """The fits in a cache that lies in this folder from now on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return sorted(radial_fit.folder().glob("*.json"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_ledger_and_no_cache_has_a_part_in_the_choice(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not kept(tmp_path / "cache", monkeypatch)
    first = planned(name)
    fits = kept(tmp_path / "cache", monkeypatch)
    assert fits  # so what comes next is read
    assert planned(name) == first
    for fit in fits:
        fit.write_text('{"radii": [1.0], "weights": [1.0], "proof": null}')
    assert planned(name) == first

    ledger = ln.Ledger.create(
        tmp_path / "privacy.ledger", "people", ln.approx_dp(1.5, 2e-6), reading="basic"
    )
    table = pd.DataFrame(0.25, index=range(50), columns=["a", "b"])
    ln.Plan.from_json(first).release(table, ledger)
    with pytest.raises(ln.errors.LedgerError):  # as much again is not left
        ln.Plan.from_json(first).release(table, ledger)
    del _heard[:]
    assert planned(name) == first
    stores = [path for event, path in _heard if event == "sqlite3.connect"]
    opened = [path for event, path in _heard if event == "open" and path.startswith(str(tmp_path))]
    assert not stores
    assert all(path.startswith(str(radial_fit.folder())) for path in opened)
    ledger.charge(ln.approx_dp(0.01, 1e-9), "heard", relation="substitute")
    assert any(event == "sqlite3.connect" for event, _ in _heard)  # so a plan's would be


def test_a_kept_fit_that_passes_for_one_does_not_choose(tmp_path, monkeypatch):
    """Noise that begins elsewhere, is as private and errs by 2·10⁻⁴ more, where 10⁻⁴ decides.

    Its own proof says that none errs much less, so it is a fit. Radial noise has 0.99987 of the
    K-norm's error here and that noise 1.00006, but it is fitted anew where the two are as close.
    """
    asked = (4, 1.0, 1e-12)
    budget, names = ln.approx_dp(*asked[1:]), list("abcd")
    kept(tmp_path, monkeypatch)

    def plan(**more):
        return ln.plan(
            ln.Mean(names, ln.Ball(4)), budget=budget, relation="substitute", size=50, **more
        )

    first = plan()
    assert first.mechanism == "radial"
    path = radial_fit.path_of(*asked)
    falls = np.arange(80.0)
    worse = covering(Staircase(4, 0.7 + falls, -falls), *asked[1:])
    fields = json.loads(path.read_text())
    fields |= {"radii": worse.radii.tolist(), "weights": worse.weights().tolist()}
    path.write_text(json.dumps(fields))
    assert radial_fit.recalled(*asked) is not None
    assert plan(mechanism="radial").error > first.comparison[1].error  # where it is taken
    path.write_text(json.dumps(fields))
    assert plan().to_json() == first.to_json()
