# SPDX-License-Identifier: Apache-2.0
"""A table of another size than was declared is outside the promise, and is refused."""

from __future__ import annotations

from lownoise.errors import TableError


def check_rows(size: int | None, count: int) -> None:
    """Refuse a table that has not the public number of rows, without a word on how many it has.

    The number of rows is the same in all neighbours of a table where it is declared, and no cell
    of a well-formed file changes it, so the refusal follows from no record and costs nothing.

    Args:
        size: the public number of records, None where it is private and part of the release.
        count: the number of rows.

    Raises:
        TableError: as said.
    """
    if size is not None and count != size:
        raise TableError(
            f"size={size} is not the number of rows of the table; where one record changes the "
            "number of rows is public: give it exactly",
        )
