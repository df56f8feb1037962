# SPDX-License-Identifier: Apache-2.0
"""Linear queries and parities on the command line: plan, release, verify, one-line refusals."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from test_cli_marginals import opened, refused, run

SPECS = {
    "queries": """
[question]
kind = "queries"
relation = "add_remove"
matrix = "w.csv"
[question.universe]
age = ["young", "old"]
town = 3
""",
    "parity": """
[question]
kind = "parity"
relation = "add_remove"
bits = ["a", "b", "c"]
degree = [0, 2]
""",
}
REST = """
[budget]
rho = 0.5
[data]
path = "{data}"
[ledger]
path = "privacy.ledger"
dataset = "people"
"""
MATRIX = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 2, -0.5]])


@pytest.fixture(params=["t.csv", "t.parquet"])
def folder(request, tmp_path):
    for kind, text in SPECS.items():
        (tmp_path / f"{kind}.toml").write_text(text + REST.format(data=request.param))
    pd.DataFrame(MATRIX).to_csv(tmp_path / "w.csv", index=False, header=False)
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.choice(["young", "old"], 900, p=[0.2, 0.8]),
            "town": rng.integers(0, 3, 900),
            **{bit: rng.integers(0, 2, 900) for bit in "abc"},
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    return tmp_path


def exact(kind, rows):
    """The answers, counted with pandas alone."""
    if kind == "queries":
        places = 3 * (rows["age"] == "old") + rows["town"]
        return MATRIX @ np.bincount(places, minlength=6)
    signs = 1 - 2 * rows[["a", "b", "c"]].to_numpy()
    pairs = itertools.combinations(range(3), 2)
    return np.array([len(rows), *(signs[:, list(p)].prod(axis=1).sum() for p in pairs)])


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", SPECS)
def test_the_whole_way(kind, folder):
    ledger = opened(folder)
    planned = run(folder, "plan", f"{kind}.toml", "--json", "--out", "planned")
    assert planned.returncode == 0, planned.stderr
    assert planned.stderr == ""
    assert ln.Plan.from_json(planned.stdout).to_json() == planned.stdout
    assert (folder / "planned" / "plan.json").read_text() == planned.stdout
    assert "<html" in (folder / "planned" / "report.html").read_text()
    assert "Everything holds." in run(folder, "verify", "planned").stdout
    assert not ledger.entries()  # a plan spends nothing
    done = run(folder, "release", f"{kind}.toml", "--out", "made", "--json")
    assert done.returncode == 0, done.stderr
    answer = ln.Release.from_json(done.stdout)
    assert (folder / "made" / "release.json").read_text() == done.stdout
    assert sorted(p.name for p in (folder / "made").iterdir()) == ["release.json", "report.html"]
    off = answer.estimate - exact(kind, pd.read_csv(folder / "t.csv"))
    assert np.all(np.abs(off) < 8 * answer.standard_deviation)
    assert np.any(off != 0)
    (entry,) = ledger.entries()
    assert (entry.state, entry.id) == ("settled", answer.spend.number)
    assert "Everything holds." in run(folder, "verify", "made").stdout
    again = run(folder, "release", f"{kind}.toml", "--out", "more")
    refused(again, "too little of its 0.5-zCDP left")
    assert not (folder / "more").exists()


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", SPECS)
def test_people_get_tables(kind, folder):
    opened(folder)
    done = run(folder, "plan", f"{kind}.toml")
    assert done.returncode == 0, done.stderr
    words = {"queries": ("query 1", "2 linear queries over 6"), "parity": ("a ⊕ b", "4 parities")}
    for word in (*words[kind], "i.i.d.", "certificate", "lower bound"):
        assert word in done.stdout
    done = run(folder, "release", f"{kind}.toml")  # no folder is needed
    assert done.returncode == 0, done.stderr
    for word in (*words[kind], "± 95%", "people", "Ledger: "):
        assert word in done.stdout
    for word in ("i.i.d.", "certificate", "lower bound"):  # the plan has said it
        assert word not in done.stdout


@pytest.mark.grid
@pytest.mark.parametrize("kind", SPECS)
def test_a_forged_answer_does_not_pass(kind, folder):
    opened(folder)
    assert run(folder, "release", f"{kind}.toml", "--out", "made").returncode == 0
    path = folder / "made" / "release.json"
    document = json.loads(path.read_text())
    document["derived"]["estimate"][1] += 1.0
    path.write_text(json.dumps(document))
    done = run(folder, "verify", "made")
    assert done.returncode == 2
    assert "unedited, estimate as stated" in done.stderr


def test_refusals_are_one_line_and_cost_nothing(folder):
    ledger = opened(folder)
    text = (folder / "queries.toml").read_text()
    (folder / "wide.toml").write_text(text.replace("town = 3", "town = 4"))
    done = run(folder, "plan", "wide.toml")
    assert done.returncode == 2
    assert "question: matrix has shape (2, 6) for a universe of 8 records" in done.stderr
    parity = (folder / "parity.toml").read_text()
    (folder / "more.toml").write_text(parity.replace('"c"]', '"c", "income"]'))
    (folder / "column.toml").write_text(text.replace("town = 3", "city = 3"))
    for name, said in [("more.toml", "income"), ("column.toml", "city")]:
        refused(run(folder, "release", name, "--out", "made"), said)
        assert not (folder / "made").exists()
    assert not [e for e in ledger.entries() if e.state != "cancelled"]
