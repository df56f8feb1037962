# SPDX-License-Identifier: Apache-2.0
"""Means by groups beside what people do without them: error and time.

    python -m benchmarks.publications [--known]

Each row is a table of groups with its margins, at ρ = 0.05 under `add_remove`, columns over [0, 1].
Errors are ‖deviations‖₂ of all sums over this plan's (a count has a unit of its own): "a release a
margin" splits ρ evenly over the margins, each of which is then released by itself, its groups at
once; "i.i.d." is Gaussian noise of one deviation on every answer, a count's too, as who has no plan
adds it; "Laplace" the same ρ in even parts. No column has a weight. "gap" is what the certificate
leaves, "plan" and "release" are seconds, of 100,000 rows.

The second table is of `relation="substitute"`: what the certificate leaves at p = 2, 4 and ∞. The
third is of ε = 1 under `add_remove`: the error of all answers beside noise in joint groups alone,
and beside a release a margin with ε in even parts, which do not agree. The last, alone with
`--known`, is of ε = 1 under `substitute`: what knowing the number of all rows takes off.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.noise.group_noise import group_values
from lownoise.noise.joint_groups import joint_mechanism
from lownoise.release.guarantees import tail_quantile

BUDGET, ROWS = ln.zcdp(0.05), 100_000
CASES: tuple[tuple[str, dict[str, int], int, int], ...] = (
    ("1 column, 16 groups", {"a": 16}, 1, 1),
    ("4 columns, 2 × 5 groups", {"a": 2, "b": 5}, 4, 2),
    ("10 columns, 12 × 3 × 16 groups", {"a": 12, "b": 3, "c": 16}, 10, 3),
    ("10 columns, 50 × 20 × 10 groups", {"a": 50, "b": 20, "c": 10}, 10, 3),
    ("200 columns, 50 groups", {"a": 50}, 200, 1),
)
CUT = ln.intersection(ln.Box(np.zeros(3), np.ones(3)), ln.Slab([1, 1, 1], 0, 2))
DOMAINS: tuple[tuple[str, Any, list[float] | None], ...] = (
    ("4 columns", ln.Box(np.zeros(4), np.ones(4)), None),
    ("4 columns, center at 0.3", ln.Box(np.zeros(4), np.ones(4)), [0.3] * 4),
    ("ball of 5", ln.Ball(5), None),
    ("6 one-hot columns", ln.Points(np.eye(6)), None),
    ("3 columns, total ≤ 2", CUT, None),
)
DESIGNS: tuple[tuple[str, dict[str, int], int | None], ...] = (
    ("16 groups", {"a": 16}, None),
    ("16, all rows", {"a": 16}, 1),
    ("2 × 5, 2-way", {"a": 2, "b": 5}, 2),
    ("12 × 3 × 16, 1-way", {"a": 12, "b": 3, "c": 16}, 1),
)


def substitute() -> None:
    """Print the second table."""
    heads = [f"p = {p}" for p in ("2", "4", "inf")]
    print(f"\n{'':26}{'':20}" + "".join(f"{head:>10}" for head in heads))
    for name, domain, center in DOMAINS:
        columns = [f"x{i}" for i in range(domain.dimension)]
        for design, by, way in DESIGNS:
            outside = dict.fromkeys(by, 0)
            question = ln.Mean(columns, domain, by=by, way=way, outside=outside, center=center)
            gaps = [
                ln.plan(question, budget=BUDGET, relation="substitute", size=ROWS, order=order)
                for order in (2.0, 4.0, np.inf)
            ]
            found = "".join(f"{100 * plan.certificate.gap:>9.2f}%" for plan in gaps)
            print(f"{name:26}{design:20}{found}")


PURE: tuple[tuple[str, dict[str, int], int, int], ...] = (
    ("1 column, 2 × 5 groups, 1-way", {"a": 2, "b": 5}, 1, 1),
    ("2 columns, 2 × 5 groups, 2-way", {"a": 2, "b": 5}, 2, 2),
    ("2 columns, 12 × 3 × 16, 1-way", {"a": 12, "b": 3, "c": 16}, 2, 1),
    ("2 columns, 12 × 3 × 16, 2-way", {"a": 12, "b": 3, "c": 16}, 2, 2),
    ("2 columns, 12 × 3 × 16, 3-way", {"a": 12, "b": 3, "c": 16}, 2, 3),
    ("4 columns, 50 × 20 × 10, 1-way", {"a": 50, "b": 20, "c": 10}, 4, 1),
)


def pure() -> None:
    """Print the third table."""
    heads = ("joint groups alone", "a release a margin", "tables", "plan")
    print(f"\n{'':34}" + "".join(f"{head:>20}" for head in heads))
    for name, by, d, way in PURE:
        columns, box = [f"x{i}" for i in range(d)], ln.Box(np.zeros(d), np.ones(d))
        question = ln.Mean(columns, box, by=by, way=way)
        begin = time.perf_counter()
        plan = ln.plan(question, budget=ln.pure_dp(1), relation="add_remove")
        planned = time.perf_counter() - begin
        sizes, margins = list(by.values()), list(question.groups.sets())  # type: ignore[attr-defined]
        cells = [int(np.prod([sizes[i] for i in s])) for s in margins]
        own = float(np.linalg.norm(plan.standard_deviation))
        one = ln.plan(ln.Mean(columns, box), budget=ln.pure_dp(1), relation="add_remove")
        alone = float(np.linalg.norm(one.standard_deviation))
        joint = alone * (len(cells) * float(np.prod(sizes))) ** 0.5
        apart = alone * len(cells) * sum(cells) ** 0.5
        tables = len(plan.terms.mechanism.noise.tables)
        print(f"{name:34}{joint / own:>20.3f}{apart / own:>20.3f}{tables:>20}{planned:>20.3f}")


KNOWN: tuple[tuple[str, dict[str, int], int, int], ...] = (
    ("1 column, 2 × 3, 2-way", {"a": 2, "b": 3}, 1, 2),
    ("2 columns, 2 × 3, 2-way", {"a": 2, "b": 3}, 2, 2),
    ("2 columns, 2 × 3, 1-way", {"a": 2, "b": 3}, 2, 1),
    ("4 columns, 5 × 4, 2-way", {"a": 5, "b": 4}, 4, 2),
    ("2 columns, 12 × 3 × 16, 1-way", {"a": 12, "b": 3, "c": 16}, 2, 1),
)


def known() -> None:
    """Print the last table: errors with the number of all rows known over those without."""
    heads = ("all answers", "counts by a", "95% of counts by a")
    print(f"\n{'':34}" + "".join(f"{head:>20}" for head in heads))
    for name, by, d, way in KNOWN:
        columns, box = [f"x{i}" for i in range(d)], ln.Box(np.zeros(d), np.ones(d))
        question = ln.Mean(columns, box, by=by, way=way, outside=dict.fromkeys(by, 0))
        plan = ln.plan(question, budget=ln.pure_dp(1), relation="substitute", size=1000)
        terms, own = plan.terms, plan.terms.mechanism
        tables = own.totals.tables
        before = joint_mechanism(terms.question, group_values(own), 1000, tables, agrees=False)
        views: list[Any] = [terms.view, replace(terms, mechanism=before).view]
        total = [float(np.linalg.norm(view.standard_deviation)) for view in views]
        counts = [view.scales((0,))[0][-1] for view in views]
        # without it intervals were by what is known of the tails of all log-concave sums
        radius = views[0].ratio_radius((0,), 0.95).max(), tail_quantile(0.05, own.noise.moment)
        found = [own * far for own, far in zip(counts, radius, strict=True)]
        print(f"{name:34}" + "".join(f"{a / b:>20.3f}" for a, b in (total, counts, found)))


def main() -> None:
    """Print all tables."""
    heads = ("a release a margin", "i.i.d.", "Laplace", "gap", "plan", "release")
    print(f"{'':32}" + "".join(f"{head:>20}" for head in heads))
    rng = np.random.default_rng(0)
    for name, by, d, way in CASES:
        columns = [f"x{i}" for i in range(d)]
        box = ln.Box(np.zeros(d), np.ones(d))
        begin = time.perf_counter()
        question = ln.Mean(columns, box, by=by, way=way)
        plan = ln.plan(question, budget=BUDGET, relation="add_remove", count_share=0.05)
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
            ln.Mean(columns, box),
            budget=ln.zcdp(0.05 / len(margins)),
            relation="add_remove",
            count_share=0.05,
        )
        cells = sum(int(np.prod([list(by.values())[i] for i in s])) for s in margins)
        split = total(part.standard_deviation) * cells**0.5
        others = (split, total(plan.terms.isotropic), total(plan.terms.laplace))
        numbers = "".join(f"{other / own:>20.3f}" for other in others)
        print(f"{name:32}{numbers}{plan.certificate.gap:>20.1e}{planned:>20.3f}{released:>20.2f}")
    substitute()
    pure()
    known()


if __name__ == "__main__":
    Arguments(__doc__).chosen(main, known=known)()
