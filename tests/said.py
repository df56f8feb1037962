# SPDX-License-Identifier: Apache-2.0
"""Everything that a job says: what an observer has who sees all but the released numbers."""

import io
import logging
import os
import re
import sys
import tempfile
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

DIGEST = r"\b(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
TIME = r"\d{4}-\d\d-\d\d[T ][\d:]*(?:\+00:00)?"
NUMBER = rf"{DIGEST}|{TIME}|[-−]?\b(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|inf|Infinity|NaN)\b"
GROUPS = re.compile(r"(?<=\d),(?=\d{3})")
WIDTH = re.compile(r"[\s─━┃│]+")  # a table for people is as wide as its numbers
TEXTS = (".json", ".html", ".csv")


class Everything(logging.Handler):
    """Keeps each record of each logger."""

    def __init__(self):
        super().__init__(logging.NOTSET)
        self.found = []

    def emit(self, record):
        # one draws released numbers, and tells of fonts; one, that objects of other tests are gone
        if record.name.startswith(("matplotlib", "py4j.")):
            return
        self.found.append((record.name, record.levelname, record.getMessage()))


def said(job, folder, ledger=None):
    """Run a job in a folder of its own, and return everything that it says.

    What it prints (by Python, and by the file descriptors that engines write to), warns (with
    every floating-point condition told), logs, raises (with the causes that a traceback shows),
    what threads leave unraised, which files are left and how long they are, and what the ledger
    has. Numbers are masked where a release is written: see `masked`.

    Args:
        job: returns a value that can be compared; what it returns is a part of what is said.
        folder: a new one; it is the working and the temporary folder.
        ledger: the account that pays, if any.
    """
    Path(folder).mkdir()
    log, unraised = Everything(), []
    root = logging.getLogger()
    out, err = io.StringIO(), io.StringIO()
    with (
        tempfile.TemporaryFile() as printed,
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(record=True) as warned,
        np.errstate(all="warn"),
    ):
        warnings.simplefilter("always")
        patch.chdir(folder)
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "unraisablehook", lambda args: unraised.append(str(args.exc_value)))
        patch.setattr(threading, "excepthook", lambda args: unraised.append(str(args.exc_value)))
        level = root.level
        root.addHandler(log)
        root.setLevel(logging.NOTSET)
        descriptors = [os.dup(1), os.dup(2)]
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        try:
            ended = ("returned", job())
        except BaseException as error:  # noqa: BLE001 (the observer sees any)
            told = traceback.TracebackException.from_exception(error)
            ended = ("raised", *_chain(told))
        finally:
            for kept, number in zip(descriptors, (1, 2), strict=True):
                os.dup2(kept, number)
                os.close(kept)
            root.removeHandler(log)
            root.setLevel(level)
        printed.seek(0)
        below = printed.read()
    left = {
        str(p.relative_to(folder)): masked(p.read_text()) if p.suffix in TEXTS else p.stat().st_size
        for p in sorted(Path(folder).rglob("*"))
        if p.is_file()
    }
    paid = [] if ledger is None else [(e.state, e.note, e.event) for e in ledger.entries()]
    return {
        "ended": ended,
        "printed": (out.getvalue(), err.getvalue(), below),
        "warned": [(w.category.__name__, str(w.message)) for w in warned],
        "logged": log.found,
        "unraised": unraised,
        "left": left,
        "paid": paid,
    }


def _chain(told):
    """Return what a traceback prints of an error and of its causes."""
    yield "".join(told.format_exception_only())
    if told.__cause__ is not None:
        yield from _chain(told.__cause__)
    elif told.__context__ is not None and not told.__suppress_context__:
        yield from _chain(told.__context__)


def masked(text, *, commas=False):
    """Return a text without its numbers: those of a release are released, and others public.

    Args:
        text: what is written or printed.
        commas: whether they stand between numbers, and not within them.
    """
    return WIDTH.sub(" ", re.sub(NUMBER, "#", text if commas else GROUPS.sub("", text)))
