# SPDX-License-Identifier: Apache-2.0
"""A file that somebody writes to while a release reads it: whole as it was, or refused and paid.

The law: whenever it changes and however, the answers are those of one table, or there are none and
the spend stays. Rows of both would let a person count twice.

Mutants, each seen red: no second look; a look at sizes alone; one at the first file alone; a
`TableError` that gives the spend back.
"""

import os
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.toys.question import Above

import befallen
import lownoise as ln
import sparks
from designs import pairwise_design
from lownoise.engines import spark
from lownoise.engines.opening import unchanged
from lownoise.errors import EngineError, TableError

ROWS, OLD, NEW = 60, 1, 9
EARLIER = 10**9  # s: when files were written; a clock ticks too seldom to tell


def table(value):
    ids = np.arange(ROWS)
    return pa.table({"x": np.full(ROWS, float(value)), "u": ids // 2})


def text(path, value):
    path.write_text("x,u\n" + "".join(f"{value}.0,{i // 2}\n" for i in range(ROWS)))


def lines(path, value):
    path.write_text("".join(f'{{"x":{value}.0,"u":{i // 2}}}\n' for i in range(ROWS)))


def parquet(path, value):
    pq.write_table(table(value), path, row_group_size=6, compression="none", use_dictionary=False)


def arrow(path, value):
    pyarrow.feather.write_feather(table(value), path, chunksize=6, compression="uncompressed")


WRITE = {".csv": text, ".jsonl": lines, ".parquet": parquet, ".feather": arrow}


def replaced(path):
    other = path.with_name("other")
    WRITE[path.suffix](other, NEW)
    other.replace(path)


def rewritten(path):
    """In place, and of the same size."""
    other = path.with_name("other")
    WRITE[path.suffix](other, NEW)
    path.write_bytes(other.read_bytes())
    other.unlink()


def longer(path):
    with path.open("ab") as file:
        file.write(path.read_bytes()[-9:])


def shorter(path):
    os.truncate(path, path.stat().st_size // 2)


def beside(path):
    WRITE[path.suffix](path.with_name(f"9{path.suffix}"), NEW)


KINDS = ("one pass", "of units", "two passes")
PLACES = 3  # steps between the two looks
ACTS = (replaced, rewritten, longer, shorter, beside)


@cache
def plan(kind, rows=ROWS):
    question = ln.Mean(["x"], ln.Box([0], [10]))
    given = {"budget": ln.zcdp(1e6)}
    if kind == "one pass":
        return ln.plan(question, relation="substitute", size=rows, **given)
    if kind == "of units":
        unit = {"privacy_unit": "u", "rows_per_unit": 2}
        return ln.plan(question, relation="add_remove", **unit, **given)
    return ln.together({"m": question, "a": Above("x", [5.0])}, relation="add_remove", **given)


def befallen_by(folder, ending, several, kind, act, at):
    """Return what a release said, what its account has, and all steps of the engines."""
    folder.mkdir()
    paths = [folder / f"{i}{ending}" for i in range(1 + several)]
    for path in paths:
        WRITE[ending](path, OLD)
        os.utime(path, (EARLIER, EARLIER))
    ledger = ln.Ledger.create(folder / "ledger", "d", ln.zcdp(1e6))
    said = []

    def job():
        try:
            said.append(plan(kind, ROWS * len(paths)).release(str(folder / f"*{ending}"), ledger))
        except (EngineError, TableError) as error:
            said.append(error)

    steps = befallen.Steps(("engines/",), (), at, lambda: act(paths[-1]))
    steps.during(job)()
    return said[0], [entry.state for entry in ledger.entries()], steps.names


def looks(names):
    """Return the step behind the first look, and of the other, if there is one, the first."""
    own = [k for k, name in enumerate(names, 1) if "opening.py:_seen:" in name]
    return [own[1], *own[2:3]]


@pytest.mark.parametrize("ending", WRITE)
def test_a_file_that_changes_between_the_first_look_and_the_last_is_refused(ending, tmp_path):
    factors = {"several": [False, True], "kind": KINDS, "act": ACTS, "place": range(PLACES)}
    known, early = {}, 0
    for number, case in enumerate(pairwise_design(factors)):
        own, act, place = (case["several"], case["kind"]), case["act"], case["place"]
        if own not in known:
            answer, states, names = befallen_by(tmp_path / f"{own}", ending, *own, None, None)
            assert states == ["settled"], answer
            known[own] = looks(names)
            assert known[own][1] - known[own][0] > 50
        first, last = known[own]
        at = first + 1 + place * (last - first) // PLACES
        said, states, names = befallen_by(tmp_path / str(number), ending, *own, act, at)
        if any(other < at for other in looks(names)[1:]):  # fewer steps, as more is known
            continue
        early += 1
        assert isinstance(said, EngineError), (own, act, at, said)
        assert "complete and nobody writes to it" in str(said)
        assert states == ["reserved"]
    assert early > number / 2


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_changes_while_spark_reads_it_is_refused(name, tmp_path, monkeypatch):
    sparks.session()
    path, own = tmp_path / name, spark._collected
    WRITE[path.suffix](path, OLD)
    os.utime(path, (EARLIER, EARLIER))

    def collected(frame):
        found = own(frame)
        rewritten(path)
        return found

    ledger = ln.Ledger.create(tmp_path / "ledger", "d", ln.zcdp(1e6))
    monkeypatch.setattr(spark, "_collected", collected)
    with pytest.raises(EngineError, match="complete and nobody writes to it"):
        plan("one pass").release(ln.Table(path, engine="spark"), ledger)
    assert [entry.state for entry in ledger.entries()] == ["reserved"]


def test_files_that_are_only_looked_at_are_the_same(tmp_path):
    path = tmp_path / "t.csv"
    text(path, OLD)
    assert unchanged(path, path.read_text).startswith("x,u")
    assert unchanged(table(OLD), lambda: 1) == 1
    with pytest.raises(TableError, match="is no file"):
        plan("one pass").release(tmp_path / "none.csv")
