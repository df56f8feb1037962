# SPDX-License-Identifier: Apache-2.0
"""A table of another size than was declared is outside the promise, and is refused."""

from __future__ import annotations

from lownoise.errors import EngineError


def check_rows(size: int | None, count: int) -> None:
    """Refuse a table that has not the public number of rows, without a word on how many it has.

    The rows were counted, so the spend stays reserved: how many there are is public where that is
    what was declared, and nowhere else.

    Args:
        size: the public number of records, None where it is private and part of the release.
        count: the number of rows.

    Raises:
        EngineError: as said.
    """
    if size is not None and count != size:
        raise EngineError(
            f"size={size} is not the number of rows of the table, and a spend on it stays "
            "reserved; where one record changes the number of rows is public: give it exactly",
        )
