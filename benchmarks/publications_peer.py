# SPDX-License-Identifier: Apache-2.0
"""What OpenDP's Context or Tumult Analytics add to counts and sums by groups, whichever is there.

Reads [[columns, bounds, groups of each attribute, sets, rho], …] as JSON from its first argument
and prints {"library": …, "deviations": […]}: for each of them a row a set: the deviation of a
count, and those of the columns' sums. Both libraries are asked for every set by itself, at an even
part of ρ, and split that evenly over its count and sums. See benchmarks/publications_real.py.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from typing import Any

ROWS = 1000  # noise is that of any table


def opendp(columns: Any, bounds: Any, sizes: Any, sets: Any, rho: float) -> list[list[float]]:  # noqa: ANN401
    """One query a set, in one context whose budget is split evenly."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    data: dict[str, Any] = {a: [i % n for i in range(ROWS)] for a, n in sizes.items()}
    frame = pl.LazyFrame({**data, **{c: [0.0] * ROWS for c in columns}})
    margins = [dp.polars.Margin(by=[], max_length=ROWS)]
    margins += [
        dp.polars.Margin(
            by=own, invariant="keys", max_length=ROWS, max_groups=math.prod(sizes[a] for a in own)
        )
        for own in sets
        if own
    ]
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=len(sets),
        margins=margins,
    )
    found = []
    for own in sets:
        asked = [dp.len()]
        for name, (low, high) in zip(columns, bounds, strict=True):
            known: Any = pl.col(name).fill_nan(low).fill_null(low)
            asked.append(known.dp.sum((float(low), float(high))))
        query = context.query().group_by(*own).agg(asked) if own else context.query().select(asked)
        found.append(query.summarize()["scale"].to_list())
    return found


def tumult(columns: Any, bounds: Any, sizes: Any, sets: Any, rho: float) -> list[list[float]]:  # noqa: ANN401
    """One query a number of a set, all at even parts."""
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    data: dict[str, Any] = {a: [str(i % n) for i in range(9)] for a, n in sizes.items()}
    frame = pd.DataFrame({**data, **{c: [0.0] * 9 for c in columns}})
    table = spark.getOrCreate().createDataFrame(frame)
    whole = Session.from_dataframe(RhoZCDPBudget(rho), "table", table, protected_change=AddOneRow())
    part = RhoZCDPBudget(rho / len(sets) / (len(columns) + 1))
    found = []
    for own in sets:
        query: Any = QueryBuilder("table")
        if own:
            query = query.groupby(
                KeySet.from_dict({a: list(map(str, range(sizes[a]))) for a in own})
            )
        ranges = zip(columns, bounds, strict=True)
        asked = [query.count(), *(query.sum(c, float(a), float(b)) for c, (a, b) in ranges)]
        # what it says of its noise, the variance of a Gaussian
        noises = [whole._noise_info(one, part)[0]["noise_parameter"] for one in asked]  # noqa: SLF001
        found.append([math.sqrt(float(variance)) for variance in noises])
    return found


def main() -> None:
    """Print the deviations."""
    warnings.simplefilter("ignore")
    try:
        import opendp as _  # noqa: F401
    except ImportError:
        library, run = "Tumult", tumult
    else:
        library, run = "OpenDP", opendp
    found = [run(*case) for case in json.loads(sys.argv[1])]
    print(json.dumps({"library": library, "deviations": found}))


if __name__ == "__main__":
    main()
