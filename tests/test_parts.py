# SPDX-License-Identifier: Apache-2.0
"""What a release says of how far it is: the same on every engine, whatever rows hold.

Mutants, each seen red: a share of the rows that were read; a number of pieces that follows from
records; the callback called once the cost is reserved.
"""

import io
from functools import cache

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lownoise as ln
import sparks
from lownoise.engines.memory import MemorySource
from lownoise.errors import PlanError
from lownoise.release.progress import Part


def csv(frame, folder):
    path = folder / f"{len(frame)}.csv"
    frame.to_csv(path, index=False)
    return path


def parquet(frame, folder):
    path = folder / f"{len(frame)}.parquet"
    frame.to_parquet(path, row_group_size=10)
    return path


def spark(frame, folder):
    sparks.session()
    return ln.Table(csv(frame, folder), engine="spark")


ENGINES = {
    "memory": lambda frame, _: MemorySource({name: frame[name].to_numpy() for name in frame}),
    "frame": lambda frame, _: frame,
    "csv": csv,
    "parquet": parquet,
    "spark": spark,
}
ASKED = {
    "mean": ln.Mean(["x"], ln.Box([0], [1])),
    "tables": ln.Marginals({f"a{i}": 4 for i in range(4)}, way=2),
    "together": {
        "x": ln.Mean(["x"], ln.Box([0], [1])),
        "a": ln.Marginals({"a0": 4, "a1": 4}, way=1),
    },
}


@cache
def plan(asked):
    make = ln.together if asked == "together" else ln.plan
    return make(ASKED[asked], budget=ln.zcdp(1), relation="add_remove")


def rows(count):
    numbers = np.random.default_rng(count)
    columns = {f"a{i}": numbers.integers(0, 4, count) for i in range(4)}
    return pd.DataFrame({"x": numbers.random(count), **columns})


def told(asked, table, *given):
    parts = []
    plan(asked).release(table, *given, progress=parts.append)
    return parts


# a job of Spark's takes a second
@pytest.mark.parametrize(
    ("engine", "asked"), [(e, a) for e in ENGINES for a in ASKED if e != "spark" or a == "together"]
)
def test_the_parts_are_those_of_the_plan_whatever_the_table_and_the_engine(engine, asked, tmp_path):
    one, other = (told(asked, ENGINES[engine](rows(n), tmp_path)) for n in (7, 500))
    assert one == other
    assert one[0] == Part("reading the table")
    assert {part.what for part in one[1:]} == {"adding noise"}
    assert {part.total for part in one[1:]} == {one[1].total}
    done = [part.done for part in one[1:]]
    assert done[0] == 0
    assert done == sorted(done)
    if asked == "tables":  # a piece for each order of them
        assert done[-1] == one[1].total
        assert len(set(done)) == 1 + 3


def test_nothing_is_spent_before_the_reading_and_all_of_it_before_the_noise(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    seen = []

    def look(part):
        seen.append((part.what, [entry.state for entry in ledger.entries()]))

    plan("tables").release(rows(7), ledger, progress=look)
    assert seen[0] == ("reading the table", [])
    assert all(own == ("adding noise", ["settled"]) for own in seen[1:])


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(("last", "states"), [(0, []), (1, ["settled"]), (2, ["settled"])])
def test_an_error_of_the_callback_is_the_callers_and_what_was_paid_stays(
    asked, last, states, tmp_path
):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    parts = []

    def stop(part):
        parts.append(part)
        if len(parts) > last:
            raise ValueError("stop")

    def release():
        plan(asked).release(rows(7), ledger, progress=stop)

    if asked == "mean" and last == 2:
        release()  # it has no third part
    else:
        with pytest.raises(ValueError, match="stop"):
            release()
    assert [entry.state for entry in ledger.entries()] == states


@pytest.mark.parametrize("asked", ["tables", "together"])
def test_what_cannot_be_told_is_refused_and_nothing_is_spent(asked, tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(PlanError, match=r"progress=True cannot be called; give ln\.ProgressBar"):
        plan(asked).release(rows(7), ledger, progress=True)
    assert ledger.entries() == []


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_drawn_on_a_terminal_alone(terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=80, color_system=None)
    with ln.ProgressBar(console) as bar:
        parts = told("tables", rows(7))
        for part in parts:
            bar(part)
            bar._shown.refresh()
    total = f"{parts[-1].total}/{parts[-1].total}"
    for said in ("reading the table", "adding noise", total):
        assert (said in out.getvalue()) == terminal
    assert terminal or not out.getvalue().strip()
