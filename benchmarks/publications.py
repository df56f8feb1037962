# SPDX-License-Identifier: Apache-2.0
"""Means by groups beside what people do without them: error and time.

    python -m benchmarks.publications

Each row is a table of groups with its margins, at ρ = 0.05 under `add_remove`, columns over [0, 1].
Errors are ‖deviations‖₂ of all sums over this plan's (a count has a unit of its own): "a release a
margin" splits ρ evenly over the margins, each of which is then released by itself, its groups at
once; "i.i.d." is Gaussian noise on every answer, "Laplace" the same ρ in even parts. "gap" is what
the certificate leaves, "plan" and "release" are seconds, of 100,000 rows.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import lownoise as ln

BUDGET, ROWS = ln.zcdp(0.05), 100_000
CASES: tuple[tuple[str, dict[str, int], int, int], ...] = (
    ("1 column, 16 groups", {"a": 16}, 1, 1),
    ("4 columns, 2 × 5 groups", {"a": 2, "b": 5}, 4, 2),
    ("10 columns, 12 × 3 × 16 groups", {"a": 12, "b": 3, "c": 16}, 10, 3),
    ("10 columns, 50 × 20 × 10 groups", {"a": 50, "b": 20, "c": 10}, 10, 3),
    ("200 columns, 50 groups", {"a": 50}, 200, 1),
)


def main() -> None:
    """Print the table."""
    heads = ("a release a margin", "i.i.d.", "Laplace", "gap", "plan", "release")
    print(f"{'':32}" + "".join(f"{head:>20}" for head in heads))
    rng = np.random.default_rng(0)
    for name, by, d, way in CASES:
        columns = [f"x{i}" for i in range(d)]
        box = ln.Box(np.zeros(d), np.ones(d))
        begin = time.perf_counter()
        question = ln.Mean(columns, box, by=by, way=way)
        plan = ln.plan(question, budget=BUDGET, relation="add_remove")
        planned = time.perf_counter() - begin
        table = pd.DataFrame(
            {
                **{c: rng.random(ROWS) for c in columns},
                **{a: rng.integers(0, n, ROWS) for a, n in by.items()},
            }
        )
        begin = time.perf_counter()
        plan.release(table).estimate  # noqa: B018 (what follows from the integers, too)
        released = time.perf_counter() - begin

        def total(deviations: np.ndarray, d: int = d) -> float:
            return float(np.linalg.norm(deviations.reshape(-1, d + 1)[:, :-1]))

        own = total(plan.standard_deviation)
        margins = list(question.groups.sets())  # type: ignore[attr-defined]  # by groups
        part = ln.plan(
            ln.Mean(columns, box), budget=ln.zcdp(0.05 / len(margins)), relation="add_remove"
        )
        cells = sum(int(np.prod([list(by.values())[i] for i in s])) for s in margins)
        split = total(part.standard_deviation) * cells**0.5
        others = (split, total(plan.terms.isotropic), total(plan.terms.laplace))
        numbers = "".join(f"{other / own:>20.3f}" for other in others)
        print(f"{name:32}{numbers}{plan.certificate.gap:>20.1e}{planned:>20.3f}{released:>20.2f}")


if __name__ == "__main__":
    main()
