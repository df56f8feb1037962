# SPDX-License-Identifier: Apache-2.0
"""The checker is one file: it imports Python's own library alone, and runs where it is copied."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lownoise_check as checker
from check.documents import MEANS, changed, mean
from lownoise_check import FALSE, HOLDS, OPEN, UNREAD

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "lownoise_check.py"


def test_it_imports_python_alone():
    found = set()
    for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(own.name.partition(".")[0] for own in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module.partition(".")[0])
    assert found <= sys.stdlib_module_names
    assert not any(
        "lownoise_check" in path.read_text("utf-8") for path in FILE.parent.glob("lownoise/**/*.py")
    )


def test_it_ships_and_has_a_command():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"]["lownoise-check"] == "lownoise_check:main"
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert FILE.relative_to(ROOT).as_posix() in packages


def test_a_copy_runs_where_nothing_is_installed(tmp_path):
    copy = shutil.copy(FILE, tmp_path)

    def run(*arguments):
        command = [sys.executable, "-I", "-S", copy, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    text = mean(*MEANS[0])
    (tmp_path / "plan.json").write_text(text, encoding="utf-8")
    cost = ("derived", "cost", "mu")
    (tmp_path / "less.json").write_text(changed(text, cost, lambda mu: mu / 2), encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name, status, said in (
        ("plan.json", HOLDS, "HOLDS: "),
        ("less.json", FALSE, "FALSE, or without proof: "),
    ):
        done = run(name)
        assert (done.returncode, done.stderr) == (status, "")
        assert done.stdout.splitlines()[-1].startswith(said)
    for arguments in ((), ("none.json",), ("bytes.json",), (".",)):
        done = run(*arguments)
        assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (UNREAD, "", False)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", FALSE),
        ("[" * 100_000, FALSE),
        ('{"a": ' * 100_000, FALSE),
        ("null", FALSE),
        ("[]", FALSE),
        ('{"format": "lownoise.plan/2"}', FALSE),
        ('{"format": "lownoise.plan/4"}', OPEN),
        ('{"format": "lownoise.plan/2", "format": "lownoise.plan/2"}', FALSE),
        ('{"format": ' + "9" * 5000 + "}", FALSE),
        ('{"format": 1e400}', OPEN),
        ('{"format": NaN}', OPEN),
        ('{"format": -Infinity}', OPEN),
        ('{"format": "lownoise.plan/2", "terms": [], "derived": 1}', FALSE),
        ('{"format": "lownoise.plan/2", "terms": {"question": {"kind": []}}, "derived": 1}', OPEN),
    ],
)
def test_what_is_no_file_of_ours_is_refused(text, status):
    found, lines = checker.decide(text)
    assert found == status, lines
    assert "\n" not in lines[-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_read_where_it_is_named_and_not_waited_for_in_a_folder(
    tmp_path, monkeypatch, capsys
):
    pipe = tmp_path / "release.json"
    os.mkfifo(pipe)
    write = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
    writer = subprocess.Popen([sys.executable, "-c", write, pipe, mean(*MEANS[0])])
    for path, status in ((pipe, HOLDS), (tmp_path, UNREAD)):
        monkeypatch.setattr(sys, "argv", ["lownoise-check", str(path)])
        with pytest.raises(SystemExit) as ended:
            checker.main()
        assert ended.value.code == status
        monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("read"))
    assert not writer.wait()
    assert capsys.readouterr().err.startswith("usage: ")
