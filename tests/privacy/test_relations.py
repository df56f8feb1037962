# SPDX-License-Identifier: Apache-2.0
"""Costs add up for neighbours of one relation: an account takes spends of one."""

import sqlite3
from functools import cache
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import LedgerError
from lownoise.privacy import GaussianEvent

WHOLE = ln.approx_dp(20.0, 1e-5)
TENTH, PURE = ln.zcdp(0.1), ln.pure_dp(0.1)
ROWS = pd.DataFrame({"a": [0.0, 1.0] * 5, "b": [0, 1] * 5})
BITS = {"a": 2, "b": 2}
SIZED = {"relation": "substitute", "size": 10}
COMES = {"relation": "add_remove"}
MOVES = {"relation": ln.Box([-0.1], [0.1]), "size": 10}
MEAN = ln.Mean(["a"], ln.Box([0], [1]))
ZERO = {"a": 0, "b": 0}
QUERIES = ln.Queries(np.eye(4), BITS, outside=ZERO)


class Counted:
    """A table that must not be read."""

    def __getattr__(self, name):
        raise AssertionError(name)


def released(question, budget, arguments):
    return lambda table, ledger: planned(question, budget, *arguments.items()).release(
        table, ledger
    )


@cache
def planned(question, budget, *arguments):
    return ln.plan(question, budget=budget, **dict(arguments))


def streamed(arguments):
    asked = {"domain": ln.Box([0], [1]), **{k: v for k, v in arguments.items() if k != "size"}}
    return lambda _, ledger: ln.stream(ln.Prefix(4), budget=TENTH, ledger=ledger, **asked)


TABLE = ln.Marginals(BITS, way=1, outside=ZERO)
PARITY = ln.Parity(["a", "b"], 1, outside=0)
SPENDS = {
    "substitute": {
        "mean": released(MEAN, TENTH, SIZED),
        "pure mean": released(MEAN, PURE, SIZED),
        "marginals": released(TABLE, TENTH, SIZED),
        "queries": released(QUERIES, TENTH, SIZED),
        "pure queries": released(QUERIES, PURE, SIZED),
        "parities": released(PARITY, TENTH, SIZED),
        "stream": streamed(SIZED),
    },
    "add_remove": {
        "mean": released(MEAN, TENTH, COMES),
        "pure mean": released(MEAN, PURE, COMES),
        "marginals": released(TABLE, TENTH, COMES),
        "queries": released(QUERIES, TENTH, COMES),
        "pure queries": released(QUERIES, PURE, COMES),
        "parities": released(PARITY, TENTH, COMES),
        "stream": streamed(COMES),
    },
    "changes": {"mean": released(MEAN, TENTH, MOVES), "stream": streamed(MOVES)},
}
FIRST = {name: spends["mean"] for name, spends in SPENDS.items()}
UNLIKE = [(a, b, kind) for a, b in permutations(SPENDS, 2) for kind in SPENDS[b]]


def opened(tmp_path):
    return ln.Ledger.create(tmp_path / "l.ledger", "d", WHOLE, reading="zcdp")


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("first", "then", "kind"), UNLIKE)
def test_a_spend_of_another_relation_is_refused_before_a_row_is_read(first, then, kind, tmp_path):
    ledger = opened(tmp_path)
    FIRST[first](ROWS, ledger)
    before = ledger.entries()
    with pytest.raises(LedgerError, match=f"relation='{first}', to which one with") as caught:
        SPENDS[then][kind](Counted(), ledger)
    assert "\n" not in str(caught.value)
    assert f"relation={then!r}" in str(caught.value)
    assert ledger.entries() == before


@pytest.mark.parametrize("relation", SPENDS)
def test_spends_of_one_relation_add_up_and_the_ledger_tells_it(relation, tmp_path):
    ledger = opened(tmp_path)
    for spend in SPENDS[relation].values():
        spend(ROWS, ledger)
    assert {e.relation for e in ledger.entries()} == {relation}
    assert len(ledger.entries()) == len(SPENDS[relation])


def test_a_cancelled_spend_fixes_no_relation(tmp_path):
    ledger = opened(tmp_path)
    ledger.cancel(ledger.reserve(GaussianEvent(0.1), relation="substitute"))
    ledger.reserve(GaussianEvent(0.1), relation="add_remove")
    with pytest.raises(LedgerError, match="does not add up"):
        ledger.reserve(GaussianEvent(0.1), relation="changes")


def test_what_another_tool_spent_may_name_its_relation(tmp_path):
    ledger = opened(tmp_path)
    ledger.charge(TENTH, "survey")
    ledger.charge(TENTH, "census", relation="add_remove")
    with pytest.raises(LedgerError, match="does not add up"):
        ledger.charge(TENTH, "panel", relation="substitute")
    with pytest.raises(LedgerError, match="relation='neighbours' is unknown; use"):
        ledger.charge(TENTH, "panel", relation="neighbours")
    assert [e.relation for e in ledger.entries()] == [None, "add_remove"]


def test_a_ledger_that_said_no_relation_says_none_of_its_old_spends(tmp_path):
    ledger = opened(tmp_path)
    FIRST["substitute"](ROWS, ledger)
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("UPDATE spend SET relation = NULL")
    connection.close()
    FIRST["add_remove"](ROWS, ledger)
    assert [e.relation for e in ledger.entries()] == [None, "add_remove"]
