# SPDX-License-Identifier: Apache-2.0
"""Print the command-line reference: each command's help, exactly as the command prints it."""

import os
import subprocess
import sys

COMMANDS = (
    (),
    ("plan",),
    ("budget-for",),
    ("size-for",),
    ("release",),
    ("together",),
    ("change",),
    ("answers",),
    ("stream",),
    ("verify",),
    ("marginal",),
    ("quantile",),
    ("enclose",),
    ("reproduce",),
    ("demo",),
    ("ledger",),
    ("ledger", "create"),
    ("ledger", "charge"),
    ("ledger", "show"),
    ("local",),
    ("local", "plan"),
    ("local", "keep"),
    ("local", "randomize"),
    ("local", "aggregate"),
)
HEAD = """# Command line

A refusal is one line on standard error, with status 2; nothing is spent and nothing is written.
For a specification, there is one more line for each mistake in it. A missing argument, or an
unknown command or option, is refused likewise, and the line names the help. `--json` prints a
document for machines. `make cli-reference` writes this page.
"""


MARK = "\f"
# one process prints all of them
CODE = f"""
import sys
from lownoise.cli import app
for command in sys.argv[1:]:
    try:
        app([*command.split(), "--help"], prog_name="lownoise")
    except SystemExit as left:
        assert not left.code
    print({MARK!r})
"""


def helps():
    plain = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(" ".join, COMMANDS)],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, **plain},
    )
    for text in done.stdout.split(MARK)[:-1]:
        yield "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def reference():
    parts = [HEAD]
    for command, text in zip(COMMANDS, helps(), strict=True):
        title = " ".join(("lownoise", *command))
        parts.append(f"## {title}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(reference(), end="")  # noqa: T201
