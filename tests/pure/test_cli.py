# SPDX-License-Identifier: Apache-2.0
"""Pure budgets on the command line: plan, release, verify, refusals; nothing paid for is lost."""

import json

import numpy as np
import pytest

import lownoise as ln
from command_line import refused, run
from lownoise.errors import FileError
from pure.documents import exact, plan_of, table
from pure.test_spec import MEAN, QUERIES

REST = '[data]\npath = "t.csv"\n[ledger]\npath = "l"\ndataset = "people"\n'
SPECS = {"laplace": (MEAN, "2 means of"), "laplace ": (QUERIES, "4 linear queries")}


@pytest.fixture
def folder(tmp_path):
    for kind, (text, _) in SPECS.items():
        named = text.replace("[question]\n", '[question]\nmechanism = "laplace"\n')
        (tmp_path / f"{kind.replace(' ', '2')}.toml").write_text(named + REST)
    table().to_csv(tmp_path / "t.csv", index=False)
    account = ("l", "--dataset", "people", "--epsilon", "0.7", "--pure")
    assert run(tmp_path, "ledger", "create", *account).returncode == 0
    return tmp_path


@pytest.mark.parametrize("kind", SPECS)
def test_the_whole_way(kind, folder):
    ledger, spec = ln.Ledger(folder / "l", "people"), f"{kind.replace(' ', '2')}.toml"
    machine = run(folder, "plan", spec, "--json", "--out", "planned")
    assert (machine.returncode, machine.stderr) == (0, "")
    plan = ln.Plan.from_json(machine.stdout)
    assert plan.to_json() == machine.stdout == (folder / "planned" / "plan.json").read_text()
    assert plan.mechanism == "laplace"
    assert "<html" in (folder / "planned" / "report.html").read_text()
    assert "Everything holds." in run(folder, "verify", "planned").stdout
    people = run(folder, "plan", spec).stdout
    for word in (
        SPECS[kind][1],
        "was selected",
        "0.7-DP, pure",
        "lower bound",
        "Standard deviation",
    ):
        assert word in people
    assert not ledger.entries()  # a plan spends nothing
    done = run(folder, "release", spec, "--out", "made", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = ln.Release.from_json(done.stdout)
    assert (folder / "made" / "release.json").read_text() == done.stdout
    assert sorted(p.name for p in (folder / "made").iterdir()) == ["release.json", "report.html"]
    off = np.abs(answer.estimate - exact(plan))
    assert np.all(off < 20 * answer.standard_deviation)
    (entry,) = ledger.entries()
    assert (entry.state, entry.id) == ("settled", answer.spend.number)
    checks = json.loads(run(folder, "verify", "made", "--json").stdout)
    assert all(check["holds"] for check in checks)
    refused(run(folder, "release", spec, "--out", "more"), "too little of its 0.7-DP left")
    assert not (folder / "more").exists()
    (found,) = json.loads(run(folder, "ledger", "show", "l", "--json").stdout)
    (charged,) = found["entries"]
    event = charged["event"]
    assert event["kind"] == "pure_noise"
    assert 0.7 * (1 - 1e-5) < event["epsilon"] <= 0.7
    assert event["rho"] < 0.7 * np.tanh(0.35)


def test_a_release_without_a_folder_is_a_table_and_a_forged_one_does_not_pass(folder):
    done = run(folder, "release", "laplace2.toml", "--out", "made")
    assert done.returncode == 0, done.stderr
    for word in ("query 3", "± 95%", "people", "without exception"):
        assert word in done.stdout
    path = folder / "made" / "release.json"
    document = json.loads(path.read_text())
    document["derived"]["estimate"][1] += 1.0
    path.write_text(json.dumps(document))
    refused_by = run(folder, "verify", "made")
    assert refused_by.returncode == 2
    assert "unedited, estimate as stated" in refused_by.stderr


def test_refusals_are_one_line_and_cost_nothing(folder):
    text = (folder / "laplace.toml").read_text()
    public = 'substitute"\nsize = 30\noutside = { x = "p" }'
    edits = {
        "unknown": ('"laplace"', '"best"', "question.mechanism: is no mechanism"),
        "gaussian": ('kind = "pure_dp"\nepsilon = 0.7', "rho = 1", "budget: is of Gaussian noise"),
        "column": ("b = {", "c = {", "column='c' is not in the first line"),
    }
    for name, (old, new, said) in edits.items():
        (folder / f"{name}.toml").write_text(text.replace(old, new))
        done = run(folder, "release", f"{name}.toml", "--out", "made")
        assert done.returncode == 2
        assert done.stdout == ""
        assert said in done.stderr
        assert not (folder / "made").exists()
    queries = (folder / "laplace2.toml").read_text()
    response = queries.replace('"laplace"', '"randomized_response"')
    (folder / "r.toml").write_text(response)
    refused(run(folder, "release", "r.toml"), "'randomized_response' is not available here")
    (folder / "r.toml").write_text(response.replace('add_remove"', public))
    assert run(folder, "plan", "r.toml").returncode == 0
    entries = ln.Ledger(folder / "l", "people").entries()
    assert [e.state for e in entries] == ["cancelled"]


def test_a_paid_release_that_cannot_be_written_is_printed_whole(folder, monkeypatch, capsys):
    from lownoise import cli

    def full(*_):
        raise FileError("file=release.json cannot be written (No space left on device)")

    monkeypatch.setattr(ln.Release, "save", full)
    with pytest.raises(FileError):
        cli.release(folder / "laplace.toml", data=None, out=folder / "made", as_json=False)
    assert ln.Release.from_json(capsys.readouterr().out).recorded


def test_a_document_of_another_budget_in_its_place_is_one_line(folder):
    plan_of("k_norm").save(folder / "plan.json")
    document = json.loads((folder / "plan.json").read_text())
    del document["terms"]["mechanism"]
    (folder / "plan.json").write_text(json.dumps(document))
    done = run(folder, "verify", "plan.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "unedited, terms" in done.stderr
