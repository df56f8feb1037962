# SPDX-License-Identifier: Apache-2.0
"""Means of categories, and of columns of yes and no: noises in whole numbers and in real ones."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

import lownoise as ln

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 10**6
KINDS = (3, 5, 9, 17, 33)
EPSILONS = (1.0, 2.0, 4.0, 8.0)
WHOLE = ("geometric", "discrete_k_norm", "discrete_staircase")
_ERRORS = ("of real numbers", "error", "of whole numbers", "error", "over the bound")
HEAD = ("categories", "ε", *_ERRORS, *_ERRORS)


def category_rows() -> Iterator[list[str]]:
    """Return the least noise of means in real and in whole numbers, as errors of sums."""
    for kinds in KINDS:
        question = ln.Mean([f"c{i}" for i in range(kinds)], ln.Points(np.eye(kinds)))
        for epsilon in EPSILONS:
            cells = [str(kinds), f"{epsilon:g}"]
            for size in (SIZE, None):
                plan = ln.plan(
                    question,
                    budget=ln.pure_dp(epsilon),
                    relation="substitute" if size else "add_remove",
                    size=size,
                )
                found = {own.mechanism: own.error for own in plan.comparison if own.error}
                for numbers in (found.keys() - set(WHOLE), found.keys() & set(WHOLE)):
                    least = min(numbers, key=lambda name: found[name])
                    cells += [least, f"{found[least] * (size or 1):.4g}"]
                cells.append(f"{plan.error / plan.lower_bound:.3g}")
            yield cells


COLUMNS = (2, 3, 4, 6)
CORNERS_HEAD = ("columns", "relation", "ε", "without it", "error", "with it", "error", "squared")


def corner_rows() -> Iterator[list[str]]:
    """Return the least noise of several columns of yes and no without a cube's, and that."""
    for columns in COLUMNS:
        corners = ln.Points(np.array(list(product([0.0, 1.0], repeat=columns))))
        question = ln.Mean([f"c{i}" for i in range(columns)], corners)
        for size in (SIZE, None):
            relation: Literal["substitute", "add_remove"]
            relation = "substitute" if size else "add_remove"
            for epsilon in EPSILONS:
                budget = ln.pure_dp(epsilon)
                plan = ln.plan(question, budget=budget, relation=relation, size=size)
                found = {
                    own.mechanism: own.error * (size or 1) for own in plan.comparison if own.error
                }
                least = min(found.keys() - {"discrete_k_norm"}, key=lambda name: found[name])
                with_it = found[plan.mechanism]
                cells = [str(columns), relation, f"{epsilon:g}", least, f"{found[least]:.4g}"]
                yield [
                    *cells, plan.mechanism, f"{with_it:.4g}", f"{(with_it / found[least]) ** 2:.2f}"
                ]  # fmt: skip
