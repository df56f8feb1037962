# SPDX-License-Identifier: Apache-2.0
"""The change between two releases, as the page of surveys computes it, covers at its level.

Mutants, each seen red: the deviation of one release alone, deviations that are added up.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import lownoise as ln
from golden.accessors import simulated

PAGE = Path(__file__).parents[2] / "docs/survey.md"
RUNS, GROUPS = 30, 40


def test_the_interval_of_a_change_covers_at_its_level():
    """Of 1,200 changes of each answer, error of the first kind 1e-6: 0.91 or 0.985 is found."""
    names = {"np": np}
    exec(re.search(r"(def change.*?)\n\n\n", PAGE.read_text(), re.DOTALL)[1], names)  # noqa: S102
    rng = np.random.default_rng(6)
    tables = [
        pd.DataFrame({"pay": rng.gamma(4, 500, n), "site": rng.integers(0, GROUPS, n)})
        for n in (20_000, 22_000)
    ]
    asked = ln.Mean(["pay"], ln.Box([0], [9000]), by={"site": GROUPS})
    plan = ln.plan(asked, budget=ln.zcdp(0.1), relation="add_remove", weights="range")
    exact = []
    for table in tables:
        by = table.assign(pay=table["pay"].clip(0, 9000)).groupby("site")["pay"]
        exact.append(
            pd.DataFrame({"count": by.size(), "mean(pay)": by.mean(), "sum(pay)": by.sum()})
        )
    true = exact[1] - exact[0]
    covered = dict.fromkeys(true, 0)
    for run in range(RUNS):
        releases = []
        for k, table in enumerate(tables):
            with simulated(2 * run + k):
                releases.append(plan.release(table))
        found = names["change"](*reversed(releases))
        for answer in true:
            own = found[found["answer"] == answer]
            inside = (own["low"].array <= true[answer]) & (true[answer] <= own["high"].array)
            covered[answer] += int(inside.sum())
    for answer, count in covered.items():
        test = stats.binomtest(count, RUNS * GROUPS, 0.95)
        assert test.pvalue > 1e-6 / 3, (answer, count / (RUNS * GROUPS))
