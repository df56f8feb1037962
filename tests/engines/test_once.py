# SPDX-License-Identifier: Apache-2.0
"""Several questions are asked of a table in one pass: the integers of each asked alone.

Mutants, each seen red: a member given another's columns; the parts of what was found in another
order; a pass for each question; the order of a unit's rows by the columns of one question.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.engines.test_source import ENGINES, KINDS, ROWS
from tests.toys.engine import ToySource
from tests.toys.question import Above

import lownoise as ln
from lownoise.engines import Coding, TotalsQuery
from lownoise.engines.counts import (
    CellTable,
    Records,
    histogram_query,
    parities_query,
    records_query,
)
from lownoise.engines.groups import GroupSums, groups_query
from lownoise.engines.queries import read_all, totals_query
from lownoise.engines.tables import UnitTable
from lownoise.errors import TableError
from lownoise.privacy.units import PrivacyUnit
from lownoise.questions.attributes import attributes
from lownoise.questions.universe import universe_of

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def coding(*columns):
    one = np.ones(len(columns))
    return Coding(
        columns=columns, lower=-3 * one, upper=4 * one, center=one, missing=2 * one, step=one / 4
    )


WORDS = attributes({"word": ["F", "é", " 0x10"], "bit": 2}, {"word": "extra"})
WIDE = attributes({"whole": {"edges": list(range(-3000, 3000))}, "bit": 2, "word": 500}, "extra")
QUERIES = {
    "real codes": totals_query(TotalsQuery(coding("real", "word"), drops_missing=False)),
    "complete codes": totals_query(TotalsQuery(coding("real"), drops_missing=True)),
    "integers": totals_query(TotalsQuery(coding("whole", "bit"), drops_missing=False)),
    "groups": groups_query(WORDS, TotalsQuery(coding("real", "bit"), drops_missing=True)),
    "words": records_query(WORDS),
    "wide": records_query(WIDE),
    "universe": histogram_query(universe_of({"bit": [0, 1]})),
    "parities": parities_query(attributes({"bit": 2}), [0, 1]),
}
UNITS = [None, PrivacyUnit("word", 2, tuple(KINDS))]
ALONE = ("integers", "words", "wide")  # which engines may read by a way of their own


def plain(found):
    """Return what was found as values that compare."""
    if isinstance(found, Records):
        every = WORDS if isinstance(found, CellTable) else WIDE
        own = found.marginal(tuple(range(len(every))))
        return found.count, np.flatnonzero(own).tolist(), own[own > 0].tolist()
    if isinstance(found, GroupSums):
        return found.table(range(len(WORDS))).tolist()
    return found if not hasattr(found, "counts") else found.counts.tolist()


# a job of Spark's takes a second: where units are bounded all of its ways are taken
CASES = [(name, unit) for name in ENGINES for unit in UNITS if unit or name != "spark"]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("engine", "unit"), CASES)
def test_what_is_read_at_once_is_what_each_reads_alone(engine, unit, tmp_path):
    """Rows of units are ordered by all columns, so that the same of them count alone."""

    def table(engine):
        own = ENGINES[engine](ROWS, tmp_path)
        return own if unit is None else UnitTable(own, unit)

    found = read_all(list(QUERIES.values()), table(engine))
    for (name, query), own in zip(QUERIES.items(), found, strict=True):
        assert plain(own) == plain(query.of(table("memory"))), name
        if engine not in ("memory", "spark") and name in ALONE:
            assert plain(own) == plain(query.of(table(engine))), name


def test_a_text_table_is_read_once(tmp_path):
    rows = pd.DataFrame(ROWS).astype(object).where(pd.DataFrame(ROWS).notna(), None)
    rows["bit"] = rows["bit"].astype(int)
    rows.to_csv(tmp_path / "t.csv", index=False)
    found = read_all(list(QUERIES.values()), tmp_path / "t.csv")
    for (name, query), own in zip(QUERIES.items(), found, strict=True):
        assert plain(own) == plain(query.of(tmp_path / "t.csv")), name


class Counted(ToySource):
    """A table that has other rows whenever it is read again."""

    passes = 0

    def batches(self, numbers, texts=()):
        self.passes += 1
        every = self.rows if self.passes == 1 else self.rows[:1]
        yield from ToySource(self.schema, every).batches(numbers, texts)


ASKED = {
    "means": ln.Mean(["real"], ln.Box([-1], [1])),
    "words": ln.Histogram("word", ["F", "é"], outside="extra"),
    "both": ln.Marginals({"word": ["F", "é"], "bit": 2}, way=2, outside="extra"),
}
TOY = {**ASKED, "above": Above("real", [0.0])}


@pytest.mark.parametrize(("asked", "passes"), [(ASKED, 1), (TOY, 2)], ids=["all", "with a toy"])
def test_all_answers_are_of_the_rows_that_one_pass_saw(asked, passes):
    """But for a question that only reads a table by itself; at ρ = 10⁶ noise is below 0.01."""
    table = Counted(KINDS, ROWS)
    plan = ln.together(asked, budget=ln.zcdp(1e6), relation="add_remove")
    release = plan.release(table)
    assert table.passes == passes
    assert np.allclose(release["words"]["word"], [3, 3, 9], atol=0.1)
    assert release["means"].estimate[-1] == pytest.approx(len(ROWS), abs=0.1)
    assert release["both"].marginal("word").sum() == pytest.approx(len(ROWS), abs=0.1)


def test_the_same_rows_of_a_unit_count_for_all_questions():
    """Of rows alike in the order asked for, the columns of all questions decide."""
    rows = [{"u": "a", "x": x, "y": 9 - x} for x in range(4)]
    table = pd.DataFrame(rows)
    asked = {"x": ln.Mean(["y"], ln.Box([0], [9])), "y": ln.Mean(["x"], ln.Box([0], [9]))}
    given = {"relation": "add_remove", "privacy_unit": "u", "rows_per_unit": 1}
    plan = ln.together(asked, budget=ln.zcdp(1e6), **given)
    release = plan.release(table)
    assert release["x"].mean == pytest.approx(9, abs=0.5)  # the row of the least x
    assert release["y"].mean == pytest.approx(0, abs=0.5)
    alone = ln.plan(asked["x"], budget=ln.zcdp(1e6), **given).release(table)
    assert alone.mean == pytest.approx(6, abs=0.5)  # the row of the least y


def test_a_reader_and_a_column_that_is_not_there(tmp_path):
    plan = ln.together(ASKED, budget=ln.zcdp(1e6), relation="add_remove")
    table = pa.table({name: [row[name] for row in ROWS] for name in ("real", "word", "bit")})
    found = plan.release(table.to_reader())
    assert np.allclose(found["words"]["word"], [3, 3, 9], atol=0.1)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1e6))
    with pytest.raises(TableError, match="column='bit' is not in the table"):
        plan.release(table.drop_columns(["bit"]), ledger)
    assert [entry.state for entry in ledger.entries()] == ["cancelled"]
