# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.moments [--sums | --ball | --pure | --check]`: how near the least noise is.

Of moments of d columns whose errors matter by their ranges, and of columns of unlike widths. With
`--sums`, the time of a release of the 65 moments of ten columns over 5 million rows of a Parquet
file; with `--ball` moments over a ball beside those over the box around it; with `--pure` pure
noises of both; with `--check` the processor time that the checker for strangers takes for files.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    from lownoise.sensitivity.relations import Relation

WIDTHS = (1, 2, 3, 4, 6, 8, 12, 30, 100, 200)
ROWS = 5_000_000
RELATIONS: tuple[tuple[Relation, int | None], ...] = (("substitute", 1000), ("add_remove", None))
ALONE: tuple[tuple[Relation, int | None], ...] = (("substitute", 1), ("add_remove", None))


def gaps() -> None:
    """Print what no noise is below by more, and how many seconds a plan takes."""
    print("columns  moments  relation    weights   proved gap  seconds")
    for d in WIDTHS:
        half = np.exp(np.random.default_rng(1).normal(size=d))
        question = ln.Moments([f"c{i}" for i in range(d)], ln.Box(-half, half))
        for relation, size in RELATIONS:
            for weights in ("range", None):
                start = time.perf_counter()
                plan = ln.plan(
                    question, budget=ln.zcdp(0.5), relation=relation, size=size, weights=weights
                )
                gap = plan.terms.certificate.gap
                took = time.perf_counter() - start
                said = "range" if weights else "unlike"
                many = d + d * (d + 1) // 2
                print(f"{d:7} {many:8}  {relation:10}  {said:7}  {100 * gap:9.4f} %  {took:7.1f}")


def ball() -> None:
    """Print errors over the unit ball, their gaps, and those over the box around it."""
    print("columns  relation    ball's error  proved gap  box's over it  seconds for the ball's")
    for d in (2, 3, 10, 50, 200):
        names = [f"c{i}" for i in range(d)]
        for relation, size in RELATIONS:
            made, took = [], []
            for domain in (ln.Ball(d), ln.Box(-np.ones(d), np.ones(d))):
                question = ln.Moments(names, domain)
                start = time.perf_counter()
                made.append(
                    ln.plan(question, budget=ln.gaussian_dp(1), relation=relation, size=size)
                )
                took.append(time.perf_counter() - start)
            own, other = made
            gap, ratio = own.certificate.gap, other.error / own.error
            print(f"{d:7}  {relation:10}  {own.error:12.5g}  {gap:10.1e}", end="  ")
            print(f"{ratio:13.2f}  {took[0]:6.2f}")


def pure() -> None:
    """Print errors of pure noises at ε = 1 beside √(D + 1) times the least Gaussian error."""
    print("values  columns  relation    ellipsoid  Laplace/ellipsoid  ellipsoid/Gauss  seconds")
    for d in (2, 3, 5, 10, 30, 50, 100):
        names = [f"c{i}" for i in range(d)]
        for kind, domain in (("ball", ln.Ball(d)), ("box", ln.Box(-np.ones(d), np.ones(d)))):
            for relation, size in ALONE:
                question, begin = ln.Moments(names, domain), time.process_time()
                own, laplace = (
                    ln.plan(
                        question,
                        budget=ln.pure_dp(1),
                        relation=relation,
                        size=size,
                        mechanism=mechanism,
                    )
                    for mechanism in ("ellipsoid", "laplace")
                )
                took = time.process_time() - begin
                least = ln.plan(question, budget=ln.gaussian_dp(1), relation=relation, size=size)
                moved = own.standard_deviation / least.standard_deviation
                over = float(np.linalg.norm(moved)) / moved.size**0.5 / (moved.size + 1) ** 0.5
                ratio = laplace.error / own.error
                print(f"{kind:6}  {d:7}  {relation:10} {own.error:10.4g}  {ratio:17.3f}", end="  ")
                print(f"{over:15.3f}  {took:7.2f}", flush=True)


def sums() -> None:
    """Print how long a release of ten columns of 5 million rows takes."""
    import pandas as pd

    names = [f"c{i}" for i in range(10)]
    question = ln.Moments(names, ln.Box(np.zeros(10), np.ones(10)))
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", weights="range")
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pd.DataFrame(random.random((ROWS, 10)), columns=names).to_parquet(path)
        start = time.perf_counter()
        plan.release(path)
        print(f"{ROWS:,} rows, 65 sums and the count: {time.perf_counter() - start:.0f} s")


def checked() -> None:
    """Print the processor time that the checker takes, of widths exp(g), g a normal number."""
    import lownoise_check

    print("values  columns  relation    status  seconds")
    for d in (2, 5, 6, 8, 30, 100):
        wide = np.exp(np.random.default_rng(d).normal(size=d))
        for kind, domain in (("box", ln.Box(np.zeros(d), wide)), ("ball", ln.Ball(d))):
            for relation, size in RELATIONS:
                text = ln.plan(
                    ln.Moments([f"c{i}" for i in range(d)], domain),
                    budget=ln.zcdp(0.1),
                    relation=relation,
                    size=size,
                    weights="range",
                    mechanism="gaussian",
                ).to_json()
                begin = time.process_time()
                status, _ = lownoise_check.decide(text)
                took = time.process_time() - begin
                print(f"{kind:6}  {d:7}  {relation:10}  {status:6}  {took:7.2f}", flush=True)


if __name__ == "__main__":
    Arguments(__doc__).chosen(gaps, check=checked, sums=sums, ball=ball, pure=pure)()
