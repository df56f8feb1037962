# SPDX-License-Identifier: Apache-2.0
"""Which noise is least follows from a plan's arguments: never from a ledger, a cache or a table.

Mutants seen: Gaussian noise taken where an account in this folder is spent; radial noise left out
where a fit is kept; a ledger asked what is left of it while noises are compared.
"""

import sys

import pandas as pd
import pytest

import lownoise as ln
from lownoise.solvers import radial_fit

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
