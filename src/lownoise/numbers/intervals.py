# SPDX-License-Identifier: Apache-2.0
"""Ball arithmetic at a chosen precision, one thread at a time.

python-flint keeps its precision in one place for the whole process. Balls stay sound whatever it
is, but another thread's setting would make them wider, and would be left behind.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute at `bits` of precision inside the block, and restore what was set before."""
    from flint import ctx

    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before
