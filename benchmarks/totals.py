# SPDX-License-Identifier: Apache-2.0
"""Totals alone beside totals that follow from means: errors at μ = 1, values from 0 to 1.

    python -m benchmarks.totals

Errors are ‖standard deviations‖₂ under `add_remove`. A total is a sum about the center plus the
center times the count; "Laplace" has the same ρ in even parts. "gap" is what the certificate
leaves, "plan" seconds. Boxes of many columns come last, whose noise is searched for.
"""

from __future__ import annotations

import time

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


if __name__ == "__main__":
    main()
