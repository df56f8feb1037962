# SPDX-License-Identifier: Apache-2.0
"""What no command takes is refused like anything else: in one line, with status 2."""

import re

import pytest
import typer

import lownoise
from command_line import refused, run, started
from lownoise.cli import app


def commands(group=None, names=()):
    """Yield every command with its names."""
    group = typer.main.get_command(app) if group is None else group
    for name, own in group.commands.items():
        if hasattr(own, "commands"):
            yield from commands(own, (*names, name))
        else:
            yield (*names, name), own


EVERY = dict(commands())
REQUIRED = [
    (names, own.name) for names, command in EVERY.items() for own in command.params if own.required
]


def given(names, but=None):
    """Return a command line that has all that is required, but one of it (and what follows it)."""
    words, left = list(names), False
    for own in EVERY[names].params:
        left |= own.name == but
        if own.required and own.param_type_name == "argument" and not left:
            words.append("x")
        elif own.required and own.param_type_name == "option" and own.name != but:
            words += [own.opts[0], "x"]
    return words


def test_every_command_is_found():
    assert {("plan",), ("ledger", "create"), ("stream",), ("demo",)} <= set(EVERY)
    assert {names for names, _ in REQUIRED} == set(EVERY) - {("demo",), ("reproduce",)}


@pytest.mark.grid
@pytest.mark.parametrize(("names", "left"), REQUIRED, ids=str)
def test_what_is_missing_is_one_line(names, left, tmp_path):
    done = run(tmp_path, *given(names, but=left))
    refused(done, f"see `lownoise {' '.join(names)} --help`")
    assert f"'{left}'" in done.stderr or f"'--{left.replace('_', '-')}'" in done.stderr
    assert done.stderr.startswith("error: missing ")
    assert not list(tmp_path.iterdir())


def test_the_version_is_told(tmp_path):
    done = run(tmp_path, "--version")
    assert (done.returncode, done.stdout) == (0, f"lownoise {lownoise.__version__}\n")


@pytest.mark.parametrize("names", EVERY, ids=" ".join)
def test_no_word_of_a_help_is_taken_for_markup(names, tmp_path):
    """Typer's help takes "[x]" for a style, and leaves it out."""
    command = EVERY[names]
    said = [command.help or "", *(getattr(own, "help", None) or "" for own in command.params)]
    assert not [text for text in said if re.search(r"\[[a-z#/@]", text)]


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("names", EVERY, ids=" ".join)
@pytest.mark.parametrize("more", [["--no-such-option"], ["--no\nsuch\x1b[31m"]])
def test_what_is_no_option_is_one_line(names, more, tmp_path):
    done = run(tmp_path, *given(names), *more)
    refused(done, "no such option")
    assert "\x1b" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_no_command_is_one_line(tmp_path):
    refused(run(tmp_path, "plane"), "no such command 'plane'")
    refused(run(tmp_path, "ledger", "shew"), "see `lownoise ledger --help`")
    refused(run(tmp_path, "verify", "x", "--largest", "q"), "invalid value for '--largest'")
    refused(run(tmp_path, "stream", "x", "--state"), "'--state' requires an argument")
    refused(started(tmp_path, "plan"), "missing argument 'spec'")


@pytest.mark.parametrize("names", [(), ("ledger",)], ids=" ".join)
def test_names_alone_show_the_help(names, tmp_path):
    done = run(tmp_path, *names)
    assert done.returncode == 2
    assert "Usage: lownoise" in done.stdout
    assert done.stderr == ""
