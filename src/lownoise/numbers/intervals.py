# SPDX-License-Identifier: Apache-2.0
"""Ball arithmetic at a chosen precision, one thread at a time.

python-flint keeps its precision in one place for the whole process. Balls stay sound whatever it
is, but another thread's setting would make them wider, and would be left behind.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = RLock()


def _renew() -> None:
    """Forget, in a process that was forked, what a thread held that is not in it."""
    global _lock  # noqa: PLW0603 (the process has one)
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


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


def power(x: Any, order: float) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return x^order of a ball x ≥ 0, which may hold 0; order > 0."""
    from flint import arb

    if order == int(order):
        return x ** int(order)
    if x > 0:
        return x ** arb(order)
    top = arb(x.upper()) ** arb(order)
    return (top / 2).union(arb(0)).union(top)
