# SPDX-License-Identifier: Apache-2.0
"""How far a run is, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from lownoise.learning.run import Step


@final
class ProgressBar:
    """Shows rounds and the time that is left; quiet where standard error is no terminal.

    It knows rounds and times alone, nothing of the records.

    Args:
        console: where it is shown, by default standard error.

    Examples:
        >>> import numpy as np, lownoise as ln
        >>> plan = ln.learning.plan(
        ...     ln.learning.Logistic(), features=2, records=8, batch=4, clip=1.0, radius=1.0,
        ...     budget=ln.zcdp(0.5),
        ... )
        >>> with ln.learning.ProgressBar() as bar:
        ...     learned = plan.fit(np.ones((8, 2)), np.ones(8), progress=bar)
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Left

        own = Console(stderr=True) if console is None else console
        columns = (TextColumn("rounds"), BarColumn(), MofNCompleteColumn(), Left())
        self._shown = Progress(*columns, console=own, disable=not own.is_terminal)
        self._task = self._shown.add_task("rounds", total=None)

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
        """Show how far a run is; give the bar itself as `progress`."""
        self._shown.update(self._task, total=step.rounds, completed=step.round)
