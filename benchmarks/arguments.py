# SPDX-License-Identifier: Apache-2.0
"""What benchmarks take on the command line: one parser for all of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class Arguments(argparse.ArgumentParser):
    """`--help` prints what a benchmark measures; what it does not take is refused in one line.

    Args:
        measures: the docstring of its module.
    """

    def __init__(self, measures: str | None) -> None:
        super().__init__(
            prog=f"python -m benchmarks.{Path(sys.argv[0]).stem}",
            description=measures,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Leave with status 2."""
        self.exit(2, f"{self.prog}: {message}; see --help\n")

    def words(self, *known: str, numbers: bool = False) -> list[str]:
        """Return the words that are given, any where none is known.

        Args:
            known: those that are taken.
            numbers: whether whole numbers are, too.
        """
        self.add_argument("words", nargs="*", metavar="WORD", help=", ".join(known) or None)
        found: list[str] = self.parse_args().words
        for word in found:
            if known and word not in known and not (numbers and word.isdecimal()):
                more = " and no number" if numbers else ""
                self.error(f"{word!r} is none of {', '.join(known)}{more}")
        return found

    def number(self, name: str, default: int) -> int:
        """Return the whole number that is given, as 5000000 or 5e6."""
        self.add_argument(name, nargs="?", type=whole, default=default)
        found: int = getattr(self.parse_args(), name)
        return found

    def chosen(self, default: Callable[[], Any], **parts: Callable[[], Any]) -> Callable[[], Any]:
        """Return what is to run: one of the parts by its option, `--name`, or the default."""
        for name, run in parts.items():
            self.add_argument(
                f"--{name}", dest="run", action="store_const", const=run, default=default
            )
        found: Callable[[], Any] = self.parse_args().run
        return found


def whole(text: str) -> int:
    """Return a whole number of at least 1.

    Raises:
        ValueError: where it is none.

    Examples:
        >>> whole("5e6"), whole("12")
        (5000000, 12)
    """
    found = float(text)
    if not found >= 1 or found % 1:
        raise ValueError(text)
    return int(found)
