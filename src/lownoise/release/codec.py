# SPDX-License-Identifier: Apache-2.0
"""Plans and releases as JSON documents: versioned, exact, and without a word that is not data.

A file holds what was chosen (`terms`) and, for its readers, what follows from it (`derived`).
Reading takes the first and computes the second again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lownoise.errors import FileError, LownoiseError, told

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 2  # of what is written; all from 1 on are read, see docs/file-versions.md
_FORMAT = re.compile(r"lownoise\.([a-z]+)/([1-9][0-9]{0,8})")
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
    document = {"format": f"lownoise.{kind}/{VERSION}", **content}
    document["digest"] = digest(document)
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


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
    document = json.loads(text)
    expect_format(document, (kind,))
    return dict(document)


def expect_format(document: object, kinds: tuple[str, ...]) -> None:
    """Refuse what is no document of these kinds, or of a newer version.

    Raises:
        FileError: as said.
    """
    found = document.get("format") if isinstance(document, dict) else None
    stated = _FORMAT.fullmatch(found) if isinstance(found, str) else None
    if stated is None or stated[1] not in kinds:
        wanted = " or ".join(f"lownoise.{kind}/{VERSION}" for kind in kinds)
        raise FileError(f"format={told(found)} is not {wanted}; give a file of that kind")
    if int(stated[2]) > VERSION:
        raise FileError(
            f"format={told(found)} is newer than this lownoise, which reads up to version "
            f"{VERSION}; upgrade lownoise",
        )


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


def write(path: Path, text: str) -> None:
    """Write `text` to `path`, all of it or nothing.

    Raises:
        FileError: where the folder cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
        ) as draft:
            try:
                draft.write(text)
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).replace(path)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise FileError(
            f"file={path} cannot be written ({error.strerror}); give a folder that can be written",
        ) from None
