# SPDX-License-Identifier: Apache-2.0
"""Integers that are the rounding of a true Gaussian vector, decided lazily.

For an integer vector q, q + round(Lξ) = round(q + Lξ): what is published is a function of the
continuous Gaussian mechanism's answer, so its exact privacy curve holds, with no loss for being
discrete. The noise is symmetric, so the answer is unbiased.

Each ξ is drawn as 64 bits. A float evaluation with a proved error decides nearly every rounding;
where a half-integer lies within the error, more bits are drawn and ball arithmetic decides. The
work depends on the bits of ξ and on the public L, never on a datum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.samplers.normal_quantile import normals, taylor_table

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

_UNIT = 2.0**-53
_LARGEST = 2.0**51  # below it a float and its neighbours resolve a half
_FIRST_PRECISION = 192
_BLOCK = 1 << 15
_FEW = 1000  # so few are decided by ball arithmetic sooner than the table is built


class Factor(Protocol):
    """A matrix L, as much of it as sampling needs; its entries are exactly the stored floats."""

    @property
    def dimension(self) -> int:
        """The number of rows d."""

    @property
    def sources(self) -> int:
        """The number of columns k."""

    @property
    def longest_row(self) -> int:
        """The most entries in a row: how many roundings `apply` makes in one answer."""

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector, rounded to nearest; shapes (k,) and (d,)."""

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` is not zero, and its entries there; shapes (j,), (j,)."""


def prepare(count: int) -> None:
    """Make ready for `count` numbers that will be drawn a few at a time."""
    if count >= _FEW:
        taylor_table()


def rounded_gaussian(shape: Factor, *, randomness: Randomness) -> Integers:
    """Return round(L·ξ), ξ standard normal, exactly.

    Args:
        shape: the factor L, in grid steps; its entries are taken as the exact dyadic numbers.
        randomness: where the bits come from.

    Returns:
        Integers, shape (d,).

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> rounded_gaussian(DiagonalShape([1000.0, 0.0]), randomness=SimulationRandomness(1))[1]
        np.int64(0)
    """
    words = randomness.words(shape.sources)
    if shape.dimension < _FEW and not taylor_table.cache_info().currsize:
        rows = np.arange(shape.dimension)
        return np.array(_decide(shape, rows, words, randomness), dtype=np.int64)
    z = np.empty(shape.sources)
    error = np.empty(shape.sources)
    for start in range(0, shape.sources, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        z[block], error[block] = normals(words[block])
    _settle(words, z, error)
    value = shape.apply(z)
    error += (shape.longest_row + 3) * _UNIT * np.abs(z)
    with np.errstate(invalid="ignore"):  # 0·∞ where there is no noise: left to the slow path
        doubt = shape.apply_abs(error) * (1 + 2.0**-20)
    nearest = np.rint(value)
    decided = (np.abs(value - nearest) + doubt < 0.5) & (np.abs(value) < _LARGEST)  # noqa: PLR2004
    nearest[~decided] = 0.0
    result = nearest.astype(np.int64)
    open_rows = np.flatnonzero(~decided)
    if open_rows.size:
        result[open_rows] = _decide(shape, open_rows, words, randomness)
    return result


def _settle(words: Words, z: Vector, error: Vector) -> None:
    """Find the normal numbers that `normals` leaves open, in place: one in 2^20.

    Each enters as many answers as its column is long, and all of them would have to be decided one
    by one.
    """
    from flint import arb

    from lownoise.samplers.tail import Tail

    for j in np.flatnonzero(np.isinf(error)).tolist():
        with precision(_FIRST_PRECISION):
            ball = Tail(int(words[j])).ball()
            if ball.is_finite():  # it is not where the bits so far are all 0
                z[j] = float(ball.mid())
                error[j] = up(float((abs(ball - arb(z[j]))).upper()))


def _decide(shape: Factor, rows: Integers, words: Words, randomness: Randomness) -> list[int]:
    """Return the roundings of `rows`, drawing more bits of their ξ until each is sure."""
    from flint import arb

    from lownoise.samplers.tail import Tail

    tails: dict[int, Tail] = {}
    decisions = []
    half = arb(0.5)
    for row in rows.tolist():
        columns, entries = shape.row(row)
        used = [tails.setdefault(j, Tail(int(words[j]))) for j in columns.tolist()]
        bits = _FIRST_PRECISION
        while True:
            with precision(bits):
                total = arb(0)
                for entry, tail in zip(entries.tolist(), used, strict=True):
                    if entry:
                        total += arb(entry) * tail.ball()
                decision = (total + half).floor().unique_fmpz()
            if decision is not None:
                decisions.append(int(decision))
                break
            bits += 64
            for tail in used:
                tail.refine(randomness)
    return decisions
