# SPDX-License-Identifier: Apache-2.0
"""A release of marginals as a folder: `release.json`, and its integers in `integers.npy`.

The integers are written first, the document last and whole: a folder without it is no release.
"""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lownoise.errors import FileError, path_of
from lownoise.release.codec import FOLDER, text_in, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from lownoise.numbers.arrays import Integers
    from lownoise.release.terms import Terms

DOCUMENT, INTEGERS = FOLDER
SEVERAL = "together.json"  # of a folder of releases, which names them
_SPARE = "release.json.room"  # holds the room of a document until it is written
SLACK = 1 << 14  # bytes of a document beside its terms: who paid, when, the digest
_PIECE = 1 << 24  # bytes
_MOST_IN_MEMORY = 1 << 28  # integers: two gigabytes


@contextmanager
def room(path: str | PathLike[str] | None, length: int, *, spare: int = 0) -> Iterator[Integers]:
    """Give room for the integers of a release, in memory or in a new folder on disk.

    The room is taken before anything is spent; where the block fails, the folder is removed.

    Args:
        path: the folder, or None.
        length: how many integers.
        spare: bytes that are kept free for the document, on disk.

    Raises:
        FileError: where the folder exists or there is no room for it.
    """
    if path is None:
        if length > _MOST_IN_MEMORY:
            raise FileError(
                f"release of {length:,} integers is too large for the memory; give path= a new "
                "folder for them",
            )
        yield np.zeros(length, dtype=np.int64)
        return
    folder = path_of(path)
    _make(folder)
    try:
        try:
            integers = np.lib.format.open_memmap(
                folder / INTEGERS, mode="w+", dtype=np.int64, shape=(length,)
            )
            _fill(folder / INTEGERS)
            if spare:
                with (folder / _SPARE).open("xb") as file:
                    file.write(bytes(spare))
                    os.fsync(file.fileno())
        except OSError as error:
            raise FileError(
                f"folder={folder} has no room for {length:,} integers ({error.strerror or error}); "
                "give a disk that has",
            ) from None
        yield integers
    except BaseException:
        with suppress(OSError):  # of a disk that is lost
            if not (folder / DOCUMENT).exists():  # what has its document is a release, and paid for
                _remove(folder)
        raise


def _fill(file: Path) -> None:
    """Take the disk space of a file now: a full disk must show here, not when it is written."""
    with file.open("r+b") as opened:
        length = opened.seek(0, os.SEEK_END)
        try:
            os.posix_fallocate(opened.fileno(), 0, length)
        except (AttributeError, OSError) as error:  # not every system knows how
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                raise
            data = np.lib.format.open_memmap(file, mode="r").offset
            for start in range(opened.seek(data), length, _PIECE):
                opened.write(bytes(min(_PIECE, length - start)))
            opened.flush()
            os.fsync(opened.fileno())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise FileError(f"folder={folder} exists; give a new folder") from None
    except OSError as error:
        raise FileError(
            f"folder={folder} cannot be made ({error.strerror}); give another",
        ) from None


def _remove(folder: Path) -> None:
    for name in (INTEGERS, _SPARE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # something else lies there
        folder.rmdir()


def expect_integers(fields: dict[str, Any]) -> str:
    """Return the SHA-256 that a document states of its integers.

    Raises:
        FileError: where a field is not what `seal` writes.
    """
    held = fields["integers"]
    if held["file"] != INTEGERS or not isinstance(held["sha256"], str):
        raise FileError("release states a field that is no text")
    return held["sha256"]


def save(document: Callable[[Any], str], integers: Integers, path: str | PathLike[str]) -> None:
    """Write a release to a new folder.

    Args:
        document: the text of its document, of what that says of the integers.
        integers: the release itself.
        path: the new folder.

    Raises:
        FileError: where it exists or cannot be written.
    """
    with room(path, integers.size) as own:
        own[:] = integers
        seal(document, own, path)


def seal(document: Callable[[Any], str], integers: Integers, path: str | PathLike[str]) -> None:
    """Write the document beside integers that are already there: with it the folder is a release.

    Args:
        document: as of `save`.
        integers: the release itself, which lies in the folder.
        path: the folder.

    Raises:
        FileError: where it cannot be written.
    """
    text = document({"file": INTEGERS, "sha256": digest(integers)})
    try:
        if isinstance(integers, np.memmap):
            integers.flush()
        with (Path(path) / INTEGERS).open("rb") as file:  # before the document says they are there
            os.fsync(file.fileno())
        (Path(path) / _SPARE).unlink(missing_ok=True)  # its room is what the document takes
    except OSError as error:
        raise FileError(
            f"folder={Path(path)} cannot be written ({error.strerror}); give another disk"
        ) from None
    write(Path(path) / DOCUMENT, text)


def digest(integers: Integers) -> str:
    """Return the SHA-256 of the integers, little-endian."""
    found = hashlib.sha256()
    step = _PIECE // 8
    for start in range(0, integers.size, step):
        found.update(np.ascontiguousarray(integers[start : start + step], dtype="<i8").data)
    return found.hexdigest()


def read_document(path: str | PathLike[str]) -> str:
    """Return the text of a document, or of the one in a folder.

    Raises:
        FileError: where there is none.
    """
    own = document_at(path)
    try:
        text = text_in(own)
    except (OSError, UnicodeDecodeError):
        folder = several = False
        with suppress(OSError):  # which may not be looked into
            folder, several = Path(path).is_dir(), (Path(path) / SEVERAL).exists()
        if several:
            said = (
                f"has releases of several questions; give one of those that {SEVERAL} names, or "
                "read all with ln.JointRelease.load"
            )
        elif not folder:
            raise FileError(
                f"file={Path(path)} cannot be read; give one that save wrote, or a release's folder"
            ) from None
        else:
            said = (
                f"has no readable {DOCUMENT}; give a folder that a release was written to, "
                "completely"
            )
        raise FileError(f"folder={Path(path)} {said}") from None
    if not text.lstrip().startswith(("{", "[")):
        raise FileError(f"file={own} is not JSON; give a plan.json or release.json that save wrote")
    return text


def document_at(path: str | PathLike[str]) -> Path:
    """Return where the document of a release lies: the file, or the one in the folder."""
    own = path_of(path)
    with suppress(OSError):  # of a folder that may not be looked into: nor can be what is in it
        return own / DOCUMENT if own.is_dir() or not own.exists() else own
    return own


def integers_of(folder: Path, length: int, fields: dict[str, Any]) -> Integers:
    """Return the integers of a release on disk, once they are those that its document says.

    Args:
        folder: where they lie.
        length: how many there are.
        fields: of the document.

    Raises:
        FileError: where they are not.
    """
    found = _integers(folder, length)
    if digest(found) != expect_integers(fields):
        raise FileError(
            f"folder={folder} has other integers than were released; "
            "restore integers.npy from a copy",
        )
    return found


def _integers(folder: Path, length: int) -> Integers:
    own, found = folder / INTEGERS, cast("Any", None)
    with suppress(OSError, ValueError, EOFError):
        if own.is_file():  # and no pipe
            found = np.load(own, mmap_mode="r", allow_pickle=False)
    if found is None or found.dtype != np.int64 or found.shape != (length,):
        raise FileError(
            f"folder={folder} has not the {length:,} integers of its release; "
            "restore integers.npy from a copy",
        )
    counted: Integers = found
    return counted


def released_integers(terms: Terms, fields: dict[str, Any], path: Path | None) -> Any:  # noqa: ANN401
    """Return the integers of a document: in it, or where they are an array in its folder.

    Args:
        terms: of the release.
        fields: the document.
        path: its folder; None where there is none.

    Raises:
        FileError: where they are not there, or not as they are written.
    """
    length = terms.mechanism.length
    if terms.view.folder:
        if path is None:
            raise FileError("a release of marginals is a folder; use Release.load(folder)")
        return integers_of(path, length, fields)
    found = tuple(int(k) for k in fields["integers"])
    if fields["integers"] != [str(k) for k in found] or len(found) != length:
        raise FileError(f"integers are not {length:,} whole numbers, as they are written")
    terms.proof.check_integers(found)
    return found
