# SPDX-License-Identifier: Apache-2.0
"""Margins of a public number of rows: the noise of one table beside what is least without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lownoise as ln

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 1000
EPSILONS = (1.0, 2.0, 4.0, 8.0)
TABLE = "discrete_k_norm"
ASKED: list[tuple[dict[str, int], dict[str, Any]]] = [
    ({"a": 2, "b": 3}, {"way": 2}),
    ({"a": 2, "b": 3}, {"way": 1}),
    ({"a": 4, "b": 4, "c": 4}, {"way": 2}),
    ({"a": 4, "b": 4, "c": 4}, {"way": 1}),
    ({f"x{i}": 2 for i in range(6)}, {"way": 2}),
    ({"a": 10, "b": 12}, {"way": 2}),
]
HEAD = ("table", "way", "ε", "without it", "error", "with it", "error", "squared", "over the bound")


def margin_rows() -> Iterator[list[str]]:
    """Return the least errors of all marginals up to some number of attributes."""
    for sizes, asked in ASKED:
        question = ln.Marginals(sizes, outside=dict.fromkeys(sizes, 0), **asked)
        for epsilon in EPSILONS:
            plan = ln.plan(question, budget=ln.pure_dp(epsilon), relation="substitute", size=SIZE)
            found = {own.mechanism: own.error for own in plan.comparison if own.error}
            least = min(found.keys() - {TABLE}, key=lambda name: found[name])
            table = " × ".join(map(str, sizes.values()))
            cells = [table, str(asked["way"]), f"{epsilon:g}", least, f"{found[least]:.4g}"]
            ratio = (plan.error / found[least]) ** 2
            yield [
                *cells, plan.mechanism, f"{plan.error:.4g}", f"{ratio:.2f}",
                f"{plan.error / plan.lower_bound:.3g}",
            ]  # fmt: skip
