# SPDX-License-Identifier: Apache-2.0
"""`lownoise stream`: rounds in, private answers out, each as soon as it is safe on disk."""

from __future__ import annotations

import os
import stat
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lownoise.cli.output import solving
from lownoise.errors import FileError, SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.streams import Stream

_BATCH = 1 << 16  # rounds of a file
_ENDS = ("low", "high")


_Spec = Annotated[Path, typer.Argument(help="A specification of a stream, a TOML file.")]
_State = Annotated[
    Path | None,
    typer.Option(help="The file of the stream; if it exists, the stream continues."),
]
_Input = Annotated[
    str | None,
    typer.Option("--input", help="A table with one row per round, instead of standard input."),
]
_FromStart = Annotated[
    bool | None,
    typer.Option(
        "--from-start/--from-next",
        help="Whether the input begins at round 1, so that answered rounds are skipped, or at the "
        "next round.",
        show_default="--from-start for a table, --from-next for standard input",
    ),
]


def stream(
    spec: _Spec, *, state: _State = None, source: _Input = None, from_start: _FromStart = None
) -> None:
    """Read one value per round; print round, private answer, standard deviation and interval.

    The interval, low to high, covers the exact answer of its round with probability 0.95.

    Standard input has one line per round and no header. A line is a number, or one for each column,
    separated by commas. Any other line counts as missing. With --state, a killed program continues
    where it was, and pays once; a table of --input then begins at round 1.
    """
    from lownoise.planning.streaming import begun
    from lownoise.spec import read_spec
    from lownoise.spec.streams import StreamSpec

    read = read_spec(spec)
    question = read.question
    if not isinstance(question, StreamSpec):
        raise SpecError(
            f'question.kind="{question.kind}" is no stream; use `lownoise release`, or '
            'kind = "stream"',
        )
    names, request = question.names, question.request(read.budget.budget())
    rounds = _batches(names, source)  # a table that cannot be opened is refused before it is paid
    with solving("fitting the noise") as progress:
        running = begun(request, read.account(), state, progress)
    _say(running, state)
    try:
        whole = source is not None if from_start is None else from_start
        _run(running, names, rounds, from_start=whole)
    except KeyboardInterrupt:
        _note(f"interrupted after round {running.round:,}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # nobody reads any more; what was answered and not read is what `last` remembers
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(
            f"standard output was closed after round {running.round:,}; go on with --from-start "
            "to see the last answers again",
        ) from None


def _run(
    running: Stream, names: tuple[str, ...], rounds: Iterator[Vector], *, from_start: bool
) -> None:
    from lownoise.release.answer_table import harmless

    header = not running.round
    skip = 0
    if from_start:
        skip, header = running.round, True
    if header:
        one = len(names) == 1
        heads = ["standard deviation"] if one else [f"sd of {n}" for n in names]
        heads += ["low", "high"] if one else [f"{end} of {n}" for end in _ENDS for n in names]
        fields = [_quoted(harmless(field)) for field in ("round", *names, *heads)]
        print(*fields, sep=",")  # noqa: T201
    last = running.last
    if from_start and last is not None:
        _print(running, last.first, last.answers)
    sys.stdout.flush()
    for batch in _without(skip, rounds):
        left = running.rounds - running.round
        if 0 < left < len(batch):  # what fits is answered before the rest is refused
            _answer(running, batch[:left])
            _answer(running, batch[left:])
        else:
            _answer(running, batch)


def _answer(running: Stream, batch: Vector) -> None:
    first = running.round + 1
    answers = running.update_many(batch)
    _print(running, first, answers)
    sys.stdout.flush()


def _print(running: Stream, first: int, answers: Vector) -> None:
    import numpy as np

    rows = answers.reshape(len(answers), -1)
    deviations = running.standard_deviations(first, len(rows))
    wide = running.half_widths(first, len(rows))
    columns = np.concatenate([rows, deviations, rows - wide, rows + wide], axis=1)
    for i, row in enumerate(columns.tolist()):
        print(first + i, *row, sep=",")  # noqa: T201


def _without(count: int, batches: Iterator[Vector]) -> Iterator[Vector]:
    """Yield batches without their first `count` rows."""
    for batch in batches:
        own = batch[count:]
        count = max(count - len(batch), 0)
        if len(own):
            yield own


def _batches(names: tuple[str, ...], source: str | None) -> Iterator[Vector]:
    """Return the values of the rounds: of a table, or of standard input as lines come."""
    from lownoise.engines.opening import rows_of

    return _lines(len(names)) if source is None else rows_of(names, source)


def _lines(count: int) -> Iterator[Vector]:
    import numpy as np

    from lownoise.engines.cells import decoded, row_of

    # a line that is none, and an empty one, is a round whose value is missing
    lines = (decoded(raw) for raw in sys.stdin.buffer)
    many = stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    for line in lines:
        own = chain([line], islice(lines, _BATCH - 1)) if many else [line]
        yield np.array([row_of(each, count) for each in own])


def _say(running: Stream, state: Path | None) -> None:
    """Say on standard error what goes on, and from where."""
    where = f"{running.strategy}, {running.terms.budget}"
    if state is None:
        _note(
            f"started {running.rounds:,} rounds ({where}); nothing is kept: give --state to go on "
            "after a crash",
        )
    elif running.round:
        _note(
            f"resumed after round {running.round:,} of {running.rounds:,} ({where}) from {state}",
        )
    else:
        _note(f"started {running.rounds:,} rounds ({where}) in {state}")


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if set(field) & set(',"\r\n') else field
