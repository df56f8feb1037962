# SPDX-License-Identifier: Apache-2.0
"""Forked children that something befalls at an exact step of lownoise's own code.

For programs of their own, because a process that forks must not have opened a database. Nothing
here waits for a time to pass: a step is counted in the child, and what befalls it happens there.
"""

import json
import os
import resource
import signal
import sqlite3  # which opens nothing, so that no child has to import it
import sys
from pathlib import Path


class Steps:
    """Count the steps of some of lownoise's files, and do something at one of them.

    A step is a call or a return of a function, and every line of those named.

    Args:
        files: what the files' paths within the package begin with.
        lines: the functions in which every line is a step.
        at: the step, from 1, at which to act; None to count only.
        act: what to do there.
    """

    def __init__(self, files, lines, at=None, act=None):
        import lownoise

        self.at, self.act, self.names = at, act, []
        self._files, self._lines = tuple(files), frozenset(lines)
        self._root = str(Path(lownoise.__file__).parent) + os.sep
        self._known = {}

    def _own(self, frame):
        """Return the path within the package of a frame whose steps count, else nothing."""
        name = frame.f_code.co_filename
        if name not in self._known:
            own = name[len(self._root) :] if name.startswith(self._root) else ""
            self._known[name] = own if own.startswith(self._files) else ""
        return self._known[name]

    def _step(self, file, frame, event):
        line = frame.f_lineno if event == "line" else ""
        self.names.append(f"{file}:{frame.f_code.co_name}:{event}{line}")
        if len(self.names) == self.at:
            self.act()

    def __call__(self, frame, event, _arg):
        file = self._own(frame)
        if not file:
            return None
        frame.f_trace_lines = frame.f_code.co_name in self._lines
        self._step(file, frame, event)

        def local(frame, event, _arg):
            if event != "exception":
                self._step(file, frame, event)
            return local

        return local

    def during(self, job):
        """Return the job that does `job` and counts; if nothing is to befall it, it names all."""

        def run(*given):
            sys.settrace(self)
            try:
                job(*given)
            finally:
                sys.settrace(None)
            return None if self.at else self.names

        return run


class Died(BaseException):
    """What ends a process, at a statement."""


class Dying(sqlite3.Connection):
    """A connection that has so many statements left."""

    left = 0

    def execute(self, *given):
        Dying.left -= 1
        if Dying.left == 0:
            raise Died
        return super().execute(*given)


def die():
    """Die as of `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_beyond(size):
    """Die, from now on, within the first write that would make a file longer than `size` bytes.

    The kernel stops the write midway: what fits is written, and the next call of the loop that
    writes the rest is the last.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def child(job):
    """Start `job` in a fork; it is given what says something, and what it returns is said last.

    Returns:
        What `heard` wants.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.close(reader)
        code = 1
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:

            def say(said):
                pipe.write(json.dumps(said) + "\n")
                pipe.flush()

            from lownoise.errors import LownoiseError

            try:
                say(job(say))
                code = 0
            except BaseException as error:  # noqa: BLE001 (the parent judges)
                sys.settrace(None)
                code = 2 if isinstance(error, LownoiseError) else 1
                say(f"{type(error).__name__}: {error}")
            finally:
                os._exit(code)
    os.close(writer)
    return process, os.fdopen(reader, encoding="utf-8")


def heard(started):
    """Wait for a child.

    Returns:
        Its exit status (2 for an error of lownoise's own, negative for a signal), and what it said,
        a whole line each: of one that failed, the error's class and text come last.
    """
    process, reader = started
    with reader:
        said = [json.loads(line) for line in reader if line.endswith("\n")]
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), said


def must(job):
    """Do `job` in a child, which ends well, and return what it said last."""
    code, said = heard(child(job))
    assert code == 0, said
    return said[-1]
