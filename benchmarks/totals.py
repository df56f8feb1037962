# SPDX-License-Identifier: Apache-2.0
"""Totals alone beside totals that follow from means: errors at μ = 1, values from 0 to 1.

    python -m benchmarks.totals

Errors are ‖standard deviations‖₂ under `add_remove`. A total is a sum about the center plus the
center times the count; "Laplace" has the same ρ in even parts. "gap" is what the certificate
leaves, "plan" seconds. Boxes of many columns come last, whose noise is searched for. A second table
is of totals by groups where records become others.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np

import lownoise as ln

BUDGET = ln.gaussian_dp(1.0)


def main() -> None:
    """Print the table."""
    print(f"{'columns':>8}{'Sum':>10}{'from Mean':>12}{'Laplace':>10}{'gap':>10}{'plan':>8}")
    for d in (1, 3, 8, 20, 40):
        columns, box = [f"x{i}" for i in range(d)], ln.Box(np.zeros(d), np.ones(d))
        begin = time.perf_counter()
        own = ln.plan(ln.Sum(columns, box), budget=BUDGET, relation="add_remove")
        seconds = time.perf_counter() - begin
        mean = ln.plan(ln.Mean(columns, box), budget=BUDGET, relation="add_remove")
        sums, count = mean.standard_deviation[:-1], mean.standard_deviation[-1]
        follow = np.hypot(sums, 0.5 * count)
        errors = [np.linalg.norm(e) for e in (own.standard_deviation, follow, own.terms.laplace)]
        numbers = f"{errors[0]:>10.2f}{errors[1]:>12.2f}{errors[2]:>10.2f}"
        print(f"{d:>8}{numbers}{own.certificate.gap:>10.1e}{seconds:>8.2f}")
    by_groups()


DOMAINS = {
    "1 column in [0, 1]": ln.Box([0], [1]),
    "4 columns in [0, 1]": ln.Box([0] * 4, [1] * 4),
    "12 columns in [0, 1]": ln.Box([0] * 12, [1] * 12),
    "[2, 4] and [1, 9]": ln.Box([2, 1], [4, 9]),
    "6 one-hot columns": ln.Points(np.eye(6)),
    "a disc beside zero": ln.Ball(2, radius=1.0, center=[1.0, 0.0]),
}
SHAPES: dict[str, dict[str, Any]] = {
    "16": {"by": {"g": 16}},
    "16 and all rows": {"by": {"g": 16}, "way": 1},
    "2 × 5, way=2": {"by": {"g": 2, "h": 5}, "way": 2},
    "12 × 3, way=1": {"by": {"g": 12, "h": 3}, "way": 1},
}


def by_groups() -> None:
    """Print errors of totals that follow from means over those of totals, and the gaps of these."""
    print(
        f"\n{'by groups, substitute':<24}{'':<18}" + "".join(f"{f'p={p:g}':>16}" for p in (2, inf))
    )
    for name, domain in DOMAINS.items():
        for shape, asks in SHAPES.items():
            told = {**asks, "outside": dict.fromkeys(asks["by"], 0)}
            cells = []
            for p in (2.0, inf):
                given: Any = {"relation": "substitute", "size": 1000, "order": p}
                columns = [f"x{i}" for i in range(domain.dimension)]
                own = ln.plan(ln.Sum(columns, domain, **told), budget=BUDGET, **given)
                mean = ln.plan(ln.Mean(columns, domain, **told), budget=BUDGET, **given).terms
                kept = np.hstack([np.eye(len(columns)), mean.question.mean.center[:, None]])
                groups = mean.view.covariance.shape[0] // (len(columns) + 1)
                follow = np.kron(np.eye(groups), kept)
                strays = np.sqrt(np.diag(follow @ mean.view.covariance @ follow.T))
                over = np.linalg.norm(strays, p) / np.linalg.norm(own.standard_deviation, p)
                cells.append(f"{over:>8.3f}{own.certificate.gap:>8.2%}")
            print(f"{name:<24}{shape:<18}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
