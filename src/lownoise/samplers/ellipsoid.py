# SPDX-License-Identifier: Apache-2.0
"""Integers that are the rounding of random points of ellipsoids, many at once, decided lazily.

The first d coordinates of a uniform point of the sphere in d + 2 dimensions are uniform in the ball
of d (Archimedes; Barthe, Guédon, Mendelson & Naor 2005 with r = 2, where g² + h² of two standard
normal numbers is twice an exponential one). So a point of the ball is g/√T for d + 2 standard
normal numbers and T the sum of all their squares.

Floats with a proved error decide nearly every rounding; where a half-integer lies within it, more
bits of that point's numbers are drawn and ball arithmetic decides. The work depends on the bits and
on the public ellipsoid, never on a datum.

The noise of the norm whose unit ball is the ellipsoid is such a point times a number of the law
Gamma(d + 1, 1) (001, Remark 4.2), which half the squares' sum of 2d + 2 more normal numbers is.

The error, u = 2^−53: `normals` bounds |z − g| by e, so z² is off by 2|z|e + e² + uz², and a sum of
k squares by halves adds ⌈log₂ k⌉ roundings to each. T is off by a part τ of the sum of these, and
1/√T by little more than τ/2 where τ ≤ 2^−20. The length (two), the root, the quotient and the
products make seven roundings more at most; a row of F makes one an entry.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.numbers.normals import NormalVector, normals, settle
from lownoise.samplers.lazy import Composed, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

_UNIT = 2.0**-53
_LARGEST = 2.0**51  # below it a float and its neighbours resolve a half
_LEAST = 2.0**-500  # of factors and lengths: products of what is less may lose bits
_OUTWARD = 1 + 2.0**-18  # what the bounds are off by themselves
_LOOSE = 2.0**-20  # of sums of squares: where they are known no better, floats decide nothing
_BLOCK = 1 << 15
_ROUNDINGS = 7
_WIDE = 62  # bits


def rounded_points(
    factor: Vector,
    lengths: Vector,
    exact: Callable[[int], Any],
    *,
    randomness: Randomness,
    gamma: bool = False,
) -> Integers:
    """Return the nearest integers to length·F·u, u uniform in the Euclidean ball.

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal. Exactly the stored floats.
        lengths: one a point, above 0, each within two parts in 2^53 of the true one; shape (n,).
        exact: the true length of a point, by its number, at the precision that is set.
        randomness: where the bits come from.
        gamma: whether each is to be multiplied by a number of its own of the law Gamma(d + 1, 1).

    Returns:
        Integers, shape (n, d); Python's where some are beyond 64 bits.

    Examples:
        >>> from flint import arb
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> lengths, source = np.full(1000, 40.0), SimulationRandomness(1)
        >>> found = rounded_points(np.ones(2), lengths, lambda _: arb(40), randomness=source)
        >>> found.shape, int(np.max(np.hypot(*found.T))) <= 40
        ((1000, 2), True)
    """
    size = len(factor)
    width = size + 2 + gamma * 2 * (size + 1)
    step = max(_BLOCK // width, 1)  # blocks that stay in the cache
    found = [np.zeros((0, size), dtype=np.int64)]
    for start in range(0, len(lengths), step):
        own = lengths[start : start + step]
        words = randomness.words(len(own) * width).reshape(-1, width)
        value, doubt = _in_floats(factor, own, words)
        nearest = np.rint(value)
        with np.errstate(invalid="ignore"):  # of what floats cannot hold, left to the slow path
            decided = (np.abs(value - nearest) + doubt < 0.5) & (np.abs(value) < _LARGEST)  # noqa: PLR2004
        sure = np.all(decided, axis=1)
        block: Integers = np.where(sure[:, None], nearest, 0.0).astype(np.int64)
        undecided = np.flatnonzero(np.logical_not(sure)).tolist()
        settled = [
            _settled(factor, partial(exact, start + k), words[k], randomness) for k in undecided
        ]
        if any(abs(number) >> _WIDE for row in settled for number in row):
            block = block.astype(object)
        if undecided:
            block[undecided] = settled
        found.append(block)
    return np.concatenate(found)


def _in_floats(factor: Vector, lengths: Vector, words: Words) -> tuple[Vector, Vector]:
    """Return length·F·u, and how far off each can be, infinite where floats say nothing.

    Args:
        factor: as of `rounded_points`.
        lengths: likewise, shape (n,).
        words: a row a point, shape (n, k).

    Returns:
        Numbers and bounds, shapes (n, d): what a row's words begin, however they go on, is within.
    """
    size = len(factor)
    flat_z, flat_error = normals(words.ravel())
    settle(words.ravel(), flat_z, flat_error)
    z, error = flat_z.reshape(words.shape), flat_error.reshape(words.shape)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # left to the slow path
        square, off = z * z, (2 * np.abs(z) + error) * error
        width = words.shape[1]
        part = [slice(size + 2), slice(size + 2, width)][: 1 if width == size + 2 else 2]
        sums = [_by_halves(square[:, own]) for own in part]
        loose = [
            _by_halves(off[:, own]) / own_sum + (width.bit_length() + 1) * _UNIT
            for own, own_sum in zip(part, sums, strict=True)
        ]
        scale = lengths / np.sqrt(sums[0])
        relative = loose[0] / 2 + _ROUNDINGS * _UNIT
        for gamma, its in zip(sums[1:], loose[1:], strict=True):
            scale *= gamma / 2
            relative += its
        point, magnitude = z[:, :size], np.abs(z[:, :size])
        if factor.ndim == 1:
            value = point * factor * scale[:, None]
            doubt = (error[:, :size] + magnitude * relative[:, None]) * np.abs(factor)
        else:
            value = point @ factor.T * scale[:, None]
            relative += size * _UNIT
            doubt = (error[:, :size] + magnitude * relative[:, None]) @ np.abs(factor).T
        doubt *= scale[:, None] * _OUTWARD
        unknown = ~((np.max(np.stack(loose), axis=0) < _LOOSE) & (scale > _LEAST))
    if np.any((np.abs(factor) < _LEAST) & (factor != 0)):
        unknown[:] = True
    return value, np.where(unknown[:, None] | np.isnan(doubt), np.inf, doubt)


def _by_halves(rows: Vector) -> Vector:
    """Return the sums of rows, shape (n, k), in ⌈log₂ k⌉ roundings each."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        folded = rows[:, :half] + rows[:, half : 2 * half]
        odd = rows.shape[1] % 2
        rows = np.concatenate([folded, rows[:, 2 * half :]], axis=1) if odd else folded
    return np.asarray(rows[:, 0])


def _settled(
    factor: Vector, length: Callable[[], Any], words: Words, randomness: Randomness
) -> list[int]:
    """Return the rounding of one point of which 64 bits a number are known, drawing more."""
    from flint import arb, arb_mat

    size = len(factor)

    def formula(balls: list[Any]) -> list[Any]:
        squares = [ball * ball for ball in balls]
        scale = length() * sum(squares[: size + 2], arb(0)).rsqrt()
        if len(balls) > size + 2:
            scale *= sum(squares[size + 2 :], arb(0)) / 2
        if factor.ndim == 1:
            turned = [arb(f) * g for f, g in zip(factor.tolist(), balls[:size], strict=True)]
        else:
            matrix = arb_mat(size, size, [arb(f) for f in factor.ravel().tolist()])
            column = matrix * arb_mat(size, 1, balls[:size])
            turned = [column[i, 0] for i in range(size)]
        return [scale * own for own in turned]

    return rounded(Composed(size, (NormalVector(words),), formula), randomness=randomness)
