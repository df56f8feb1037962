# SPDX-License-Identifier: Apache-2.0
"""What callers give as features and targets, as floats; a value is never refused for what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.errors import StreamError, TableError
from lownoise.streams.values import values_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """How records are read.

    Args:
        features: how many columns a table of them has.
        feature_radius: what is farther out is scaled to it; None leaves features as they are.
        target_bound: what is beyond is clipped to it; None leaves targets as they are.
        intercept: whether a 1 stands after the features.
    """

    features: int
    feature_radius: float | None
    target_bound: float | None
    intercept: bool

    def rows(self, X: object) -> Vector:
        """Return features as the loss sees them, shape (n, k), NaN where one is missing.

        Args:
            X: an array, a pandas or polars frame, an Arrow table, or lists, a row a record.

        Raises:
            TableError: where it is no table of so many columns.
        """
        try:
            own = _numbers(X, self.features)
        except StreamError:
            raise TableError(
                f"X is no table of features={self.features} columns of numbers; give a row a record"
            ) from None
        with np.errstate(all="ignore"):
            if self.feature_radius is not None:
                own = _within(own, self.feature_radius)
        if self.intercept:
            own = np.hstack([own, np.ones((len(own), 1))])
        return own

    def targets(self, y: object, count: int) -> Vector:
        """Return targets, shape (n,), NaN where one is missing.

        Args:
            y: an array, a column or a list of numbers, one a record.
            count: n.

        Raises:
            TableError: where it is no list of so many numbers.
        """
        try:
            own = _numbers(y, 1)[:, 0]
        except StreamError:
            raise TableError("y is no list of numbers; give one target a record") from None
        if len(own) != count:
            raise TableError(f"y has {len(own):,} targets for {count:,} rows; give one each")
        bound = self.target_bound
        return own if bound is None else np.clip(own, -bound, bound)


def _within(rows: Vector, radius: float) -> Vector:
    """Return rows, the longer ones scaled to the radius, but for rounding; each on its own."""
    top = np.max(np.abs(rows), axis=1)
    parts = rows / np.where(top > 0, top, 1.0)[:, None]
    length = np.sqrt(np.einsum("ij,ij->i", parts, parts))
    longer = top * length > radius
    return np.asarray(np.where(longer[:, None], parts * (radius / length)[:, None], rows))


def _numbers(values: object, columns: int) -> Vector:
    """Return a table as floats, columns of numbers at once and others item by item."""
    with quiet():
        try:
            found = _fast(values, columns)
        except Exception:  # noqa: BLE001 (one value may be why a column is not had at once)
            found = None
    return values_of(values, columns)[0] if found is None else found


def _fast(values: Any, columns: int) -> Vector | None:  # noqa: ANN401
    """Return the numbers of a frame or of a column of one, None where there are others in it."""
    if isinstance(values, np.ndarray):
        return None
    if hasattr(values, "iloc") and values.ndim > 1:
        parts = [values.iloc[:, j] for j in range(values.shape[1])]
    elif hasattr(values, "get_columns"):
        parts = list(values.get_columns())
    elif hasattr(values, "schema") and hasattr(values, "columns"):
        parts = list(values.columns)
    elif hasattr(values, "to_numpy"):
        parts = [values]
    else:
        return None
    if len(parts) != columns:
        return None
    arrays = [np.asarray(part.to_numpy()) for part in parts]
    if not all(own.ndim == 1 and own.dtype.kind in "biuf" for own in arrays):
        return None
    return np.stack([own.astype(np.float64) for own in arrays], axis=1)
