# SPDX-License-Identifier: Apache-2.0
"""All tables that were asked for: on the page, in a pandas table, and in a file.

Mutants, each seen red: labels of the first attributes in place of a table's own, "(all)" where a
category is called so, a page that stops at the table that is drawn.
"""

import json

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import refused, run
from golden.accessors import simulated
from lownoise import report
from lownoise.errors import QuestionError
from lownoise.report import margins
from lownoise.report.parts import Prose, Table

ROWS = 600
RNG = np.random.default_rng(12)
TABLE = pd.DataFrame(
    {
        "pay": RNG.uniform(0, 9, ROWS),
        "region": RNG.choice(["north", "south", "(all)"], ROWS),
        "sex": RNG.choice(["F", "M"], ROWS),
        "answer": RNG.choice(["yes", "no"], ROWS),
    }
)
BY = {"region": ["north", "south", "(all)"], "sex": ["F", "M"], "answer": ["yes", "no"]}
ASKED = {
    "counts": ln.Marginals(BY, way=2, outside="extra"),
    "some counts": ln.Marginals(BY, sets=[["sex"], ["region", "answer"]]),
    "means": ln.Mean(["pay"], ln.Box([0], [9]), by=BY, way=2),
    "totals": ln.Sum(["pay"], ln.Box([0], [9]), by=BY, sets=[["sex"], ["answer"], []]),
    "moments": ln.Moments(["pay"], ln.Box([0], [9]), by=BY, way=1),
}


@pytest.fixture(scope="module", params=ASKED)
def own(request):
    plan = ln.plan(ASKED[request.param], budget=ln.zcdp(0.5), relation="add_remove")
    with simulated(5):
        return plan.release(TABLE)


def asked(own):
    question = own.terms.question
    return getattr(question, "groups", question)


def test_all_tables_stand_in_one_each_row_as_in_its_own(own):
    """Every row of every table, once, with "(all)" for what the table is not split by."""
    every, tables = own.to_pandas(), asked(own)
    names = [name for name in BY if any(name in tables.names(s) for s in tables.sets())]
    at = 0
    for chosen in tables.sets():
        split = tables.names(chosen)
        table = pd.DataFrame(report.to_pandas(own, marginal=split))
        rows = every.iloc[at : at + len(table)]
        at += len(table)
        for name in names:
            if name in split:
                assert rows[name].tolist() == table[name].tolist()
            else:  # a category of that name is another
                assert set(rows[name]) == {"(all)_" if name == "region" else "(all)"}
        for number in table.columns[-4:]:
            assert rows[number].tolist() == pytest.approx(table[number].tolist(), nan_ok=True)
    assert at == len(every)
    labels = every.columns[:-4].tolist()
    assert not every.duplicated(labels).any()


def test_files_say_what_stands_for_all(own, tmp_path):
    own.export(tmp_path / "all.json")
    columns = json.loads((tmp_path / "all.json").read_text())["columns"]
    meanings = {c["name"]: c["meaning"] for c in columns}
    assert all("not split by it" in meanings[name] for name in meanings if name in BY)
    own.export(tmp_path / "one.json", "sex")
    assert "not split by it" not in (tmp_path / "one.json").read_text()


def test_a_page_has_a_table_of_each_and_a_terminal_names_the_others(own):
    (found,) = [s for s in report.sections(own) if s.name == "answers"]
    titles = [p.title for p in found.parts if isinstance(p, Table)]
    tables = asked(own)
    wanted = ["By " + " × ".join(tables.names(s)) if s else "All rows" for s in tables.sets()]
    shown = [title for title in titles if title in wanted]
    assert len(shown) == len(set(shown)) == tables.count - 1  # the other is drawn above them
    assert shown == [title for title in wanted if title in shown]
    (said,) = [p.text for p in found.parts if isinstance(p, Prose) and p.label == "also has"]
    said = said.lower()
    assert all(title.lower().removeprefix("by ") in said for title in shown)
    assert "also has" in str(own)


def test_a_table_on_the_page_has_its_own_numbers():
    plan = ln.plan(ASKED["counts"], budget=ln.zcdp(0.5), relation="add_remove")
    with simulated(5):
        own = plan.release(TABLE)
    (found,) = [s for s in report.sections(own) if s.name == "answers"]
    (table,) = [p for p in found.parts if isinstance(p, Table) and p.title == "By sex × answer"]
    cells = [(*row[:2], row[2].value, row[2].low, row[2].high) for row in table.rows]
    expected = own.to_pandas("sex", "answer").iloc[:, :-1].itertuples(index=False, name=None)
    assert cells == list(expected)


def test_one_table_is_as_it_was():
    plan = ln.plan(ln.Count({"sex": ["F", "M"]}), budget=ln.zcdp(0.5), relation="add_remove")
    with simulated(5):
        own = plan.release(TABLE)
    assert own.to_pandas().equals(own.to_pandas("sex"))
    assert "also has" not in str(own)


SPEC = """
[question]
kind = "marginals"
relation = "add_remove"
way = 2

[question.attributes]
sex = ["F", "M"]
region = ["north", "south", "(all)"]

[budget]
rho = 0.5

[data]
path = "t.csv"
"""


def test_answers_of_all_tables_are_written_by_the_command(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    done = run(tmp_path, "release", "spec.toml", "--out", "made", "--answers", "all.csv")
    assert done.returncode == 0, done.stderr
    assert "Answers: all.csv" in done.stdout
    found = pd.read_csv(tmp_path / "all.csv")
    assert len(found) == 1 + 2 + 3 + 6
    own = ln.Release.load(tmp_path / "made")
    assert found["count"].tolist() == pytest.approx(own.to_pandas()["count"].tolist(), rel=1e-15)
    again = run(tmp_path, "release", "spec.toml", "--out", "other", "--answers", "all.csv")
    refused(again, "file=all.csv exists; give --answers a new file")
    assert not (tmp_path / "other").exists()


def test_more_cells_than_a_file_is_for_are_refused_before_they_are_paid(tmp_path, monkeypatch):
    monkeypatch.setattr(margins, "MOST_CELLS", 11)
    (tmp_path / "spec.toml").write_text(
        SPEC + '\n[ledger]\npath = "privacy.ledger"\ndataset = "people"\n'
    )
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    account = ln.Ledger.create(tmp_path / "privacy.ledger", "people", ln.zcdp(1))
    done = run(tmp_path, "release", "spec.toml", "--out", "made", "--answers", "all.csv")
    refused(done, "answers=12 cells in 4 tables are more than the 11 that one file is for; name")
    assert not account.entries()
    assert not (tmp_path / "all.csv").exists()
    plan = ln.plan(ASKED["counts"], budget=ln.zcdp(0.5), relation="add_remove")
    own = plan.release(TABLE)
    with pytest.raises(QuestionError, match="name the attributes of one table"):
        own.to_pandas()
    assert len(own.to_pandas("sex")) == 3
