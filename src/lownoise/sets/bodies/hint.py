# SPDX-License-Identifier: Apache-2.0
"""The coefficients that prove the least bound on how far an image of a unit body reaches.

max ‖X·x‖² over B is at most min over y of energy(y)·λ, λ the largest eigenvalue of X diag(1/y) Xᵀ.
That is the greatest, over mixtures V of directions, of min over y of Σ gⱼ/yⱼ, where g = diag(XᵀVX)
and energy(y) ≤ 1: `spread` solves it, and it is concave in V. Conditional gradients mix in the
eigenvector of the largest eigenvalue, as much of it as helps most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_ROUNDS = 60
_NEAR = 1e-9
_LEAST = 1e-24  # of the greatest gain
_SHARES = 1 / (2.0 ** np.arange(0, 12))


def far_hint(image: Vector, base: AbstractUnitBall) -> Vector:
    """Return y > 0, shape (k,), for `ImageBody.hinted`; any y is a proof, this one a good one.

    Args:
        image: X, shape (r, k), not all 0.
        base: B, k coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> y = far_hint(np.array([[1.0, 1.0], [1.0, -1.0]]), NormBall(2, np.inf))
        >>> (y / y.sum()).round(6)
        array([0.5, 0.5])
    """
    part = image / np.max(np.abs(image))
    mixed = np.eye(len(part)) / len(part)
    best, least = np.ones(base.dimension), np.inf
    value, y = _inner(part, mixed, base)
    for _ in range(_ROUNDS):
        sizes, axes = np.linalg.eigh((part / y) @ part.T)
        if sizes[-1] < least:
            best, least = y, float(sizes[-1])
        if least <= value * (1 + _NEAR):
            break
        top = np.outer(axes[:, -1], axes[:, -1])
        share, found, reached = _shared(part, mixed, top, base)
        if found <= value:
            break
        value, y = found, reached
        mixed = (1 - share) * mixed + share * top
    return frozen(best)


def _shared(
    part: Vector, mixed: Vector, top: Vector, base: AbstractUnitBall
) -> tuple[float, float, Vector]:
    """Return the best share of `top` in the mixture, and what `_inner` says of it."""
    best = -np.inf
    for t in _SHARES:
        found, y = _inner(part, (1 - t) * mixed + t * top, base)
        if found <= best:  # concave in t: past the best it only falls
            break
        best, share, reached = found, float(t), y
    return share, best, reached


def _inner(part: Vector, mixed: Vector, base: AbstractUnitBall) -> tuple[float, Vector]:
    """Return min over y of Σ g/y under energy(y) ≤ 1, and the best y."""
    gains = np.einsum("ij,ij->j", part, mixed @ part)
    gains = np.maximum(gains, _LEAST * np.max(gains))
    z = np.maximum(base.spread(gains), _LEAST)
    y = np.sqrt(gains / z)
    y /= base.energy_up(y)
    return float(np.sum(gains / y)), y
