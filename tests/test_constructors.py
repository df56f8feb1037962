# SPDX-License-Identifier: Apache-2.0
"""Public functions take numbers, and nothing that numpy would make a number of."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lownoise as ln
from constructors import CONSTRUCTORS
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
    refused(ln.farthest, domain=ln.Ball(2), matrix=form)
    assert ln.farthest(ln.Ball(2), np.array(form)[::-1] + np.diag([0.0, 1.0])).value > 0


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
    "databases": lambda: ln.finite_problem(np.ones((1, 10**5)), size=10**9),
    "record": lambda: ln.Queries(np.ones((1, 2)), [[1], [FAR]], columns=["x"]),
    "names": lambda: ln.Mean(FAR, ln.Ball(1)),
}
LONG = [f"a{i}" for i in range(600)]


@pytest.mark.parametrize("name", HUGE)
def test_what_no_memory_holds_is_refused_in_one_line(name):
    refused(HUGE[name])
