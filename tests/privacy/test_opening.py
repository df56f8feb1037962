# SPDX-License-Identifier: Apache-2.0
"""An account is opened once, whoever comes first, and a path pays as the account that it holds."""

import contextlib
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from befallen import Died, Dying
from command_line import together
from lownoise.errors import BudgetError
from lownoise.privacy import checked_ledger
from refusals import refused

RACER = """
import sys
import lownoise as ln
from lownoise.numbers import locked
locked._PATIENCE = 1e6  # s, so that no load decides who is refused
print("ready", flush=True)
sys.stdin.readline()
ledger = ln.Ledger.open_or_create(sys.argv[1], "flights", ln.zcdp(1.0))
print(ledger.charge(ln.zcdp(0.25), "a racer"), flush=True)
"""


def test_an_account_is_opened_once_and_found_again(tmp_path):
    path = tmp_path / "l"
    first = ln.Ledger.open_or_create(path, "flights", ln.approx_dp(1, 1e-6), reading="basic")
    first.charge(ln.approx_dp(0.25, 1e-7), "of May")
    for named in ({}, {"reading": "basic"}):
        again = ln.Ledger.open_or_create(path, "flights", ln.approx_dp(1, 1e-6), **named)
        assert again.remaining() == {"epsilon": 0.75, "delta": 9e-7}
    assert ln.Ledger.datasets(path) == ["flights"]


def test_what_differs_is_refused_in_a_line_that_says_both(tmp_path):
    path = tmp_path / "l"
    ledger = ln.Ledger.open_or_create(path, "flights", ln.approx_dp(1, 1e-6))
    before = path.read_bytes()

    def opened(dataset="flights", budget=None, **named):
        asked = budget or ledger.budget()
        return lambda: ln.Ledger.open_or_create(path, dataset, asked, **named)

    refused(opened(budget=ln.approx_dp(2, 1e-6)), "epsilon=1.0", "epsilon=2.0")
    refused(opened(budget=ln.zcdp(1.0)), "epsilon=1.0", "rho=1.0")
    refused(opened("flihgts"), "'flihgts'", "'flights'")
    refused(opened(reading="zcdp"), "no reading yet", "leave reading out")
    refused(opened(" "), "is no name")
    refused(opened(reading="gauss"), "gauss", error=BudgetError)
    assert path.read_bytes() == before
    ln.Ledger.create(path, "trains", ln.zcdp(1.0))
    refused(opened("trains"), "rho=1.0", "epsilon=1.0")
    refused(opened("boats"), "'boats'", "'flights', 'trains'")


def test_of_processes_that_open_at_once_all_spend_from_one_account(tmp_path):
    path = tmp_path / "l"
    numbers = together([[sys.executable, "-c", RACER, str(path)]] * 4)
    assert sorted(numbers) == ["1", "2", "3", "4"]
    assert ln.Ledger(path, "flights").remaining() == {"rho": 0.0}


def test_a_process_that_dies_at_any_statement_leaves_an_account_or_room_for_it(
    tmp_path, monkeypatch
):
    connect = sqlite3.connect
    for at in range(1, 100):
        path = tmp_path / f"l{at}"
        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Dying, **k))
            Dying.left, opened = at, False
            with contextlib.suppress(Died):
                ln.Ledger.open_or_create(path, "d", ln.zcdp(0.5))
                opened = True
        ledger = ln.Ledger.open_or_create(path, "d", ln.zcdp(0.5))
        assert (ledger.budget(), ledger.entries()) == (ln.zcdp(0.5), [])
        if opened:
            break
    assert at > 10


ROWS = pd.DataFrame({"a": [0.0, 1.0] * 5})
PUBLIC = {"budget": ln.zcdp(0.125), "relation": "substitute"}


def plan(**named):
    return ln.plan(ln.Mean(["a"], ln.Box([0], [1])), size=10, **PUBLIC, **named)


def learned(ledger, path):
    made = ln.learning.plan(
        ln.learning.Logistic(), features=2, records=32, batch=8, clip=1.0, radius=1.0, **PUBLIC
    )
    return made.start(ledger=ledger, path=path)


def releases():
    queries = ln.Queries(np.eye(3), {"a": 2}, outside="extra")
    size = {**PUBLIC, "size": 10}
    return {
        "release": lambda ledger, _: plan().release(ROWS, ledger),
        "uses": lambda ledger, _: plan(uses=2).release(ROWS, ledger),
        "together": lambda ledger, _: ln.together({"q": queries}, **size).release(ROWS, ledger),
        "stream": lambda ledger, path: ln.stream(ln.Prefix(4), ledger=ledger, path=path, **PUBLIC),
        "learning": learned,
        "stream that started": lambda ledger, path: ln.stream(
            ln.Prefix(4), ledger=ledger, path=path, **PUBLIC
        ),
    }


@pytest.mark.parametrize("name", releases())
def test_a_path_pays_as_the_account_that_it_holds(name, tmp_path):
    path, call = tmp_path / "office.ledger", releases()[name]
    refused(lambda: call(path, tmp_path / "s"), "does not exist", "create", "open_or_create")
    assert list(tmp_path.iterdir()) == []
    refused(lambda: call(tmp_path, tmp_path / "s"), "is a folder; give the path of a ledger's file")
    ledger = ln.Ledger.create(path, "office", ln.zcdp(0.25))
    call(str(path), tmp_path / "s")
    if name == "stream that started":
        call(path, tmp_path / "s")  # goes on, and pays nothing
    assert [e.state for e in ledger.entries()] == ["settled"]
    ln.Ledger.create(path, "home", ln.zcdp(0.25))
    refused(lambda: call(path, tmp_path / "t"), "'home', 'office'", "::DATASET")
    refused(lambda: call(f"{path}::hoem", tmp_path / "t"), "'home', 'office'")
    call(f"{path}::home", tmp_path / "t")
    assert len(ln.Ledger(path, "home").entries()) == 1
    assert len(ledger.entries()) == 1


def test_an_account_that_cannot_pay_is_named_by_its_path_too(tmp_path):
    """What is added to a refusal asks the account, which a path is not yet."""
    ln.Ledger.create(tmp_path / "l", "d", ln.approx_dp(1.0, 1e-6), reading="zcdp")
    noisy = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])),
        budget=ln.approx_dp(0.5, 1e-7),
        relation="substitute",
        size=10,
    )
    refused(lambda: noisy.release(ROWS, tmp_path / "l"), 'mechanism="gaussian"', error=BudgetError)


@pytest.mark.parametrize("what", ["", b"l", 0, [], ("l", "d")])
def test_what_is_no_ledger_pays_for_nothing(what):
    refused(lambda: checked_ledger(what), "ledger=")
