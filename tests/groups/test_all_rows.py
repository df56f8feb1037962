# SPDX-License-Identifier: Apache-2.0
"""Means by groups of which all rows are the only one: their public number has no noise."""

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import PlanError

N = 40
TABLE = pd.DataFrame({"x": np.linspace(0, 1, N), "sex": ["F", "M"] * (N // 2)})


def planned(budget, **sets):
    question = ln.Mean(["x"], ln.Box([0], [1]), by={"sex": ["F", "M"]}, outside="extra", **sets)
    return ln.plan(question, budget=budget, relation="substitute", size=N)


def test_under_epsilon_they_are_refused_in_one_line_as_means_without_groups_have_half_the_noise():
    with pytest.raises(PlanError, match="leave out by=") as refusal:
        planned(ln.pure_dp(1.0), sets=[[]])
    assert "\n" not in str(refusal.value)
    groups = planned(ln.pure_dp(1.0), sets=[[], ["sex"]])
    alone = ln.plan(
        ln.Mean(["x"], ln.Box([0], [1])), budget=ln.pure_dp(1.0), relation="substitute", size=N
    )
    sums = groups.terms.view.scales(())[0][0]
    assert alone.standard_deviation[0] * N < 0.51 * sums


def test_under_epsilon_and_delta_they_have_gaussian_noise_and_their_exact_number():
    plan = planned(ln.approx_dp(1.0, 1e-6), sets=[[]])
    assert plan.mechanism == "gaussian"
    assert plan.release(TABLE).groups().counts.tolist() == [N]
