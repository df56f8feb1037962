# SPDX-License-Identifier: Apache-2.0
"""Every error that a user can cause, and every notice: one line of field, value and remedy."""

from numbers import Number
from os import fsencode, fspath
from pathlib import Path

from lownoise.errors.credentials import bare, may_hold_a_secret

_LONGEST = 200  # characters of a value in a message
_SHORT = 40  # and of a text that stands where a number should
_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")  # what columns and tables of others answer to
_NAME, _PATH = 255, 4000  # bytes of a file's name, and characters of a path, that systems take


def quoted(value: object) -> str:
    """Return a public value as a message quotes it: short, and in one line.

    Of an array or a table, which may be data given by mistake, it is the type alone; of a text
    nothing that may be a secret.

    Examples:
        >>> quoted("x"), quoted(10**12), quoted(10**9999)
        ("'x'", '1000000000000', 'an integer of more than 200 digits')
        >>> import numpy as np
        >>> quoted(np.zeros(2))
        '<ndarray>'
    """
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:  # beyond 4300 digits Python refuses
        return f"an integer of more than {_LONGEST} digits"
    try:
        if getattr(value, "shape", ()) != () or any(hasattr(value, own) for own in _ARROW):
            return f"<{type(value).__name__}>"
        said = repr(bare(value)) if isinstance(value, str) else bare(repr(value))
        said = " ".join(said.splitlines())
    except Exception:  # noqa: BLE001 (a message must not fail for what it tells of)
        return type(value).__name__
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def quoted_number(value: object) -> str:
    """Return what was given for one number as a message quotes it, where it is not one.

    Only a plain value is quoted, and a text only where it is short: what else somebody gives by
    mistake, a list, a column or a table, may be data, and its type is enough to see the mistake.

    Examples:
        >>> quoted_number("two"), quoted_number(None), quoted_number([41, 52])
        ("'two'", 'None', '<list>')
    """
    if isinstance(value, (str, bytes)) and len(value) > _SHORT:
        return f"<{type(value).__name__}>"
    if value is None or isinstance(value, (str, bytes, Number)):
        return quoted(value)
    return f"<{type(value).__name__}>"


def counted(number: int) -> str:
    """Return a whole number of at least 0 as a message quotes it: 10^k where it is beyond 10^18.

    Examples:
        >>> counted(1234567), counted(2**200)
        ('1,234,567', 'about 10^60')
    """
    if number <= 10**18:
        return f"{number:,}"
    return f"about 10^{int((number.bit_length() - 1) * 0.30102999566398120)}"


class LownoiseError(Exception):
    """The root: catch this to catch every refusal of this library.

    No message has the secret of an address, whatever was given for a path.
    """

    def __init__(self, *given: object) -> None:
        super().__init__(
            *(bare(own, goes_on=True) if isinstance(own, str) else own for own in given)
        )


class DomainError(LownoiseError):
    """A domain that is not a bounded set of finite points."""


class QuestionError(LownoiseError):
    """A question (workload) that does not fit its domain."""


class BudgetError(LownoiseError):
    """A privacy budget outside its range, or of a kind that the request cannot use."""


class PlanError(LownoiseError):
    """A plan that cannot be made or is asked for something that it does not have."""


class TableError(LownoiseError):
    """A table that cannot be read or lacks what the question needs; never about a value in it."""


class EngineError(LownoiseError):
    """A failure after records were read: the spend stays reserved."""


class LedgerError(LownoiseError):
    """A ledger that cannot be used, or a spend that it refuses."""


class OverspentError(LedgerError):
    """A spend that is more than its account has left.

    Args:
        message: what is asked, and what is left.
        reading: what the account adds up, by the name of its reading, the plain one of `ln.Aside`.
    """

    def __init__(self, message: str, reading: str) -> None:
        super().__init__(message)
        self.reading = reading


class SpecError(LownoiseError):
    """A specification file with mistakes; the message lists them all, one a line."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        if len(given) == 1 and isinstance(given[0], str):  # of other lines nothing is left out
            self.args = ("\n".join(bare(own, goes_on=True) for own in given[0].split("\n")),)


class FileError(LownoiseError):
    """A plan or release file that cannot be read or written."""


class StreamError(LownoiseError):
    """A stream that cannot go on as asked: no round is left, or its state is not the last one."""


class ReadingNotice(UserWarning):
    """The first spend of an account fixes its reading, because none was chosen.

    To choose the reading yourself, give `reading=` ("gaussian", "zcdp" or "basic") when you make
    the account: `ln.Ledger.create(path, dataset, budget, reading="zcdp")`.
    """


def path_of(given: object, field: str = "path", error: type[LownoiseError] = FileError) -> Path:
    """Return the path that a user gives, whether or not anything is there.

    Raises:
        error: where it is no text and no `pathlib.Path`, or a text that is no path.

    Examples:
        >>> path_of(Path("plan.json")) == path_of("plan.json")
        True
        >>> path_of(b"plan.json")
        Traceback (most recent call last):
        lownoise.errors.FileError: path=b'plan.json' is no path; give a text or a pathlib.Path
    """
    try:
        own: object = fspath(given)  # type: ignore[call-overload] # as os does
        longest = max(map(len, fsencode(own).split(b"/")))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        own, longest = None, 0
    # messages have it in one line
    if not isinstance(own, str) or "\0" in own or own.splitlines() != [own]:
        raise error(f"{field}={quoted(given)} is no path; give a text or a pathlib.Path")
    if may_hold_a_secret(own):
        raise error(f"{field} may hold a password or a key; give the path of a file without one")
    if longest > _NAME or len(own) > _PATH:
        raise error(f"{field}={quoted(own)} is no path that a system takes; give a shorter one")
    return Path(own)
