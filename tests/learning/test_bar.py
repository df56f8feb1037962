# SPDX-License-Identifier: Apache-2.0
"""The bar of a run: rounds on a terminal, nothing elsewhere."""

import io

import numpy as np
import pytest
from rich.console import Console

import lownoise as ln
from learning.members import learning, planned, records
from lownoise.errors import PlanError


def shown(X, y, plan, *, terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=80, color_system=None)
    with learning.ProgressBar(console) as bar:
        plan.fit(X, y, progress=bar)
    return out.getvalue()


def test_a_terminal_sees_all_rounds_and_a_file_nothing():
    plan = planned()
    X, y = records(plan)
    assert f"{plan.rounds}/{plan.rounds}" in shown(X, y, plan, terminal=True)
    assert shown(X, y, plan, terminal=False).strip() == ""


def test_the_bar_ends_where_learning_fails():
    plan = planned()
    X, _ = records(plan)
    bar = learning.ProgressBar(Console(file=io.StringIO(), force_terminal=True))

    def stop(step):
        bar(step)
        raise RuntimeError("stop")

    def learn():
        with bar:
            plan.fit(X, np.ones(len(X)), progress=stop)

    with pytest.raises(RuntimeError, match="stop"):
        learn()
    assert not bar._shown.live.is_started


def test_what_cannot_be_told_is_refused_and_nothing_is_spent(tmp_path):
    plan = planned()
    X, y = records(plan)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(100))
    with pytest.raises(PlanError, match="progress=True cannot be called"):
        plan.fit(X, y, ledger=ledger, progress=True)
    assert list(ledger.entries()) == []
