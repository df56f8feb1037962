# SPDX-License-Identifier: Apache-2.0
"""Sums of reports and of products of two of their integers, exact; mean and sample covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_EXACT = 2**53  # whole numbers below it are floats
_WIDE = 2**62


def moment_sums(reports: Integers, greatest: int) -> Any:  # noqa: ANN401
    """Return the sums of reports and of their products, shape (r + r(r + 1)/2,).

    Exact: 64-bit integers, or Python's where there are too many reports for those.

    Args:
        reports: shape (n, r).
        greatest: no integer of them is beyond it, of either sign.

    Examples:
        >>> moment_sums(np.array([[1, 2], [3, 4]]), 4)
        array([ 4,  6, 10, 14, 20])
    """
    r, most = reports.shape[1], greatest**2
    upper = np.triu_indices(r)
    total: Any = np.zeros(r + len(upper[0]), dtype=np.int64)
    if most > _EXACT:  # of no fitted grid, but of what a file may hold
        own = reports.astype(object)
        return total + np.concatenate([own.sum(axis=0), (own.T @ own)[upper]])
    if len(reports) * most >= _WIDE:
        total = total.astype(object)
    step = max(_EXACT // most, 1)  # sums of so many products are exact in floats
    for start in range(0, len(reports), step):
        rows = reports[start : start + step].astype(np.float64)
        products = (rows.T @ rows)[upper]
        total = total + np.concatenate([rows.sum(axis=0), products]).astype(np.int64)
    return total


def mean_of(sums: Any, dimension: int, count: int, unit: float) -> Vector:  # noqa: ANN401
    """Return the mean of reports, in units of so many of their integers; shape (r,)."""
    return frozen(np.array([int(own) / count / unit for own in sums[:dimension]]))


def covariance_of(sums: Any, dimension: int, count: int, unit: float) -> Vector:  # noqa: ANN401
    """Return the sample covariance of reports over n, of n ≥ 2 reports; shape (r, r).

    Args:
        sums: what `moment_sums` returned, added up.
        dimension: r.
        count: n.
        unit: as of `mean_of`.
    """
    exact = np.array([int(own) for own in sums], dtype=object)
    upper = np.triu_indices(dimension)
    first = exact[:dimension]
    apart = count * exact[dimension:] - first[upper[0]] * first[upper[1]]  # no number is lost here
    found = np.zeros((dimension, dimension))
    found[upper] = [float(own) / (unit**2 * count**2 * (count - 1)) for own in apart]
    return frozen(np.triu(found) + np.triu(found, 1).T)
