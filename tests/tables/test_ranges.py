# SPDX-License-Identifier: Apache-2.0
"""Categories that are ranges of numbers: every row counts once, in the range that has its value.

Mutants, each seen red: an edge counted below itself, what is beyond the edges left out, a missing
value counted in the last range, rows grouped by their text.
"""

import json
from bisect import bisect_right

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import run
from lownoise.engines import counts as counting
from lownoise.errors import PlanError, QuestionError
from lownoise.questions.attributes import attributes
from lownoise.spec import read_spec

EDGES = [-1.5, 0, 0.1, 10, 2.0**50]
VALUES = [
    *(-1.5, 0.0, -0.0, 0.1, np.nextafter(0.1, 0), 10, 2.0**50, np.nextafter(2.0**50, 0)),
    *(-1e300, 1e300, np.inf, -np.inf, 5e-324, -5e-324, np.nan, None, 9.999999999999999, 3, 7),
]
TEXTS = ["0.1", " 0.1 ", "1e1", "", "ten", "nan", "-0", "9.99", "1099511627776", "null"]
SUBSTITUTE = {"budget": ln.zcdp(0.5), "relation": "substitute"}


def meant(value):
    """Return the range of a value, None where it is missing: written a second time."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    if number != number:  # noqa: PLR0124 (not a number)
        return None
    return min(max(bisect_right(EDGES, number) - 1, 0), len(EDGES) - 2)


def exact(question, table):
    records = counting.records_query(question.attributes).of(table)
    return records.marginal(tuple(range(len(question.attributes))))


@pytest.mark.parametrize("kind", ["floats", "csv", "parquet", "integers", "with words"])
def test_every_row_counts_once_in_the_range_that_has_its_value(kind, tmp_path):
    question = ln.Marginals({"x": {"edges": EDGES}}, way=1, outside="extra")
    if kind == "integers":
        values = [-(10**18), -2, -1, 0, 1, 9, 10, 11, 2**50 - 1, 2**50]
        table = pd.DataFrame({"x": np.array(values, dtype=np.int64)})
    elif kind == "csv":
        values = TEXTS
        table = tmp_path / "t.csv"
        table.write_text("x\n" + "\n".join(values) + "\n")
    else:
        values = VALUES
        table = pd.DataFrame({"x": np.array(VALUES, dtype=np.float64)})
    sizes = {"x": {"edges": EDGES}}
    if kind == "parquet":
        table.to_parquet(tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    if kind == "with words":
        table["w"] = ["u", "v"] * (len(values) // 2) + ["u"] * (len(values) % 2)
        sizes["w"] = ["u", "v"]
        question = ln.Marginals(sizes, way=2, outside="extra")
    found = exact(question, table)
    found = found if found.ndim == 1 else found.sum(axis=1)
    wanted = [0] * 5
    for value in values:
        place = meant(value.strip() if isinstance(value, str) else value)
        wanted[4 if place is None else place] += 1
    assert found.tolist() == wanted
    assert sum(wanted) == len(values)


def test_text_that_spells_no_number_is_missing(tmp_path):
    question = ln.Marginals({"x": {"edges": [0, 1, 20]}}, way=1, outside="extra")
    (tmp_path / "t.csv").write_text("x\nten\n1;2\n5\n")
    assert exact(question, tmp_path / "t.csv").tolist() == [0, 1, 2]


def test_many_values_are_not_grouped_by_their_text(tmp_path, monkeypatch):
    """Of a continuous column each row would be a group of its own."""
    from lownoise.engines.source import AbstractSource

    path = tmp_path / "t.csv"
    path.write_text("x,w\n" + "".join(f"{k / 7},u\n" for k in range(1000)))
    for cls in [AbstractSource, *AbstractSource.__subclasses__()]:
        if "group_sums" in vars(cls):
            monkeypatch.setattr(cls, "group_sums", None)
    question = ln.Marginals({"x": {"edges": [0, 50, 100]}, "w": ["u", "v"]}, way=2, outside="extra")
    assert exact(question, path).sum() == 1000


def test_policies_are_of_missing_values_alone():
    table = pd.DataFrame({"x": [-9.0, 5.0, 99.0, np.nan]})
    for outside, wanted in (("drop", [1, 2]), ({"x": 1}, [1, 3]), ("extra", [1, 2, 1])):
        question = ln.Marginals({"x": {"edges": [0, 5, 10]}}, way=1, outside=outside)
        assert exact(question, table).tolist() == wanted
    with pytest.raises(PlanError, match="would change the public size"):
        ln.plan(ln.Marginals({"x": {"edges": [0, 5]}}, way=1), size=4, **SUBSTITUTE)


@pytest.mark.parametrize("budget", [ln.zcdp(2), ln.pure_dp(1)], ids=str)
def test_plans_releases_and_files_have_them(budget, tmp_path):
    sizes = {"x": {"edges": [0.5, 1, 2.25]}, "sex": ["F", "M"]}
    question = ln.Marginals(sizes, way=2, outside="extra", ordered={"x": "prefix"})
    plan = ln.plan(question, budget=budget, relation="add_remove")
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    assert plan.verify()
    release = plan.release(pd.DataFrame({"x": [0.7, 3.0], "sex": ["M", "F"]}))
    release.save(tmp_path / "out")
    again = ln.Release.load(tmp_path / "out")
    assert np.array_equal(again.marginal("x", "sex"), release.marginal("x", "sex"))
    (own, _) = again.terms.question.attributes
    assert own.edges == (0.5, 1.0, 2.25)
    assert [own.label(k) for k in range(own.size)] == ["[0.5, 1)", "[1, 2.25]", "(other)"]


def test_edited_edges_are_noticed():
    plan = ln.plan(
        ln.Marginals({"x": {"edges": [0, 1, 2]}}, way=1), budget=ln.zcdp(1), relation="add_remove"
    )
    document = json.loads(plan.to_json())
    document["terms"]["question"]["attributes"][0]["categories"]["edges"] = [0, 1.5, 2]
    assert not ln.verify(json.dumps(document))


def test_queries_sum_ranges():
    question = ln.Queries([[1, 1, 0], [0, 1, 1]], {"x": {"edges": [0, 1, 2, 3]}})
    plan = ln.plan(question, budget=ln.zcdp(1e6), relation="add_remove")
    table = pd.DataFrame({"x": [0.5, 1.0, 1.5, 7.0]})
    assert np.allclose(plan.release(table).estimate, [3, 3], atol=0.1)


def test_a_specification_declares_them(tmp_path):
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[question]\nkind = "marginals"\nrelation = "add_remove"\nway = 1\n'
        "[question.attributes]\nincome = { edges = [0, 1e4, 5e4] }\n"
        '[question.ordered]\nincome = "prefix"\n[budget]\nrho = 0.5\n'
    )
    (own,) = read_spec(spec).plan().terms.question.attributes
    assert (own.edges, own.size) == ((0.0, 1e4, 5e4), 2)
    spec.write_text(spec.read_text().replace("1e4, 5e4", "5e4, 1e4"))
    refused = run(tmp_path, "plan", spec)
    assert refused.returncode == 2
    assert "has the edge 10000 after 50000; give them rising" in refused.stderr


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"edges": [0]}, "has 1 edges; give 2 to"),
        ({"edges": [0, 0]}, "has the edge 0 after 0; give them rising"),
        ({"edges": [2, 1]}, "has the edge 1 after 2; give them rising"),
        ({"edges": [0, np.inf]}, "has edges that are no finite numbers"),
        ({"edges": [0, np.nan]}, "has edges that are no finite numbers"),
        ({"edges": [0, True]}, "has edges that are no finite numbers"),
        ({"edges": ["0", "1"]}, "has edges that are no finite numbers"),
        ({"edges": "01"}, "is no table of edges"),
        ({"edges": 3}, "is no table of edges"),
        ({"bins": [0, 1]}, "is no table of edges"),
        ({}, "is no table of edges"),
        ({"edges": [0, 1], "more": 1}, "is no table of edges"),
    ],
    ids=str,
)
def test_bad_edges_are_one_clear_line(declared, said):
    with pytest.raises(QuestionError) as refused:
        attributes({"x": declared})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_devices_do_not_sort_numbers():
    question = ln.Marginals({"x": {"edges": [0, 1, 2]}}, way=1, outside={"x": 0})
    with pytest.raises(PlanError, match="is of ranges of numbers, which devices do not sort"):
        ln.local(question, ln.local_dp(1.0))
