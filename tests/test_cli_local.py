# SPDX-License-Identifier: Apache-2.0
"""The local commands on real files: a plan, reports of records and tables, and what they say."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import refused, run, started
from lownoise import device
from lownoise.local_model.report import Report
from lownoise.release import codec

SPEC = """
[question.columns]
age = { lower = 0, upper = 100 }
income = { lower = 0, upper = 1000 }

[budget]
kind = "local_dp"
epsilon = 2
"""
RECORD = '{"age": 31, "income": 200}'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A plan's files, a table of people, and their reports."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "spec.toml").write_text(SPEC, encoding="utf-8")
    done = run(folder, "local", "plan", "spec.toml", "--out", "app")
    assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(0)
    frame = {"age": rng.uniform(0, 100, 2000), "income": rng.uniform(0, 500, 2000)}
    pd.DataFrame(frame).to_csv(folder / "people.csv", index=False)
    for name in ("r.reports", "r.parquet"):
        table = ("--table", "people.csv", "--out", name)
        done = run(folder, "local", "randomize", "app/device.json", *table)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("notice: whoever runs this sees every row of people.csv")
    return folder


def test_a_plan_is_written_with_its_proof_and_without_for_devices(made):
    names = ["device.json", "plan.json", "report.html"]
    assert sorted(p.name for p in (made / "app").iterdir()) == names
    whole, small = ((made / "app" / name).read_text() for name in ("plan.json", "device.json"))
    plan = ln.LocalPlan.from_json(whole)
    assert plan.lower_bound > 0
    assert plan.to_json() == small
    assert "<html" in (made / "app" / "report.html").read_text()
    machine = run(made, "local", "plan", "spec.toml", "--json")
    assert machine.stdout == whole
    shown = run(made, "local", "plan", "spec.toml").stdout
    assert "2 answers from reports of people’s own devices, each under 2-local DP." in shown
    assert "lower bound" in shown
    for own in plan.comparison:
        assert own.mechanism in shown
    done = run(made, "verify", "app/plan.json")
    assert done.returncode == 0, done.stdout


def test_a_record_becomes_a_report_of_the_plan(made):
    reports = []
    for given in (RECORD, "[31, 200]"):
        done = run(made, "local", "randomize", "app/device.json", "--record", given)
        assert (done.returncode, done.stderr) == (0, "")
        reports.append(Report.from_json(done.stdout.strip()))
    plan = device.read(made / "app" / "device.json")
    assert {r.plan for r in reports} == {plan.form.plan}
    assert reports[0].id != reports[1].id
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(RECORD))
        done = run(made, "local", "randomize", "app/plan.json", "--record", "-")
    assert Report.from_json(done.stdout.strip()).plan == plan.form.plan


def test_a_kept_answer_is_told_again_and_a_limit_holds(made, tmp_path):
    kept = tmp_path / "answers"
    done = run(made, "local", "keep", str(kept), "--epsilon", "4")
    assert done.returncode == 0, done.stderr
    command = ("local", "randomize", "app/device.json", "--keeper", str(kept), "--person", "me")
    first = run(made, *command, "--record", RECORD)
    other = run(made, *command, "--record", "[99, 0]")
    assert first.stdout == other.stdout
    assert first.returncode == 0
    anew = run(made, *command, "--record", RECORD, "--again")
    assert anew.stdout not in ("", first.stdout)
    refused(run(made, *command, "--record", RECORD, "--again"), "above the limit")
    assert device.Keeper(kept).spent("me").epsilon == 4.0


def test_reports_of_any_file_say_the_same(made):
    found = {}
    for name in ("r.reports", "r.parquet"):
        done = run(made, "local", "aggregate", "app/plan.json", name, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        plan = ln.LocalPlan.from_json((made / "app" / "plan.json").read_text())
        found[name] = ln.local_model.estimate.LocalEstimate.from_json(done.stdout, plan)
        assert found[name].count == 2000
        truth = pd.read_csv(made / "people.csv").mean().to_numpy()
        off = np.abs(found[name].estimate - truth)
        assert np.all(off < 7 * found[name].greatest_deviation)
    whole = run(made, "local", "aggregate", "app/device.json", "r.reports", "--out", "estimate")
    assert whole.returncode == 0, whole.stderr
    assert "2 answers from 2,000 reports" in whole.stdout
    written = (made / "estimate" / "estimate.json").read_text()
    assert json.loads(written)["sums"] == [str(own) for own in found["r.reports"].sums]


def test_lines_are_reports_too_and_policies_are_kept(made, tmp_path):
    command = ("local", "randomize", "app/device.json", "--record", RECORD)
    lines = [run(made, *command).stdout for _ in range(3)]
    file = tmp_path / "sent.jsonl"
    file.write_text("".join([*lines, lines[0], "nothing\n"]), encoding="utf-8")
    aggregate = ("local", "aggregate", "app/device.json", str(file))
    refused(run(made, *aggregate), "malformed='drop'")
    refused(run(made, *aggregate, "--malformed", "drop"), "duplicates='drop'")
    done = run(made, *aggregate, "--malformed", "drop", "--duplicates", "drop")
    assert "2 answers from 3 reports" in done.stdout
    assert "beforehand: 1 malformed; 1 sent again." in " ".join(done.stdout.split())
    refused(run(made, *aggregate, "--malformed", "keep"), "malformed='keep' is unknown")


REFUSED = [
    (["randomize", "app/device.json"], "record is missing"),
    (
        ["randomize", "app/device.json", "--record", "[1, 2]", "--table", "people.csv"],
        "given beside",
    ),
    (["randomize", "app/device.json", "--record", "[1, 2]", "--out", "x.reports"], "is for --tabl"),
    (["randomize", "app/device.json", "--record", "[1, 2]", "--person", "me"], "go together"),
    (["randomize", "app/device.json", "--record", "[1, 2]", "--again"], "go together"),
    (["randomize", "app/device.json", "--table", "people.csv"], "needs --out"),
    (["randomize", "none.json", "--record", "[1, 2]"], "cannot be read"),
    (["randomize", "spec.toml", "--record", "[1, 2]"], "error: "),
    (["aggregate", "none.json", "r.reports"], "plan=none.json cannot be read"),
    (["aggregate", "app/plan.json", "none.jsonl"], "cannot be read"),
    (["aggregate", "app/plan.json", "r.reports", "--level", "2"], "level=2"),
    (["plan", "none.toml"], "spec=none.toml cannot be read"),
    (["keep", "app/plan.json"], "exists already"),
    (["keep", "new", "--delta", "0.1"], "without --epsilon"),
]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("given", "text"), REFUSED, ids=lambda own: str(own)[:60])
def test_refusals_are_one_line_and_leave_nothing(made, given, text):
    before = sorted(p.name for p in made.rglob("*"))
    refused(run(made, "local", *given), text)
    assert sorted(p.name for p in made.rglob("*")) == before


@pytest.mark.parametrize("given", ["{", "secret", '{"age": 12345.6}', "[12345.6]", '"12345.6"'])
def test_nothing_of_a_record_is_ever_said(made, given):
    done = run(made, "local", "randomize", "app/device.json", "--record", given)
    assert done.returncode == 2
    assert "12345" not in done.stdout + done.stderr
    assert "secret" not in done.stdout + done.stderr
    assert done.stderr.count("\n") == 1


def test_an_existing_file_is_not_overwritten(made):
    before = (made / "r.reports").read_bytes()
    table = ("--table", "people.csv", "--out", "r.reports")
    done = run(made, "local", "randomize", "app/device.json", *table)
    assert done.returncode == 2
    assert "exists" in done.stderr
    assert (made / "r.reports").read_bytes() == before


def test_a_plan_that_states_less_than_it_reveals_is_not_answered(made, tmp_path):
    document = json.loads((made / "app" / "device.json").read_text())
    document["terms"]["budget"]["epsilon"] = 0.001
    document["digest"] = codec.digest(document)
    plan, out = tmp_path / "device.json", tmp_path / "new.reports"
    plan.write_text(json.dumps(document))
    for given in (("--record", RECORD), ("--table", "people.csv", "--out", str(out))):
        refused(run(made, "local", "randomize", str(plan), *given), "send no report of it")
    assert not out.exists()


def test_a_report_is_printed_by_a_process_of_its_own(made):
    done = started(made, "local", "randomize", "app/device.json", "--record", RECORD)
    assert (done.returncode, done.stderr) == (0, "")
    assert Report.from_json(done.stdout.strip())
