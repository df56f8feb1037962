# SPDX-License-Identifier: Apache-2.0
"""`lownoise stream`: lines in, answers out, on from where a program was killed."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

import lownoise as ln
from lownoise.numbers.randomness import SimulationRandomness

SPEC = """
[question]
kind = "stream"
rounds = 6

[budget]
rho = 0.5
"""
PAID = """
[ledger]
path = "privacy.ledger"
dataset = "wards"
"""
VECTORS = """
[question]
kind = "stream"
workload = "sliding_window"
rounds = 50
width = 3
strategy = "input"
columns = { beds = { lower = 0, upper = 9 }, staff = { lower = -1, upper = 1 } }

[budget]
rho = 1e6
"""


class Piped(io.BytesIO):
    """Standard input that is no file."""

    def __init__(self, content, number):
        super().__init__(content)
        self.number = number

    def fileno(self):
        return self.number


def run(folder, *arguments, lines=b""):
    """Run the command in this process, with its input in a pipe."""
    from lownoise import cli

    reader, writer = os.pipe()
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "stdin", io.TextIOWrapper(Piped(lines, reader)))
        patch.setattr(sys, "argv", ["lownoise", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as left:
            code = left.code or 0
    os.close(reader)
    os.close(writer)
    rows = list(csv.reader(io.StringIO(out.getvalue())))
    return subprocess.CompletedProcess(arguments, code, rows, err.getvalue())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "vectors.toml").write_text(VECTORS)
    return tmp_path


def numbers(rows):
    return [[float(field) for field in row] for row in rows]


def test_lines_become_answers_with_their_deviations(folder):
    done = run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n0\n1\n")
    assert done.returncode == 0
    assert "started 6 rounds (optimal, 0.5-zCDP) in s" in done.stderr
    header, *rows = done.stdout
    assert header == ["round", "value", "standard deviation", "low", "high"]
    stream = ln.Stream.open(folder / "s")
    assert stream.round == 3
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert float(rows[2][1]) == stream.last.answers[0]
    assert [float(row[2]) for row in rows] == stream.standard_deviations(1, 3).ravel().tolist()
    wide = stream.half_widths(1, 3).ravel()
    assert [float(row[4]) - float(row[1]) for row in rows] == pytest.approx(wide)
    assert [float(row[1]) - float(row[3]) for row in rows] == pytest.approx(wide)


def test_it_goes_on_from_its_state_and_says_so(folder):
    first = run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n1\n")
    second = run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n")
    assert "resumed after round 2 of 6" in second.stderr
    (row,) = second.stdout
    assert row[0] == "3"
    again = run(folder, "stream", "spec.toml", "--state", "s", "--from-start", lines=b"1\n" * 4)
    assert again.stdout[0] == first.stdout[0]
    assert again.stdout[1] == row  # what was published, not drawn again
    assert [r[0] for r in again.stdout[1:]] == ["3", "4"]
    done = run(folder, "stream", "spec.toml", "--state", "s", "--from-start", lines=b"1\n")
    assert [r[0] for r in done.stdout[1:]] == ["4"]


def test_past_the_horizon_there_is_one_line_with_the_remedy(folder):
    done = run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n" * 8)
    assert done.returncode == 2
    assert [row[0] for row in done.stdout[1:]] == list("123456")
    assert done.stderr.count("error:") == 1
    assert "start another with a longer horizon" in done.stderr
    table = folder / "t.csv"
    table.write_text("value\n" + "1\n" * 9)
    done = run(folder, "stream", "spec.toml", "--input", "t.csv")
    assert done.returncode == 2
    assert [row[0] for row in done.stdout[1:]] == list("123456")
    assert "longer horizon" in done.stderr


BAD = [b"", b"one", b"1,2", b",", b"nan", b"\xff\xfe", b"1__0", b"1 0", b"1" * 2000, b'"1"', b"1e"]


@pytest.mark.grid(3)
@pytest.mark.parametrize("line", BAD)
def test_a_line_that_is_no_number_counts_as_missing(line, folder):
    loud = SPEC.replace("rho = 0.5", "rho = 1e6").replace(
        "rounds = 6", 'rounds = 6\nstrategy = "input"'
    )
    (folder / "loud.toml").write_text(loud)
    done = run(folder, "stream", "loud.toml", lines=b"1\n" + line + b"\n 1 \r\n1e0\n")
    assert done.returncode == 0
    answers = [float(row[1]) for row in done.stdout[1:]]
    assert answers == pytest.approx([1, 1, 2, 3], abs=0.02)
    assert "nothing is kept" in done.stderr


ENDS = [f"{end} of {name}" for end in ("low", "high") for name in ("beds", "staff")]


def test_vectors_have_a_column_each(folder):
    lines = b"9,1\n\n1,-1\n3,x\n1\n1,1,1\n99,-99\n"
    done = run(folder, "stream", "vectors.toml", lines=lines)
    header, *rows = done.stdout
    assert header == ["round", "beds", "staff", "sd of beds", "sd of staff", *ENDS]
    found = np.array(numbers(rows))[:, 1:3]
    # a field that is no number is missing, and so is a line of others, and an empty one
    each = np.array([[9, 1], [0, 0], [1, -1], [3, 0], [0, 0], [0, 0], [9, -1]])
    expected = np.stack([each[max(t - 2, 0) : t + 1].sum(axis=0) for t in range(7)])
    assert found == pytest.approx(expected, abs=0.05)


def test_no_name_of_a_column_is_a_formula_of_the_header(folder):
    (folder / "run.toml").write_text(VECTORS.replace("beds", '"=1+1"'))
    header, *_ = run(folder, "stream", "run.toml", lines=b"9,1\n").stdout
    assert header[:4] == ["round", "'=1+1", "staff", "sd of =1+1"]


ODD = [
    *BAD,
    b"\r",
    b"\r\r",
    b"\x00",
    b" ",
    b"\t",
    b"9" * 10**6,
    b"1,1,1",
    b'"1\n',
    b"\xef\xbb\xbf1",
]


@pytest.mark.grid(1)
@pytest.mark.parametrize("spec", ["one", "two"])
def test_no_line_moves_the_rounds_of_others(spec, folder):
    # noise of one seed: whatever one line is, all answers to other lines are the same bits
    columns = {"one": "", "two": "columns = { a = { upper = 1 }, b = { upper = 1 } }\n"}[spec]
    columns = columns.replace("{ upper", "{ lower = 0, upper")
    text = SPEC.replace("rounds = 6", f'rounds = 6\nstrategy = "input"\n{columns}')
    text = text.replace('"stream"', '"stream"\nworkload = "sliding_window"\nwidth = 1')
    (folder / "spec.toml").write_text(text)
    line = {"one": b"1\n", "two": b"1,0.5\n"}[spec]
    wanted = None
    for odd in (line.strip(), *(own.replace(b"\n", b"") for own in ODD)):
        with pytest.MonkeyPatch.context() as patch:
            own = SimulationRandomness(7)
            patch.setattr("lownoise.planning.stream_plan.SystemRandomness", lambda own=own: own)
            done = run(folder, "stream", "spec.toml", lines=2 * line + odd + b"\n" + 3 * line)
        assert done.returncode == 0, odd
        assert len(done.stdout) == 7, odd
        rest = [row for row in done.stdout if row[0] != "3"]
        wanted = rest if wanted is None else wanted
        assert rest == wanted, odd


@pytest.mark.parametrize("kind", ["csv", "parquet", "groups"])
def test_a_table_is_read_in_its_order(kind, folder):
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    spec = SPEC.replace("rounds = 6", 'rounds = 9000\nstrategy = "input"').replace("0.5", "1e6")
    (folder / "long.toml").write_text(
        spec.replace("[budget]", 'columns = { "a b" = { lower = 0, upper = 9000 } }\n\n[budget]')
    )
    values = np.random.default_rng(1).permutation(9000).astype(float)
    table = pa.table({"other": values[::-1], "a b": pa.array(values, mask=values == 7)})
    name = "t.csv" if kind == "csv" else "t.parquet"
    if kind == "csv":
        pc.write_csv(table, folder / name)
    else:
        pq.write_table(table, folder / name, row_group_size=100 if kind == "groups" else None)
    done = run(folder, "stream", "long.toml", "--input", name, "--state", "s")
    assert done.returncode == 0, done.stderr
    found = np.array(numbers(done.stdout[1:]))
    exact = np.cumsum(np.where(values == 7, 0, values))
    assert np.max(np.abs(found[:, 1] - exact) / found[:, 2]) < 9
    assert found[:, 0].tolist() == list(range(1, 9001))
    other = run(folder, "stream", "spec.toml", "--input", name, "--state", "other")
    assert other.returncode == 2
    assert "column='value'" in other.stderr
    assert not (folder / "other").exists()  # nothing has started


def test_the_ledger_pays_once(folder):
    ledger = ln.Ledger.create(folder / "privacy.ledger", "wards", ln.zcdp(0.6))
    (folder / "spec.toml").write_text(SPEC + PAID)
    for _ in range(3):
        assert run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n").returncode == 0
    assert [e.state for e in ledger.entries()] == ["settled"]
    refused = run(folder, "stream", "spec.toml", "--state", "other", lines=b"1\n")
    assert refused.returncode == 2
    assert "too little" in refused.stderr
    assert not refused.stdout
    assert not (folder / "other").exists()


def test_another_streams_file_is_refused(folder):
    run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n")
    before = (folder / "s").read_bytes()
    (folder / "spec.toml").write_text(SPEC.replace("6", "7"))
    done = run(folder, "stream", "spec.toml", "--state", "s", lines=b"1\n")
    assert (done.returncode, done.stdout) == (2, [])
    assert "another workload" in done.stderr
    (folder / "text").write_text("not a stream")
    done = run(folder, "stream", "spec.toml", "--state", "text", lines=b"1\n")
    assert (done.returncode, done.stdout) == (2, [])
    assert "no stream of lownoise" in done.stderr
    assert (folder / "s").read_bytes() == before


def test_a_plan_is_shown_saved_and_verified_without_starting(folder):
    done = run(folder, "plan", "spec.toml", "--out", "o")
    said = " ".join(" ".join(field for row in done.stdout for field in row).split())
    for part in ("6 running sums", "optimal", "No factorization mechanism", "lower bound"):
        assert part in said
    assert run(folder, "verify", "o").returncode == 0
    page = (folder / "o" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "No factorization mechanism" in page
    plan = (folder / "o" / "plan.json").read_text()
    assert run(folder, "plan", "vectors.toml").returncode == 0
    fields = json.loads(plan)
    fields["derived"]["error"] /= 2
    (folder / "o" / "plan.json").write_text(json.dumps(fields))
    assert run(folder, "verify", "o").returncode == 2


def test_a_stream_is_no_release_and_a_mean_no_stream(folder):
    done = run(folder, "release", "spec.toml", "--data", "t.csv")
    assert done.returncode == 2
    assert "lownoise stream" in done.stderr
    (folder / "mean.toml").write_text(
        '[question]\nrelation = "add_remove"\ncolumns = { x = { lower = 0, upper = 1 } }\n'
        "[budget]\nrho = 1\n"
    )
    done = run(folder, "stream", "mean.toml")
    assert done.returncode == 2
    assert "is no stream" in done.stderr


# the command in a process whose input says when it is asked for a line
ASKED = """
import sys
from lownoise.cli import main
class Lines:
    def __init__(self, file):
        self.buffer, self.fileno = self, file.fileno
        self.readline = file.buffer.readline
    def __iter__(self):
        while True:
            print("asked", file=sys.stderr, flush=True)
            line = self.readline()
            if not line:
                return
            yield line
sys.stdin = Lines(sys.stdin)
main()
"""


def test_a_whole_process_answers_at_once_and_survives_a_kill(folder):
    arguments = ["stream", "spec.toml", "--state", "s"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", ASKED, *arguments]
    with subprocess.Popen(command, cwd=folder, text=True, env=plain, **pipes) as process:
        process.stdin.write("1\n")
        process.stdin.flush()
        asked = 0
        for said in process.stderr:
            asked += said == "asked\n"
            if asked == 2:
                break
        assert asked == 2
        os.set_blocking(process.stdout.fileno(), False)
        said = os.read(process.stdout.fileno(), 1000)  # what is there before a second line is
        process.send_signal(signal.SIGKILL)
    header, answer = said.decode().splitlines()
    assert header.startswith("round,")
    assert answer.startswith("1,")
    command = [sys.executable, "-m", "lownoise.cli", *arguments]
    assert ln.Stream.open(folder / "s").last.answers[0] == float(answer.split(",")[1])
    with (folder / "lines").open("w+b") as lines:  # a file is answered in batches
        lines.write(b"0\n1\n1\n")
        lines.seek(0)
        done = subprocess.run(
            command, cwd=folder, stdin=lines, capture_output=True, text=True, check=True
        )
    assert [row.split(",")[0] for row in done.stdout.splitlines()] == ["2", "3", "4"]
    stream = ln.Stream.open(folder / "s")
    assert (stream.last.first, stream.round) == (2, 4)
