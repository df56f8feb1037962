# SPDX-License-Identifier: Apache-2.0
"""Public functions take numbers, and nothing that numpy would make a number of."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import lownoise as ln
from constructors import CONSTRUCTORS, disc
from lownoise.errors import LownoiseError

NAMES = pytest.mark.parametrize("own", CONSTRUCTORS, ids=lambda own: own.name)
NO_NUMBERS = ("1", b"1", True, np.True_, 1j, np.complex128(1), math.nan, np.datetime64("now"))
NO_WHOLES = (*NO_NUMBERS, 2.5, -1, math.inf, 10**5000, 10**30)
FAR = 10**5000  # more digits than Python prints


def refused(call, **changed):
    with pytest.raises(LownoiseError) as refusal:
        call(**changed)
    said = str(refusal.value)
    assert "\n" not in said
    assert ";" in said  # with a remedy
    assert len(said) < 6000


def first_replaced(rows, wrong):
    """The table with its first number replaced, as lists."""
    if isinstance(rows[0], list):
        return [[wrong, *rows[0][1:]], *rows[1:]]
    return [wrong, *rows[1:]]


@pytest.mark.grid
@NAMES
def test_what_is_given_is_taken_in_every_type_of_number(own):
    own()
    for field in own.numbers:
        own(**{field: np.float64(own.given[field])})
    for field in own.wholes:
        own(**{field: np.int64(own.given[field])})
    for field in (*own.vectors, *own.matrices):
        rows = np.array(own.given[field])
        own(**{field: rows})
        own(**{field: rows.astype(object)})
        own(**{field: rows.astype(np.float32)})


@NAMES
def test_one_number_is_no_text_no_truth_value_and_no_complex_number(own):
    for field in own.numbers:
        ends = () if field in own.endless else (math.inf,)
        for wrong in (*NO_NUMBERS, *ends, -math.inf, FAR, "many", object(), [1.0, 2.0]):
            if (own.name, wrong) != ("Slab", -math.inf):
                refused(own, **{field: wrong})
    for field in own.wholes:
        for wrong in (*NO_WHOLES, object()):
            refused(own, **{field: wrong})


@pytest.mark.grid
@NAMES
def test_numbers_of_a_table_are_no_texts_no_truth_values_and_no_complex_numbers(own):
    for field in (*own.vectors, *own.matrices):
        rows = own.given[field]
        ends = () if field in own.endless else (math.inf,)
        for wrong in (*NO_NUMBERS, *ends, -math.inf, None, FAR, object(), [1.0, 2.0, 3.0]):
            refused(own, **{field: first_replaced(rows, wrong)})
        whole = np.array(rows)
        for kind in (str, bytes, bool, complex, "datetime64[s]"):
            refused(own, **{field: whole.astype(kind)})
        for wrong in ("rows", b"rows", {1.0, 2.0}, {"a": 1.0}, (x for x in rows), object()):
            refused(own, **{field: wrong})
        refused(own, **{field: np.ma.masked_equal(whole, whole.flat[0])})
        endless = []
        endless.append(endless)
        refused(own, **{field: endless})


@NAMES
def test_sizes_that_no_memory_holds_are_refused_before_it_is_asked_for(own):
    """10^12 coordinates are 8 TB: a machine that would give them is no machine of ours."""
    for field in own.wholes:
        try:
            own(**{field: 10**12})
        except LownoiseError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017 (some take it: rounds, a public size)


@pytest.mark.parametrize("form", [[[1.0, 0.0], [0.0, -1.0]], [[1.0, 2.0], [2.0, 1.0]]])
def test_a_form_that_is_indefinite_is_refused_where_its_factor_is_asked_for(form):
    refused(ln.theory.farthest, domain=ln.Ball(2), matrix=form)
    assert ln.theory.farthest(ln.Ball(2), np.array(form)[::-1] + np.diag([0.0, 1.0])).value > 0


HUGE = {  # what would ask for memory that no machine has, or take hours to count
    "Kronecker product": lambda: ln.kronecker(ln.Ball(2**20), ln.Ball(2**20)),
    "matrices": lambda: ln.OperatorNormBall(2**20, 2**20),
    "power of one": lambda: ln.TensorPower(1, 10**9),
    "labels": lambda: ln.Marginals({"a": range(10**12)}, way=1),
    "way": lambda: ln.Marginals({f"a{i}": 2 for i in range(3000)}, way=1500),
    "cells": lambda: ln.Marginals({f"a{i}": 2**31 for i in range(600)}, sets=[LONG]),
    "universe": lambda: ln.Queries(np.ones((1, 2)), dict.fromkeys(LONG, 2**31)),
    "degrees": lambda: ln.Parity(LONG, range(10**12)),
    "parities": lambda: ln.Parity(LONG, 300),
    "databases": lambda: ln.theory.finite_problem(np.ones((1, 10**5)), size=10**9),
    "record": lambda: ln.Queries(np.ones((1, 2)), [[1], [FAR]], columns=["x"]),
    "names": lambda: ln.Mean(FAR, ln.Ball(1)),
}
LONG = [f"a{i}" for i in range(600)]


@pytest.mark.parametrize("name", HUGE)
def test_what_no_memory_holds_is_refused_in_one_line(name):
    refused(HUGE[name])


class Mute:
    """What raises where it is asked for its text, or whether it is another."""

    def _raised(self, *_):
        raise RuntimeError

    __repr__ = __eq__ = _raised
    __hash__ = object.__hash__


ODD = {  # values that no word, name, level or account is
    "a number of many digits": FAR,
    "one below 0": -FAR,
    "a long text": "x" * 10**6,
    "lines": "one\ntwo",
    "a table": np.zeros((3, 3)),
    "many": list(range(10**5)),
    "a list of such numbers": [FAR],
    "bytes": b"\xff" * 1000,
    "what does not speak": Mute(),
}
BUDGET = ln.zcdp(0.5)
MEAN = ln.Mean(["a", "b"], ln.Box([0.0, 0.0], [1.0, 2.0]))
PLAN = ln.plan(MEAN, budget=BUDGET, relation="add_remove")
PURE = ln.plan(MEAN, budget=ln.pure_dp(1.0), relation="add_remove", mechanism="laplace")
COUNTS = ln.plan(ln.Marginals({"a": 3}, way=1), budget=BUDGET, relation="add_remove")
ROWS = pa.table({"a": [0.0, 1.0], "b": [1.0, 1.0]})
RELEASE, PURE_RELEASE, TABLE = (p.release(ROWS) for p in (PLAN, PURE, COUNTS))
TAKING = {  # calls that take a word, a name, a level or an account
    "budget": lambda x: ln.plan(MEAN, budget=x, relation="add_remove"),
    "relation": lambda x: ln.plan(MEAN, budget=BUDGET, relation=x),
    "relation of counts": lambda x: ln.plan(COUNTS.terms.question, budget=BUDGET, relation=x),
    "weights": lambda x: ln.plan(MEAN, budget=BUDGET, relation="add_remove", weights=x),
    "mechanism": lambda x: ln.plan(
        MEAN, budget=ln.pure_dp(1.0), relation="add_remove", mechanism=x
    ),
    "ledger": lambda x: PLAN.release(ROWS, x),
    "ledger of counts": lambda x: COUNTS.release(ROWS, x),
    "ledger of a stream": lambda x: ln.stream(ln.Prefix(8), budget=BUDGET, ledger=x),
    "level": RELEASE.interval,
    "level of means": RELEASE.mean_interval,
    "pure level": PURE_RELEASE.interval,
    "level of counts": lambda x: TABLE.interval("a", level=x),
    "missing": lambda x: ln.Mean(["a", "b"], ln.Box([0.0, 0.0], [1.0, 2.0]), missing=x),
    "columns": lambda x: ln.Mean(x, ln.Ball(2)),
    "sizes": lambda x: ln.Marginals({"a": x}, way=1, sets=[["b"]]),
    "labels": lambda x: ln.Marginals({"a": [x, 1]}, way=1),
    "outside": lambda x: ln.Marginals({"a": 3}, way=1, outside=x),
    "outside by name": lambda x: ln.Marginals({"a": 3}, way=1, outside={"a": x}),
    "ordered": lambda x: ln.Marginals({"a": 3}, way=1, ordered=x),
    "order": lambda x: ln.Marginals({"a": 3}, way=1, ordered={"a": x}),
    "sets": lambda x: ln.Marginals({"a": 3}, sets=[x]),
    "names": lambda x: ln.Marginals({"a": 3}, sets=[[x]]),
    "bits": lambda x: ln.Parity(["a", x, x], [1]),
    "outside of bits": lambda x: ln.Parity(["a", "b"], [1], outside=x),
    "outside of records": lambda x: ln.Queries(np.ones((1, 2)), {"a": 2}, outside=x),
    "names of records": lambda x: ln.Queries(np.ones((1, 2)), [[1, 2], [2, 3]], columns=[x, x]),
    "strategy": lambda x: ln.stream(ln.Prefix(8), budget=BUDGET, strategy=x),
    "memory": lambda x: ln.stream(ln.Prefix(8), budget=BUDGET, strategy="banded", memory=x),
    "error": lambda x: ln.stream(ln.Prefix(8), budget=BUDGET, error=x),
    "tensor": lambda x: ln.TensorPower(2, 2, of=x),
    "oracle": lambda x: ln.Oracle(2, disc, half_widths=[1.0, 1.0], name=x),
    "kind": lambda x: ln.convert(BUDGET, x),
    "delta": lambda x: ln.convert(BUDGET, "approx_dp", delta=x),
    "relation of few": lambda x: ln.theory.finite_problem(np.ones((1, 2)), size=2, relation=x),
    "dataset": lambda x: ln.Ledger.create("unused.ledger", x, BUDGET),
    "reading": lambda x: ln.Ledger.create("unused.ledger", "d", BUDGET, reading=x),
}


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("name", TAKING)
def test_no_word_name_level_or_account_fails_but_in_one_short_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for odd in ODD.values():
        try:
            TAKING[name](odd)
        except LownoiseError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017 (a long text may be a name)
            assert len(str(refusal)) < 700  # noqa: PT017


@pytest.mark.parametrize("odd", [False, 0, "", [], {}, (), 0.0])
def test_what_counts_as_false_is_no_account_that_a_release_could_do_without(odd):
    for call in (PLAN.release, PURE.release, COUNTS.release):
        refused(call, table=ROWS, ledger=odd)
    refused(ln.stream, workload=ln.Prefix(8), budget=BUDGET, ledger=odd)
