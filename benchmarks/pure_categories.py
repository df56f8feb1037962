# SPDX-License-Identifier: Apache-2.0
"""Means of categories, one 1 a record: noises beside what no mechanism is below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 10**6
KINDS = (3, 5, 9, 17, 33)
EPSILONS = (1.0, 2.0, 4.0, 8.0)
HEAD = ("categories", "ε", "of means", "error", "over the bound", "of counts", "error", "over")


def category_rows() -> Iterator[list[str]]:
    """Return the least noise of means and of the histogram, as errors of counts of a million."""
    for kinds in KINDS:
        names = [f"c{i}" for i in range(kinds)]
        for epsilon in EPSILONS:
            budget = ln.pure_dp(epsilon)
            mean, counts = (
                ln.plan(question, budget=budget, relation="substitute", size=SIZE)
                for question in (
                    ln.Mean(names, ln.Points(np.eye(kinds))),
                    ln.Histogram("kind", kinds - 1, outside="extra"),
                )
            )
            bound = mean.lower_bound * SIZE
            cells = [str(kinds), f"{epsilon:g}"]
            for plan, error in ((mean, mean.error * SIZE), (counts, counts.error)):
                cells += [plan.mechanism, f"{error:.4g}", f"{error / bound:.3g}"]
            yield cells
