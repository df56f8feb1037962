# SPDX-License-Identifier: Apache-2.0
"""The reference engine: a float array, Python's integers; the others are judged against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.engines.query import Totals

if TYPE_CHECKING:
    from lownoise.engines.query import TotalsQuery
    from lownoise.numbers.arrays import Vector


def totals(query: TotalsQuery, records: Vector) -> Totals:
    """Return the totals over `records`, shape (n, d), in the query's column order; NaN is missing.

    Examples:
        >>> from lownoise.engines.query import Coding, TotalsQuery
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=one, center=0 * one,
        ...                 missing=0 * one, step=one / 4)
        >>> totals(TotalsQuery(coding, drops_missing=False), np.array([[0.5], [2.0], [np.nan]]))
        Totals(count=3, sums=(6,))
    """
    rows = records[~np.isnan(records).any(axis=1)] if query.drops_missing else records
    codes = query.coding.encode(rows)
    return Totals(len(rows), tuple(sum(column) for column in codes.T.tolist()))
