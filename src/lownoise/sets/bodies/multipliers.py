# SPDX-License-Identifier: Apache-2.0
"""Numbers that prove how far an image of a unit ball reaches, which an optimiser or a file may say.

max ‖X·x‖² over B is at most min over y of energy(y)·λ, λ the largest eigenvalue of X diag(1/y) Xᵀ.
That is the greatest, over mixtures V of directions, of min over y of Σ gⱼ/yⱼ, where g = diag(XᵀVX)
and energy(y) ≤ 1: `best_squares` solves it, and it is concave in V. Conditional gradients mix in
the eigenvector of the largest eigenvalue, as much of it as helps most.

Of a cube odd sums of signs say more. For σ ∈ {±1}^k, y > 0, λ > 0 and vectors v with an odd number
of entries ±1 and zeros beside them, ⟨v, σ⟩² ≥ 1, being the square of an odd number. So with
D = diag(y) − Σ λₜvₜvₜᵀ and e = Σ yᵢ − Σ λₜ,

    σᵀDσ ≤ e, and if τD ⪰ XᵀX then ‖X·x‖² ≤ τ·e for all x in the cube

(ours), as a convex function is greatest at a corner. All is in one table: y in its first row, and
each λₜvₜ in a row of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import FEW, grown, growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_ROUNDS = 60
_NEAR = 1e-9
_LEAST = 1e-24  # of the greatest gain
_SHARES = 1 / (2.0 ** np.arange(0, 12))
_MORE = (2.0**-40, 2.0**-30, 2.0**-20, 2.0**-10)  # than the least τ, as floats say it
_CANCELS = 2.0**-20  # of the sum of all sizes: what is left of it is known closely
_SHIFT = 2.0**-44  # of it, by which a form is guessed to be above 0


def farthest_multipliers(image: Vector, base: AbstractUnitBall) -> Vector:
    """Return y > 0, shape (k,), for `ImageBody.with_multipliers`: any is a proof, this a good one.

    Args:
        image: X, shape (r, k), not all 0.
        base: B, k coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall, signed_corners
        >>> y = farthest_multipliers(np.array([[1.0, 1.0], [1.0, -1.0]]), NormBall(2, np.inf))
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
        share, found, higher = _shared(part, mixed, top, base)
        if found <= value:
            break
        value, y = found, higher
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
        best, share, point = found, float(t), y
    return share, best, point


def _inner(part: Vector, mixed: Vector, base: AbstractUnitBall) -> tuple[float, Vector]:
    """Return min over y of Σ g/y under energy(y) ≤ 1, and the best y."""
    gains = np.einsum("ij,ij->j", part, mixed @ part)
    gains = np.maximum(gains, _LEAST * np.max(gains))
    z = np.maximum(base.best_squares(gains), _LEAST)
    y = np.sqrt(gains / z)
    y /= base.energy_up(y)
    return float(np.sum(gains / y)), y


def checked_multipliers(multipliers: Vector, base: AbstractUnitBall) -> None:
    """Refuse what are no multipliers of a ball.

    Args:
        multipliers: shape (k,), or with odd sums of signs (1 + n, k).
        base: B, k coordinates.

    Raises:
        PlanError: as said.
    """
    k, rows = base.dimension, np.atleast_2d(multipliers)
    # a shorter list would be broadcast, and prove too little
    if multipliers.ndim not in (1, 2) or rows.shape[-1] != k or not np.all(rows[0] > 0):
        raise PlanError(f"ImageBody.multipliers is not {k} numbers above 0; give one a coordinate")
    sizes = np.abs(rows[1:])
    alike = (sizes == 0) | (sizes == np.max(sizes, axis=1, initial=0.0)[:, None])
    odd = np.count_nonzero(sizes, axis=1) % 2 == 1
    if len(sizes) and not (base.ball_order == math.inf and np.all(alike) and np.all(odd)):
        raise PlanError("ImageBody.multipliers has a sum that is not of odd many signs of a cube")


def squares_of(multipliers: Vector) -> Vector:
    """Return y alone, shape (k,)."""
    return multipliers if multipliers.ndim == 1 else multipliers[0]


def without(multipliers: Vector, size: int) -> Vector:
    """Return multipliers of the first coordinates, and of sums those that have no other."""
    if multipliers.ndim == 1:
        return frozen(multipliers[:size])
    own = ~np.any(multipliers[:, size:], axis=1)
    own[0] = True
    return frozen(multipliers[own, :size])


def odd_sums_up(image: Vector, multipliers: Vector) -> float:
    """Return at least max ‖X·x‖ over the cube, infinite where floats find no proof.

    That τD − XᵀX is hardly below 0 is proved as in `spectral_up`: a Cholesky factorization of it,
    with what rounding may have taken added, runs to its end.

    Args:
        image: X, shape (r, k), finite.
        multipliers: y, and below it the odd sums, shape (1 + n, k).

    Examples:
        >>> apart = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]])
        >>> squares, sums = np.full(3, 1.5), np.full(3, 0.5)
        >>> round(odd_sums_up(apart, np.array([squares, sums])) ** 2, 6)  # 9 by squares alone
        8.0
    """
    r, k = image.shape
    y, sums = multipliers[0], multipliers[1:]
    most, top = float(np.max(np.abs(image), initial=0.0)), float(np.max(y))
    if not (0 < most < math.inf and top < math.inf):
        return math.inf
    scale = math.ldexp(1.0, math.frexp(most)[1])  # powers of two: nothing is rounded
    part, unit = image / scale, math.ldexp(1.0, math.frexp(top)[1])
    y, sums = y / unit, sums / unit
    heavy = np.max(np.abs(sums), axis=1)
    energy = math.fsum([*y, *-heavy])
    form = np.diag(y) - np.sign(sums).T @ sums
    gram = part.T @ part
    size = float(np.sum(y) + np.sum(np.abs(sums)))
    if not _CANCELS * size <= energy < math.inf:
        return math.inf
    try:
        down = np.linalg.inv(np.linalg.cholesky(form + _SHIFT * size * np.eye(k)))
        least = max(float(np.linalg.eigvalsh(down @ gram @ down.T)[-1]), 0.0)
    except np.linalg.LinAlgError:
        return math.inf
    if not least < math.inf:
        return math.inf
    for more in _MORE:
        times = least * (1 + more)
        # of both forms and their difference, and of the factorization
        lost = 4 * growth(2 * (r + k) + len(sums) + 20) * (times * size + float(np.trace(gram)))
        try:
            np.linalg.cholesky(times * form - gram + 4 * lost * np.eye(k))
        except np.linalg.LinAlgError:
            continue
        return grown(scale * math.sqrt(grown(times * energy + 6 * k * lost)), FEW)
    return math.inf


def as_stated(multipliers: Vector) -> list[Any]:
    """Return multipliers as JSON values: y, and of each odd sum λ and its places with their signs.

    Examples:
        >>> as_stated(np.array([[3.0, 3.0, 3.0], [0.5, 0.0, -0.5]]))[3:]
        [[0.5, 1, -3]]
    """
    squares, *sums = np.atleast_2d(multipliers)
    signs = (np.sign(row).astype(int) * np.arange(1, row.size + 1) for row in sums)
    weights = (float(np.max(np.abs(row))) for row in sums)
    every = zip(weights, signs, strict=True)
    return [*squares.tolist(), *([weight, *own[own != 0].tolist()] for weight, own in every)]
