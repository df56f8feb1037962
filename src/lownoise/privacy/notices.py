# SPDX-License-Identifier: Apache-2.0
"""What a user must hear though nothing is refused: one line each."""

from __future__ import annotations

import inspect
import warnings


class ReadingNotice(UserWarning):
    """A first spend is about to fix the reading of an account, which nobody named."""


def tell(text: str) -> None:
    """Warn with a `ReadingNotice` at the place where the library was called.

    Each time: `warnings.warn` says one text at one place once, whichever account it is of.
    """
    frame = inspect.currentframe()
    while frame and frame.f_back and _is_own(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    name, line = (frame.f_code.co_filename, frame.f_lineno) if frame else (__name__, 0)
    warnings.warn_explicit(text, ReadingNotice, name, line, registry={})


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
