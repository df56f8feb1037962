# SPDX-License-Identifier: Apache-2.0
"""Print the command-line reference: each command's help, exactly as the command prints it."""

import os
import subprocess
import sys

COMMANDS = (
    (),
    ("plan",),
    ("release",),
    ("stream",),
    ("verify",),
    ("marginal",),
    ("enclose",),
    ("demo",),
    ("ledger",),
    ("ledger", "create"),
    ("ledger", "charge"),
    ("ledger", "show"),
)
HEAD = """# Command line

Refusals are one line on standard error, status 2; nothing is spent and nothing is written. `--json`
prints a document for machines. This page is written by `make cli-reference`.
"""


def help_of(command):
    code = "from lownoise.cli import app; app(prog_name='lownoise')"
    plain = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, **plain},
    )
    lines = (line.rstrip() for line in done.stdout.splitlines())
    return "\n".join(lines).strip("\n")


def reference():
    parts = [HEAD]
    for command in COMMANDS:
        title = " ".join(("lownoise", *command))
        parts.append(f"## {title}\n\n```text\n{help_of(command)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(reference(), end="")  # noqa: T201
