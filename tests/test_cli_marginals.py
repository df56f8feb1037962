# SPDX-License-Identifier: Apache-2.0
"""Marginals on the command line: real files, one-line refusals; a whole process for the large one.

What all kinds of questions share is tried in `tests/test_cli.py` alone.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import refused, run

ADULT = Path(__file__).parent / "data"
SPEC = """
[question]
kind = "marginals"
relation = "add_remove"
way = 2
attributes = { age = ["young", "old"], sex = 2, town = 3 }

[budget]
rho = 0.5

[data]
path = "t.csv"

[ledger]
path = "privacy.ledger"
dataset = "people"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    rng = np.random.default_rng(3)
    columns = {
        "age": rng.choice(["young", "old"], 900, p=[0.2, 0.8]),
        "sex": rng.integers(0, 2, 900),
        "town": rng.integers(0, 3, 900),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def opened(folder, rho="0.5"):
    return ln.Ledger.create(folder / "privacy.ledger", "people", ln.zcdp(float(rho)))


def test_plan_reads_no_data(folder):
    (folder / "t.csv").unlink()
    done = run(folder, "plan", "spec.toml")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "7 marginals of 3 attributes" in done.stdout
    assert "certificate" in done.stdout
    machine = run(folder, "plan", "spec.toml", "--json", "--out", "planned")
    assert ln.Plan.from_json(machine.stdout).to_json() == machine.stdout
    assert (folder / "planned" / "plan.json").read_text() == machine.stdout
    assert "<html" in (folder / "planned" / "report.html").read_text()
    assert "Everything holds." in run(folder, "verify", "planned").stdout


def test_release_the_whole_way(folder):
    ledger = opened(folder)
    done = run(folder, "release", "spec.toml", "--out", "made", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert isinstance(document["integers"], dict)  # a name and a digest, not the numbers
    assert (folder / "made" / "release.json").read_text() == done.stdout
    made = sorted(p.name for p in (folder / "made").iterdir())
    assert made == ["integers.npy", "release.json", "report.html"]
    answer = ln.Release.load(folder / "made")
    rows = pd.read_csv(folder / "t.csv")
    exact = pd.crosstab(rows["sex"], rows["age"])[["young", "old"]].to_numpy()
    off = answer.marginal("sex", "age") - exact
    assert np.all(np.abs(off) < 8 * answer.standard_deviation("age", "sex"))
    assert np.any(off != 0)
    (entry,) = ledger.entries()
    assert entry.state == "settled"
    assert answer.spend.number == entry.id
    assert "Everything holds." in run(folder, "verify", "made").stdout
    refused(run(folder, "release", "spec.toml", "--out", "more"), "too little of its 0.5-zCDP left")
    assert not (folder / "more").exists()


def test_release_prints_tables_for_people(folder):
    opened(folder)
    done = run(folder, "release", "spec.toml", "--out", "made")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("young", "old", "95%", "people", "report.html", "Ledger: "):
        assert word in done.stdout
    assert "certificate" not in done.stdout  # the plan has said it
    assert "certificate" in run(folder, "plan", "spec.toml").stdout


def test_a_marginal_as_table_and_csv(folder):
    opened(folder)
    assert run(folder, "release", "spec.toml", "--out", "made").returncode == 0
    answer = ln.Release.load(folder / "made")
    printed = run(folder, "marginal", "made", "town", "age", "--csv", "--level", "0.9")
    assert printed.returncode == 0, printed.stderr
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    counts = answer.marginal("town", "age").reshape(-1).tolist()
    low, high = answer.interval("town", "age", level=0.9)
    assert [float(row["count"]) for row in rows] == counts
    assert [float(row["low"]) for row in rows] == low.reshape(-1).tolist()
    assert [float(row["high"]) for row in rows] == high.reshape(-1).tolist()
    labels = [(str(t), a) for t in range(3) for a in ("young", "old")]
    assert [(row["town"], row["age"]) for row in rows] == labels
    assert {float(row["standard_deviation"]) for row in rows} == {
        answer.standard_deviation("town", "age")
    }
    saved = run(folder, "marginal", "made/release.json", "town", "age", "--out", "x.csv")
    assert saved.returncode == 0, saved.stderr
    assert pd.read_csv(folder / "x.csv")["count"].tolist() == counts
    table = run(folder, "marginal", "made", "age")
    assert "young" in table.stdout
    assert "± 95%" in table.stdout
    assert "number of rows" in run(folder, "marginal", "made").stdout
    (folder / "made" / "report.html").unlink()
    for arguments, said in [
        (("made", "income"), "'income' is no attribute; name some of 'age'"),
        (("made", "age", "sex", "town"), "does not follow from what was released"),
        (("made", "age", "age"), "names an attribute twice"),
        (("absent", "age"), "file=absent cannot be read; give one that save wrote"),
        (("made", "age", "--level", "1"), "level=1 is out of range"),
        (("made", "age", "--out", "x.csv"), "exists"),
    ]:
        refused(run(folder, "marginal", *arguments), said)
    assert pd.read_csv(folder / "x.csv")["count"].tolist() == counts


def test_verify_finds_a_changed_integer_and_missing_ones(folder):
    opened(folder)
    assert run(folder, "release", "spec.toml", "--out", "made").returncode == 0
    path = folder / "made" / "integers.npy"
    integers = np.load(path)
    integers[3] += 1
    np.save(path, integers)
    for target in ("made", "made/release.json"):
        done = run(folder, "verify", target)
        assert done.returncode == 2
        assert "does not hold: integers as released" in done.stderr
    checks = json.loads(run(folder, "verify", "made", "--json").stdout)
    assert [c["name"] for c in checks if not c["holds"]] == ["integers as released"]
    path.unlink()
    assert "integers as released" in run(folder, "verify", "made").stderr
    refused(run(folder, "marginal", "made", "age"), "has not the")
    refused(run(folder, "verify", "absent"), "cannot be read")
    (folder / "empty").mkdir()
    refused(run(folder, "verify", "empty"), "cannot be read")


def test_a_forged_document_without_integers_does_not_pass(folder):
    from lownoise.release import codec

    opened(folder)
    assert run(folder, "release", "spec.toml", "--out", "made").returncode == 0
    path = folder / "made" / "release.json"
    document = json.loads(path.read_text())
    del document["integers"], document["digest"], document["format"]
    path.write_text(codec.dump("release", document))
    done = run(folder, "verify", "made")
    assert done.returncode == 2
    assert "integers as released" in done.stderr


def test_refusals_are_one_line_with_status_two_and_cost_nothing(folder):
    ledger = opened(folder)
    (folder / "taken").mkdir()
    (folder / "taken" / "mine").write_text("mine")
    (folder / "column.toml").write_text(SPEC.replace("town = 3", "city = 3"))
    (folder / "rich.toml").write_text(SPEC.replace("rho = 0.5", "rho = 0.6"))
    for arguments, said in [
        (("release", "spec.toml"), "out is missing; marginals are released to a folder"),
        (("release", "spec.toml", "--out", "taken"), "folder=taken exists; give a new folder"),
        (("release", "spec.toml", "--out", "t.csv/x"), "cannot be made"),
        (("release", "spec.toml", "--out", "unmade", "--data", "absent.csv"), "is no file"),
        (("release", "column.toml", "--out", "unmade"), "column='city' is not in the first line"),
        (("release", "rich.toml", "--out", "unmade"), "too little of its 0.5-zCDP left"),
        (("enclose", "spec.toml"), "counts, which have no domain"),
    ]:
        refused(run(folder, *arguments), said)
        assert not (folder / "unmade").exists()
    assert ledger.spent().rho == 0
    assert [p.name for p in (folder / "taken").iterdir()] == ["mine"]
    assert run(folder, "release", "spec.toml", "--out", "made").returncode == 0


def test_a_release_whose_report_fails_is_whole(folder, monkeypatch, capsys):
    from lownoise import cli, report

    opened(folder)

    def broken(*_, **__):
        raise MemoryError

    monkeypatch.setattr(report, "render_html", broken)
    with pytest.raises(MemoryError):
        cli.release(folder / "spec.toml", data=None, out=folder / "made", as_json=False)
    assert "the release is whole in" in capsys.readouterr().err
    monkeypatch.undo()
    assert "Everything holds." in run(folder, "verify", "made").stdout
    assert ln.Release.load(folder / "made").recorded


def test_adult_from_the_csv_to_a_folder_of_all_three_way_marginals(tmp_path):
    """21 million cells; what is printed is a page, and any marginal can be had afterwards."""
    spec = SPEC.split("[ledger]", maxsplit=1)[0].replace("way = 2", "way = 3")
    start, end = spec.index("attributes = "), spec.index("[budget]")
    spec = f'{spec[:start]}attributes = "{ADULT / "adult-domain.json"}"\n{spec[end:]}'
    (tmp_path / "spec.toml").write_text(spec)
    data = ("--data", ADULT / "adult.csv")
    done = run(tmp_path, "release", "spec.toml", "--out", "made", *data)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout) < 20_000
    assert "10.7 in root mean square" in done.stdout
    assert "Nothing was recorded" in done.stdout
    printed = run(tmp_path, "marginal", "made", "race", "sex", "--csv")
    counts = [float(row["count"]) for row in csv.DictReader(io.StringIO(printed.stdout))]
    rows = pd.read_csv(ADULT / "adult.csv")
    exact = np.zeros((5, 2))
    np.add.at(exact, (rows["race"], rows["sex"]), 1)
    assert np.max(np.abs(np.array(counts) - exact.reshape(-1))) < 8 * 84.6
    assert (tmp_path / "made" / "report.html").stat().st_size < 200_000
