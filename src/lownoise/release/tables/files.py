# SPDX-License-Identifier: Apache-2.0
"""A release of marginals as a folder: `release.json`, and its integers in `integers.npy`.

The integers are written first, the document last and whole: a folder without it is no release.
"""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError
from lownoise.release import codec
from lownoise.release.answers import Origin
from lownoise.release.tables.codec import terms_from_dict
from lownoise.release.tables.release import TableRelease

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from lownoise.numbers.arrays import Integers
    from lownoise.release.tables.terms import TableTerms

DOCUMENT = "release.json"
INTEGERS = "integers.npy"
_SPARE = "release.json.room"  # holds the room of a document until it is written
_SLACK = 1 << 14  # bytes of a document beside its terms: who paid, when, the digest
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
    folder = Path(path)
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
                f"folder={folder} has no room for {length:,} integers ({error.strerror}); "
                "give a disk that has",
            ) from None
        yield integers
    except BaseException:
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


def save(release: TableRelease, path: str | PathLike[str]) -> None:
    """Write a release to a new folder."""
    with room(path, release.integers.size) as integers:
        integers[:] = release.integers
        seal(replace(release, integers=integers), path)


def seal(release: TableRelease, path: str | PathLike[str]) -> None:
    """Write the document beside integers that are already there: with it the folder is a release.

    Raises:
        FileError: where it cannot be written.
    """
    content = {
        "terms": codec.terms_to_dict(release.terms),
        "integers": {"file": INTEGERS, "sha256": digest(release.integers)},
        **Origin(release.spend, release.created, release.versions).to_dict(),
        "derived": codec.derived(release.terms),
    }
    if isinstance(release.integers, np.memmap):
        release.integers.flush()
    with (Path(path) / INTEGERS).open("rb") as file:  # before the document says that they are there
        os.fsync(file.fileno())
    (Path(path) / _SPARE).unlink(missing_ok=True)  # its room is what the document takes
    codec.write(Path(path) / DOCUMENT, codec.dump("release", content))


def room_for(terms: TableTerms) -> int:
    """Return at least the bytes of a release's document: a disk that fills later loses nothing."""
    return len(codec.plan_document(terms).encode()) + _SLACK


def digest(integers: Integers) -> str:
    """Return the SHA-256 of the integers, little-endian."""
    found = hashlib.sha256()
    step = _PIECE // 8
    for start in range(0, integers.size, step):
        found.update(np.ascontiguousarray(integers[start : start + step], dtype="<i8").data)
    return found.hexdigest()


def read_document(path: str | PathLike[str]) -> str:
    """Return the text of a folder's document.

    Raises:
        FileError: where there is none.
    """
    try:
        return (Path(path) / DOCUMENT).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError(
            f"folder={Path(path)} has no readable {DOCUMENT}; give a folder that a release was "
            "written to, completely",
        ) from None


def load(path: str | PathLike[str]) -> TableRelease:
    """Return the release in a folder, its integers on disk, once they are those that it says."""
    text = read_document(path)

    def read() -> TableRelease:
        fields = codec.load("release", text)
        terms, origin = terms_from_dict(fields["terms"]), Origin.from_dict(fields)
        integers = _integers(Path(path), terms.mechanism.length)
        if digest(integers) != expect_integers(fields):
            raise FileError(
                f"folder={Path(path)} has other integers than were released; "
                "restore integers.npy from a copy",
            )
        return TableRelease(
            terms=terms,
            integers=integers,
            spend=origin.spend,
            created=origin.created,
            versions=origin.versions,
        )

    return codec.guarded(read)


def _integers(folder: Path, length: int) -> Integers:
    try:
        found: Any = np.load(folder / INTEGERS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        found = None
    if found is None or found.dtype != np.int64 or found.shape != (length,):
        raise FileError(
            f"folder={folder} has not the {length:,} integers of its release; "
            "restore integers.npy from a copy",
        )
    whole: Integers = found
    return whole
