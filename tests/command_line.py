# SPDX-License-Identifier: Apache-2.0
"""The command line in two ways: as a process of its own, and in this one, without its imports."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

# the environment of a program of the tests' own, which finds their modules
REACH = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
WITHIN_REACH = {**os.environ, "PYTHONPATH": os.pathsep.join(REACH)}


def written(folder, text):
    """Write a specification there, and return its path."""
    path = folder / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run(folder, *arguments, encoding="utf-8", terminal=False):
    """Run it in this process: every line of it but the interpreter's start.

    Where there is a terminal, errors and bars go to it.
    """
    from lownoise import cli

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    code, err.isatty = 0, lambda: terminal
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["lownoise", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as left:
            code = left.code or 0
    said = (stream.buffer.getvalue().decode(encoding) for stream in (out, err))
    return subprocess.CompletedProcess(arguments, code, *said)


def started(folder, *arguments, **environment):
    """Run it as people do: for what only a whole process shows."""
    return subprocess.run(
        [sys.executable, "-m", "lownoise.cli", *map(str, arguments)],
        cwd=Path(folder),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def program(file, *arguments):
    """Run a program of the tests' own in a process of its own."""
    return subprocess.run(
        [sys.executable, str(file), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=WITHIN_REACH,
    )


def together(commands):
    """Let programs that say that they are ready, and wait for a line, go on all at once.

    Returns:
        What each says then.
    """
    pipe = subprocess.PIPE
    racers = [subprocess.Popen(own, stdin=pipe, stdout=pipe, text=True) for own in commands]
    try:
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * len(racers)
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        return [racer.communicate()[0].strip() for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()


def refused(done, text):
    """Check that a command was refused in one line that says so, and printed nothing else."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert text in done.stderr
