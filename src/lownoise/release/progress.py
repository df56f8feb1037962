# SPDX-License-Identifier: Apache-2.0
"""Which part of a release is under way, and how much of it is done: nothing that rows decide.

While a table is read no share of it is said, on any engine: how many rows or bytes there are, and
how fast they are read, follows from rows. Of the noise it is how many integers have theirs, of a
number that the plan has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, final

from lownoise.errors import PlanError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.console import Console

    Listener = Callable[["Part"], None]


class Step(Protocol):
    """How far something is: what a bar shows."""

    @property
    def what(self) -> str:
        """What is under way, in words."""

    @property
    def done(self) -> int:
        """How much of it is done."""

    @property
    def total(self) -> int:
        """How much there is; 0 where that is not said."""


@final
@dataclass(frozen=True)
class Part:
    """How far a release is; nothing of it is a function of the rows.

    Args:
        what: "reading the table", and once that is paid for, "adding noise".
        done: how many of the released integers have their noise.
        total: how many there are; 0 while the table is read.
    """

    what: str
    done: int = 0
    total: int = 0


def listener(progress: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """Return what is told how far something is; where nobody asks, what says nothing.

    Raises:
        PlanError: where it is nothing that can be told; asked for before anything is paid.
    """
    if progress is None:
        return lambda _part: None
    if not callable(progress):
        raise PlanError(
            f"progress={quoted(progress)} cannot be called; give ln.ProgressBar(), or a function "
            "of one part"
        )
    return progress


@final
class ProgressBar:
    """A progress bar on a terminal; it shows nothing elsewhere.

    It is drawn on standard error and removed at the end. Give it as `progress` to a release on any
    engine, or to a run of private learning.

    Args:
        console: where it is shown, by default standard error.

    Examples:
        >>> import pandas as pd
        >>> import lownoise as ln
        >>> question = ln.Mean(["age"], ln.Box([0], [100]))
        >>> plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
        >>> with ln.ProgressBar() as bar:
        ...     release = plan.release(pd.DataFrame({"age": [33, 44]}), progress=bar)
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        own = Console(stderr=True) if console is None else console
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[share]}"),
        )
        self._shown = Progress(
            *columns, TimeElapsedColumn(), console=own, transient=True, disable=not own.is_terminal
        )
        self._what: str | None = None
        self._task = self._shown.add_task("", total=None, share="", visible=False)

    def __enter__(self) -> Self:
        self._shown.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shown.stop()

    def __call__(self, step: Step) -> None:
        """Show how far it is; give the bar itself as `progress`."""
        if step.what != self._what:
            self._shown.remove_task(self._task)
            self._task = self._shown.add_task(step.what, total=step.total or None, share="")
            self._what = step.what
        share = f"{step.done:,}/{step.total:,}" if step.total else ""
        self._shown.update(self._task, completed=step.done, share=share)
