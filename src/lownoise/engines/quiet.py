# SPDX-License-Identifier: Apache-2.0
"""What rows do is not said: they cause no warning, and whatever fails for them fails alike."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.errors import LownoiseError


@contextmanager
def quiet() -> Iterator[None]:
    """Let no value warn, nor fail for what the caller made of warnings: either would tell of it."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def alike(said: str, passing: type[LownoiseError] = EngineError) -> Iterator[None]:
    """Turn whatever fails in the block into one error, which gives no spend back; nothing warns.

    What failed may depend on a row, and its own text may quote one, or how many there are.

    Args:
        said: the error's text, of what is public alone.
        passing: errors that say nothing of rows, and are left as they are.

    Raises:
        EngineError: where anything else fails.

    Examples:
        >>> with alike("table=t.csv could not be read"):
        ...     int("SECRET")
        Traceback (most recent call last):
        lownoise.errors.EngineError: table=t.csv could not be read
    """
    try:
        with quiet():
            yield
    except passing:
        raise
    except Exception:  # noqa: BLE001 (whatever it is, its text may quote a value)
        raise EngineError(said) from None
