# SPDX-License-Identifier: Apache-2.0
"""Marginals with noise that is correlated along ordered attributes; see test_layouts.py, too."""

import numpy as np
import pytest
from tests.tables.layouts import ROWS, SIZES, N, damaged
from tests.tables.layouts import ordered_plan as plan

import lownoise as ln
from lownoise.errors import FileError, PlanError, QuestionError
from lownoise.sensitivity.orders import answer_rows


def test_noise_fitted_to_prefixes_beats_noise_fitted_to_cells():
    fitted, plain = plan(way=2), plan(way=2, ordered={})
    own = float(np.mean(fitted.standard_deviation("t", "a", answers=True) ** 2))
    cells = [(("t", "a"), (k, 0)) for k in range(6)]
    matrix = np.array([[plain.covariance(x, y) for y in cells] for x in cells])
    rows = answer_rows("prefix", 6)
    assert own < 0.9 * float(np.mean(np.einsum("ri,ij,rj->r", rows, matrix, rows)))


def test_the_cost_is_the_budget_and_the_mean_over_intervals_holds():
    made = plan("substitute", {"t": "range"}, rho=0.02)
    assert 1 - 1e-8 <= made.cost.rho / 0.02 <= 1
    released = made.release(ROWS)
    low, high = released.interval("t", "a", level=0.9)
    assert np.allclose(high - low, 2 * 1.6448536269 * released.standard_deviation("t", "a"))


DAMAGE = {
    "a smaller noise": lambda t: t["noise"]["factors"][0].__setitem__(0, 1e-3),
    "a negative diagonal": lambda t: t["noise"]["factors"][0].__setitem__(0, -5.0),
    "a short triangle": lambda t: t["noise"]["factors"][0].pop(),
    "a missing triangle": lambda t: t["noise"]["factors"].pop(),
    "steps": lambda t: t["noise"]["steps"].__setitem__(0, 0.3),
    "cells": lambda t: t["evidence"]["cells"][0].__setitem__(0, -1.0),
    "few cells": lambda t: t["evidence"]["cells"].pop(),
    "pairs": lambda t: t["evidence"]["pairs"].__setitem__(0, [0, 1]),
    "far pairs": lambda t: t["evidence"]["pairs"].__setitem__(0, [99, 99]),
    "patterns": lambda t: t["evidence"]["patterns"].__setitem__(0, [1, 0, 0, 0, 0]),
    "order": lambda t: t["question"]["attributes"][1].__setitem__("ordered", "other"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused(name):
    made = plan()
    assert type(made).from_json(damaged(made.to_json(), lambda _: None)).to_json()
    with pytest.raises((FileError, QuestionError)):
        type(made).from_json(damaged(made.to_json(), DAMAGE[name]))


def test_orders_that_are_none_are_refused():
    for ordered, said in (
        ({"t": "suffix"}, "suffix"),
        ({"x": "prefix"}, "ordered names 'x', no attribute; name some of '"),
        (["t"], "no mapping"),
        ({"t": 3}, "unknown"),
    ):
        with pytest.raises(QuestionError, match=said):
            ln.Marginals(SIZES, way=2, ordered=ordered)
    question = ln.Marginals({"t": 4, "a": 2}, way=2, ordered={"t": "prefix"})
    with pytest.raises(PlanError, match="drop"):
        ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=N)
