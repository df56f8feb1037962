# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608, ANN401
"""`python -m benchmarks.tables [ROWS] [word …]`: a table's exact totals, beside bare aggregates.

Bare is DuckDB's own query for the same columns, without clipping, quantising, or care for what is
missing. Both are taken in turn, several times; a figure is the median of the ratios of pairs. The
target of each is 1.5, of the time on the clock; that of processors stands beside it, which others
at work on the machine move less. What the plan needs of noise is not part of it: a draw does not
grow with rows. Then what reading alone takes, and clipping and quantising in DuckDB's SQL; and four
questions in one pass, beside a pass each. Words choose rows whose names hold one of them, alone;
"numpy" leaves out the compiled kernels, which are made beforehand where llvmlite is installed, and
the first line says which adds up. `python -m benchmarks.spark` prints the same rows of Spark.
"""

from __future__ import annotations

import statistics
import time
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.engines import adding
from lownoise.engines.compiled import Kernels
from lownoise.engines.folds import CodeSums
from lownoise.engines.opening import source_of
from lownoise.engines.queries import read_all
from lownoise.engines.tables import UnitTable
from lownoise.numbers.machine import Loader
from lownoise.privacy.units import PrivacyUnit

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 5_000_000
TARGET = 1.5
PAIRS = 7
SIZES = {"c0": 2, "c1": 5, "c2": 7, "c3": 10, "c4": 16}
WORDS = {f"w{i}": [f"{name}{k}" for k in range(size)] for i, (name, size) in enumerate(
    [("sex", 2), ("region", 5), ("year", 7), ("school", 10), ("work", 16)]
)}  # fmt: skip
REALS = [f"x{i}" for i in range(10)]
WHOLE = [f"k{i}" for i in range(10)]
UNIT = PrivacyUnit("u", 3)


def table(rows: int) -> pa.Table:
    """Return a table of real numbers, whole numbers, small categories, words and ids."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {name: rng.normal(size=rows) for name in REALS}
    columns |= {name: rng.integers(-9, 100, rows) for name in WHOLE}
    columns |= {name: rng.integers(0, size, rows).astype(np.int8) for name, size in SIZES.items()}
    for name, words in WORDS.items():
        places = pa.array(rng.integers(0, len(words), rows).astype(np.int32))
        columns[name] = pa.DictionaryArray.from_arrays(places, pa.array(words)).cast(pa.string())
    columns["u"] = rng.integers(0, max(rows // 10, 1), rows)
    return pa.table(columns)


def totals_of(question: Any) -> Any:
    """Return what a release of the question reads; planning is no part of what is timed."""
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", mechanism="gaussian")
    return plan.terms.mechanism.totals


def read(totals: Any, where: Any) -> None:
    """Read the exact totals of a question, as a release of it does."""
    totals.exact(totals.read(where))


def rows(name: str) -> list[tuple[str, Callable[[Any], None], str]]:
    """Return what is measured: its name, ours over a table, and the bare query of `name`."""
    box = ln.Box([-4.0] * 10, [4.0] * 10)
    means = totals_of(ln.Mean(REALS, box))
    whole = totals_of(ln.Mean(WHOLE, ln.Box([0.0] * 10, [90.0] * 10)))
    small, words = totals_of(ln.Marginals(SIZES, way=2)), totals_of(ln.Marginals(WORDS, way=2))
    by = {"w1": WORDS["w1"], "w3": WORDS["w3"]}
    grouped, moments = totals_of(ln.Mean(REALS, box, by=by)), totals_of(ln.Moments(REALS, box))
    average = ", ".join(f"avg({x})" for x in REALS)
    second = ", ".join(f"sum({a} * {b})" for a, b in combinations_with_replacement(REALS, 2))
    order = ", ".join(REALS)
    first = f"(select *, row_number() over (partition by u order by {order}) as place from {name})"

    def first_rows(own: Any) -> None:
        source_of(UnitTable(own, UNIT), REALS).fold(CodeSums(means.query))

    def two_way(columns: Any) -> str:
        sets = ", ".join(f"({a}, {b})" for a, b in combinations(columns, 2))
        return f"select {', '.join(columns)}, count(*) from {name} group by grouping sets ({sets})"

    return [
        ("ten means of real numbers", lambda t: read(means, t), f"select {average} from {name}"),
        (
            "ten means of whole numbers",
            lambda t: read(whole, t),
            f"select {', '.join(f'avg({x})' for x in WHOLE)} from {name}",
        ),
        (
            "all 2-way marginals of five columns of small integers",
            lambda t: read(small, t),
            two_way(SIZES),
        ),
        (
            "all 2-way marginals of five columns of words",
            lambda t: read(words, t),
            two_way(WORDS),
        ),
        (
            "ten means by two columns of words",
            lambda t: read(grouped, t),
            f"select w1, w3, {average} from {name} group by w1, w3",
        ),
        (
            "55 second moments of ten columns",
            lambda t: read(moments, t),
            f"select {average}, {second} from {name}",
        ),
        (
            "ten means of the first 3 rows of each unit",
            first_rows,
            f"select {average} from {first} where place <= 3",
        ),
    ]


def several(held: pa.Table, folder: Path) -> None:
    """Print a row for each kind of table: four questions in one pass, and in one each."""
    few, by = ln.Box([-4.0] * 3, [4.0] * 3), {"w1": WORDS["w1"]}
    asked = (
        ln.Mean(REALS, ln.Box([-4.0] * 10, [4.0] * 10)),
        ln.Marginals(WORDS, way=2),
        ln.Mean(REALS[:3], few, by=by),
        ln.Histogram("c4", SIZES["c4"]),
    )
    queries = [totals_of(question).reading for question in asked]
    pq.write_table(held, folder / "several.parquet")
    names = list(dict.fromkeys(name for query in queries for name in query.columns))
    pyarrow.csv.write_csv(held.select(names).slice(0, len(held) // 5), folder / "several.csv")
    units = UnitTable(folder / "several.parquet", UNIT)
    print("\n| four questions | one pass, s | a pass each, s | ratio |\n|---|---:|---:|---:|")
    for label, table in (
        ("Parquet", folder / "several.parquet"),
        ("a fifth of the rows in CSV", folder / "several.csv"),
        ("memory", held),
        ("first 3 rows of each unit", units),
    ):
        a, b, ratio, _ = in_turn(
            lambda: read_all(queries, table),  # noqa: B023 (run at once)
            lambda: [query.of(table) for query in queries],  # noqa: B023
            3,
        )
        print(f"| {label} | {a:.3f} | {b:.3f} | {ratio:.2f} |", flush=True)


def both_times(
    run: Callable[[], Any], busy: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    """Return the seconds of one run on the clock, and of processors as `busy` counts them."""
    start = time.perf_counter(), busy()
    run()
    return time.perf_counter() - start[0], busy() - start[1]


def in_turn(
    ours: Callable[[], Any],
    bare: Callable[[], Any],
    pairs: int = PAIRS,
    busy: Callable[[], float] = time.process_time,
) -> tuple[float, ...]:
    """Return the median seconds of both, of their ratio, and of that of processors' seconds.

    They are run in turn, once more than is counted.
    """
    both = [(*both_times(ours, busy), *both_times(bare, busy)) for _ in range(pairs + 1)][1:]
    figures = [
        lambda own: own[0],
        lambda own: own[2],
        lambda own: own[0] / own[2],
        lambda own: own[1] / own[3],
    ]
    return tuple(statistics.median(map(figure, both)) for figure in figures)


def compared(ours: Callable[[], Any], bare: Callable[[], Any]) -> tuple[str, ...]:
    """Return what `in_turn` does, as it is printed."""
    ours_s, bare_s, ratio, busy = in_turn(ours, bare)
    return f"{ours_s:.3f}", f"{bare_s:.3f}", f"{ratio:.2f}", f"{busy:.2f}"


def parts(path: Path, connection: Any) -> None:
    """Print a row for reading alone, and for what DuckDB takes to clip and quantise itself."""
    average = f"select {', '.join(f'avg({x})' for x in REALS)} from '{path}'"
    clip = "least(greatest({x}, -4::double), 4::double)"

    def asked(each: str) -> Callable[[], Any]:
        columns = ", ".join(f"sum({each.replace('{x}', x)})" for x in REALS)
        return lambda: connection.sql(f"select {columns} from '{path}'").to_arrow_table()

    def decoded() -> None:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                for name in REALS:
                    file.read_row_group(group, columns=[name], use_threads=False)

    for label, run in (
        ("reading with Arrow, in one thread", decoded),
        ("`sum(clip)` in SQL", asked(clip)),
        ("`sum(floor(x * 2^37 + 0.5))` in SQL", asked("floor({x} * pow(2.0, 37) + 0.5)")),
        ("both in SQL, as integers", asked(f"floor({clip} * pow(2.0, 37) + 0.5)::bigint")),
    ):
        cells = (label, *compared(run, lambda: connection.sql(average).to_arrow_table()))
        print("| " + " | ".join(cells) + " |", flush=True)


def adds(*, by_numpy: bool) -> None:
    """Print what adds up codes, and what making it took."""
    if by_numpy:
        adding.LOADER = Loader(0, Kernels, lambda _kernels: False)
    seconds, busy = both_times(adding.compiled)
    if adding.compiled():
        made = f"made in {seconds:.2f} s, {busy:.2f} s of processor time"
        print(f"codes are added up by compiled kernels (lownoise[fast]), {made}\n")
    else:
        print("codes are added up by numpy\n")


def main(count: int, words: list[str]) -> None:
    """Print a row for each figure: ours, bare, and the median of the ratios of pairs."""
    adds(by_numpy="numpy" in words)
    words = [word for word in words if word != "numpy"]
    print("| totals | table | ours, s | bare, s | ratio | of processors | target | |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    with TemporaryDirectory() as folder:
        path, held = Path(folder) / "rows.parquet", table(count)
        pq.write_table(held, path)
        connection = duckdb.connect()
        connection.register("held", held)
        for where, name, given in (("Parquet", f"'{path}'", path), ("memory", "held", held)):
            for label, ours, bare in rows(name):
                if words and not any(word in label for word in words):
                    continue
                found = compared(
                    lambda: ours(given),  # noqa: B023 (run at once)
                    lambda: connection.sql(bare).to_arrow_table(),  # noqa: B023
                )
                verdict = "PASS" if float(found[2]) <= TARGET else "FAIL"
                cells = (label, where, *found, TARGET, verdict)
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        if words:
            return
        print("\n| ten columns of Parquet | s | averages, s | ratio | of processors |")
        print("|---|---:|---:|---:|---:|")
        parts(path, connection)
        connection.close()
        several(held, Path(folder))


if __name__ == "__main__":
    given = Arguments(__doc__).words()
    number = int(float(given.pop(0))) if given and given[0][0].isdigit() else ROWS
    main(number, given)
