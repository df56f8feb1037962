# SPDX-License-Identifier: Apache-2.0
"""Many releases of a small table, with the system's randomness: bias, covariance, coverage.

    python -m benchmarks.unbiased [releases]

Each release goes the whole way, table to estimate. PASS means: every coordinate's bias is within 4
standard errors, every entry of the covariance within 5 of the promised one, and 95% intervals cover
within 4 standard errors of 95%. With 22 checks an honest run fails about once in a thousand.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import lownoise as ln
from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    from lownoise.sensitivity.relations import Relation

NAMES = ["a", "b", "c"]
BOX = ln.Box([0, -10, 5], [1, 300, 5.5])
ROWS = 200
RELATIONS: tuple[tuple[Relation, int | None], ...] = (("substitute", ROWS), ("add_remove", None))


def tables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    spread = rng.uniform(BOX.lower, BOX.upper, size=(ROWS, 3))
    return {"mixed": spread, "all in the upper corner": np.tile(BOX.upper, (ROWS, 1))}


def main(releases: int) -> int:
    failures = 0
    for relation, size in RELATIONS:
        plan = ln.plan(
            ln.Mean(NAMES, BOX), budget=ln.approx_dp(1, 1e-6), relation=relation, size=size
        )
        for name, records in tables().items():
            table = pa.table(dict(zip(NAMES, records.T, strict=True)))
            sums = (records - plan.terms.question.center).sum(axis=0)
            truth = records.mean(axis=0) if size else np.append(sums, ROWS)
            made = [plan.release(table) for _ in range(releases)]
            errors = (np.array([r.estimate for r in made]) - truth) / plan.standard_deviation
            bias = np.abs(errors.mean(axis=0)).max() * math.sqrt(releases)
            covariance = errors.T @ errors / releases
            d = len(truth)
            spread = np.where(np.eye(d) > 0, math.sqrt(2 / releases), math.sqrt(1 / releases))
            off = np.abs((covariance - np.eye(d)) / spread).max()
            ends = np.array([r.interval(0.95) for r in made])
            inside = (ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1])
            rate = inside.mean(axis=0)
            miss = np.abs(rate - 0.95).max() / math.sqrt(0.95 * 0.05 / releases)
            good = bias <= 4 and off <= 5 and miss <= 4
            failures += not good
            print(
                f"{relation:10} {name:24} {releases} releases: bias {bias:.2f} standard errors, "
                f"covariance off by {off:.2f}, intervals cover {rate.min():.4f}–{rate.max():.4f} "
                f"{'PASS' if good else 'FAIL'}",
                flush=True,
            )
    return failures


if __name__ == "__main__":
    sys.exit(min(main(Arguments(__doc__).number("releases", 2000)), 1))
