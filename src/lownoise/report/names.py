# SPDX-License-Identifier: Apache-2.0
"""Names that users chose, made safe to show; escaping is left to whoever writes them."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # invisible, and needed to spell Persian, Hindi and emoji


def shown(name: str) -> str:
    r"""Return `name` with what cannot be seen, or would reorder its surroundings, as U+FFFD.

    >>> shown("a\nb\x1b[31m\u202e")
    'a�b�[31m�'
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else "\N{REPLACEMENT CHARACTER}" for c in name
    )


def shortened(name: str, width: int) -> str:
    """Return `shown(name)` in at most `width` columns of text, its middle left out.

    >>> shortened("sum(arrival_delay_minutes - center)", 20)
    'sum(arriva…- center)'
    """
    text = shown(name)
    if _width(text) <= width:
        return text
    head, tail = 0, len(text)
    room = width - 1
    while head < tail:
        from_head = head <= len(text) - tail
        room -= _width(text[head] if from_head else text[tail - 1])
        if room < 0:
            break
        head, tail = (head + 1, tail) if from_head else (head, tail - 1)
    return f"{text[:head]}…{text[tail:]}"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
