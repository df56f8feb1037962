# SPDX-License-Identifier: Apache-2.0
"""Which noise is least follows from a plan's arguments: never from a ledger, a cache or a table.

Mutants seen: a kept fit believed where it decides what is least, or one that is only as near as its
proof says; Gaussian noise taken where an
account in this folder is spent; radial noise left out where a fit is kept; a ledger asked what is
left of it while noises are compared.
"""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.planning import pure
from lownoise.solvers import radial_fit, radial_kept
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
    return sorted(radial_kept.folder().glob("*.json"))


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
    assert all(path.startswith(str(radial_kept.folder())) for path in opened)
    ledger.charge(ln.approx_dp(0.01, 1e-9), "heard", relation="substitute")
    assert any(event == "sqlite3.connect" for event, _ in _heard)  # so a plan's would be


def close(asked):
    """A plan of means of a ball where radial noise and the next best hardly differ."""
    d, epsilon, delta = asked

    def plan(**more):
        budget, names = ln.approx_dp(epsilon, delta), list("abcd")[:d]
        return ln.plan(
            ln.Mean(names, ln.Ball(d)), budget=budget, relation="substitute", size=50, **more
        )

    return plan


def elsewhere(radii):
    return 0.7 + np.arange(80.0)


@pytest.mark.parametrize(
    ("asked", "begun"),
    [((4, 1.0, 1e-12), elsewhere), ((2, 4.0, 1e-9), lambda radii: radii + 1e-3)],
    ids=["elsewhere", "nearly"],
)
def test_a_kept_fit_that_passes_for_one_does_not_choose(asked, begun, tmp_path, monkeypatch):
    """Noise that begins elsewhere, is as private and errs by 2·10⁻⁴ more, where 10⁻⁴ decides.

    Its own proof says that none errs much less, so it is a fit. Radial noise has 0.99987 of the
    K-norm's error here and that noise 1.00006, but where the two are as close it is to be nearer.
    The other errs by 3·10⁻⁶ more, where 10⁻⁶ decides.
    """
    kept(tmp_path, monkeypatch)
    plan, (d, epsilon, _) = close(asked), asked
    first = plan()
    assert first.mechanism == "radial"
    path = radial_kept.path_of(*asked)
    fields = json.loads(path.read_text())
    radii = begun(np.array(fields["radii"]))
    worse = covering(Staircase(d, radii, -epsilon * np.arange(radii.size)), *asked[1:])
    fields |= {"radii": worse.radii.tolist(), "weights": worse.weights().tolist()}
    path.write_text(json.dumps(fields))
    assert radial_kept.recalled(*asked) is not None
    assert plan(mechanism="radial").error > first.comparison[1].error  # where it is taken
    path.write_text(json.dumps(fields))
    assert plan().to_json() == first.to_json()


@pytest.mark.parametrize("asked", [(2, 8.0, 1e-9), (3, 4.0, 1e-9)], ids=str)
def test_a_kept_fit_that_is_as_near_as_what_decides_is_taken(asked, tmp_path, monkeypatch):
    """Nothing is searched for again, and no other noise is made a second time."""
    kept(tmp_path, monkeypatch)
    plan, made = close(asked), []
    first = plan()
    assert 0 < 1 - first.error / first.comparison[1].error < 1e-4
    monkeypatch.setattr(radial_fit, "fitted", None)
    laplace = pure.independent
    monkeypatch.setattr(pure, "independent", lambda *a, **k: made.append(a) or laplace(*a, **k))
    assert plan().to_json() == first.to_json()
    assert len(made) == 1
