# SPDX-License-Identifier: Apache-2.0
"""A table of another size than was declared: one refusal for every question, and nothing is spent.

The attack wins where the refusal says how many rows there are, or follows from what one row
holds.
"""

import gzip

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import TableError

SIZE = 4
TABLE = pd.DataFrame({"a": [0, 1, 1, 0], "b": [1, 1, 0, 0]})
UNIVERSE = {"a": 2, "b": 2}
MEAN = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1]))
COUNTS = ln.Queries(np.eye(4), UNIVERSE, outside={"a": 0, "b": 0})
ORDERED = ln.Marginals(UNIVERSE, way=1, outside="extra", ordered={"a": "prefix"})
QUESTIONS = {
    "mean": (MEAN, ln.zcdp(1), None),
    "ball": (ln.Mean(["a", "b"], ln.Ball(2)), ln.zcdp(1), None),
    "marginals": (ln.Marginals(UNIVERSE, way=1, outside="extra"), ln.zcdp(1), None),
    "ordered": (ORDERED, ln.zcdp(1), None),
    "queries": (COUNTS, ln.zcdp(1), None),
    "parity": (ln.Parity(["a", "b"], 2, outside=0), ln.zcdp(1), None),
    "pure mean": (MEAN, ln.pure_dp(1), "laplace"),
    "pure queries": (COUNTS, ln.pure_dp(1), "laplace"),
    "histogram": (COUNTS, ln.pure_dp(1), "laplace_histogram"),
    "response": (COUNTS, ln.pure_dp(1), "randomized_response"),
}


def planned(kind):
    question, budget, name = QUESTIONS[kind]
    named = {} if name is None else {"mechanism": name}
    return ln.plan(question, budget=budget, relation="substitute", size=SIZE, **named), budget


@pytest.mark.parametrize("kind", QUESTIONS)
def test_another_size_is_refused_in_one_line_that_does_not_tell_it(kind, tmp_path):
    plan, budget = planned(kind)
    said = set()
    for i, table in enumerate([TABLE[:3], TABLE[:0], pd.concat([TABLE] * 9)]):
        ledger = ln.Ledger.create(tmp_path / "l.ledger", f"d{i}", budget)
        with pytest.raises(TableError) as refusal:
            plan.release(table, ledger)
        said.add(str(refusal.value))
        assert [e.state for e in ledger.entries()] == ["cancelled"]
    (one,) = said
    assert one.startswith("size=4 is not the number of rows of the table; where one record changes")
    assert "\n" not in one


@pytest.mark.grid
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
@pytest.mark.parametrize("kind", ["mean", "parity"])
def test_an_empty_line_is_a_row_in_files_of_several_columns(kind, name, end, tmp_path):
    plan, _ = planned(kind)
    between = "\t" if name.endswith(".tsv") else ","
    for lines, fits in (
        (["0,1", "1,1", "1,0", "0,0"], True),
        (["0,1", "", "1,0", "0,0"], True),
        (["0,1", "1,1", "1,0", ""], True),
        (["0,1", "1,1", "1,0", "0,0", ""], False),
    ):
        text = end.join(["a,b", *lines, ""]).replace(",", between).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
        if fits:
            plan.release(path)
            # the line feed at the end ends a row and begins none
            if not name.endswith(".gz") and lines[-1]:
                path.write_bytes(text.removesuffix(end.encode()))
                plan.release(path)
        else:
            with pytest.raises(TableError, match="size=4"):
                plan.release(path)
