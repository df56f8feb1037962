# SPDX-License-Identifier: Apache-2.0
"""Every kind of plan says which readings of accounts can pay for it, and those accounts do."""

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise import report
from lownoise.errors import BudgetError
from lownoise.privacy.events import READINGS

ASKED = {"zcdp": ln.zcdp(0.01), "approx": ln.approx_dp(0.2, 1e-7), "pure": ln.pure_dp(0.2)}
WHOLE = ln.approx_dp(20.0, 1e-5)
ACCOUNTS = {
    "gaussian": "gaussian",
    "zcdp": "zcdp",
    "basic": "basic",
    "caps": ln.Caps(epsilon=10, delta=1e-6, mu=1.0),
    "zcdp, a delta aside": ln.Aside(1e-6),
    "gaussian, a delta aside": ln.Aside(1e-6, "gaussian"),
}
ROWS = pd.DataFrame({"a": [0.0, 1.0] * 5, "b": [0, 1] * 5})
BITS = {"a": 2, "b": 2}


def mean(budget):
    return ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=budget, relation="substitute", size=10)


def table(budget):
    return ln.plan(ln.Marginals(BITS, way=1), budget=budget, relation="add_remove")


def queries(budget):
    return ln.plan(ln.Queries(np.eye(4), BITS), budget=budget, relation="add_remove")


KINDS = {"mean": mean, "marginals": table, "queries": queries}
CASES = [(k, b) for k in KINDS for b in ASKED if (k, b) != ("marginals", "pure")]


def said(plan):
    return report.render_text(report.sections(plan), width=400)


@pytest.mark.grid
@pytest.mark.parametrize(("kind", "asked"), CASES)
def test_the_accounts_that_a_plan_names_pay_for_it_and_no_others(kind, asked, tmp_path):
    plan = KINDS[kind](ASKED[asked])
    payers = ("gaussian", "zcdp", "caps") if asked == "zcdp" else READINGS[:4]
    if plan.mechanism == "radial":
        payers = ("basic", "caps", "aside")
    assert (plan.mechanism == "radial") == ((kind, asked) == ("mean", "approx"))
    assert plan.readings == payers
    assert f"reading {', '.join(payers[:-1])} or {payers[-1]}" in " ".join(said(plan).split())
    for name, reading in ACCOUNTS.items():
        ledger = ln.Ledger.create(tmp_path / "l", name, WHOLE, reading=reading)
        pays = {name} if isinstance(reading, (str, ln.Caps)) else {"aside", reading.like}
        if pays & set(plan.readings):
            assert plan.release(ROWS, ledger).recorded
            continue
        with pytest.raises(BudgetError, match="cannot be paid where"):
            plan.release(ROWS, ledger)
        assert ledger.entries() == []


@pytest.mark.parametrize("asked", ["zcdp", "approx"])
def test_the_accounts_of_a_stream(asked, tmp_path):
    stream = {"workload": ln.Prefix(4), "budget": ASKED[asked]}
    for name, reading in ACCOUNTS.items():
        ledger = ln.Ledger.create(tmp_path / "l", name, WHOLE, reading=reading)
        if (name, asked) == ("basic", "zcdp"):
            with pytest.raises(BudgetError, match="cannot be paid where"):
                ln.stream(**stream, ledger=ledger)
        else:
            ln.stream(**stream, ledger=ledger)
            assert [e.state for e in ledger.entries()] == ["settled"]
