# SPDX-License-Identifier: Apache-2.0
"""Plans and releases as JSON documents: versioned, exact, and without a word that is not data.

A file holds what was chosen (`terms`) and, for its readers, what follows from it (`derived`).
Reading takes the first and computes the second again. Devices read documents too, so what takes
long to import is imported where it is used.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from lownoise.errors import FileError, LownoiseError, path_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from pathlib import Path

VERSION = 2  # of what is written; all from 1 on are read, see docs/file-versions.md
LARGEST = 1 << 21  # numbers of a stream that are read from a file that may be anybody's
UNIT = "unit"  # what makes terms of version 3: whose rows are hidden together
_OF_UNITS, _EXCHANGED = 3, 4  # and of version 4, where these become any others
_CLIPPED = 5  # and of version 5, where what their rows add up to is clipped
_SUMMED = 6  # and of version 6, with units or without, where odd sums of signs prove noise
_NEWEST = {"plan": _SUMMED, "release": _SUMMED}
_FORMAT = re.compile(r"lownoise\.([a-z]+)/([1-9][0-9]{0,8})")
_HEAD = 1 << 16  # bytes of a file that say what it is
_MOST_BYTES = 1 << 31  # of a document
_RELEASED, _RELEASE = re.compile(rb'"format":\s*"lownoise\.release/'), "a release"
_DATABASE = b"SQLite format 3\0"
FOLDER = "release.json", "integers.npy"  # what is in a release that is a folder
_READERS = {  # what a document of a kind is, for who has taken it for another
    "plan": "a plan; read it with ln.Plan.load",
    "release": "a release; read it with ln.Release.load",
    "local": "a local plan; read its text with ln.LocalPlan.from_json",
    "together": "of several questions; read its folder with ln.JointRelease.load, or JointPlan",
}
T = TypeVar("T")
_DAMAGE = (
    LownoiseError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


def dump(kind: str, content: dict[str, Any]) -> str:
    """Return `content` as a document of `kind` ("plan" or "release")."""
    version = _of_terms(content.get("terms", {})) if kind in _NEWEST else VERSION
    document = {"format": f"lownoise.{kind}/{version}", **content}
    document["digest"] = digest(document)
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _of_terms(terms: dict[str, Any]) -> int:
    """Return the version of a document with these terms."""
    noise = terms.get("noise")
    for own in (noise, noise.get("values")) if isinstance(noise, dict) else ():
        proof = own.get("reach") if isinstance(own, dict) else None
        if isinstance(proof, list) and any(isinstance(value, list) for value in proof):
            return _SUMMED
    if UNIT not in terms:
        return VERSION
    if isinstance(terms[UNIT], dict) and "total" in terms[UNIT]:
        return _CLIPPED
    return _EXCHANGED if terms.get("relation") == "substitute" else _OF_UNITS


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of the document without its digest: a guard against accidents."""
    content = {k: v for k, v in document.items() if k != "digest"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def load(kind: str, text: str) -> dict[str, Any]:
    """Return the document.

    Raises:
        FileError: where it is no document of this kind, or of a newer version.
    """
    document = parsed(text)
    expect_format(document, (kind,))
    return dict(document)


def parsed(text: str) -> Any:  # noqa: ANN401 (JSON)
    """Return JSON values of a text that every reader of JSON reads alike.

    Where a name stands twice readers disagree on which one holds.

    Raises:
        FileError: where the text is no JSON, or a name stands twice in it.

    Examples:
        >>> parsed('{"rho": 0.5, "rho": 9}')
        Traceback (most recent call last):
        lownoise.errors.FileError: name='rho' stands twice; use an unedited file
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise FileError("it is not JSON; give the text of a plan.json or release.json") from None
    except TypeError:
        raise FileError(
            f"text={type(text).__name__} is no text; give what a plan.json or release.json holds, "
            "or its path to `load`"
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise FileError(f"name={quoted(name)} stands twice; use an unedited file")
        found[name] = value
    return found


_ROOM = ("terms.evidence", "witness")  # what it proves `verify` checks: see decision 0030
_CONTENTS = frozenset({"float64", "int64"})  # compressed, not everywhere to the same bytes


def expect_meant(stated: object, meant: object, field: str = "terms") -> None:
    """Refuse a document that says more than was read from it, or says it as another value.

    Args:
        stated: JSON values of a document.
        meant: what this version writes for what it read.
        field: what they are called.

    Raises:
        FileError: where a field is stated that means nothing, or a value is not as it is written.
    """
    if isinstance(stated, dict) and isinstance(meant, dict):
        for name, value in stated.items():
            if name in meant and name not in _CONTENTS:
                expect_meant(value, meant[name], f"{field}.{name}")
            elif name not in meant and (field, name) != _ROOM:
                raise FileError(f"{field}.{quoted(name)} says something that it does not mean")
    elif isinstance(stated, list) and isinstance(meant, list) and len(stated) == len(meant):
        for own, other in zip(stated, meant, strict=True):
            expect_meant(own, other, field)
    elif stated != meant or type(stated) is not type(meant):
        raise FileError(f"{field}={quoted(stated)} says something that it does not mean")


def expect_format(document: object, kinds: tuple[str, ...], newest: int | None = None) -> None:
    """Refuse what is no document of these kinds, or of a version beyond the newest that is read.

    Raises:
        FileError: as said.
    """
    found = document.get("format") if isinstance(document, dict) else None
    stated = _FORMAT.fullmatch(found) if isinstance(found, str) else None
    kind = kinds[0] if stated is None else stated[1]
    newest = newest or _NEWEST.get(kind, VERSION)
    if stated is None or stated[1] not in kinds:
        wanted = " or ".join(f"lownoise.{kind}/{newest}" for kind in kinds)
        own = _READERS.get(stated[1]) if stated is not None else None
        remedy = f"this is {own}" if own else "give a file of that kind"
        raise FileError(f"format={quoted(found)} is not {wanted}; {remedy}")
    if int(stated[2]) > newest:
        raise FileError(
            f"format={quoted(found)} is newer than this lownoise, which reads up to version "
            f"{newest}; upgrade lownoise",
        )
    terms = document.get("terms") if isinstance(document, dict) and kind in _NEWEST else None
    if isinstance(terms, dict) and max(int(stated[2]), VERSION) != _of_terms(terms):
        raise FileError(f"format={quoted(found)} does not fit terms; use an unedited file")


def guarded(read: Callable[[], T]) -> T:
    """Return read(), with every way to be malformed turned into one clear error.

    Raises:
        FileError: where the document is damaged.
    """
    try:
        with np.errstate(all="ignore"):  # what overflows is refused, not warned about
            return read()
    except FileError:
        raise
    except _DAMAGE as error:
        reason = str(error) if isinstance(error, LownoiseError) else "a field is missing or wrong"
        raise FileError(f"the document is damaged: {reason}; use an unedited file") from None


def write(path: str | PathLike[str], text: str, *, overwrite: bool | None = None) -> None:
    """Write `text` to `path`, all of it or nothing.

    Args:
        path: of the file.
        text: what it is to hold.
        overwrite: as of `drafted`.

    Raises:
        FileError: as `drafted` does.
    """
    with drafted(path, overwrite=overwrite) as draft:
        draft.write(text.encode())


@contextmanager
def drafted(path: str | PathLike[str], *, overwrite: bool | None = None) -> Iterator[IO[bytes]]:
    """Give a file beside `path` that takes its place at the end, or leaves nothing where it fails.

    A release, a ledger or a stream that stands there cannot be made again, and is not replaced.

    Args:
        path: of the file.
        overwrite: whether a release that is there may be replaced; None where nobody was asked.

    Raises:
        FileError: where it is no path, the folder cannot be written, or something else is lost.
    """
    own = path_of(path, "file")
    # whose mode is that of new files, by the umask
    beside = own.parent / f".{own.name}.{secrets.token_hex(8)}"
    try:
        with beside.open("xb") as draft:
            try:
                yield draft
                draft.flush()
                os.fsync(draft.fileno())
                _take_place(beside, own, overwrite=overwrite)
                durable(own.parent)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise FileError(
            f"file={own} cannot be written ({error.strerror}); give a folder that can be written",
        ) from None


def durable(folder: Path) -> None:
    """Keep the names of the files in a folder through a loss of power, where a system can.

    It cannot where a folder may be written in but not read, and on some disks of networks.
    """
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL, errno.ENOTSUP):
            raise


def _take_place(draft: Path, own: Path, *, overwrite: bool | None) -> None:
    """Give a draft its name, in the place of what can be made again alone."""
    try:
        os.link(draft, own)  # of two that write at once the second finds the first
    except OSError:  # something is there, or the disk has no links
        with _alone(own.parent):
            kept = _lost(own)
            may = kept is None or (overwrite and kept == _RELEASE)
            if not may and draft.read_bytes() != own.read_bytes():
                also = ", or overwrite=True" if overwrite is False and kept == _RELEASE else ""
                raise FileError(
                    f"file={own} is {kept}, which cannot be made again; give a new path{also}"
                ) from None
            draft.replace(own)
    else:
        draft.unlink()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one program at a time replace a file of a folder, where the system locks folders."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # Windows, and some shared disks
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _lost(own: Path) -> str | None:
    """Return what would be lost with a file, None where it can be made again or is not ours."""
    if not own.is_file():
        return None
    if own.name.lower() in FOLDER and all((own.parent / name).is_file() for name in FOLDER):
        return "of a release's folder"
    with own.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(_DATABASE):
        return "a ledger, a stream or another database"
    return _RELEASE if _RELEASED.search(head) else None


def text_in(file: Path, *, piped: bool = False) -> str:
    """Return the text of a file, which may be anybody's.

    A folder may have a pipe in it that nobody writes to, a device without an end, or a file of more
    zeros than there is memory, which takes no room on a disk.

    Args:
        file: where it is.
        piped: whether it may be a pipe, as one that the user names.

    Raises:
        OSError, UnicodeDecodeError: where it is another, has over 2^31 bytes, or is no text.
    """
    own = file.stat()
    read = stat.S_ISREG(own.st_mode) or (piped and stat.S_ISFIFO(own.st_mode))
    if not read or own.st_size > _MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return file.read_text(encoding="utf-8")


@final
@dataclass(frozen=True)
class Spend:
    """Where a release was paid: the ledger's dataset and the number of the entry.

    Where releases of a plan share the entry, `use` says which of them it is, from 1.
    """

    dataset: str
    number: int
    use: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        own = {"dataset": self.dataset, "number": self.number}
        return own if self.use is None else {**own, "use": self.use}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Spend:
        """Return what `to_dict` described.

        Raises:
            FileError: where a field is not what `to_dict` writes.
        """
        if not {"dataset", "number"} <= fields.keys() <= {"dataset", "number", "use"}:
            raise FileError("spend has other fields than a release writes")
        found = cls(**fields)
        numbers = [found.number, *([found.use] if "use" in fields else [])]
        if not isinstance(found.dataset, str):
            raise FileError("release states a field that is no text")
        if any(type(number) is not int or number < 1 for number in numbers):
            raise FileError("spend.number is no number of an entry")
        return found


@final
@dataclass(frozen=True)
class Origin:
    """Who paid for a release (None where nothing was recorded), when, and what made it."""

    spend: Spend | None
    created: str
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        spend = self.spend and self.spend.to_dict()
        return {"spend": spend, "created": self.created, "versions": self.versions}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Origin:
        """Return what `to_dict` described, checked.

        Raises:
            FileError: where a field is not what `to_dict` writes.
        """
        paid, versions = fields["spend"], fields["versions"]
        spend = None if paid is None else Spend.from_dict(paid)
        texts = [fields["created"], *versions, *versions.values()]
        if not all(isinstance(text, str) for text in texts):
            raise FileError("release states a field that is no text")
        return cls(spend, fields["created"], dict(versions))


def now() -> str:
    """Return the time, UTC, ISO 8601."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions that a release is made with."""
    import platform
    from importlib.metadata import version

    from lownoise import __version__

    return {
        "lownoise": __version__,
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }
