# SPDX-License-Identifier: Apache-2.0
"""Work that is done in as many threads as there are processors, and comes back in its order."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], ahead: int = 1) -> Iterator[R]:
    """Yield what is made of each item, in order; few more than are being made are kept.

    One item alone is the calling thread's. What is quiet there is quiet in all threads.

    Args:
        work: what is made of one, in any thread.
        items: taken one by one, in the calling thread.
        ahead: how many more are kept than there are threads. While one takes long, the others make
            these, and then wait.

    Examples:
        >>> list(in_order(abs, [3, -4, 5]))
        [3, 4, 5]
    """
    rest = iter(items)
    first = list(islice(rest, 2))
    threads = processors()
    if len(first) < 2 or threads == 1:  # noqa: PLR2004
        yield from map(work, chain(first, rest))
        return
    waiting: deque[Any] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in chain(first, rest):
            waiting.append(pool.submit(copy_context().run, work, item))
            if len(waiting) >= threads + ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
